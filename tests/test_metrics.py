"""Errors up to order, and random pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixsense as ms


@given(st.integers(0, 10_000))
def test_match_error_ignores_the_order_and_is_the_worst_of_both(seed):
    rng = np.random.default_rng(seed)
    truth, noise = rng.standard_normal((2, 2, 7))
    estimate = truth + 1e-3 * noise
    error = ms.match_error(estimate, truth)
    assert error == ms.match_error(estimate[::-1], truth) == ms.match_error(estimate, truth[::-1])
    assert error == pytest.approx(1e-3 * np.linalg.norm(noise, axis=1).max())


@pytest.mark.parametrize("overlap", [None, 0, 2, 4])
def test_random_pair_is_what_was_ordered(overlap):
    pair = ms.random_pair(30, 4, gap=3.0, seed=5, overlap=overlap)
    assert (pair != 0).sum(axis=1).tolist() == [4, 4]
    assert np.linalg.norm(pair[0] - pair[1]) == pytest.approx(3.0)
    if overlap is not None:
        assert ((pair != 0).all(axis=0)).sum() == overlap
    assert np.array_equal(pair, ms.random_pair(30, 4, gap=3.0, seed=5, overlap=overlap))


def test_any_number_of_vectors_is_matched():
    truth = np.random.default_rng(0).standard_normal((4, 6))
    assert ms.match_error(truth[[2, 0, 3, 1]], truth) == 0
    assert ms.match_error(truth[:1] + 1, truth[:1]) == pytest.approx(6**0.5)
    with pytest.raises(ms.InvalidInput, match="at most 8"):
        ms.match_error(np.ones((9, 2)), np.ones((9, 2)))
