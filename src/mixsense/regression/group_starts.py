"""Where a fit can start if answers belong together: two answers of a group deviate from the mean model alike."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression import tuning
from mixsense.regression.likelihood import of_groups
from mixsense.regression.starts import simplex


def between_groups(
    X: Array, y: Array, mean: Array, group: Index, L: int, size: int, rng: np.random.Generator
) -> tuple[Array, list[Array]]:
    """Find L models from the products of two answers of a group: noise and single answers leave no trace there.

    Parameters
    ----------
    X, y : (N, n) and (N,) arrays
        Queries and answers.
    mean : (n,) array
        The one model that fits all answers best.
    group : (N,) array of int
        The group of each answer, numbered from 0 without a gap.
    L : int
        How many models.
    size : int
        How many coordinates are worked on.
    rng : Generator
        Turns the models, of more than two: these have several starts, two have one.

    Returns
    -------
    t : (n,) array
        t-value of each coordinate: does it differ between groups.
    starts : list of (L, n) arrays

    Notes
    -----
    With r = y − ⟨x, m⟩ and queries of variance s², E[r_i r_j x_i x_jᵀ/s⁴] over pairs of a group is the covariance of
    the models around m. Its L − 1 largest directions hold all models, up to a rotation.
    """
    n, r = X.shape[1], y - X @ mean
    variance = np.einsum("ij,ij->j", X, X) / len(X)
    variance[variance == 0] = 1.0
    t = np.empty(n)
    for j in range(0, n, tuning.COLUMNS_AT_ONCE):  # blocks of columns: no dense copy of the queries
        here = slice(j, j + tuning.COLUMNS_AT_ONCE)
        Z = r[:, None] * X[:, here]
        pairs = of_groups(Z, group) ** 2 - of_groups(Z * Z, group)
        t[here] = pairs.sum(axis=0) / np.sqrt((pairs**2).sum(axis=0) + 1e-300)
    top = np.argsort(-t, kind="stable")[:size]
    Z = r[:, None] * X[:, top] / variance[top]
    S, count = of_groups(Z, group), np.bincount(group).astype(np.float64)
    e, V = np.linalg.eigh((S.T @ S - Z.T @ Z) / max(float((count * (count - 1)).sum()), 1.0))
    most = min(L - 1, len(e))
    axes = (V[:, -most:] * np.sqrt(np.maximum(e[-most:], 0.0))).T  # (L − 1, size)
    starts = []
    for _ in range(tuning.TURNS_OF_GROUPS if L > 2 else 1):
        turn = np.linalg.qr(rng.standard_normal((most, most)))[0] if L > 2 else np.eye(most)
        start = np.tile(mean, (L, 1))
        start[:, top] += math.sqrt(L - 1) * simplex(L)[:, :most] @ turn @ axes
        starts.append(start)
    return t, starts
