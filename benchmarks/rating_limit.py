"""The least error that ratings allow: the Cramér–Rao bound of two models behind answers that are rounded and cut.

Used by `benchmarks/scales.py`; the noise and the share of the models are unknown, as they are in the fits.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

DRAWS = 400
"""Draws of the errors, of which the mean of the worse model's is taken."""
LEAST = 1e-14
"""An answer that is less probable counts as impossible."""


def least_error(full: np.ndarray, X: np.ndarray, sigma: float, borders: np.ndarray, rng: np.random.Generator) -> float:
    """Return the expected worst ℓ2 error of an efficient estimate of two models with equal shares, (2, c).

    Parameters
    ----------
    full : (2, c) array
        The models.
    X : (N, c) array
        The rows, the constant included.
    sigma : float
        Noise.
    borders : (b,) array
        Where the answer changes.
    rng : Generator
        Draws the errors.
    """
    c, parts = full.shape[1], [_probabilities(X @ beta, sigma, borders) for beta in full]
    (p1, m1, s1), (p2, m2, s2) = parts  # each (N, b + 1): probability, its slopes in the mean and in σ
    p = (p1 + p2) / 2
    inverse = np.where(p > LEAST, 1 / np.maximum(p, LEAST), 0.0)
    slopes = [m1 / 2, m2 / 2, (s1 + s2) / 2, p1 - p2]
    rows = [X, X, np.ones((len(X), 1)), np.ones((len(X), 1))]
    J = np.block(
        [
            [A.T @ ((a * b * inverse).sum(axis=1)[:, None] * B) for b, B in zip(slopes, rows, strict=True)]
            for a, A in zip(slopes, rows, strict=True)
        ]
    )
    covariance = np.linalg.inv(J)[: 2 * c, : 2 * c]
    errors = rng.multivariate_normal(np.zeros(2 * c), covariance, DRAWS).reshape(-1, 2, c)
    return float(np.linalg.norm(errors, axis=2).max(axis=1).mean())


def _probabilities(mean: np.ndarray, sigma: float, borders: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z = (borders - mean[:, None]) / sigma
    density, nothing = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi), np.zeros((len(mean), 1))
    below = np.hstack([nothing, ndtr(z), nothing + 1])
    in_mean, in_sigma = (np.hstack([nothing, end, nothing]) / sigma for end in (density, z * density))
    return np.diff(below, axis=1), -np.diff(in_mean, axis=1), -np.diff(in_sigma, axis=1)
