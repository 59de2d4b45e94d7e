"""Were answers that the fit had not seen a surprise: then a better fit is looked for."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal.model_checks import tuning
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import one_a_group
from mixsense.regression.uniformity import uniform_p_value
from mixsense.scales.lapses import without_lapses


def surprised(data: Data, fit: Fit) -> bool:
    """Say whether the answers of a stage, which the fit has not seen, speak against it."""
    return uniform_p_value(probability_transform(data, fit)) < tuning.DOUBT_P_VALUE


def probability_transform(data: Data, fit: Fit) -> Array:
    """Return the predictive distribution function at each unseen answer: uniform if the model holds.

    Of an answer that stands for an interval, a point of it is drawn; of a group, one answer is taken, since the others
    depend on it. Lapses are told apart elsewhere.
    """
    from scipy.special import ndtr

    mean, sd = data.X @ fit.beta.T, _predictive_sd(data.X, fit)
    low, high = (data.y, data.y) if fit.scale is None else fit.scale.interval(data.y)
    below, above = (ndtr((end[:, None] - mean) / sd) @ fit.weights for end in (low, high))
    u: Array = below + np.random.default_rng(0).random(len(below)) * (above - below)
    return one_a_group(u, data.group)


def _predictive_sd(X: Array, fit: Fit) -> Array:
    """Return the standard deviation of an answer around each model, (N, L), the fit's own uncertainty included."""
    sd: Array = np.sqrt(np.square(fit.noise) + (X * X) @ fit.variance.T)
    return sd


def outlier_share(data: Data, fit: Fit) -> float:
    """Return the share of the answers that are more than five σ from every model: about 6·10⁻⁷ if the model holds.

    Of an answer that stands for an interval, the mean distance counts that each model gives it.
    """
    mean, sd = data.X @ fit.beta.T, _predictive_sd(data.X, fit)
    scale = without_lapses(fit.scale)
    R = data.y[:, None] - mean if scale is None else scale.terms(data.y, mean, sd).residual
    far = np.abs(R) > tuning.OUTLIER_DISTANCE * sd
    return float(far.all(axis=1).mean()) if len(data.y) else 0.0
