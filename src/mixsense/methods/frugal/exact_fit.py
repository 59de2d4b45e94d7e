"""Answers without noise to queries that cannot be as near to each other as one likes: whether a fit is exact."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.exact import Search, rounded
from mixsense.methods.frugal.setup import Setup
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.regression.exact import explains, polished
from mixsense.regression.fit import Fit
from mixsense.regression.rivals import Rival, distance, moves
from mixsense.regression.tuning import EXPLAINED


def exact_of_fit(
    problem: Problem, answers: Answers, setup: Setup, inside: Box | None, fit: Fit, decided: bool = False
) -> Recovery | None:
    """Return the exact models near a fit, if they explain all answers without noise, and no others like them do.

    Parameters
    ----------
    problem, answers, setup, inside
        As for `exact`.
    fit : Fit
        Models of these answers, found as if there were a little noise.
    decided : bool
        The shares have told these models from others that explain the same answers.

    Notes
    -----
    Whole numbers leave no room for small steps. Here the answers to all queries are the equations, each of the model
    that it is nearest to, and there are some to spare for each model: a wrong model explains them with probability 0.
    Only a model whose difference from another one was moved between yes-or-no features may explain them as well.
    """
    if inside is None or rounded(answers.y):
        return None
    data, tolerance = answers.data, EXPLAINED * float(np.abs(answers.y).max())
    every = np.ones_like(fit.found)
    ways = (polished(data, fit.beta, free, tolerance) for free in (fit.found, every))
    beta = next((way for way in ways if way is not None), None)
    if beta is None:
        return None
    if not decided and any(explains(data, other, tolerance) for other in _moved(beta)):
        return None
    search = Search(answers, np.zeros(problem.n), 1.0, problem, inside.coded)
    search.beta = beta
    if answers.N < tuning.LEAST_PLAIN or not search.seen_all(setup.eta):
        return None
    # Several models have to have answered one query, or clearly no one ever has: a function of the query is no mixture.
    again = [check for check in search.checks() if check.name == "repeats"]
    open_yet = len(beta) > 1 and not any(check.failed or check.p_value == 1.0 for check in again)
    return None if open_yet else search.recovery(setup, "certified")


def _moved(beta: Array) -> Iterator[Array]:
    """Yield the models with the difference of two of them moved to other columns."""
    for a, b in combinations(range(len(beta)), 2):
        pair = Rival(beta[[a, b]].mean(axis=0), beta[a] - beta[b], np.ones(2), 0.0, 0.0)
        for delta in moves(pair):
            other, both = beta.copy(), pair._replace(delta=delta).beta
            other[[a, b]] = both
            if distance(both, pair.beta) > EXPLAINED * float(np.abs(beta).max()):  # turned round they may be the same
                yield other
