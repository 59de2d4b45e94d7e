"""The likelihood of raw answers under a mixture of L linear models, and the information in them.

Every answer counts once, whatever query it belongs to: X is (N, n), y is (N,), the models are (L, n).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.regression import tuning


class Explained(NamedTuple):
    """How the models explain each answer."""

    residual: Array
    """(N, L), the distance from each model."""
    probability: Array
    """(N, L), the probability that it came from each model."""
    loglik: Array
    """(N,), its log-likelihood under the mixture."""


def explain(X: Array, y: Array, beta: Array, weights: Array, sigma: float) -> Explained:
    """Return residuals, probabilities of the models, and the log-likelihood of each answer.

    Examples
    --------
    >>> found = explain(np.array([[1.0]]), np.array([3.0]), np.array([[3.0], [-3.0]]), np.array([0.5, 0.5]), 1.0)
    >>> found.residual, found.probability.round(3)
    (array([[0., 6.]]), array([[1., 0.]]))
    """
    R = y[:, None] - X @ beta.T
    log_p = -0.5 * (R / sigma) ** 2 + np.log(weights)
    top = log_p.max(axis=1, keepdims=True)
    P = np.exp(log_p - top)
    total = P.sum(axis=1, keepdims=True)
    loglik = (top + np.log(total))[:, 0] - math.log(sigma * math.sqrt(2 * math.pi))
    return Explained(R, P / total, loglik)


def observed_information(X: Array, R: Array, P: Array, sigma: float) -> Array:
    """Return minus the Hessian of the mixture's log-likelihood in all coefficients, (L c, L c) for c columns.

    What is lost because an answer does not tell its model is paid for in the second term.
    """
    L, c = R.shape[1], X.shape[1]
    J = np.empty((L * c, L * c))
    for a in range(L):
        for b in range(L):
            d = (a == b) * P[:, a] / sigma**2 - P[:, a] * ((a == b) - P[:, b]) * R[:, a] * R[:, b] / sigma**4
            J[a * c : (a + 1) * c, b * c : (b + 1) * c] = X.T @ (d[:, None] * X)
    return J


def tagged_information(X: Array, P: Array, sigma: float) -> Array:
    """Return the information that the answers would have if each told its model, (L c, L c): one block a model."""
    c = X.shape[1]
    tagged = np.zeros((P.shape[1] * c, P.shape[1] * c))
    for a, p in enumerate(P.T):
        part = slice(a * c, (a + 1) * c)
        tagged[part, part] = X.T @ (p[:, None] * X) / sigma**2
    return tagged


def positive_information(X: Array, R: Array, P: Array, sigma: float) -> Array:
    """Return the observed information, raised to `LEAST_INFORMATION` of the tagged one in every direction."""
    J, tagged = observed_information(X, R, P, sigma), tagged_information(X, P, sigma)
    tagged[np.diag_indices_from(tagged)] += 1e-9 * np.trace(tagged) / len(tagged) + 1e-12
    C = np.linalg.cholesky(tagged)
    M = np.linalg.solve(C, np.linalg.solve(C, J).T)  # J in units of the tagged information
    e, V = np.linalg.eigh((M + M.T) / 2)
    if e[0] >= tuning.LEAST_INFORMATION:
        return J
    CV = C @ V
    raised: Array = (CV * np.maximum(e, tuning.LEAST_INFORMATION)) @ CV.T
    return raised
