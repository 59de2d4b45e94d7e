"""The paper's methods at the edges of what they promise; their theorems are in test_paper.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.paper.constants import THEORY
from mixsense.methods.paper.decoding import decode, decoding_error

PAIR = ms.random_pair(30, 2, gap=5.0, seed=1)


def oracle(pair=PAIR, seed=2, sigma=1.0):
    return ms.SimulatedOracle(pair, sigma=sigma, seed=seed)


def test_pairs_all_asks_more_and_says_the_same():
    common = {"n": 30, "k": 2, "sigma": 1.0, "m": 40, "batch": 100, "seed": 3, "method": "paper"}
    pivot = ms.recover(oracle(), **common, pairs="pivot")
    printed = ms.recover(oracle(), **common, pairs="all")
    assert printed.queries > 1.5 * pivot.queries
    assert ms.match_error(pivot.vectors, PAIR) < 0.4
    assert ms.match_error(printed.vectors, PAIR) < 0.4


def test_gamma_between_the_pivot_ratio_and_the_gap_is_made_smaller():
    r = ms.recover(oracle(), 30, gamma=2.0, k=2, sigma=1.0, seed=3, method="paper")  # 0.096 · 5 < 2 < 0.8 · 5
    assert r.diagnostics["gamma_used"] == pytest.approx(0.0964 * 5, rel=0.4)
    assert r.status == "certified"
    assert ms.match_error(r.vectors, PAIR) < 0.5


def test_gamma_too_large_for_two_vectors_gives_one():
    r = ms.recover(oracle(), 30, gamma=8.0, k=2, sigma=1.0, seed=3, method="paper")
    assert r.status == "single"
    assert np.array_equal(r.vectors[0], r.vectors[1])
    assert ms.match_error(r.vectors, PAIR) <= r.error_bound


def test_single_says_when_one_vector_will_not_do():
    r = ms.recover(oracle(), 30, gamma=0.5, k=2, sigma=1.0, seed=3, method="single")
    assert r.status == "uncertain"
    assert "use method='paper'" in r.diagnostics["warnings"][0]


def test_without_a_pivot_one_vector_is_returned_with_a_warning():
    # Batches of 5 show that the answers scatter, but no query's two means.
    pair = ms.random_pair(30, 2, gap=0.9, seed=1)
    r = ms.recover(oracle(pair), 30, k=2, sigma=1.0, m=200, batch=5, seed=3, method="paper")
    assert r.status == "uncertain"
    assert r.diagnostics["warnings"][0].startswith("no pivot")
    assert np.array_equal(r.vectors[0], r.vectors[1])


def test_answers_that_are_not_linear_are_not_certified():
    def curved(queries, repeats):
        return oracle_(queries, repeats) + 2 * (queries**2).sum(axis=1, keepdims=True) / 30

    oracle_ = oracle()
    r = ms.recover(curved, 30, gamma=0.45, k=2, sigma=1.0, seed=3, method="paper")
    assert r.status == "uncertain"
    assert "depend linearly on x" in r.diagnostics["warnings"][0]


def test_theory_keeps_the_printed_radius():
    # Basis pursuit with radius 10γ returns exactly 0 as soon as ‖u‖/√m ≤ 10γ (erratum 6).
    X = np.random.default_rng(0).standard_normal((20, 30))
    u = X @ PAIR[0]
    assert not decode(X, u[None], np.ones(20), THEORY, np.linalg.norm(u)).any()
    assert decode(X, u[None], np.ones(20), THEORY, 1e-3).any()


def test_decoding_error_shrinks_with_the_number_of_queries():
    few, many = (decoding_error(100, 5, np.full(m, 0.1), ms.constants.PRACTICAL) for m in (50, 200))
    assert few == pytest.approx(2 * many)


@pytest.mark.parametrize("seed", range(5))
def test_noiseless_is_exact_and_cheap(seed):
    pair = ms.random_pair(100, 5, gap=3.0, seed=seed)
    asked = oracle(pair, seed, sigma=0.0)
    r = ms.recover(asked, 100, k=5, sigma=0.0, method="noiseless", seed=seed)
    assert r.status == "certified"
    assert ms.match_error(r.vectors, pair) <= 1e-8 * np.linalg.norm(pair, axis=1).max()
    # A query shows both values after 3 answers on average (variance 2), and one more aligns it: 4m − 1, five sigmas.
    m = r.diagnostics["m"]
    assert r.queries <= 4 * m + 5 * math.sqrt(2 * m)
    assert r.queries < r.diagnostics["printed_queries"] / 5


def test_noiseless_one_vector():
    pair = np.repeat(PAIR[:1], 2, axis=0)
    r = ms.recover(oracle(pair, sigma=0.0), 30, k=2, sigma=0.0, method="noiseless", seed=1)
    assert r.status == "single"
    assert ms.match_error(r.vectors, pair) < 1e-8


def test_noiseless_dense_vectors_with_too_few_queries_are_not_certified():
    pair = np.random.default_rng(0).standard_normal((2, 30))
    r = ms.recover(oracle(pair, sigma=0.0), 30, k=2, sigma=0.0, method="noiseless", m=20, seed=1)
    assert r.status == "uncertain"


@pytest.mark.parametrize("budget", [80, 100, 125, 150])
def test_noiseless_budget(budget):
    asked = oracle(sigma=0.0)
    try:
        r = ms.recover(asked, 30, k=2, sigma=0.0, method="noiseless", m=30, seed=1, max_queries=budget)
    except ms.BudgetError:
        pytest.fail("60 answers are enough for a first estimate")
    assert r.queries == asked.count <= budget
