"""The best that can be hoped for: the posterior mean of somebody who knows more than any method is told.

    python benchmarks/posterior.py [--seeds 20] [--first 400] [--block 5 10]

Prints the errors of `ms.fit` and of the posterior mean against tagged answers, where groups hardly label themselves.

A Gibbs sampler for a mixture of L sparse regressions over groups. It knows the noise, how many coefficients are not
zero and how large these are, and it begins at the truth, so that it searches for nothing. What it misses by is what the
answers do not say.
"""

from __future__ import annotations

import argparse
import math
from itertools import permutations

import numpy as np

import mixsense as ms
from mixsense.figures.baselines import lasso_and_refit
from scales import people

SWEEPS, BURNED = 800, 150
"""Draws of all labels and coefficients, and how many of the first are left out."""


def posterior_mean(
    X: np.ndarray, y: np.ndarray, group: np.ndarray, truth: np.ndarray, sigma: float, rng: np.random.Generator
) -> np.ndarray:
    """Return the posterior mean of the models, (L, n); of their orders, that nearest to the mean so far."""
    L = len(truth)
    rate, slab = (truth != 0).mean(), (truth[truth != 0] ** 2).mean()
    prior = math.log(rate / (1 - rate))
    beta, weights, total, so_far = truth.copy(), np.full(L, 1 / L), np.zeros_like(truth), truth
    for sweep in range(SWEEPS):
        R = y[:, None] - X @ beta.T
        log_p = np.stack([np.bincount(group, -0.5 * (r / sigma) ** 2) for r in R.T], axis=1) + np.log(weights)
        P = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        label = np.minimum((P.cumsum(axis=1) < rng.random(len(P))[:, None]).sum(axis=1), L - 1)
        weights = rng.dirichlet(1 + np.bincount(label, minlength=L))
        means = np.stack([_draw(beta[a], X, y, label[group] == a, sigma, slab, prior, rng) for a in range(L)])
        if sweep >= BURNED:
            order = min(permutations(range(L)), key=lambda order: ((means[list(order)] - so_far) ** 2).sum())
            total += means[list(order)]
            so_far = total / (sweep - BURNED + 1)
    return so_far


def _draw(
    beta: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    mine: np.ndarray,
    sigma: float,
    slab: float,
    prior: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the coefficients of one model in turn, in place; returns the mean of each given the others."""
    G, b = X[mine].T @ X[mine] / sigma**2, X[mine].T @ y[mine] / sigma**2
    score, mean = b - G @ beta, np.zeros(len(beta))
    chance, normal = rng.random(len(beta)), rng.standard_normal(len(beta))
    for j in range(len(beta)):
        r = score[j] + G[j, j] * beta[j]
        v = 1 / (G[j, j] + 1 / slab)
        p = 1 / (1 + math.exp(-max(prior + 0.5 * math.log(v / slab) + 0.5 * v * r * r, -500.0)))
        mean[j] = p * v * r
        new = v * r + math.sqrt(v) * normal[j] if chance[j] < p else 0.0
        score -= G[j] * (new - beta[j])
        beta[j] = new
    return mean


def main() -> None:
    """Print a line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=400)
    parser.add_argument("--block", type=int, nargs="*", default=[5, 10])
    given = parser.parse_args()
    for L, gap in ((2, 0.5), (3, 1.0)):
        for block in given.block:
            errors = []
            for seed in range(given.first, given.first + given.seeds):
                beta, X, y, person, label = people(seed, L, gap, block)
                tagged = np.stack([lasso_and_refit(X[label == a], y[label == a], 1.0) for a in range(L)])
                found = ms.fit(X, y, groups=person, models=L, seed=[seed, 2]).vectors
                best = posterior_mean(X, y, person, beta, 1.0, np.random.default_rng([seed, 3]))
                errors.append([ms.match_error(each, beta) for each in (tagged, found, best)])
            base, ours, limit = np.mean(errors, axis=0)
            print(
                f"{L} models, gap {gap:g}, {block} answers a person: ms.fit {ours / base:.2f}, posterior mean "
                f"{limit / base:.2f} × tagged practical",
                flush=True,
            )


if __name__ == "__main__":
    main()
