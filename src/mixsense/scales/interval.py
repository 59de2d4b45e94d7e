"""Answers of which only an interval is known: the truncated normal distribution, and its moments."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array
from mixsense.scales.scale import HALF_LOG_TWO_PI, Terms, real_terms

NARROW = 1e-3
"""An interval narrower than this many σ is taken for a point.
Derived: the moments of a normal truncated to width w differ from the point's by w²/12, below 10⁻⁷, and differences of
two normal distribution functions lose digits as 10⁻¹⁶/w."""


def interval_terms(low: Array, high: Array, mean: Array, sigma: float | Array) -> Terms:
    """Return what answers tell of which it is known that the linear value lay in [low, high].

    Parameters
    ----------
    low, high : (N,) arrays
        The ends, −∞ and ∞ among them; where they are equal, the answer is a point.
    mean : (N, L) array
        The linear value under each model, without noise.
    sigma : float or (L,) array
        Noise.

    Examples
    --------
    >>> found = interval_terms(np.array([0.0]), np.array([np.inf]), np.array([[0.0]]), 1.0)
    >>> np.exp(found.loglik).round(6), found.residual.round(4), found.curvature.round(4), found.square.round(4)
    (array([[0.5]]), array([[0.7979]]), array([[0.6366]]), array([[1.]]))
    """
    from scipy.special import log_ndtr

    narrow = (high - low)[:, None] < NARROW * sigma + np.zeros_like(mean)
    safe = np.where(narrow, mean, 0.0)
    a = np.where(narrow, -1.0, (low[:, None] - mean) / sigma)
    b = np.where(narrow, 1.0, (high[:, None] - mean) / sigma)
    # Φ(b) − Φ(a) in the tail that has digits left: to the right of 0, both ends are mirrored.
    right = a > 0
    left, up = np.where(right, -b, a), np.where(right, -a, b)
    top = log_ndtr(up)
    log_z = top + np.log1p(-np.exp(np.minimum(log_ndtr(left) - top, -1e-16)))
    density_a, density_b = (np.exp(-0.5 * end * end - HALF_LOG_TWO_PI - log_z) for end in (a, b))
    e = density_a - density_b  # the mean of the truncated normal, in σ
    ends = _times(a, density_a) - _times(b, density_b)
    found = Terms(log_z, sigma * e, np.clip(e * e - ends, 0.0, 1.0), sigma**2 * np.maximum(1 + ends, 0.0))
    if not narrow.any():
        return found
    middle = np.where(np.isfinite(high - low), (low + high) / 2, 0.0)
    point = real_terms(middle, np.where(narrow, safe, 0.0), sigma)
    width = np.where(high > low, high - low, 1.0)[:, None]  # of a point the density counts
    point = point._replace(loglik=point.loglik + np.log(np.where(np.isfinite(width), width, 1.0)))
    return Terms(*(np.where(narrow, p, f) for p, f in zip(point, found, strict=True)))


def _times(end: Array, density: Array) -> Array:
    """Return end · density, which is 0 at infinity."""
    product: Array = np.where(np.isinf(end), 0.0, np.where(np.isinf(end), 0.0, end) * density)
    return product
