"""How far two models may be apart without having been seen, where one model explains all answers.

Two models that differ in one column answer m ± δ x/2: at corners of a box that is one model with a wider noise, up to
its shape. Whatever difference the answers do not exclude is a part of what one model may be wrong by.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.starts import second_moments


class Hidden(NamedTuple):
    """The largest differences of two models that the answers do not exclude: how far one model is from the farther."""

    feature: float
    """If they differ in one feature."""
    level: float
    """If they differ in their levels alone; 0 where models have none."""


def hidden_difference(data: Data, one: Fit, sigma: float | None, level: bool) -> Hidden:
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

    Notes
    -----
    Every column is tried with equal shares, over a grid of differences. A pair has the odds of its
    likelihood ratio, less one nat for its size, and a feature those of one in n. All that exceed the returned error
    have odds of at most `HIDDEN_ODDS` together.
    """
    X, c = data.X, data.X.shape[1]
    R = data.values - X @ one.beta[0]
    spread2 = float(np.mean(R * R))
    columns = np.arange(c)
    if c > tuning.HIDDEN_COLUMNS:  # those whose squares go with the squares of the residuals are excluded last
        columns = np.argsort(-second_moments(X, data.values, one.beta[0], 2)[0], kind="stable")[: tuning.HIDDEN_COLUMNS]
        columns = np.union1d(columns, [0]) if level else columns
    x = X[:, columns]
    errors = (one.sigma if sigma is None else sigma) * tuning.HIDDEN_GRID
    alone = _loglik_of_one(R, spread2 if sigma is None else sigma**2)
    odds = np.zeros((len(errors), len(columns)))
    for e, error in enumerate(errors):
        taken = error**2 * (x * x).mean(axis=0)  # the variance that they explain
        left = np.maximum(spread2 - taken, tuning.LEAST_HIDDEN_NOISE * spread2) if sigma is None else sigma**2
        odds[e] = np.exp(np.minimum(_loglik_of_two(R, x, error, left) - alone - 1, 50.0))
    odds = np.maximum.accumulate(odds[::-1], axis=0)[::-1]  # of a column, the best of all larger differences
    feature = columns >= level
    return Hidden(
        _excluded(errors, odds[:, feature].sum(axis=1) / max(c - level, 1)),
        _excluded(errors, odds[:, ~feature].sum(axis=1)) if level else 0.0,
    )


def _excluded(errors: Array, odds: Array) -> float:
    """Return the smallest error from which on the odds are small; infinite if there is none."""
    small = odds <= tuning.HIDDEN_ODDS
    return float(errors[int(np.argmax(small))]) if small.any() else math.inf


def _loglik_of_one(R: Array, variance: float) -> float:
    return float(-0.5 * (R * R).sum() / variance - 0.5 * len(R) * math.log(variance))


def _loglik_of_two(R: Array, x: Array, error: float, variance: Array | float) -> Array:
    """Return the log-likelihood of two models, each this far from the one in one of these columns in turn, (c,)."""
    up, down = R[:, None] - error * x, R[:, None] + error * x
    both = np.logaddexp(-0.5 * up * up / variance, -0.5 * down * down / variance) - math.log(2)
    total: Array = both.sum(axis=0) - 0.5 * len(R) * np.log(variance)
    return total
