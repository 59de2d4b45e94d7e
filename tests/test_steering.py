"""Focused and steered queries: their norms, and what they label."""

from __future__ import annotations

import numpy as np
import pytest

from mixsense.methods.design import gaussian
from mixsense.methods.frugal.steering import Steering, focus, steer
from mixsense.methods.frugal.tuning import LABELLING_SEPARATION, QUERY_ENERGY


@pytest.mark.parametrize("gap", [0.3, 1.0, 5.0, 50.0])
def test_steered_queries_keep_their_norm_and_label_their_answers(gap):
    n, rng = 100, np.random.default_rng(0)
    chance, delta = np.full(n, 1e-3), np.zeros(n)
    chance[:8] = 1.0
    delta[:8] = gap / np.sqrt(8)
    plan = steer(chance, np.stack([delta / 2, -delta / 2]), sigma=1.0)
    X = plan.draw(4000, rng).X
    assert (X**2).sum(axis=1).mean() <= QUERY_ENERGY * n * (1 + 1e-12)
    separation = np.abs(X @ delta)
    assert plan.reach <= LABELLING_SEPARATION + 1e-9
    # The push guarantees its reach, up to the common scaling that keeps the norm.
    assert separation.min() >= 0.9 * plan.reach
    assert separation.mean() > np.abs(gaussian(4000, n, rng) @ delta).mean()
    assert X[:, :8].var() > 4 * X[:, 8:].var()


@pytest.mark.parametrize("models", [2, 3])
def test_the_instrument_of_a_query_depends_on_no_answer(models):
    """Whatever was found, instrument times query has the mean that the floor says where the models have no say."""
    n, rng = 60, np.random.default_rng(0)
    beta = np.zeros((models, n))
    beta[:, :6] = rng.standard_normal((models, 6))
    chance = rng.uniform(1e-3, 1.0, n)
    plan = steer(chance, beta, 1.0, floors=(0.5,), found=12)
    X, weight = plan.draw(20_000, rng)
    assert (X**2).sum(axis=1).mean() <= QUERY_ENERGY * n * (1 + 1e-12)
    # (weight · x) x has mean floor = 1 and a standard deviation of √2: 1 % of it after 20,000 draws; five of these.
    assert (weight * X * X).mean(axis=0)[6:] == pytest.approx(np.full(n - 6, 1.0), abs=0.05)


def test_focus_spends_what_it_is_given():
    spread = focus(np.array([0.5, 0.1, 0.01]), 7.0)
    assert spread.sum() == pytest.approx(7.0)
    assert (np.diff(spread) < 0).all()


def test_unsteered_draw_is_gaussian():
    X = Steering(np.array([1.0, 2.0])).draw(50_000, np.random.default_rng(1)).X
    # Scaled down to a mean squared norm of 2n = 4 from 5; variances have standard error √(2/50,000) = 0.6 %.
    assert X.var(axis=0) == pytest.approx([0.8, 3.2], rel=0.03)
