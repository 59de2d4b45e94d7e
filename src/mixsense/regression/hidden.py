"""How far two models may be apart without having been seen, where one model explains all answers.

Two models that differ in one column answer m ± δ x/2: at corners of a box that is one model with a wider noise, up to
its shape. Whatever difference the answers do not exclude is a part of what one model may be wrong by.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.likelihood import of_groups
from mixsense.regression.starts import second_moments


class Hidden(NamedTuple):
    """The largest differences of two models that the answers do not exclude: how far one model is from the farther."""

    feature: float
    """If they differ in one feature."""
    level: float
    """If they differ in their levels alone; 0 where models have none."""
    inner: float
    """If they differ in one feature that has values between its ends."""


class Odds(NamedTuple):
    """How probable two models are against one, by how far it would be from the farther of them."""

    errors: Array
    """(e,), the distances that were tried."""
    feature: Array
    """(e,), the odds of all pairs at least this far away that differ in one feature."""
    level: Array
    """(e,), of those that differ in their levels alone."""
    inner: Array
    """(e,), of those that differ in one feature that has values between its ends."""
    share: float
    """How often the nearer of the two answers."""

    def apart(self, error: float) -> float:
        """Return how far two models are apart, if one is this far from the farther of them."""
        return error / self.share

    def excluded(self, most: float) -> Hidden:
        """Return the smallest errors from which on the odds are at most this; infinite if there is none."""
        small = [np.flatnonzero(odds <= most) for odds in (self.feature, self.level, self.inner)]
        return Hidden(*(float(self.errors[here[0]]) if here.size else math.inf for here in small))


def no_odds() -> Odds:
    """Return the odds where two models are not possible."""
    nothing = np.zeros(1)
    return Odds(nothing, nothing, nothing, nothing, share=1.0)


def hidden_difference(
    data: Data,
    model: Array,
    noise: float,
    known: bool,
    level: bool,
    either: Mask | None = None,
    share: float = 0.5,
) -> Odds:
    """Return the odds that two models answer in the place of one, and differ in one column.

    Parameters
    ----------
    data : Data
        All answers.
    model : (c,) array
        The one model.
    noise : float
        Noise of an answer.
    known : bool
        The noise is known; else two models leave as much less of it as they explain.
    level : bool
        The first column is the model's level.
    either : (n,) array of bool, optional
        Which features have two values only: none by default.
    share : float
        How often the nearer of the two answers.

    Notes
    -----
    Every column is tried over a grid of differences. A pair has the odds of its likelihood ratio, less one nat for its
    size, and a feature those of one in n. Where the answers tell nothing, the odds are exp(−1).
    """
    X, c = data.X, data.X.shape[1]
    R = data.values - X @ model
    spread2 = float(np.mean(R * R))
    columns = np.arange(c)
    if c > tuning.HIDDEN_COLUMNS:  # those whose squares go with the squares of the residuals are excluded last
        columns = np.argsort(-second_moments(X, data.values, model, 2)[0], kind="stable")[: tuning.HIDDEN_COLUMNS]
        columns = np.union1d(columns, [0]) if level else columns
    alone = _loglik_of_one(R, noise**2 if known else spread2)
    errors, x = noise * tuning.HIDDEN_GRID, X[:, columns]
    odds = np.zeros((len(errors), len(columns)))
    sides = (1.0,) if share == 0.5 else (1.0, -1.0)  # the nearer of unequal ones is on either side
    for side in sides:
        for e, error in enumerate(errors):
            taken = error**2 * (1 - share) / share * (x * x).mean(axis=0)  # the variance that they explain
            left = noise**2 if known else np.maximum(spread2 - taken, tuning.LEAST_HIDDEN_NOISE * spread2)
            nats = _loglik_of_two(R, side * x, error, left, data.group, share) - alone - 1
            odds[e] += np.exp(np.minimum(nats, tuning.MOST_HIDDEN_NATS)) / len(sides)
    odds = np.maximum.accumulate(odds[::-1], axis=0)[::-1]  # of a column, the best of all larger ones
    feature = columns >= level
    inner = feature.copy()
    if either is not None and either.any():
        inner &= ~np.concatenate([np.zeros(int(level), dtype=np.bool_), either])[columns]
    each = max(c - level, 1)
    errors = np.append(0.0, errors)  # where there is no such column, nothing is hidden
    parts = [
        np.append(np.inf if here.any() else 0.0, odds[:, here].sum(axis=1) / number)
        for here, number in ((feature, each), (~feature, 1), (inner, each))
    ]
    return Odds(errors, parts[0], parts[1], parts[2], share)


def _loglik_of_one(R: Array, variance: float) -> float:
    return float(-0.5 * (R * R).sum() / variance - 0.5 * len(R) * math.log(variance))


def _loglik_of_two(
    R: Array, x: Array, error: float, variance: Array | float, group: Index | None, share: float
) -> Array:
    """Return the log-likelihood of two models that differ in one of these columns in turn, (c,).

    The farther one is this far from the one model; the nearer one has the share, and their mean is the one model.
    """
    far, near = R[:, None] + error * x, R[:, None] - error * (1 - share) / share * x
    far, near = -0.5 * far * far / variance, -0.5 * near * near / variance
    if group is not None:  # the answers of a group have one model
        far, near = of_groups(far, group), of_groups(near, group)
    both = np.logaddexp(far + math.log(1 - share), near + math.log(share))
    total: Array = both.sum(axis=0) - 0.5 * len(R) * np.log(variance)
    return total
