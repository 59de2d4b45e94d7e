"""The error bound and the tests of the model."""

from __future__ import annotations

import numpy as np

import mixsense as ms
from mixsense.certify import error_quantile, explain_misfit, probability_transform, strangers, uniform_p_value
from mixsense.refine import fit
from test_refine import answers

EQUAL = np.array([0.5, 0.5])
PAIR = ms.random_pair(30, 3, gap=8.0, seed=3)


def fitted(N=800, seed=1):
    X, y = answers(PAIR, N, seed)
    return fit(X, y, PAIR, 1.0, EQUAL, 0.1, 0.1)


def test_the_bound_shrinks_and_holds():
    small, large = fitted(300), fitted(3000)
    for found in (small, large):
        assert ms.match_error(found.beta, PAIR) < error_quantile(found, 0.01)
    assert error_quantile(large, 0.05) < error_quantile(small, 0.05) / 2
    assert error_quantile(small, 0.5) < error_quantile(small, 0.05)


def test_fresh_answers_are_uniform_if_the_model_holds():
    X, y = answers(PAIR, 1000, 2)
    assert uniform_p_value(probability_transform(X, y, fitted())) > 1e-3
    assert uniform_p_value(probability_transform(X, y + 0.5, fitted())) < 1e-3


def test_p_values_are_uniform_under_the_hypothesis():
    # 1,000 tests at level 0.05: between 0.05 ± 4·√(0.05·0.95/1000) = 0.05 ± 0.028.
    rng = np.random.default_rng(0)
    rejected = np.mean([uniform_p_value(rng.random(80)) < 0.05 for _ in range(1000)])
    assert 0.022 < rejected < 0.078


def test_strangers_are_counted():
    X, y = answers(PAIR, 1000, 2)
    assert strangers(X, y, fitted()) < 0.002
    y = y.copy()
    y[:50] += 100
    assert 0.045 < strangers(X, y, fitted()) < 0.055


def test_a_misfit_is_explained():
    X, y = answers(PAIR, 2000, 2)
    rng = np.random.default_rng(1)
    assert "linearly" in explain_misfit(X, y + 0.2 * y**2, fitted())
    assert "heavy tails" in explain_misfit(X, y + rng.standard_t(3, 2000), fitted())
    assert "skewed" in explain_misfit(X, y + rng.exponential(2, 2000) - 2, fitted())
