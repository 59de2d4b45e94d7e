"""Queries in a box that tell readings apart: models that differ elsewhere answer differently at inner points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.corners import Box
from mixsense.regression.rivals import Reading


def duels(q: int, box: Box, rivals: Sequence[Reading], rng: np.random.Generator) -> Array:
    """Draw q corners with one or two entries in the middle, those where the rivals answer most differently.

    Parameters
    ----------
    q : int
        How many.
    box : Box
        Where queries stay.
    rivals : sequence of Reading
        Those that are alive, the best first.
    rng : Generator
        Draws the corners.
    """
    Z = candidates_for_duels(tuning.DRAWS_FOR_A_DUEL * q, box, rng)
    first, *others = rivals[: tuning.RIVALS_IN_DUELS]
    X, worth = box.coded.rows(Z), np.zeros(len(Z))
    for other in others:
        weight = np.exp(0.5 * (other.score - first.score))
        worth += weight * told_apart(X, first, other)
    return Z[np.argsort(-worth, kind="stable")[:q]]


def candidates_for_duels(many: int, box: Box, rng: np.random.Generator) -> Array:
    """Draw corners with one or two entries in the middle, as far as features have one."""
    Z = box.draw(many, rng)
    rows, inner = np.arange(many), box.coded.inner
    for times in range(min(2, len(inner))):
        middle = inner[rng.integers(len(inner), size=many)]
        here = rng.random(many) < (1.0 if times == 0 else tuning.SECOND_IN_THE_MIDDLE)
        Z[rows[here], middle[here]] = 0.0
    return box.coded.allowed(Z, rng)


def told_apart(X: Array, one: Reading, other: Reading) -> Array:
    """Return the symmetric Kullback–Leibler divergence of the answers to each row under two readings, (q,)."""
    means = np.hstack([X @ one.beta.T, X @ other.beta.T])
    beyond = tuning.BEYOND_THE_MEANS * min(one.sigma, other.sigma)
    low, high = means.min(axis=1) - beyond, means.max(axis=1) + beyond
    y = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, tuning.POINTS_OF_AN_ANSWER)
    p, r = (_density(X, y, each) for each in (one, other))
    total: Array = ((p - r) * np.log(p / r)).sum(axis=1) * (high - low) / tuning.POINTS_OF_AN_ANSWER
    return total


def _density(X: Array, y: Array, reading: Reading) -> Array:
    z = (y[:, :, None] - (X @ reading.beta.T)[:, None]) / reading.sigma
    found: Array = (np.exp(-0.5 * z * z) @ reading.weights) / reading.sigma + 1e-300
    return found
