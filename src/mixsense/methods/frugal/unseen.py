"""How large can be what was not found: a bound on the error that holds for any coefficients, sparse or not.

A posterior says how probable small coefficients are if they are like those that were found. Nobody knows that. This
bound only uses what the answers say about all coefficients together: the squared error has an unbiased estimate, of
which the noise is known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.regression.fit import Fit
from mixsense.regression.one_step import OneStep


class Unseen(NamedTuple):
    """What the answers say about the squared error of each model."""

    inside_variance: Array
    """(L,), typical squared standard error of a coefficient that is beyond doubt."""
    inside_number: Array
    """(L,), how many they are, as if all had that standard error."""
    outside: Array
    """(L,), an unbiased estimate of the squared error of all other coefficients; it may be negative."""
    variance: Array
    """(L,), typical variance of one of their steps."""
    number: Array
    """(L,), how many they are, as if all steps had that variance."""


def unseen(fit: Fit, steps: OneStep, level: bool) -> Unseen:
    """Estimate the squared error of each model.

    Parameters
    ----------
    fit : Fit
        The fitted models.
    steps : OneStep
        Their steps, with an instrument that no answer had a say in.
    level : bool
        The first column is each model's level, which is never left out.

    Notes
    -----
    A step e = β̃ − β̂ has E e² = error² + V − 2 Cov(β̂, β̃), with V the variance of the unbiased β̃. For a posterior mean
    the covariance is the posterior variance (Stein), so that e² − V + 2 Var is unbiased, selection included.
    """
    sure = fit.inclusion >= tuning.BEYOND_DOUBT
    sure[:, 0] |= level
    out, V = ~sure, steps.spread
    selected = np.where(fit.beta != 0, fit.variance, 0.0)
    return Unseen(
        *_as_equal(np.where(sure, fit.stderr**2, 0.0)),
        np.where(out, steps.step**2 - V + 2 * selected, 0.0).sum(axis=1),
        *_as_equal(np.where(out, V, 0.0)),
    )


def _as_equal(variances: Array) -> tuple[Array, Array]:
    """Return one variance a row and a number of them that have together the same first two moments (Satterthwaite)."""
    first, second = variances.sum(axis=1), (variances**2).sum(axis=1)
    known = np.isfinite(first)
    one = np.divide(second, first, out=np.where(known, 0.0, np.inf), where=known & (first > 0))
    return one, np.divide(first, one, out=np.where(known, 0.0, 1.0), where=known & (one > 0))


def bound_for_any(found: Unseen, eta: float, factor: float) -> float:
    """Return the error that is exceeded with probability η at most, whatever the coefficients are.

    Parameters
    ----------
    found : Unseen
        What the answers say about the squared errors.
    eta : float
        Probability of an error above the bound.
    factor : float
        How much larger than its standard error an estimate's error may be.

    Notes
    -----
    The squared error inside is about χ², and is taken as large as it is with probability η. If the coefficients outside
    have the squared error g, then (outside + m v)/v is about noncentral χ² with m degrees of freedom and noncentrality
    g/v: the bound is the largest g for which so small a value has probability η.
    """
    from scipy.special import chdtri

    squares = [
        (factor**2 * w * chdtri(inside, eta) if inside else 0.0)
        + (v * noncentrality(outside / v + count, count, eta) if count else 0.0)
        for w, inside, outside, v, count in zip(*(part.tolist() for part in found), strict=True)
    ]
    return math.sqrt(max(squares)) if np.isfinite(squares).all() else math.inf


def noncentrality(value: float, count: float, eta: float) -> float:
    """Return the largest noncentrality of χ² (`count` degrees of freedom) at which a smaller value is likelier than η.

    Examples
    --------
    >>> noncentrality(50.0, 50, 0.05) > 0, noncentrality(20.0, 50, 0.05)
    (True, 0.0)
    """
    from scipy.special import chndtr, chndtrinc

    if not count or value <= 0 or chndtr(value, count, 0.0) <= eta:
        return 0.0
    return float(chndtrinc(value, count, eta))
