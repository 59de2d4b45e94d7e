"""Which queries a stage asks."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.design import gaussian
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.steering import Steering, focus, steer
from mixsense.regression.candidates import Candidates
from mixsense.regression.starts import second_moments


def next_queries(
    q: int,
    answers: Answers,
    candidates: Candidates,
    rng: np.random.Generator,
    steered: bool,
    doubt: bool,
    box: Box | None,
) -> Array:
    """Draw the q queries of the next stage: focused and steered where the fits are good enough for that."""
    several = candidates.several
    known = steered and candidates.evidence > tuning.STEERING_EVIDENCE and not doubt
    if box is not None:
        return box.with_middles(box.steer(q, several, rng) if known else box.draw(q, rng), rng)
    n = answers.X.shape[1]
    if not steered:
        return gaussian(q, n, rng)
    chance = chances(answers, candidates, doubt)
    if known and np.ptp(several.beta, axis=0).any():
        return steer(chance, several.beta, several.sigma).draw(q, rng)
    return Steering(np.sqrt(1 + focus(chance, (tuning.QUERY_ENERGY - 1) * n))).draw(q, rng)


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
