"""Which coefficients are not zero: a spike-and-slab posterior for a quadratic log-likelihood.

Each coefficient is zero, or drawn from one of a few Gaussian slabs. Against a lasso this costs nothing in computing and
shrinks nothing that is clearly there; what is doubtful is weighed with its probability instead of being cut off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SCALES = (1.0, 0.1, 0.01)
"""Variances of the slabs relative to the largest: small coefficients are expected too."""
FLOOR = 50.0
"""A slab this many noise variances wide still tells something; narrower ones are dropped."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The slabs: their variances, and the log odds of each against zero."""

    variances: tuple[float, ...]
    log_odds: float

    @classmethod
    def of(cls, variance: float, rate: float, noise: float) -> Prior:
        """Make slabs for coefficients of this variance, a share `rate` of them non-zero, seen through this noise."""
        wide = tuple(variance * s for s in SCALES if variance * s >= FLOOR * noise)
        wide = wide or (max(variance, FLOOR / 4 * noise),)
        return cls(wide, math.log(rate / (1 - rate) / len(wide)))


class Posterior(NamedTuple):
    """Mean, second moment and probability to be non-zero of each coefficient."""

    mean: Array
    square: Array
    inclusion: Array


def alone(score: Array, information: Array, prior: Prior) -> Posterior:
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
    >>> alone(np.array([0.5, 40.0]), np.array([4.0, 4.0]), Prior((100.0,), -3.0)).inclusion.round(3)
    array([0.003, 1.   ])
    """
    total, first, second = np.ones_like(score), np.zeros_like(score), np.zeros_like(score)
    for size in prior.variances:
        v = 1 / (information + 1 / size)
        m = v * score
        w = np.exp(np.minimum(prior.log_odds + 0.5 * np.log(v / size) + 0.5 * m * score, 200.0))
        total, first, second = total + w, first + w * m, second + w * (m * m + v)
    return Posterior(first / total, second / total, 1 - 1 / total)


def together(G: Array, b: Array, prior: Prior, start: Array, sweeps: int = 10, tol: float = 1e-4) -> Posterior:
    """Return the variational posterior for the log-likelihood bᵀz − zᵀGz/2.

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

    Notes
    -----
    Coordinate ascent of Carbonetto and Stephens (2012), with several slabs. A loop over plain floats: the update of one
    coefficient is too small for arrays.
    """
    mean, Gm = start.copy(), G @ start
    inclusion, square = np.zeros(len(b)), np.zeros(len(b))
    diagonal, linear = np.diag(G).tolist(), b.tolist()
    slabs = [(1 / size, prior.log_odds - 0.5 * math.log(size)) for size in prior.variances]
    for _ in range(sweeps):
        move = 0.0
        for j, g in enumerate(diagonal):
            if g <= 0:
                continue
            old = float(mean[j])
            r = linear[j] - float(Gm[j]) + g * old
            total, first, second = 1.0, 0.0, 0.0
            for precision, odds in slabs:
                v = 1 / (g + precision)
                m = v * r
                w = math.exp(min(odds + 0.5 * math.log(v) + 0.5 * m * r, 200.0))
                total += w
                first += w * m
                second += w * (m * m + v)
            inclusion[j], square[j] = 1 - 1 / total, second / total
            step = first / total - old
            if step * step * g > 1e-10:
                mean[j] = old + step
                Gm += G[j] * step
                move = max(move, step * step * g)
        if move < tol:
            break
    return Posterior(mean, square, inclusion)
