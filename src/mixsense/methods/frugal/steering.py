"""Queries that are focused and steered.

A focused query has more variance on the coordinates that seem to matter. A steered one lets its answer label itself: of
two models, it is pushed along their estimated difference; of more, the best of several draws is taken. Both together
spend at most as much as the paper's own sum queries: a mean squared norm of 2n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.regression.fit import Fit


class Queries(NamedTuple):
    """What a stage asks."""

    X: Array
    """(q, n), the queries."""
    instruments: Array
    """(n,), what makes an instrument of each entry: times the query, its covariance with the query depends on no
    answer. 0 where there is none."""

    @classmethod
    def alone(cls, X: Array) -> Queries:
        """Return queries without instruments."""
        return cls(X, np.zeros(X.shape[1]))


@dataclass(frozen=True, slots=True)
class Steering:
    """How the next queries are drawn: x ~ N(0, diag(sd²)), steered as far as there are models to steer by."""

    sd: Array
    """(n,), standard deviations."""
    delta: Array | None = None
    """(n,), direction of the push."""
    reach: float = 0.0
    """How far apart the two means of an answer are at least: a query is pushed until |⟨x, delta⟩| ≥ reach."""
    models: Array | None = None
    """(L, n), of which the means of an answer should be far apart: the best of several draws is taken."""
    sigma: float = 1.0
    """Noise of an answer."""
    floor: float = 0.0
    """The part of every coordinate's variance that depends on no answer."""

    def draw(self, q: int, rng: np.random.Generator) -> Queries:
        """Draw q queries, their mean squared norm at most 2n."""
        X = self._draw(q, rng)
        if self.delta is not None and self.reach > 0:
            along = X @ self.delta
            push = np.where(along < 0, -1.0, 1.0) * np.maximum(self.reach - np.abs(along), 0)
            X += np.outer(push / float(self.delta @ self.delta), self.delta)
        norm2 = float(np.einsum("ij,ij->", X, X)) / q
        smaller = min(1.0, tuning.QUERY_ENERGY * X.shape[1] / norm2)
        # Of a coordinate x = z + f with Var z = floor, E[z | x] = x floor/sd² is the instrument, with Cov = floor.
        weight = self.floor / np.maximum(self.sd**2, 1e-300) / smaller
        return Queries(X * math.sqrt(smaller), weight)

    def _draw(self, q: int, rng: np.random.Generator) -> Array:
        def once() -> Array:
            return rng.standard_normal((q, len(self.sd))) * self.sd

        models, sigma = self.models, self.sigma
        if models is None:
            return once()
        return best_of(once, lambda X: told(X @ models.T, sigma).mean(axis=1), tuning.DRAWS_TO_CHOOSE_FROM)


def best_of(draw: Callable[[], Array], worth: Callable[[Array], Array], tries: int) -> Array:
    """Return of several draws of q queries, one for each place, the one that is worth most.

    Parameters
    ----------
    draw : callable
        Draws q queries.
    worth : callable
        What each of q queries is worth, (q,).
    tries : int
        How many draws there are to choose from.
    """
    chosen = draw()
    most = worth(chosen)
    for _ in range(tries - 1):
        other = draw()
        here = worth(other)
        better = here > most
        chosen[better], most[better] = other[better], here[better]
    return chosen


def told(means: Array, sigma: float) -> Array:
    """Return which part of a tagged answer's information an answer has if it comes from each model, (q, L).

    Parameters
    ----------
    means : (q, L) array
        What each model would answer.
    sigma : float
        Noise of an answer.
    """
    order = means.argsort(axis=1)
    gaps = np.diff(np.take_along_axis(means, order, axis=1), axis=1)
    wide = np.full((len(means), 1), np.inf)
    nearest = np.minimum(np.hstack([wide, gaps]), np.hstack([gaps, wide]))
    part = labelled((np.minimum(nearest, tuning.LABELLING_SEPARATION * sigma) / sigma) ** 2)
    found = np.empty_like(part)
    np.put_along_axis(found, order, part, axis=1)
    return found


def gain(rows: Array, fit: Fit) -> Array:
    """Return how much an answer lowers the sum of all posterior variances, up to a factor, (q,).

    Parameters
    ----------
    rows : (q, n) array
        What the answers are linear in.
    fit : Fit
        The models so far.

    Notes
    -----
    An answer of model a adds t x xᵀ/σ² to its information, where t is the part of it that is told; the trace of the
    covariance C falls by about t ‖C x‖²/σ².
    """
    parts = told(rows @ fit.beta.T, fit.sigma) * fit.weights
    total = np.zeros(len(rows))
    for a in range(fit.L):
        total += parts[:, a] * ((rows @ fit.covariance_of(a)) ** 2).sum(axis=1)
    return total


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


def with_block(s2: Array, block: int) -> Array:
    """Return how far apart the means of each answer are, squared, with what the others of its block tell, too.

    Parameters
    ----------
    s2 : array
        s² of each answer by itself, with means that are s σ apart.
    block : int
        This many answers share their model; each of the others tells as much as an answer does on average.

    Examples
    --------
    >>> with_block(np.array([1.0, 3.0]), 1), with_block(np.array([1.0, 3.0]), 3)
    (array([1., 3.]), array([5., 7.]))
    """
    together: Array = s2 + (block - 1) * s2.mean()
    return together


def steer(
    chance: Array, beta: Array, sigma: float, floors: Sequence[float] = (0.0,), found: int = 1, block: int = 1
) -> Steering:
    """Split the energy between all coordinates, focus and push so that an answer tells as much as possible.

    Parameters
    ----------
    chance : (n,) array
        Chance of each coordinate to matter.
    beta : (L, n) array
        The estimated models, zero where they have no say.
    sigma : float
        Noise of an answer.
    floors : sequence of float
        Shares of the energy that may go to all coordinates alike, whatever was found: what was not found is seen by it.
    found : int
        How many coefficients were found.
    block : int
        This many answers share their model, and label each other: each has to be told only so far.

    Notes
    -----
    The push lets answers label themselves; focus multiplies the information on the coordinates that matter. Without a
    floor the best product of the two wins. With one, the squared error of what was not found has a standard error in
    proportion to √(2n)/floor, that of what was found to 1/variance there: the smallest sum wins.
    """
    n, energy = len(chance), tuning.QUERY_ENERGY
    if len(beta) > 2:
        floor = floors[-1] * energy
        return Steering(np.sqrt(floor + focus(chance, (energy - floor) * n)), models=beta, sigma=sigma, floor=floor)
    delta = beta[0] - beta[1]
    root, gap2 = np.sqrt(chance), float(delta @ delta)
    chosen, most = Steering(np.ones(n)), -math.inf
    for floor, share in product([part * energy for part in floors], tuning.FOCUS_SHARES):
        rest = (energy - floor) * n
        variance = floor + focus(chance, share * rest)
        natural = np.array(tuning.HALF_NORMAL) * math.sqrt(float(variance @ delta**2))  # |⟨x, delta⟩| without a push
        reach = _reach(natural, (1 - share) * rest * gap2, tuning.LABELLING_SEPARATION * sigma / math.sqrt(block))
        s2 = (np.maximum(natural, reach) / sigma) ** 2
        told_of_tagged = float(labelled(with_block(s2, block)).mean())
        there = float(root @ variance) / float(root.sum())
        if floor:
            there = 1 / (tuning.NOISE_QUANTILE * math.sqrt(2 * n) / floor + found / there)
        if told_of_tagged * there > most:
            most, chosen = told_of_tagged * there, Steering(np.sqrt(variance), delta, reach, floor=floor)
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
