"""Queries that tell most, of many."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.frugal.best_design import best_design, untagged_information
from mixsense.planning.limits import untagged

CORNERS = np.hstack([np.ones((64, 1)), np.array(list(product([-1.0, 1.0], repeat=6)))])
BETA = np.array([[0.5, 1.0, -0.5, 0.3, 0, 0, 0.4], [-0.5, -0.6, 0.8, 0.3, 0, 0.9, 0], [0.2, 0.4, 0.4, -0.7, 0, 0, 0.1]])


def a_fit(beta=BETA, answers=40, scale=None):
    """Return what a design needs of a fit: all coefficients are in, as sure as 40 answers of each model make them."""
    L, n = beta.shape
    support = np.repeat(np.arange(L), n), np.tile(np.arange(n), L)
    weights, covariance = np.full(L, 1 / L), np.eye(L * n) / answers
    return SimpleNamespace(
        L=L, beta=beta, noises=np.full(L, 0.5), weights=weights, support=support, covariance=covariance, scale=scale
    )


def variances(rows, fit, q):
    """Return the sum of all variances after q answers to these rows, spread evenly: tr (J₀ + q mean Jᵢ)⁻¹."""
    told = untagged_information(rows, fit)
    J = np.einsum("pab,pi,pj->aibj", told, rows, rows).reshape(len(fit.covariance), -1) * q / len(rows)
    return np.trace(np.linalg.inv(np.linalg.inv(fit.covariance) + J))


def test_no_swap_makes_a_design_much_better():
    fit, rng = a_fit(), np.random.default_rng(0)
    chosen = best_design(400, CORNERS, fit, rng)
    least = variances(CORNERS[chosen], fit, 400)
    assert least < 0.95 * variances(CORNERS, fit, 400)
    for _ in range(200):  # an optimum of a convex function: no other choice of 400 is better by more than rounding
        swapped = chosen.copy()
        swapped[rng.integers(400, size=40)] = rng.integers(64, size=40)
        assert variances(CORNERS[swapped], fit, 400) > 0.995 * least


def test_what_is_told_is_the_information_of_the_limits():
    # The limit of untagged answers is the expected worst norm of errors with covariance J⁻¹, J from Gaussian queries.
    rng = np.random.default_rng(1)
    X, beta = rng.standard_normal((20_000, 7)), 3 * BETA
    fit = a_fit(beta)
    model, place = fit.support
    here = beta[model, place] != 0
    J = np.einsum("pab,pi,pj->aibj", untagged_information(X, fit), X, X).reshape(21, 21)[np.ix_(here, here)] / len(X)
    errors = rng.multivariate_normal(np.zeros(here.sum()), np.linalg.inv(J) / 1000, size=20_000)
    norms = [np.linalg.norm(errors[:, model[here] == a], axis=1) for a in range(3)]
    assert np.max(norms, axis=0).mean() == pytest.approx(untagged(beta, 0.5, 1000), rel=0.02)  # 20,000 queries: 1 %


def test_corners_at_which_ratings_hit_their_ends_are_avoided():
    fit = a_fit(3 * BETA[:1], scale=ms.Rating(-1.0, 1.0, 0.5))
    chosen = best_design(200, CORNERS, fit, np.random.default_rng(2))
    far = np.abs(CORNERS @ fit.beta[0])
    assert far[chosen].mean() < 0.5 * far.mean()


def test_a_block_labels_its_answers():
    fit = a_fit()
    alone, of_ten = untagged_information(CORNERS, fit), untagged_information(CORNERS, fit, block=10)
    tagged = np.diag(fit.weights) / 0.25
    assert np.abs(of_ten - tagged).mean() < 0.5 * np.abs(alone - tagged).mean()


@pytest.mark.slow
def test_a_budget_in_a_box_goes_nearly_as_far_as_if_answers_told_their_model():
    # Twelve features that all matter, two models: with corners that are spread evenly the limit of untagged answers is
    # 1.13 times that of tagged ones, with the best corners 1.02 times. The root mean square of 8 runs of 26 errors has
    # a standard error of 1/√(2 · 208) = 5 %.
    errors, N, sigma = [], 600, 1.0
    for seed in range(8):
        rng = np.random.default_rng([seed, 77])
        beta = rng.standard_normal((2, 12)) * 5 / np.sqrt(24)
        level = np.array([1.0, -1.0])

        def oracle(X, repeats, beta=beta, level=level, rng=rng):
            means = X @ beta.T + level
            own = rng.integers(2, size=(len(X), repeats))
            return np.take_along_axis(means, own, axis=1) + sigma * rng.standard_normal(own.shape)

        r = ms.recover(oracle, 12, gamma=None, max_queries=N, box=[(-1, 1)] * 12, intercept=True, seed=seed)
        found, truth = np.column_stack([r.intercept, r.vectors]), np.column_stack([level, beta])
        order = min(([0, 1], [1, 0]), key=lambda order: np.abs(found[order] - truth).sum())
        errors.append(found[order] - truth)
    tagged = sigma / np.sqrt(N / 2)
    assert np.sqrt(np.mean(np.square(errors))) < 1.18 * tagged
