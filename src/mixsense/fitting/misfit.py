"""Whether answers look like the models that were fitted to them."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import explain
from mixsense.regression.uniformity import uniform_p_value


def misfit_p(X: Array, y: Array, fit: Fit) -> float:
    """Return the p-value of the answers' probability transform, which is uniform if the models hold.

    The models were fitted to the same answers, so that chance gives small values more seldom than it says.

    Parameters
    ----------
    X, y : (N, n) and (N,) arrays
        Rows and answers.
    fit : Fit
        The models.
    """
    from scipy.special import ndtr

    return uniform_p_value(ndtr((y[:, None] - X @ fit.beta.T) / fit.noise) @ fit.weights)


def what_is_odd(X: Array, y: Array, fit: Fit, significant: float) -> str:
    """Say what a misfit looks like, from the residuals of the model that each answer most probably came from."""
    R, P, *_ = explain(X, y, fit.beta, fit.weights, fit.noise)
    own, rows = P.argmax(axis=1), np.arange(len(y))
    r = R[rows, own] / fit.noises[own]
    square = (y - R[rows, own]) ** 2
    if square.std() > 0 and abs(float(np.corrcoef(r, square)[0, 1])) > significant / math.sqrt(len(y)):
        return "the answers bend: they do not depend linearly on the columns"
    skewness, kurtosis = float((r**3).mean()), float((r**4).mean()) / max(float((r**2).mean()) ** 2, 1e-300)
    # Of N Gaussian numbers the skewness has standard error √(6/N), the kurtosis √(24/N).
    if abs(skewness) > significant * math.sqrt(6 / len(y)):
        return "the noise is far from Gaussian (skewed)"
    if kurtosis > 3 + significant * math.sqrt(24 / len(y)):
        return "the noise is far from Gaussian (heavy tails), or there are more models"
    return f"the answers do not look like {fit.L} linear models with Gaussian noise"
