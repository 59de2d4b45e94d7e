"""From a problem to a running method: its options checked, the user's box and names put around it."""

from __future__ import annotations

import difflib
import inspect
import math
import sys
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense.checks import MOST_SIGMAS, generator
from mixsense.decode import basis_pursuit
from mixsense.errors import InvalidInput
from mixsense.features.units import GAUSSIAN_EDGE, SUM_EDGE, Units
from mixsense.methods.paper.decoding import decoder_of
from mixsense.methods.registry import Entry, entry_of
from mixsense.problem import ARGUMENTS, AUTO, LEAST_SHARE, Problem
from mixsense.recovery import PROMISES, Recovery
from mixsense.rounds import Asked, Method, Round, is_exact
from mixsense.rounds.centred import centred
from mixsense.rounds.in_units import in_units
from mixsense.rounds.rewritten import rewritten


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
    method = _started(entry, problem, rng) if units is None else _boxed(entry, problem, units, rng)
    if entry.built_in and problem.sigma:
        method = _audible(method, problem.sigma)
    if entry.built_in and problem.models != 1:
        method = _heard(method, problem)
    if entry.built_in and problem.names is None and "decoder" not in problem.options:
        return method  # there is nothing to add
    return rewritten(method, lambda r: _as_reported(r, entry, problem))


def _check_options(entry: Entry, problem: Problem) -> None:
    if not entry.takes_scale:
        given = {"scale": problem.scale is not None, "block": problem.block > 1, "sigma": problem.sigmas is not None}
        instead = {"scale": "real numbers", "block": "each answer alone", "sigma": "one sigma for all models"}
        for name in (name for name, is_given in given.items() if is_given):
            raise InvalidInput(f"method {entry.name!r} takes {instead[name]}: use method='frugal', or leave {name} out")
    for name in problem.options:
        if name not in entry.options and not entry.any_options:
            like = difflib.get_close_matches(name, [*ARGUMENTS, *entry.options], 1)
            takes = f"it takes {', '.join(entry.options)}" if entry.options else "it takes none"
            hint = f"{takes}{f'; did you mean {like[0]!r}?' if like else ''}"
            raise InvalidInput(f"method {entry.name!r} has no option {name!r}: {hint}", option=name, method=entry.name)
        if name in entry.box_options and problem.box is None:
            raise InvalidInput(f"{name} is for queries in a box: give box=[(low, high), ...], or leave {name} out")
    for name in entry.needs:
        if name in NEEDED and problem.options.get(name, getattr(problem, name, None)) is None:
            raise InvalidInput(f"{name} is missing: method {entry.name!r} needs {NEEDED[name]}", method=entry.name)
    if entry.unboxed and problem.box is not None:
        raise InvalidInput(
            f"method {entry.name!r} asks queries that fit into no box: leave box out, or use method='frugal'"
        )


NEEDED = {
    "k": "k, the largest number of non-zero coefficients in a vector",
    "sigma": "the noise's standard deviation",
    "step": "what all coefficients are multiples of, such as step=1",
}
"""What the needs of a method are."""


def _boxed(entry: Entry, problem: Problem, units: Units, rng: np.random.Generator) -> Method[Recovery]:
    """Run a method in a box; γ and the error bound are about the effects of half of each feature's range."""
    if entry.takes_box:
        method = _started(entry, problem, rng, box=units.coded())
        if units.intercept and problem.scale is None:
            method = centred(method)
        return in_units(method, units, units.half, units.middle)
    if units.steps.any():
        name = units.features[int(np.argmax(units.steps > 0))]
        raise InvalidInput(
            f"feature {name!r} has whole numbers only, and method {entry.name!r} asks between them: use "
            "method='frugal', or ms.Number where any value can be asked",
            feature=name,
        )
    if units.intercept:
        raise InvalidInput(f"method {entry.name!r} has no intercept: use method='frugal', or leave intercept out")
    # The method also asks sums and differences of its queries: theirs is the edge of the box.
    reach = units.reach()
    # In a box that 0 is not the middle of, half is more than the reach.
    gain = SUM_EDGE * float((units.half / reach).max())
    gamma = None if problem.gamma is None else problem.gamma / gain
    method = _started(entry, replace(problem, gamma=gamma, limit=GAUSSIAN_EDGE), rng)
    return in_units(method, units, reach / SUM_EDGE, np.zeros(problem.n), gain)


def _started(entry: Entry, problem: Problem, rng: np.random.Generator, **box: Any) -> Method[Recovery]:
    """Call the method's function; whatever else it is than a generator function is named in one line."""
    try:
        inspect.signature(entry.make).bind(problem, rng, **problem.options, **box)
    except TypeError as error:
        raise InvalidInput(f"the method {entry.name} cannot be called: {error}; give it as an option") from None
    method = entry.make(problem, rng, **problem.options, **box)
    if not isinstance(method, Generator):
        raise InvalidInput(
            f"the method {entry.name} returned {type(method).__name__} when it was called: it must be a generator "
            "function, which yields rounds"
        )
    return _checked(method, entry, problem)


def _checked(method: Method[Recovery], entry: Entry, problem: Problem) -> Method[Recovery]:
    """Pass on what a method yields, is told and returns, after a check that it is what it may be."""
    name, n = entry.name, problem.n

    def sent(current: Any) -> Round:
        if not isinstance(current, Round):
            raise InvalidInput(f"the method {name} yielded {type(current).__name__}: it must yield a Round of queries")
        if current.queries.shape[1] != n:
            raise InvalidInput(
                f"the method {name} asked queries of {current.queries.shape[1]} numbers, but n is {n}: give (q, {n})"
            )
        return current

    return rewritten(method, lambda r: _recovery(r, name, n), sent, estimates=not entry.built_in)


def _recovery(found: Any, name: str, n: int) -> Recovery:
    if not isinstance(found, Recovery):
        raise InvalidInput(f"the method {name} returned {type(found).__name__}: it must return a Recovery in the end")
    if found.vectors.ndim != 2 or found.vectors.shape[1] != n:
        raise InvalidInput(f"the method {name} returned vectors of shape {found.vectors.shape}, but n is {n}")
    return found


def _audible(method: Method[Recovery], sigma: float) -> Method[Recovery]:
    """Refuse answers, as the oracle gives them, whose digits end before a noise of σ begins."""

    def told(asked: Asked) -> Asked:
        largest = 0.0 if is_exact(asked.answers) else float(np.abs(asked.answers).max(initial=0.0))
        if largest > MOST_SIGMAS * sigma:
            raise InvalidInput(
                f"an answer is {largest:g}, and sigma {sigma:g}: numbers have no digits for such a noise; give sigma "
                "in the unit of the answers, or 0 if there is none",
                sigma=sigma,
            )
        return asked

    return rewritten(method, lambda r: r, told=told, estimates=False)


TELLING, TELLING_EACH = 10, 5
"""Answers that tell a further model, three σ or more from the others, from noise, and more for each coefficient that it
has. Measured in boxes of 8 features, and with 4 to 16 without a box: of 140 runs with a third model of 4 to 10 %
(seeds 5000 to 5019) 7 were certified without it; it had given at most 8 answers and 5 for each coefficient."""


def _heard(method: Method[Recovery], problem: Problem) -> Method[Recovery]:
    """Say how seldom a further model may answer and not have been seen, where that is more than `LEAST_SHARE`.

    One caller has to have it: without noise that is enough, with noise it takes `TELLING` of its answers, from however
    many callers, and `TELLING_EACH` for each coefficient. Without
    levels all models answer alike to x = 0: nobody is heard there. Where the number was given, only a result of one
    model says it.
    """
    callers = answers = 0

    def counted(asked: Asked) -> Asked:
        nonlocal callers, answers
        telling = np.asarray((asked.vectors != 0).sum(axis=1)).ravel() > 0  # exact numbers are slow to add up
        group = asked.group if problem.intercept else asked.group[telling[asked.place]]
        callers, answers = callers + np.unique(group).size, answers + group.size
        return asked

    def noted(found: Recovery) -> Recovery:
        share, how = 1 - problem.eta ** (1 / max(callers, 1)), ""
        if np.any(found.sigma):
            there = np.abs(found.vectors) > (0.0 if found.stderr is None else 2 * found.stderr)  # 95 % intervals
            coefficients = int(there.sum(axis=1).max()) + bool(problem.intercept)
            share, how = max(share, (TELLING + TELLING_EACH * coefficients) / max(answers, 1)), ", or taken for noise"
        silent = found.status != "single" if problem.models != AUTO else found.status not in PROMISES
        if silent or share <= LEAST_SHARE:
            return found
        percent = f"{100 * min(share, 1.0):.2g} %"
        note = f"a further model with a share below {percent} may have been missed{how}: so few answers do not tell"
        return replace(found, diagnostics=found.diagnostics | {"notes": [*found.diagnostics.get("notes", []), note]})

    return rewritten(method, noted, told=counted, estimates=False)


def _promised(problem: Problem) -> float:
    """Return the largest error bound that is certified; without a precision any finite one is."""
    return sys.float_info.max if problem.gamma is None else problem.gamma


def _as_reported(r: Recovery, entry: Entry, problem: Problem) -> Recovery:
    """Return a result with the user's names, and without a promise that nobody has checked."""
    bound, doubt = r.error_bound, None
    own_decoder = problem.options.get("decoder") if entry.built_in else None
    if own_decoder is not None and decoder_of(own_decoder) is not basis_pursuit:
        bound, doubt = math.inf, "the decoder is not basis pursuit: no error bound is known for what it returns"
    elif not entry.built_in and r.status == "certified" and not bound <= _promised(problem):
        doubt = f"the method {entry.name} says certified, but its error bound is {bound:.3g}: it is not within gamma"
    status = "uncertain" if doubt and r.status in PROMISES else r.status
    story = {**r.diagnostics, "method": r.diagnostics.get("method", entry.name)}
    if doubt:
        story["warnings"] = [*story.get("warnings", []), doubt]
    names = r.names if problem.names is None else problem.names
    return replace(r, names=names, status=status, error_bound=bound, diagnostics=story)
