"""Algorithms 6 and 7 as a program; their lemmas are in test_paper.py."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import mixsense as ms
from driving import drive
from mixsense.methods.paper.align import align_all, align_pair, choose_pivot
from mixsense.methods.paper.constants import PRACTICAL
from mixsense.methods.paper.estimate import Accuracy, Estimates

ACCURACY = Accuracy(1.0, 0.3, math.log(1000), PRACTICAL, batch=400)


def exact(means):
    """Estimates without error, in ascending order."""
    mu = np.sort(np.atleast_2d(np.asarray(means, dtype=float)), axis=1)
    return Estimates(mu, np.full(mu.shape, 0.1), np.zeros(len(mu), dtype=np.intp), np.full(len(mu), 400))


def test_align_pair_by_hand():
    # Query 0: means 0 (vector 1), 5 (vector 2); query 1: 7 (vector 1), 3 (vector 2); pivot 1 and 2.
    first, pivot = exact([[0, 5], [7, 3]]), exact([1, 2])
    total, difference = exact([[0 + 1, 5 + 2], [7 + 1, 3 + 2]]), exact([[0 - 1, 5 - 2], [7 - 1, 3 - 2]])
    orders = align_pair(first, pivot, total, difference)
    assert orders.place.tolist() == [[0, 1], [1, 0]]
    assert orders.margin.min() > 0
    assert np.allclose(orders.misfit, 0)
    assert np.allclose(orders.strain, 0)
    assert np.allclose(orders.doubt, 0)


def test_three_means_by_hand():
    # Means by vector: 4, 0, 9 and (a tie in the sums with the ascending order) 2, 1, 0; the pivot's: 1, 2, 3.
    values = np.array([[4.0, 0.0, 9.0], [2.0, 1.0, 0.0]])
    p = np.array([1.0, 2.0, 3.0])
    orders = align_pair(exact(values), exact(p), exact(values + p), exact(values - p))
    assert orders.place.tolist() == [[1, 0, 2], [2, 1, 0]]
    assert np.allclose(orders.misfit, 0)
    assert orders.margin.min() > 0


@pytest.mark.parametrize("L", [2, 3, 4, 5])
def test_every_order_is_found_whatever_the_number_of_means(L):
    rng, q = np.random.default_rng(L), 200
    a, p = rng.normal(0, 50, (q, L)), 20 * np.arange(L) + rng.normal(0, 3, L)
    noisy = [exact(means + rng.normal(0, 0.1, means.shape)) for means in (a, p[None], a + p, a - p)]
    orders = align_pair(*noisy)
    right = orders.place == np.argsort(np.argsort(a, axis=1), axis=1)
    sure = orders.margin > 10
    assert right[sure].all()
    assert sure.mean() > 0.9  # means that are close, within the errors, have no order
    np.testing.assert_array_less(orders.strain, 6)


def test_doubt_is_the_variance_of_what_may_be_swapped():
    # The sum and the difference fit both orders equally well: with probability ½ a mean is off by the gap of 2.
    vague = exact([[0.0, 2.0]])
    orders = align_pair(vague, exact([0.0, 9.0]), exact([[1.0, 10.0]]), exact([[-8.0, 1.0]]))
    assert orders.margin[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(orders.doubt, 0.25 * 2**2)


def test_both_ways_of_asking_find_the_true_order():
    pair = ms.random_pair(30, 3, gap=10.0, seed=1)
    X = np.random.default_rng(2).standard_normal((25, 30))
    truth = X @ pair.T
    means = exact(truth)
    pivot = choose_pivot(means, ACCURACY, among=4)
    assert pivot == int(np.abs(truth[:4, 0] - truth[:4, 1]).argmax())
    for candidates in (None, 4):
        alignment, rounds = drive(
            align_all(X, means, ACCURACY, pivot, candidates), ms.SimulatedOracle(pair, sigma=1.0, seed=3)
        )
        pairs = 24 if candidates is None else 24 + 23 + 22 + 21  # each unordered pair once
        assert sum(r.size for r in rounds) == 2 * pairs * 400
        u, v = alignment.order(means.mu)
        order = (u > v) == (truth[:, 0] > truth[:, 1])
        assert order.all() or not order.any()
        assert alignment.orders.margin.min() > 0


def test_no_pivot_is_said():
    close = exact([[0.0, 0.1], [0.0, 0.2]])
    assert choose_pivot(close, ACCURACY) is None
    adaptive = Accuracy(1.0, 0.1, math.log(1000), PRACTICAL)
    assert choose_pivot(exact([[0.0, 1.09]]), adaptive) is None
    assert choose_pivot(exact([[0.0, 1.11]]), adaptive) == 0


def test_the_pivot_has_all_of_its_means_apart():
    means = exact([[0.0, 0.2, 30.0], [0.0, 4.0, 9.0], [0.0, 3.0, 20.0]])
    assert choose_pivot(means, replace(ACCURACY, models=3)) == 1
    assert choose_pivot(exact([[0.0, 0.2, 30.0]]), replace(ACCURACY, models=3)) is None
