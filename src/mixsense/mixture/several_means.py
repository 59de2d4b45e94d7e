"""The likelihood of a batch with L means of equal shares: how its maximum is reached, and how sharp it is.

A batch holds T samples of (1/L) Σ N(μ_j, 1): everything here is in units of σ, rows are batches. For L = 2
`batch_likelihood` does the same with one tanh a sample.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array, Mask
from mixsense.mixture.batch_likelihood import root_error

SHRINK = 0.7
"""The share of a gap between two means that one Newton step may close, so that their order stays (as for L = 2)."""
SAME = 1e-14
"""Means this close, in units of σ, are one."""


class Top(NamedTuple):
    """Where the likelihood of each row is largest, and what it looks like there."""

    mu: Array  # (rows, L), ascending
    information: Array  # (rows, L, L), minus the Hessian over T
    passes: Array  # (rows,)
    converged: Mask  # (rows,)
    loglik: Array  # (rows,), without its constant


def maximise(z: Array, L: int, tol: float, max_iter: int) -> Top:
    """Climb from every start; keep the likeliest end of each row."""
    best: Top | None = None
    for start in _starts(z, L):
        top = _climb(z, start, tol, max_iter)
        if best is None:
            best = top
            continue
        better = top.loglik > best.loglik + 1e-9
        for old, new in zip(best, top, strict=True):
            old[better] = new[better]
    assert best is not None
    return best


def _starts(z: Array, L: int) -> list[Array]:
    """Return the means of the samples in L groups: equally many in each, or divided by the widest gaps between them."""
    rows, T = z.shape
    ordered = np.sort(z, axis=1)
    edges = np.linspace(0, T, L + 1).round().astype(np.intp)
    if L == 1 or T < L:
        return [ordered.mean(axis=1, keepdims=True) if L == 1 else ordered[:, np.arange(L) * T // L]]
    equal = np.stack([ordered[:, a:b].mean(axis=1) for a, b in pairwise(edges)], axis=1)
    # The groups that the L − 1 widest gaps leave: sums over them from the cumulated sums.
    cuts = np.sort(np.argpartition(np.diff(ordered, axis=1), T - L, axis=1)[:, T - L :], axis=1) + 1  # (rows, L − 1)
    ends = np.concatenate([np.zeros((rows, 1), np.intp), cuts, np.full((rows, 1), T)], axis=1)
    total = np.concatenate([np.zeros((rows, 1)), ordered.cumsum(axis=1)], axis=1)
    return [equal, np.diff(np.take_along_axis(total, ends, axis=1), axis=1) / np.diff(ends, axis=1)]


def _climb(z: Array, mu: Array, tol: float, max_iter: int) -> Top:
    """Newton's method with EM as its safeguard, each row until it has converged."""
    rows, L = mu.shape
    result = Top(mu.copy(), np.zeros((rows, L, L)), np.zeros(rows), np.zeros(rows, np.bool_), np.full(rows, -np.inf))
    live = np.arange(rows)  # rows still climbing; all arrays below are theirs
    before, fallback = np.full(rows, -np.inf), mu  # at the point before: likelihood, EM step
    for passes in range(1, max_iter + 1):
        loglik, gradient, hessian, em_point = _derivatives(z, mu)
        worse = loglik < before - 1e-9 * (1 + np.abs(before))
        curvature, axes = np.linalg.eigh(-hessian)
        concave = curvature[:, 0] > 0
        along = np.where(concave[:, None], curvature, 1.0)
        step = np.einsum("rij,rj->ri", axes, np.einsum("rij,ri->rj", axes, gradient) / along)
        gap = np.diff(mu, axis=1)
        closing = np.maximum(-np.diff(step, axis=1) / (SHRINK * gap + SAME), 0.0).max(axis=1, initial=0.0)
        step /= np.maximum(closing, 1.0)[:, None]
        size = np.linalg.norm(step, axis=1)
        newton = concave & ~worse
        narrow = gap.min(axis=1, initial=1.0)
        done = newton & ((size**2 <= tol * narrow) | (size <= tol))  # Newton's error is about size² / gap
        point = np.where(newton[:, None], mu + step, np.where(worse[:, None], fallback, em_point))
        point.sort(axis=1)  # equal means, but for rounding
        for kept, now in zip(result, (point, -hessian, passes, done, loglik), strict=True):
            kept[live] = now
        before, fallback, mu = np.where(worse, -np.inf, loglik), em_point, point
        if done.any():
            keep = ~done
            live, z, mu, before, fallback = live[keep], z[keep], mu[keep], before[keep], fallback[keep]
        if not live.size:
            break
    if live.size:  # out of passes
        result.loglik[live] = _derivatives(z, mu)[0]
    return result


def _derivatives(z: Array, mu: Array) -> tuple[Array, Array, Array, Array]:
    """Give the log likelihood, its gradient and its Hessian over T, and the EM step."""
    T, L = z.shape[1], mu.shape[1]
    d = z[:, None, :] - mu[:, :, None]  # (rows, L, T)
    w = -0.5 * d**2
    peak = w.max(axis=1, keepdims=True)
    np.exp(w - peak, out=w)
    total = w.sum(axis=1, keepdims=True)
    loglik = (peak + np.log(total)).sum(axis=(1, 2)) - T * math.log(L)
    w /= total  # P(component | z)
    wd = w * d
    share, gradient = w.sum(axis=2) / T, wd.sum(axis=2) / T
    hessian = -(wd @ wd.transpose(0, 2, 1)) / T
    np.einsum("rii->ri", hessian)[...] += np.vecdot(wd, d) / T - share
    em_point = mu + gradient / np.where(share > 0, share, 1.0)  # a mean that no sample belongs to stays
    return loglik, gradient, hessian, em_point


def information_error(information: Array, mu: Array, T: int) -> Array:
    """Turn the observed information over T into standard errors (rows, L) of the means.

    Where two means coincide the information about their half-distance h vanishes, but not that about h²: its standard
    error is √(L/T) there, as it is √(2/T) for L = 2. So no direction of the means is less certain than that makes it,
    and what `root_error` adds to the error of each h comes on top for both of its means.
    """
    L = mu.shape[1]
    curvature, axes = np.linalg.eigh(information)
    variances = 1 / np.maximum(T * curvature, math.sqrt(T / L))
    covariance = np.einsum("rij,rj,rkj->rik", axes, variances, axes)
    variance: Array = np.einsum("rii->ri", covariance).copy()
    if L > 1:
        h = np.diff(mu, axis=1) / 2  # (rows, L − 1)
        between = np.einsum("rii->ri", covariance[:, 1:, :-1])
        error = np.sqrt(np.maximum(variance[:, 1:] + variance[:, :-1] - 2 * between, 0.0)) / 2
        added = np.maximum(root_error(h, np.maximum(2 * h * error, math.sqrt(L / T))) ** 2 - error**2, 0.0)
        variance[:, 1:] += added
        variance[:, :-1] += added
    return np.sqrt(variance)
