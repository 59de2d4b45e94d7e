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
from mixsense.scales.lapses import Lapses


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


class Others(NamedTuple):
    """The other models, where the one is among several."""

    own: Array
    """(N,), the probability that an answer is the one model's."""
    density: Array
    """(N,), or of each group: log density of the others together."""
    share: float
    """How often the one answers."""
    tails: bool = False
    """Some answers of the one may be far from it."""


def others(fit: Fit, a: int, data: Data, tails: float = 0.0) -> Others:
    """Return what the models of a fit besides one make of the answers; lapses of single answers count among them.

    Parameters
    ----------
    fit : Fit
        All models.
    a : int
        The one.
    data : Data
        All answers.
    tails : float
        This share of the one's answers may be far from it, by Cauchy's law, and is no evidence for two.
    """
    found, rest = fit.explained(data), np.delete(np.arange(fit.L), a)
    noise, of_rest = fit.noises, data.X @ fit.beta[rest].T
    density = _density(data, of_rest, data.values[:, None] - of_rest, np.square(noise[rest]))
    if data.group is not None:
        density = of_groups(density, data.group)
    together, share = np.logaddexp.reduce(density + np.log(fit.weights[rest]), axis=1), float(fit.weights[a])
    if data.group is not None:
        return Others(found.probability[:, a], together, share)
    left_out = 0.5 * math.log(2 * math.pi) if data.scale is None else 0.0  # by `_log_normal`
    if isinstance(fit.scale, Lapses):
        lapsed = fit.scale.anywhere(data.y) + left_out
        together = np.logaddexp(together + math.log1p(-fit.lapses), lapsed + math.log(fit.lapses))
        share *= 1 - fit.lapses
    if tails:
        wide = tuning.TAIL_SCALE * float(noise[a])
        far = left_out - np.log(math.pi * wide * (1 + ((data.values - data.X @ fit.beta[a]) / wide) ** 2))
        together = np.logaddexp(together, far + math.log(tails * share))
        share *= 1 - tails
    return Others(found.probability[:, a], together, share, tails > 0)


def hidden_difference(
    data: Data,
    model: Array,
    noise: float,
    known: bool,
    level: bool,
    either: Mask | None = None,
    share: float = 0.5,
    beside: Others | None = None,
    number: int | None = None,
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
        The noise is known; else what two models explain is taken from it.
    level : bool
        The first column is the model's level.
    either : (n,) array of bool, optional
        Which features have two values only: none by default.
    share : float
        How often the nearer of the two answers.
    beside : Others, optional
        The other models, if there are some.
    number : int, optional
        How many features there are, if not all of them are columns.

    Notes
    -----
    Every column is tried over a grid of differences. A pair has the odds of its likelihood ratio, less one nat for its
    size, and a feature those of one in n. Where the answers tell nothing, the odds are exp(−1).
    """
    X, c = data.X, data.X.shape[1]
    mean = X @ model
    R = data.values - mean
    own = np.ones(len(R)) if beside is None else beside.own
    spread2 = max(_spread2(data, mean, R, own, noise), (1e-6 * noise) ** 2)
    columns = np.arange(c)
    most = tuning.HIDDEN_COLUMNS if data.scale is None else tuning.HIDDEN_COLUMNS_ON_A_SCALE
    if c > most:  # those whose squares go with the squares of the residuals are excluded last
        if beside is None:
            promise = second_moments(X, data.values, model, 2)[0]
        else:
            promise = (own * (R * R - spread2)) @ (X * X - np.average(X * X, axis=0, weights=own))
        columns = np.argsort(-promise, kind="stable")[:most]
        columns = np.union1d(columns, [0]) if level else columns
    one = np.array([noise**2 if known else spread2])
    if beside is not None and beside.tails:  # answers that are far away widen the spread, but not the noise
        one = np.array([spread2, noise**2])
    every = np.repeat(R[:, None], len(one), axis=1)
    alone = _loglik(_density(data, mean[:, None] + 0 * every, every, one), data.group, beside).max()
    errors, x = noise * tuning.HIDDEN_GRID, X[:, columns]
    squares = np.average(x * x, axis=0, weights=own)
    odds = np.zeros((len(errors), len(columns)))
    sides = (1.0,) if share == 0.5 else (1.0, -1.0)  # the nearer of unequal ones is on either side
    for side in sides:
        for e, error in enumerate(errors):
            taken = error**2 * (1 - share) / share * squares  # what they explain
            left = np.maximum(spread2 - taken, tuning.LEAST_HIDDEN_NOISE * spread2)
            left = np.full(len(columns), noise**2) if known else left
            away, back = error * side * x, error * (1 - share) / share * side * x
            far = _density(data, mean[:, None] - away, R[:, None] + away, left)
            both = far, _density(data, mean[:, None] + back, R[:, None] - back, left)
            nats = _loglik(both[0], data.group, beside, both[1], share) - alone - 1
            odds[e] += np.exp(np.minimum(nats, tuning.MOST_HIDDEN_NATS)) / len(sides)
    odds = np.maximum.accumulate(odds[::-1], axis=0)[::-1]  # of a column, the best of all larger ones
    feature = columns >= level
    inner = feature.copy()
    if either is not None and either.any():
        inner &= ~np.concatenate([np.zeros(int(level), dtype=np.bool_), either])[columns]
    each = number or max(c - level, 1)
    parts = []
    for here, all_of_them in ((feature, each), (~feature, 1), (inner, each)):
        found = odds[:, here].sum(axis=1) / all_of_them
        # Of two models that do not differ the answers tell nothing; where there is no such column, nothing is hidden.
        parts.append(np.append(max(math.exp(-1), float(found[0])) if here.any() else 0.0, found))
    return Odds(np.append(0.0, errors), parts[0], parts[1], parts[2], share)


def hidden_over_two(data: Data, model: Array, noise: float, level: bool, beside: Others | None = None) -> Odds:
    """Return the odds that two models answer in the place of one, and differ by as much in two features.

    Parameters
    ----------
    data, model, noise, level, beside
        As for `hidden_difference`; the noise is not known, and the two answer equally often.

    Notes
    -----
    Each sum and difference of two features counts as a feature. At corners it is 0 in half of the queries, where one
    feature is nowhere: two clusters of answers in one half, and one in the other, are seen sooner than those of one.
    """
    features = data.X[:, int(level) :]
    i, j = np.triu_indices(features.shape[1], 1)
    if not i.size:
        return no_odds()
    mean = data.X @ model
    own = np.ones(len(mean)) if beside is None else beside.own
    R2 = (data.values - mean) ** 2
    M = (features.T * (own * (R2 - np.average(R2, weights=own)))) @ features
    # Of all sums and differences those whose squares go with the squares of the residuals: there may be very many.
    promise = (np.diag(M)[i] + np.diag(M)[j]) / 2 + np.array([[1.0], [-1.0]]) * M[i, j]
    sign, pair = np.divmod(np.argsort(-promise.ravel(), kind="stable")[: tuning.HIDDEN_COLUMNS], i.size)
    pairs = (features[:, i[pair]] + (1.0 - 2.0 * sign) * features[:, j[pair]]) / math.sqrt(2)
    rows = np.column_stack([mean, pairs])  # the first stands for the model, as a level does
    one = np.eye(1, rows.shape[1])[0]
    return hidden_difference(data._replace(X=rows), one, noise, False, True, beside=beside, number=2 * i.size)


def _spread2(data: Data, mean: Array, R: Array, own: Array, noise: float) -> float:
    """Return the mean square of the residuals of one model; on a scale, that of the values behind the answers."""
    if data.scale is None:
        return float(np.average(R * R, weights=own))
    spread2 = noise**2
    for _ in range(tuning.SPREAD_STEPS):
        square = data.scale.terms(data.y, mean[:, None], math.sqrt(spread2)).square[:, 0]
        spread2 = float(np.average(square, weights=own))
    return spread2


def _density(data: Data, mean: Array, R: Array, variance: Array) -> Array:
    """Return the log densities of answers, (N, c), where these are their means, with residuals R, and variances."""
    if data.scale is None:
        return _log_normal(R, variance)
    return data.scale.terms(data.y, mean, np.sqrt(variance)).loglik


def _log_normal(R: Array, variance: Array) -> Array:
    """Return the log densities of residuals (N, c) whose columns have these variances, up to a constant."""
    found: Array = R * R
    found *= -0.5 / variance
    found -= 0.5 * np.log(variance)
    return found


def _loglik(
    density: Array, group: Index | None, beside: Others | None, second: Array | None = None, share: float = 0.5
) -> Array:
    """Return the log-likelihood, (c,), from the log densities (N, c) of one model, or of two that take its place.

    The nearer, second one has the share; the answers of a group have one model.
    """
    if group is not None:
        density, second = of_groups(density, group), None if second is None else of_groups(second, group)
    if second is not None:
        density = _log_of_sum(density + math.log(1 - share), second + math.log(share))
    if beside is not None:
        density = _log_of_sum(density + math.log(beside.share), beside.density[:, None])
    total: Array = density.sum(axis=0)
    return total


def _log_of_sum(a: Array, b: Array) -> Array:
    """Return log(eᵃ + eᵇ), in half of the time of `numpy.logaddexp`."""
    found: Array = np.abs(a - b)
    np.exp(np.negative(found, out=found), out=found)
    found += 1
    np.log(found, out=found)
    found += np.maximum(a, b)
    return found
