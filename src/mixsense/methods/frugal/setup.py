"""What is settled before the frugal method starts: the noise of the answers, and the shares."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import ModelError
from mixsense.methods.design import zero
from mixsense.methods.frugal.answers import Answers, Setup
from mixsense.problem import Problem
from mixsense.rounds import Method

QUIET = 1e-3
"""In a box, answers without noise count as having this share of their spread."""


def set_up(problem: Problem, answers: Answers, budget: int, columns: int) -> Method[tuple[Setup, float]]:
    """Settle σ and the shares; x = 0 is asked if σ is unknown. Returns the t-value of the offset found there, too.

    Where each model has a level, the answers to one query are not pure noise: σ is what remains around two means.
    """
    n, offset = problem.n, 0.0
    sigma = 1.0 if problem.sigma is None else problem.sigma
    # A budget of a few answers leaves none to measure the noise: then the fit has to find it from 1.0.
    count = int(min(budget // 4, 60, max(16, 0.03 * min(budget, 1000)))) if problem.sigma is None else 0
    if count and columns > n:
        _, y = yield from answers.ask(np.repeat(zero(n), count, axis=0), "noise: the middle of the box", None)
        sigma = spread_around_two(y)
    elif count:
        _, y = yield from answers.ask(np.repeat(zero(n), count, axis=0), "noise: x = 0", None)
        answers.zeros = count
        sigma = float(np.sqrt(np.mean(y**2)))
        if count > 2 and y.any() and y.std() == 0:
            raise ModelError(f"the oracle answers {y[0]:g} whenever x = 0, without noise: subtract this offset")
        if count > 2 and sigma > 0:
            offset = float(y.mean() / (y.std(ddof=1) / math.sqrt(count)))
    free = problem.weights == "estimate"
    equal = problem.weights is None or isinstance(problem.weights, str)
    weights = np.array([0.5, 0.5] if equal else problem.weights, dtype=np.float64)
    rate = problem.k / n if problem.k else min(0.5, expected_sparsity(n) / n)
    return Setup(columns, problem.eta, sigma, weights, min(rate, 0.9), problem.sigma is None, free), offset


def expected_sparsity(n: int) -> float:
    """Return a guess of k where it is not given: 5 at n = 100, growing with the cube root."""
    return 5 * math.cbrt(n / 100)


def spread_around_two(y: Array) -> float:
    """Return the standard deviation around the two means that leave least; of a few numbers at least half of all.

    Examples
    --------
    >>> round(spread_around_two(np.array([1.0, 5.0, 3.0, 7.0])), 3)
    1.118
    """
    y = np.sort(y)
    within = [float(y[:i].var() * i + y[i:].var() * (len(y) - i)) / len(y) for i in range(1, len(y))]
    return max(math.sqrt(min(within, default=0.0)), 0.5 * float(y.std()) if len(y) < 8 else 0.0)


def stand_in(y: Array) -> float:
    """Return a noise to work with for answers that have none: a thousandth of their spread, or what rounding leaves."""
    return max(QUIET * float(np.std(y)), grain(y), 1e-6 * float(np.abs(y).max())) or 1.0


def grain(y: Array) -> float:
    """Return the noise of rounding: that of the steps between answers, if they take few values only; else 0.

    Examples
    --------
    >>> round(grain(np.array([4.0, 5.0, 4.0, 7.0, 5.0, 4.0, 4.0, 5.0, 7.0])), 3), grain(np.array([4.1, 5.2, 3.3]))
    (0.289, 0.0)
    """
    values = np.unique(y)
    if len(values) < 2 or len(values) > len(y) / 3:
        return 0.0
    return float(np.diff(values).min()) / math.sqrt(12)
