"""The likelihood of raw answers: its derivatives, and the fits that maximise it."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.regression.fit import fit, observed_information, posterior


def answers(pair, N, seed, sigma=1.0):
    X = np.random.default_rng([seed, 1]).standard_normal((N, pair.shape[1]))
    return X, ms.SimulatedOracle(pair, sigma, seed=[seed, 2])(X, 1)[:, 0]


def test_information_is_minus_the_hessian():
    pair = ms.random_pair(3, 3, gap=2.0, seed=1)
    X, y = answers(pair, 200, 1)
    weights, step = np.array([0.4, 0.6]), 1e-4

    def loglik(z):
        return posterior(X, y, z.reshape(2, 3), weights, 1.0)[2].sum()

    z, eye = pair.ravel(), step * np.eye(6)
    numeric = np.array(
        [
            [
                (loglik(z + a + b) - loglik(z + a - b) - loglik(z - a + b) + loglik(z - a - b)) / (4 * step**2)
                for b in eye
            ]
            for a in eye
        ]
    )
    R, P, _ = posterior(X, y, pair, weights, 1.0)
    assert np.allclose(observed_information(X, R, P, 1.0), -numeric, rtol=1e-3, atol=0.05)


def test_the_likelihood_is_that_of_the_mixture():
    pair = ms.random_pair(3, 3, gap=2.0, seed=1)
    X, y = answers(pair, 50, 1)
    _, P, loglik = posterior(X, y, pair, np.array([0.3, 0.7]), 2.0)
    density = np.exp(-0.5 * ((y[:, None] - X @ pair.T) / 2) ** 2) / (2 * np.sqrt(2 * np.pi)) * [0.3, 0.7]
    assert np.allclose(loglik, np.log(density.sum(axis=1)))
    assert np.allclose(P, density / density.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("free", [False, True])
def test_a_fit_from_near_the_truth_finds_the_supports(free):
    pair = ms.random_pair(60, 3, gap=6.0, seed=4)
    X, y = answers(pair, 1500, 4)
    start = pair + 0.1 * np.random.default_rng(0).standard_normal(pair.shape)
    found = fit(X, y, start, 1.3 if free else 1.0, np.array([0.5, 0.5]), 0.1, 0.05, free_sigma=free, free_weights=free)
    large = np.abs(pair) > 0.3  # eight standard errors
    assert (found.inclusion[large] > 0.99).all()
    assert (found.inclusion[pair == 0] > 0.5).sum() <= 1
    assert ms.match_error(found.beta, pair) < 2.5 * ms.limits.tagged(pair, 1.0, 1500)
    # σ has standard error 1/√3000 = 0.018, the share 0.5/√1500 = 0.013; four of each.
    assert found.sigma == pytest.approx(1.0, abs=0.075)
    assert found.weights[0] == pytest.approx(0.5, abs=0.055)


def test_only_a_working_set_of_long_vectors_is_touched():
    pair = ms.random_pair(3000, 3, gap=8.0, seed=5)
    X, y = answers(pair, 600, 5)
    found = fit(X, y, pair, 1.0, np.array([0.5, 0.5]), 0.01, 0.01)
    assert (found.beta != 0).any(axis=0).sum() <= 250
    assert ms.match_error(found.beta, pair) < 0.5
