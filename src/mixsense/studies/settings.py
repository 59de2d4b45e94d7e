"""What the settings of a study must be, and how they are stored as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from mixsense.checks import as_float, shown, visible
from mixsense.errors import InvalidInput
from mixsense.problem import EQUAL, Problem
from mixsense.recovery.fields import INTERCEPT
from mixsense.rounds import LARGEST_ANSWER

LONGEST_LEASE = 366 * 86_400.0
"""A question that is waited for longer than a year is never handed out again."""


def stored_problem(arguments: dict[str, Any]) -> Problem:
    """Return the problem of a stored study.

    Before mixsense 0.4.0 there were two models, and shares that were left out were equal.
    """
    if "models" not in arguments:
        shares = EQUAL if arguments.get("weights") is None else arguments["weights"]
        arguments = {**arguments, "models": 2, "weights": shares}
    return Problem.from_dict(arguments)


def checked_name(name: Any) -> str:
    """Return the name of a study, or say what it must be."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 100:
        raise InvalidInput(f"the study's name is {shown(name)}: give printable text of up to 100 letters")
    return name


def check_titles(features: Any, intercept: Any) -> None:
    """Refuse a feature that is called as the result calls the constant."""
    if intercept and isinstance(features, Sequence) and INTERCEPT in features:
        raise InvalidInput(f"a feature is called {INTERCEPT!r}, as the constant in the result: give it another name")


def checked_units(units: Any, n: int, printable: bool = True) -> list[str] | None:
    """Return a unit for each feature, or say what is needed."""
    if units is None:
        return None
    if isinstance(units, str) or not isinstance(units, Sequence) or not all(isinstance(u, str) for u in units):
        raise InvalidInput(f"units is {shown(units)}: give a list of {n} texts, '' where there is none")
    if len(units) != n:
        raise InvalidInput(f"{len(units)} units for n = {n}: give one for each feature, '' where there is none")
    for unit in units:
        if printable and not unit.isprintable():  # it could move or colour a terminal
            raise InvalidInput(f"a unit is {shown(unit)}: give printable text")
    return [visible(unit) for unit in units]


def checked_range(pair: Any) -> tuple[float, float] | None:
    """Return the smallest and the largest answer, or say what is needed."""
    if pair is None:
        return None
    hint = "give the smallest and the largest possible answer, such as (1, 7)"
    if isinstance(pair, (str, bytes)) or not isinstance(pair, (Sequence, np.ndarray)) or len(pair) != 2:
        raise InvalidInput(f"answer_range is {shown(pair)}: {hint}")
    low, high = (as_float("answer_range", value, hint, -LARGEST_ANSWER, LARGEST_ANSWER) for value in pair)
    if low >= high:
        raise InvalidInput(f"answer_range is from {low:g} to {high:g}: {hint}")
    return low, high


def checked_lease(lease: Any) -> float:
    """Return the seconds of a lease, or say what is needed."""
    hint = "the seconds that a question is waited for, up to a year, e.g. 600"
    return as_float("lease", lease, hint, 0.0, LONGEST_LEASE, strict=True)


def checked_notes(notes: Any) -> dict[str, Any] | None:
    """Return notes as plain values, or say what is needed."""
    if notes is not None and not isinstance(notes, dict):
        raise InvalidInput(f"notes is {shown(notes)}: give a dict of plain values (in TOML: a table)")
    return None if notes is None else dict(json.loads(as_json(notes)))


def stored_asking(asking: Any, n: int) -> dict[str, Any]:
    """Return what a study asks with: range, lease, units, notes, as they were stored; or say what is wrong."""
    lease = as_float("lease", asking["lease"], "seconds", 0.0, strict=True)
    return {
        "range": checked_range(asking["range"]),
        "lease": min(lease, LONGEST_LEASE),  # versions before took any
        "units": tuple(checked_units(asking["units"], n, printable=False) or [""] * n),
        "notes": checked_notes(asking.get("notes")) or {},
    }


def as_json(values: dict[str, Any]) -> str:
    """Return plain values as JSON text that is read back to the last bit."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        raise InvalidInput(f"a study stores its problem as text, and {shown(value)} has none: give plain values")

    try:
        return json.dumps(values, default=plain, allow_nan=False)
    except InvalidInput:
        raise
    except (ValueError, TypeError):
        raise InvalidInput("a study's problem has a number that is not finite: give finite ones") from None
