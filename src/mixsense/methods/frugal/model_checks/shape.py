"""Models that differ in their levels or their noise alone: two of them, or one with a noise of another shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.views import View
from mixsense.regression.fit import Fit


def gain_of_two(view: View, y: Array, fit: Fit, level: bool) -> float:
    """Return how much better two parallel models explain their answers than one with a skewed or wide noise, in nats.

    Parameters
    ----------
    view : View
        The answers as the fit sees them.
    y : (N,) array
        The answers.
    fit : Fit
        The models.
    level : bool
        The first column of the rows is the level; without one, parallel models differ in their noise alone.

    Returns
    -------
    float
        Of the pair of parallel models for which it is least; infinite if no two are parallel.
    """
    pairs = parallel(fit, level)
    return min((_gain(*residuals_of(view, y, fit, pair, level), level) for pair in pairs), default=math.inf)


def parallel(fit: Fit, level: bool) -> list[tuple[int, int]]:
    """Return the pairs of models that hardly differ in a feature: less than in their levels, or within their errors."""
    variance = fit.stderr[:, level:] ** 2
    found = []
    for a, b in combinations(range(fit.L), 2):
        difference = fit.beta[a] - fit.beta[b]
        square = np.square(difference[level:])
        within = bool((square <= tuning.PARALLEL_ERRORS**2 * (variance[a] + variance[b])).all())
        if within or (level and square.sum() <= (tuning.PARALLEL_SHARE * difference[0]) ** 2):
            found.append((a, b))
    return found


def residuals_of(
    view: View, y: Array, fit: Fit, pair: tuple[int, int], level: bool
) -> tuple[Array, Array, Array, Array]:
    """Return what the slopes of two parallel models leave of their answers; their levels, shares and noise, (2,)."""
    here = list(pair)
    weights = fit.weights[here] / fit.weights[here].sum()
    own = view.P[:, here].sum(axis=1) > 0.5
    if view.own is not None:  # without what is probably a lapse
        own &= np.isin(np.arange(len(y)), view.own)
    left = y[own] - view.X[own, level:] @ (weights @ fit.beta[here, level:])
    return left, fit.beta[here, 0] if level else np.zeros(2), weights, view.sigma[here]


def _gain(r: Array, middle: Array, weights: Array, sigma: Array, level: bool) -> float:
    """Return by how much two Gaussians are more probable than one noise of another shape, in nats.

    Where there is no `level`, the middle of both is 0.
    """
    if len(r) < tuning.LEAST_FOR_A_SHAPE:
        return math.inf
    own_noise = bool(sigma[0] != sigma[1])
    two = _two_gaussians(r, middle, weights, sigma, own_noise, level)
    one = max(_skewed(r), _skewed(-r), _wide(r))
    more = 1 + own_noise if level else 0  # parameters: one noise of another shape has three
    return two - one - 0.5 * more * math.log(len(r))


def _two_gaussians(r: Array, middle: Array, weights: Array, sigma: Array, own_noise: bool, level: bool) -> float:
    """Fit a mixture of two Gaussians, whose middles stay where there is no `level`; returns the log-likelihood."""
    loglik = -math.inf
    for _ in range(tuning.SHAPE_STEPS):
        density = weights * np.exp(-0.5 * ((r[:, None] - middle) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
        total = density.sum(axis=1, keepdims=True) + 1e-300
        loglik = float(np.log(total).sum())
        P = density / total
        count = P.sum(axis=0) + 1e-9
        weights = count / len(r)
        if level:
            middle = (P * r[:, None]).sum(axis=0) / count
        square = (P * (r[:, None] - middle) ** 2).sum(axis=0)
        sigma = np.sqrt(square / count if own_noise else np.full(2, square.sum() / len(r))) + 1e-12
    return loglik


def _skewed(r: Array) -> float:
    """Fit a Gaussian plus an exponential number (three parameters); returns the log-likelihood."""
    from scipy.special import log_ndtr

    def loglik(middle: float, log_sigma: float, log_tail: float) -> float:
        sigma, tail = math.exp(log_sigma), math.exp(log_tail)
        z = (r - middle) / sigma
        each = -log_tail + 0.5 * (sigma / tail) ** 2 - z * sigma / tail + log_ndtr(z - sigma / tail)
        return float(each.sum())

    half = math.sqrt(0.5) * (float(r.std()) or 1.0)  # of a variance of which the Gaussian has one half
    return _largest(loglik, [float(r.mean()) - half, math.log(half), math.log(half)])


def _wide(r: Array) -> float:
    """Fit Student's t (three parameters); returns the log-likelihood."""
    from scipy.special import gammaln

    def loglik(middle: float, log_scale: float, log_freedom: float) -> float:
        f = math.exp(log_freedom)
        constant = gammaln((f + 1) / 2) - gammaln(f / 2) - 0.5 * math.log(f * math.pi) - log_scale
        return float((constant - (f + 1) / 2 * np.log1p(((r - middle) / math.exp(log_scale)) ** 2 / f)).sum())

    return _largest(loglik, [float(np.median(r)), math.log(float(r.std()) or 1.0), math.log(tuning.START_FREEDOM)])


def _largest(loglik: Callable[[float, float, float], float], start: list[float]) -> float:
    """Return the largest log-likelihood near a start."""
    from scipy.optimize import minimize

    def cost(given: Array) -> float:
        if np.abs(given[1:]).max() > tuning.LARGEST_LOG:
            return math.inf
        found = loglik(*given.tolist())
        return -found if math.isfinite(found) else math.inf

    return -float(minimize(cost, start, method="Nelder-Mead", options={"maxiter": tuning.SHAPE_SEARCH}).fun)
