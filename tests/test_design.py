"""Which vectors every method may ask."""

from __future__ import annotations

import numpy as np

from mixsense.methods.design import gaussian, sums_and_differences


def test_queries_beyond_the_limit_are_drawn_again():
    X = gaussian(2000, 10, np.random.default_rng(0), limit=1.0)
    assert np.abs(X).max() <= 1.0
    # Standard normal between −1 and 1: variance 1 − 2 φ(1)/0.6827 = 0.291, from 20,000 entries.
    assert abs(X.var() - 0.291) < 0.01


def test_sums_and_differences():
    X = np.arange(6.0).reshape(2, 3)
    found = sums_and_differences(X, X[0])
    assert np.array_equal(found, [X[0] + X[0], X[1] + X[0], X[0] - X[0], X[1] - X[0]])
