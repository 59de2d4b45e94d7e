"""Which coefficients are not zero: a spike-and-slab posterior for a quadratic log-likelihood.

Each coefficient is zero, or drawn from one of a few Gaussian slabs. Against a lasso this costs nothing in computing and
shrinks nothing that is clearly there; what is doubtful is weighed with its probability instead of being cut off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array, Mask
from mixsense.regression import tuning

EVEN = np.ones(len(tuning.SLAB_SCALES)) / len(tuning.SLAB_SCALES)
"""All slabs equally probable."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The slabs: their variances, and the log odds of each against zero."""

    variances: tuple[float, ...]
    log_odds: tuple[float, ...]

    @classmethod
    def of(cls, variance: float, rate: float, noise: float, shares: Array = EVEN) -> Prior:
        """Make slabs for coefficients of this variance, a share `rate` of them non-zero, seen through this noise.

        `shares` says how the non-zero ones are spread over the slabs.
        """
        odds, scales = rate / (1 - rate), tuning.SLAB_SCALES
        wide = [i for i, scale in enumerate(scales) if variance * scale >= tuning.LEAST_SLAB_WIDTH * noise]
        if not wide:
            return cls((max(variance, tuning.LONE_SLAB_WIDTH * noise),), (math.log(odds),))
        total = float(shares[wide].sum())
        return cls(
            tuple(variance * scales[i] for i in wide), tuple(math.log(odds * float(shares[i]) / total) for i in wide)
        )


def slab_shares(mean: Array, inclusion: Array, variance: float) -> Array:
    """Return how the coefficients that were found are spread over the slabs, from one of each slab to begin with.

    Examples
    --------
    >>> slab_shares(np.array([1.0, -2.0, 1.5, 0.0]), np.array([1.0, 1.0, 1.0, 0.0]), 2.0).round(2)
    array([0.62, 0.21, 0.17])
    """
    there = inclusion > tuning.SUPPORT_PROBABILITY
    size = (mean[there] / inclusion[there]) ** 2
    slabs = variance * np.array(tuning.SLAB_SCALES)[:, None]
    log_p = -0.5 * (size / slabs + np.log(slabs))
    p = np.exp(log_p - log_p.max(axis=0, initial=-math.inf))
    found = (p / p.sum(axis=0) * inclusion[there]).sum(axis=1) + tuning.PSEUDO_COUNT
    shares: Array = found / found.sum()
    return shares


class Posterior(NamedTuple):
    """Mean, second moment and probability to be non-zero of each coefficient."""

    mean: Array
    square: Array
    inclusion: Array


def marginal(score: Array, information: Array, prior: Prior) -> Posterior:
    """Return the posterior of each coefficient if all others were known.

    Parameters
    ----------
    score : array
        Linear coefficient b of the log-likelihood b z − G z²/2 of each.
    information : array
        G of each.
    prior : Prior
        The slabs.

    Examples
    --------
    >>> marginal(np.array([0.5, 40.0]), np.array([4.0, 4.0]), Prior((100.0,), (-3.0,))).inclusion.round(3)
    array([0.003, 1.   ])
    """
    sizes = np.array(prior.variances).reshape(-1, *[1] * score.ndim)
    v = 1 / (information + 1 / sizes)
    nats = np.array(prior.log_odds).reshape(sizes.shape) + 0.5 * np.log(v / sizes) + 0.5 * v * score**2
    weights = np.exp(nats - np.maximum(nats.max(axis=0) - tuning.LARGEST_NATS, 0.0))
    total, first, second = np.ones_like(score), np.zeros_like(score), np.zeros_like(score)
    for w, each in zip(weights, v, strict=True):
        m = each * score
        total, first, second = total + w, first + w * m, second + w * (m * m + each)
    return Posterior(first / total, second / total, 1 - 1 / total)


def joint(
    G: Array,
    b: Array,
    prior: Prior,
    start: Array,
    sweeps: int = tuning.JOINT_SWEEPS,
    tol: float = tuning.JOINT_TOLERANCE,
    sure: Mask | None = None,
    only: Mask | None = None,
) -> Posterior:
    """Return the variational posterior of all coefficients, for the log-likelihood bᵀz − zᵀGz/2.

    Parameters
    ----------
    G, b : (d, d) and (d,) arrays
        The quadratic log-likelihood.
    prior : Prior
        The slabs.
    start : (d,) array
        Means to start from.
    sweeps : int
        Most rounds over the coefficients.
    tol : float
        Stop when no mean moves by more than √tol of its own standard error.
    sure : (d,) array of bool, optional
        Coefficients that are in, whatever they are: no prior shrinks them.
    only : (d,) array of bool, optional
        The coefficients to renew; the others stay where they are. All by default.

    Notes
    -----
    Coordinate ascent of Carbonetto and Stephens (2012), with several slabs. A loop over plain floats: the update of one
    coefficient is too small for arrays.
    """
    # Of each coefficient to renew: its place, information, half the squared score up to which no slab is beyond
    # `LARGEST_NATS`, the variance and log odds at score 0 of each slab, and what a step changes in all scores.
    diagonal, sizes = np.diag(G), np.array(prior.variances)
    renewed = np.flatnonzero(diagonal > 0 if only is None else only & (diagonal > 0))
    information = diagonal[renewed]
    v = 1 / (information[:, None] + 1 / sizes)
    odds = np.array(prior.log_odds) + 0.5 * np.log(v / sizes)
    if sure is not None and sure.any():
        given = sure[renewed]
        v[given], odds[given] = 1 / information[given, None], 100.0  # beyond all doubt
    slabs = [list(zip(*pair, strict=True)) for pair in zip(v.tolist(), odds.tolist(), strict=True)]
    safe = (tuning.LARGEST_NATS - odds.max(axis=1)) / v.max(axis=1)
    places = list(zip(renewed.tolist(), information.tolist(), safe.tolist(), slabs, G[renewed], strict=True))
    mean, inclusion, square = start.tolist(), [0.0] * len(b), [0.0] * len(b)
    left = b - G @ start  # the scores that are left
    current, exp, largest = places, math.exp, tuning.LARGEST_NATS
    for _ in range(sweeps):
        move = 0.0
        for j, g, most, each, row in current:
            old = mean[j]
            r = left.item(j) + g * old
            half, total, first, second, over = 0.5 * r * r, 1.0, 0.0, 0.0, 0.0
            if half > most:
                over = max(max([log_odds + variance * half for variance, log_odds in each]) - largest, 0.0)
            for variance, log_odds in each:
                w = exp(log_odds + variance * half - over)
                total += w
                w *= variance
                first += w
                second += w * variance
            inclusion[j], square[j] = 1 - 1 / total, (second * r * r + first) / total
            step = first * r / total - old
            moved = step * step * g
            if moved > 1e-10:
                mean[j] = old + step
                left -= row * step
                if moved > move:
                    move = moved
        if move < tol and current is places:
            break
        # All coefficients and those that matter take turns: the latter move, the others only have to be looked at.
        matters = places if only is not None else [p for p in places if inclusion[p[0]] > tuning.LEAST_MATTERING]
        current = matters if move >= tol and current is places else places
    return Posterior(np.array(mean), np.array(square), np.array(inclusion))
