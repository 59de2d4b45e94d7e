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
from mixsense.regression.likelihood import Explained


class OneStep(NamedTuple):
    """A step from the fit in every coefficient, and how far it can be trusted."""

    step: Array
    """(L, n), what is to be added to the fit's coefficients."""
    variance: Array
    """(L, n), of the step, from the information; infinite where the answers say nothing."""
    spread: Array
    """(L, n), of the step, from the answers' own scatter (the sandwich), whatever the noise is like."""


def one_step(data: Data, fit: Fit, weight: Array | None = None, stage: Index | None = None) -> OneStep:
    """Return the step of each coefficient, all models' at one position together.

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
    − Cov_P(R)/σ⁴ is its information (L, L). The step at position j solves (Σ w x d) e = Σ w s with w = weight · x;
    it has the variance (Σ w x d)⁻¹ (Σ w² s sᵀ) (Σ w x d)⁻ᵀ. If w is a martingale difference whose covariance with x
    does not depend on the answers, e is unbiased however x was chosen.
    """
    X, L = data.X, fit.L
    N, n = X.shape
    found = fit.explained(data)
    s, d = label_information(found, fit)
    told = found.probability * np.maximum(found.curvature, 0.0) / np.square(fit.noise)
    flat, squares = d.reshape(N, L * L).T, (s[:, :, None] * s[:, None, :]).reshape(N, L * L).T
    step, variance, spread = np.empty((L, n)), np.empty((L, n)), np.empty((L, n))
    wide = max(1, tuning.CHUNK_OF_COLUMNS // max(N, 1))
    for first in range(0, n, wide):
        here = slice(first, first + wide)
        x = X[:, here]
        w = x if weight is None or stage is None else weight[:, here][stage] * x
        wx = w * x
        tagged = np.maximum(wx.T @ told, 0.0)
        known = (tagged > 0).all(axis=1)
        tagged[~known] = 1.0
        inverse = np.linalg.inv(raised((flat @ wx).T.reshape(-1, L, L), tagged))
        step[:, here] = np.where(known, np.einsum("jab,jb->ja", inverse, (s.T @ w).T).T, 0.0)
        meat = (squares @ (w * w)).T.reshape(-1, L, L)
        scatter = np.einsum("jab,jbc,jac->ja", inverse, meat, inverse).T
        spread[:, here] = np.where(known, scatter, np.inf)
        variance[:, here] = np.where(known, np.einsum("jaa->ja", inverse).T, np.inf)
    return OneStep(step, variance, spread)


def label_information(found: Explained, fit: Fit) -> tuple[Array, Array]:
    """Return the score of each answer about the models' means at its query, (N, L), and its information, (N, L, L)."""
    R, P, _, h = found
    variance, same = np.broadcast_to(np.square(fit.noise), fit.L), np.eye(fit.L)
    slope = R / variance
    d = same * (P * h / variance)[:, None, :]
    d = d - (P[:, :, None] * (same - P[:, None, :])) * (slope[:, :, None] * slope[:, None, :])
    return P * slope, d


def raised(J: Array, tagged: Array) -> Array:
    """Raise informations (c, L, L) to `LEAST_INFORMATION` of the tagged ones (c, L) in every direction."""
    root = np.sqrt(tagged)
    e, V = np.linalg.eigh(J / root[:, :, None] / root[:, None, :])
    e = np.maximum(e, tuning.LEAST_INFORMATION)
    found: Array = np.einsum("jab,jb,jcb->jac", V, e, V) * root[:, :, None] * root[:, None, :]
    return found
