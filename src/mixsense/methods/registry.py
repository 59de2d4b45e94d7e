"""Which methods there are, what each takes, and what it can do.

A method is a function ``method(problem, rng, **options)`` that returns a generator of rounds. A new one is one entry
here. One of the user's own needs none: `recover`, studies, sweeps and the command line take the function, or its name
as ``module:function``.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mixsense.errors import InvalidInput
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
    box_options: tuple[str, ...] = ()
    """Those of the options that are for queries in a box."""
    takes_box: bool = False
    """It is given the coded box and keeps to it, with an intercept if one is wanted; others are scaled to fit."""
    estimates_weights: bool = False
    """It can find the shares: ``weights="estimate"``."""
    exact: bool = False
    """It is for answers without noise."""
    any_queries: bool = False
    """It can use whatever queries come back, also more or fewer than it sent."""

    @property
    def make(self) -> Make:
        """The function that starts the method."""
        return self.home if callable(self.home) else imported(self.home, "method")


ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(
            "frugal",
            "mixsense.methods.frugal.method:frugal",
            options=("steer", "design"),
            box_options=("design",),
            takes_box=True,
            estimates_weights=True,
            any_queries=True,
        ),
        Entry(
            "paper", "mixsense.methods.paper.two_vectors:paper", options=("m", "batch", "pairs", "constants", "decoder")
        ),
        Entry("single", "mixsense.methods.paper.one_vector:single", options=("m", "batch", "constants", "decoder")),
        Entry(
            "noiseless", "mixsense.methods.paper.noiseless:noiseless", options=("m", "constants", "decoder"), exact=True
        ),
    )
}
"""Every method by its name."""


def entry_of(method: str | Make) -> Entry:
    """Return a method by its name, as ``module:function``, or as the function itself.

    Examples
    --------
    >>> entry_of("paper").options
    ('m', 'batch', 'pairs', 'constants', 'decoder')
    """
    if callable(method):
        return _own(method)
    if isinstance(method, str) and method in ENTRIES:
        return ENTRIES[method]
    if isinstance(method, str) and ":" in method:
        return _own(imported(method, "method"), method)
    names = ", ".join(map(repr, ENTRIES))
    raise InvalidInput(f"method is {method!r}: give one of {names}, or a function as module:function", method=method)


def _own(make: Make, name: str | None = None) -> Entry:
    """Return the entry of a user's function: what it takes besides problem and rng are its options."""
    given = inspect.signature(make).parameters
    if len(given) < 2:
        raise InvalidInput(f"the method {name_of(make)} takes too little: give a function of (problem, rng, …)")
    options = tuple(option for option in list(given)[2:] if option != "box")
    return Entry(name or name_of(make), make, options, takes_box="box" in given)


def name_of(method: str | Make) -> str:
    """Return what a method is called; a function as ``module:function``."""
    return method if isinstance(method, str) else f"{method.__module__}:{getattr(method, '__qualname__', method)}"


def stored_name(method: str | Make) -> str:
    """Return a name that another process finds the method by, or say why there is none."""
    name = name_of(method)
    if callable(method):
        try:
            same = imported(name, "method") is method
        except InvalidInput:
            same = False
        if not same:
            raise InvalidInput(
                f"the method {name} cannot be found by its name: define it at the top of a module that can be imported"
            )
    return name


def imported(name: str, what: str) -> Any:
    """Return the function that ``module:function`` names."""
    module_name, _, attribute = name.partition(":")
    hint = f"give module:function, e.g. mylab:{'ask' if what == 'oracle' else 'search'} for a function in mylab.py"
    if not module_name or not attribute:
        raise InvalidInput(f"the {what} is {name!r}: {hint}", **{what: name})
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's file does when it is loaded
        why = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"the {what}'s module {module_name!r} cannot be imported ({why}): {hint}") from None
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise InvalidInput(f"{module_name} has no callable {attribute!r}: {hint}", **{what: name})
    return found
