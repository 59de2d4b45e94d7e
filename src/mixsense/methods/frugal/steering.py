"""Queries that are focused and steered.

A focused query has more variance on the coordinates that seem to matter. A steered one is pushed along the estimated
difference of the two models until its answer labels itself. Both together spend at most as much as the paper's own sum
queries: a mean squared norm of 2n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning

# Midpoints of twelve equally probable parts of |N(0, 1)|.
_HALF_NORMAL = np.array(
    [0.0522, 0.1573, 0.2641, 0.3741, 0.4888, 0.6103, 0.7416, 0.8871, 1.0545, 1.2582, 1.5341, 2.0368]
)


@dataclass(frozen=True, slots=True)
class Steering:
    """How the next queries are drawn: x ~ N(0, diag(sd²)), pushed along `delta` until |⟨x, delta⟩| ≥ reach."""

    sd: Array
    """(n,), standard deviations."""
    delta: Array | None = None
    """(n,), direction of the push."""
    reach: float = 0.0
    """How far apart the two means of an answer are at least."""

    def draw(self, q: int, rng: np.random.Generator) -> Array:
        """Draw q queries, their mean squared norm at most 2n."""
        X = rng.standard_normal((q, len(self.sd))) * self.sd
        if self.delta is not None and self.reach > 0:
            along = X @ self.delta
            push = np.where(along < 0, -1.0, 1.0) * np.maximum(self.reach - np.abs(along), 0)
            X += np.outer(push / float(self.delta @ self.delta), self.delta)
        norm2 = float(np.einsum("ij,ij->", X, X)) / q
        return X * math.sqrt(min(1.0, tuning.QUERY_ENERGY * X.shape[1] / norm2))


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


def labelled(s2: Array) -> Array:
    """Return which part of a tagged answer's information an untagged one has, if its means are s σ apart.

    Parameters
    ----------
    s2 : array
        s² of each answer.
    """
    part: Array = s2 / (s2 + tuning.LABELLING_LOSS)
    return part


def steer(chance: Array, delta: Array, sigma: float) -> Steering:
    """Split the energy between focus and push so that an answer tells as much as possible.

    Parameters
    ----------
    chance : (n,) array
        Chance of each coordinate to matter.
    delta : (n,) array
        Estimated difference of the two models.
    sigma : float
        Noise of an answer.

    Notes
    -----
    The push lets answers label themselves; focus multiplies the information on the coordinates that matter. The best
    product of the two wins.
    """
    n = len(chance)
    root, gap2, energy = np.sqrt(chance), float(delta @ delta), tuning.QUERY_ENERGY * n
    chosen, most = Steering(np.ones(n)), -1.0
    for share in tuning.FOCUS_SHARES:
        variance = focus(chance, share * energy)
        natural = _HALF_NORMAL * math.sqrt(float(variance @ delta**2))  # |⟨x, delta⟩| without a push
        reach = _reach(natural, (1 - share) * energy * gap2, tuning.LABELLING_SEPARATION * sigma)
        s2 = (np.maximum(natural, reach) / sigma) ** 2
        told = float(labelled(s2).mean()) * float(root @ variance) / float(root.sum())
        if told > most:
            most, chosen = told, Steering(np.sqrt(variance), delta, reach)
    return chosen


def _reach(natural: Array, mean_square: float, top: float) -> float:
    """Return the largest level c ≤ top with E[(c − natural)₊²] ≤ mean_square."""
    low, high = 0.0, top
    if float((np.maximum(top - natural, 0) ** 2).mean()) <= mean_square:
        return top
    for _ in range(30):  # bisection to 10⁻⁹ of the top
        middle = (low + high) / 2
        fits = float((np.maximum(middle - natural, 0) ** 2).mean()) <= mean_square
        low, high = (middle, high) if fits else (low, middle)
    return low
