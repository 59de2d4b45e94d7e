"""Do the answers look like linear models with Gaussian noise: tests on answers that the fit has not seen."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import explain


class StageChecks:
    """The probability transforms of the answers of each stage, under the fit before it."""

    def __init__(self) -> None:
        self._transforms: list[Array] = []

    def add(self, X: Array, y: Array, fit: Fit) -> None:
        """Take the answers of a stage, which the fit has not seen."""
        self._transforms.append(probability_transform(X, y, fit))

    @property
    def doubt(self) -> bool:
        """The answers of the last stage were a surprise to the fit."""
        return bool(self._transforms) and uniform_p_value(self._transforms[-1]) < tuning.DOUBT_P_VALUE

    @property
    def p_value(self) -> float:
        """P-value of the later half of the stages, whose fits were good; 1 if there are none."""
        late = self._transforms[len(self._transforms) // 2 :]
        return uniform_p_value(np.concatenate(late)) if late else 1.0


def probability_transform(X: Array, y: Array, fit: Fit) -> Array:
    """Return the predictive distribution function at each unseen answer: uniform if the model holds."""
    from scipy.special import ndtr

    u: Array = ndtr((y[:, None] - X @ fit.beta.T) / _predictive_sd(X, fit)) @ fit.weights
    return u


def _predictive_sd(X: Array, fit: Fit) -> Array:
    """Return the standard deviation of an answer around each model, (N, L), the fit's own uncertainty included."""
    sd: Array = np.sqrt(fit.sigma**2 + (X * X) @ fit.variance.T)
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
    if m == 0:
        return 1.0
    u, i = np.sort(u), np.arange(1, m + 1)
    distance = max(float((i / m - u).max()), float((u - (i - 1) / m).max()))
    return float(kolmogorov(math.sqrt(m) * distance))


def outlier_share(X: Array, y: Array, fit: Fit) -> float:
    """Return the share of the answers that are more than five σ from every model: about 6·10⁻⁷ if the model holds."""
    far = np.abs(y[:, None] - X @ fit.beta.T) > tuning.OUTLIER_DISTANCE * _predictive_sd(X, fit)
    return float(far.all(axis=1).mean()) if len(y) else 0.0


def explain_misfit(X: Array, y: Array, fit: Fit) -> str:
    """Say what a misfit looks like: curvature, heavy tails or skewness of the noise, or more models.

    Looks at the residuals against the nearer model, r/σ: their law is that of the noise as long as answers label
    themselves; a linear model leaves no dependence on the squares of the prediction or of the query.
    """
    significant, edge = tuning.SIGNIFICANT_ERRORS, tuning.CLIPPED_RESIDUAL
    R, P, *_ = explain(X, y, fit.beta, fit.weights, fit.sigma)
    own = P.argmax(axis=1)
    rows = np.arange(len(y))
    r = R[rows, own] / fit.sigma
    prediction = (X @ fit.beta.T)[rows, own]
    for square in (prediction**2, np.einsum("ij,ij->i", X, X)):
        if len(y) > tuning.LEAST_ANSWERS_FOR_CURVATURE and square.std() > 0:
            # Under the model the correlation has standard error 1/√N.
            if abs(float(np.corrcoef(np.clip(r, -edge, edge), square)[0, 1])) > significant / math.sqrt(len(y)):
                return "the answers do not depend linearly on x (the residuals bend with the prediction)"
    central = r[np.abs(r) < edge]
    variance = float((central**2).mean())
    kurtosis = float((central**4).mean() / max((central**2).mean() ** 2, 1e-300))
    # Of N Gaussian numbers the skewness has standard error √(6/N), the kurtosis √(24/N).
    skewed = significant * math.sqrt(6 / max(len(central), 1)) * variance**1.5
    if len(central) and abs(float((central**3).mean())) > skewed:
        return "the noise is far from Gaussian (skewed)"
    if kurtosis > 3 + significant * math.sqrt(24 / max(len(central), 1)):
        return "the noise is far from Gaussian (heavy tails), or there are more models"
    return f"the answers do not look like {fit.L} linear models with Gaussian noise"
