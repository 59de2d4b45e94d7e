"""From a problem to a running method: its options checked, the user's box and names put around it."""

from __future__ import annotations

import difflib
from collections.abc import Generator
from dataclasses import replace

import numpy as np

from mixsense.checks import generator
from mixsense.errors import InvalidInput
from mixsense.features.units import SLACK, Units
from mixsense.methods.registry import Entry, entry_of
from mixsense.problem import ARGUMENTS, Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method
from mixsense.rounds.in_units import in_units


def begin(problem: Problem) -> Method[Recovery]:
    """Check everything and return the method, ready to be driven; its queries are in the user's units.

    Parameters
    ----------
    problem : Problem
        All arguments of the run.

    Returns
    -------
    generator
        Yields rounds, is sent what was asked, returns a `Recovery`; see `mixsense.rounds`.

    Examples
    --------
    >>> next(begin(Problem(3, box=[(0, 10), (0, 1), (1, 7)], sigma=1.0, seed=0))).queries[0]
    array([10.,  1.,  7.])
    """
    entry = entry_of(problem.method)
    _check_options(entry, problem)
    rng, units = generator(problem.seed), problem.units
    method = entry.make(problem, rng, **problem.options) if units is None else _boxed(entry, problem, units, rng)
    if not isinstance(method, Generator):
        raise InvalidInput(f"the method {entry.name} returned {type(method).__name__}: needed is a generator function")
    return _named(method, entry, problem.names)


def _check_options(entry: Entry, problem: Problem) -> None:
    for name in problem.options:
        if name not in entry.options:
            like = difflib.get_close_matches(name, [*ARGUMENTS, *entry.options], 1)
            takes = f"it takes {', '.join(entry.options)}" if entry.options else "it takes none"
            hint = f"{takes}{f'; did you mean {like[0]!r}?' if like else ''}"
            raise InvalidInput(f"method {entry.name!r} has no option {name!r}: {hint}", option=name, method=entry.name)
        if name in entry.box_options and problem.box is None:
            raise InvalidInput(f"{name} is for queries in a box: give box=[(low, high), ...], or leave {name} out")


def _boxed(entry: Entry, problem: Problem, units: Units, rng: np.random.Generator) -> Method[Recovery]:
    """Run a method in a box; γ and the error bound are about the effects of half of each feature's range."""
    if entry.takes_box:
        method = entry.make(problem, rng, **problem.options, box=units.coded())
        return in_units(method, units, units.half, units.middle)
    if units.intercept:
        raise InvalidInput(f"method {entry.name!r} has no intercept: use method='frugal', or leave intercept out")
    # Entries of Gaussian queries end at 3, those of their sums and differences at 6: the edge of the box.
    gamma = None if problem.gamma is None else problem.gamma / SLACK
    scaled = replace(problem, gamma=gamma, limit=SLACK / 2)
    return in_units(
        entry.make(scaled, rng, **problem.options), units, units.reach() / SLACK, np.zeros(problem.n), SLACK
    )


def _named(method: Method[Recovery], entry: Entry, names: tuple[str, ...] | None) -> Method[Recovery]:
    r = yield from method
    if not isinstance(r, Recovery):
        raise InvalidInput(f"the method {entry.name} returned {type(r).__name__}: needed is a Recovery in the end")
    return r if names is None else replace(r, names=names)
