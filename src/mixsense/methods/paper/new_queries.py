"""New queries, whose answers must be as the found vectors say: some vectors fit any answers to a few queries."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mixsense.methods.design import gaussian
from mixsense.methods.paper.checks import FALSE_ALARM
from mixsense.methods.paper.estimate import Batches
from mixsense.methods.verification.tuning import NEW_ROWS
from mixsense.problem import Problem
from mixsense.recovery import PROMISES, Recovery
from mixsense.rounds import Method

EACH = 10
"""Answers to each of the new queries (taste: 200 in all, less than one in a hundred of those before)."""


def verified_means(result: Recovery, problem: Problem, sigma: float, rng: np.random.Generator) -> Method[Recovery]:
    """Return a result as it is if it promises nothing, or if new Gaussian queries have the means that its vectors say.

    Parameters
    ----------
    result : Recovery
        What would be returned.
    problem : Problem
        All arguments of the run.
    sigma : float
        Noise of an answer.
    rng : Generator
        Draws the queries.

    Notes
    -----
    The mean of a batch is that of the vectors' answers, but for its standard error, and for an error of the bound or γ:
    the squares of what it is off, in these units, are about χ² at most. A rule that routes queries, answers that are
    not linear in x, and vectors that m queries do not determine are off by far more.
    """
    from scipy.special import chdtri

    if result.status not in PROMISES:
        return result
    X, fresh = gaussian(NEW_ROWS, problem.n, rng, problem.limit), Batches(NEW_ROWS)
    label = "new queries: do the vectors answer them"
    yield from fresh.top_up(X, EACH, label, lambda: replace(result, status="budget"))
    predicted = X @ result.vectors.T
    allowed = (sigma**2 + predicted.var(axis=1)) / EACH + max(result.error_bound, problem.gamma or 0.0) ** 2
    off = (fresh.means() - predicted.mean(axis=1)) ** 2 / allowed
    if off.sum() <= chdtri(NEW_ROWS, FALSE_ALARM):
        return result
    warning = (
        f"the answers to {NEW_ROWS} new queries are {math.sqrt(off.mean()):.2g} times as far from what the vectors say "
        "as they should be: they are not linear in x (a kink, a product, a rule), or a query is always answered by the "
        "same vector, or m queries are too few for vectors as dense as these; use method='frugal'"
    )
    story = result.diagnostics | {"warnings": [*result.diagnostics["warnings"], warning]}
    return replace(result, status="uncertain", error_bound=math.inf, diagnostics=story)
