"""The error bound."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixed_answers import fit, mixed_answers
from mixsense.methods.frugal.certificate import error_quantile
from mixsense.regression.fit import Fit

EQUAL = np.array([0.5, 0.5])
PAIR = ms.random_pair(30, 3, gap=8.0, seed=3)


def fitted(N):
    X, y = mixed_answers(PAIR, N, 1)
    return fit(X, y, PAIR, 1.0, EQUAL, 0.1, 0.1)


def test_the_bound_shrinks_and_holds():
    small, large = fitted(300), fitted(3000)
    for found in (small, large):
        assert ms.match_error(found.beta, PAIR) < error_quantile(found, 0.01)
    assert error_quantile(large, 0.05) < error_quantile(small, 0.05) / 2
    assert error_quantile(small, 0.5) < error_quantile(small, 0.05)


@pytest.mark.parametrize(("n", "p"), [(1000, 0.0005), (200, 0.005), (30, 0.05), (4, 0.3)])
def test_many_improbable_coefficients_are_a_risk_together(n, p):
    """What was not found is N(1, ½²) with probability p, else zero, and estimated as its mean: the exact law."""
    flat = np.full((2, n), 1.0)
    nothing = (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp))
    square = p * 1.25 * flat
    found = Fit(
        answers=100,
        beta=p * flat, inclusion=p * flat, square=square, variance=square - p**2, information=flat, stderr=flat,
        support=nothing, covariance=np.zeros((0, 0)), tail_energy=np.zeros(2), weights=EQUAL, sigma=1.0,
        score=0.0, rate=p, rate_correction=1.0,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    there = rng.random((10_000, 2, n)) < p
    error = np.where(there, 1 + 0.5 * rng.standard_normal(there.shape), 0) - p
    exact = np.quantile(np.linalg.norm(error, axis=2).max(axis=1), 0.9)
    # 2,000 draws: the standard error of the quantile is √(0.1·0.9/2000)/density = 0.0067/density. The density there is
    # 0.26 to 0.35, so that four standard errors, with the 10,000 draws of the exact law, are 0.12 at most.
    assert error_quantile(found, 0.1) == pytest.approx(exact, abs=0.12)
