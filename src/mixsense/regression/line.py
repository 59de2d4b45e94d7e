"""Whether three models on a line answer in the place of two: scaled copies, say, of which the middle one was merged.

A third model of its own pays for each of its coefficients, and takes many answers. One that lies between two, or on the
line through them, has a place on it, and nothing else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.problem import LEAST_SHARE
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import counted
from mixsense.scales.scale import terms_of


class Line(NamedTuple):
    """Three models on the line through two."""

    odds: float
    """How probable they are against the two."""
    error: float
    """How far one of them is from the nearer one of the two, at most."""


def three_on_a_line(data: Data, fit: Fit, a: int, b: int, free_sigma: bool) -> Line:
    """Return how probable three models on the line through two of a fit are, in the place of these two.

    Parameters
    ----------
    data : Data
        All answers.
    fit : Fit
        All models; the others stay where they are.
    a, b : int
        The two models.
    free_sigma : bool
        The noise is estimated.

    Notes
    -----
    Models c + s d, with c the middle of the two and d their difference, fitted by EM in s, the shares and the noise;
    two of them in the same way, so that they differ by one place and one share: log N nats, half of it for each. No
    one answers so seldom that it cannot be told from outliers: heavy tails of the noise look like such a model.
    """
    pair, rest = [a, b], [other for other in range(fit.L) if other not in (a, b)]
    middle, apart = (fit.beta[a] + fit.beta[b]) / 2, fit.beta[b] - fit.beta[a]
    along = data._replace(X=data.X @ np.column_stack([middle, apart, *fit.beta[rest]]), scale=fit.scale, sure=0)
    shares, ends = fit.weights[pair], np.array([-0.5, 0.5])
    start = _Start(fit.noises[pair].mean(), fit.weights[rest], fit.noises[rest], free_sigma)
    two, _ = _fitted(along, ends, shares, start)
    three, places = max(
        (_fitted(along, np.array(each), np.full(3, shares.sum() / 3), start) for each in tuning.LINE_STARTS),
        key=lambda found: found[0],
    )
    error = float(np.abs(places[:, None] - ends).min(axis=1).max() * np.linalg.norm(apart))
    return Line(math.exp(min(three - two - math.log(data.N), tuning.MOST_HIDDEN_NATS)), error)


class _Start(NamedTuple):
    """What the models on a line begin with, and what stands beside them."""

    sigma: float
    shares: Array
    """Of the other models."""
    noises: Array
    """Of the other models."""
    free_sigma: bool


def _fitted(along: Data, places: Array, shares: Array, start: _Start) -> tuple[float, Array]:
    """Fit models on a line beside others by EM; returns the log-likelihood and their places.

    The columns of `along` are the middle, the difference, and what each of the others would answer.
    """
    k, others = len(places), len(start.shares)
    weights = np.append(shares, start.shares)
    sigma = np.append(np.full(k, start.sigma), start.noises)
    models = np.zeros((k + others, 2 + others))
    models[:k, 0], models[:k, 1], models[k:, 2:] = 1.0, places, np.eye(others)
    least = np.append(np.full(k, LEAST_SHARE), np.full(others, tuning.LEAST_SHARE_IN_FIT))
    d = along.X[:, 1]
    for _ in range(tuning.LINE_STEPS):
        found = along.explained(models, weights, sigma)
        P = counted(found.probability, along.counts)
        own = P[:, :k]
        if start.free_sigma:
            square = terms_of(along.scale, along.y, along.X @ models.T, sigma).square[:, :k]
            sigma[:k] = math.sqrt(max(float((own * square).sum()) / float(own.sum()), 1e-300))
        models[:k, 1] += (own * found.residual[:, :k]).T @ d / np.maximum(own.T @ d**2, 1e-300)
        weights = np.maximum(P.sum(axis=0) / along.N, least)
        weights /= weights.sum()
    return along.loglik(models, weights, sigma), models[:k, 1]
