"""What a scale is: how an answer is made of the linear value, and what one answer tells about it."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from mixsense.arrays import Array


class Terms(NamedTuple):
    """What each answer tells about each model's mean m and noise σ; every array is (N, L)."""

    loglik: Array
    """Log-likelihood."""
    residual: Array
    """σ² d loglik/dm: how far the answer is from m or, of an answer that is known to be in an interval, would be on
    average."""
    curvature: Array
    """−σ² d² loglik/dm²: its information relative to that of a real number, which has 1."""
    square: Array
    """σ² (1 + d loglik/d log σ): the squared distance from m, on average."""


class Scale(Protocol):
    """How answers are made of the linear value: real numbers need none of this, and have no scale."""

    @property
    def narrowest(self) -> float:
        """How wide the interval of an answer is on the linear scale, at its narrowest; 0 for a point, or not known."""

    def interval(self, y: Array) -> tuple[Array, Array]:
        """Return where the linear value was, noise included: the lower and the upper ends, (N,) each."""

    def terms(self, y: Array, mean: Array, sigma: float | Array) -> Terms:
        """Return what answers y (N,) tell about means (N, L)."""

    def anywhere(self, y: Array) -> Array:
        """Return the log-density of answers that have nothing to do with the query, (N,)."""

    def value(self, y: Array) -> Array:
        """Return answers as if they were real numbers on the linear scale."""

    def answer(self, value: Array) -> Array:
        """Return what is answered where the linear value, noise included, is this."""

    def predict(self, mean: Array, sigma: float | Array) -> Array:
        """Return the mean answer where the linear value is `mean` plus noise."""

    def check(self, y: Array) -> None:
        """Raise `InvalidInput` in one line if there are answers that this scale does not have."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; `scale_of` reads them."""


HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))


def real_terms(y: Array, mean: Array, sigma: float | Array) -> Terms:
    """Return what real answers tell: they are the linear value plus Gaussian noise.

    Examples
    --------
    >>> real_terms(np.array([3.0]), np.array([[1.0]]), 1.0).residual
    array([[2.]])
    """
    R = y[:, None] - mean
    square = R * R
    loglik = -0.5 * square / sigma**2 - np.log(sigma) - HALF_LOG_TWO_PI
    return Terms(loglik, R, np.ones_like(R), square)


def terms_of(scale: Scale | None, y: Array, mean: Array, sigma: float | Array) -> Terms:
    """Return what answers y (N,) tell about means (N, L) on a scale; without one they are real numbers.

    Examples
    --------
    >>> terms_of(None, np.array([3.0]), np.array([[1.0]]), 1.0).residual
    array([[2.]])
    """
    return real_terms(y, mean, sigma) if scale is None else scale.terms(y, mean, sigma)
