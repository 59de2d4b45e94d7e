"""Two models that differ in one column only, found from one model that explains all answers."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
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
    seldom = sorted(seldom_starts(one.beta[0], spread), key=lambda rival: -loglik_of(data, rival))
    starts += seldom[: tuning.SELDOM_TRIED]
    return max((fit_pair(data, start, start.delta != 0) for start in starts), key=lambda rival: rival.score)


def seldom_starts(model: Array, spread: float) -> list[Rival]:
    """Return pairs that differ in one column, of which one answers seldom, and whose mean is the one model.

    Examples
    --------
    >>> pair = seldom_starts(np.zeros(2), 1.0)[-1]
    >>> pair.beta.round(2).tolist(), (pair.weights @ pair.beta).round(9).tolist()
    ([[0.0, 0.5], [0.0, -2.0]], [0.0, 0.0])
    """
    share, found = tuning.HIDDEN_SHARE, []
    for column in np.eye(len(model)):
        for size in tuning.SELDOM_STARTS:
            far = size * spread * column  # how far the one that answers seldom is from the one model
            middle, weights = model + (0.5 / share - 1) * far, np.array([share, 1 - share])
            found.append(Rival(middle, far / share, weights, spread, -math.inf))
    return found


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
