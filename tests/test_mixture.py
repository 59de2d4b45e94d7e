from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import estimator_contract as contract
from estimator_contract import sample
from mixsense.errors import InvalidInput
from mixsense.mixture import em, em_step, median_of_means, moments, samples, several_means, single


def one(y, sigma):
    return single(y)


def one_of_three(y, sigma):
    return single(y, models=3)


ESTIMATORS = {"em": em, "moments": moments, "single": one}
MORE = {"em of three": partial(em, models=3), "em of one": partial(em, models=1), "single for three": one_of_three}


def log_likelihood(y, means, sigma=1.0):
    """Straight from the density, for means (..., L) and samples (..., T)."""
    r = (y[..., None] - means[..., None, :]) / sigma
    density = np.logaddexp.reduce(-0.5 * r**2, axis=-1)
    return np.sum(density - np.log(means.shape[-1] * sigma * np.sqrt(2 * np.pi)), axis=-1)


@pytest.mark.parametrize("check", contract.CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*ESTIMATORS, *MORE])
def test_contract(name, check):
    if name == "em of three" and check is contract.error_like_one_over_root_T:
        pytest.skip("the centre of three means is not that of the two that this check draws from")
    check((ESTIMATORS | MORE)[name])


batches = st.builds(
    lambda seed, T, delta: sample(seed, shape=(2, T), delta=delta),
    st.integers(0, 2**32 - 1),
    st.integers(2, 120),
    st.floats(0.0, 20.0),
)


@pytest.mark.parametrize("name", ESTIMATORS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(y=batches, by=st.floats(-1e4, 1e4), factor=st.floats(1e-3, 1e3))
def test_equivariance(name, y, by, factor):
    # h = √(v − σ²) turns a rounding error ε of the variance into up to √ε: 1e-6 where v is near σ².
    estimate = ESTIMATORS[name]
    a = estimate(y, 1.0).value
    tol = 1e-5 if np.any(np.diff(a) < 1e-2) else 1e-8
    np.testing.assert_allclose(estimate(y + by, 1.0).value, a + by, rtol=1e-10, atol=tol)
    for c in (factor, -factor):
        np.testing.assert_allclose(estimate(c * y, factor).value / factor, np.sort(a * np.sign(c)), atol=tol)
    np.testing.assert_allclose(estimate(y[:, ::-1], 1.0).value, a, atol=tol)


@pytest.mark.parametrize("delta", [0.0, 0.3, 1.0, 2.0, 4.0, 12.0])
@pytest.mark.parametrize("T", [2, 5, 30, 400])
def test_em_is_a_fixed_point_and_beats_moments_and_truth(delta, T):
    y = sample(T, shape=(500, T), delta=delta)
    means = em(y, 1.0)
    assert means.converged.all()
    np.testing.assert_allclose(em_step(y, means.value, 1.0), means.value, atol=1e-8)
    np.testing.assert_allclose(means.loglik, log_likelihood(y, means.value), rtol=1e-11, atol=1e-9)
    truth = np.broadcast_to([-delta / 2, delta / 2], (500, 2))
    for other in (truth, moments(y, 1.0).value):
        assert np.all(means.loglik >= log_likelihood(y, other) - 1e-9)


def test_em_needs_few_passes():
    means = em(sample(0, shape=(2000, 200), delta=1.0), 1.0)
    assert means.iterations.max() <= 20
    assert means.iterations.dtype.kind == "i"


def test_variance_up_to_sigma_gives_equal_means():
    y = sample(1, shape=(400, 50), delta=0.0)
    means = em(y, 1.0)
    small = y.var(axis=1) <= 1
    assert 100 < small.sum() < 300
    np.testing.assert_array_equal(means.value[:, 0] == means.value[:, 1], small)
    np.testing.assert_allclose(means.value[small, 0], y[small].mean(axis=1), atol=1e-14)
    np.testing.assert_array_equal(means.iterations[small], 0)


@pytest.mark.parametrize("T", [3, 5, 8, 12, 40])
def test_em_reaches_the_global_maximum(T):
    for delta in (0.5, 2.0, 4.0, 8.0):
        y = sample(T, shape=(300, T), delta=delta)
        low, high = y.min(axis=1), y.max(axis=1)
        best = np.full(300, -np.inf)
        for a in np.linspace(0, 1, 25):
            for b in np.linspace(a, 1, 25):  # the maximum lies within the range of the samples
                grid = np.stack([low + a * (high - low), low + b * (high - low)], axis=1)
                best = np.maximum(best, log_likelihood(y, grid))
        assert np.all(em(y, 1.0).loglik >= best - 1e-9)


def test_equal_maxima_give_one_of_them():
    means = em([0.0, 10.0, 20.0], 1.0)
    assert means.converged
    assert sorted(means.value.round(6)) in ([0.0, 15.0], [5.0, 20.0])


def test_max_iter_is_reported():
    y = sample(2, shape=(5, 100), delta=2.0)
    short = em(y, 1.0, max_iter=1)
    assert not short.converged.any()
    np.testing.assert_array_equal(short.iterations, 1)
    np.testing.assert_allclose(short.loglik, log_likelihood(y, short.value), rtol=1e-11)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("delta", [0.0, 1.0, 2.0, 4.0])
def test_standard_errors_cover(name, delta):
    # Two standard errors cover 95.4 % of a normal law. Over 4,000 batches a binomial standard error is
    # 0.33 %: 4 of them and 1.5 % for the law's not being normal give 2.8 %. At small separations the errors
    # are conservative by design (they stay finite at 0), so that the upper end is open for em and moments.
    y = sample(17, shape=(4000, 400), delta=delta)
    means = ESTIMATORS[name](y, 1.0)
    truth = np.array([-delta / 2, delta / 2]) if name != "single" else np.zeros(2)
    covered = np.mean(np.abs(means.value - truth) <= 2 * means.stderr, axis=0)
    assert np.all(covered > 0.926), covered
    if delta >= 2:
        assert np.all(covered < 0.982), covered


def test_standard_errors_of_groups_cover():
    y = sample(18, shape=(4000, 400), delta=3.0)
    means = moments(y, 1.0, batches=10)
    assert np.mean(np.abs(means.value - [-1.5, 1.5]) <= 2 * means.stderr) > 0.926


def test_median_of_means_is_robust_and_loses_no_sample():
    y = sample(3, shape=(20, 1003), delta=0.0)
    spoiled = y.copy()
    spoiled[:, 500] = 1e9
    estimate = median_of_means(spoiled, 15)
    # A median of 15 group means has a standard error of at most √(π/2 / 1003) = 0.04, outlier or not.
    assert np.all(np.abs(estimate.mean) < 5 * 0.04)
    assert np.all(np.abs(estimate.variance - 1) < 5 * 0.04 * np.sqrt(2))
    plain = median_of_means(y, 1)
    np.testing.assert_allclose(plain.mean, y.mean(axis=1), atol=1e-14)
    np.testing.assert_allclose(plain.variance, y.var(axis=1, ddof=1))
    uneven = median_of_means([1.0, 2.0, 3.0, 10.0, 20.0], 2)  # groups 1 2 3 and 10 20
    assert (float(uneven.mean), float(uneven.variance)) == pytest.approx((8.5, 25.5))


def test_moments_clip_a_negative_separation():
    y = sample(4, shape=(1000, 100), delta=0.0)
    means = moments(y, 1.0)
    equal = means.value[:, 0] == means.value[:, 1]
    np.testing.assert_array_equal(equal, y.var(axis=1, ddof=1) <= 1)


def test_em_step_as_printed():
    y, mu = sample(5, shape=(4, 30)), np.array([-0.3, 0.9])
    w = np.exp(-((y - mu[0]) ** 2) / 2)
    w = w / (w + np.exp(-((y - mu[1]) ** 2) / 2))
    printed = [(y * w).sum(1) / w.sum(1), (y * (1 - w)).sum(1) / (1 - w).sum(1)]
    np.testing.assert_allclose(em_step(y, mu, 1.0), np.stack(printed, axis=1), rtol=1e-12)
    far = em_step([1e5, 1e5 + 1], [0.0, 1e5], 1.0)  # the printed weights are 0/0 here
    np.testing.assert_allclose(far, [0.0, 1e5 + 0.5])


def test_blocks_do_not_matter(monkeypatch):
    y = sample(6, shape=(40, 100), delta=1.0)
    a = em(y, 1.0)
    monkeypatch.setattr(samples, "BLOCK", 300)
    b = em(y, 1.0)
    np.testing.assert_array_equal(a.value, b.value)
    np.testing.assert_array_equal(a.loglik, b.loglik)


@pytest.mark.parametrize("sigma", [0, -1.0, np.nan, np.inf, "1", 1j, None, True, [1.0, 2.0], 1e-200])
@pytest.mark.parametrize("estimate", [em, moments])
def test_bad_sigma(estimate, sigma):
    with pytest.raises(InvalidInput, match="sigma"):
        estimate(sample(7, shape=(3, 4)), sigma)


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", None, True])
def test_bad_counts(count):
    y = sample(8, shape=(3, 4))
    for call in (lambda: median_of_means(y, count), lambda: moments(y, 1.0, count)):
        with pytest.raises(InvalidInput, match="batches is"):
            call()
    with pytest.raises(InvalidInput, match="max_iter is"):
        em(y, 1.0, max_iter=count)


@pytest.mark.parametrize("tol", [0, -1.0, np.nan, np.inf, "1"])
def test_bad_tol(tol):
    with pytest.raises(InvalidInput, match="tol is"):
        em([1.0, 2.0], 1.0, tol=tol)


def test_too_many_groups_says_how_many_samples_are_missing():
    with pytest.raises(InvalidInput, match="has 5 samples; 4 groups need 8: ask for 3 more") as caught:
        moments(np.arange(5.0), 1.0, batches=4)
    assert caught.value.samples == 5


# -- more than two means ---------------------------------------------------------------------------------------

SEVERAL = [
    (0.0, 0.0, 0.0),
    (0.0, 0.0, 3.0),
    (0.0, 1.0, 5.0),
    (0.0, 2.0, 4.0),
    (0.0, 5.0, 12.0),
    (0.0, 0.5, 5.0, 9.0),
    (0, 3, 6, 9, 12),
]


def several(seed, means, shape):
    rng = np.random.default_rng(seed)
    return np.asarray(means)[rng.integers(len(means), size=shape)] + rng.standard_normal(shape)


@pytest.mark.parametrize("truth", SEVERAL, ids=str)
@pytest.mark.parametrize("T", [6, 30, 300])
def test_several_means_are_a_fixed_point_and_beat_the_truth(truth, T):
    y, L = several(T, truth, (100, T)), len(truth)
    means = em(y, 1.0, models=L)
    assert means.value.shape == means.stderr.shape == (100, L)
    done = means.converged
    assert done.mean() >= 0.99
    np.testing.assert_allclose(em_step(y, means.value, 1.0)[done], means.value[done], atol=1e-6)
    np.testing.assert_allclose(means.loglik, log_likelihood(y, means.value), rtol=1e-9, atol=1e-7)
    beaten = means.loglik >= log_likelihood(y, np.broadcast_to(np.asarray(truth, float), (100, L))) - 1e-9
    assert beaten.mean() >= 0.99  # a local maximum below the truth is rare


@pytest.mark.parametrize("truth", SEVERAL, ids=str)
def test_standard_errors_of_several_means_cover(truth):
    # As for two means: 95.4 % of a normal law. Over 700 batches a binomial standard error is 0.8 %, four of them and
    # 1.5 % for the law's not being normal give 4.7 %; where means coincide the errors are conservative by design.
    means = em(several(19, truth, (700, 600)), 1.0, models=len(truth))
    covered = np.mean(np.abs(means.value - truth) <= 2 * means.stderr, axis=0)
    assert np.all(covered > 0.907), covered
    if min(np.diff(truth)) >= 2:
        assert np.all(covered < 0.99), covered


def test_two_means_are_those_of_the_general_likelihood():
    # The two ways to the same maximum, of which the one for two is faster.
    y = sample(20, shape=(200, 150), delta=2.0)
    two = em(y, 1.0)
    z = y - y.mean(axis=1, keepdims=True)
    top = several_means.maximise(z, 2, 1e-10, 500)
    np.testing.assert_allclose(top.mu + y.mean(axis=1, keepdims=True), two.value, atol=1e-7)


def test_one_mean_is_the_sample_mean():
    y = sample(21, shape=(5, 40))
    means = em(y, 2.0, models=1)
    np.testing.assert_allclose(means.value[:, 0], y.mean(axis=1))
    np.testing.assert_allclose(means.stderr, 2.0 / np.sqrt(40))


def test_moments_are_for_two_means():
    with pytest.raises(InvalidInput, match=r"models is 3: mean and variance determine two means only; use mixture\.em"):
        moments(sample(22), 1.0, models=3)


@pytest.mark.parametrize("models", [0, -1, 2.5, "2", None, True])
def test_bad_models(models):
    for call in (lambda y: em(y, 1.0, models=models), lambda y: single(y, models=models)):
        with pytest.raises(InvalidInput, match="models is"):
            call(sample(23))
