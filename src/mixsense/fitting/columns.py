"""Columns in units of their own spread, so that no unit matters, and coefficients back in the user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.fitting import tuning


class Moments(NamedTuple):
    """Mean and root mean square around it of each column."""

    mean: Array
    spread: Array


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns are fitted, and in which units.

    A row becomes (1, (x − centre)/scale) with an intercept, x/scale without one: the level in front is that at the
    centre, which the errors of the slopes have least to do with.
    """

    n: int
    """How many columns were given."""
    used: Index
    """(c,), those that are fitted."""
    centre: Array
    """(c,), 0 without an intercept."""
    scale: Array
    """(c,)."""
    intercept: bool
    half_ranges: Array
    """(n,), half of the range of each column."""
    unit: float = 1.0
    """What the answers are divided by."""

    @property
    def width(self) -> int:
        """How many columns the rows have."""
        return len(self.used) + self.intercept

    def rows(self, X: Array) -> Array:
        """Return what is fitted, a new array (N, width)."""
        rows = np.empty((len(X), self.width))
        rows[:, : self.intercept] = 1.0
        for place, (j, middle, unit) in enumerate(zip(self.used, self.centre, self.scale, strict=True)):
            rows[:, place + self.intercept] = (X[:, j] - middle) / unit
        return rows

    def vectors(self, beta: Array) -> tuple[Array, Array | None]:
        """Return coefficients (L, width) in the user's units, (L, n), and the intercepts, (L,), if there are any."""
        slopes = self.in_units(beta[:, self.intercept :])
        vectors = np.zeros((len(beta), self.n))
        vectors[:, self.used] = slopes
        return vectors, beta[:, 0] * self.unit - slopes @ self.centre if self.intercept else None

    def in_units(self, slopes: Array) -> Array:
        """Return slopes (…, c), or what is measured as they are, in the user's units."""
        return slopes * (self.unit / self.scale)

    def covariance(self, coded: Array) -> Array:
        """Return a covariance (width, width) in the user's units, (c, c) or, the intercept last, (c + 1, c + 1)."""
        c = len(self.used)
        back = np.zeros((c + self.intercept, self.width))
        back[np.arange(c), np.arange(c) + self.intercept] = 1 / self.scale
        if self.intercept:
            back[c, 0], back[c, 1:] = 1.0, -self.centre / self.scale
        found: Array = self.unit**2 * (back @ coded @ back.T)
        return found

    def everywhere(self, values: Array, rest: float) -> Array:
        """Return (L, c) values at the places of their columns among all n, `rest` at the others."""
        found = np.full((len(values), self.n), rest)
        found[:, self.used] = values
        return found


def columns_of(X: Array, counts: Array | None, intercept: bool) -> tuple[Columns, Mask]:
    """Choose the columns that say something, and their units; returns which are constant, too, (n,).

    Without an intercept a constant column that is not 0 is one, and stays.

    Examples
    --------
    >>> columns, constant = columns_of(np.array([[1.0, 7.0], [3.0, 7.0]]), None, True)
    >>> columns.rows(np.array([[3.0, 7.0]])), constant
    (array([[1., 1.]]), array([False,  True]))
    """
    mean, spread = _moments(X, counts)
    size = np.sqrt(mean**2 + spread**2)
    constant = spread <= tuning.CONSTANT * size
    used = np.flatnonzero(~constant if intercept else size > 0)
    half = np.array([float(np.ptp(column)) / 2 for column in X.T])
    centre = mean[used] if intercept else np.zeros(len(used))
    return Columns(X.shape[1], used, centre, (spread if intercept else size)[used], intercept, half), constant


def unit_of(y: Array, counts: Array | None, level: float = 0.0) -> float:
    """Return the power of 2 next to the size of answers: divided by it they are about 1, and not rounded.

    Where all of them are 0, that of the level which was taken off, or 1.

    Examples
    --------
    >>> unit_of(np.array([3e8, -4e8]), None), unit_of(np.zeros(2), None)
    (268435456.0, 1.0)
    """
    size = float(np.sqrt(np.average(y * y, weights=counts))) or level
    return float(2.0 ** np.round(np.log2(size))) if size > 0 else 1.0


def _moments(X: Array, counts: Array | None) -> Moments:
    """Return mean and spread of each column, a column at a time."""
    mean, spread = np.empty(X.shape[1]), np.empty(X.shape[1])
    for j, column in enumerate(X.T):
        mean[j] = np.average(column, weights=counts)
        spread[j] = np.sqrt(np.average((column - mean[j]) ** 2, weights=counts))
    return Moments(mean, spread)


def dependent(rows: Array) -> list[int]:
    """Return columns that are a linear combination of each other; none if there are fewer rows than columns.

    Examples
    --------
    >>> dependent(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0], [2.0, 1.0, 3.0]]))
    [0, 1, 2]
    """
    if len(rows) < rows.shape[1] or not rows.shape[1]:
        return []
    size = np.sqrt(np.einsum("ij,ij->j", rows, rows))
    size[size == 0] = 1.0
    e, V = np.linalg.eigh(rows.T @ rows / np.outer(size, size))
    found = (V[:, e < tuning.DEPENDENT] ** 2).sum(axis=1)
    return np.flatnonzero(found > tuning.DEPENDENT).tolist()
