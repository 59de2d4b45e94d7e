"""Which of many queries tell most about all models together: an A-optimal design for answers that name no model."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.frugal import tuning
from mixsense.regression.fit import Fit
from mixsense.scales.lapses import without_lapses
from mixsense.scales.scale import terms_of

Parts = list[tuple[Index, Index]]
"""Of each model, its coefficients' places among all that were found, and their columns."""


def best_design(q: int, rows: Array, fit: Fit, rng: np.random.Generator, block: int = 1) -> Index:
    """Choose q of many queries, some more than once, that make the coefficients which were found most certain.

    Parameters
    ----------
    q : int
        How many are asked.
    rows : (m, n) array
        What the answers to each query of a pool of m are linear in.
    fit : Fit
        The models so far; its covariance says what the answers so far have told.
    rng : Generator
        Draws the queries in proportion to the weights of the design.
    block : int
        This many answers share their model, and label each other.

    Returns
    -------
    (q,) array of int
        The places of the queries in the pool, in random order.

    Notes
    -----
    With weights p on the pool the information will be J = J₀ + q Σ pᵢ Jᵢ, where Jᵢ is that of one untagged answer. The
    sum of all variances, tr J⁻¹, is smallest if tr(J⁻¹ Jᵢ J⁻¹) is the same wherever pᵢ > 0, and nowhere larger; each
    step multiplies the weights by it.
    """
    told, before, parts = untagged_information(rows, fit, block), np.linalg.inv(fit.covariance), _parts(fit)
    p: Array = np.full(len(rows), 1 / len(rows))
    for _ in range(tuning.DESIGN_STEPS):
        C = np.asarray(np.linalg.inv(before + q * _information(p, rows, told, parts)), dtype=np.float64)
        worth = _worth(C, rows, told, parts)
        p = p * worth / (p @ worth)
    places = np.searchsorted(np.cumsum(p), (np.arange(q) + rng.random()) / q * p.sum())
    return rng.permutation(np.minimum(places, len(p) - 1))


def untagged_information(rows: Array, fit: Fit, block: int = 1) -> Array:
    """Return the information of one untagged answer to each query about the models' means, (m, L, L).

    Notes
    -----
    With P the probabilities of the models given the answer and S the slopes of the log-likelihood in their means, it is
    E[P_a S_a P_b S_b], over the answers of all models. Each other answer of a block adds what an answer tells about the
    model in the mean over the pool: with means s σ apart log odds of s²/2. Lapses, which tell nothing about any
    model, are left out.
    """
    L, mean, scale, sigma = fit.L, rows @ fit.beta.T, without_lapses(fit.scale), fit.noises
    e, weight = np.polynomial.hermite_e.hermegauss(tuning.DESIGN_NOISE_POINTS)
    weight = weight / weight.sum()
    told, means = np.zeros((len(rows), L, L)), np.repeat(mean, len(e), axis=0)
    for a in range(L):
        value = (mean[:, a, None] + sigma[a] * e).ravel()
        answers = value if scale is None else scale.answer(value)
        terms = terms_of(scale, answers, means, sigma)
        others = (block - 1) * ((mean - mean[:, a, None]) ** 2).mean(axis=0) / (2 * sigma**2)
        log_p = terms.loglik + np.log(fit.weights) - others
        P = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        slope = (P / P.sum(axis=1, keepdims=True) * terms.residual / sigma**2).reshape(len(rows), len(e), L)
        told += fit.weights[a] * np.einsum("pea,peb,e->pab", slope, slope, weight)
    return told


def _parts(fit: Fit) -> Parts:
    """Return where the coefficients of each model are."""
    model, column = fit.support
    return [(here := np.flatnonzero(model == a), column[here]) for a in range(fit.L)]


def _information(p: Array, rows: Array, told: Array, parts: Parts) -> Array:
    """Return the mean information of an answer about the coefficients that were found, (s, s)."""
    J = np.empty((sum(len(here) for here, _ in parts),) * 2)
    for a, (here, columns) in enumerate(parts):
        for b, (there, others) in enumerate(parts[: a + 1]):
            J[np.ix_(here, there)] = (rows[:, columns] * (p * told[:, a, b])[:, None]).T @ rows[:, others]
            J[np.ix_(there, here)] = J[np.ix_(here, there)].T
    return J


def _worth(C: Array, rows: Array, told: Array, parts: Parts) -> Array:
    """Return by how much an answer to each query lowers the sum of all variances, (m,), where C is the covariance."""
    squared, worth = C @ C, np.zeros(len(rows))
    for a, (here, columns) in enumerate(parts):
        for b, (there, others) in enumerate(parts):
            worth += told[:, a, b] * ((rows[:, columns] @ squared[np.ix_(here, there)]) * rows[:, others]).sum(axis=1)
    return worth
