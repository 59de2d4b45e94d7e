"""How far can the result be trusted: the error bound, and tests of the model on answers that the fit has not seen."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import explain

RARE = 0.1
"""Coefficients less probable than this are drawn together: how many of them are there is a Poisson number."""
SIGNIFICANT = 1e-3
"""A p-value below this is a misfit."""


def error_quantile(fit: Fit, eta: float, draws: int = 2000) -> float:
    """Posterior 1 − η quantile of the worst vector's ℓ2 error, coefficients that may have been missed included.

    Parameters
    ----------
    fit : Fit
        The fitted vectors.
    eta : float
        Probability with which the error may be larger.
    draws : int
        Monte Carlo sample; its seed is fixed.
    """
    rng = np.random.default_rng(0)
    vector, place = fit.support
    total = np.zeros((draws, len(fit.beta)))
    for a, (p, m, square, variance) in enumerate(zip(fit.inclusion, fit.beta, fit.square, fit.variance, strict=True)):
        here = vector == a
        inside = np.zeros(len(p), dtype=np.bool_)
        inside[place[here]] = True
        if here.any():
            e = np.maximum(np.linalg.eigvalsh(fit.covariance[np.ix_(here, here)]), 0)
            total[:, a] += rng.standard_normal((draws, len(e))) ** 2 @ e
        there = np.where(p > 0, p, 1.0)
        mu = np.where(m != 0, m / there, np.sqrt(np.maximum(square / there, 0)))  # if it is there, it is N(mu, sd²)
        sd = np.sqrt(np.maximum(square / there - mu * mu, 0))
        rare = ~inside & (p > 0) & (p < RARE)
        if rare.any():
            expected = float(p[rare].sum())
            number = rng.poisson(fit.rate_correction * expected, draws)
            which = rng.choice(np.flatnonzero(rare), int(number.sum()), p=p[rare] / expected)
            value = mu[which] + sd[which] * rng.standard_normal(len(which))
            total[:, a] += np.bincount(np.repeat(np.arange(draws), number), (value - m[which]) ** 2, draws)
        for j in np.flatnonzero(~rare & (p > 0)):
            hit = rng.random(draws) < p[j]
            if inside[j]:  # if it is really zero, the error is all of it
                total[~hit, a] += m[j] ** 2
            else:
                value = mu[j] + sd[j] * rng.standard_normal(draws)
                total[:, a] += (np.where(hit, value, 0.0) - m[j]) ** 2
        total[:, a] += max(0.0, float(fit.tail_energy[a]) - float(variance[~inside].sum()))
    return float(np.sqrt(np.quantile(total.max(axis=1), 1 - eta)))


def probability_transform(X: Array, y: Array, fit: Fit) -> Array:
    """Return the predictive distribution function at each fresh answer: uniform if the model holds."""
    from scipy.special import ndtr

    sd = np.sqrt(fit.sigma**2 + (X * X) @ fit.variance.T)  # the fit's own uncertainty included
    u: Array = ndtr((y[:, None] - X @ fit.beta.T) / sd) @ fit.weights
    return u


def uniform_p_value(u: Array) -> float:
    """P-value of the Kolmogorov–Smirnov test of uniformity.

    Examples
    --------
    >>> uniform_p_value((np.arange(100) + 0.5) / 100), uniform_p_value(np.full(100, 0.5)) < 1e-6
    (1.0, True)
    """
    from scipy.special import kolmogorov

    m = len(u)
    if m == 0:
        return 1.0
    u, i = np.sort(u), np.arange(1, m + 1)
    distance = max(float((i / m - u).max()), float((u - (i - 1) / m).max()))
    return float(kolmogorov(math.sqrt(m) * distance))


def strangers(X: Array, y: Array, fit: Fit) -> float:
    """Share of the answers that are more than five σ from every vector: about 6·10⁻⁷ if the model holds."""
    far = np.abs(y[:, None] - X @ fit.beta.T) > 5 * np.sqrt(fit.sigma**2 + (X * X) @ fit.variance.T)
    return float(far.all(axis=1).mean()) if len(y) else 0.0


def explain_misfit(X: Array, y: Array, fit: Fit) -> str:
    """Say what a misfit looks like: curvature, heavy tails or skewness of the noise, or more than two models.

    Looks at the residuals against the nearer vector, r/σ: their law is that of the noise as long as answers label
    themselves; a linear model leaves no dependence on the squares of the prediction or of the query.
    """
    R, P, _ = explain(X, y, fit.beta, fit.weights, fit.sigma)
    own = P.argmax(axis=1)
    rows = np.arange(len(y))
    r = R[rows, own] / fit.sigma
    prediction = (X @ fit.beta.T)[rows, own]
    for square in (prediction**2, np.einsum("ij,ij->i", X, X)):
        if len(y) > 10 and square.std() > 0:
            # Under the model the correlation has standard error 1/√N; five of them.
            if abs(float(np.corrcoef(np.clip(r, -8, 8), square)[0, 1])) > 5 / math.sqrt(len(y)):
                return "the answers do not depend linearly on x (the residuals bend with the prediction)"
    central = r[np.abs(r) < 8]
    kurtosis = float((central**4).mean() / max((central**2).mean() ** 2, 1e-300))
    if (
        len(central)
        and abs(float((central**3).mean())) > 5 * math.sqrt(6 / len(central)) * float((central**2).mean()) ** 1.5
    ):
        return "the noise is far from Gaussian (skewed)"
    if kurtosis > 3 + 5 * math.sqrt(24 / max(len(central), 1)):
        return "the noise is far from Gaussian (heavy tails), or there are more than two models"
    return "the answers do not look like two linear models with Gaussian noise"
