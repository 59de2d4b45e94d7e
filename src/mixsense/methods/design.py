"""Which vectors every method may ask: Gaussian queries, x = 0, sums and differences."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array


def gaussian(m: int, n: int, rng: np.random.Generator, limit: float | None = None) -> Array:
    """Draw m queries with independent standard normal entries; those beyond `limit` are drawn again.

    Examples
    --------
    >>> gaussian(3, 5, np.random.default_rng(0)).shape
    (3, 5)
    """
    X = rng.standard_normal((m, n))  # x ~ N(0, I)
    while limit is not None and (beyond := np.abs(X) > limit).any():
        X[beyond] = rng.standard_normal(int(beyond.sum()))
    return X


def zero(n: int) -> Array:
    """Return the query x = 0, whose answers are pure noise."""
    return np.zeros((1, n))


def sums_and_differences(X: Array, pivot: Array) -> Array:
    """Return x + p for each row x of X, then x − p for each.

    Examples
    --------
    >>> sums_and_differences(np.array([[1.0, 2.0]]), np.array([1.0, 0.0]))
    array([[2., 2.],
           [0., 2.]])
    """
    return np.concatenate([X + pivot, X - pivot])  # ~ N(0, 2 I): twice the SNR of X
