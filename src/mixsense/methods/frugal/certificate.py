"""How far can the result be trusted: a bound on the error of the worst model."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.model_checks.tuning import ROUNDING_STEP
from mixsense.methods.frugal.setup import Setup
from mixsense.methods.frugal.typical import typical_error
from mixsense.methods.frugal.unseen import bound_for_any, unseen
from mixsense.problem import TYPICAL
from mixsense.regression.candidates import Candidates
from mixsense.regression.fit import Fit
from mixsense.regression.hidden import Odds, hidden_difference, hidden_over_two, no_odds, others
from mixsense.regression.line import Line, three_on_a_line
from mixsense.regression.one_step import one_step
from mixsense.regression.rivals import Reading, rivals, sceptical, swaps
from mixsense.regression.tuning import HIDDEN_SHARE


def error_bound(
    answers: Answers,
    candidates: Candidates,
    setup: Setup,
    box: Box | None = None,
    looks: int = 0,
    beyond: float = math.inf,
) -> float:
    """Return a bound on the error of the worst model that holds with probability 1 − η, as the promise says.

    Parameters
    ----------
    answers, candidates, setup
        All answers, the fits to them, and what was known before.
    box : Box, optional
        Where queries stay.
    looks : int
        How often the bound was near γ before: each time it might have been wrong.
    beyond : float
        A bound above this is of no use: as soon as a part of it is, that part is returned.
    """
    winner = candidates.winner
    bound = own_bound(answers, candidates, setup, looks, beyond)
    if bound > beyond or winner is candidates.one:  # `doubts` has what one model may hide
        return bound
    bound = max(bound, further_model(candidates))
    if bound > beyond:
        return bound
    bound = math.hypot(bound, on_lines(answers, winner, setup, box))  # such models have an error of their own
    return max(bound, hidden_in_each(answers, winner, setup, box))


def own_bound(
    answers: Answers, candidates: Candidates, setup: Setup, looks: int = 0, beyond: float = math.inf
) -> float:
    """Return a bound on the error of the worst model if there are as many as were found: `error_bound` has the rest."""
    winner = candidates.winner
    factor = tuning.BOUND_FACTOR + tuning.BOUND_FACTOR_UNLABELLED * unlabelled(answers, candidates.several)
    factor /= math.sqrt(1 - used_up(answers, winner))
    steps = one_step(answers.data, winner, np.array(answers.instruments), answers.stage)
    bound = 0.0
    if setup.promise != TYPICAL:
        eta = (
            tuning.LOOK_SHARE_OF_ETA
            * setup.eta
            * (tuning.SHARE_AFTER_MANY_LOOKS if looks >= tuning.MANY_LOOKS else 1.0)
        )
        bound = bound_for_any(unseen(winner, steps, setup.level), eta, factor)
    if bound > beyond:
        return bound
    # A budget is spent where it tells most, not where what was missed would show: all of the queries have to do then.
    typical = factor * typical_error(winner, steps if setup.instruments else one_step(answers.data, winner), setup.eta)
    return max(bound, typical * (tuning.TYPICAL_FACTOR if setup.promise == TYPICAL else 1.0))


def further_model(candidates: Candidates) -> float:
    """Return how far a model is from all of ours in a nearly as probable fit of more; 0 if the number was given."""
    L, score = candidates.winner.L, candidates.score
    if candidates.choice is not None:
        return 0.0
    behind = tuning.NEARLY_AS_PROBABLE_AS_LAPSES if candidates.winner.lapses else tuning.NEARLY_AS_PROBABLE
    more = [
        fits[0] for number, fits in candidates.fits.items() if number > L and fits and score[number] > score[L] - behind
    ]
    return max((farthest(fit.beta, candidates.winner.beta) for fit in more), default=0.0)


def just_found(fit: Fit, before: Fit | None, gamma: float) -> bool:
    """Say whether a stage moved a model so far that the fit has seen no answers but those which made it."""
    if before is None:
        return True
    moved = max(farthest(fit.beta, before.beta), farthest(before.beta, fit.beta))
    return moved > tuning.MOST_MOVED * gamma


def farthest(models: Array, from_these: Array) -> float:
    """Return how far a model is from the nearest of others, at most."""
    return float(np.linalg.norm(models[:, None] - from_these, axis=2).min(axis=1).max())


def hidden_in_each(answers: Answers, fit: Fit, setup: Setup, box: Box | None) -> float:
    """Return how far one of several models may be from two that differ in one column, and are as probable or more.

    At corners such a pair looks like one model with more noise than the others, and little tells: there it must not be
    about as probable, and a model that has more noise must not be two levels, nor two of which one answers seldom.
    Elsewhere, and if the number of models was given, no such pair may be more probable than the one model, after many
    answers clearly so; a few answers that are far away are no evidence for one. At corners on a scale of few
    steps, where an answer tells less, none may be more probable than η.
    """
    alike = box is not None and box.nearly_corners and setup.models is None
    if box is not None and box.nearly_corners and coarse(answers, fit):
        most = setup.eta
    elif alike:
        most = tuning.AS_PROBABLE if answers.N < tuning.ANSWERS_FOR_PAIRS else tuning.MORE_PROBABLE
    else:
        most = tuning.MORE_PROBABLE if answers.N < tuning.ANSWERS_FOR_SELDOM else tuning.CLEARLY_MORE_PROBABLE
    noise, found = fit.noises, [0.0]
    for a in range(fit.L):
        tails = 0.0 if alike or answers.scale is not None else tuning.SHARE_OF_TAILS
        beside = others(fit, a, answers.data, tails)
        wide = alike and bool(noise[a] > tuning.WIDER * noise.min())
        for share in (0.5, HIDDEN_SHARE) if wide or not alike else (0.5,):
            odds = hidden_difference(
                answers.data, fit.beta[a], noise[a], False, setup.level, share=share, beside=beside
            )
            hidden = odds.excluded(most)
            found.append(max(hidden.feature, hidden.level) if wide else hidden.feature)
        if alike:
            odds = hidden_over_two(answers.data, fit.beta[a], noise[a], setup.level, beside=beside)
            found.append(odds.excluded(most).feature)
    return max(found)


def coarse(answers: Answers, fit: Fit) -> bool:
    """Say whether answers are on a scale whose steps hide the shape of the noise."""
    return answers.scale is not None and answers.scale.narrowest > ROUNDING_STEP * fit.sigma


def on_lines(answers: Answers, fit: Fit, setup: Setup, box: Box | None) -> float:
    """Return how far one of three models on the line through two of ours may be from these, where little tells.

    At corners it takes many answers to see a third model between two, one with all of its coefficients. That one has
    nothing but a place on their line must not be more probable than η.
    """
    return max((line.error for line in lines(answers, fit, setup, box) if line.odds > setup.eta), default=0.0)


def lines(answers: Answers, fit: Fit, setup: Setup, box: Box | None) -> list[Line]:
    """Return how probable three models are on the line through each two of ours, where little tells."""
    if box is None or not box.nearly_corners:
        return []
    return [three_on_a_line(answers.data, fit, a, b, setup.free_sigma) for a, b in combinations(range(fit.L), 2)]


def hidden_in_one(answers: Answers, candidates: Candidates, setup: Setup, box: Box | None) -> tuple[Odds, Odds]:
    """Return the odds of two models that were not seen: that answer equally often, and of which one seldom does."""
    noise = candidates.one.sigma if setup.free_sigma else setup.sigma
    either = None if box is None else box.coded.either
    model = candidates.one.beta[0]
    hidden = partial(hidden_difference, answers.data, model, noise, not setup.free_sigma, setup.level, either)
    if setup.free_weights or setup.models == 1:
        return hidden(0.5), hidden(HIDDEN_SHARE)
    share = 0.5 if setup.weights is None else max(float(setup.weights.max()), 0.5)
    return (hidden(0.5), no_odds()) if share == 0.5 else (no_odds(), hidden(share))


def unlabelled(answers: Answers, fit: Fit) -> float:
    """Return how much the answers do not label themselves: 0 if each does, 1 if none."""
    P = fit.explained(answers.data.without_zeros).probability
    guess = 1 - float(fit.weights @ fit.weights)  # how often two draws of a model differ, before any answer
    return float((1 - (P * P).sum(axis=1)).mean()) / guess


def used_up(answers: Answers, fit: Fit) -> float:
    """Return which share of the answers the coefficients use up.

    The noise and the steps have lost these degrees of freedom already. It was measured that labels, which are fitted to
    the same answers, cost about as much once more.
    """
    return min(float(fit.inclusion.sum()) / (answers.N - answers.data.zeros), tuning.MOST_USED_UP)


def rivals_of(answers: Answers, candidates: Candidates, setup: Setup, box: Box | None) -> list[Reading]:
    """Return the models that the answers do not rule out, where corners were asked and several models found."""
    winner, data = candidates.winner, answers.data
    if box is None or not box.nearly_corners or winner.L == 1:
        return []
    found = (rivals if winner.L == 2 else swaps)(data, winner)
    if not box.coded.either.any():
        return found
    if setup.weights is not None and np.ptp(setup.weights) > 0:  # shares that are known to be unequal tell
        return found
    return sceptical(data._replace(scale=winner.scale), found, setup.free_weights)
