"""What is settled before the frugal method starts: the noise of the answers, the shares, the sparsity to expect."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import ModelError
from mixsense.methods.design import zero
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.sizes import expected_sparsity, noise_batch
from mixsense.methods.frugal.steering import Queries
from mixsense.problem import ESTIMATE, Problem
from mixsense.regression.candidates import Expected
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.from_start import fitted
from mixsense.rounds import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup(Expected):
    """What is known before the first stage."""

    eta: float
    """Probability with which the error may exceed its bound."""
    promise: str
    """What a certificate is about: any coefficients, or typical ones."""
    instruments: bool
    """Every stage keeps a part of its queries that depends on no answer: there is a precision to be certain of."""
    offset: float = 0.0
    """t-value of the mean answer to x = 0, which should be 0."""
    level: bool = False
    """The first column is each model's level."""
    quiet: bool = False
    """The answers have no noise; a nominal one is worked with."""


def set_up(problem: Problem, answers: Answers, budget: int, columns: int, middle: Array) -> Method[Setup]:
    """Settle noise and shares; x = 0 is asked if the noise is unknown.

    Where each model has a level, the answers to one query are not pure noise: σ is what remains around two means.
    `middle` is the query (1, n) that is asked then.
    """
    n, offset = problem.n, 0.0
    sigma = 1.0 if problem.sigma is None else problem.sigma
    # A budget of a few answers leaves none to measure the noise: then the fit has to find it from 1.0.
    count = noise_batch(budget) if problem.sigma is None else 0
    if count and columns > n:
        asked = yield from answers.ask(
            Queries.alone(np.repeat(middle, count, axis=0)), "noise: the middle of the box", None
        )
        sigma = spread_around_two(asked.y)
    elif count:
        nothing = Queries.alone(np.repeat(zero(n), count, axis=0))
        asked = yield from answers.ask(nothing, "noise: x = 0", None)
        answers.zeros = count
        sigma = float(np.sqrt(np.mean(asked.values**2)))
        offset = offset_t_value(asked.values) if problem.scale is None else 0.0  # a rating of 0 may be cut at an end
    least = 0.0
    if problem.scale is not None:  # answers that are rounded, or all at an end, may show no noise at all
        least = tuning.LEAST_NOISE_OF_A_STEP * problem.scale.narrowest
        sigma = max(sigma, tuning.START_NOISE_OF_A_STEP * problem.scale.narrowest)
    rate = problem.k / n if problem.k else min(tuning.LARGEST_GUESSED_RATE, expected_sparsity(n) / n)
    return Setup(
        eta=problem.eta,
        promise=problem.promise,
        instruments=problem.gamma is not None,
        sigma=sigma,
        models=problem.given_models,
        weights=np.array(problem.weights) if isinstance(problem.weights, tuple) else None,
        rate=min(rate, tuning.LARGEST_EXPECTED_RATE),
        free_sigma=problem.sigma is None,
        free_weights=problem.weights in (None, ESTIMATE),
        least_sigma=least,
        sigmas=None if problem.sigmas is None else np.array(problem.sigmas),
        offset=offset,
        level=columns > n,
    )


def with_nominal_noise(setup: Setup, data: Data) -> Setup:
    """Return a setup with some noise to work with, if these answers have none: they would have no likelihood.

    Answers on a scale that are rounded have one: each is an interval.
    """
    y = data.values
    if setup.sigma > tuning.QUIET_SHARE * float(np.std(y)):
        return setup
    if data.scale is not None and (rounding := rounding_noise(y)):
        return replace(setup, sigma=rounding)
    return replace(setup, sigma=nominal_noise(y), least_sigma=rounding_noise(y), free_sigma=False, quiet=True)


def without_nominal_noise(fit: Fit, data: Data, setup: Setup) -> Fit:
    """Return a fit with the noise that the answers have, where a nominal one was worked with.

    Answers between two models belong to both as far as the noise says: with a nominal one they move the coefficients by
    10⁻⁵ of the largest, with their own by what rounding leaves. A fit that moves by more than the nominal noise is
    another one, and not taken.
    """
    if not setup.quiet:
        return fit
    free = replace(setup, free_sigma=True, sigmas=None)
    found = fitted(fit.beta, fit.noise, fit.weights, fit.rate, fit.route, data._replace(scale=fit.scale), free)
    return found if float(np.abs(found.beta - fit.beta).max()) <= fit.sigma else fit


def offset_t_value(y: Array) -> float:
    """Return how many standard errors the mean of the answers to x = 0 is from 0, where it should be."""
    if len(y) < tuning.LEAST_ANSWERS_FOR_OFFSET or not y.any():
        return 0.0
    if y.std() == 0:
        raise ModelError(f"the oracle answers {y[0]:g} whenever x = 0, without noise: subtract this offset")
    return float(y.mean() / (y.std(ddof=1) / math.sqrt(len(y))))


def spread_around_two(y: Array) -> float:
    """Return the standard deviation around the two means that leave least; of a few numbers at least half of all.

    Examples
    --------
    >>> round(spread_around_two(np.array([1.0, 5.0, 3.0, 7.0])), 3)
    1.118
    """
    y = np.sort(y)
    within = [float(y[:i].var() * i + y[i:].var() * (len(y) - i)) / len(y) for i in range(1, len(y))]
    least = tuning.LEAST_SPREAD_OF_FEW * float(y.std()) if len(y) < tuning.FEW_ANSWERS else 0.0
    return max(math.sqrt(min(within, default=0.0)), least)


def nominal_noise(y: Array) -> float:
    """Return a noise to work with for answers that have none: a thousandth of their spread, or what rounding leaves."""
    least = tuning.LEAST_NOMINAL_NOISE * float(np.abs(y).max())
    return max(tuning.QUIET_SHARE * float(np.std(y)), rounding_noise(y), least) or 1.0


def rounding_noise(y: Array) -> float:
    """Return the noise of rounding: that of the steps between answers, if they take few values only; else 0.

    Examples
    --------
    >>> round(rounding_noise(np.array([4.0, 5.0, 4.0, 7.0, 5.0, 4.0, 4.0, 5.0, 7.0])), 3)
    0.289
    >>> rounding_noise(np.array([4.1, 5.2, 3.3]))
    0.0
    """
    values = np.unique(y)
    if len(values) < 2 or len(values) > len(y) / tuning.ANSWERS_PER_VALUE:
        return 0.0
    return float(np.diff(values).min()) / math.sqrt(12)  # of a number that is uniform over one step
