"""Errors up to order, and random models."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mixsense as ms
from mixsense.metrics import best_order


@settings(deadline=None)  # the first call imports SciPy
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


@pytest.mark.parametrize(("models", "gap"), [(3, 2.0), (6, 10.0)])
def test_random_models_are_what_was_ordered(models, gap):
    vectors = ms.random_models(models, 30, 4, gap, seed=5)
    assert (vectors != 0).sum(axis=1).tolist() == models * [4]
    distances = [np.linalg.norm(a - b) for a, b in combinations(vectors, 2)]
    assert np.mean(distances) == pytest.approx(gap)
    assert np.array_equal(vectors, ms.random_models(models, 30, 4, gap, seed=5))


def test_two_random_models_are_a_random_pair_and_one_has_the_norm_that_was_ordered():
    assert np.array_equal(ms.random_models(2, 30, 4, 3.0, seed=5), ms.random_pair(30, 4, 3.0, seed=5))
    (one,) = ms.random_models(1, 30, 4, 3.0, seed=5)
    assert np.linalg.norm(one) == pytest.approx(3.0)


def test_any_number_of_vectors_is_matched():
    truth = np.random.default_rng(0).standard_normal((12, 6))
    order = np.random.default_rng(1).permutation(12)
    assert ms.match_error(truth[order], truth) == 0
    assert truth[order][list(best_order(truth[order], truth))].tolist() == truth.tolist()
    assert ms.match_error(truth[:1] + 1, truth[:1]) == pytest.approx(6**0.5)


@settings(deadline=None)  # the first call imports SciPy
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_the_best_order_has_the_smallest_worst_error_of_all_orders(seed, models):
    rng = np.random.default_rng(seed)
    estimate, truth = rng.integers(-2, 3, (2, models, 3)).astype(float)  # with many ties
    errors = [np.linalg.norm(estimate[list(o)] - truth, axis=1).max() for o in permutations(range(models))]
    assert ms.match_error(estimate, truth) == min(errors)
    assert sorted(best_order(estimate, truth)) == list(range(models))


def test_the_worst_error_decides_and_not_the_sum():
    # In order the errors are 0, 3 and 0; crosswise 2, 2 and 0: a smaller worst, a larger sum.
    truth = np.array([[0.0, 0.0], [2.0, 0.0], [9.0, 9.0]])
    estimate = np.array([[0.0, 0.0], [-1.0, 0.0], [9.0, 9.0]])
    assert best_order(estimate, truth) == (1, 0, 2)
    assert ms.match_error(estimate, truth) == 2


def test_one_vector_is_held_against_every_model():
    truth = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    assert ms.match_error([[1.0, 0.0]], truth) == pytest.approx(5**0.5)
    assert best_order([[1.0, 0.0]], truth) == (0, 0, 0)


@pytest.mark.parametrize(("found", "true"), [(2, 3), (3, 2), (2, 1)])
def test_other_differing_numbers_of_vectors_are_refused(found, true):
    with pytest.raises(ms.InvalidInput, match=f"estimate has {found} vectors and truth {true}: give as many as"):
        ms.match_error(np.ones((found, 4)), np.ones((true, 4)))


def test_vectors_beyond_all_floats_are_infinitely_wrong():
    with np.errstate(over="ignore"):
        assert ms.match_error([[1e300, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1e300, 0.0]]) == np.inf
