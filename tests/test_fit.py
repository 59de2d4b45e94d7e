"""Fits of raw answers by a mixture of sparse regressions."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixed_answers import fit, mixed_answers
from mixsense.regression import tuning


@pytest.mark.parametrize("free", [False, True])
def test_a_fit_from_near_the_truth_finds_the_supports(free):
    pair = ms.random_pair(60, 3, gap=6.0, seed=4)
    X, y = mixed_answers(pair, 1500, 4)
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
    X, y = mixed_answers(pair, 600, 5)
    found = fit(X, y, pair, 1.0, np.array([0.5, 0.5]), 0.01, 0.01)
    assert (found.beta != 0).any(axis=0).sum() <= tuning.MOST_COLUMNS
    assert ms.match_error(found.beta, pair) < 0.5
