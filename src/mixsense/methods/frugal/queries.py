"""Which queries a stage asks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.design import gaussian
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.duels import duels
from mixsense.methods.frugal.loudness import as_loud_as, quieter
from mixsense.methods.frugal.spending import spend
from mixsense.methods.frugal.steering import Queries, Steering, focus, steer
from mixsense.regression.candidates import Candidates
from mixsense.regression.rivals import Reading
from mixsense.regression.starts import second_moments


def first_queries(q: int, n: int, rng: np.random.Generator, steered: bool, box: Box | None) -> Queries:
    """Draw the q queries that come before any fit."""
    if box is not None:
        return Queries(box.with_inner_points(box.draw(q, rng), rng), np.ones(n))
    loud = math.sqrt(tuning.QUERY_ENERGY) if steered else 1.0
    return Queries(loud * gaussian(q, n, rng), np.ones(n))


def next_queries(
    q: int,
    answers: Answers,
    candidates: Candidates,
    rng: np.random.Generator,
    steered: bool,
    doubt: bool,
    box: Box | None,
    floors: Sequence[float],
    left: int,
    snr: float | None = None,
) -> Queries:
    """Draw the q queries of the next stage: focused and steered where the fits are good enough for that.

    `floors` are the shares of the energy that may go to all coordinates alike, only 0 where a budget is spent, `left`
    the answers that are left in the budget, and `snr` caps how loud differences are.
    """
    several = candidates.several
    known = steered and candidates.evidence > tuning.STEERING_EVIDENCE and not doubt
    spends = floors[-1] == 0
    if box is not None:
        if candidates.winner is candidates.one:
            return Queries(box.with_holes(box.draw(q, rng), rng), np.ones(box.coded.n))
        if known and spends and box.design == "corners" and several.found.any():
            return Queries.alone(box.best(q, several, rng, answers.block))
        Z = box.steer(q, several, rng, answers.block) if known else box.draw(q, rng)
        return Queries(box.with_inner_points(Z, rng), np.ones(box.coded.n))
    n = answers.X.shape[1]
    if not steered:
        return as_loud_as(Queries(gaussian(q, n, rng), np.ones(n)), snr)
    chance = chances(answers, candidates, doubt)
    models = several.beta if spends else np.where(several.found.any(axis=0), several.beta, 0.0)
    if known and np.ptp(models, axis=0).any():
        if spends:
            steering = spend(chance, answers.X, models, several.sigma, left, answers.block)
        else:
            count = max(int(several.found.sum()), 1)
            steering = steer(chance, models, several.sigma, floors, count, answers.block)
        return quieter(steering.draw(q, rng), models, snr)
    if snr is not None:
        return as_loud_as(first_queries(q, n, rng, steered, box), snr)
    floor = max(1.0, floors[-1] * tuning.QUERY_ENERGY)
    return Steering(np.sqrt(floor + focus(chance, (tuning.QUERY_ENERGY - floor) * n)), floor=floor).draw(q, rng)


def with_duels(queries: Queries, box: Box, alive: Sequence[Reading], rng: np.random.Generator) -> Queries:
    """Return queries of which some, the first ones, tell apart the readings that are alive."""
    part = math.ceil(tuning.DUEL_SHARE * len(queries.X))
    return queries._replace(X=np.concatenate([duels(part, box, alive, rng), queries.X[part:]]))


def with_repeats(queries: Queries, share: float = tuning.REPEATED_SHARE) -> Queries:
    """Return queries of which a few, the last ones, are the first ones again."""
    X = queries.X
    again = int(share * len(X))
    return queries._replace(X=np.concatenate([X[: len(X) - again], X[:again]]))


def chances(answers: Answers, candidates: Candidates, doubt: bool) -> Array:
    """Return how much each coordinate matters for the error, (n,): 1 for a coefficient that was found.

    An answer with more energy on a coordinate lowers its posterior variance v in proportion to 1/G, with G its
    information so far: the energy that makes the sum of the v smallest goes as √(v G). For coefficients that were
    found v G = 1; for the others it is the risk that one was missed. While several models are not established, or in
    doubt, the fit of one model and the second moments have a say.
    """
    one, several = candidates.one, candidates.several
    chance = np.maximum(several.inclusion, several.variance * several.information).max(axis=0)
    if doubt or not candidates.established:
        data = answers.data.without_zeros
        t, _ = second_moments(data.X, data.values, one.beta[0], 2)
        rate = max(one.rate, tuning.MOMENT_COEFFICIENTS / len(chance))
        log_odds = math.log(rate) + 0.5 * np.maximum(t, 0) ** 2 - tuning.MOMENT_CHARGE
        squares = 1 / (1 + np.exp(-np.clip(log_odds, -50, 50)))
        chance = np.maximum(np.maximum(chance, one.inclusion[0]), squares)
    clipped: Array = np.clip(chance, tuning.LEAST_CHANCE, 1.0)
    return clipped
