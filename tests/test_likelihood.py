"""The likelihood of raw answers, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixed_answers import mixed_answers
from mixsense.regression import tuning
from mixsense.regression.likelihood import explain, observed_information, positive_information, tagged_information
from mixsense.scales.rating import Rating


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
    found = explain(X, y, pair, weights, 1.0)
    assert np.allclose(observed_information(X, found, 1.0), -numeric, rtol=1e-3, atol=0.05)


@pytest.mark.parametrize("shares", [(1.0,), (0.3, 0.7), (0.2, 0.3, 0.5)])
def test_the_likelihood_is_that_of_the_mixture(shares):
    beta = np.random.default_rng(0).standard_normal((len(shares), 3))
    X, y = mixed_answers(ms.random_pair(3, 3, gap=2.0, seed=1), 50, 1)
    _, P, loglik, _ = explain(X, y, beta, np.array(shares), 2.0)
    density = np.exp(-0.5 * ((y[:, None] - X @ beta.T) / 2) ** 2) / (2 * np.sqrt(2 * np.pi)) * shares
    assert np.allclose(loglik, np.log(density.sum(axis=1)))
    assert np.allclose(P, density / density.sum(axis=1, keepdims=True))


def test_answers_that_label_themselves_have_the_information_of_tagged_ones():
    pair = np.array([[30.0, 0.0], [-30.0, 0.0]])
    X, y = mixed_answers(pair, 400, 2)
    X = np.sign(X)  # the means are 60 σ apart for every query
    y = np.where(y * X[:, 0] > 0, 30.0, -30.0) * X[:, 0]
    found = explain(X, y, pair, np.array([0.5, 0.5]), 1.0)
    assert np.allclose(observed_information(X, found, 1.0), tagged_information(X, found, 1.0))


def test_the_information_is_never_below_its_share_of_the_tagged_one():
    pair = ms.random_pair(4, 4, gap=3.0, seed=1)
    X, y = mixed_answers(pair, 300, 1)
    for beta in (pair, pair[[0, 0]], -pair):  # at the truth, between the two, and far away
        found = explain(X, y, beta, np.array([0.5, 0.5]), 1.0)
        J = positive_information(X, found, 1.0)
        lowest = np.linalg.eigvals(np.linalg.solve(tagged_information(X, found, 1.0), J)).real.min()
        assert lowest > 0.99 * tuning.LEAST_INFORMATION


def numeric_information(loglik, z, step=1e-4):
    eye = step * np.eye(len(z))
    return -np.array(
        [
            [
                (loglik(z + a + b) - loglik(z + a - b) - loglik(z - a + b) + loglik(z - a - b)) / (4 * step**2)
                for b in eye
            ]
            for a in eye
        ]
    )


@pytest.mark.parametrize("sigma", [0.8, np.array([0.5, 1.5])], ids=["common", "own"])
@pytest.mark.parametrize("scale", [None, Rating(-2, 2), Rating(-2, 2, 0)], ids=["real", "rounded", "cut"])
@pytest.mark.parametrize("grouped", [False, True])
def test_slope_and_information_are_derivatives_of_the_likelihood(sigma, scale, grouped):
    rng = np.random.default_rng(3)
    pair, weights = ms.random_pair(3, 3, gap=2.0, seed=1), np.array([0.4, 0.6])
    X, y = mixed_answers(pair, 120, 1)
    y = y if scale is None else scale.answer(y)
    group = rng.integers(0, 30, 120) if grouped else None
    group = np.unique(group, return_inverse=True)[1] if grouped else None

    def loglik(z):
        return explain(X, y, z.reshape(2, 3), weights, sigma, group, scale).loglik.sum()

    found, z, eye = explain(X, y, pair, weights, sigma, group, scale), pair.ravel(), 1e-5 * np.eye(6)
    slope = (found.probability * found.residual).T @ X / np.broadcast_to(np.square(sigma), 2)[:, None]
    assert np.allclose([(loglik(z + a) - loglik(z - a)) / 2e-5 for a in eye], slope.ravel(), rtol=1e-5, atol=1e-5)
    J = observed_information(X, found, sigma, group)
    assert np.allclose(J, numeric_information(loglik, z), rtol=1e-3, atol=0.05)


def test_a_group_has_one_posterior_from_all_its_answers():
    X, y = np.ones((3, 1)), np.array([0.5, 0.5, -0.5])
    beta, weights = np.array([[1.0], [-1.0]]), np.array([0.5, 0.5])
    found = explain(X, y, beta, weights, 1.0, np.array([0, 0, 1]))
    # The odds of the models are exp(2 y) for one answer: two of 0.5 multiply.
    odds = np.exp([2.0, 2.0, -1.0])
    assert np.allclose(found.probability[:, 0], odds / (1 + odds))
    density = np.exp(-0.5 * (y[:, None] - [1.0, -1.0]) ** 2) / np.sqrt(2 * np.pi)
    assert np.allclose(np.exp(found.loglik), [(density[0] * density[1]).mean(), density[2].mean()])


def test_groups_of_one_are_answers_that_are_alone():
    pair = ms.random_pair(3, 3, gap=2.0, seed=1)
    X, y = mixed_answers(pair, 50, 1)
    weights, alone = np.array([0.4, 0.6]), np.arange(50)
    one, other = explain(X, y, pair, weights, 1.0), explain(X, y, pair, weights, 1.0, alone)
    assert all(np.allclose(a, b) for a, b in zip(one, other, strict=True))
    assert np.allclose(observed_information(X, one, 1.0), observed_information(X, other, 1.0, alone))
