"""The user's units: names of the features, the box that queries must stay in, and an intercept.

A method works in coded units: feature j runs over [−1, 1], its middle at 0. A coded coefficient is the effect of moving
the feature by half of its range, so γ is in the units of the answers whatever the features are measured in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.checks import as_float, as_int, shown
from mixsense.errors import InvalidInput
from mixsense.features.kinds import features_of

GAUSSIAN_EDGE = 3.0
"""Gaussian queries in a box reach its edge with this many standard deviations (taste: never swept)."""
SUM_EDGE = 2 * GAUSSIAN_EDGE
"""Sums and differences of two such queries reach twice as far."""

LARGEST_END = 1e100
"""A box ends here at the latest: squares of larger numbers leave the range of floats."""
TIE = 1e-9
"""Two values are equally near if their distances differ by less than this share of a step: rounding of floats."""
LEAST_WIDTH = 1e-12
"""Less than this share of its larger end apart, the ends of a range have too few floats between them."""


@dataclass(frozen=True, slots=True)
class Units:
    """What the user calls the coordinates of a query, and how far each may go.

    Parameters
    ----------
    features : sequence of str
        A name for each of the n coordinates.
    low, high : (n,) arrays
        The box.
    intercept : bool
        Each model has a constant of its own.
    steps : (n,) array
        How many steps lead from one end of each feature's range to the other; 0 where any value is allowed.

    Examples
    --------
    >>> units = Units.of(2, ["strength", "sugar"], [(0, 10), (-1, 1)])
    >>> units.decode(np.array([[1.0, -1.0], [0.0, 0.5]]))
    array([[10. , -1. ],
           [ 5. ,  0.5]])
    """

    features: tuple[str, ...]
    low: Array
    high: Array
    intercept: bool
    steps: Array

    @classmethod
    def of(cls, n: int, features: Any = None, box: Any = None, intercept: Any = False) -> Units:
        """Check the names and the box, which features may say themselves; a mistake is named with its feature."""
        n = as_int("n", n, 1, "the number of features")
        names = feature_names(n, features)
        intercept = as_intercept(intercept)
        kinds = features_of(features)
        if kinds is not None:
            box = [(kind.low, kind.high) for kind in kinds]
        if box is None:
            raise InvalidInput("box is None: give (low, high) for each feature, e.g. box=[(0, 10), (1, 7)]")
        try:
            if isinstance(box, str):
                raise TypeError
            pairs = [tuple(pair) for pair in box]
        except TypeError:
            raise InvalidInput(f"box is {shown(box)}: give (low, high) for each feature", box=box) from None
        if len(pairs) != n:
            raise InvalidInput(f"box has {len(pairs)} ranges for {n} features: give one (low, high) for each", box=box)
        low, high = np.empty(n), np.empty(n)
        for j, pair in enumerate(pairs):
            hint = f"the range of feature {names[j]!r} is (low, high), two numbers"
            if len(pair) != 2:
                raise InvalidInput(f"the range of feature {names[j]!r} has {len(pair)} numbers: give (low, high)")
            low[j], high[j] = (as_float("box", value, hint) for value in pair)
            if not low[j] < high[j]:
                raise InvalidInput(
                    f"the range of feature {names[j]!r} is ({low[j]:g}, {high[j]:g}): low must be below high",
                    feature=names[j],
                )
            _check_room(names[j], float(low[j]), float(high[j]))
        steps = np.zeros(n) if kinds is None else np.array([kind.steps for kind in kinds], dtype=np.float64)
        return cls(names, low, high, intercept, steps)

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """(low, high) of each feature."""
        return tuple(zip(self.low.tolist(), self.high.tolist(), strict=True))

    @property
    def middle(self) -> Array:
        """The middle of the box."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> Array:
        """Half of each feature's range: one coded unit."""
        return (self.high - self.low) / 2

    @property
    def centre(self) -> Array:
        """The middle of the box in coded units: where x = 0 is −centre."""
        return self.middle / self.half

    def coded(self) -> Coded:
        """Return the box as a method sees it."""
        level = bool(self.intercept or self.middle.any())
        return Coded(len(self.features), level, self.centre, self.intercept, self.steps)

    def decode(self, Z: Array) -> Array:
        """Return coded queries in the user's units, exactly inside the box and, where features count, whole."""
        return self.allowed(self.middle + self.half * Z)

    def allowed(self, X: Array) -> Array:
        """Return the nearest queries that may be asked, in the user's units."""
        return np.clip(np.where(self.steps > 0, np.rint(X), X), self.low, self.high)

    def reach(self) -> Array:
        """How far each feature can go from 0 in both directions; a feature that cannot is named."""
        for name, low, high in zip(self.features, self.low, self.high, strict=True):
            if not low < 0 < high:
                raise InvalidInput(
                    f"the range of feature {name!r} is ({low:g}, {high:g}), and this method's queries need both signs, "
                    "so 0 inside the box: use method='frugal', or measure the feature from its middle",
                    feature=name,
                )
        return np.minimum(-self.low, self.high)


@dataclass(frozen=True, slots=True)
class Coded:
    """A box in coded units, z ∈ [−1, 1]ⁿ, and the rows that the answers to its queries are linear in.

    Parameters
    ----------
    n : int
        Number of features.
    level : bool
        Each model has a level in the middle of the box; rows are then (1, z).
    centre : (n,) array
        The middle of the box, seen from x = 0.
    intercept : bool
        The user wants the constant at x = 0 reported.
    steps : (n,) array, optional
        How many steps lead from −1 to 1, each as wide as the others; 0 where any value is allowed, everywhere if left
        out.

    Examples
    --------
    >>> Coded(2, True, np.zeros(2)).rows(np.array([[1.0, -1.0]]))
    array([[ 1.,  1., -1.]])
    """

    n: int
    level: bool
    centre: Array
    intercept: bool = False
    steps: Array | None = None

    def rows(self, Z: Array) -> Array:
        """Return what the answers to coded queries are linear in."""
        return np.concatenate([np.ones((len(Z), 1)), Z], axis=1) if self.level else Z

    @property
    def whole(self) -> Mask:
        """Which features take steps, (n,)."""
        return np.zeros(self.n, dtype=np.bool_) if self.steps is None else self.steps > 0

    @property
    def either(self) -> Mask:
        """Which features have two values only, (n,): a yes or no."""
        return np.zeros(self.n, dtype=np.bool_) if self.steps is None else self.steps == 1

    @property
    def inner(self) -> Index:
        """The features that have values between their ends; a yes or no has none."""
        return np.flatnonzero(~self.either)

    def allowed(self, Z: Array, rng: np.random.Generator) -> Array:
        """Return the nearest queries that may be asked; of two equally near values, either with probability 1/2.

        So an entry whose law is symmetric keeps a symmetric law: its mean stays 0, whatever was asked before.

        Examples
        --------
        >>> coded = Coded(3, True, np.zeros(3), steps=np.array([0.0, 3.0, 1.0]))
        >>> coded.allowed(np.array([[0.2, 0.2, 0.2]]), np.random.default_rng(0)).round(3)
        array([[0.2  , 0.333, 1.   ]])
        """
        if self.steps is None or not self.steps.any():
            return Z
        here = self.whole
        steps = self.steps[here]
        place = (Z[:, here] + 1) / 2 * steps
        lower = np.floor(place)
        up = (place - lower) + rng.uniform(-TIE, TIE, place.shape) > 0.5
        Z = Z.copy()
        Z[:, here] = np.clip((lower + up) / steps * 2 - 1, -1.0, 1.0)
        return Z

    def middle(self) -> Array:
        """Return an allowed query as near to the middle as there is, (1, n)."""
        if self.steps is None:
            return np.zeros((1, self.n))
        odd = self.steps % 2 == 1
        return np.where(odd, 1 / np.maximum(self.steps, 1), 0.0)[None]


def _check_room(name: str, low: float, high: float) -> None:
    """Refuse a range that floats cannot divide, or cannot reach."""
    largest = max(abs(low), abs(high))
    if largest > LARGEST_END:
        raise InvalidInput(f"the range of feature {name!r} is ({low:g}, {high:g}): give ends up to {LARGEST_END:g}")
    if high - low < max(LEAST_WIDTH * largest, 1 / LARGEST_END):
        raise InvalidInput(
            f"the range of feature {name!r} is ({low:g}, {high:g}): give ends that are further apart, or measure the "
            "feature in another unit, or from its middle"
        )


def as_intercept(intercept: Any) -> bool:
    """Return whether there is an intercept, or say what is needed."""
    if not isinstance(intercept, (bool, np.bool_)):
        raise InvalidInput(f"intercept is {shown(intercept)}: give True or False", intercept=intercept)
    return bool(intercept)


def feature_names(n: int, features: Any) -> tuple[str, ...]:
    """Return a name for each feature, x0, x1, … if none are given; features that say more have theirs."""
    if features is None:
        return tuple(f"x{j}" for j in range(n))
    kinds = features_of(features)
    features = features if kinds is None else [kind.name for kind in kinds]
    if isinstance(features, str) or not isinstance(features, Sequence):
        raise InvalidInput(f"features is {shown(features)}: give a list of {n} names", features=features)
    if len(features) != n:
        raise InvalidInput(f"{len(features)} features for n = {n}: give one name for each", features=features)
    for name in features:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InvalidInput(f"a feature's name is {shown(name)}: give printable text", features=features)
    twice = [name for name, times in Counter(features).items() if times > 1]
    if twice:
        raise InvalidInput(f"two features are called {twice[0]!r}: give each a name of its own", features=features)
    return tuple(features)
