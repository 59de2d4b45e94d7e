"""The limits against simulation: what the best possible estimates really reach."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mixsense as ms


def test_tagged_limit_is_what_least_squares_reaches():
    # 400 replications; the larger of two norms with five coefficients has a relative standard deviation of 0.25, its
    # mean 1.3 %; four of them, and 2 % for E[(XᵀX)⁻¹] = I/(N − k − 1) instead of I/N.
    rng = np.random.default_rng(0)
    pair = ms.random_pair(5, 5, gap=3.0, seed=1)
    N, worst = 600, []
    for _ in range(400):
        errors = []
        for beta in pair:
            X = rng.standard_normal((N // 2, 5))
            y = X @ beta + rng.standard_normal(N // 2)
            errors.append(np.linalg.norm(np.linalg.lstsq(X, y, rcond=None)[0] - beta))
        worst.append(max(errors))
    assert np.mean(worst) == pytest.approx(ms.limits.tagged(pair, 1.0, N), rel=0.07)


def test_focused_limit_is_what_least_squares_reaches_on_the_supports():
    # As above: 1.3 % standard error of the mean, four of them, and 2 % for the inverse of a random matrix.
    rng = np.random.default_rng(0)
    pair = ms.random_pair(40, 3, gap=3.0, seed=1)
    here = pair.any(axis=0)
    N, energy, worst = 600, 2 * 40 / here.sum(), []
    for _ in range(400):
        errors = []
        for beta in pair:
            X = rng.standard_normal((N // 2, 40)) * np.sqrt(energy) * here  # mean squared norm 2n
            y, own = X @ beta + rng.standard_normal(N // 2), beta != 0
            errors.append(np.linalg.norm(np.linalg.lstsq(X[:, own], y, rcond=None)[0] - beta[own]))
        worst.append(max(errors))
    assert np.mean(worst) == pytest.approx(ms.limits.focused(pair, 1.0, N), rel=0.07)
    assert ms.limits.focused(np.zeros((2, 3)), 1.0, N) == 0.0


def maximum_likelihood(X, y, beta):
    """EM from the truth: the maximum that an efficient estimate finds."""
    for _ in range(500):
        R = y[:, None] - X @ beta.T
        P = 1 / (1 + np.exp(np.clip(0.5 * (R[:, :1] ** 2 - R[:, 1:] ** 2), -700, 700)))
        new = np.stack([np.linalg.solve((X * p).T @ X, (X * p).T @ y) for p in (P, 1 - P)])
        if np.abs(new - beta).max() < 1e-7:
            break
        beta = new
    return beta


@pytest.mark.slow
@pytest.mark.parametrize(("gap", "N"), [(8.0, 1000), (2.0, 4000), (1.0, 20000)])
def test_untagged_limit_is_what_maximum_likelihood_reaches(gap, N):
    # 120 replications, k = 3: the larger norm has a relative standard deviation of about 0.35, its mean 3 %; four of
    # them, and the second-order terms of maximum likelihood on top where the limit is a tenth of the gap.
    rng = np.random.default_rng(1)
    pair = ms.random_pair(3, 3, gap=gap, seed=2)
    worst = []
    for _ in range(120):
        X = rng.standard_normal((N, 3))
        which = rng.integers(0, 2, N)
        y = (X @ pair.T)[np.arange(N), which] + rng.standard_normal(N)
        worst.append(np.linalg.norm(maximum_likelihood(X, y, pair.copy()) - pair, axis=1).max())
    assert np.mean(worst) == pytest.approx(ms.limits.untagged(pair, 1.0, N), rel=0.15)


def test_limits_order_and_scale():
    pair = ms.random_pair(100, 5, gap=2.0, seed=3)
    for limit in (ms.limits.tagged, ms.limits.untagged):
        assert limit(pair, 1.0, 4000) == pytest.approx(limit(pair, 1.0, 1000) / 2)
        assert limit(3 * pair, 3.0, 1000) == pytest.approx(3 * limit(pair, 1.0, 1000))
        assert limit(pair[::-1], 1.0, 1000, (0.2, 0.8)) == pytest.approx(limit(pair, 1.0, 1000, (0.8, 0.2)), rel=0.03)
    ratios = [ms.limits.untagged(g * pair, 1.0, 100) / ms.limits.tagged(pair, 1.0, 100) for g in (0.25, 1.0, 4.0, 40.0)]
    assert sorted(ratios, reverse=True) == ratios
    assert ratios[-1] == pytest.approx(1.0, abs=0.05)


def test_known_values_of_the_tagged_limit():
    pair = ms.random_pair(100, 5, gap=5.0, seed=3)
    # E max of two χ₅ is 2.51, where √5 = 2.24: 12 % above σ √(2k/N) = 0.1826.
    assert ms.limits.tagged(pair, 1.0, 300) == pytest.approx(1.123 * 0.1826, rel=0.02)


@pytest.mark.parametrize("models", [1, 2, 3, 6])
def test_the_tagged_limit_of_many_models_is_the_mean_of_the_largest_norm(models):
    # k = 2: the norms are Rayleigh, and E max of L of them is Σ (−1)^(j+1) C(L, j) √(π/2j), times σ √(L/N). 4000 draws
    # with a relative standard deviation of at most 0.53 have a mean within 0.9 %; three of them.
    known = sum((-1) ** (j + 1) * math.comb(models, j) * math.sqrt(math.pi / (2 * j)) for j in range(1, models + 1))
    vectors = ms.random_models(models, 40, 2, gap=5.0, seed=1)
    assert ms.limits.tagged(vectors, 2.0, 900) == pytest.approx(known * 2.0 * math.sqrt(models / 900), rel=0.027)


def test_a_rare_model_decides_the_tagged_limit():
    vectors = ms.random_models(3, 40, 5, gap=5.0, seed=1)
    rare = ms.limits.tagged(vectors[:1], 1.0, 20)  # 2 % of 1000 answers, and nothing else
    assert ms.limits.tagged(vectors, 1.0, 1000, (0.49, 0.49, 0.02)) == pytest.approx(rare, rel=0.03)


def information_by_simulation(vectors, shares, count):
    """Mean of the outer product of the score, from drawn queries and answers."""
    rng = np.random.default_rng(0)
    L, n = vectors.shape
    X = rng.standard_normal((count, n))
    y = (X @ vectors.T)[np.arange(count), rng.choice(L, count, p=shares)] + rng.standard_normal(count)
    R = y[:, None] - X @ vectors.T
    P = np.array(shares) * np.exp(-0.5 * R**2)
    score = ((P / P.sum(axis=1, keepdims=True) * R)[:, :, None] * X[:, None, :]).reshape(count, L * n)
    return score.T @ score / count


@pytest.mark.parametrize(("models", "gap"), [(3, 2.0), (3, 10.0), (4, 4.0)])
def test_the_untagged_limit_is_that_of_the_simulated_information(models, gap):
    # 200,000 scores: an entry of the information is known within 1 %, the limit, an average over many, within 2 %.
    shares = (0.5, 0.3, 0.2) if models == 3 else (0.25,) * 4
    vectors = ms.random_models(models, 3, 3, gap, seed=4)
    covariance = np.linalg.inv(information_by_simulation(vectors, shares, 200_000))
    draws = np.random.default_rng(1).multivariate_normal(np.zeros(3 * models), covariance, 20_000)
    worst = np.linalg.norm(draws.reshape(-1, models, 3), axis=2).max(axis=1).mean()
    assert ms.limits.untagged(vectors, 1.0, 100, shares) == pytest.approx(worst / 10, rel=0.02)


def test_limits_of_three_models_order_and_scale():
    vectors = ms.random_models(3, 100, 5, gap=2.0, seed=3)
    for limit in (ms.limits.tagged, ms.limits.untagged):
        assert limit(3 * vectors, 3.0, 4000) == pytest.approx(1.5 * limit(vectors, 1.0, 1000))
        shares = (0.2, 0.3, 0.5)
        assert limit(vectors[::-1], 1.0, 1000, shares[::-1]) == pytest.approx(
            limit(vectors, 1.0, 1000, shares), rel=0.03
        )
    tagged = ms.limits.tagged(vectors, 1.0, 100)
    ratios = [ms.limits.untagged(g * vectors, 1.0, 100) / tagged for g in (0.25, 1.0, 4.0, 40.0)]
    assert sorted(ratios, reverse=True) == ratios
    assert ratios[-1] == pytest.approx(1.0, abs=0.05)


def test_models_on_one_line_have_a_limit():
    # Their differences span one direction: the integral is over that one alone, and tends to the tagged limit.
    vectors = np.array([[-1.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    near, far = (ms.limits.untagged(g * vectors, 1.0, 1000) for g in (1.0, 200.0))
    assert near > far
    assert far == pytest.approx(ms.limits.tagged(vectors, 1.0, 1000), rel=0.05)


def test_one_model_needs_no_tags():
    one = ms.random_models(1, 20, 4, gap=3.0, seed=1)
    assert ms.limits.untagged(one, 1.0, 100) == pytest.approx(ms.limits.tagged(one, 1.0, 100))
    assert ms.limits.untagged(np.zeros((1, 4)), 1.0, 100) == 0  # nothing to estimate on an empty support


def test_equal_vectors_have_no_untagged_limit():
    assert math.isinf(ms.limits.untagged(np.ones((2, 3)), 1.0, 100))
    assert math.isinf(ms.limits.untagged([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], 1.0, 100))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 3)), 0.0, 10), "sigma is 0; it must be above 0"),
        ((np.ones((2, 3)), 1.0, 0), "queries is 0"),
        ((np.ones(3), 1.0, 10), "it must be \\(L, n\\)"),
        ((np.ones((2, 3)), 1.0, 10, "estimate"), "the shares have to be known here"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(ms.InvalidInput, match=message):
        ms.limits.tagged(*arguments)
