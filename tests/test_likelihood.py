"""The likelihood of raw answers, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixed_answers import mixed_answers
from mixsense.regression import tuning
from mixsense.regression.likelihood import explain, observed_information, positive_information, tagged_information


def test_information_is_minus_the_hessian():
    pair = ms.random_pair(3, 3, gap=2.0, seed=1)
    X, y = mixed_answers(pair, 200, 1)
    weights, step = np.array([0.4, 0.6]), 1e-4

    def loglik(z):
        return explain(X, y, z.reshape(2, 3), weights, 1.0).loglik.sum()

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
    R, P, _ = explain(X, y, pair, weights, 1.0)
    assert np.allclose(observed_information(X, R, P, 1.0), -numeric, rtol=1e-3, atol=0.05)


@pytest.mark.parametrize("shares", [(1.0,), (0.3, 0.7), (0.2, 0.3, 0.5)])
def test_the_likelihood_is_that_of_the_mixture(shares):
    beta = np.random.default_rng(0).standard_normal((len(shares), 3))
    X, y = mixed_answers(ms.random_pair(3, 3, gap=2.0, seed=1), 50, 1)
    _, P, loglik = explain(X, y, beta, np.array(shares), 2.0)
    density = np.exp(-0.5 * ((y[:, None] - X @ beta.T) / 2) ** 2) / (2 * np.sqrt(2 * np.pi)) * shares
    assert np.allclose(loglik, np.log(density.sum(axis=1)))
    assert np.allclose(P, density / density.sum(axis=1, keepdims=True))


def test_answers_that_label_themselves_have_the_information_of_tagged_ones():
    pair = np.array([[30.0, 0.0], [-30.0, 0.0]])
    X, y = mixed_answers(pair, 400, 2)
    X = np.sign(X)  # the means are 60 σ apart for every query
    y = np.where(y * X[:, 0] > 0, 30.0, -30.0) * X[:, 0]
    R, P, _ = explain(X, y, pair, np.array([0.5, 0.5]), 1.0)
    assert np.allclose(observed_information(X, R, P, 1.0), tagged_information(X, P, 1.0))


def test_the_information_is_never_below_its_share_of_the_tagged_one():
    pair = ms.random_pair(4, 4, gap=3.0, seed=1)
    X, y = mixed_answers(pair, 300, 1)
    for beta in (pair, pair[[0, 0]], -pair):  # at the truth, between the two, and far away
        R, P, _ = explain(X, y, beta, np.array([0.5, 0.5]), 1.0)
        J = positive_information(X, R, P, 1.0)
        lowest = np.linalg.eigvals(np.linalg.solve(tagged_information(X, P, 1.0), J)).real.min()
        assert lowest > 0.99 * tuning.LEAST_INFORMATION
