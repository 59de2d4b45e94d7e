"""One model more, beside those that are there: annealed while they are held fixed.

The answers of a model that is missing lie among those of the others, and no split of a model finds it. What the others
explain badly is where it begins; as it is cooled, the answers that it explains better than they do become its own.
"""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.problem import LEAST_SHARE
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.likelihood import counted, of_groups
from mixsense.regression.starts import largest_eigenvalue, lasso_penalty, lasso_steps, spread_of


def beside(data: Data, explained: Array, sigma: float) -> tuple[Array, float]:
    """Return a further model, (n,), and its share.

    Parameters
    ----------
    data : Data
        All answers.
    explained : (N,) or (G,) array
        Log-likelihood of each answer, or of each group, under the models that are there.
    sigma : float
        Noise of an answer.
    """
    from scipy.special import expit

    X, y, N = data.X, data.values, len(data.y)
    times = np.ones(N) if data.counts is None else data.counts
    columns = _columns(X, times * y, data.sure)
    scale = np.sqrt(np.einsum("i,ij,ij->j", times, X[:, columns], X[:, columns]) / times.sum())
    scale[scale == 0] = 1.0
    A = X[:, columns] / scale
    unit = lasso_penalty(len(columns), data.sure)
    temperature = max(spread_of(y, data.counts), sigma)
    b, share, left = np.zeros((1, 1, len(columns))), tuning.SHARE_BESIDE, tuning.STEPS_AT_TRUE_SIGMA
    while left:
        left -= temperature <= sigma
        R = y - A @ b[0, 0]
        own = -0.5 * (R / temperature) ** 2 - math.log(temperature * math.sqrt(2 * math.pi))
        if data.group is not None:
            own = of_groups(counted(own[:, None], data.counts), data.group)[:, 0]
        elif data.counts is not None:
            own = own * data.counts
        r = expit(math.log(share / (1 - share)) + own - explained)  # how probably an answer is of this model
        r = r if data.group is None else r[data.group]
        share = float(np.clip(np.average(r, weights=times), LEAST_SHARE, 1 - LEAST_SHARE))
        weight = times * np.maximum(r, tuning.LEAST_BESIDE)
        penalty = (unit * temperature * math.sqrt(float(times @ r**2)))[None, None]
        curvature = largest_eigenvalue(A, weight)
        b = lasso_steps(A, y, weight[None, None], R[None, None], b, penalty, curvature)
        temperature = max(temperature * tuning.COOLING_FACTOR, sigma)
    found = np.zeros(X.shape[1])
    found[columns] = b[0, 0] / scale
    return found, share


def _columns(X: Array, y: Array, sure: int) -> Index:
    """Return the columns that are worked on: of very many, those that the answers point to."""
    n = X.shape[1]
    if n <= tuning.MOST_COLUMNS_BESIDE:
        return np.arange(n)
    worth = np.abs(y @ X) / np.sqrt(np.einsum("ij,ij->j", X, X) + 1e-300)
    worth[:sure] = np.inf
    return np.sort(np.argsort(-worth, kind="stable")[: tuning.MOST_COLUMNS_BESIDE])
