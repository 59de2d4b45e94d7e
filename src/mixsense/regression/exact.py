"""Answers without noise: the models that explain every one of them to rounding."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.decode import basis_pursuit
from mixsense.errors import MixsenseError
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.likelihood import of_groups


def clusters(y: Array, width: float) -> Index:
    """Return the number of the cluster of each answer: sorted, two neighbours that are further apart part clusters.

    Examples
    --------
    >>> clusters(np.array([3.0, 1.0, 3.001, 0.999]), 0.1)
    array([1, 0, 1, 0])
    """
    order = np.argsort(y, kind="stable")
    found = np.empty(len(y), dtype=np.intp)
    found[order] = np.concatenate([[0], np.cumsum(np.diff(y[order]) > width)]) if len(y) else []
    return found


def sparsest(X: Array, y: Array, level: bool = False) -> Array | None:
    """Return the one vector that explains the answers of one model to rounding, or None if they do not tell it.

    Parameters
    ----------
    X : (m, c) array
        Rows that the answers are linear in, in general position: random directions around any point.
    y : (m,) array
        The answers, all of one model.
    level : bool
        The first column is constant: it is fitted, and pays nothing.

    Returns
    -------
    (c,) array or None
        None if the sparsest vector that was found has nearly as many coefficients as there are answers: then nearly any
        answers could be explained.

    Notes
    -----
    Basis pursuit, with weights that are renewed (Candès, Wakin and Boyd 2008), then least squares on what it found. A
    vector that was not found by them has as many coefficients as there are answers, with probability 1.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((12, 30))
    >>> truth = np.zeros(30)
    >>> truth[[3, 7]] = 1.0, -2.0
    >>> bool(np.allclose(sparsest(X, X @ truth), truth)), sparsest(X[:3], X[:3] @ truth)
    (True, None)
    """
    if len(y) < tuning.SPARE_ANSWERS + 1 + int(level):
        return None
    A, b, step = _equations(X, y, level)
    first = int(level)
    scale = float(np.abs(b).max())
    for z in _candidates(A, b):
        chosen = np.abs(z) > tuning.RESOLVED * np.abs(z).max(initial=0.0)
        here = np.concatenate([np.arange(first), first + np.flatnonzero(chosen)])
        if len(here) + tuning.SPARE_ANSWERS > len(y):
            continue
        beta = np.zeros(X.shape[1])
        beta[here] = np.linalg.lstsq(X[:, here], y, rcond=None)[0]
        rounding = tuning.ROUNDINGS * np.finfo(float).eps * float(np.abs(y).max())
        if np.abs(y - X @ beta).max() <= max(tuning.EXPLAINED * step * scale, rounding):
            return beta
    return None


def shortest(X: Array, y: Array, level: bool = False) -> Array:
    """Return the vector with the least ℓ1 norm that explains the answers: a guess, where `sparsest` is None.

    Parameters
    ----------
    X, y, level
        As for `sparsest`.
    """
    A, b, _ = _equations(X, y, level)
    beta = np.zeros(X.shape[1])
    for z in _candidates(A, b)[:1]:
        beta[int(level) :] = z
    if level:
        beta[0] = float(np.mean(y - X @ beta))
    return beta


def _equations(X: Array, y: Array, level: bool) -> tuple[Array, Array, float]:
    """Return equations A z = b for the coefficients, without the level, and how far the rows are apart."""
    first = int(level)
    D, d = X[1:, first:] - X[0, first:], y[1:] - y[0]
    step = float(np.sqrt(np.mean(D * D))) if D.size else 1.0
    A, b = D / step, d / step
    if not level:  # the point itself is one more equation
        size = float(np.sqrt(np.mean(X[0] ** 2)))
        A, b = np.vstack([A, X[0] / size]), np.append(b, y[0] / size)
    return A, b, step


def _candidates(A: Array, b: Array) -> list[Array]:
    """Return vectors that may explain b exactly: of a tall A the only one, else sparse ones."""
    if not b.any():
        return [np.zeros(A.shape[1])]
    if len(A) >= A.shape[1]:
        return [np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], dtype=np.float64)]
    found: list[Array] = []
    weight = np.ones(A.shape[1])
    for _ in range(tuning.REWEIGHTED):
        try:
            z = weight * basis_pursuit(A * weight, b).value
        except MixsenseError:  # columns that are nearly dependent: more answers will tell
            break
        found.append(z)
        size = np.abs(z)
        if (size > tuning.RESOLVED * size.max()).sum() < len(A):  # a vertex would have as many as there are rows
            break
        weight = (size + tuning.REWEIGHTING * size.max()) / size.max()
    return found


def polished(data: Data, beta: Array, free: Mask, tolerance: float) -> Array | None:
    """Return the models near these that explain every answer to rounding, with equations to spare; or None.

    Parameters
    ----------
    data : Data
        Rows and answers without noise; those of a group have one model.
    beta : (L, c) array
        Models that explain the answers up to a small error.
    free : (L, c) array of bool
        Which columns have a part in each model; the others are zero.
    tolerance : float
        How far an answer may be from a model that explains it.

    Examples
    --------
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (60, 4))
    >>> truth = np.array([[1.0, 2.0, 0.0, 0.0], [3.1, -1.0, 0.0, 0.0]])
    >>> y = (X * truth[np.arange(60) % 2]).sum(axis=1)
    >>> bool(np.allclose(polished(Data(X, y), truth + 1e-3, truth != 0, 1e-9), truth))
    True
    """
    beta = np.where(free, beta, 0.0)
    for _ in range(tuning.POLISHINGS):
        label = _labels(data, beta)
        for a, row in enumerate(beta):
            here, place = label == a, np.flatnonzero(free[a])
            A = data.X[np.ix_(here, place)]
            different = len(np.unique(A, axis=0))  # a query that was asked again is no equation to spare
            if different < len(place) + tuning.SPARE_ANSWERS or np.linalg.matrix_rank(A) < len(place):
                return None
            row[place] = np.linalg.lstsq(A, data.y[here], rcond=None)[0]
        if explains(data, beta, tolerance):
            return beta
    return None


def explains(data: Data, beta: Array, tolerance: float) -> bool:
    """Say whether these models explain all answers, those of a group by one of them."""
    label = _labels(data, beta)
    return bool((np.abs(data.y - np.einsum("ij,ij->i", data.X, beta[label])) <= tolerance).all())


def _labels(data: Data, beta: Array) -> Index:
    """Return which model is nearest to each answer, or to the answers of its group."""
    square = (data.y[:, None] - data.X @ beta.T) ** 2
    square = square if data.group is None else of_groups(square, data.group)[data.group]
    found: Index = square.argmin(axis=1)
    return found


def explained(X: Array, y: Array, beta: Array, tolerance: float) -> tuple[Index, Array]:
    """Return which model is nearest to each answer, and whether it explains it.

    Parameters
    ----------
    X, y : (N, c) and (N,) arrays
        Rows and answers.
    beta : (L, c) array
        The models.
    tolerance : float
        How far an answer may be from a model that explains it.
    """
    miss = np.abs(y[:, None] - X @ beta.T)  # (N, L)
    label = miss.argmin(axis=1)
    return label, miss[np.arange(len(y)), label] <= tolerance
