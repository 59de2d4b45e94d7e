"""What is told of a fit: the order of its models, the errors of their shares, their answers where nothing is asked."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression.candidates import Expected
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import counted, one_a_group
from mixsense.regression.tuning import LARGEST_COVARIANCE


def order_of_models(fit: Fit, expected: Expected) -> list[int]:
    """Return the order of the models in which all runs show them, whichever a random start found first.

    Shares that were given come in their order, estimated ones the largest first. Models with equal shares are ordered
    by their coefficients where they differ most, the largest first.
    """
    given = (expected.weights, expected.sigmas)
    if any(values is not None and np.ptp(values) for values in given):
        return list(range(fit.L))
    return largest_first(fit.beta, fit.weights if expected.free_weights else np.zeros(fit.L))


def largest_first(beta: Array, shares: Array | Index) -> list[int]:
    """Return the order of models by their shares; equal ones by their coefficients where these differ most.

    Examples
    --------
    >>> largest_first(np.array([[1.0, 0.0], [3.0, 0.5], [2.0, 0.0]]), np.array([0.6, 0.2, 0.2]))
    [0, 1, 2]
    """
    here = int(np.ptp(beta, axis=0).argmax())
    order: list[int] = np.lexsort((-beta[:, here], -shares)).tolist()
    return order


def shares_stderr(data: Data, fit: Fit) -> Array:
    """Return the standard errors of estimated shares, (L,), from the information of the answers about them.

    Notes
    -----
    A group of answers, or an answer that is alone, that came from model a with probability p_a has the score
    p_a/w_a − p_L/w_L for the share w_a, with the last share as what is left. Groups that are labelled, G of them, give
    √(w (1 − w)/G).
    """
    data = data.without_zeros
    ratio = one_a_group(fit.explained(data).probability, data.group) / fit.weights
    score = ratio[:, :-1] - ratio[:, -1:]
    covariance = np.linalg.pinv(score.T @ counted(score, data.counts if data.group is None else None))
    variance = np.append(np.diag(covariance), covariance.sum())
    stderr: Array = np.sqrt(np.maximum(variance, 0.0))
    return stderr


def answers_at_zero(fit: Fit, centre: Array) -> tuple[Array, Array]:
    """Return each model's answer at x = 0, which is −centre in coded units, with its standard error: (L,) each."""
    row = np.concatenate([[1.0], -centre])
    model, place = fit.support
    variance = (fit.variance * row**2).sum(axis=1)  # as if all coefficients were independent
    for a in range(len(fit.beta)):
        here = model == a
        inside = row[place[here]]
        variance[a] -= float(fit.variance[a, place[here]] @ inside**2)
        variance[a] += float(inside @ fit.covariance[np.ix_(here, here)] @ inside)  # those that are in are not
    return fit.beta @ row, np.sqrt(np.maximum(variance, 1e-300))


def covariances(fit: Fit, n: int, centre: Array | None = None) -> Array | None:
    """Return the covariance of each model's n coefficients, (L, p, p); None if they are too many to keep it.

    A level, which comes first in the fit, is left out or, where the centre of the box is given, becomes the answer at
    x = 0, −centre in coded units, and comes last.
    """
    if n + (centre is not None) > LARGEST_COVARIANCE:
        return None
    told = np.eye(fit.beta.shape[1])[-n:]
    if centre is not None:
        told = np.vstack([told, np.concatenate([[1.0], -centre])])
    return np.stack([told @ fit.covariance_of(a) @ told.T for a in range(fit.L)])
