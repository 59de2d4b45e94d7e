"""Scales: what one answer tells, and how answers are made."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.scales import scale_of
from mixsense.scales.interval import interval_terms
from mixsense.scales.lapses import Lapses
from mixsense.scales.scale import real_terms

SCALES = {
    "rating": ms.Rating(1, 7),
    "halves": ms.Rating(-1, 4, 0.5),
    "cut": ms.Rating(1, 7, 0),
    "probability": ms.Probability(),
    "percent": ms.Probability(2),
    "lapses": Lapses(0.1, 12.0),
    "rating with lapses": Lapses(0.1, 6.0, ms.Rating(1, 7)),
}


def some_answers(scale):
    value = np.random.default_rng(0).normal(2.0, 2.5, 60)
    return scale.answer(value), np.random.default_rng(1).normal(2.0, 1.5, (60, 2))


@pytest.mark.parametrize("sigma", [0.7, np.array([0.4, 1.6])], ids=["common", "own"])
@pytest.mark.parametrize("name", SCALES)
def test_residual_curvature_and_square_are_derivatives(name, sigma):
    scale, step = SCALES[name], 1e-4
    y, mean = some_answers(scale)
    found = scale.terms(y, mean, sigma)
    up, down = scale.terms(y, mean + step, sigma), scale.terms(y, mean - step, sigma)
    assert np.allclose(found.residual, sigma**2 * (up.loglik - down.loglik) / (2 * step), atol=1e-5)
    assert np.allclose(found.curvature, -(up.residual - down.residual) / (2 * step), atol=1e-5)
    wider, narrower = (scale.terms(y, mean, sigma * np.exp(d)).loglik for d in (step, -step))
    assert np.allclose(found.square, sigma**2 * (1 + (wider - narrower) / (2 * step)), rtol=1e-4, atol=1e-4)


def test_all_answers_of_a_rating_have_probability_one():
    scale = ms.Rating(1, 7)
    total = np.exp(scale.terms(np.arange(1.0, 8.0), np.full((7, 1), 2.3), 1.4).loglik).sum()
    assert total == pytest.approx(1.0, abs=1e-12)


def test_a_narrow_interval_is_a_point():
    y, mean = np.array([0.3, -40.0]), np.array([[0.0], [1.0]])
    point = real_terms(y, mean, 1.0)
    for half in (0.4e-3, 0.6e-3):  # just below and just above what counts as narrow
        found = interval_terms(y - half, y + half, mean, 1.0)
        assert np.allclose(found.residual, point.residual, rtol=1e-6)
        assert np.allclose(found.loglik, point.loglik + np.log(2 * half), rtol=1e-6)


def test_far_ends_have_digits_left():
    # The mean of a normal beyond 40 σ is 40 + 1/40 − 2/40³ + …
    found = interval_terms(np.array([40.0, -np.inf]), np.array([np.inf, -40.0]), np.zeros((2, 1)), 1.0)
    assert np.allclose(found.residual[:, 0], [40.024968847, -40.024968847])


@pytest.mark.parametrize("name", ["rating", "halves", "cut", "probability", "percent"])
def test_predictions_are_mean_answers(name):
    scale, mean, sigma = SCALES[name], np.array([[0.5, 3.0], [6.5, 2.2]]), np.array([0.8, 1.5])
    value = mean + sigma * np.random.default_rng(0).standard_normal((40_000, 2, 2))
    answers = np.asarray(scale.answer(value))
    error = answers.std(axis=0) / np.sqrt(len(answers))
    rounding = 0.5 * 10.0**-2 if name == "percent" else 0.0  # predictions are not rounded
    assert (np.abs(scale.predict(mean, sigma) - answers.mean(axis=0)) < 4.5 * error + rounding).all()


def test_rounding_of_probabilities_is_found_in_the_answers():
    p = 1 / (1 + np.exp(-np.random.default_rng(0).normal(0, 2, 50)))
    low, high = ms.Probability().interval(np.round(p, 2))
    assert ((low <= np.log(p / (1 - p))) & (np.log(p / (1 - p)) <= high)).all()
    low, high = ms.Probability().interval(np.append(p, [0.0, 1.0]))
    assert np.array_equal(low[:50], high[:50])
    assert (low[50], high[51]) == (-np.inf, np.inf)


def test_the_step_of_a_rating_is_found_in_the_answers():
    scale = ms.Rating(1, 7, None)
    assert scale.interval(np.array([1.0, 3.0, 7.0]))[0].tolist() == [-np.inf, 2.5, 6.5]
    assert scale.interval(np.array([1.0, 3.2, 7.0]))[0].tolist() == [-np.inf, 3.2, 7.0]


@pytest.mark.parametrize("scale", [ms.Rating(1, 7), ms.Rating(0, 1, 0.25), ms.Probability(), ms.Probability(3)])
def test_a_scale_is_read_from_its_dict(scale):
    assert scale_of(scale.to_dict()) == scale
    assert ms.Problem(n=3, scale=scale.to_dict()).scale == scale
    assert ms.Problem.from_dict(ms.Problem(n=3, scale=scale, block=4).to_dict()).block == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("ratings", "scale is 'ratings'"),
        ({"scale": "rating"}, "range of a rating is None"),
        ({"scale": "rating", "range": [7, 1]}, "lower end first"),
        ({"scale": "rating", "range": [1, 7], "step": 0.7}, "whole number of steps"),
        ({"scale": "probability", "range": [0, 1]}, "has no 'range'"),
    ],
)
def test_what_is_no_scale_is_said_in_one_line(given, message):
    with pytest.raises(ms.InvalidInput, match=message) as caught:
        ms.Problem(n=3, scale=given)
    assert "\n" not in str(caught.value)


def test_answers_that_a_scale_does_not_have_are_refused():
    oracle = ms.SimulatedOracle(np.eye(2, 3), seed=0)
    with pytest.raises(ms.InvalidInput, match="the rating goes from 1 to 7 in steps of 1"):
        ms.recover(oracle, 3, scale=ms.Rating(1, 7), seed=0)
    with pytest.raises(ms.InvalidInput, match="probabilities are between 0 and 1"):
        ms.recover(oracle, 3, scale="probability", seed=0)


@pytest.mark.parametrize("arguments", [{"scale": ms.Rating(1, 7)}, {"block": 3}, {"sigma": [0.5, 1.5]}])
def test_methods_that_take_single_real_answers_say_so(arguments):
    oracle = ms.SimulatedOracle(np.eye(2, 9), seed=0)
    with pytest.raises(ms.InvalidInput, match=r"method 'paper' takes .*: use method='frugal'"):
        ms.recover(oracle, 9, k=1, method="paper", **arguments)


def test_a_block_of_a_simulation_comes_from_one_model():
    beta = np.array([[1.0], [-1.0]])
    y = ms.SimulatedOracle(beta, sigma=0.0, seed=1, block=5)(np.ones((400, 1)), 2).reshape(80, 5, 2)
    assert (y == y[:, :1]).all()
    assert 0.3 < (y[:, 0] > 0).mean() < 0.7
    asked = ms.SimulatedOracle(beta, sigma=0.0, seed=1).asked(np.ones((20, 1)), 2, 4)
    for number in np.unique(asked.group):
        assert (asked.group == number).sum() == 4
        assert np.ptp(asked.answers[asked.group == number]) == 0


def test_answers_of_a_simulation_are_on_its_scale():
    beta, X = 3 * np.eye(2), np.random.default_rng(0).standard_normal((300, 2))
    rated = ms.SimulatedOracle(beta, seed=1, scale=ms.Rating(-2, 2))(X, 1)
    real = ms.SimulatedOracle(beta, seed=1)(X, 1)
    assert np.array_equal(rated, np.clip(np.round(real), -2, 2))
    noise = ms.SimulatedOracle(np.zeros((2, 2)), sigma=[0.1, 10.0], seed=1)(X, 1)
    assert 0.3 < (np.abs(noise) < 0.5).mean() < 0.7
