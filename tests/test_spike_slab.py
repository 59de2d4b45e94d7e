"""Spike and slab: which coefficients are not zero."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mixsense.regression import tuning
from mixsense.regression.spike_slab import Prior, joint, marginal


def exact_posterior(G, b, prior):
    """Sum over all supports: what the variational posterior approximates."""
    d, (size,) = len(b), prior.variances
    total, mean, inclusion = 0.0, np.zeros(d), np.zeros(d)
    for support in itertools.product([False, True], repeat=d):
        S = np.flatnonzero(support)
        precision = G[np.ix_(S, S)] + np.eye(len(S)) / size
        m = np.linalg.solve(precision, b[S]) if len(S) else np.zeros(0)
        log_weight = len(S) * (prior.log_odds[0] - 0.5 * math.log(size)) + 0.5 * b[S] @ m
        weight = math.exp(log_weight - 0.5 * np.linalg.slogdet(precision)[1])
        total += weight
        mean[S] += weight * m
        inclusion[S] += weight
    return mean / total, inclusion / total


@pytest.mark.parametrize("seed", range(5))
def test_the_joint_posterior_agrees_with_the_sum_over_all_supports(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 8))
    truth = np.array([1.0, -0.5, 0.3, 0, 0, 0, 0, 0])
    G, b = X.T @ X, X.T @ (X @ truth + rng.standard_normal(200))
    prior = Prior((1.0,), (math.log(0.2 / 0.8),))
    found = joint(G, b, prior, np.zeros(8), sweeps=100, tol=1e-12)
    mean, inclusion = exact_posterior(G, b, prior)
    # Columns are nearly orthogonal (correlations about 1/√200), where the factorised posterior is nearly exact.
    assert np.abs(found.mean - mean).max() < 0.02
    assert np.abs(found.inclusion - inclusion).max() < 0.1


def test_the_marginal_posterior_is_exact_for_one_coefficient():
    prior = Prior((2.0,), (-1.0,))
    found = marginal(np.array([3.0]), np.array([4.0]), prior)
    mean, inclusion = exact_posterior(np.array([[4.0]]), np.array([3.0]), prior)
    assert found.mean == pytest.approx(mean)
    assert found.inclusion == pytest.approx(inclusion)
    same = joint(np.array([[4.0]]), np.array([3.0]), prior, np.zeros(1))
    assert same.square == pytest.approx(found.square)


def test_slabs_below_the_noise_are_dropped():
    assert len(Prior.of(1.0, 0.1, 1e-6).variances) == 3
    assert Prior.of(1.0, 0.1, 1.0).variances == (tuning.LONE_SLAB_WIDTH,)
