"""How a budget is spent: what each coordinate lacks, how far queries are pushed."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.frugal.spending import lacking, spend, told_of_two, told_so_far
from mixsense.methods.frugal.tuning import LABELLING_SEPARATION, QUERY_ENERGY

N = 100


def two(gap, s=8):
    delta = np.zeros(N)
    delta[:s] = gap / np.sqrt(s)
    return np.stack([delta / 2, -delta / 2])


def chances(s=8):
    chance = np.full(N, 1e-3)
    chance[:s] = 1.0
    return chance


def test_what_is_lacking_brings_all_to_one_level():
    rng = np.random.default_rng(0)
    wanted, before = rng.uniform(0.01, 1, 50), rng.uniform(0, 5, 50)
    more = lacking(wanted, before, 40.0)
    level = (before + more)[more > 0] / wanted[more > 0]
    assert more.sum() == pytest.approx(40.0)
    assert level == pytest.approx(np.full(len(level), level[0]))
    assert (before[more == 0] / wanted[more == 0] >= level[0] - 1e-9).all()


def test_of_all_ways_to_spend_the_one_with_the_least_expected_error_is_taken():
    rng = np.random.default_rng(1)
    chance, before = rng.uniform(0.001, 1, 20), rng.uniform(0.1, 3, 20)
    least = (chance / (before + lacking(np.sqrt(chance), before, 10.0))).sum()
    for other in rng.dirichlet(np.full(20, 0.5), 300):
        assert (chance / (before + 10.0 * other)).sum() > least


@pytest.mark.parametrize("gap", [0.3, 1.0, 5.0, 50.0])
def test_queries_keep_their_energy_and_lie_on_what_was_found(gap):
    beta, rng = two(gap), np.random.default_rng(0)
    before = np.sqrt(2) * rng.standard_normal((200, N))
    plan = spend(chances(), before, beta, 1.0, left=800)
    X = plan.draw(4000, rng).X
    energy = (X**2).sum(axis=1).mean()
    # The mean squared norm of 4,000 queries, nearly all on 8 coordinates, has a standard error of √(2/8/4,000) = 0.8 %.
    assert 0.96 * QUERY_ENERGY * N <= energy <= QUERY_ENERGY * N * (1 + 1e-12)
    assert (X[:, :8] ** 2).sum() > 0.7 * (X**2).sum()
    assert plan.reach <= LABELLING_SEPARATION + 1e-9
    assert np.abs(X @ (beta[0] - beta[1])).min() >= 0.95 * plan.reach


def test_what_was_asked_little_so_far_gets_more():
    rng = np.random.default_rng(0)
    before = np.sqrt(2) * rng.standard_normal((400, N))
    before[:, 0] = 0
    sd = spend(chances(), before, two(5.0), 1.0, left=10).sd
    assert sd[0] > 1.5 * sd[1:8].max()
    assert (sd[8:] == 0).all()  # they have more than their share already


def test_an_end_is_sharper_than_a_beginning():
    before = np.zeros((1000, N))
    soon, late = (spend(chances(), before[:N_], two(5.0), 1.0, left=1000).sd for N_ in (1, 1000))
    assert late[8] / late[0] < 0.5 * soon[8] / soon[0]


def test_three_models_are_told_apart_by_the_best_draw():
    beta = ms.random_models(3, N, 4, 5.0, seed=1)
    before = np.sqrt(2) * np.random.default_rng(0).standard_normal((200, N))
    plan = spend(np.where(beta.any(axis=0), 1.0, 1e-3), before, beta, 1.0, left=400)
    assert plan.models is beta
    X = plan.draw(500, np.random.default_rng(1)).X
    assert (X[:, beta.any(axis=0)] ** 2).sum() > 0.8 * (X**2).sum()


def test_energy_counts_by_what_an_answer_tells():
    X = np.diag([1.0, 2.0, 0.0])
    beta = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert told_so_far(X, beta, 1.0) == pytest.approx([4 / 6, 0.0, 0.0])
    assert told_so_far(X, beta, 1.0, block=3)[1] > 0  # the others of a block label it


def test_untagged_answers_tell_what_the_untagged_limit_says():
    """Two models that differ in one direction: across it the information is that of the average over |⟨x, Δ⟩|."""
    gap, z = 3.0, np.linspace(-8, 8, 2001)
    part = told_of_two(np.repeat((gap * z) ** 2, np.round(1e4 * np.exp(-(z**2) / 2)).astype(int)))
    pair = np.zeros((2, 60))
    pair[:, :50] = 1.0
    pair[0, 0] += gap
    ratio = ms.limits.tagged(pair, 1.0, 1000) / ms.limits.untagged(pair, 1.0, 1000)
    # 49 of 50 coefficients of each model are across; the limits are means over 4,000 draws.
    assert np.sqrt(part) == pytest.approx(ratio, rel=0.02)
    assert told_of_two(np.array([1e4])) == pytest.approx(1.0, abs=2e-3)


def test_a_budget_ends_on_the_union_of_the_supports():
    pair, asked = ms.random_pair(60, 4, 5.0, seed=5), []
    oracle = ms.SimulatedOracle(pair, 1.0, seed=6)

    def listening(queries, repeats):
        asked.extend(queries)
        return oracle(queries, repeats)

    r = ms.recover(listening, 60, gamma=None, sigma=1.0, max_queries=1500, seed=7)
    last = np.array(asked)[-300:]
    assert (last[:, pair.any(axis=0)] ** 2).sum() > 0.75 * (last**2).sum()
    assert (np.array(asked) ** 2).sum(axis=1).mean() <= 2 * 60 * 1.02
    assert r.status == "budget"
    assert r.error_bound >= ms.match_error(r.vectors, pair)


BOX = {"box": [(-1, 1)] * 5, "intercept": True}


@pytest.mark.parametrize("answers", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "given",
    [{}, BOX, {"box": BOX["box"]}, BOX | {"models": 3}, BOX | {"scale": ms.Rating(1, 7)}, {"block": 2}],
    ids=["no box", "level", "box", "three", "ratings", "blocks"],
)
def test_a_budget_of_a_few_answers_is_spent_without_a_word(answers, given):
    hidden = ms.SimulatedOracle(ms.random_pair(5, 2, gap=5.0, seed=1), seed=2, block=given.get("block", 1))

    def rated(X, repeats):
        return np.clip(np.round(4 + hidden(X, repeats)), 1, 7)

    r = ms.recover(rated if "scale" in given else hidden, 5, max_queries=answers, seed=3, **given)
    assert (r.status, r.queries) == ("budget", answers)
    assert r.summary()
