"""Were answers that the fit had not seen a surprise: then a better fit is looked for."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal.model_checks import tuning
from mixsense.regression.fit import Fit


class Surprises:
    """Whether the answers of the last stage were a surprise to the fit before it."""

    doubt: bool = False

    def add(self, X: Array, y: Array, fit: Fit) -> None:
        """Take the answers of a stage, which the fit has not seen."""
        self.doubt = uniform_p_value(probability_transform(X, y, fit)) < tuning.DOUBT_P_VALUE


def probability_transform(X: Array, y: Array, fit: Fit) -> Array:
    """Return the predictive distribution function at each unseen answer: uniform if the model holds."""
    from scipy.special import ndtr

    u: Array = ndtr((y[:, None] - X @ fit.beta.T) / _predictive_sd(X, fit)) @ fit.weights
    return u


def _predictive_sd(X: Array, fit: Fit) -> Array:
    """Return the standard deviation of an answer around each model, (N, L), the fit's own uncertainty included."""
    sd: Array = np.sqrt(np.square(fit.noise) + (X * X) @ fit.variance.T)
    return sd


def uniform_p_value(u: Array) -> float:
    """Return the p-value of the Kolmogorov–Smirnov test of uniformity.

    Examples
    --------
    >>> uniform_p_value((np.arange(100) + 0.5) / 100), uniform_p_value(np.full(100, 0.5)) < 1e-6
    (1.0, True)
    """
    from scipy.special import kolmogorov

    m = len(u)
    u, i = np.sort(u), np.arange(1, m + 1)
    distance = max(float((i / m - u).max()), float((u - (i - 1) / m).max()))
    return float(kolmogorov(math.sqrt(m) * distance))


def outlier_share(X: Array, y: Array, fit: Fit) -> float:
    """Return the share of the answers that are more than five σ from every model: about 6·10⁻⁷ if the model holds."""
    far = np.abs(y[:, None] - X @ fit.beta.T) > tuning.OUTLIER_DISTANCE * _predictive_sd(X, fit)
    return float(far.all(axis=1).mean()) if len(y) else 0.0
