"""Two models that were merged: what the answers say of a pair in the place of one."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.regression.data import Data
from mixsense.regression.hidden import hidden_difference, hidden_over_two

N, SIGMA, MODEL = 300, 0.3, np.array([0.4, 1.0, -0.8, 0.5, 0.0, 0.3])


def merged(seed, delta, scale=None):
    """Return answers of two models that differ by `delta`, and the spread around the one between them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(N), rng.choice([-1.0, 1.0], (N, 5))])
    value = X @ MODEL + rng.choice([-0.5, 0.5], N) * (X @ delta) + SIGMA * rng.standard_normal(N)
    data = Data(X, value if scale is None else scale.answer(value), scale=scale)
    return data, float(np.std(value - X @ MODEL))


NONE, ONE, BOTH = np.zeros(6), np.array([0, 0.9, 0, 0, 0, 0]), np.array([0, 0.6, 0, -0.6, 0, 0])


@pytest.mark.parametrize("scale", [None, ms.Rating(-3, 3, 0.5)])
@pytest.mark.parametrize(("delta", "hidden"), [(NONE, False), (ONE, True)])
def test_a_pair_that_differs_in_one_feature_is_seen_behind_one_model(delta, hidden, scale):
    for seed in range(4):
        data, spread = merged(seed, delta, scale)
        odds = hidden_difference(data, MODEL, spread, False, True)
        # Half of 0.9 is the error of the model between them; odds of 0.05 there are the certificate's on a scale.
        there = float(np.interp(0.4, odds.errors, odds.feature))
        assert (there > 0.05) == hidden


def test_a_pair_that_differs_in_two_features_is_seen_by_both_together():
    for seed in range(4):
        data, spread = merged(seed, BOTH)
        one, two = (
            look(data, MODEL, spread, level=True)
            for look in (lambda *given, level: hidden_difference(*given, False, level), hidden_over_two)
        )
        error = np.linalg.norm(BOTH) / 2
        assert np.interp(0.9 * error, two.errors, two.feature) > 1e3 * np.interp(0.9 * error, one.errors, one.feature)
        assert np.interp(0.9 * error, two.errors, two.feature) > 1
        honest, spread = merged(seed, NONE)
        none = hidden_over_two(honest, MODEL, spread, True)
        assert np.interp(0.9 * error, none.errors, none.feature) < 0.05
