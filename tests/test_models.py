"""As many models as there are: the frugal method finds their number, their shares, and the models."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.frugal import result
from mixsense.methods.frugal.model_checks import Check
from mixsense.regression.starts import left_out, merged, simplex, splits

SHARES = {1: None, 2: (0.65, 0.35), 3: (0.5, 0.3, 0.2), 4: None}


def world(models, seed, n=30, k=3, gap=6.0, shares=None):
    truth = ms.random_models(models, n, k, gap, seed=seed) if models > 1 else ms.random_pair(n, k, gap, seed=seed)[:1]
    return truth, ms.SimulatedOracle(truth, 1.0, weights=shares, seed=seed + 100)


@pytest.mark.parametrize("models", [1, 2, 3, 4])
def test_the_number_of_models_is_found(models):
    for seed in range(2):
        truth, oracle = world(models, seed, shares=SHARES[models])
        r = ms.recover(oracle, 30, gamma=0.3, seed=seed, max_queries=4000)
        assert len(r.vectors) == models
        assert r.status == ("single" if models == 1 else "certified")
        assert ms.match_error(r.vectors, truth) < 0.3
        if SHARES[models]:
            assert (np.diff(r.weights) <= 0).all()  # the largest first
            assert (np.abs(r.weights - SHARES[models]) < 4 * r.weights_stderr).all()


@pytest.mark.slow
@pytest.mark.parametrize("models", [2, 3])
def test_in_a_box_with_levels(models):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth, level = 1.5 * rng.standard_normal((models, 6)), 2 * rng.standard_normal(models)

        def oracle(queries, repeats, truth=truth, level=level, rng=rng):
            own = rng.integers(len(truth), size=(len(queries), repeats))
            return (queries @ truth.T + level)[np.arange(len(queries))[:, None], own] + 0.5 * rng.standard_normal(
                own.shape
            )

        r = ms.recover(oracle, 6, gamma=0.4, box=[(-1, 1)] * 6, intercept=True, seed=seed, max_queries=3000)
        assert r.status == "certified"
        found, true = (np.column_stack(each) for each in ((r.intercept, r.vectors), (level, truth)))
        assert ms.match_error(found, true) < 0.4


def test_two_models_are_not_certified_where_three_answer():
    for seed in range(2):
        _, oracle = world(3, seed)
        r = ms.recover(oracle, 30, gamma=0.3, models=2, seed=seed, max_queries=1500)
        assert r.status in ("uncertain", "budget")
        assert r.status == "budget" or any('models="auto"' in text for text in r.diagnostics["warnings"])


def test_more_models_than_are_looked_for_are_not_certified():
    # The seventh passed for lapses.
    rng = np.random.default_rng([0, 77])
    vectors = np.zeros((7, 4))
    level = 0.5 * rng.standard_normal(7)
    for row in vectors:
        row[rng.choice(4, 2, replace=False)] = 1.5 * rng.standard_normal(2)

    def oracle(X, repeats):
        X = np.repeat(X, repeats, axis=0)
        model = rng.integers(7, size=len(X))
        return (level[model] + (X * vectors[model]).sum(axis=1) + 0.3 * rng.standard_normal(len(X))).reshape(
            -1, repeats
        )

    r = ms.recover(oracle, 4, gamma=0.3, box=[(-1, 1)] * 4, intercept=True, max_queries=3000, seed=0)
    assert r.status in ("uncertain", "budget")
    assert r.status == "budget" or "more than 6 models" in r.diagnostics["warnings"][0]


def test_two_values_that_depend_on_the_query_are_not_two_constants():
    rng = np.random.default_rng(1)

    def oracle(X, repeats):  # yes or no, with log-odds 2 x0 − x1
        return (rng.random((len(X), repeats)) < 1 / (1 + np.exp(X[:, [1]] - 2 * X[:, [0]]))).astype(float)

    r = ms.recover(oracle, 4, gamma=0.3, box=[(-1, 1)] * 4, intercept=True, seed=1)
    assert r.status == "uncertain"
    assert 'check "levels" failed' in r.diagnostics["warnings"][0]


def test_three_models_are_doubted_where_two_answer():
    _, oracle = world(2, 0)
    r = ms.recover(oracle, 30, gamma=0.3, models=3, seed=0, max_queries=1500)
    assert len(r.vectors) == 3
    assert r.status != "certified"


def test_one_model_is_doubted_where_two_answer():
    _, oracle = world(2, 0)
    r = ms.recover(oracle, 30, gamma=0.3, models=1, seed=0, max_queries=800)
    assert r.vectors.shape == (1, 30)
    assert r.status not in ("certified", "single")


def test_given_shares_keep_their_order():
    truth, oracle = world(3, 1, shares=(0.2, 0.5, 0.3))
    r = ms.recover(oracle, 30, gamma=0.3, weights=(0.2, 0.5, 0.3), sigma=1.0, seed=1, max_queries=3000)
    assert r.weights.tolist() == [0.2, 0.5, 0.3]
    assert r.weights_stderr is None
    assert np.linalg.norm(r.vectors - truth, axis=1).max() < 0.3


def test_the_corners_of_a_simplex_are_alike():
    for models in (2, 3, 5):
        corners = simplex(models)
        np.testing.assert_allclose(np.linalg.norm(corners, axis=1), 1)
        np.testing.assert_allclose(corners.sum(axis=0), 0, atol=1e-12)
        angles = (corners @ corners.T)[~np.eye(models, dtype=bool)]
        np.testing.assert_allclose(angles, -1 / (models - 1))


def test_models_are_split_where_their_residuals_spread():
    rng = np.random.default_rng(0)
    X, own = rng.standard_normal((4000, 5)), rng.integers(3, size=4000)
    truth = np.array([[8.0, 0, 0, 0, 0], [0, 2.0, 0, 0, 0], [0, -2.0, 0, 0, 0]])
    y = np.einsum("ij,ij->i", X, truth[own]) + 0.1 * rng.standard_normal(4000)
    found = splits(X, y, np.array([[8.0, 0, 0, 0, 0], [0.0, 0, 0, 0, 0]]), np.minimum(own, 1))
    # The second start splits the model 0, which owns the answers of the second and of the third.
    assert [start.shape for start in found] == [(3, 5), (3, 5)]
    assert ms.match_error(found[1], truth) < 0.2


def test_models_are_merged_and_left_out():
    beta = np.array([[1.0, 0.0], [5.0, 5.0], [2.0, 0.0]])
    assert merged(beta, np.array([0.25, 0.5, 0.25])).tolist() == [[5.0, 5.0], [1.5, 0.0]]
    assert [start.tolist() for start in left_out(beta[:2])] == [[[5.0, 5.0]], [[1.0, 0.0]]]


def test_shares_that_were_given_as_equal_stay_so():
    """Two models that differ in one feature are found by a start of its own, which has shares of its own."""
    beta = np.array([[1.0, 0.8, 0.0, -0.6], [1.0, -1.0, 0.0, -0.6]])
    rng = np.random.default_rng(4)

    def oracle(queries, repeats):
        X = np.repeat(np.column_stack([np.ones(len(queries)), queries]), repeats, axis=0)
        own = beta[rng.integers(2, size=len(X))]
        return (np.einsum("ij,ij->i", X, own) + 0.3 * rng.standard_normal(len(X))).reshape(len(queries), repeats)

    r = ms.recover(oracle, 3, gamma=0.3, box=[(-1, 1)] * 3, intercept=True, weights="equal", max_queries=1500, seed=4)
    assert r.status == "certified"
    assert r.weights.tolist() == [0.5, 0.5]


def three_of_which(seed, shares, close):
    """Three models of 20 features without a box, σ = 0.3; the third is close to the first, or far from both."""
    rng = np.random.default_rng([seed, 97])
    beta = np.where(rng.random((3, 20)) < 0.5, 1.5 * rng.standard_normal((3, 20)), 0.0)
    if close:
        beta[2] = beta[0]
        beta[2, rng.choice(20, 2, replace=False)] += 0.7 * rng.choice([-1.0, 1.0], 2)
    return beta, ms.SimulatedOracle(beta, sigma=0.3, weights=shares, seed=[seed, 98])


@pytest.mark.parametrize(
    ("shares", "close"),
    [
        # 4 of 5 such runs were certified as two models, of which one was the mean of two 1 apart.
        pytest.param((0.4, 0.4, 0.2), True, id="two of them close"),
        # 7 of 7 such runs were certified as two models, and the answers of the third taken for nonsense.
        pytest.param((0.6, 0.33, 0.07), False, id="one of them seldom"),
    ],
)
def test_a_third_model_that_is_close_or_seldom_is_not_passed_over(shares, close):
    for seed in range(3):
        beta, oracle = three_of_which(seed, shares, close)
        r = ms.recover(oracle, 20, gamma=0.3, max_queries=3000, seed=[seed, 99])
        assert r.status != "certified" or (len(r.vectors) == 3 and ms.match_error(r.vectors, beta) < 0.3)


def box_oracle(beta, rng, sigma, shares=None, answer=lambda value: value):
    """Answer queries in a box; the first coefficient of each model is its level."""

    def oracle(X, repeats):
        rows = np.repeat(np.column_stack([np.ones(len(X)), X]), repeats, axis=0)
        own = rng.choice(len(beta), len(rows), p=shares)
        value = (rows @ beta.T)[np.arange(len(rows)), own] + sigma * rng.standard_normal(len(rows))
        return answer(value).reshape(len(X), repeats)

    return oracle


@pytest.mark.slow
def test_two_models_that_differ_in_one_feature_are_not_merged_on_ratings():
    # All of these runs were certified with two of the three models merged, and errors of 0.5, as 14 of 14 were.
    for seed in (500, 501, 502):
        rng = np.random.default_rng(seed)
        beta = 0.6 * rng.standard_normal((3, 7)) * (rng.random((3, 7)) < 0.6)
        beta[:, 0] += 3
        beta[2] = beta[1]
        beta[2, 1] += 0.9
        oracle = box_oracle(beta, rng, 0.5, answer=lambda value: np.clip(np.round(value), 1, 5))
        given = {"box": [(-1, 1)] * 6, "intercept": True, "scale": ms.Rating(1, 5)}
        r = ms.recover(oracle, 6, gamma=0.4, seed=seed, max_queries=1000, **given)
        found = np.column_stack([r.intercept, r.vectors])
        away = np.linalg.norm(found[:, None] - beta, axis=2)
        assert r.status != "certified" or max(away.min(axis=0).max(), away.min(axis=1).max()) < 0.4


def test_one_model_that_was_asked_for_is_contradicted_by_two():
    # Two models 2.4 σ apart in one feature, equally often: 20 of 20 runs are uncertain.
    for seed in (500, 501):
        rng = np.random.default_rng(seed)
        beta = np.tile(1.5 * rng.standard_normal(5), (2, 1))
        beta[1, 1] += 0.72
        given = {"box": [(-1, 1)] * 4, "intercept": True, "models": 1}
        r = ms.recover(box_oracle(beta, rng, 0.3), 4, gamma=0.3, seed=seed, max_queries=3000, **given)
        assert r.status == "uncertain"
        assert any('models="auto"' in text for text in r.diagnostics["warnings"])


def noisy(truth, seldom, noise, seed):
    """An oracle of which the second model gives a small share of the answers."""
    rng = np.random.default_rng([seed, 1])

    def oracle(queries, repeats):
        own = (rng.random((len(queries), repeats)) < seldom).astype(int)
        return np.einsum("ij,irj->ir", queries, truth[own]) + noise(rng, own.shape)

    return oracle


@pytest.mark.slow
def test_one_model_is_not_shown_twice_because_of_the_shape_of_its_noise():
    truth, given = ms.random_models(2, 6, 2, 8.0, seed=77), {"gamma": None, "max_queries": 1200, "seed": [77, 3]}
    heavy = [
        ms.recover(
            noisy(truth, 0.012, lambda rng, size: rng.standard_t(3, size) / np.sqrt(3), 77), 6, models=models, **given
        )
        for models in ("auto", 2)
    ]
    assert [len(r.vectors) for r in heavy] == [1, 2]
    assert [r.status for r in heavy] == ["uncertain", "uncertain"]
    assert "are explained best by one with a noise of another shape" in heavy[0].diagnostics["warnings"][-1]


@pytest.mark.parametrize(
    ("share", "answers", "evidence", "failed", "shown"),
    [
        (0.03, 9000, 50.0, {"lapses": 9.0}, False),  # 3 % ± 1 % may be 2 %
        (0.05, 9000, 50.0, {"lapses": 9.0}, True),
        (0.05, 9000, 50.0, {"tails": 60.0}, False),  # the answers speak more for tails
        (0.05, 9000, 50.0, {"tails": 9.0}, True),
        (0.03, 9000, 50.0, {"squares": 9.0}, False),  # those of outliers bend with a feature, or not
        (0.05, 9000, 5.0, {"squares": 9.0}, True),  # nothing about outliers
        (0.15, 390, 50.0, {"gate": 9.0}, False),  # 6 coefficients from 58 answers
        (0.15, 410, 50.0, {"gate": 9.0}, True),
        (0.16, 300, 50.0, {"gate": 9.0}, True),
        (0.40, 9000, 50.0, {"shape": 6.0}, False),
        (0.40, 9000, 50.0, {"shape": 4.0}, True),  # two are the more probable by themselves
    ],
)
def test_a_model_of_outliers_is_not_shown_where_a_check_failed(monkeypatch, share, answers, evidence, failed, shown):
    monkeypatch.setattr(result, "shares_stderr", lambda data, fit: np.full(2, 0.01))
    one, shares = SimpleNamespace(L=1), np.array([1 - share, share])
    two = SimpleNamespace(L=2, weights=shares, inclusion=np.full((2, 6), 1.0), answers=answers)
    candidates = SimpleNamespace(winner=two, one=one, fits={1: [one], 2: [two]}, evidence=evidence)
    checks = [Check(name, nats, None, 0.0) for name, nats in failed.items()]
    for models, free_weights, level in (
        (None, True, False),
        (None, True, True),
        (2, True, False),
        (None, False, False),
    ):
        setup = SimpleNamespace(models=models, free_weights=free_weights, level=level)
        report = SimpleNamespace(setup=setup, answers=SimpleNamespace(data=None))
        text = result.Report._of_outliers(report, candidates, checks)
        assert (text is None) == (shown or models == 2 or not free_weights)
        assert text is None or "models=2 shows" in text


def test_a_rare_model_is_shown_where_nothing_else_speaks_against_it():
    truth, given = ms.random_models(2, 6, 2, 8.0, seed=5), {"gamma": None, "max_queries": 1200, "seed": [5, 3]}
    gaussian = ms.recover(noisy(truth, 0.012, lambda rng, size: rng.standard_normal(size), 5), 6, **given)
    assert len(gaussian.vectors) == 2
    assert "one share is 0.0" in gaussian.diagnostics["warnings"][-1]
