"""Score tests of extensions of the model, on all answers at once."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.extensions import EXTENSIONS, GIVEN, Place
from mixsense.methods.frugal.model_checks.views import View
from mixsense.regression.fit import Fit
from mixsense.regression.tuning import SUPPORT_PROBABILITY


class Tested(NamedTuple):
    """The largest statistic of an extension."""

    statistic: float
    """The statistic in standard errors; its sign is that of the parameter."""
    p_value: float
    """The p-value of the largest statistic of all parameters, if the model holds."""
    which: int
    """The parameter that the statistic belongs to."""


def score_tests(
    given: View, drawn: list[View], place: Place, free: tuple[bool, bool], wanted: Container[str] = tuple(EXTENSIONS)
) -> dict[str, Tested]:
    """Test every extension that has a parameter of its own.

    Parameters
    ----------
    given : View
        The answers as the fit sees them.
    drawn : list of View
        Answers to the same queries that were drawn from the fit.
    place : Place
        Where the answers stand, and which columns are looked at.
    free : (bool, bool)
        Whether σ and the shares were estimated.
    wanted : container of str
        The names of the extensions; all of them by default.

    Notes
    -----
    The score of an extension is projected on those of what was estimated: coefficients, shares and σ. Its variance is
    that of the drawn answers: with the variance of the given answers themselves, far answers would hide themselves.
    Skewness and kurtosis of the sums are corrected for.
    """
    found = {}
    for told, names in ((True, [name for name in EXTENSIONS if name not in GIVEN]), (False, GIVEN)):
        # What was given may be wrong, and must not look like something else: beside all others it counts as estimated.
        U = np.concatenate([view.gathered(_estimated_scores(view, place, free, told)) for view in drawn])
        u, N = _estimated_scores(given, place, free, told).sum(axis=0), len(U) // len(drawn)
        size = np.sqrt((U * U).sum(axis=0)) + 1e-300  # scores have different units
        e, V = np.linalg.eigh((U / size).T @ (U / size))
        kept = e > tuning.LEAST_EIGENVALUE * e.max(initial=0.0)
        inverse = (V[:, kept] / e[kept]) @ V[:, kept].T / np.outer(size, size)
        for name in (name for name in names if name in wanted):
            G = np.concatenate([view.gathered(EXTENSIONS[name](view, place)) for view in drawn])
            B = inverse @ (U.T @ G)
            E = G - U @ B  # what is left of each score beside what was estimated
            there = (E * E).sum(axis=0) > tuning.LEAST_PROJECTED * (G * G).sum(axis=0) + 1e-300
            if there.any():
                total = EXTENSIONS[name](given, place).sum(axis=0) - u @ B
                found[name] = largest(total[there], moments(E[:, there]), N, np.flatnonzero(there))
    return found


def pair_test(given: View, drawn: list[View], first: Index, second: Index) -> Tested | None:
    """Test whether pairs of answers share their model, or their noise, more often than by chance.

    Parameters
    ----------
    given : View
        The answers as the fit sees them.
    drawn : list of View
        Answers to the same queries that were drawn from the fit.
    first, second : (pairs,) arrays of int
        The two answers of each pair.

    Returns
    -------
    Tested or None
        The last parameter is the noise, those before the shares of the models. None if there are too few pairs.

    Notes
    -----
    The score is the sum of products of two numbers with mean 0, one for each answer: nothing that was estimated takes
    part in it. Two respondents may share many pairs, whose products go up and down together: all of them are one term.
    """
    if len(first) < tuning.LEAST_PAIRS:
        return None
    each, N = _of_pairs(given), len(first)
    drawn_each = [_of_pairs(view) for view in drawn]
    if given.group is None:
        total = (each[first] * each[second]).sum(axis=0)
        square, cube, fourth = (_mean_of_powers(drawn_each, r, first, second) for r in (2, 3, 4))
        there = square > tuning.LEAST_SQUARE
        square, cube, fourth = square[there], cube[there], fourth[there]
        found = [square, cube / square**1.5, fourth / square**2]
    else:
        both = np.sort(given.group[np.column_stack([first, second])], axis=1)
        which = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        N = int(which.max()) + 1

        def together(each: Array) -> Array:
            return np.stack([np.bincount(which, column) for column in (each[first] * each[second]).T], axis=1)

        total = together(each).sum(axis=0)
        E = np.concatenate([together(each) for each in drawn_each])
        there = (E * E).mean(axis=0) > tuning.LEAST_SQUARE
        found = moments(E[:, there])
    if N < tuning.LEAST_PAIRS or not there.any():
        return None
    return largest(total[there], found, N, np.flatnonzero(there), rare=True)


def _of_pairs(view: View) -> Array:
    """Return the numbers with mean 0 of each answer whose products are tested: surpluses, and the slope."""
    return np.column_stack([view.tested_surplus, view.slope])


def _mean_of_powers(drawn: list[Array], r: int, first: Index, second: Index) -> Array:
    """Return the mean power of products of two answers, each drawn by itself.

    The two are independent, so that it is the product of their own means. A model that answers seldom gives both
    answers of a pair more seldom still: of the products themselves, the draws may have none that is large.
    """
    powers: Array = np.mean([each**r for each in drawn], axis=0)
    mean: Array = (powers[first] * powers[second]).mean(axis=0)
    return mean


def moments(E: Array) -> list[Array]:
    """Return the variances of drawn terms (M, q) of sums, their skewness and their kurtosis, (q,) each."""
    second = (E * E).mean(axis=0)
    E = E / np.sqrt(second)
    square = E * E
    return [second, np.einsum("ij,ij->j", square, E) / len(E), (square * square).mean(axis=0)]


def largest(total: Array, of_terms: Sequence[Array], N: int, place: Index, rare: bool = False) -> Tested:
    """Return the largest of several statistics, with a p-value for the largest of that many.

    Parameters
    ----------
    total : (q,) array
        Sums over the answers.
    of_terms : three (q,) arrays
        The `moments` of their terms: variance, skewness and kurtosis.
    N : int
        Number of terms in a sum.
    place : (q,) array of int
        What the statistics are called.
    rare : bool
        A few large terms may make a sum: its tail is that of a gamma law with the same skewness, if that is heavier.
    """
    from scipy.special import gammaincc, log_ndtr

    variance, skewness, kurtosis = of_terms
    z, skewness = total / np.sqrt(N * variance), skewness / math.sqrt(N)
    log_p = log_ndtr(-np.abs(normalised(z, skewness, (kurtosis - 3) / N)))
    if rare:
        shape = 4 / np.maximum(skewness**2, tuning.LEAST_SQUARE_OF_SKEWNESS)
        tail = np.log(gammaincc(shape, shape + np.sqrt(shape) * np.abs(z)) + 1e-300)
        log_p = np.where(skewness * z > 0, np.maximum(log_p, tail), log_p)
    best = int(log_p.argmin())
    return Tested(float(z[best]), math.exp(min(math.log(2 * len(z)) + float(log_p[best]), 0.0)), int(place[best]))


def normalised(z: Array, skewness: Array, kurtosis: Array) -> Array:
    """Return standardised sums as normal numbers: the expansion of Cornish and Fisher where it weakens them.

    Examples
    --------
    >>> normalised(np.array([3.0, -3.0]), np.array([0.3, 0.3]), np.array([0.0, 0.0])).round(2)
    array([ 2.82, -3.  ])
    """
    by_skewness = -skewness / 6 * (z * z - 1) + skewness**2 / 36 * (4 * z**3 - 7 * z)
    moved = np.sign(z) * (z + by_skewness - kurtosis / 24 * (z**3 - 3 * z))
    # Far out the expansion turns round: half of the statistic is kept, and it never becomes more than it was.
    found: Array = np.sign(z) * np.clip(moved, 0.5 * np.abs(z), np.abs(z))
    return found


def _estimated_scores(view: View, place: Place, free: tuple[bool, bool], told: bool) -> Array:
    """Return the scores of what was estimated, (N, p); those of a σ and of shares that were `told` as well."""
    model, column = place.estimated
    parts = [view.slopes[:, model] * view.X[:, column]]
    if free[0] or told:
        parts.append(view.spread if place.own_noise else view.spread.sum(axis=1, keepdims=True))
    if free[1] or told:
        parts.append(view.free_surplus)
    if view.lapsed is not None:
        parts.append(view.lapsed)
    return np.column_stack(parts)


def place_of(fit: Fit, N: int, level: bool) -> Place:
    """Return where N answers stand, and which columns are looked at: all of a few features, those that matter of many.

    Parameters
    ----------
    fit : Fit
        The models.
    N : int
        Number of answers.
    level : bool
        The first column is the level.
    """
    features = np.arange(int(level), fit.beta.shape[1])
    matter = fit.inclusion.max(axis=0)[features]
    order = features[np.argsort(-matter, kind="stable")]
    if len(features) > tuning.MOST_CHECKED_FEATURES:
        order = order[: min(tuning.MOST_CHECKED_FEATURES, int((matter > SUPPORT_PROBABILITY).sum()))]
    crossed = np.sort(order[: tuning.MOST_CROSSED_FEATURES])
    own_noise = fit.sigmas is not None
    estimated = estimated_coefficients(fit, N)
    return Place(np.arange(N) / N, np.sort(order), crossed, estimated, fit.beta, own_noise)


def estimated_coefficients(fit: Fit, N: int) -> tuple[Index, Index]:
    """Return model and column of the coefficients that count as estimated, the more probable ones if there are many."""
    probable = np.where(fit.inclusion > tuning.LEAST_ESTIMATED_PROBABILITY, fit.inclusion, 0.0).ravel()
    best = np.argsort(-probable, kind="stable")[: N // tuning.ANSWERS_PER_ESTIMATED]
    model, column = np.divmod(np.sort(best[probable[best] > 0]), fit.inclusion.shape[1])
    return model, column
