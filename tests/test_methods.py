"""The paper's methods at the edges of what they promise; their theorems are in test_paper.py."""

from __future__ import annotations

import math
from types import SimpleNamespace

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


# -- another decoder -------------------------------------------------------------------------------------


def matching_pursuit(A, b, radius):
    """Orthogonal matching pursuit: the column that fits the residual best, until the residual is below the radius."""
    chosen, z = [], np.zeros(A.shape[1])
    while np.linalg.norm(b - A @ z) > max(radius, 1e-10) and len(chosen) < 2:
        chosen.append(int(np.abs(A.T @ (b - A @ z)).argmax()))
        z[chosen] = np.linalg.lstsq(A[:, chosen], b, rcond=None)[0]
    return SimpleNamespace(value=z)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("paper", {"m": 60, "batch": 200, "sigma": 1.0}),
        ("paper", {"gamma": 0.45, "sigma": 1.0}),
        ("single", {"m": 60, "batch": 200, "sigma": 1.0}),
        ("noiseless", {"sigma": 0.0}),
    ],
)
def test_the_paper_decodes_with_a_function_of_the_users(method, options):
    given = {"n": 30, "k": 2, "method": method, "seed": 3} | options
    found = ms.recover(oracle(sigma=given["sigma"]), **given, decoder=matching_pursuit)
    usual = ms.recover(oracle(sigma=given["sigma"]), **given)
    assert found.queries == usual.queries  # decoding comes last
    # The error bound is that of basis pursuit: with another decoder nothing is promised.
    assert (found.status, found.error_bound) == ("uncertain", np.inf)
    assert "the decoder is not basis pursuit" in found.diagnostics["warnings"][-1]
    assert (np.count_nonzero(found.vectors, axis=1) <= 2).all()
    if method == "single":
        assert np.linalg.norm(found.vectors[0] - PAIR.mean(axis=0)) < 5 / 2
    else:
        assert np.array_equal(found.vectors != 0, PAIR[:: 1 if matches(found, PAIR) else -1] != 0)
        assert ms.match_error(found.vectors, PAIR) < max(1e-8, 0.4 * given["sigma"])


def matches(r, pair):
    return np.linalg.norm(r.vectors - pair) < np.linalg.norm(r.vectors - pair[::-1])


def test_a_decoder_may_be_named():
    given = {"n": 30, "k": 2, "sigma": 1.0, "m": 40, "batch": 60, "method": "paper", "seed": 3}
    usual = ms.recover(oracle(), **given)
    for decoder in ("basis_pursuit", "mixsense.decode:basis_pursuit", ms.decode.basis_pursuit):
        assert ms.recover(oracle(), **given, decoder=decoder) == usual


@pytest.mark.parametrize(
    ("decoder", "words"),
    [
        ("lasso", "decoder is 'lasso': give 'basis_pursuit', a function (A, b, radius), or one as module:function"),
        (3, "decoder is 3: give"),
        ("mixsense.decode:lasso", "mixsense.decode has no callable 'lasso'"),
        ("no_such_module:solve", "the decoder's module 'no_such_module' cannot be imported"),
    ],
)
def test_a_decoder_that_is_none_is_refused_before_anything_is_asked(decoder, words):
    for method in ("paper", "single", "noiseless"):
        asked = oracle(sigma=0.0)
        given = {"k": 2, "sigma": None if method == "noiseless" else 1.0, "method": method}
        with pytest.raises(ms.InvalidInput) as caught:
            ms.recover(asked, 30, **given, decoder=decoder)
        assert words in str(caught.value)
        assert asked.count == 0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda A: np.zeros(3), "the decoder's value has shape (3,): it must be 30 finite numbers"),
        (lambda A: np.full(A.shape[1], np.nan), "it must be 30 finite numbers"),
        (lambda A: "nothing", "the decoder's value is 'nothing': it must be real numbers"),
    ],
)
def test_what_a_decoder_returns_is_checked_and_no_answer_is_lost(value, words):
    asked = oracle()
    given = {"k": 2, "sigma": 1.0, "m": 10, "batch": 5, "method": "single"}
    with pytest.raises(ms.InvalidInput) as caught:
        ms.recover(asked, 30, **given, decoder=lambda A, b, radius: SimpleNamespace(value=value(A)))
    assert words in str(caught.value)
    assert sum(map(len, caught.value.record)) == asked.count == 50
    with pytest.raises(
        ms.InvalidInput, match="the decoder returned ndarray: it must return an object with the vector as"
    ):
        ms.recover(asked, 30, **given, decoder=lambda A, b, radius: np.zeros(30))


@pytest.mark.parametrize("change", [np.tanh, np.square, np.abs, lambda y: y + 1.0], ids=["tanh", "square", "abs", "+1"])
def test_one_vector_without_noise_is_verified_by_new_queries(change):
    """Any m answers are those of some vector of n, as long as there are no more of them."""
    vector = ms.random_pair(30, 3, 5.0, seed=1)[0]
    r = ms.recover(
        lambda queries, repeats: np.repeat(change(queries @ vector)[:, None], repeats, axis=1),
        *(30, 0.1, 3, 0.0),
        method="noiseless",
        seed=1,
    )
    assert r.status == "uncertain"
    assert r.diagnostics["warnings"]
