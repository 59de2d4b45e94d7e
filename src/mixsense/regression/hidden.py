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
from mixsense.regression.fit import Fit
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


def hidden_difference(data: Data, one: Fit, sigma: float | None, level: bool, either: Mask | None = None) -> Hidden:
    """Return how far the model may be from two that answer in its place, and differ in one column.

    Parameters
    ----------
    data : Data
        All answers.
    one : Fit
        The one model.
    sigma : float or None
        Noise of an answer, if it is known; else two models leave as much less noise as they explain.
    level : bool
        The first column is the model's level.
    either : (n,) array of bool, optional
        Which features have two values only: none by default.

    Notes
    -----
    Every column is tried with equal shares, and one of two values with unequal ones too, over a grid of differences. A
    pair has the odds of its likelihood ratio, less one nat for its size, and a feature those of one in n. All that
    exceed the returned error have odds of at most `HIDDEN_ODDS` together.
    """
    X, c = data.X, data.X.shape[1]
    R = data.values - X @ one.beta[0]
    spread2 = float(np.mean(R * R))
    columns = np.arange(c)
    if c > tuning.HIDDEN_COLUMNS:  # those whose squares go with the squares of the residuals are excluded last
        columns = np.argsort(-second_moments(X, data.values, one.beta[0], 2)[0], kind="stable")[: tuning.HIDDEN_COLUMNS]
        columns = np.union1d(columns, [0]) if level else columns
    alone = _loglik_of_one(R, spread2 if sigma is None else sigma**2)
    noise = (one.sigma if sigma is None else sigma) * tuning.HIDDEN_GRID

    def odds_of(columns: Index, share: float, side: float = 1.0) -> Array:
        """Return the odds of two models for each error and column, with this share of the nearer one."""
        x, odds = side * X[:, columns], np.zeros((len(noise), len(columns)))
        for e, error in enumerate(noise):
            taken = error**2 * (1 - share) / share * (x * x).mean(axis=0)  # the variance that they explain
            left = np.maximum(spread2 - taken, tuning.LEAST_HIDDEN_NOISE * spread2) if sigma is None else sigma**2
            odds[e] = np.exp(np.minimum(_loglik_of_two(R, x, error, left, data.group, share) - alone - 1, 50.0))
        found: Array = np.maximum.accumulate(odds[::-1], axis=0)[::-1]  # of a column, the best of all larger ones
        return found

    odds = odds_of(columns, 0.5)
    feature = columns >= level
    inner = feature.copy()
    if either is not None and either.any():  # where a feature is in the middle, models of any shares answer alike
        inner &= ~np.concatenate([np.zeros(int(level), dtype=np.bool_), either])[columns]
        here = np.flatnonzero(feature & ~inner)
        for side in (-1.0, 1.0):
            odds[:, here] = np.maximum(odds[:, here], odds_of(columns[here], tuning.HIDDEN_SHARE, side))
    return Hidden(
        _excluded(noise, odds[:, feature].sum(axis=1) / max(c - level, 1)),
        _excluded(noise, odds[:, ~feature].sum(axis=1)) if level else 0.0,
        _excluded(noise, odds[:, inner].sum(axis=1) / max(c - level, 1)) if inner.any() else 0.0,
    )


def _excluded(errors: Array, odds: Array) -> float:
    """Return the smallest error from which on the odds are small; infinite if there is none."""
    small = odds <= tuning.HIDDEN_ODDS
    return float(errors[int(np.argmax(small))]) if small.any() else math.inf


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
