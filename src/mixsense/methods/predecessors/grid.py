"""What the methods for a grid share: what they refuse, how often they ask, and how they see that there is no grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_size
from mixsense.errors import InvalidInput
from mixsense.methods.predecessors import tuning
from mixsense.problem import Problem
from mixsense.rounds import is_sparse


def check_grid(problem: Problem, step: float | None, method: str) -> float:
    """Return the step, or say why a grid is of no help."""
    if step is None:
        raise InvalidInput(
            f"step is missing: with noise, method {method!r} needs coefficients that are all multiples of a known "
            "step; give step, or use method='frugal', which needs none"
        )
    step = as_size("step", step, "what all coefficients are multiples of")
    sigma = problem.sigma or 0.0
    if sigma > tuning.MOST_NOISE * step:
        raise InvalidInput(
            f"sigma is {sigma:g} and step {step:g}: from {tuning.MOST_NOISE:g} steps of noise on the answers to one "
            "query are too many to tell its means on the grid; use method='frugal'",
            sigma=sigma,
            step=step,
        )
    if isinstance(problem.weights, tuple) and max(problem.weights) - min(problem.weights) > tuning.SAME_SHARES:
        raise InvalidInput(
            f"weights is {problem.weights}: method {method!r} reads means of equal shares; use method='frugal'",
            weights=problem.weights,
        )
    return step


def rows_to_begin(n: int, k: int) -> int:
    """Return how many random rows basis pursuit is given first: 2 k log(n/k + 1) + 10.

    Examples
    --------
    >>> rows_to_begin(100, 5)
    41
    """
    return math.ceil(tuning.ROWS_PER_K * k * math.log(n / k + 1)) + tuning.MORE_ROWS


def answers_to_read(models: int, noise: float, unheard: float, care: float = 1.0) -> int:
    """Return how often a query is asked to read its L means on the grid.

    Parameters
    ----------
    models : int
        L.
    noise : float
        σ/step.
    unheard : float
        The probability with which one of the models may not be heard at all.
    care : float
        Times as many answers to tell close means apart.

    Examples
    --------
    >>> [answers_to_read(2, noise, 0.02) for noise in (0.5, 1.0, 2.0)]
    [14, 47, 233]
    """
    heard = math.log(unheard / models) / math.log(1 - 1 / models) if models > 1 else 1.0
    return math.ceil(heard + care * tuning.CLOSE_MEANS * models**2 * math.pow(noise, tuning.CLOSE_POWER))


def off_grid(worse: Array, freedom: int, step: float) -> list[str]:
    """Say if answers lie between the multiples of the step.

    Parameters
    ----------
    worse : (m,) array
        By how much each reading is worse than one that need not be on the grid; χ² if there is a grid.
    freedom : int
        Its degrees of freedom.
    step : float
        The grid's.
    """
    total, expected = float(worse.sum()), freedom * worse.size
    if total <= expected + tuning.OFF_GRID * math.sqrt(2 * expected):
        return []
    return [
        f"the answers lie off the grid (χ² is {total:.0f}, about {expected} is expected): the coefficients are not all "
        f"multiples of {step:g}, or sigma is larger than given; use method='frugal'"
    ]


def misfits(X: Any, answers: Array, vectors: Array, sigma: float, step: float, more: float | None = None) -> list[str]:
    """Say if a coefficient is off the grid, or if the answers spread too far around the vectors.

    Parameters
    ----------
    X, answers, vectors, sigma
        As for `offsets`.
    step : float
        The grid's.
    more : float, optional
        What more than the noise the variance may be. By default half of what two models add that were read as one:
        their mean is on the grid, so that they differ by 2 steps or more in some coefficient, and add a step² or more
        to the variance of 2 in L + 1 answers.
    """
    more = step**2 / (len(vectors) + 1) if more is None else more
    worst = float(np.abs(offsets(X, answers, vectors, sigma)).max())
    return off_steps(worst, step) + too_wide(X, answers, vectors, sigma, more)


def offsets(X: Any, answers: Array, vectors: Array, sigma: float) -> Array:
    """Return by how many standard errors each coefficient seems to be off: scores over their own spread, (L, n).

    Parameters
    ----------
    X : (q, n) array or CSR rows
        The queries.
    answers : (q, T) array
        The answers to each.
    vectors : (L, n) array
        What explains them, if nothing is off.
    sigma : float
        The noise.

    Notes
    -----
    The derivative of the log-likelihood of equal shares, one coefficient at a time. The whole means of a query are too
    coarse to see a coefficient that is off its multiple by a tenth of a step; all answers together are not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, truth = rng.integers(-9, 10, (40, 3)).astype(float), np.array([[1.0, 0.0, 2.05]])
    >>> y = X @ truth.T + 0.5 * rng.standard_normal((40, 20))
    >>> np.abs(offsets(X, y, np.rint(truth), 0.5)).round() > 5
    array([[False, False,  True]])
    """
    away, own = _residuals(X, answers, vectors, sigma)
    scores = own * away
    squares = X.multiply(X) if is_sparse(X) else X**2
    sums, spreads = X.T @ scores.sum(axis=2), squares.T @ (scores**2).sum(axis=2)  # (n, L)
    return np.asarray(sums / np.sqrt(np.where(spreads > 0, spreads, 1.0))).T


def _residuals(X: Any, answers: Array, vectors: Array, sigma: float) -> tuple[Array, Array]:
    """Return how far each answer is from each vector's, and the probability that it is that one's, (q, L, T) each."""
    away = answers[:, None, :] - np.asarray(X @ vectors.T)[:, :, None]
    w = -0.5 * (away / sigma) ** 2
    w = np.exp(w - w.max(axis=1, keepdims=True))
    return away, w / w.sum(axis=1, keepdims=True)


def too_wide(X: Any, answers: Array, vectors: Array, sigma: float, more: float) -> list[str]:
    """Say if the answers spread more around the vectors than the noise does, by `more` in the variance.

    The other parameters are as for `offsets`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, truth = rng.choice([-1.0, 1.0], (40, 3)), np.array([[1.0, 0.0, 2.0], [1.0, 2.0, 2.0]])
    >>> y = (X @ truth.T)[:, rng.integers(2, size=50)] + 2 * rng.standard_normal((40, 50))
    >>> too_wide(X, y, truth, 2.0, 0.5), bool(too_wide(X, y, truth[:1] + [0.0, 1.0, 0.0], 2.0, 0.5))
    ([], True)
    """
    away, own = _residuals(X, answers, vectors, sigma)
    spread = float((own * away**2).sum(axis=1).mean())
    if spread <= sigma**2 + more:
        return []
    return [
        f"the answers spread by {math.sqrt(spread):.3g} around the vectors, but sigma is {sigma:g}: two models may be "
        "read as one, or sigma is larger than given; give models, or use method='frugal'"
    ]


def off_steps(worst: float, step: float) -> list[str]:
    """Say if a coefficient is this many standard errors off its multiple of the step, and that is too many."""
    if worst <= tuning.OFFSET:
        return []
    return [
        f"a coefficient is off the grid by {worst:.1f} standard errors: the coefficients are not all multiples of "
        f"{step:g}, or the vectors are not exactly sparse; use method='frugal'"
    ]
