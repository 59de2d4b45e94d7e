"""What a recovery is used for: predictions, who answered, effects, a data frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mixsense as ms

VECTORS = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 0.5]])
NAMES = ("a", "b", "c")
R = ms.Recovery(
    VECTORS,
    "budget",
    sigma=np.array([0.5, 1.0]),
    weights=[0.75, 0.25],
    stderr=np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.2]]),
    intercept=[1.0, -1.0],
    intercept_stderr=[0.1, 0.3],
    names=NAMES,
    diagnostics={"half_ranges": [2.0, 1.0, 0.5]},
)


def test_each_model_predicts_and_the_shares_weigh_them():
    found = R.predict(np.eye(3))
    assert np.allclose(found.mean, VECTORS.T + R.intercept)
    assert np.allclose(found.overall, found.mean @ [0.75, 0.25])
    assert np.allclose(R.predict(pd.DataFrame(np.eye(3), columns=["c", "b", "a"])).mean, found.mean[::-1])


def test_intervals_are_as_wide_as_the_errors_say():
    found = R.predict([2.0, 0.0, 0.0], level=0.95)
    # Model 1: variance 0.1² · 4 + 0.1² of the intercept; an answer has 0.5² besides.
    half = 1.96 * np.sqrt(0.05)
    assert found.interval[0, 0] == pytest.approx([3 - half, 3 + half], abs=1e-4)
    assert np.ptp(found.answers[0, 0]) == pytest.approx(2 * 1.96 * np.sqrt(0.05 + 0.25), rel=1e-4)
    assert np.ptp(R.predict([2.0, 0.0, 0.0], level=0.5).interval[0, 0]) < 0.4 * 2 * half


def test_a_covariance_is_used_where_there_is_one():
    # Slope and intercept that go against each other: at x = 1 the errors cancel.
    C = np.array([[[0.04, -0.04], [-0.04, 0.04]]])
    r = ms.Recovery([[1.0]], "single", sigma=0.1, intercept=[0.0], covariance=C, stderr=[[0.2]], intercept_stderr=[0.2])
    assert np.ptp(r.predict([[1.0]]).interval) == pytest.approx(0, abs=1e-9)
    assert np.ptp(r.predict([[0.0]]).interval) == pytest.approx(2 * 1.96 * 0.2, rel=1e-3)
    assert ms.Recovery.from_json(r.to_json()) == r


def test_without_standard_errors_there_is_no_interval():
    assert np.isnan(ms.Recovery(VECTORS, "certified", sigma=1.0).predict(np.ones(3)).interval).all()


def test_noise_of_each_model_is_stored_and_checked():
    back = ms.Recovery.from_json(R.to_json())
    assert back == R
    assert back.sigma.tolist() == [0.5, 1.0]
    with pytest.raises(ms.InvalidInput, match="sigma has shape"):
        ms.Recovery(VECTORS, "budget", sigma=[1.0, 2.0, 3.0])
    with pytest.raises(ms.InvalidInput, match="sigma has a value below 0"):
        ms.Recovery(VECTORS, "budget", sigma=[1.0, -2.0])


def test_responsibilities_are_those_of_the_likelihood():
    X, y = np.array([[1.0, 1.0, 0.0]]), np.array([1.0])
    # Means 2 and −2; densities times shares, by hand.
    p = 0.75 / 0.5 * np.exp(-0.5 * (1 / 0.5) ** 2), 0.25 / 1.0 * np.exp(-0.5 * 3**2)
    assert R.responsibilities(X, y)[0] == pytest.approx(np.array(p) / sum(p))


def test_a_group_has_one_responsibility_with_its_share_counted_once():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 3)), rng.standard_normal(6)
    P = R.responsibilities(X, y, groups=[0, 0, 0, 1, 1, 2])
    assert np.allclose(P[0], P[1])
    alone = R.responsibilities(X, y)
    assert np.allclose(P[5], alone[5])
    product = alone[3] * alone[4] / R.weights
    assert np.allclose(P[3], product / product.sum())


def test_responsibilities_need_answers_and_noise():
    with pytest.raises(ms.InvalidInput, match=r"y\[1\] is missing"):
        R.responsibilities(np.eye(3), [1.0, None, 2.0])
    with pytest.raises(ms.InvalidInput, match="the noise is 0 or not known"):
        ms.Recovery(VECTORS, "certified").responsibilities(np.eye(3), [1.0, 2.0, 3.0])


def test_effects_are_those_of_half_a_range():
    assert {name: effect.tolist() for name, effect in R.effects().items()} == {
        "a": [2.0, 0.0],
        "b": [0.0, -1.0],
        "c": [1.0, 0.25],
    }
    with pytest.raises(ms.InvalidInput, match="the ranges of the features are not known"):
        ms.Recovery(VECTORS, "certified").effects()


@pytest.mark.parametrize("half", [5, "abc", ["a", "b", "c"], [1, 2], [[1, 2, 3]], [1, 2, None], {"a": 1}])
def test_ranges_that_are_none_are_one_line(half):
    r = ms.Recovery(VECTORS, "certified", diagnostics={"half_ranges": half, "notes": half})
    with pytest.raises(ms.InvalidInput, match="the ranges of the features are not known"):
        ms.Recovery.from_json(r.to_json()).effects()
    assert "note: " in r.summary()


def test_a_box_gives_effects_too():
    oracle = ms.SimulatedOracle([[1.0, 0.0], [0.0, -2.0]], sigma=0.1, seed=1)
    r = ms.recover(oracle, 2, gamma=0.5, box=[(-2, 2), (-1, 1)], seed=2)
    half = np.array([2.0, 1.0])
    assert np.allclose(np.stack(list(r.effects().values()), axis=1), r.vectors * half)


def test_a_frame_has_a_row_for_each_coefficient_of_each_model():
    frame = R.to_frame()
    assert len(frame) == 8
    assert [*frame.columns] == ["model", "share", "coefficient", "value", "stderr", "low", "high"]
    row = frame[(frame.model == 2) & (frame.coefficient == "(intercept)")].iloc[0]
    assert (row.value, row.stderr, row.share) == (-1.0, 0.3, 0.25)
    assert row.low == pytest.approx(-1 - 1.96 * 0.3, abs=1e-3)
    assert [*ms.Recovery(VECTORS, "budget").to_frame().coefficient] == [0, 1, 2] * 2


def test_a_recovery_in_a_box_knows_how_its_errors_go_together():
    vectors, level = np.array([[0.5, 0.0, -0.3], [-0.2, 0.05, 0.4]]), np.array([1.0, -2.0])
    box, shares, sigma, N = np.array([(0.0, 10.0), (60.0, 95.0), (1.0, 7.0)]), np.array([0.7, 0.3]), 0.5, 150
    missed = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 9])

        def ask(X, repeats, rng=rng):
            means = (X @ vectors.T + level)[:, None, :].repeat(repeats, axis=1)
            who = rng.choice(2, (len(X), repeats, 1), p=shares)
            return np.take_along_axis(means, who, axis=2)[..., 0] + sigma * rng.standard_normal((len(X), repeats))

        r = ms.recover(ask, 3, gamma=None, max_queries=N, box=box, intercept=True, seed=seed)
        middle = r.predict(box.mean(axis=1))
        # Were all labels known: σ/√(N w). Labels that are in doubt cost less than half of the answers here.
        half = np.ptp(middle.interval[0], axis=1) / 2
        least = 1.96 * sigma / np.sqrt(N * shares)
        assert np.all((0.7 * least < half) & (half < 1.6 * least)), half / least
        assert np.allclose(np.diagonal(r.covariance, axis1=1, axis2=2)[:, 3], r.intercept_stderr**2)
        missed.append((middle.mean[0] - vectors @ box.mean(axis=1) - level) / half)
    # The sum of 8 squares of standard normal variables is above 26.1 once in 1,000 times.
    assert ((1.96 * np.array(missed)) ** 2).sum() < 26.1
    again = ms.Recovery.from_json(r.to_json())
    assert np.array_equal(again.covariance, r.covariance)
