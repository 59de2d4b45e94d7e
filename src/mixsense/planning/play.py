"""Algorithm 8 played through without an oracle, to count the answers that it would take.

No answer is drawn, only what decides the size of the batches: the separations ⟨x, Δ⟩ ~ N(0, ‖Δ‖²) of the queries, and
the sample variances of their answers, by their first two moments. The rules are the method's own.
"""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.paper.stopping import (
    Accuracy,
    alignment_accuracy,
    gap_known,
    gap_limits,
    needed_samples,
    next_batch,
    one_is_enough,
    variance_noise,
)


class DrawnBatches:
    """What `mixsense.methods.paper.estimate.Batches` tells of its answers, drawn without any: sizes and variances.

    The sample variance S² of T answers whose two means are |d| apart is σ² + d²/4 on average, and T (S² − σ² − d²/4)
    grows like a random walk.

    Parameters
    ----------
    d : (q,) array
        Separation of each query's means.
    sigma : float
        The noise.
    size : int
        Answers to each query at first.
    rng : Generator
        Draws the walk.
    """

    def __init__(self, d: Array, sigma: float, size: int, rng: np.random.Generator) -> None:
        self._rng = rng
        self._mean = sigma**2 + d**2 / 4  # E S²
        self._step = np.sqrt(variance_noise(sigma, d**2 / 4))  # standard deviation of one step of the walk
        self._walk = np.zeros(len(d))
        self.sizes = np.zeros(len(d))  # floats: with the proofs' constants they leave the range of integers
        self.ask(np.arange(len(d)), size)

    def variances(self) -> Array:
        """Sample variance of each query's answers."""
        return self._mean + self._walk / self.sizes

    def ask(self, index: Index, more: int) -> None:
        """Add this many answers to these queries."""
        self.sizes[index] += more
        self._walk[index] += self._step[index] * math.sqrt(more) * self._rng.standard_normal(len(index))

    def grow(self, accuracy: Accuracy) -> None:
        """Grow the batches until each is large enough, as Algorithm 5 does."""
        while following := next_batch(self.sizes, needed_samples(self.variances(), self.sizes, accuracy)):
            self.ask(*following)


def play(m: int, played: int, gap: float, accuracy: Accuracy, eta: float, rng: np.random.Generator) -> int:
    """Return the answers of one play.

    Parameters
    ----------
    m : int
        Number of queries.
    played : int
        How many of them are played.
    gap : float
        Distance of the two vectors.
    accuracy : Accuracy
        With the user's γ.
    eta : float
        Allowed probability of failure.
    rng : Generator
        Draws the separations and the variances.

    Examples
    --------
    >>> from mixsense.methods.paper.constants import PRACTICAL
    >>> accuracy = Accuracy(1.0, 0.5, math.log(3 * 40 / 0.05), PRACTICAL)
    >>> play(40, 40, 10.0, accuracy, 0.05, np.random.default_rng(0)) > 40 * accuracy.test_samples
    True
    """
    d = gap * np.sort(np.abs(rng.standard_normal(played)))  # |⟨x, Δ⟩|
    size = accuracy.test_samples
    base = DrawnBatches(d, accuracy.sigma, size, rng)
    while True:  # `several_vectors.measure_precision`
        measured = gap_limits(base.variances(), base.sizes, accuracy.sigma, eta, queries=m)
        if gap_known(measured, size, accuracy):
            break
        base.ask(np.arange(played), size)
        size *= 2
    accuracy = alignment_accuracy(measured, accuracy)
    if one_is_enough(measured, accuracy):
        return int(base.sizes.sum())
    base.grow(accuracy)
    others, pivot = d[:-1], d[-1]
    pairs = DrawnBatches(np.concatenate([others + pivot, others - pivot]), accuracy.sigma, accuracy.test_samples, rng)
    pairs.grow(accuracy)
    return int(base.sizes.sum() + pairs.sizes.sum())
