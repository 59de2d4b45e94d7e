"""One step from a fit to where the likelihood of each coefficient by itself is highest: estimates without a prior.

A posterior mean shrinks what is small, and an interval around it is no interval for what was missed. One Newton step in
one coefficient of all models, without a prior, has no such bias. With an instrument instead of the query itself it
survives queries that were chosen by earlier answers, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import Explained, of_groups, positive_information


class OneStep(NamedTuple):
    """A step from the fit in every coefficient, and how far it can be trusted."""

    step: Array
    """(L, n), what is to be added to the fit's coefficients."""
    variance: Array
    """(L, n), of the step, from the information; infinite where the answers say nothing."""
    spread: Array
    """(L, n), of the step, from the answers' own scatter (the sandwich), whatever the noise is like."""


def one_step(data: Data, fit: Fit, weight: Array | None = None, stage: Index | None = None) -> OneStep:
    """Return the step of each coefficient, all models' at one position together, beside those that were found.

    Parameters
    ----------
    data : Data
        Queries and answers.
    fit : Fit
        Where to step from.
    weight : (S, n) array, optional
        What multiplies the entries of the queries of each of S stages to make instruments of them; 1 by default.
    stage : (N,) array of int, optional
        The stage of each query.

    Notes
    -----
    With P the probabilities of the models, R the residuals and s = P R/σ² the scores of an answer (L,), d = diag(P)/σ²
    − Cov_P(R)/σ⁴ is its information (L, L). The instrument of position j is w = weight · x; what the columns F that
    were found explain of it is taken out, v = w − A x_F with A = (Σ w d x_F)(Σ d x_F x_Fᵀ)⁻¹: a fit to few answers
    hides in them what it left out. The step solves (Σ v x d) e = Σ v s and has the variance (Σ v x d)⁻¹ (Σ v² s sᵀ)
    (Σ v x d)⁻ᵀ, which the degrees of freedom that were spent correct. If w is a martingale difference whose covariance
    with x does not depend on the answers, e is unbiased however x was chosen.
    """
    X, L = data.X, fit.L
    N, n = X.shape
    found = fit.explained(data)
    s, d = label_information(found, fit)
    told = found.probability * np.maximum(found.curvature, 0.0) / np.square(fit.noise)
    F = _found_columns(fit, max(N // tuning.ANSWERS_PER_COLUMN, 1))
    XF, f = X[:, F], len(F)
    J = positive_information(XF, found, fit.noise, data.group) if f else np.zeros((0, 0))
    inverse_of_found, scores = np.linalg.inv(J), (s[:, :, None] * XF[:, None, :]).reshape(N, L * f)
    step, variance, spread = np.zeros((L, n)), np.full((L, n), np.inf), np.full((L, n), np.inf)
    wide = max(1, tuning.CHUNK_OF_COLUMNS // max(N, 1))
    for first in range(0, n, wide):
        here = np.arange(first, min(first + wide, n))
        x = X[:, here]
        w = x if weight is None or stage is None else weight[:, here][stage] * x
        tagged = np.maximum((w * x).T @ told, 0.0)
        known = (tagged > 0).all(axis=1)
        tagged[~known] = 1.0
        across = _informed(d, w, XF)
        back = across if w is x else _informed(d, x, XF)
        A = across @ inverse_of_found  # (j, L, L f)
        for j, own in zip(*np.nonzero(here[:, None] == F), strict=True):  # a column that was found, beside the others
            beside = np.flatnonzero(np.arange(L * f) % f != own)
            A[j] = 0.0
            A[j][:, beside] = across[j][:, beside] @ np.linalg.inv(J[np.ix_(beside, beside)])
        M = ((w * x).T @ d.reshape(N, L * L)).reshape(-1, L, L) - A @ back.transpose(0, 2, 1)
        inverse = inverse_of_raised((M + M.transpose(0, 2, 1)) / 2, tagged)
        moved = w.T[:, None, :] * s.T - A @ scores.T  # (j, L, N), each answer's part in the score of the step
        if data.group is not None:  # the answers of a group are not independent, groups are
            moved = of_groups(moved.reshape(-1, N).T, data.group).T.reshape(*moved.shape[:2], -1)
        meat = moved @ moved.transpose(0, 2, 1)
        step[:, here] = np.where(known, np.einsum("jab,jb->aj", inverse, moved.sum(axis=2)), 0.0)
        spread[:, here] = np.where(known, np.einsum("jab,jbc,jac->aj", inverse, meat, inverse), np.inf)
        variance[:, here] = np.where(known, np.einsum("jaa->aj", inverse), np.inf)
    return OneStep(step, variance, spread / freedom_left(found.probability, fit)[:, None])


def _informed(d: Array, w: Array, x: Array) -> Array:
    """Return Σ w d x over the answers for each column of w, (j, L, L f): one block of columns of x for each model."""
    L, (j, f) = d.shape[1], (w.shape[1], x.shape[1])
    found = np.empty((j, L, L, f))
    for a in range(L):
        for b in range(a + 1):
            found[:, a, b] = found[:, b, a] = w.T @ (d[:, a, b, None] * x)
    return found.reshape(j, L, L * f)


def _found_columns(fit: Fit, most: int) -> Index:
    """Return the columns that any model has, in their order; of too many, those with the largest coefficients."""
    found = np.flatnonzero(fit.found.any(axis=0))
    largest = np.argsort(-np.abs(fit.beta[:, found]).max(axis=0, initial=0.0), kind="stable")
    return np.sort(found[largest[:most]])


def freedom_left(P: Array, fit: Fit) -> Array:
    """Return the share of each model's answers, (L,), that its coefficients leave as degrees of freedom."""
    found: Array = np.maximum(
        1 - fit.inclusion.sum(axis=1) / np.maximum(P.sum(axis=0), 1e-300), tuning.LEAST_FREEDOM_LEFT
    )
    return found


def label_information(found: Explained, fit: Fit) -> tuple[Array, Array]:
    """Return the score of each answer about the models' means at its query, (N, L), and its information, (N, L, L)."""
    R, P, _, h = found
    variance, same = np.broadcast_to(np.square(fit.noise), fit.L), np.eye(fit.L)
    slope = R / variance
    d = same * (P * h / variance)[:, None, :]
    d = d - (P[:, :, None] * (same - P[:, None, :])) * (slope[:, :, None] * slope[:, None, :])
    return P * slope, d


def inverse_of_raised(J: Array, tagged: Array) -> Array:
    """Invert informations (c, L, L) that are raised to `LEAST_INFORMATION` of the tagged ones (c, L) in all directions.

    Examples
    --------
    >>> inverse_of_raised(np.array([[[4.0, 0.0], [0.0, 0.0]]]), np.array([[4.0, 4.0]])).round(6)
    array([[[ 0.25,  0.  ],
            [ 0.  , 12.5 ]]])
    """
    root = np.sqrt(tagged)
    e, V = np.linalg.eigh(J / root[:, :, None] / root[:, None, :])
    found: Array = np.einsum("jab,jb,jcb->jac", V, 1 / np.maximum(e, tuning.LEAST_INFORMATION), V)
    return found / root[:, :, None] / root[:, None, :]
