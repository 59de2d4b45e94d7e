"""The answers that models are fitted to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression import tuning
from mixsense.regression.likelihood import Explained, explain
from mixsense.scales.scale import Scale


class Data(NamedTuple):
    """The answers that the fits are for, one row each."""

    X: Array
    """(N, n), the rows that the answers are linear in."""
    y: Array
    """(N,), the answers."""
    zeros: int = 0
    """How many of them, the first, answer x = 0, and so tell nothing but the noise."""
    group: Index | None = None
    """(N,), the group of each answer, numbered from 0 without a gap; answers of a group share a hidden model.
    None: each answer is alone."""
    scale: Scale | None = None
    """How answers are made of the linear value; None for real numbers, which are the value itself."""
    counts: Array | None = None
    """(N,), how often each answer counts, as if it were there as many times; None for once each."""
    sure: int = 0
    """How many columns, the first, are in without being chosen, and are not shrunk: levels of the models."""

    @property
    def N(self) -> float:
        """How many answers there are, each as often as it counts."""
        return len(self.y) if self.counts is None else float(self.counts.sum())

    @property
    def without_zeros(self) -> Data:
        """The same answers, but those to x = 0."""
        return self.rows(np.arange(self.zeros, len(self.y))) if self.zeros else self

    def rows(self, here: Index) -> Data:
        """Return some of the answers, none of which counts as one to x = 0."""
        group = None if self.group is None else np.unique(self.group[here], return_inverse=True)[1]
        counts = None if self.counts is None else self.counts[here]
        return self._replace(X=self.X[here], y=self.y[here], zeros=0, group=group, counts=counts)

    def some(self, most: int, rng: np.random.Generator) -> Data:
        """Return about this many of the answers at the most, drawn at random; those of a group stay together."""
        if len(self.y) <= most:
            return self
        group = np.arange(len(self.y)) if self.group is None else self.group
        number = int(group.max()) + 1
        drawn = np.zeros(number, dtype=np.bool_)
        drawn[rng.permutation(number)[: max(1, most * number // len(self.y))]] = True
        return self.rows(np.flatnonzero(drawn[group]))

    @property
    def values(self) -> Array:
        """The answers as if they were real numbers on the linear scale, (N,): what starts are made of."""
        return self.y if self.scale is None else self.scale.value(self.y)

    def explained(self, beta: Array, weights: Array, sigma: float | Array) -> Explained:
        """Say how these models explain the answers; see `explain`.

        Of many answers, some at a time: what is needed on the way would take several times the memory of the result.
        """
        if self.group is not None or len(self.y) <= tuning.ROWS_AT_ONCE:
            return explain(self.X, self.y, beta, weights, sigma, self.group, self.scale, self.counts)
        R, P, loglik = *(np.empty((len(self.y), len(beta))) for _ in range(2)), np.empty(len(self.y))
        curvature = np.broadcast_to(1.0, R.shape) if self.scale is None else np.empty_like(R)
        for first in range(0, len(self.y), tuning.ROWS_AT_ONCE):
            rows = slice(first, first + tuning.ROWS_AT_ONCE)
            counts = None if self.counts is None else self.counts[rows]
            part = explain(self.X[rows], self.y[rows], beta, weights, sigma, None, self.scale, counts)
            R[rows], P[rows], loglik[rows] = part[:3]
            if self.scale is not None:
                curvature[rows] = part.curvature
        return Explained(R, P, loglik, curvature)

    def loglik(self, beta: Array, weights: Array, sigma: float | Array) -> float:
        """Return the log-likelihood of all answers under these models."""
        return float(self.explained(beta, weights, sigma).loglik.sum())
