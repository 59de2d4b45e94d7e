"""How large the error is if what was not found is like what was: a posterior over coefficients of every size.

Each coefficient is zero, or drawn from one of many slabs, an octave apart, from the largest coefficient down to the
noise. How many there are in each octave is learned from the answers, beginning with one half: where nothing was found,
little is expected.
"""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.regression.fit import Fit
from mixsense.regression.one_step import OneStep


def typical_error(fit: Fit, steps: OneStep, eta: float) -> float:
    """Return the posterior 1 − η quantile of the worst model's ℓ2 error.

    Parameters
    ----------
    fit : Fit
        The fitted models.
    steps : OneStep
        Their steps to the unpenalised estimates, from all that was asked.
    eta : float
        Probability with which the error may be larger.

    Notes
    -----
    Drawn by a Gibbs sampler, whose seed is fixed.
    """
    rng, draws = np.random.default_rng(0), tuning.BOUND_DRAWS
    total = np.stack([_found(fit, a, draws, rng) for a in range(fit.L)], axis=1)  # (draws, L)
    rest = (fit.inclusion < tuning.BEYOND_DOUBT) & np.isfinite(steps.spread)
    model, _ = np.nonzero(rest)
    if len(model):
        V, middle = steps.spread[rest], fit.beta[rest]
        for sweep, value in enumerate(_draws(middle + steps.step[rest], V, float(np.abs(fit.beta).max()), draws, rng)):
            total[sweep] += np.bincount(model, (value - middle) ** 2, fit.L)
    return float(np.sqrt(np.quantile(total.max(axis=1), 1 - eta)))


def _found(fit: Fit, a: int, draws: int, rng: np.random.Generator) -> Array:
    """Draw the squared error of the coefficients of model a that are beyond doubt, (draws,)."""
    model, place = fit.support
    here = (model == a) & (fit.inclusion[model, place] >= tuning.BEYOND_DOUBT)
    e = np.maximum(np.linalg.eigvalsh(fit.covariance[np.ix_(here, here)]), 0)
    squares: Array = rng.standard_normal((draws, len(e))) ** 2 @ e
    return squares


def _draws(b: Array, V: Array, largest: float, draws: int, rng: np.random.Generator) -> list[Array]:
    """Draw coefficients from their posterior given estimates b with variances V, by Gibbs sampling."""
    V = np.maximum(V, 1e-24 * largest**2 + 1e-200)  # what is known exactly is known to twelve digits
    noise = math.sqrt(float(np.median(V)))
    octaves = max(1, math.ceil(math.log2(max(largest, noise) / noise)) + 1)
    slab = max(largest, noise) ** 2 / 4.0 ** np.arange(octaves)  # variances
    wide = V[:, None] + slab
    # Likelihood of b under each slab over that under zero.
    ratio = np.exp(np.minimum(0.5 * b[:, None] ** 2 * (1 / V[:, None] - 1 / wide), 500.0)) * np.sqrt(V[:, None] / wide)
    shrink = slab / wide
    expected, kept = np.full(octaves, tuning.EXPECTED_IN_AN_OCTAVE), []
    rows = np.arange(len(b))
    for sweep in range(tuning.GIBBS_SETTLES + draws):
        share = expected / len(b)
        odds = np.cumsum(ratio * share / max(1 - float(share.sum()), tuning.LEAST_SHARE_OF_ZEROS), axis=1)
        level = rng.random(len(b)) * (1 + odds[:, -1])
        which = np.minimum((odds < level[:, None] - 1).sum(axis=1), octaves - 1)
        there = level > 1  # below 1: it is zero
        expected = rng.gamma(tuning.EXPECTED_IN_AN_OCTAVE + np.bincount(which[there], minlength=octaves)) / 2
        if sweep >= tuning.GIBBS_SETTLES:
            part = shrink[rows, which]
            value = part * b + np.sqrt(part * V) * rng.standard_normal(len(b))
            kept.append(np.where(there, value, 0.0))
    return kept
