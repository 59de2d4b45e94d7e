"""One mean for all, from the quartiles of the samples: Algorithm 4."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mixsense.mixture.means import Means
from mixsense.mixture.samples import as_batches, as_count, blocks, load


def single(y: ArrayLike, models: int = 2) -> Means:
    """Fit one Gaussian: the midpoint of the quartiles, returned as each of the means.

    Parameters
    ----------
    y : array_like of shape (..., T)
        Batches of at least two samples: one alone has no spread to tell its error from.
    models : int
        L, the number of means.

    Returns
    -------
    Means
        L equal values. `stderr` is that of (μ₁ + μ₂)/2: the separation is not in it.

    Raises
    ------
    InvalidInput
        If `y` is not real and finite with T ≥ 2, or `models` is not a positive whole number.

    Notes
    -----
    Algorithm 4 (Fit a single Gaussian), Lemma 3, as printed, with interpolated quartiles; equal weights only.
    The error is that of two sample quantiles, (3/f₁² + 2/(f₁f₃) + 3/f₃²)/(64T), where 1/f at each quartile is
    read off the distance between two sample quantiles around it. More than two means need not lie evenly around the
    midpoint: it estimates their average where they are close, which is what it is for, and else lies among them.

    Examples
    --------
    >>> single([0.0, 1.0, 2.0, 3.0, 100.0]).value
    array([2., 2.])
    """
    rows, shape = as_batches(y)
    T, L = rows.shape[1], as_count("models", models)
    b = 0.25 * T**-0.2  # half-width in probability; shrinks at Bofinger's rate
    levels = [0.25 - b, 0.25, 0.25 + b, 0.75 - b, 0.75, 0.75 + b]
    parts = [np.quantile(load(rows[block]), levels, axis=1) for block in blocks(rows)]
    below1, q1, above1, below3, q3, above3 = np.concatenate(parts, axis=1)
    s1, s3 = (above1 - below1) / (2 * b), (above3 - below3) / (2 * b)  # 1/f at the quartiles
    stderr = np.sqrt((3 * s1**2 + 2 * s1 * s3 + 3 * s3**2) / (64 * T))
    return Means(*(np.repeat(part, L).reshape(*shape, L) for part in (q1 + (q3 - q1) / 2, stderr)))
