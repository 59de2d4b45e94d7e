"""The two means from the mean and the variance of the samples: Algorithms 2 and 3."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.mixture.batch_likelihood import root_error
from mixsense.mixture.means import Means, Moments
from mixsense.mixture.samples import as_batches, as_count, as_noise, blocks, load


def median_of_means(y: ArrayLike, batches: int) -> Moments:
    """Estimate mean and variance robustly, by the medians of those of `batches` groups of samples.

    Parameters
    ----------
    y : array_like of shape (..., T)
    batches : int
        Number of groups, between 1 and T // 2.

    Returns
    -------
    Moments
        `mean` and `variance`, each of shape (...).

    Raises
    ------
    InvalidInput
        If a group would hold fewer than two samples, or `y` is not real and finite.

    Notes
    -----
    Algorithm 2 (Estimate), Lemmas 1 and 2. Differs from the print:
    (1) Group i is {(i−1)t+1, …, it}, and its terms are yʲ: the printed indices start one group late.
    (2) If `batches` does not divide T, the first T mod `batches` groups take one sample more: none is lost.

    The median of the variances lies below their mean, by a share of about 2/(3(t−1)) for groups of t.

    Examples
    --------
    >>> estimate = median_of_means([1.0, 3.0, 2.0, 4.0, 0.0, 900.0], batches=3)
    >>> float(estimate.mean), float(estimate.variance)
    (3.0, 2.0)
    """
    rows, shape = as_batches(y)
    groups = _groups(batches, rows.shape[1])
    parts = [_median_block(load(rows[block]), groups) for block in blocks(rows)]
    mean, variance = np.concatenate(parts, axis=1)
    return Moments(mean.reshape(shape), variance.reshape(shape))


def moments(y: ArrayLike, sigma: ArrayLike, batches: int = 1, models: int = 2) -> Means:
    """Solve for the two means from the mean and the variance of the samples.

    Parameters
    ----------
    y : array_like of shape (..., T)
    sigma : array_like
        Noise level, one number or one for each batch.
    batches : int
        Groups of `median_of_means`; 1 takes the plain mean and variance.
    models : int
        L, the number of means: two. A mean and a variance tell no more of them.

    Returns
    -------
    Means

    Raises
    ------
    InvalidInput
        If a group would hold fewer than two samples, `y` is not real and finite, `sigma` not positive, or
        `models` not 2.

    Notes
    -----
    Algorithm 3 (Method of moments), Theorem 3. Differs from the print:
    (1) M₂ − σ² is clipped at 0: it is negative in half of all batches with equal means. The bound holds.

    The errors use the exact Var(S²) = (2σ⁴ + 4σ²h²)/T + 2(σ² + h²)²/(T(T−1)) of the mixture, at the estimate.
    From three groups on, that of a median is up to π/2 times as large, and its bias counts as error too.

    Examples
    --------
    >>> moments([-3.0, -1.0, 1.0, 3.0], sigma=1.0).value.round(3)
    array([-2.38,  2.38])
    """
    if as_count("models", models) != 2:
        raise InvalidInput(
            f"models is {models}: mean and variance determine two means only; use mixture.em", models=models
        )
    rows, shape = as_batches(y)
    sigmas = as_noise(sigma, rows, shape)
    mean, variance = (part.reshape(-1) for part in median_of_means(y, batches))
    h = np.sqrt(np.maximum(variance / sigmas / sigmas - 1, 0.0))  # in units of σ, as all that follows
    T, groups, total = rows.shape[1], int(batches), 1 + h**2
    inflation, t = (math.pi / 2 if groups > 2 else 1.0), T // groups
    error_c = np.sqrt(inflation * total / T)
    bias = 2 / (3 * (t - 1)) * total if groups > 2 else 0.0
    error_h2 = np.sqrt(inflation * ((2 + 4 * h**2) / T + 2 * total**2 / (T * (t - 1))) + bias**2)
    stderr = sigmas * np.hypot(error_c, root_error(h, error_h2))
    value = mean[:, None] + (sigmas * h)[:, None] * [-1.0, 1.0]
    return Means(value.reshape(*shape, 2), np.repeat(stderr, 2).reshape(*shape, 2))


def _median_block(y: Array, groups: int) -> Array:
    """Take the medians over the groups of their means and of their variances: (2, rows)."""
    rows, T = y.shape
    longer = T % groups * (T // groups + 1)  # samples in the groups that take one more
    origin = y.mean(axis=1)
    z = y - origin[:, None]
    parts = [z[:, :longer].reshape(rows, T % groups, -1)] if longer else []
    parts.append(z[:, longer:].reshape(rows, groups - T % groups, -1))
    mean = np.concatenate([part.mean(axis=2) for part in parts], axis=1)  # (rows, groups)
    variance = np.concatenate([part.var(axis=2, ddof=1) for part in parts], axis=1)
    return np.stack([origin + np.median(mean, axis=1), np.median(variance, axis=1)])


def _groups(batches: int, T: int) -> int:
    groups = as_count("batches", batches)
    if 2 * groups > T:
        need = f"{groups} groups need {2 * groups}: ask for {2 * groups - T} more, or give batches={T // 2}"
        raise InvalidInput(f"each batch has {T} samples; {need}", batches=groups, samples=T)
    return groups
