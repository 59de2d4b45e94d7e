"""Noise of each model its own, lapses, ratings and groups: fits to data."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.regression.candidates import Expected
from mixsense.regression.data import Data
from mixsense.regression.renewal import renew
from mixsense.scales.lapses import Lapses

KNOWN = {"weights": None, "free_sigma": True, "free_weights": True}


def world(N, seed, sigma=0.5, gap=3.0, n=10, block=1):
    """Models (2, n), rows, answers, and groups if there are any."""
    beta, rng = ms.random_pair(n, 4, gap, seed=[seed, 0]), np.random.default_rng([seed, 1])
    X, group = rng.standard_normal((N, n)), np.arange(N) // block
    label = rng.integers(2, size=N)[group * block]
    y = np.einsum("ij,ij->i", X, beta[label]) + np.broadcast_to(sigma, 2)[label] * rng.standard_normal(N)
    return beta, X, y, None if block == 1 else group


def found(X, y, seed, models=2, sigma=1.0, **parts):
    expected = Expected(sigma=sigma, models=models, rate=0.4, **KNOWN)
    return renew(None, Data(X, y, **parts), expected, np.random.default_rng([seed, 2]), 6, more=models is None)


@pytest.mark.parametrize("seed", range(3))
def test_each_model_has_its_own_noise_where_the_answers_ask_for_it(seed):
    beta, X, y, _ = world(600, seed, sigma=(0.3, 1.2))
    fit = found(X, y, seed, models=None).winner
    # The standard error of σ is σ/√(2 · 300), 0.05 for the larger one; five of them.
    assert fit.L == 2
    assert sorted(fit.noise) == pytest.approx([0.3, 1.2], abs=0.25)
    assert ms.match_error(fit.beta, beta) < 0.4
    assert found(*world(600, seed)[1:3], seed).several.sigmas is None


@pytest.mark.parametrize("seed", range(3))
def test_lapses_are_found_and_hardly_hurt(seed):
    beta, X, y, _ = world(500, seed)
    rng = np.random.default_rng(seed)
    spoilt = np.where(rng.random(500) < 0.1, rng.uniform(y.min(), y.max(), 500), y)
    fit, clean = found(X, spoilt, seed, models=None).winner, found(X, y, seed).several
    assert isinstance(fit.scale, Lapses)
    # 50 lapses of 500; a part of them cannot be told from honest answers. Their share has a standard error of 0.013.
    assert 0.04 < fit.scale.share < 0.16
    assert fit.L == 2
    assert fit.sigma == pytest.approx(0.5, abs=0.1)
    assert ms.match_error(fit.beta, beta) < 2 * max(ms.match_error(clean.beta, beta), 0.1)
    assert clean.scale is None


def test_ratings_at_the_ends_are_intervals():
    rating, errors, ends = ms.Rating(-3, 3), np.zeros(3), 0.0
    for seed in range(3):
        beta, X, y, _ = world(500, seed, gap=3.0)
        answers = rating.answer(y)
        ends += (np.abs(answers) == 3).mean() / 3
        fits = found(X, answers, seed, scale=rating), found(X, np.round(y), seed), found(X, answers, seed)
        errors += [ms.match_error(fit.several.beta, beta) for fit in fits]
    as_intervals, unbounded, as_numbers = errors
    assert ends > 0.15
    # Answers at an end, a quarter of all, tell less: with none of their information the error were 15 % larger; three
    # runs have a standard error of about 20 % of it.
    assert as_intervals < 1.75 * unbounded
    assert as_numbers > 2 * as_intervals


def test_groups_tell_models_apart_that_single_answers_do_not():
    beta, X, y, group = world(1000, 1, sigma=1.0, gap=1.0, n=20, block=10)
    linked, single = found(X, y, 1, group=group), found(X, y, 1)
    assert linked.evidence > 10 > single.evidence
    assert ms.match_error(linked.several.beta, beta) < 2.5 * ms.limits.tagged(
        beta, 1.0, 1000
    )  # which knows the supports


def test_noise_that_is_known_of_each_model_goes_with_it():
    beta, X, y, _ = world(600, 4, sigma=(0.3, 1.2))
    for sigmas, order in ((np.array([0.3, 1.2]), [0, 1]), (np.array([1.2, 0.3]), [1, 0])):
        expected = Expected(
            sigma=0.9, sigmas=sigmas, models=2, rate=0.4, weights=None, free_sigma=False, free_weights=True
        )
        fit = renew(None, Data(X, y), expected, np.random.default_rng(0), 6, more=False).several
        assert np.array_equal(fit.noise, sigmas)
        assert np.linalg.norm(fit.beta - beta[order], axis=1).max() < 0.4
