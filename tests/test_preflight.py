"""The preflight: one real service on loopback for each behaviour."""

from __future__ import annotations

import json
import random
import re
import threading

import numpy as np
import pytest

import mixsense as ms
from http_service import MODELS, Service, two_models
from mixsense.oracles.preflight import Preflight, cost, preflight
from mixsense.oracles.preflight.line_tests import alike_by_caller
from mixsense.oracles.preflight.tuning import CALLERS, LOOKS, PLACES, REPEATS, SIGNIFICANCE, VISITS


def test_the_block_of_a_stored_preflight_is_kept():
    assert Preflight.from_dict(Preflight((), 7, block=5).to_dict()) == Preflight((), 7, block=5)
    assert Preflight.from_dict({"requests": 7, "verdicts": []}).block == 1  # of an older version


def look(behave, scale=None, **options):
    # One request at a time: the order, and so each random number, is always the same.
    with Service(behave) as service, ms.HTTPOracle(service.url, concurrency=1, **options) as oracle:
        report = preflight(oracle, 12, [(-1, 1)] * 6 + [(0, 10)] * 6, seed=1, scale=scale)
        asked = len(service.calls)
        if report.verdicts[0].level == "ok":
            assert report.requests == asked <= cost(oracle)
    assert Preflight.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    for verdict in report.verdicts:
        assert f"{verdict.level:<8} {verdict.name}" in report.summary()
    return {verdict.name: verdict.level for verdict in report.verdicts}, report


FAR = np.zeros((2, 12))
FAR[0, [0, 3]], FAR[1, [0, 7]] = (4.0, 2.0), (-3.0, 0.5)
GOOD = dict.fromkeys(("answers", "noise", "cached", "constant", "linear", "models", "sticky", "level"), "ok")


@pytest.mark.parametrize("sigma", [0.3, 0.0])
def test_preflight_likes_a_mixture_of_linear_models(sigma):
    score = two_models(3, FAR, sigma)
    levels, report = look(lambda call: score(call.x))
    assert levels == GOOD, report.summary()
    assert ("two exact values" in report["noise"].text) == (sigma == 0)


@pytest.mark.parametrize(("sigma", "curve", "words"), [(0.3, 12.0, "not linear models"), (10.0, 30.0, "bend by")])
def test_preflight_sees_curvature(sigma, curve, words):
    score = two_models(3, FAR, sigma)
    levels, report = look(lambda call: score(call.x) + curve * call.x[3] ** 2)
    assert levels["linear"] == "problem"
    assert words in report["linear"].text


@pytest.mark.parametrize("sigma", [0.3, 0.0])
def test_preflight_sees_clipping(sigma):
    score = two_models(3, FAR, sigma)
    levels, report = look(lambda call: np.clip(score(call.x), -3, 3))
    assert levels["linear"] == "problem"
    assert "exactly" in report["linear"].text


def test_preflight_sees_saturation():
    score, noise = two_models(3, FAR, 0.0), random.Random(4)
    levels, report = look(lambda call: np.tanh(score(call.x) / 2) + noise.gauss(0.0, 0.01))
    assert levels["linear"] == "problem"
    assert "not linear models" in report["linear"].text


@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_preflight_of_probabilities_says_that_the_answer_is_to_be_transformed(noise):
    score, rng = two_models(3, FAR, 0.0), random.Random(4)
    levels, report = look(lambda call: 0.99 / (1 + np.exp(-score(call.x) / 2)) + rng.uniform(0, noise))
    assert levels["linear"] == "problem"
    assert "give scale='probability' (--scale probability)" in report["linear"].text


def by_caller(caller_of, cookie=False):
    """Route each caller to one model for good."""
    models, rng, lock = {}, random.Random(5), threading.Lock()

    def behave(call):
        caller = caller_of(call)
        with lock:
            if caller is None:
                caller = f"c{call.number}"
            i = models.setdefault(caller, rng.randrange(2))
            y = float(FAR[i] @ call.x) + rng.gauss(0.0, 0.1)
        return 200, {"Set-Cookie": f"who={caller}"} if cookie else {}, json.dumps({"y": y}).encode()

    return behave


def test_preflight_sees_stickiness_by_connection_and_its_cure():
    levels, report = look(by_caller(lambda call: call.connection), fresh=False)
    assert levels["sticky"] == "problem"
    assert "--new-connections" in report["sticky"].text
    levels, report = look(by_caller(lambda call: call.connection))
    assert levels == GOOD | {"sticky": "note"}, report.summary()


@pytest.mark.parametrize(("shares", "gap", "least"), [((0.7, 0.3), 2.0, 15), ((0.9, 0.1), 5.0, 15)])
def test_callers_who_are_always_sent_to_one_model_are_seen(shares, gap, least):
    # Seen nine times in ten, or more: less than 15 of 20 in 1 % of the cases.
    rng = np.random.default_rng(71)
    drawn = rng.choice(2, (20, PLACES, LOOKS * CALLERS, 1), p=shares)
    answers = gap * drawn + rng.standard_normal((20, PLACES, LOOKS * CALLERS, VISITS))
    assert sum(alike_by_caller(y, rng) < SIGNIFICANCE / LOOKS for y in answers) >= least
    mixed = rng.permuted(answers.reshape(20, PLACES, -1), axis=2).reshape(answers.shape)
    # Routed one by one: 20 p-values below 0.00033 come once in 150 times.
    assert not any(alike_by_caller(y, rng) < SIGNIFICANCE / LOOKS for y in mixed)


def test_what_is_not_seen_over_kept_connections_is_said():
    levels, report = look(by_caller(lambda call: "everybody"), fresh=False)
    assert levels["sticky"] == "note"
    assert "kept connections" in report["sticky"].text


def test_preflight_sees_stickiness_by_cookie():
    cookie = by_caller(lambda call: (call.headers["Cookie"] or "who=").partition("=")[2] or None, cookie=True)
    levels, report = look(cookie)
    assert levels == GOOD | {"sticky": "note"}, report.summary()
    assert "cookie" in report["sticky"].text
    assert report["sticky"].text.endswith("answers are labelled better, shares known less well")


def test_preflight_says_that_one_model_is_all_it_sees():
    levels, report = look(by_caller(lambda call: "everybody"))
    assert levels == GOOD | {"models": "note"}, report.summary()
    levels, report = look(lambda call: FAR[0] @ call.x)
    assert levels == GOOD | {"models": "note", "noise": "note", "cached": "note"}, report.summary()


@pytest.mark.parametrize("sigma", [0.3, 0.0])
def test_preflight_sees_a_cache(sigma):
    score, known = two_models(3, FAR, sigma), {}
    levels, report = look(lambda call: known.setdefault(call.x.tobytes(), score(call.x)))
    told = {name: level for name, level in GOOD.items() if name != "level"}  # of stored answers the level is not seen
    assert levels == told | {"cached": "problem", "noise": "note"}, report.summary()


def with_constants(sigma, *constants):
    """Answer with one of two models, each with a constant of its own."""
    rng, lock = random.Random(8), threading.Lock()

    def behave(call):
        with lock:
            i = rng.randrange(2)
            return float(FAR[i] @ call.x) + constants[i] + rng.gauss(0.0, sigma)

    return behave


@pytest.mark.parametrize("sigma", [0.3, 0.0])
def test_preflight_sees_constants_that_nobody_asked_for(sigma):
    levels, report = look(with_constants(sigma, 3.0, 2.0))
    assert levels == GOOD | {"level": "problem"}, report.summary()
    words = r"the answers at x = 0 are about (2\.\d+|3), not 0: give intercept=True \(--intercept\)"
    assert re.fullmatch(words, report["level"].text)


@pytest.mark.parametrize(
    ("box", "intercept"), [([(-1, 1)] * 12, True), ([(1, 5)] + [(-1, 1)] * 11, False), ([(-3, -1)] * 12, False)]
)
def test_the_level_is_tested_only_where_it_has_to_be_0_and_can_be_asked(box, intercept):
    with Service(with_constants(0.3, 3.0, 2.0)) as service, ms.HTTPOracle(service.url, concurrency=1) as oracle:
        report = preflight(oracle, 12, box, seed=1, intercept=intercept)
        assert not any((call.x == 0).all() for call in service.calls[1:])
    assert "level" not in {verdict.name for verdict in report.verdicts}
    assert not report.problems, report.summary()


def test_x_is_exactly_0_where_the_level_is_tested():
    with Service(with_constants(0.3, 0.0, 0.0)) as service, ms.HTTPOracle(service.url, concurrency=1) as oracle:
        report = preflight(oracle, 12, [(-0.1, 0.7)] * 12, seed=1)
        assert sum(bool((call.x == 0).all()) for call in service.calls) == REPEATS
    assert report["level"].level == "ok"


def test_without_a_box_a_constant_needs_one():
    oracle = ms.SimulatedOracle(np.eye(2, 4), 0.1, seed=1)
    report = preflight(lambda X, repeats: oracle(X, repeats) + 3.0, 4, seed=2)
    assert report["level"].text.endswith(", not 0: give a box and intercept=True (--box, --intercept)")


def test_the_level_of_answers_on_a_scale_is_that_of_the_value_behind_them():
    score = with_constants(0.1, 1.0, 1.0)
    levels, report = look(lambda call: 1 / (1 + np.exp(-score(call))), scale=ms.Probability())
    assert levels["level"] == "problem"
    assert "the values behind the answers at x = 0 are about 1" in report["level"].text
    score = two_models(3, FAR, 0.3)
    levels, report = look(lambda call: np.clip(np.round(score(call.x)), 0, 7), scale=ms.Rating(0, 7))
    assert (levels["level"], "at an end of their scale" in report["level"].text) == ("note", True)


def test_preflight_sees_a_constant():
    levels, _ = look(lambda call: 0.5)
    assert levels["constant"] == "problem"
    noise = random.Random(6)
    levels, report = look(lambda call: noise.gauss(0.5, 1.0))
    assert levels["constant"] == "problem"
    assert "linear" not in levels
    assert "beyond their noise" in report["constant"].text


def test_preflight_of_an_endpoint_that_fails():
    levels, report = look(lambda call: (500, {}, b"no model is loaded"), retries=1)
    assert levels == {"answers": "problem"}
    assert "no model is loaded" in report["answers"].text


def test_preflight_rarely_speaks_against_a_mixture():
    # Each verdict errs with probability 0.001; 40 oracles × 3 verdicts: two or more false alarms in 0.7 % of all seeds.
    alarms = 0
    for seed in range(40):
        gap, sigma, share = (1.0, 5.0, 20.0)[seed % 3], (0.0, 0.1, 1.0)[seed // 3 % 3], (0.5, 0.9)[seed % 2]
        L = (2, 3, 5)[seed // 9 % 3]
        models = ms.random_models(L, 12, 3, gap=max(gap, 5 * sigma), seed=seed)
        oracle = ms.SimulatedOracle(models, sigma, (share, *[(1 - share) / (L - 1)] * (L - 1)), seed=seed)
        report = preflight(oracle, 12, seed=seed)
        alarms += sum(verdict.name != "constant" for verdict in report.problems)
        assert report["constant"].level == "ok"
    assert alarms <= 1


def test_preflight_checks_its_box():
    with pytest.raises(ms.InvalidInput, match="low must be below high"):
        preflight(ms.SimulatedOracle(MODELS), 12, [(1, 0)] * 12)


def probability_of(seed, digits=None, steep=1.0):
    score = two_models(seed, FAR, 0.02)

    def behave(call):
        p = 1 / (1 + np.exp(-steep * score(call.x)))
        return p if digits is None else round(p, digits)

    return behave


@pytest.mark.parametrize("digits", [None, 5])
def test_preflight_of_probabilities_on_their_scale_is_content(digits):
    levels, report = look(probability_of(3, digits))
    assert levels["linear"] == "problem"
    assert "--scale probability" in report["linear"].text
    levels, report = look(probability_of(3, digits), scale={"scale": "probability"})
    assert levels == GOOD, report.summary()


def test_preflight_of_probabilities_that_hardly_bend_names_their_scale():
    levels, report = look(probability_of(3, steep=0.05))
    assert levels["linear"] == "ok"
    assert "if they are probabilities" in report["linear"].text


def test_preflight_of_ratings_on_their_scale_does_not_test_what_is_cut():
    score = two_models(3, FAR, 0.3)
    levels, report = look(lambda call: np.clip(np.round(4 + score(call.x)), 1, 7))
    assert "if they are ratings, give their ends (--scale rating=1:7)" in report["linear"].text
    levels, report = look(lambda call: np.clip(np.round(4 + score(call.x)), 1, 7), scale=ms.Rating(1, 7))
    assert (levels["linear"], levels["answers"]) == ("note", "ok"), report.summary()
    assert "at the ends of their scale" in report["linear"].text


def test_preflight_of_answers_that_the_scale_does_not_have():
    score = two_models(3, FAR, 0.3)
    levels, report = look(lambda call: score(call.x), scale=ms.Probability())
    assert levels == {"answers": "problem"}
    assert "probabilities are between 0 and 1" in report["answers"].text
