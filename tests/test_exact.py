"""Answers without noise: exact models from small steps around one point, and nothing certified that is not exact."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.frugal.model_checks import label_checks
from mixsense.regression.data import Data
from mixsense.regression.exact import clusters, shortest, sparsest


def mixed(vectors, seed, weights=None, change=None):
    """An oracle without noise; `change` is done to its answers."""
    rng, vectors = np.random.default_rng(seed), np.asarray(vectors)

    def oracle(queries, repeats):
        label = rng.choice(len(vectors), (len(queries), repeats), p=weights)
        y = np.take_along_axis(queries @ vectors.T, label, axis=1)
        return y if change is None else change(y, label)

    return oracle


def around(n, m, seed, step=1e-4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n) + step * rng.standard_normal((m, n))


@pytest.mark.parametrize(("n", "k", "m"), [(20, 2, 12), (100, 5, 34), (30, 30, 33)])
def test_a_vector_is_found_from_few_equations(n, k, m):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        beta = np.zeros(n)
        beta[rng.choice(n, k, replace=False)] = rng.standard_normal(k)
        X = around(n, m, seed)
        np.testing.assert_allclose(sparsest(X, X @ beta), beta, atol=1e-9)


def test_answers_of_two_models_are_no_vector():
    X = around(20, 40, 1)
    y = X @ ms.random_pair(20, 2, 3.0, seed=1).T
    assert sparsest(X, np.where(np.arange(40) % 2, y[:, 0], y[:, 1])) is None
    assert sparsest(X[:8], X[:8] @ np.arange(20.0)) is None  # any eight answers are explained by some vector
    np.testing.assert_allclose(X[:8] @ shortest(X[:8], X[:8] @ np.arange(20.0)), X[:8] @ np.arange(20.0), atol=1e-6)


def test_a_tiny_coefficient_is_not_left_out():
    X, beta = around(20, 15, 2), np.zeros(20)
    beta[[3, 8]] = 1.0, 1e-6
    np.testing.assert_allclose(sparsest(X, X @ beta), beta, atol=1e-10)


def test_clusters_are_parted_where_neighbours_are_far_apart():
    assert clusters(np.array([5.0, 1.0, 1.1, 5.2]), 1.0).tolist() == [1, 0, 0, 1]
    assert clusters(np.array([]), 1.0).size == 0


@pytest.mark.parametrize(
    ("L", "n", "k", "most", "given"),
    [
        (2, 20, 2, 60, {}),
        (2, 100, 5, 90, {}),
        (2, 100, 5, 90, {"models": 2, "weights": "equal"}),
        (2, 100, 5, 120, {"sigma": None}),
        (3, 60, 4, 150, {}),
        (2, 15, 15, 100, {}),
    ],
)
def test_models_without_noise_are_exact_after_few_answers(L, n, k, most, given):
    for seed in range(3):
        vectors = ms.random_models(L, n, k, 5.0, seed=seed)
        r = ms.recover(mixed(vectors, seed), n, seed=seed, **{"gamma": 0, "sigma": 0, **given})
        assert (r.status, r.error_bound, r.queries <= most) == ("certified", 0.0, True)
        assert ms.match_error(r.vectors, vectors) < 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_a_large_coefficient_that_models_share_does_not_hide_their_difference(seed):
    pair = np.hstack([ms.random_pair(40, 4, gap=2.0, seed=seed), np.full((2, 1), 1e4)])
    r = ms.recover(ms.SimulatedOracle(pair, sigma=0.0, seed=seed), 41, gamma=0.1, sigma=0.0, max_queries=300, seed=seed)
    assert (r.status, ms.match_error(r.vectors, pair) <= 1e-4) == ("certified", True)


def test_no_noise_takes_fewer_answers_than_a_little():
    for seed in range(2):
        pair = ms.random_pair(40, 3, 5.0, seed=seed)
        quiet, noisy = (
            ms.recover(ms.SimulatedOracle(pair, sigma=sigma, seed=seed), 40, gamma=0.01, sigma=sigma, seed=seed)
            for sigma in (0.0, 0.001)
        )
        assert quiet.queries <= noisy.queries


@pytest.mark.parametrize("sigma", [0.0, None])
def test_a_box_with_an_intercept_is_exact(sigma):
    vectors = ms.random_pair(12, 3, 5.0, seed=1)
    oracle = mixed(vectors, 1, change=lambda y, label: y + 1.0 + label)
    r = ms.recover(oracle, 12, gamma=0, sigma=sigma, box=[(0, 4)] * 12, intercept=True, seed=1)
    assert (r.status, r.queries < 190) == ("certified", True)  # a hundred of them verify all of the box
    order = [0, 1] if r.intercept[0] < r.intercept[1] else [1, 0]
    np.testing.assert_allclose(r.vectors[order], vectors, atol=1e-8)
    np.testing.assert_allclose(r.intercept[order], [1.0, 2.0], atol=1e-8)


def test_a_constant_that_was_not_told_is_said():
    oracle = mixed(ms.random_pair(12, 3, 5.0, seed=1), 1, change=lambda y, label: y + 1.0)
    r = ms.recover(oracle, 12, gamma=0, sigma=0, box=[(0, 4)] * 12, seed=1)
    assert r.status == "uncertain"
    assert "not 0: give intercept=True" in r.summary()


def test_shares_are_counted_and_ordered():
    vectors = ms.random_pair(20, 2, 5.0, seed=3)
    r = ms.recover(mixed(vectors, 3, (0.2, 0.8)), 20, gamma=0, sigma=0, seed=3)
    np.testing.assert_allclose(r.vectors, vectors[::-1], atol=1e-8)  # the larger share first
    assert abs(r.weights[1] - 0.2) < 4 * r.weights_stderr[1]
    told = ms.recover(mixed(vectors, 3, (0.2, 0.8)), 20, gamma=0, sigma=0, weights=(0.2, 0.8), seed=3)
    np.testing.assert_allclose(told.vectors, vectors, atol=1e-8)


@pytest.mark.parametrize(("models", "rows"), [("auto", 1), (2, 2)])
def test_one_model_is_single(models, rows):
    vector = ms.random_pair(20, 2, 5.0, seed=1)[:1]
    r = ms.recover(mixed(vector, 1), 20, gamma=0, sigma=0, models=models, seed=1)
    assert (r.status, r.vectors.shape) == ("single", (rows, 20))
    np.testing.assert_allclose(r.vectors[0], vector[0], atol=1e-8)


def test_another_number_of_models_than_told_is_uncertain():
    r = ms.recover(mixed(ms.random_pair(20, 2, 5.0, seed=1), 1), 20, gamma=0, sigma=0, models=3, seed=1)
    assert (r.status, len(r.vectors)) == ("uncertain", 2)
    assert 'from 2 models, and models is 3: give models="auto"' in r.summary()


@pytest.mark.parametrize(
    "change",
    [
        lambda y, label: np.tanh(y / 5),
        lambda y, label: np.abs(y),
        lambda y, label: np.round(y, 2),
        lambda y, label: np.where(np.abs(y) > 1, y, 0.0),
    ],
    ids=["tanh", "absolute", "rounded", "cut"],
)
def test_answers_that_are_not_exactly_linear_are_not_exact(change):
    oracle = mixed(ms.random_pair(8, 2, 5.0, seed=1), 1, change=change)
    with pytest.raises(ms.ModelError, match="the answers are rounded, or not linear in the queries"):
        ms.recover(oracle, 8, gamma=0, sigma=0, seed=1)
    r = ms.recover(oracle, 8, gamma=None, sigma=0, max_queries=150, seed=1)
    assert r.status in ("budget", "uncertain")


def test_noise_is_no_precision_of_0():
    oracle = ms.SimulatedOracle(ms.random_pair(20, 2, 5.0, seed=1), seed=1)
    with pytest.raises(ms.ModelError, match=r"gamma is 0, and the answers have noise \(about 0\.\d+|1\.\d+\)"):
        ms.recover(oracle, 20, gamma=0, seed=1)


def test_models_that_hold_around_one_point_only_are_not_certified():
    pair, third = ms.random_pair(8, 2, 5.0, seed=1), np.arange(8.0)
    inner = mixed(pair, 1)

    def oracle(queries, repeats):
        return np.where(queries[:, :1] > 0, (queries @ third)[:, None], inner(queries, repeats))

    for seed in range(3):
        with pytest.raises(ms.ModelError, match="not linear"):
            ms.recover(oracle, 8, gamma=0, sigma=0, seed=seed)


@pytest.mark.parametrize("budget", [3, 10, 20, 40])
def test_a_budget_is_kept(budget):
    pair = ms.random_pair(100, 5, 5.0, seed=1)
    r = ms.recover(mixed(pair, 1), 100, gamma=None, sigma=0, max_queries=budget, seed=1)
    assert (r.status, r.queries) == ("budget", budget)


@pytest.mark.parametrize(
    "change",
    [
        lambda y, label: y + 1e-12 * np.random.default_rng(1).standard_normal(y.shape),
        lambda y, label: np.round(y, 6),
        lambda y, label: y.astype(np.float32).astype(float),
    ],
    ids=["noise below rounding", "six decimals", "single precision"],
)
def test_answers_that_are_nearly_exact_are_recovered_to_rounding(change):
    n, rng = 12, np.random.default_rng(2)
    beta = np.column_stack([ms.random_pair(n, 6, 5.0, seed=2), rng.standard_normal(2)])
    inner = mixed(beta, 3, change=change)

    def oracle(queries, repeats):
        return inner(np.column_stack([queries, np.ones(len(queries))]), repeats)

    r = ms.recover(oracle, n, gamma=0.3, box=[(0.0, 10.0)] * n, intercept=True, seed=2)
    found = np.column_stack([r.vectors, r.intercept])
    assert r.status == "certified"
    assert r.queries <= 250
    assert ms.match_error(found, beta) < 1e-6 * np.abs(beta).max()
    assert (np.abs(r.sigma) < 1e-4).all()  # the noise of the answers, not the one that was worked with


def test_coefficients_with_few_digits_are_exact_too():
    n, beta = 6, np.array([[1.0, 0.5, 0, 0, 0, 0, 2.0], [0, 0, 3.0, 0, -1.5, 0, 1.0]])
    inner = mixed(beta, 1)
    r = ms.recover(
        lambda x, repeats: inner(np.column_stack([x, np.ones(len(x))]), repeats),
        n,
        box=[(0, 10)] * n,
        intercept=True,
        seed=1,
    )
    assert r.diagnostics["exact"]
    np.testing.assert_allclose(ms.match_error(np.column_stack([r.vectors, r.intercept]), beta), 0.0, atol=1e-8)


PIECES = {
    "a kink": lambda Z, m: np.maximum(m, 0.3),
    "a distance": lambda Z, m: m + np.abs(Z[:, 0]),
    "a surcharge": lambda Z, m: m + (Z[:, 1] > 0.2),
    "two together": lambda Z, m: m + ((Z[:, 0] > 0.5) & (Z[:, 1] > 0.5)),
    "an end": lambda Z, m: np.clip(m, -1.0, 1.0),
    "the larger of two": lambda Z, m: np.maximum(m, 1.0 - Z[:, 2]),
}


@pytest.mark.parametrize("whole", [False, True], ids=["numbers", "whole numbers"])
@pytest.mark.parametrize("piece", PIECES)
def test_a_function_that_is_linear_in_pieces_is_no_mixture(piece, whole):
    """Each piece explains its answers exactly, as a model would, but the query decides which one answers."""

    def oracle(cases, repeats):
        X = np.array([list(case.values()) for case in cases]) if whole else np.asarray(cases)
        Z = X / 5 - 1
        return np.repeat(PIECES[piece](Z, 0.2 + Z @ [1.0, -1.5, 0.7])[:, None], repeats, axis=1)

    names = ["price", "size", "age"]
    given = {"features": [ms.Integer(name, 0, 10) for name in names]} if whole else {"box": [(0, 10)] * 3}
    r = ms.recover(oracle, 3, gamma=0.1, intercept=True, max_queries=1500, seed=1, **given)
    assert r.status in ("uncertain", "budget")


def test_a_rule_and_answers_in_a_row_are_told():
    X, rng = np.random.default_rng(1).uniform(-1, 1, (300, 4)), np.random.default_rng(2)
    names, chance = ["a", "b", "c"], rng.integers(2, size=300)
    rows = np.column_stack([np.ones(300), X[:, :3]])

    def failed(label):
        checks = label_checks(Data(rows, label.astype(float)), label, True, names)
        return {check.name: check.what for check in checks if check.failed}

    assert not failed(chance)
    assert not failed(np.where(rng.random(300) < 0.08, 2, chance))
    assert "depends on b" in failed((X[:, 1] > 0.5).astype(int))["gate"]
    assert "depends on b" in failed(np.where((rng.random(300) < 0.16) & (X[:, 1] > 0), 2, chance))["gate"]
    assert "depends on c" in failed((np.abs(X[:, 2]) > 0.5).astype(int))["gate"]
    assert "after about 133 answers" in failed((np.arange(300) > 130).astype(int))["drift of the shares"]
    assert "linked" in failed(np.repeat(rng.integers(2, size=60), 5))
    twice = np.repeat(rows[:60], 5, axis=0)
    checks = label_checks(Data(twice, X[:, 3]), np.tile(rng.integers(2, size=60)[:, None], 5).ravel(), True, names)
    assert "repeats" in {check.name for check in checks if check.failed}


def test_models_that_are_drawn_by_chance_fail_no_check_too_often():
    """Four checks at 0.125 %: of 400 worlds more than 7 fail with probability 0.2 %."""
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(400):
        rows = np.column_stack([np.ones(160), rng.uniform(-1, 1, (160, 5))])
        label = rng.choice(3, 160, p=[0.6, 0.3, 0.1])
        checks = label_checks(Data(rows, label.astype(float)), label, True, list("abcde"))
        wrong += any(check.failed for check in checks)
    assert wrong <= 7
