"""Algorithms 6 and 7 as a program; their lemmas are in test_paper.py."""

from __future__ import annotations

import math

import numpy as np

import mixsense as ms
from driving import drive
from mixsense.methods.paper.align import align_all, align_pair, choose_pivot
from mixsense.methods.paper.constants import PRACTICAL
from mixsense.methods.paper.estimate import Accuracy, Estimates

ACCURACY = Accuracy(1.0, 0.3, math.log(1000), PRACTICAL, batch=400)


def exact(means):
    """Estimates without error, in ascending order."""
    mu = np.sort(np.atleast_2d(np.asarray(means, dtype=float)), axis=1)
    return Estimates(mu, np.full(mu.shape, 0.1), np.zeros(len(mu), dtype=np.intp))


def test_align_pair_by_hand():
    # Query 0: means 0 (vector 1), 5 (vector 2); query 1: 7 (vector 1), 3 (vector 2); pivot 1 and 2.
    first, pivot = exact([[0, 5], [7, 3]]), exact([1, 2])
    total, difference = exact([[0 + 1, 5 + 2], [7 + 1, 3 + 2]]), exact([[0 - 1, 5 - 2], [7 - 1, 3 - 2]])
    margin, misfit = align_pair(first, pivot, total, difference)
    assert (margin > 0).tolist() == [True, False]
    assert np.allclose(misfit, 0)


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
        assert alignment.margin.min() > 0


def test_no_pivot_is_said():
    close = exact([[0.0, 0.1], [0.0, 0.2]])
    assert choose_pivot(close, ACCURACY) is None
    adaptive = Accuracy(1.0, 0.1, math.log(1000), PRACTICAL)
    assert choose_pivot(exact([[0.0, 1.09]]), adaptive) is None
    assert choose_pivot(exact([[0.0, 1.11]]), adaptive) == 0
