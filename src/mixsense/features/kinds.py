"""What a query is made of: numbers from a range, and whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mixsense.checks import as_float, as_int, shown
from mixsense.errors import InvalidInput

MOST_WHOLE = 2**53
"""Larger whole numbers are no floats."""


@dataclass(frozen=True, slots=True)
class _Ranged:
    """What features have in common: a name, a range and, if wanted, a unit."""

    name: str
    low: float
    high: float
    unit: str | None = None

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        name, unit = self.name, self.unit
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InvalidInput(f"a feature's name is {shown(name)}: give printable text")
        if unit is not None and (not isinstance(unit, str) or not unit.isprintable()):
            raise InvalidInput(f"the unit of feature {name!r} is {shown(unit)}: give printable text, or None")
        for end in ("low", "high"):
            object.__setattr__(self, end, self._number(end, f"the range of feature {name!r} is low and high, two"))
        if not self.low < self.high:
            raise InvalidInput(
                f"the range of feature {name!r} is ({self.low:g}, {self.high:g}): low must be below high", feature=name
            )

    def _number(self, end: str, hint: str) -> float:
        return as_float(end, getattr(self, end), f"{hint} numbers")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; `features_of` reads them."""
        plain = {"name": self.name, "kind": self.kind, "range": [self.low, self.high]}
        return plain if self.unit is None else {**plain, "unit": self.unit}


@dataclass(frozen=True, slots=True)
class Number(_Ranged):
    """A feature that may have any value of a range.

    Parameters
    ----------
    name : str
        What it is called.
    low, high : float
        Its range: no query leaves it.
    unit : str, optional
        What it is measured in, shown with the questions of a study.

    Examples
    --------
    >>> import mixsense as ms
    >>> ms.Number("strength", 4, 16, "g/l").sent(6.5)
    6.5
    """

    kind: ClassVar[str] = "number"

    @property
    def steps(self) -> int:
        """How many steps lead from low to high; 0 where any value is allowed."""
        return 0

    def sent(self, x: float) -> float:
        """Return a value as it is sent to an oracle, and written in JSON."""
        return float(x) + 0.0  # -0.0 is 0.0


@dataclass(frozen=True, slots=True)
class Integer(_Ranged):
    """A feature that counts: each whole number of a range, so that 0 to 1 is a yes or no.

    Parameters
    ----------
    name : str
        What it is called.
    low, high : int
        Its smallest and its largest value.
    unit : str, optional
        What is counted, shown with the questions of a study.

    Examples
    --------
    >>> import mixsense as ms
    >>> ms.Integer("pieces of sugar", 0, 3).sent(2.0), ms.Integer("milk", 0, 1).steps
    (2, 1)
    """

    kind: ClassVar[str] = "integer"

    def _number(self, end: str, hint: str) -> int:
        needed = f"{hint} whole numbers; 0 and 1 for no and yes"
        return as_int(end, getattr(self, end), -MOST_WHOLE, needed, MOST_WHOLE)

    @property
    def steps(self) -> int:
        """How many steps lead from low to high."""
        return int(self.high - self.low)

    def sent(self, x: float) -> int:
        """Return a value as it is sent to an oracle, and written in JSON."""
        return round(x)


Feature = Number | Integer
KINDS: dict[str, Callable[..., Feature]] = {"number": Number, "integer": Integer}
"""Every kind of feature by its name, as files have it."""
YES_NO, NO_AND_YES = "yesno", (0, 1)
"""What files may call a whole number from 0 to 1: its range goes without saying."""
HINT = (
    'give {"name": …, "kind": "number" or "integer", "range": [low, high]}, or "kind": "yesno" without a range, and a '
    "unit if wanted"
)


def is_yes_no(feature: Feature) -> bool:
    """Return whether a feature is a yes or no.

    Examples
    --------
    >>> is_yes_no(Integer("milk", 0, 1)), is_yes_no(Number("milk", 0, 1))
    (True, False)
    """
    return isinstance(feature, Integer) and (feature.low, feature.high) == NO_AND_YES


def features_of(features: Any) -> tuple[Feature, ...] | None:
    """Return features that say what their values may be, of objects or plain values; None where there are names only.

    Examples
    --------
    >>> features_of([Number("strength", 4, 16), {"name": "milk", "kind": "integer", "range": [0, 1]}])
    (Number(name='strength', low=4.0, high=16.0, unit=None), Integer(name='milk', low=0, high=1, unit=None))
    >>> features_of([{"name": "milk", "kind": "yesno"}])
    (Integer(name='milk', low=0, high=1, unit=None),)
    >>> features_of(["strength", "milk"]) is None
    True
    """
    if isinstance(features, str) or not isinstance(features, Sequence):
        return None
    telling = [isinstance(feature, (Number, Integer, Mapping)) for feature in features]
    if not any(telling):
        return None
    if not all(telling):
        other = features[telling.index(False)]
        raise InvalidInput(
            f"a feature is {shown(other)}, others say their range: give each as ms.Number(name, low, high) or "
            "ms.Integer(name, low, high), or all as names, and box"
        )
    return tuple(_feature(feature) for feature in features)


def case_of(features: Sequence[Feature], values: Sequence[float]) -> dict[str, float | int]:
    """Return a query as a dict, name to value as it is sent.

    Examples
    --------
    >>> case_of([Number("strength", 4, 16), Integer("milk", 0, 1)], [6.5, 1.0])
    {'strength': 6.5, 'milk': 1}
    """
    return {feature.name: feature.sent(value) for feature, value in zip(features, values, strict=True)}


def _feature(given: Any) -> Feature:
    if not isinstance(given, Mapping):
        found: Feature = given
        return found
    ends = given.get("range", NO_AND_YES if given.get("kind") == YES_NO else None)
    known = {*given} <= {"name", "kind", "range", "unit"} and "name" in given
    if not known or isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 2:
        raise InvalidInput(f"a feature is {shown(given)}: {HINT}", feature=given)
    kind = given.get("kind", Number.kind)
    if kind == YES_NO:
        if tuple(ends) != NO_AND_YES:
            raise InvalidInput(
                f"feature {shown(given['name'])} is a yes or no, and its range {shown(ends)}: leave it out",
                feature=given,
            )
        kind = Integer.kind
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInput(f"the kind of feature {shown(given['name'])} is {shown(kind)}: {HINT}", feature=given)
    return KINDS[kind](given["name"], *ends, given.get("unit"))
