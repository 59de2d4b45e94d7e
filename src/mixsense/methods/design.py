"""Which vectors to ask: Gaussian queries, sums and differences; queries that are focused and steered.

A focused query has more variance on the coordinates that seem to matter. A steered one is pushed along the estimated
difference of the vectors until its answer labels itself. Both together spend at most as much as the paper's own sum
queries: a mean squared norm of 2n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.features.units import Coded


def gaussian(m: int, n: int, rng: np.random.Generator, limit: float | None = None) -> Array:
    """Draw m queries with independent standard normal entries; those beyond `limit` are drawn again.

    Examples
    --------
    >>> gaussian(3, 5, np.random.default_rng(0)).shape
    (3, 5)
    """
    X = rng.standard_normal((m, n))  # x ~ N(0, I)
    while limit is not None and (beyond := np.abs(X) > limit).any():
        X[beyond] = rng.standard_normal(int(beyond.sum()))
    return X


def zero(n: int) -> Array:
    """Return the query x = 0, whose answers are pure noise."""
    return np.zeros((1, n))


def sums_and_differences(X: Array, pivot: Array) -> Array:
    """Return x + p for each row x of X, then x − p for each.

    Examples
    --------
    >>> sums_and_differences(np.array([[1.0, 2.0]]), np.array([1.0, 0.0]))
    array([[2., 2.],
           [0., 2.]])
    """
    return np.concatenate([X + pivot, X - pivot])  # ~ N(0, 2 I): twice the SNR of X


ENERGY = 2.0
"""Mean squared norm of a steered query in units of n: that of the paper's sum queries."""
LABEL = 5.0
"""Separation of the two means, in σ, at which an answer labels itself."""
SHARES = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1)
"""Shares of the energy that may go into focus; the rest is for the push."""
# Midpoints of twelve equally probable parts of |N(0, 1)|.
_HALF_NORMAL = np.array(
    [0.0522, 0.1573, 0.2641, 0.3741, 0.4888, 0.6103, 0.7416, 0.8871, 1.0545, 1.2582, 1.5341, 2.0368]
)


@dataclass(frozen=True, slots=True)
class Steering:
    """How the next queries are drawn: x ~ N(0, diag(sd²)), pushed along `delta` until |⟨x, delta⟩| ≥ reach."""

    sd: Array  # (n,)
    delta: Array | None = None  # (n,)
    reach: float = 0.0

    def draw(self, q: int, rng: np.random.Generator) -> Array:
        """Draw q queries, their mean squared norm at most 2n."""
        X = rng.standard_normal((q, len(self.sd))) * self.sd
        if self.delta is not None and self.reach > 0:
            along = X @ self.delta
            push = np.where(along < 0, -1.0, 1.0) * np.maximum(self.reach - np.abs(along), 0)
            X += np.outer(push / float(self.delta @ self.delta), self.delta)
        norm2 = float(np.einsum("ij,ij->", X, X)) / q
        return X * math.sqrt(min(1.0, ENERGY * X.shape[1] / norm2))


def focus(chance: Array, energy: float) -> Array:
    """Spread variance over the coordinates: A-optimal, so in proportion to the root of their chance to matter.

    Examples
    --------
    >>> focus(np.array([1.0, 0.01, 0.0]), 11.0).round(6)
    array([10.,  1.,  0.])
    """
    root = np.sqrt(chance)
    spread: Array = energy * root / root.sum()
    return spread


def steer(chance: Array, delta: Array, sigma: float) -> Steering:
    """Split the energy between focus and push so that an answer tells as much as possible.

    Parameters
    ----------
    chance : (n,) array
        Chance of each coordinate to matter.
    delta : (n,) array
        Estimated difference of the two vectors.
    sigma : float
        Noise of an answer.

    Notes
    -----
    An untagged answer carries about s²/(s² + 2) of the information of a tagged one if its two means are s σ apart;
    focus multiplies the information on the coordinates that matter. The best product of the two wins.
    """
    n = len(chance)
    root, gap2, energy = np.sqrt(chance), float(delta @ delta), ENERGY * n
    best, gain = Steering(np.ones(n)), -1.0
    for share in SHARES:
        variance = focus(chance, share * energy)
        natural = _HALF_NORMAL * math.sqrt(float(variance @ delta**2))  # |⟨x, delta⟩| without a push
        reach = _reach(natural, (1 - share) * energy * gap2, LABEL * sigma)
        s2 = (np.maximum(natural, reach) / sigma) ** 2
        told = float((s2 / (s2 + 2)).mean()) * float(root @ variance) / float(root.sum())
        if told > gain:
            gain, best = told, Steering(np.sqrt(variance), delta, reach)
    return best


def _reach(natural: Array, mean_square: float, top: float) -> float:
    """Largest level c ≤ top with E[(c − natural)₊²] ≤ mean_square."""
    low, high = 0.0, top
    if float((np.maximum(top - natural, 0) ** 2).mean()) <= mean_square:
        return top
    for _ in range(30):
        middle = (low + high) / 2
        fits = float((np.maximum(middle - natural, 0) ** 2).mean()) <= mean_square
        low, high = (middle, high) if fits else (low, middle)
    return low


DESIGNS = ("corners", "gaussian")
"""How queries are drawn inside of a box."""
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the largest separation that corners may be pushed to."""
TRIED = 400
"""Corners drawn to see what a separation tells."""


@dataclass(frozen=True, slots=True)
class Box:
    """Queries inside a coded box.

    Parameters
    ----------
    coded : Coded
        The box.
    design : str
        "corners": every entry is ±1. "gaussian": normal entries, three standard deviations reach the edge.
    """

    coded: Coded
    design: str

    def __post_init__(self) -> None:
        if self.design not in DESIGNS:
            raise InvalidInput(f"design is {self.design!r}: give 'corners' or 'gaussian'", design=self.design)

    def draw(self, q: int, rng: np.random.Generator) -> Array:
        """Draw q queries without steering."""
        if self.design == "gaussian":
            return gaussian(q, self.coded.n, rng, limit=3.0) / 3
        return rng.choice([-1.0, 1.0], (q, self.coded.n))

    def steer(self, q: int, delta: Array, sigma: float, rng: np.random.Generator) -> Array:
        """Draw q corners whose answers label themselves as far as that helps.

        Parameters
        ----------
        q : int
            How many.
        delta : (n,) or (1 + n,) array
            Estimated difference of the two models' rows.
        sigma : float
            Noise of an answer.

        Notes
        -----
        Every entry has its largest size already; steering means choosing the signs on the features where the models
        differ. A corner whose two means are less than `reach` apart is flipped there, one feature after the other in
        random order, until they are. Too much of that, and the features always move together: the reach with the
        smallest trace of the inverse information on those features wins.
        """
        offset, slope = (float(delta[0]), delta[1:]) if self.coded.level else (0.0, delta)
        Z = self.draw(q, rng)
        if self.design == "gaussian" or not slope.any():
            return Z
        most = min(LABEL * sigma, abs(offset) + float(np.abs(slope).sum()))
        trial = self.draw(TRIED, rng)
        told = [_corners_told(flip(trial, slope, offset, share * most, rng), slope, offset, sigma) for share in LEVELS]
        return flip(Z, slope, offset, LEVELS[int(np.argmin(told))] * most, rng)


def flip(Z: Array, slope: Array, offset: float, reach: float, rng: np.random.Generator) -> Array:
    """Flip entries of corners at random, until |offset + ⟨z, slope⟩| ≥ reach or no flip helps.

    Examples
    --------
    >>> flip(np.array([[1.0, -1.0, 1.0]]), np.array([3.0, 2.0, 0.0]), 0.0, 4.0, np.random.default_rng(0))
    array([[1., 1., 1.]])
    """
    here = np.flatnonzero(slope)
    apart = offset + Z @ slope
    side = np.where(apart < 0, -1.0, 1.0)
    order = rng.random((len(Z), len(here))).argsort(axis=1)
    gain = np.maximum(-2 * side[:, None] * Z[:, here] * slope[here], 0)  # what each flip would add
    gain = np.take_along_axis(gain, order, axis=1)
    before = np.abs(apart)[:, None] + np.cumsum(gain, axis=1) - gain
    turned = np.zeros((len(Z), len(here)), dtype=np.bool_)
    np.put_along_axis(turned, order, (before < reach) & (gain > 0), axis=1)
    Z = Z.copy()
    Z[:, here] = np.where(turned, -Z[:, here], Z[:, here])
    return Z


def _corners_told(Z: Array, slope: Array, offset: float, sigma: float) -> float:
    """Trace of the inverse information on the features where the models differ."""
    A = np.concatenate([np.ones((len(Z), 1)), Z[:, slope != 0]], axis=1)
    s2 = ((offset + Z @ slope) / sigma) ** 2
    J = (A.T * (s2 / (s2 + 2))) @ A / len(Z)
    return float(np.trace(np.linalg.inv(J + 1e-6 * np.eye(len(J)))))
