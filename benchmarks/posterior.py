"""The best that can be hoped for: the posterior mean of somebody who knows more than any method is told.

A Gibbs sampler for a mixture of L sparse regressions over groups, used by `benchmarks/groups.py errors`. It knows the
noise, the equal shares, how large coefficients are and how many of them are not zero, or even which, and it begins at
the truth, so that it searches for nothing. What it misses by is what the answers do not say.
"""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

SWEEPS, BURNED = 500, 50
"""Draws of all labels and coefficients, and how many of the first are left out: they begin at the truth."""


def posterior_mean(
    X: np.ndarray,
    y: np.ndarray,
    group: np.ndarray,
    truth: np.ndarray,
    sigma: float,
    rng: np.random.Generator,
    supports: bool = False,
) -> np.ndarray:
    """Return the posterior mean of the models, (L, n); of their orders, that nearest to the mean so far.

    `supports` says that it is known which coefficients are not zero.
    """
    L = len(truth)
    rate, slab = (truth != 0).mean(), (truth[truth != 0] ** 2).mean()
    prior = math.log(rate / (1 - rate))
    places = [np.flatnonzero(vector) if supports else np.arange(len(vector)) for vector in truth]
    beta, total, so_far = truth.copy(), np.zeros_like(truth), truth
    first = np.flatnonzero(np.diff(group, prepend=-1))
    for sweep in range(SWEEPS):
        R = y[:, None] - X @ beta.T
        log_p = np.add.reduceat(-0.5 * (R / sigma) ** 2, first)  # each group's rows are in a row
        P = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        label = np.minimum((P.cumsum(axis=1) < rng.random(len(P))[:, None]).sum(axis=1), L - 1)[group]
        means = np.zeros_like(truth)
        for a, here in enumerate(places):
            A, b = X[label == a][:, here], y[label == a]
            G, score = A.T @ A / sigma**2, A.T @ b / sigma**2
            draw = _known if supports else _chosen
            means[a, here], beta[a, here] = draw(beta[a, here], G, score, slab, prior, rng)
        if sweep >= BURNED:
            order = min(permutations(range(L)), key=lambda order: ((means[list(order)] - so_far) ** 2).sum())
            total += means[list(order)]
            so_far = total / (sweep - BURNED + 1)
    return so_far


def _known(
    old: np.ndarray, G: np.ndarray, b: np.ndarray, slab: float, prior: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and draw of coefficients that are not zero."""
    half = np.linalg.cholesky(G + np.eye(len(b)) / slab)
    mean = np.linalg.solve(half.T, np.linalg.solve(half, b))
    return mean, mean + np.linalg.solve(half.T, rng.standard_normal(len(b)))


def _chosen(
    old: np.ndarray, G: np.ndarray, b: np.ndarray, slab: float, prior: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of each coefficient given the others, and a draw, one after the other."""
    beta, score, mean = old.copy(), b - G @ old, np.zeros(len(old))
    chance, normal, diagonal = (
        rng.random(len(old)).tolist(),
        rng.standard_normal(len(old)).tolist(),
        np.diag(G).tolist(),
    )
    for j, g in enumerate(diagonal):
        before = float(beta[j])
        r = float(score[j]) + g * before
        v = 1 / (g + 1 / slab)
        p = 1 / (1 + math.exp(-max(prior + 0.5 * math.log(v / slab) + 0.5 * v * r * r, -500.0)))
        mean[j] = p * v * r
        new = v * r + math.sqrt(v) * normal[j] if chance[j] < p else 0.0
        if new != before:
            score -= G[j] * (new - before)
            beta[j] = new
    return mean, beta
