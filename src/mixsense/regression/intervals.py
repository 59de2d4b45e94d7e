"""Intervals for all coefficients, those that were not found included.

A posterior mean shrinks what is small, and an interval around it is no interval for what was missed. One Newton step
without a prior has no such bias: those of the coefficients that were found are made together, that of any other one
together with them.
"""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import positive_information
from mixsense.regression.one_step import label_information, raised

NORMAL_QUANTILE = 1.959963984540054
"""Half of a 95 % interval in standard errors."""


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
    With d the information of each answer about the models' means (L, L), J = Σ d x xᵀ is that about all coefficients.
    For the columns S that were found, the step is J_SS⁻¹ u_S with the score u; for another column j it is M⁻¹ (u_j −
    J_jS J_SS⁻¹ u_S) with M = J_jj − J_jS J_SS⁻¹ J_Sj, and M⁻¹ is its covariance over the models.
    """
    X, L = data.X, fit.L
    N, n = X.shape
    explained = fit.explained(data)
    s, d = label_information(explained, fit)
    told = explained.probability * np.maximum(explained.curvature, 0.0) / np.square(fit.noise)
    S = np.flatnonzero(fit.found.any(axis=0))[: max(N // tuning.ANSWERS_PER_COLUMN, 1)]
    c = len(S)
    step, variance = np.zeros((L, n)), np.full((L, n), np.inf)
    inverse: Array = np.zeros((0, 0))
    if c:
        J = positive_information(X[:, S], explained, fit.noise, data.group)  # (L c, L c), model by model
        inverse = np.asarray(np.linalg.inv(J), dtype=np.float64)
        step[:, S] = (inverse @ (s.T @ X[:, S]).ravel()).reshape(L, c)
        variance[:, S] = np.diag(inverse).reshape(L, c)
    rest = np.setdiff1d(np.arange(n), S)
    for part in np.array_split(rest, max(1, N * len(rest) // tuning.CHUNK_OF_COLUMNS)):
        x = X[:, part]
        J = np.einsum("iab,ij->jab", d, x * x, optimize=True)
        tagged = (x * x).T @ told
        u = (s.T @ x).T  # (j, L)
        if c:
            cross = np.einsum("ik,iab,ij->jakb", X[:, S], d, x, optimize=True).reshape(len(part), L * c, L)
            through = np.einsum("jka,kl->jal", cross, inverse)
            J = J - np.einsum("jal,jlb->jab", through, cross)
            u = u - np.einsum("jal,l->ja", through, (s.T @ X[:, S]).ravel())
        known = (tagged > 0).all(axis=1)
        M = np.linalg.inv(raised(J[known], tagged[known]))
        step[:, part[known]] = np.einsum("jab,jb->aj", M, u[known])
        variance[:, part[known]] = np.einsum("jaa->aj", M)
    half = NORMAL_QUANTILE * np.sqrt(variance)
    middle = fit.beta + step
    found: Array = np.stack([middle - half, middle + half], axis=2)
    return found
