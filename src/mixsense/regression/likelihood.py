"""The likelihood of raw answers under a mixture of L linear models, and the information in them.

Every answer counts once, whatever query it belongs to: X is (N, n), y is (N,), the models are (L, n). Answers of a
group share their hidden model: their log-likelihoods under each are added up, and there is one posterior a group.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression import tuning
from mixsense.scales.scale import Scale


class Explained(NamedTuple):
    """How the models explain each answer."""

    residual: Array
    """(N, L), the distance from each model: σ² times the slope of the log-likelihood in its mean."""
    probability: Array
    """(N, L), the probability that it came from each model; equal for all answers of a group."""
    loglik: Array
    """(N,), its log-likelihood under the mixture; with groups (G,), one a group."""
    curvature: Array
    """(N, L), the information about each model's mean, if it came from there, relative to that of a real number: 1."""


def explain(
    X: Array,
    y: Array,
    beta: Array,
    weights: Array,
    sigma: float | Array,
    group: Index | None = None,
    scale: Scale | None = None,
    counts: Array | None = None,
) -> Explained:
    """Return residuals, probabilities of the models, and the log-likelihood of each answer.

    Parameters
    ----------
    X, y : (N, n) and (N,) arrays
        Rows and answers.
    beta, weights : (L, n) and (L,) arrays
        The models and their shares.
    sigma : float or (L,) array
        Noise of an answer, or of each model's answers.
    group : (N,) array of int, optional
        The group of each answer, numbered from 0 without a gap; each answer is alone by default.
    scale : Scale, optional
        How answers are made of the linear value; real numbers by default.
    counts : (N,) array, optional
        How often each answer counts; once by default.

    Examples
    --------
    >>> found = explain(np.array([[1.0]]), np.array([3.0]), np.array([[3.0], [-3.0]]), np.array([0.5, 0.5]), 1.0)
    >>> found.residual, found.probability.round(3)
    (array([[0., 6.]]), array([[1., 0.]]))
    """
    mean = (beta @ X.T).T  # one model after the other in memory: sums over the models are fast then
    if scale is not None:
        log_p, R, curvature, _ = scale.terms(y, mean, sigma)
        constant = 0.0
    else:
        R = y[:, None] - mean
        log_p = -0.5 * (R / sigma) ** 2
        curvature = np.broadcast_to(1.0, R.shape)
        constant = math.log(math.sqrt(2 * math.pi))
        if isinstance(sigma, np.ndarray):
            log_p -= np.log(sigma)
        else:
            constant = math.log(sigma * math.sqrt(2 * math.pi))
    if group is not None:
        log_p = of_groups(counted(log_p, counts), group)
    log_p = log_p + np.log(weights)
    top = log_p.max(axis=1, keepdims=True)
    P = np.exp(log_p - top)
    total = P.sum(axis=1, keepdims=True)
    loglik = (top + np.log(total))[:, 0] - (constant if group is None else constant * np.bincount(group, counts))
    P = P / total
    P = P if group is None else P[group]
    return Explained(R, P, loglik if counts is None or group is not None else loglik * counts, curvature)


def of_groups(values: Array, group: Index) -> Array:
    """Return the sum of values (N, d) over each group, (G, d).

    Examples
    --------
    >>> of_groups(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 0]))
    array([[5.],
           [2.]])
    """
    found = np.empty((int(group.max()) + 1, values.shape[1]))
    for j, column in enumerate(values.T):
        found[:, j] = np.bincount(group, column)
    return found


def one_a_group(values: Array, group: Index | None) -> Array:
    """Return the values of one answer of each group, (G, d), where all of a group have the same.

    Examples
    --------
    >>> one_a_group(np.array([[5.0], [2.0], [5.0]]), np.array([0, 1, 0]))
    array([[5.],
           [2.]])
    """
    if group is None:
        return values
    first = np.unique(group, return_index=True)[1]
    found: Array = values[first]
    return found


def observed_information(
    X: Array, found: Explained, sigma: float | Array, group: Index | None = None, counts: Array | None = None
) -> Array:
    """Return minus the Hessian of the mixture's log-likelihood in all coefficients, (L c, L c) for c columns.

    Parameters
    ----------
    X : (N, c) array
        Rows.
    found : Explained
        How the models explain the answers to them.
    sigma : float or (L,) array
        Noise of an answer, or of each model's answers.
    group : (N,) array of int, optional
        The group of each answer.
    counts : (N,) array, optional
        How often each answer counts.

    Notes
    -----
    What is lost because an answer does not tell its model is paid for in the second term: the covariance of the score,
    which is one a group, over the models that it may have come from.
    """
    R, P, _, h = found
    mass = counted(P, counts)
    L, c = R.shape[1], X.shape[1]
    variance = np.broadcast_to(np.square(sigma), L)
    J = np.empty((L * c, L * c))
    if group is None:
        for a in range(L):
            for b in range(L):
                same = (a == b) * mass[:, a] * h[:, a] / variance[a]
                d = same - mass[:, a] * ((a == b) - P[:, b]) * R[:, a] * R[:, b] / (variance[a] * variance[b])
                J[a * c : (a + 1) * c, b * c : (b + 1) * c] = weighted_squares(X, d)
        return J
    tagged, p = tagged_information(X, found, sigma, counts), one_a_group(P, group)
    R = counted(R, counts)
    score = [of_groups(R[:, a, None] * X / variance[a], group) for a in range(L)]  # (G, c) each
    for a in range(L):
        for b in range(L):
            d = p[:, a] * ((a == b) - p[:, b])
            J[a * c : (a + 1) * c, b * c : (b + 1) * c] = score[a].T @ (d[:, None] * score[b])
    return tagged - J


def tagged_information(X: Array, found: Explained, sigma: float | Array, counts: Array | None = None) -> Array:
    """Return the information that the answers would have if each told its model, (L c, L c): one block a model."""
    c, L = X.shape[1], found.probability.shape[1]
    variance = np.broadcast_to(np.square(sigma), L)
    tagged, mass = np.zeros((L * c, L * c)), counted(found.probability, counts)
    for a in range(L):
        part = slice(a * c, (a + 1) * c)
        tagged[part, part] = weighted_squares(X, mass[:, a] * found.curvature[:, a]) / variance[a]
    return tagged


def counted(values: Array, counts: Array | None) -> Array:
    """Return values (N, d), each row times how often it counts."""
    return values if counts is None else values * counts[:, None]


def weighted_squares(X: Array, weight: Array) -> Array:
    """Return Σ w x xᵀ over the rows, (c, c): some rows at a time, so that no second copy of them is needed.

    Examples
    --------
    >>> weighted_squares(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 0.5]))
    array([[ 5.5,  8. ],
           [ 8. , 12. ]])
    """
    if len(X) <= tuning.ROWS_AT_ONCE:
        return np.asarray(X.T @ (weight[:, None] * X), dtype=np.float64)
    total = np.zeros((X.shape[1], X.shape[1]))
    for first in range(0, len(X), tuning.ROWS_AT_ONCE):
        part = slice(first, first + tuning.ROWS_AT_ONCE)
        total += X[part].T @ (weight[part, None] * X[part])
    return total


def positive_information(
    X: Array, found: Explained, sigma: float | Array, group: Index | None = None, counts: Array | None = None
) -> Array:
    """Return the observed information, raised to `LEAST_INFORMATION` of the tagged one in every direction."""
    J = observed_information(X, found, sigma, group, counts)
    # The curvature of one answer may be negative, where a lapse is probable.
    tagged = tagged_information(X, found._replace(curvature=np.maximum(found.curvature, 0.0)), sigma, counts)
    tagged[np.diag_indices_from(tagged)] += 1e-9 * np.trace(tagged) / len(tagged) + 1e-12
    C = np.linalg.cholesky(tagged)
    M = np.linalg.solve(C, np.linalg.solve(C, J).T)  # J in units of the tagged information
    e, V = np.linalg.eigh((M + M.T) / 2)
    if e[0] >= tuning.LEAST_INFORMATION:
        return J
    CV = C @ V
    raised: Array = (CV * np.maximum(e, tuning.LEAST_INFORMATION)) @ CV.T
    return raised
