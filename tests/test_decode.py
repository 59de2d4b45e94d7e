"""Basis pursuit is judged by certificates that are computed here, independently of the solver."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from mixsense.decode import basis_pursuit
from mixsense.errors import InvalidInput, ModelError

accuracy = 1e-6


def sparse(rng, n, k):
    z = np.zeros(n)
    z[rng.choice(n, k, replace=False)] = rng.standard_normal(k) + np.sign(rng.standard_normal(k))
    return z


def assert_optimal(A, b, radius, found):
    """Feasible, and no feasible vector is shorter.

    A lower bound on ‖z‖₁ is ⟨b, y⟩ − radius‖y‖ for any y with ‖Aᵀy‖∞ ≤ 1. We do not trust the reported gap: for
    radius > 0 the residual gives y; for radius 0 a linear program gives the optimum where it is small enough.
    """
    A, z = np.asarray(A, dtype=np.float64), found.value
    r = b - A @ z
    assert np.linalg.norm(r) <= radius * (1 + accuracy) + accuracy * np.linalg.norm(b) * (radius == 0)
    assert found.residual == pytest.approx(np.linalg.norm(r), rel=1e-6, abs=1e-9 * np.linalg.norm(b))
    assert 0 <= found.gap <= accuracy
    length = np.abs(z).sum()
    if radius > 1e-6 * np.linalg.norm(b):
        y = r / np.abs(A.T @ r).max()
        assert length - (b @ y - radius * np.linalg.norm(y)) <= accuracy * length
    elif A.size < 20_000:
        assert length == pytest.approx(shortest(A, b), rel=accuracy, abs=1e-12)


def shortest(A, b):
    n = A.shape[1]
    program = linprog(np.ones(2 * n), A_eq=np.hstack([A, -A]), b_eq=b, method="highs")
    assert program.status == 0
    return program.fun


shapes = [(20, 50, 3), (50, 20, 4), (30, 30, 10), (1, 5, 1), (5, 1, 1), (60, 900, 30), (80, 3000, 5)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", shapes)
def test_feasible_and_optimal_with_noise(shape, order, dtype):
    m, n, k = shape
    rng = np.random.default_rng(m * n)
    A = np.asarray(rng.standard_normal((m, n)), dtype=dtype, order=order)
    noise = 0.2 * rng.standard_normal(m)
    b = A @ sparse(rng, n, k) + noise
    for radius in np.linalg.norm(noise) * np.array([1.0, 1.5]):
        assert_optimal(A, b, radius, basis_pursuit(A, b, radius))


@pytest.mark.parametrize("share", [0.0, 1e-9, 1e-4, 0.1, 0.999])
@pytest.mark.parametrize("k", [2, 15, 40, 1200])
def test_any_radius_and_density_on_a_working_set(share, k):
    rng = np.random.default_rng(k)
    A = rng.standard_normal((40, 1200))
    b = A @ sparse(rng, 1200, k)
    radius = share * np.linalg.norm(b)
    found = basis_pursuit(A, b, radius)
    assert_optimal(A, b, radius, found)
    assert found.passes >= 2


degenerate = {
    "signs": lambda rng: rng.choice([-1.0, 1.0], (12, 30)),
    "integers": lambda rng: rng.integers(-2, 3, (12, 30)).astype(float),
    "zeros and ones": lambda rng: rng.integers(0, 2, (15, 40)).astype(float),
    "duplicate columns": lambda rng: np.tile(rng.standard_normal((12, 10)), (1, 3)) * rng.choice([-1, 1], 30),
    "zero columns": lambda rng: rng.standard_normal((12, 30)) * (np.arange(30) % 3 > 0),
    "rank deficient": lambda rng: rng.standard_normal((12, 5)) @ rng.standard_normal((5, 30)),
    "rank deficient, tall": lambda rng: rng.standard_normal((30, 5)) @ rng.standard_normal((5, 12)),
    "identity twice": lambda rng: np.hstack([np.eye(12), np.eye(12)]),
    "unequal scales": lambda rng: rng.standard_normal((12, 30)) * 10.0 ** rng.integers(-4, 5, 30),
    "many signs": lambda rng: rng.choice([-1.0, 1.0], (12, 1500)),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", degenerate)
def test_degenerate_matrices(kind, seed):
    rng = np.random.default_rng(seed)
    A = degenerate[kind](rng)
    b = A @ rng.integers(-2, 3, A.shape[1])
    for share in (0.0, 0.01, 0.5):
        radius = share * np.linalg.norm(b)
        assert_optimal(A, b, radius, basis_pursuit(A, b, radius))


near = {
    "pairs": lambda rng, eps: np.tile(rng.standard_normal((20, 30)), 2) + eps * rng.standard_normal((20, 60)),
    "many pairs": lambda rng, eps: np.tile(rng.standard_normal((40, 450)), 2) + eps * rng.standard_normal((40, 900)),
    "signs": lambda rng, eps: rng.choice([-1.0, 1.0], (20, 60)) + eps * rng.standard_normal((20, 60)),
}


@pytest.mark.parametrize("eps", [1e-3, 1e-4, 1e-7, 1e-9])
@pytest.mark.parametrize("kind", near)
def test_nearly_dependent_columns(kind, eps):
    """At the end of the path r/λ is rounding: the certificate has to come from a larger λ."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A = near[kind](rng, eps)
        b = A @ sparse(rng, A.shape[1], 5)
        for share in (0.0, 1e-6, 0.01):
            radius = share * np.linalg.norm(b)
            found = basis_pursuit(A, b, radius)
            assert 0 <= found.gap <= accuracy
            assert np.linalg.norm(b - A @ found.value) <= max(radius * (1 + accuracy), 1e-10 * np.linalg.norm(b))


def test_what_rounding_hides_is_not_called_infeasible():
    """Columns within 1e-6 of the span of others are left out, so that b seems out of reach: it is not."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((12, 6)) @ rng.standard_normal((6, 30)) + 1e-7 * rng.standard_normal((12, 30))
        b = A @ sparse(rng, 30, 5)
        with contextlib.suppress(ModelError):  # "columns of A are nearly dependent" is true; InvalidInput would not be
            assert basis_pursuit(A, b).gap <= accuracy


def test_every_coefficient_of_the_support_may_be_needed():
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((60, 200)), rng.standard_normal(60)
    found = basis_pursuit(A, b)
    assert_optimal(A, b, 0.0, found)
    assert np.count_nonzero(found.value) == 60


@pytest.mark.parametrize("shape", [(40, 100, 4), (100, 40, 4), (100, 3000, 8)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_recovers_exactly_without_noise(shape, dtype):
    m, n, k = shape
    rng = np.random.default_rng(2)
    A = rng.standard_normal((m, n)).astype(dtype)
    truth = sparse(rng, n, k)
    found = basis_pursuit(A, A.astype(np.float64) @ truth)
    np.testing.assert_allclose(found.value, truth, atol=1e-8)
    assert found.residual <= 1e-12 * np.linalg.norm(A.astype(np.float64) @ truth)


def test_batch_equals_loop():
    rng = np.random.default_rng(3)
    A, B, radii = rng.standard_normal((30, 80)), rng.standard_normal((30, 3)), np.array([0.0, 1.0, 2.0])
    batch = basis_pursuit(A, B, radii)
    assert batch.value.shape == (80, 3)
    for j, radius in enumerate(radii):
        one = basis_pursuit(A, B[:, j], radius)
        np.testing.assert_array_equal(batch.value[:, j], one.value)
        assert (batch.residual[j], batch.gap[j]) == (one.residual, one.gap)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), exponent=st.integers(-30, 30), share=st.sampled_from([0.0, 0.05, 0.5]))
def test_equivariance(seed, exponent, share):
    rng = np.random.default_rng(seed)
    A, b, scale = rng.standard_normal((15, 40)), rng.standard_normal(15), 10.0**exponent
    order, signs = rng.permutation(40), rng.choice([-1, 1], 40)
    radius = share * np.linalg.norm(b)
    z = basis_pursuit(A, b, radius).value
    tolerance = 1e-6 * np.abs(z).max()
    np.testing.assert_allclose(basis_pursuit(A, scale * b, scale * radius).value / scale, z, atol=tolerance)
    turned = basis_pursuit((A * signs)[:, order], b, radius).value
    np.testing.assert_allclose(turned, (z * signs)[order], atol=tolerance)


def test_zero_is_returned_exactly_where_it_is_feasible():
    A, b = np.eye(3, 5), np.array([3.0, 0.0, 4.0])
    found = basis_pursuit(A, b, 5.0)
    assert not found.value.any()
    assert (found.residual, found.gap) == (5.0, 0.0)
    assert not basis_pursuit(A, np.zeros(3)).value.any()


@pytest.mark.parametrize("shape", [(30, 10), (60, 1200)])
def test_infeasible_radius_names_the_smallest(shape):
    rng = np.random.default_rng(4)
    m, n = shape
    A, b = rng.standard_normal((m, 10)) @ rng.standard_normal((10, n)), rng.standard_normal(m)
    least = np.linalg.norm(b - A @ np.linalg.lstsq(A, b)[0])
    with pytest.raises(InvalidInput, match="give a radius of at least") as caught:
        basis_pursuit(A, b, least / 2)
    assert caught.value.smallest == pytest.approx(least, rel=1e-9)
    found = basis_pursuit(A, b, caught.value.smallest * (1 + accuracy))
    assert found.gap <= accuracy


def test_zero_matrix_is_infeasible():
    with pytest.raises(InvalidInput, match="no vector comes closer to b than 2"):
        basis_pursuit(np.zeros((4, 3)), np.ones(4), 1.0)


def test_result_is_read_only_and_input_untouched():
    rng = np.random.default_rng(5)
    A, b = rng.standard_normal((10, 20)), rng.standard_normal(10)
    kept = A.copy(), b.copy()
    found = basis_pursuit(A, b, 0.1)
    with pytest.raises(ValueError, match="read-only"):
        found.value[0] = 1.0
    np.testing.assert_array_equal(A, kept[0])
    np.testing.assert_array_equal(b, kept[1])


def test_accepts_lists_integers_and_strided_views():
    assert basis_pursuit([[1, 0, 1], [0, 1, 1]], [2, 2]).value == pytest.approx([0, 0, 2])
    big = np.random.default_rng(6).standard_normal((40, 120))
    b = big[::2, 0]
    np.testing.assert_allclose(basis_pursuit(big[::2, ::3], b).value, basis_pursuit(big[::2, ::3].copy(), b).value)


ones = np.ones((3, 4))
bad = [
    (np.ones(3), np.ones(3), 0.0, "A has shape"),
    (np.ones((0, 3)), np.ones(0), 0.0, "A has shape"),
    (ones * 1j, np.ones(3), 0.0, "A has dtype complex"),
    (ones.astype(str), np.ones(3), 0.0, "A has dtype"),
    (np.where(np.eye(3, 4) > 0, np.nan, 1.0), np.ones(3), 0.0, "A has entries"),
    (np.where(np.eye(3, 4) > 0, np.inf, 1.0).astype(np.float32), np.ones(3), 0.0, "A has entries"),
    (ones, np.ones(4), 0.0, "b has shape"),
    (ones, np.ones((3, 0)), 0.0, "b has shape"),
    (ones, np.ones((3, 1, 1)), 0.0, "b has shape"),
    (ones, 1.0, 0.0, "b has shape"),
    (ones, np.array([1, np.inf, 1]), 0.0, "b has entries"),
    (ones, np.ones(3), -1.0, "radius is -1"),
    (ones, np.ones(3), np.nan, "radius has entries"),
    (ones, np.ones(3), "wide", "radius has dtype"),
    (ones, np.ones((3, 2)), np.ones(3), "radius has shape"),
]


@pytest.mark.parametrize(("A", "b", "radius", "message"), bad)
def test_bad_input(A, b, radius, message):
    with pytest.raises(InvalidInput, match=message):
        basis_pursuit(A, b, radius)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_always_refused(value, dtype, order):
    """Also where b is zero, or so small that float32 makes it zero, or where z = 0 needs no look at A."""
    rng = np.random.default_rng(7)
    for b in (rng.standard_normal(6), np.eye(6)[0], np.zeros(6), np.where(np.arange(6) == 2, 1e-60, 1.0)):
        for n in (9, 400):
            A = np.asarray(rng.standard_normal((6, n)), dtype=dtype, order=order)
            A[2, n // 2] = value
            for radius in (0.0, 0.1, 100.0):
                with pytest.raises(InvalidInput, match="A has entries that are infinite"):
                    basis_pursuit(A, b, radius)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_overflow_is_refused(dtype):
    with pytest.raises(InvalidInput, match="A has entries so large"):
        basis_pursuit(np.full((20, 30), np.finfo(dtype).max, dtype=dtype), np.ones(20))
