"""Tests of the model on answers that the fit has not seen."""

from __future__ import annotations

import numpy as np

import mixsense as ms
from mixed_answers import fit, mixed_answers
from mixsense.methods.frugal.model_checks import (
    StageChecks,
    explain_misfit,
    outlier_share,
    probability_transform,
    uniform_p_value,
)

PAIR = ms.random_pair(30, 3, gap=8.0, seed=3)


def fitted():
    X, y = mixed_answers(PAIR, 800, 1)
    return fit(X, y, PAIR, 1.0, np.array([0.5, 0.5]), 0.1, 0.1)


def test_unseen_answers_are_uniform_if_the_model_holds():
    X, y = mixed_answers(PAIR, 1000, 2)
    assert uniform_p_value(probability_transform(X, y, fitted())) > 1e-3
    assert uniform_p_value(probability_transform(X, y + 0.5, fitted())) < 1e-3


def test_p_values_are_uniform_under_the_hypothesis():
    # 1,000 tests at level 0.05: between 0.05 ± 4·√(0.05·0.95/1000) = 0.05 ± 0.028.
    rng = np.random.default_rng(0)
    rejected = np.mean([uniform_p_value(rng.random(80)) < 0.05 for _ in range(1000)])
    assert 0.022 < rejected < 0.078


def test_outliers_are_counted():
    X, y = mixed_answers(PAIR, 1000, 2)
    assert outlier_share(X, y, fitted()) < 0.002
    y = y.copy()
    y[:50] += 100
    assert 0.045 < outlier_share(X, y, fitted()) < 0.055


def test_a_misfit_is_explained():
    X, y = mixed_answers(PAIR, 2000, 2)
    rng = np.random.default_rng(1)
    assert "linearly" in explain_misfit(X, y + 0.2 * y**2, fitted())
    assert "heavy tails" in explain_misfit(X, y + rng.standard_t(3, 2000), fitted())
    assert "skewed" in explain_misfit(X, y + rng.exponential(2, 2000) - 2, fitted())


def test_a_surprising_stage_is_doubted_and_early_stages_are_forgiven():
    checks, (X, y) = StageChecks(), mixed_answers(PAIR, 600, 2)
    assert not checks.doubt
    assert checks.p_value == 1.0
    checks.add(X[:200], y[:200] + 5, fitted())
    assert checks.doubt
    assert checks.p_value < 1e-3
    for part in (slice(200, 400), slice(400, 600)):
        checks.add(X[part], y[part], fitted())
    assert not checks.doubt
    assert checks.p_value > 1e-3  # the later half of three stages are the last two
