"""Which methods there are, what each takes, and what it can do.

A method is a generator function ``method(problem, rng, **options)``: it yields rounds and returns a `Recovery`. A new
one is one entry here. One of the user's own needs none: `recover`, studies, sweeps and the command line take the
function, or its name as ``module:function``.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from mixsense.checks import one_line, shown
from mixsense.errors import InvalidInput
from mixsense.problem import ARGUMENTS
from mixsense.recovery import Recovery
from mixsense.rounds import Method

Make = Callable[..., Method[Recovery]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A method, what it takes besides the problem, and what it can do."""

    name: str
    """What `method=` calls it."""
    home: str | Make
    """The function, or where it is: ``module:function``, imported when it is first used."""
    options: tuple[str, ...] = ()
    """What it takes besides the problem."""
    any_options: bool = False
    """Whether it takes options of any other name, too."""
    box_options: tuple[str, ...] = ()
    """The options that are for queries in a box only."""
    takes_box: bool = False
    """Whether it is given the coded box and keeps to it, with an intercept if wanted; others are scaled to fit."""
    takes_scale: bool = False
    """Whether it can use answers on a scale, and those that belong together."""
    exact: bool = False
    """Whether it is for answers without noise."""
    any_queries: bool = False
    """Whether it can use whatever queries come back, also more or fewer than it sent."""
    needs: tuple[str, ...] = ()
    """Which arguments and options have to be given, by name; "exact" is an oracle that answers with fractions."""
    assumes: str = ""
    """What has to be true of the models and the answers, in one line."""
    unboxed: bool = False
    """Whether its queries fit into no box."""
    built_in: bool = False
    """Whether it comes with mixsense: what it promises has been measured."""

    @property
    def make(self) -> Make:
        """The function that starts the method."""
        return self.home if callable(self.home) else pkgutil.resolve_name(self.home)


PAPER, BEFORE = "mixsense.methods.paper", "mixsense.methods.predecessors"
ENTRIES = {
    entry.name: replace(entry, built_in=True)
    for entry in (
        Entry(
            "frugal",
            "mixsense.methods.frugal.method:frugal",
            options=("steer", "design", "snr"),
            box_options=("design",),
            takes_box=True,
            takes_scale=True,
            any_queries=True,
            assumes="Gaussian noise of any size, or none; any vectors",
        ),
        Entry(
            "paper",
            f"{PAPER}.several_vectors:paper",
            options=("m", "batch", "pairs", "constants", "decoder"),
            assumes="Gaussian noise, equal shares",
        ),
        Entry(
            "single",
            f"{PAPER}.one_vector:single",
            options=("m", "batch", "constants", "decoder"),
            assumes="one vector is near enough to all, Gaussian noise",
        ),
        Entry(
            "noiseless",
            f"{PAPER}.noiseless:noiseless",
            options=("m", "constants", "decoder"),
            exact=True,
            assumes="no noise, sparse vectors",
        ),
        Entry(
            "fit",
            "mixsense.fitting.method:passive",
            options=("answers",),
            any_queries=True,
            assumes="Gaussian noise; plain Gaussian queries, to compare with, and nothing is certified",
        ),
        Entry(
            "coloring",
            f"{BEFORE}.coloring:coloring",
            options=("step", "bins", "rateless"),
            exact=True,
            unboxed=True,
            assumes="exactly sparse vectors with different values where supports meet; with noise two vectors whose "
            "coefficients are multiples of step",
        ),
        Entry(
            "polynomial",
            f"{BEFORE}.polynomial:polynomial",
            options=("design", "printed", "m"),
            needs=("k", "exact"),
            exact=True,
            unboxed=True,
            assumes="no noise, at most k non-zero coefficients, and an oracle that answers with fractions; with "
            'design="steps" floats will do',
        ),
        Entry(
            "lattice",
            f"{BEFORE}.lattice:lattice",
            options=("step", "m", "batch"),
            needs=("step", "sigma"),
            unboxed=True,
            assumes="coefficients that are multiples of step, sparse vectors, noise of at most 2 steps, equal shares",
        ),
    )
}
"""Every method by its name."""

NOT_OPTIONS = {*ARGUMENTS, "oracle", "progress"} - {"box"}
"""The arguments of `recover`, which a method finds in its problem: no option can have such a name."""


def entry_of(method: str | Make) -> Entry:
    """Return a method by its name, as ``module:function``, or as the function itself.

    Examples
    --------
    >>> entry_of("paper").options
    ('m', 'batch', 'pairs', 'constants', 'decoder')
    """
    if callable(method):
        return _own(name_of(method), method)
    if isinstance(method, str) and method in ENTRIES:
        return ENTRIES[method]
    if isinstance(method, str) and ":" in method:
        return _own(method, imported(method, "method"))
    names = ", ".join(map(repr, ENTRIES))
    raise InvalidInput(
        f"method is {shown(method)}: give one of {names}, or a generator function of yours, or module:function",
        method=method,
    )


def _own(name: str, make: Make) -> Entry:
    """Return the entry of a user's function: what it takes besides problem and rng are its options."""
    try:
        given = list(inspect.signature(make).parameters.values())
    except (TypeError, ValueError):  # some built-in functions do not say what they take
        given = []
    kinds = {parameter.kind for parameter in given}
    places = [p.name for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(places) < 2 and inspect.Parameter.VAR_POSITIONAL not in kinds:
        raise InvalidInput(f"the method {name} takes too little: give a generator function of (problem, rng, …)")
    named = [p.name for p in given if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in places[:2]]
    for taken in (option for option in named if option in NOT_OPTIONS):
        instead = f"use problem.{taken}, or give it" if taken in ARGUMENTS else "give it"
        raise InvalidInput(
            f"the method {name} has a parameter {taken!r}, which is an argument of recover and never gets here: "
            f"{instead} another name",
            method=name,
        )
    return Entry(
        name,
        make,
        options=tuple(option for option in named if option != "box"),
        any_options=inspect.Parameter.VAR_KEYWORD in kinds,
        takes_box="box" in named,
        takes_scale=True,  # it finds both in its problem
    )


def name_of(method: str | Make) -> str:
    """Return what a method is called; a function as ``module:function``."""
    if isinstance(method, str):
        return method
    named: Any = method if hasattr(method, "__qualname__") else type(method)
    return f"{named.__module__}:{named.__qualname__}"


def stored_name(method: str | Make) -> str:
    """Return a name that another process finds the method by, or say why there is none."""
    name = name_of(method) if callable(method) else entry_of(method).name
    hint = "such as mylab.py, and give mylab.search or 'mylab:search'"
    if name.startswith("__main__:"):
        raise InvalidInput(
            f"the method {name} is in the program that runs, where no other one finds it: put it into a module, {hint}"
        )
    if not isinstance(method, str):
        try:
            found = imported(name, "method") is method
        except InvalidInput:
            found = False
        if not found:
            raise InvalidInput(
                f"the method {name} cannot be found by its name: define it at the top of a module, {hint}"
            )
    return name


def imported(name: str, what: str) -> Any:
    """Return the function that ``module:function`` names.

    The current folder is searched after all others, and only from here on: a file of the user's that happens to be
    called as another module must not take its place.
    """
    module_name, _, attribute = name.partition(":")
    example = {"oracle": "ask", "decoder": "solve"}.get(what, "search")
    hint = f"give module:function, e.g. mylab:{example} for a function in mylab.py"
    if not module_name or not attribute:
        raise InvalidInput(f"the {what} is {name!r}: {hint}", **{what: name})
    with contextlib.suppress(OSError):  # the current folder was deleted
        if (folder := os.getcwd()) not in sys.path:
            sys.path.append(folder)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever the user's file does when it is loaded
        why = one_line(f"{type(error).__name__}: {error}", 200)
        raise InvalidInput(f"the {what}'s module {module_name!r} cannot be imported ({why}): {hint}") from None
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        here, home = f"{module_name}.py", getattr(module, "__file__", None)
        if os.path.exists(here) and not (home and os.path.samefile(home, here)):
            hint = f"it is {home or 'a part of Python'}, not {here} of the current folder, which needs another name"
        raise InvalidInput(f"{module_name} has no callable {attribute!r}: {hint}", **{what: name})
    return found
