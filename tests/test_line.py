"""Three models on the line through two."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.regression.data import Data
from mixsense.regression.fit import climb, finish
from mixsense.regression.line import three_on_a_line

SIGMA, N = 0.3, 400


def corners_and_answers(models, seed, scale=None, group=None):
    """Return answers to corners of a box of six features; the first column is the level."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(N), rng.choice([-1.0, 1.0], (N, 6))])
    own = rng.integers(0, len(models), N)
    own = own if group is None else own[group]
    y = (X * models[own]).sum(axis=1) + SIGMA * rng.standard_normal(N)
    return Data(X, y if scale is None else scale.answer(y), group=group, scale=scale)


def fitted(data, models, free_sigma=True):
    weights = np.full(len(models), 1 / len(models))
    return finish(climb(data, models, SIGMA, weights, 0.9, 0.9, free_sigma=free_sigma), "")


BASE = np.array([1.0, -0.8, 0.6, 0.9, 0.0, 0.0, 0.0])
SCALE = ms.Rating(-4, 4, 0.5)
GROUP = np.repeat(np.arange(N // 2), 2)


@pytest.mark.parametrize(("scale", "group"), [(None, None), (SCALE, None), (None, GROUP)])
def test_three_scaled_copies_are_seen_behind_two(scale, group):
    copies = np.stack([1.5 * BASE, 1.125 * BASE, 0.75 * BASE])
    for seed in range(5):
        data = corners_and_answers(copies, seed, scale, group)
        fit = fitted(data, np.stack([1.4 * BASE, 0.85 * BASE]))
        line = three_on_a_line(data, fit, 0, 1, free_sigma=True)
        assert line.odds > 0.05  # ratings tell least: 0.17, where the others have 10⁵ and more
        assert 0.1 < line.error / np.linalg.norm(BASE) < 0.6  # the middle one is between the two, 0.75 apart at most


@pytest.mark.parametrize(("scale", "group"), [(None, None), (SCALE, None), (None, GROUP)])
def test_two_models_are_two(scale, group):
    pair = np.stack([1.5 * BASE, 0.75 * BASE])
    for seed in range(5):
        data = corners_and_answers(pair, seed, scale, group)
        assert three_on_a_line(data, fitted(data, pair), 0, 1, free_sigma=True).odds < 0.2  # log N is 6 nats


def test_heavy_tails_are_no_model_that_answers_seldom():
    """Student's t with 5 degrees of freedom: models of 1 % had a median of e^29 for odds, where 2 % are the least."""
    pair, odds = np.stack([1.5 * BASE, -1.5 * BASE]), []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = np.column_stack([np.ones(8000), rng.choice([-1.0, 1.0], (8000, 6))])
        y = (X * pair[rng.integers(0, 2, 8000)]).sum(axis=1) + SIGMA * np.sqrt(0.6) * rng.standard_t(5, 8000)
        data = Data(X, y)
        odds.append(three_on_a_line(data, fitted(data, pair), 0, 1, free_sigma=True).odds)
    assert np.log(np.median(odds)) < 10


def test_a_model_beside_the_line_stays_where_it_is():
    beside = np.array([-1.0, 0.0, 0.0, 0.0, 1.5, -1.0, 0.5])
    three = np.stack([1.5 * BASE, 0.75 * BASE, beside])
    four = np.stack([1.5 * BASE, 1.125 * BASE, 0.75 * BASE, beside])
    honest, merged = (corners_and_answers(models, 7) for models in (three, four))
    assert three_on_a_line(honest, fitted(honest, three), 0, 1, free_sigma=True).odds < 0.2
    assert three_on_a_line(merged, fitted(merged, three), 0, 1, free_sigma=True).odds > 1


@pytest.mark.slow
def test_scaled_copies_are_not_certified_as_two():
    # Without the look for a line 7 of 44 such certificates were wrong; the chance that none of 8 is was 25 % then, so
    # the seeds are those on which it was wrong.
    for seed in (506, 510):
        rng = np.random.default_rng(seed)
        beta = np.r_[1.5 * rng.standard_normal(5), 0, 0] * np.array([[1.0], [0.75], [0.5]])

        def oracle(X, repeats, beta=beta, rng=rng):
            rows = np.repeat(np.column_stack([np.ones(len(X)), X]), repeats, axis=0)
            own = rng.choice(3, len(rows), p=None)
            return ((rows @ beta.T)[np.arange(len(rows)), own] + SIGMA * rng.standard_normal(len(rows))).reshape(
                len(X), -1
            )

        r = ms.recover(oracle, 6, gamma=0.3, box=[(-1, 1)] * 6, intercept=True, seed=seed, max_queries=1500)
        found = np.column_stack([r.intercept, r.vectors])
        away = np.linalg.norm(found[:, None] - beta, axis=2)
        assert r.status != "certified" or max(away.min(axis=0).max(), away.min(axis=1).max()) < 0.3
