"""How much the answers speak for a fit: penalised log-likelihoods, whose differences are evidence in nats."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.regression import tuning
from mixsense.regression.data import Data


def penalised(loglik: float, size: float, N: float, n: int, models: int, extra: int = 0) -> float:
    """Return the extended BIC: each coefficient pays for its estimation, and for having been chosen among n.

    Parameters
    ----------
    loglik : float
        Log-likelihood of the answers.
    size : float
        How many coefficients the fit has, over all models.
    N, n : int
        Number of answers, and of coefficients of a model.
    models : int
        How many models the coefficients belong to: L.
    extra : int
        How many parameters were estimated besides: shares, further noises, a share of lapses.

    Notes
    -----
    A coefficient or a share is estimated at the price of ½ log N. Choosing size/L coefficients out of n in each of L
    models costs about size · log(n L/size + 1) altogether, so that each pays log(n L/size + 1).

    Examples
    --------
    >>> one, two = penalised(0.0, 5.0, 400, 100, models=1), penalised(0.0, 10.0, 400, 100, models=2)
    >>> round(two / one, 6)  # two models with five coefficients each cost twice as much as one
    2.0
    """
    chosen_among = n / max(size / models, 1) + 1
    return loglik - (size + extra) * 0.5 * math.log(max(N, 2)) - size * math.log(chosen_among)


def one_model_score(beta: Array, inclusion: Array, data: Data, sigma: float, extra: int = 0) -> float:
    """Return the penalised log-likelihood of these answers under one model, at a given σ.

    Parameters
    ----------
    beta, inclusion : (n,) arrays
        The model, and the probability of each of its coefficients to be non-zero.
    data : Data
        Queries and answers.
    sigma : float
        Noise of an answer.
    extra : int
        How many parameters were estimated besides.
    """
    loglik = data.loglik(beta[None], np.ones(1), sigma)
    size = float(inclusion[inclusion > tuning.COUNTED_PROBABILITY].sum())
    return penalised(loglik, size, data.N, data.X.shape[1], 1, extra)
