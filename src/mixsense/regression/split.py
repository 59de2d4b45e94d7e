"""Two models that differ in one column only, found from one model that explains all answers."""

from __future__ import annotations

import math

import numpy as np

from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.rivals import Rival, fit_pair, loglik_of


def split_of_one(data: Data, one: Fit) -> Rival:
    """Return the best pair whose models differ in one column, found from one model that explains all answers.

    Parameters
    ----------
    data : Data
        Rows and answers.
    one : Fit
        The fit of one model.
    """
    spread = float(np.std(data.values - data.X @ one.beta[0]))
    columns = np.eye(data.X.shape[1])
    starts = [Rival(one.beta[0], 2 * spread * column, np.ones(2) / 2, spread / 2, -math.inf) for column in columns]
    share = tuning.HIDDEN_SHARE
    seldom = [
        # The farther one is this many σ from the one model, on either side, and their mean is the one model.
        Rival(one.beta[0] + (0.5 / share - 1) * far, far / share, np.array([1 - share, share]), spread, -math.inf)
        for column in columns
        for far in (size * spread * column for size in tuning.SELDOM_STARTS)
    ]
    seldom.sort(key=lambda rival: -loglik_of(data, rival))
    starts += seldom[: tuning.SELDOM_TRIED]
    return max((fit_pair(data, start, start.delta != 0) for start in starts), key=lambda rival: rival.score)


def evidence_of(rival: Rival, N: int, loglik: float) -> float:
    """Return how much better two models explain N answers than one, in nats; what they share is paid for once.

    Parameters
    ----------
    rival : Rival
        The two models.
    N : int
        Number of answers.
    loglik : float
        Log-likelihood of the answers under the one model.
    """
    return rival.score - 0.5 * math.log(N) - loglik
