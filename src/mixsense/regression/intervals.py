"""Intervals for all coefficients, those that were not found included: around one step that needs no prior."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.one_step import one_step


def intervals(data: Data, fit: Fit) -> Array:
    """Return the 95 % interval of every coefficient, (L, n, 2).

    Parameters
    ----------
    data : Data
        Queries and answers.
    fit : Fit
        The fitted models.

    Notes
    -----
    Around the one-step estimates, with the variances of the information: those of the coefficients that were found are
    made together, that of any other one together with them.
    """
    steps = one_step(data, fit)
    middle, half = fit.beta + steps.step, tuning.NORMAL_QUANTILE * np.sqrt(steps.variance)
    found: Array = np.stack([middle - half, middle + half], axis=2)
    return found
