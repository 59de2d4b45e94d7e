"""The front door: seeds, options, budget, unknown noise."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.registry import ENTRIES, entry_of

PAIR = ms.random_pair(30, 2, gap=5.0, seed=1)
FIXED = {"n": 30, "k": 2, "sigma": 1.0, "m": 40, "batch": 60, "method": "paper"}


def oracle(seed=2, sigma=1.0):
    return ms.SimulatedOracle(PAIR, sigma=sigma, seed=seed)


def test_same_seed_same_result_to_the_last_bit():
    first, second, other = (ms.recover(oracle(), **FIXED, seed=s) for s in (3, 3, 4))
    assert first.to_json() == second.to_json()
    assert first.to_json() != other.to_json()


def test_a_drawn_seed_is_reported_and_reproduces_the_run():
    first = ms.recover(oracle(), **FIXED)
    assert ms.recover(oracle(), **FIXED, seed=first.diagnostics["seed"]) == first


@pytest.mark.parametrize("budget", [1, 2399, 2400, 2401, 7079, 7080, 10**6])
def test_the_budget_holds_to_the_answer(budget):
    asked = oracle()
    if budget < 2400:  # the first round: 40 queries, 60 times each
        with pytest.raises(ms.BudgetError):
            ms.recover(asked, **FIXED, seed=3, max_queries=budget)
        assert asked.count == 0
    else:
        r = ms.recover(asked, **FIXED, seed=3, max_queries=budget)
        assert r.queries == asked.count <= budget
        assert (r.status == "budget") == (budget < 7080)  # and 39 sums, 39 differences


def test_any_callable_is_an_oracle():
    asked = oracle()
    assert ms.recover(lambda queries, repeats: asked(queries, repeats).tolist(), **FIXED, seed=3).queries == 7080


def test_unknown_noise_is_measured():
    # σ̂ has relative standard error 1/√(2·2000) = 1.6 %; five of them.
    r = ms.recover(oracle(sigma=0.5), 30, k=2, m=40, batch=100, seed=3, method="paper")
    assert r.sigma == pytest.approx(0.5, rel=0.08)
    assert r.queries == 2000 + 118 * 100
    assert ms.match_error(r.vectors, PAIR) < 0.5


def test_unknown_noise_that_is_none_ends_exactly():
    for method, gamma in (("frugal", 0.1), ("frugal", 0.0), ("paper", 0.1)):
        r = ms.recover(oracle(sigma=0.0), 30, k=2, gamma=gamma, seed=3, method=method)
        assert (r.status, r.error_bound, r.sigma) == ("certified", 0.0, 0.0)
        assert ms.match_error(r.vectors, PAIR) < 1e-8


@pytest.mark.parametrize("method", ["frugal", "noiseless"])
def test_where_there_is_no_noise_the_precision_may_be_zero(method):
    r = ms.recover(oracle(sigma=0.0), 30, gamma=0, k=2, sigma=0, seed=3, method=method)
    assert (r.status, r.error_bound) == ("certified", 0.0)
    assert ms.match_error(r.vectors, PAIR) < 1e-8


def test_every_method_names_its_options():
    for name in ("paper", "single", "noiseless"):
        assert {"m", "constants", "decoder"} <= set(entry_of(name).options)
    for entry in ENTRIES.values():  # what is registered is what the function takes
        takes = list(inspect.signature(entry.make).parameters)[2:]
        assert [name for name in takes if name != "box"] == list(entry.options)
    assert entry_of("frugal").options == ("steer", "design", "snr")


def test_progress_hook_is_called():
    seen = []
    r = ms.recover(oracle(), **FIXED, seed=3, progress=seen.append)
    assert seen[-1].asked == r.queries


def test_theory_is_refused_before_it_ruins_anyone():
    asked = oracle()
    with pytest.raises(ms.BudgetError, match=r"needs .* answers"):
        ms.recover(asked, 30, k=2, sigma=1.0, constants="theory", seed=3, method="paper")
    assert asked.count == 0


def test_replay_of_a_whole_run_gives_the_same_result():
    asked, record = oracle(), []

    def recording(queries, repeats):
        answers = asked(queries, repeats)
        record.append((queries, answers))
        return answers

    first = ms.recover(recording, **FIXED, seed=3)
    assert ms.recover(ms.ReplayOracle(record), **FIXED, seed=3) == first
    with pytest.raises(ms.OracleError, match="run with the seed"):
        ms.recover(ms.ReplayOracle(record), **FIXED, seed=4)


def test_vectors_are_finite_and_typed():
    r = ms.recover(oracle(), **FIXED, seed=3)
    assert r.vectors.shape == (2, 30)
    assert r.vectors.dtype == np.float64
    assert np.isfinite(r.vectors).all()


def test_ctrl_c_carries_the_answers_and_the_seed():
    oracle = ms.SimulatedOracle(ms.random_pair(20, 2, gap=5.0, seed=1), seed=2)

    def impatient(queries, repeats):
        if oracle.count > 60:
            raise KeyboardInterrupt
        return oracle(queries, repeats)

    with pytest.raises(KeyboardInterrupt) as stop:
        ms.recover(impatient, 20, gamma=0.3)
    rest = ms.recover(ms.ReplayOracle(stop.value.record, then=oracle), 20, gamma=0.3, seed=stop.value.seed)
    assert rest.status == "certified"
    assert rest.queries == oracle.count


@pytest.mark.parametrize("method", ["frugal", "single"])
def test_a_noise_below_the_digits_of_the_answers_keeps_them(method):
    with pytest.raises(
        ms.InvalidInput, match=r"an answer is [\d.]+, and sigma 1e-15: .* in the unit of the answers"
    ) as no:
        ms.recover(oracle(), 30, gamma=0.1, k=2, sigma=1e-15, method=method, seed=3)
    assert sum(len(part) for part in no.value.record) > 0
