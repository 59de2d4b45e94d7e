"""What every estimator of the means of a batch keeps, whatever its formula.

An estimator here is a function of the samples (..., T) and of σ that returns a `Means`. Run each of
`CONTRACT` over it: ``check(estimate)``.
"""

from collections.abc import Callable

import numpy as np
import pytest

from mixsense.errors import InvalidInput
from mixsense.mixture import Means

Estimator = Callable[..., Means]


def sample(seed, shape=(6, 200), delta=3.0, sigma=1.0):
    rng = np.random.default_rng(seed)
    return rng.choice([-delta / 2, delta / 2], size=shape) + sigma * rng.normal(size=shape)


def close(actual, value, stderr, scale=1.0, tol=1e-9):
    np.testing.assert_allclose(actual.value, value, rtol=tol, atol=tol * scale)
    np.testing.assert_allclose(actual.stderr, stderr, rtol=1e-6, atol=tol * scale)


def shift(estimate: Estimator, y=None, by=7.25, tol=1e-9):
    y = sample(1) if y is None else y
    a, b = estimate(y, 1.0), estimate(y + by, 1.0)
    close(b, a.value + by, a.stderr, tol=tol)


def scale(estimate: Estimator, y=None, by=3.7):
    y = sample(2) if y is None else y
    a, b = estimate(y, 1.0), estimate(by * y, abs(by))
    close(b, np.sort(by * a.value, axis=-1), abs(by) * a.stderr[..., :: int(np.sign(by))], scale=abs(by))


def mirror(estimate: Estimator, y=None):
    scale(estimate, y, by=-1.0)


def order(estimate: Estimator, y=None):
    y = sample(3) if y is None else y
    a, b = estimate(y, 1.0), estimate(np.random.default_rng(0).permuted(y, axis=-1), 1.0)
    close(b, a.value, a.stderr)


def batch_equals_loop(estimate: Estimator):
    y = sample(4, shape=(3, 50, 700), delta=1.0)  # more than one block, some with variance below σ²
    sigma = np.linspace(0.9, 1.1, 50)
    together = estimate(y, sigma)
    assert together.value.shape == together.stderr.shape == (3, 50, together.value.shape[-1])
    for i in np.ndindex(3, 50):
        alone = estimate(y[i], sigma[i[1]])
        np.testing.assert_array_equal(alone.value, together.value[i])
        np.testing.assert_array_equal(alone.stderr, together.stderr[i])


def layout_does_not_matter(estimate: Estimator):
    y = sample(5).round(2)
    a = estimate(y, 1.0)
    for other in (np.asfortranarray(y), y.tolist(), y[:, ::-1][:, ::-1]):
        np.testing.assert_array_equal(estimate(other, 1.0).value, a.value)
    whole = np.arange(12).reshape(2, 6)
    np.testing.assert_array_equal(estimate(whole, 1).value, estimate(whole * 1.0, 1.0).value)


def ascending_finite_and_frozen(estimate: Estimator):
    for delta in (0.0, 0.5, 2.0, 10.0, 1e6):
        for T in (2, 3, 7, 200):
            means = estimate(sample(6, shape=(50, T), delta=delta), 1.0)
            assert np.all(np.diff(means.value, axis=-1) >= 0)
            assert np.all(np.isfinite(means.value))
            assert np.all(np.isfinite(means.stderr) & (means.stderr > 0))
    with pytest.raises(ValueError, match="read-only"):
        means.value[0] = 0
    with pytest.raises(AttributeError):
        means.value = 0
    constant = estimate(np.full(5, 3.0), 1.0)
    np.testing.assert_array_equal(constant.value, np.full_like(constant.value, 3.0))


def error_like_one_over_root_T(estimate: Estimator):
    # The squared error of the centre is χ² over 2,000 batches at each T, a relative standard error of
    # √(2/2000) = 3 %, so that of the ratio of two root mean squares is 2.2 %: 10 % are more than 4 of them.
    errors = []
    for T in (200, 800):
        means = estimate(sample(T, shape=(2000, T), delta=3.0), 1.0)
        errors.append(np.sqrt(np.mean(means.value.mean(axis=-1) ** 2)))
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


def large_offset_and_small_scale(estimate: Estimator):
    y = sample(8)
    shift(estimate, (y * 2**20).round() / 2**20, by=float(2**26), tol=1e-7)  # y + 2²⁶ is exact
    for factor in (1e-12, 1e-120, 1e120):
        scale(estimate, y, by=factor)


def refuses_what_it_cannot_use(estimate: Estimator):
    good = sample(9, shape=(3, 4))
    for bad, message in [
        (np.where(np.arange(12).reshape(3, 4) == 6, np.nan, good), r"y\[1, 2\] is nan"),
        (np.where(np.arange(12).reshape(3, 4) == 11, -np.inf, good), r"y\[2, 3\] is -inf"),
        (good * 1e200, "finite numbers up to"),
        (good + 1j, "complex128"),
        (good.astype(str), "real numbers"),
        (good > 0, "bool"),
        ([None, 1.0], "object"),
        ([[1.0, 2.0], [1.0]], "ragged"),
        (1.0, "at least 2 samples"),
        ([], "at least 2 samples"),
        ([[1.0], [2.0]], "at least 2 samples"),
        (np.empty((3, 0)), "at least 2 samples"),
        (np.empty((0, 3)), "at least 2 samples"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            estimate(bad, 1.0)


CONTRACT = [
    shift,
    scale,
    mirror,
    order,
    batch_equals_loop,
    layout_does_not_matter,
    ascending_finite_and_frozen,
    error_like_one_over_root_T,
    large_offset_and_small_scale,
    refuses_what_it_cannot_use,
]
