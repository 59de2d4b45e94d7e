"""One-dimensional estimators: the two means of each batch of answers to one repeated query.

A batch holds T samples of ½N(μ₁, σ²) + ½N(μ₂, σ²). Every function takes any number of batches at once, `y` of
shape (..., T), and treats each as if it were alone. Inside, a batch has a centre c and a half-separation h,
so that its means are c − h and c + h, and is worked on in units of σ.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixsense.arrays import Array, Mask
from mixsense.errors import InvalidInput
from mixsense.mixture.batch_likelihood import information_error, maximise, root_error

BLOCK = 2**16  # samples worked on at a time; measured at T = 500: half and double are slower
LARGEST = 1e150  # squares of what is larger overflow
FEW = 30  # samples up to which `em` tries more than one start


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Estimated means of each batch; the arrays are read-only.

    Attributes
    ----------
    value : array of shape (..., 2)
        The two means, ascending.
    stderr : array of shape (..., 2)
        Their standard errors, finite also where the two means coincide.
    iterations, converged, loglik : arrays of shape (...), or None
        `em` only: passes over the batch, whether the tolerance was reached, log likelihood at `value`.
    """

    value: Array
    stderr: Array
    iterations: NDArray[np.int64] | None = None
    converged: Mask | None = None
    loglik: Array | None = None

    def __post_init__(self) -> None:
        for array in (self.value, self.stderr, self.iterations, self.converged, self.loglik):
            if array is not None:
                array.flags.writeable = False


class Moments(NamedTuple):
    """Mean and variance of each batch, arrays of shape (...)."""

    mean: Array
    variance: Array


def em(y: ArrayLike, sigma: ArrayLike, tol: float = 1e-10, max_iter: int = 500) -> Means:
    """Maximise the likelihood of an equal-weight mixture of two Gaussians of known σ.

    Parameters
    ----------
    y : array_like of shape (..., T)
        Batches of at least two samples.
    sigma : array_like
        Noise level, one number or one for each batch.
    tol : float
        Stop when the remaining error, as the last step predicts it, is below `tol` · σ.
    max_iter : int
        Passes over a batch after which it is returned as it stands, `converged` False.

    Returns
    -------
    Means
        With `iterations`, `converged` and `loglik`.

    Raises
    ------
    InvalidInput
        If `y` is not real and finite with T ≥ 2, or `sigma`, `tol` or `max_iter` is not positive.

    Notes
    -----
    Algorithm 1 (EM), Theorem 2. Differs from the print:
    (1) It starts from the moments, not at random: a random start sometimes ends at a poor point. Up to T = 30
    it also starts from the least and from the largest sample against the rest, and keeps the likeliest end.
    (2) The weights are logistic, as in `em_step`: the printed quotient underflows.
    (3) The step is Newton's on the same likelihood where that is concave: EM alone needs up to thousands. A
    Newton step that does not shrink the gradient is taken back for the EM step. The fixed points are EM's.
    (4) If the sample variance is at most σ², both means are the sample mean: that is the maximum. (Jensen:
    the mean of log cosh(h d) is at most log cosh(h √mean d²); with the rest, largest at h = 0, c the mean.)
    (5) It stops on a tolerance, and returns the number of passes.

    Standard errors come from the observed information for c and h², so that they stay finite at h = 0.
    Where two maxima are exactly equal (samples 0, 10, 20), the one found first is returned.

    Examples
    --------
    >>> means = em([[-3.1, 1.2, -2.9, 0.8], [0.1, 0.2, 0.3, 0.4]], sigma=0.5)
    >>> means.value.round(2)
    array([[-3.  ,  1.  ],
           [ 0.25,  0.25]])
    """
    rows, shape = _batches(y)
    sigmas = _noise(sigma, rows, shape)
    if not (isinstance(tol, int | float) and 0 < tol < math.inf):
        raise InvalidInput(f"tol is {tol!r}; a positive share of sigma is needed: give 1e-10, say", tol=tol)
    limit = _count("max_iter", max_iter)
    parts = [_em_block(_load(rows[block]), sigmas[block], tol, limit) for block in _blocks(rows)]
    low, high, error_low, error_high, passes, converged, loglik = (
        part.reshape(shape) for part in np.concatenate(parts, axis=1)
    )
    value, stderr = np.stack([low, high], axis=-1), np.stack([error_low, error_high], axis=-1)
    return Means(value, stderr, passes.astype(np.int64), converged.astype(np.bool_), loglik)


def em_step(y: ArrayLike, means: ArrayLike, sigma: ArrayLike) -> Array:
    """Make one step of Algorithm 1 as printed, from `means` (..., 2), with weights that do not underflow.

    A component to which no sample belongs keeps its mean.

    Examples
    --------
    >>> em_step([0.0, 1.0, 9.0, 10.0], [2.0, 7.0], sigma=1.0).round(6)
    array([0.5, 9.5])
    """
    rows, shape = _batches(y)
    sigmas = _noise(sigma, rows, shape)
    mu = np.broadcast_to(np.asarray(means, dtype=np.float64), (*shape, 2)).reshape(-1, 2)
    c, h = mu.mean(axis=1), (mu[:, 1] - mu[:, 0]) / 2
    d = _load(rows) - c[:, None]  # (rows, T)
    x = (h / sigmas)[:, None] * (d / sigmas[:, None])
    small = np.exp(-2 * np.abs(x))
    w = np.stack([np.where(x > 0, small, 1.0), np.where(x > 0, 1.0, small)], axis=1)  # (rows, 2, T)
    w /= (1 + small)[:, None]  # P(component | y) = 1 / (1 + e^(±2x))
    total = w.sum(axis=2)
    moved = c[:, None] + np.vecdot(w, d[:, None]) / np.where(total > 0, total, 1.0)
    stepped: Array = np.where(total > 0, moved, mu).reshape(*shape, 2)
    return stepped


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
    rows, shape = _batches(y)
    groups = _groups(batches, rows.shape[1])
    parts = [_median_block(_load(rows[block]), groups) for block in _blocks(rows)]
    mean, variance = np.concatenate(parts, axis=1)
    return Moments(mean.reshape(shape), variance.reshape(shape))


def moments(y: ArrayLike, sigma: ArrayLike, batches: int = 1) -> Means:
    """Solve for the two means from the mean and the variance of the samples.

    Parameters
    ----------
    y : array_like of shape (..., T)
    sigma : array_like
        Noise level, one number or one for each batch.
    batches : int
        Groups of `median_of_means`; 1 takes the plain mean and variance.

    Returns
    -------
    Means

    Raises
    ------
    InvalidInput
        If a group would hold fewer than two samples, `y` is not real and finite, or `sigma` not positive.

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
    rows, shape = _batches(y)
    sigmas = _noise(sigma, rows, shape)
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


def single(y: ArrayLike) -> Means:
    """Fit one Gaussian: the midpoint of the quartiles, returned as both means.

    Parameters
    ----------
    y : array_like of shape (..., T)
        Batches of at least two samples: one alone has no spread to tell its error from.

    Returns
    -------
    Means
        Two equal values. `stderr` is that of (μ₁ + μ₂)/2: the separation is not in it.

    Raises
    ------
    InvalidInput
        If `y` is not real and finite with T ≥ 2.

    Notes
    -----
    Algorithm 4 (Fit a single Gaussian), Lemma 3, as printed, with interpolated quartiles; equal weights only.
    The error is that of two sample quantiles, (3/f₁² + 2/(f₁f₃) + 3/f₃²)/(64T), where 1/f at each quartile is
    read off the distance between two sample quantiles around it.

    Examples
    --------
    >>> single([0.0, 1.0, 2.0, 3.0, 100.0]).value
    array([2., 2.])
    """
    rows, shape = _batches(y)
    T = rows.shape[1]
    b = 0.25 * T**-0.2  # half-width in probability; shrinks at Bofinger's rate
    levels = [0.25 - b, 0.25, 0.25 + b, 0.75 - b, 0.75, 0.75 + b]
    parts = [np.quantile(_load(rows[block]), levels, axis=1) for block in _blocks(rows)]
    below1, q1, above1, below3, q3, above3 = np.concatenate(parts, axis=1)
    s1, s3 = (above1 - below1) / (2 * b), (above3 - below3) / (2 * b)  # 1/f at the quartiles
    stderr = np.sqrt((3 * s1**2 + 2 * s1 * s3 + 3 * s3**2) / (64 * T))
    return Means(*(np.repeat(part, 2).reshape(*shape, 2) for part in (q1 + (q3 - q1) / 2, stderr)))


def _em_block(y: Array, sigma: Array, tol: float, max_iter: int) -> Array:
    """Run Algorithm 1 on one block: both means, both errors, passes, converged, loglik, each (rows,)."""
    T = y.shape[1]
    origin = y.mean(axis=1)
    z = y - origin[:, None]
    z /= sigma[:, None]  # (rows, T), in units of σ
    c = z.mean(axis=1)  # what rounding left of the mean
    variance = np.vecdot(z, z) / T - c**2
    one, zero = np.ones_like(c), np.zeros_like(c)
    best = np.stack([c, zero, one, zero, zero, zero, one, -0.5 * T * variance])  # where variance ≤ 1
    wide = np.flatnonzero(variance > 1)
    if wide.size:
        z, c, h = z if wide.size == len(z) else z[wide], c[wide], np.sqrt(variance[wide] - 1)
        top = maximise(z, c, h, tol, max_iter)
        if T <= FEW:  # one sample against the rest is the better maximum in 1 of 500 at T ≤ 12
            for end in (z.min(axis=1), z.max(axis=1)):
                rest = (T * c - end) / (T - 1)
                other = maximise(z, (end + rest) / 2, np.abs(end - rest) / 2, tol, max_iter)
                top = np.where(other[7] > top[7] + 1e-9, other, top)
        best[:, wide] = top
    c, h, passes, converged, loglik = best[[0, 1, 5, 6, 7]]
    errors = sigma * information_error(best[2:5], h, T)
    loglik -= T * (0.5 * math.log(2 * math.pi) + np.log(sigma))
    return np.stack([origin + sigma * (c - h), origin + sigma * (c + h), *errors, passes, converged, loglik])


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


def _blocks(rows: NDArray[Any]) -> Iterator[slice]:
    size = max(1, BLOCK // rows.shape[1])
    return (slice(start, start + size) for start in range(0, len(rows), size))


def _load(rows: NDArray[Any]) -> Array:
    return np.ascontiguousarray(rows, dtype=np.float64)


def _batches(y: ArrayLike) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Check the samples; return them as (rows, T), not yet converted, and the shape of the leading axes."""
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise InvalidInput("y is ragged; batches of one length are needed: call once per length") from error
    if array.dtype.kind not in "iuf":
        raise InvalidInput(f"y holds {array.dtype}; real numbers are needed: convert it", dtype=array.dtype)
    if array.ndim == 0 or array.shape[-1] < 2 or array.size == 0:
        need = "at least 2 samples a batch, along the last axis, are needed: ask again"
        raise InvalidInput(f"y has shape {array.shape}; {need}", shape=array.shape)
    if not (array.min() >= -LARGEST and array.max() <= LARGEST):  # so written, nan fails too
        i = tuple(int(i) for i in np.argwhere(~((array >= -LARGEST) & (array <= LARGEST)))[0])
        need = f"finite numbers up to {LARGEST:g} are needed: drop that answer or ask again"
        raise InvalidInput(f"y{list(i)} is {array[i]}; {need}", position=i)
    return array.reshape(-1, array.shape[-1]), array.shape[:-1]


def _noise(sigma: ArrayLike, rows: NDArray[Any], shape: tuple[int, ...]) -> Array:
    """Check sigma; return one for each row."""
    array = np.asarray(sigma)
    if array.dtype.kind not in "iuf" or not np.all((array > 0) & (array < np.inf)):
        need = "a finite positive number is needed: give the noise level"
        raise InvalidInput(f"sigma is {sigma!r}; {need}", sigma=sigma)
    try:
        each = np.broadcast_to(array, shape).reshape(-1).astype(np.float64)
    except ValueError:
        need = f"the batches have shape {shape}: give one number or one for each batch"
        raise InvalidInput(f"sigma has shape {array.shape}, but {need}", sigma=sigma) from None
    largest = max(abs(float(rows.min())), abs(float(rows.max())))
    if largest / LARGEST > each.min():
        need = "give both in the same unit"
        raise InvalidInput(f"y reaches {largest:g}, too far beyond sigma = {each.min():g}: {need}", sigma=sigma)
    return each


def _count(name: str, number: int) -> int:
    try:
        count = 0 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        count = 0
    if count < 1:
        raise InvalidInput(f"{name} is {number!r}; a whole number is needed: give 1 or more", given=number)
    return count


def _groups(batches: int, T: int) -> int:
    groups = _count("batches", batches)
    if 2 * groups > T:
        need = f"{groups} groups need {2 * groups}: ask for {2 * groups - T} more, or give batches={T // 2}"
        raise InvalidInput(f"each batch has {T} samples; {need}", batches=groups, samples=T)
    return groups
