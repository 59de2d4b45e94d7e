"""The passive method: Gaussian queries, each asked once, and `fit` on the answers; to compare with."""

from __future__ import annotations

import numpy as np

from mixsense.checks import as_int
from mixsense.errors import InvalidInput
from mixsense.fitting.fit import fit_table
from mixsense.methods.design import gaussian
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Round


def passive(problem: Problem, rng: np.random.Generator, answers: int | None = None) -> Method[Recovery]:
    """Ask Gaussian queries once each, and fit the answers as if the data had been there before.

    Parameters
    ----------
    problem : Problem
        n, `max_queries`, and what is known of models, shares and noise; neither k nor γ is used.
    rng : Generator
        Draws the queries and the starts.
    answers : int, optional
        How many are asked; `max_queries` if left out.

    Returns
    -------
    Recovery
        As `fit` returns it: nothing is promised, so nothing is certified.
    """
    hint = "how many answers are asked"
    count = problem.max_queries if answers is None else as_int("answers", answers, 1, hint)
    if count is None:
        raise InvalidInput("method 'fit' has to be told how many answers to ask: give max_queries, or answers")
    count = count if problem.max_queries is None else min(count, problem.max_queries)
    asked = yield Round(gaussian(count, problem.n, rng, problem.limit), label="Gaussian queries")
    known = problem.models, problem.sigma or None, problem.weights, problem.scale
    return fit_table(np.asarray(asked.queries), asked.answers, asked.group, *known, seed=rng)
