"""The means by maximum likelihood: Algorithm 1."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.mixture import several_means
from mixsense.mixture.batch_likelihood import information_error, maximise
from mixsense.mixture.means import Means
from mixsense.mixture.samples import as_batches, as_count, as_noise, blocks, load

FEW_SAMPLES = 30
"""Up to this number of samples `em` tries more than one start: one sample against the rest is then sometimes the better
maximum (at T ≤ 12 in 1 batch of 500)."""


def em(y: ArrayLike, sigma: ArrayLike, tol: float = 1e-10, max_iter: int = 500, models: int = 2) -> Means:
    """Maximise the likelihood of an equal-weight mixture of Gaussians of known σ, two unless `models` says otherwise.

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
    models : int
        L, the number of means, each with the share 1/L.

    Returns
    -------
    Means
        `value` and `stderr` of shape (..., L), with `iterations`, `converged` and `loglik`.

    Raises
    ------
    InvalidInput
        If `y` is not real and finite with T ≥ 2, or `sigma`, `tol`, `max_iter` or `models` is not positive.

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

    (6) Any number of means, where the print has two and Theorem 2 holds for two. More than two start from the means of
    L groups of the sorted samples: equally large ones, and those that the widest gaps leave; the likeliest end is
    kept. No start is known to be always right for them: 32 of 2,400 batches of 100 samples with 3 to 6 means ended
    below what the true means lead to; of 4,800 batches of 300 or 600, none by more than 0.1 in log likelihood.

    Standard errors come from the observed information for c and h², so that they stay finite at h = 0. For more than
    two means they need about 30 samples a mean: with fewer, a mean sometimes goes to the wrong cluster.
    Where two maxima are exactly equal (samples 0, 10, 20), the one found first is returned.

    Examples
    --------
    >>> means = em([[-3.1, 1.2, -2.9, 0.8], [0.1, 0.2, 0.3, 0.4]], sigma=0.5)
    >>> means.value.round(2)
    array([[-3.  ,  1.  ],
           [ 0.25,  0.25]])
    >>> em([-3.1, 1.2, 6.1, -2.9, 5.9, 0.8], sigma=0.5, models=3).value.round(2)
    array([-3.,  1.,  6.])
    """
    rows, shape = as_batches(y)
    sigmas = as_noise(sigma, rows, shape)
    if not (isinstance(tol, int | float) and 0 < tol < math.inf):
        raise InvalidInput(f"tol is {tol!r}; a positive share of sigma is needed: give 1e-10, say", tol=tol)
    limit = as_count("max_iter", max_iter)
    L = as_count("models", models)
    block_of = _em_block if L == 2 else partial(_several_block, L)
    parts = [block_of(load(rows[block]), sigmas[block], tol, limit) for block in blocks(rows, L)]
    found = np.concatenate(parts, axis=1)  # (2 L + 3, rows)
    value, stderr = (np.moveaxis(part, 0, -1).reshape(*shape, L) for part in (found[:L], found[L : 2 * L]))
    passes, converged, loglik = (part.reshape(shape) for part in found[2 * L :])
    return Means(value, stderr, passes.astype(np.int64), converged.astype(np.bool_), loglik)


def em_step(y: ArrayLike, means: ArrayLike, sigma: ArrayLike) -> Array:
    """Make one step of Algorithm 1 as printed, from `means` (..., L), with weights that do not underflow.

    A component to which no sample belongs keeps its mean.

    Examples
    --------
    >>> em_step([0.0, 1.0, 9.0, 10.0], [2.0, 7.0], sigma=1.0).round(6)
    array([0.5, 9.5])
    """
    rows, shape = as_batches(y)
    sigmas = as_noise(sigma, rows, shape)
    given = np.atleast_1d(np.asarray(means, dtype=np.float64))
    L = given.shape[-1]
    mu = np.broadcast_to(given, (*shape, L)).reshape(-1, L)
    c = mu.mean(axis=1)
    d = load(rows) - c[:, None]  # (rows, T)
    h = (mu - c[:, None]) / sigmas[:, None]  # (rows, L)
    w = h[:, :, None] * (d / sigmas[:, None])[:, None] - (h**2 / 2)[:, :, None]  # log density + constant
    w = np.exp(w - w.max(axis=1, keepdims=True))  # (rows, L, T)
    w /= w.sum(axis=1, keepdims=True)  # P(component | y)
    total = w.sum(axis=2)
    moved = c[:, None] + np.vecdot(w, d[:, None]) / np.where(total > 0, total, 1.0)
    stepped: Array = np.where(total > 0, moved, mu).reshape(*shape, L)
    return stepped


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
        if T <= FEW_SAMPLES:
            for end in (z.min(axis=1), z.max(axis=1)):
                rest = (T * c - end) / (T - 1)
                other = maximise(z, (end + rest) / 2, np.abs(end - rest) / 2, tol, max_iter)
                top = np.where(other[7] > top[7] + 1e-9, other, top)
        best[:, wide] = top
    c, h, passes, converged, loglik = best[[0, 1, 5, 6, 7]]
    errors = sigma * information_error(best[2:5], h, T)
    loglik -= T * (0.5 * math.log(2 * math.pi) + np.log(sigma))
    return np.stack([origin + sigma * (c - h), origin + sigma * (c + h), *errors, passes, converged, loglik])


def _several_block(L: int, y: Array, sigma: Array, tol: float, max_iter: int) -> Array:
    """Run Algorithm 1 for L means on one block: L means, L errors, passes, converged, loglik, each (rows,)."""
    T = y.shape[1]
    origin = y.mean(axis=1)
    top = several_means.maximise((y - origin[:, None]) / sigma[:, None], L, tol, max_iter)
    means = origin + sigma * top.mu.T  # (L, rows)
    errors = sigma * several_means.information_error(top.information, top.mu, T).T
    loglik = top.loglik - T * (0.5 * math.log(2 * math.pi) + np.log(sigma))
    return np.concatenate([means, errors, np.stack([top.passes, top.converged, loglik])])
