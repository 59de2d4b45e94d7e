"""How the fits are renewed when there are more answers: refitted, and rivalled by new starts and other numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixsense.arrays import Array
from mixsense.problem import LEAST_SHARE, MOST_MODELS
from mixsense.regression import tuning
from mixsense.regression.beside import beside
from mixsense.regression.best_starts import best_starts, distinct
from mixsense.regression.candidates import Candidates, Expected
from mixsense.regression.data import Data
from mixsense.regression.em import EM
from mixsense.regression.evidence import one_model_score, penalised
from mixsense.regression.extensions import extended
from mixsense.regression.fit import Fit, climb, finish
from mixsense.regression.from_start import From, again, climbed, fitted
from mixsense.regression.split import evidence_of, split_of_one
from mixsense.regression.starts import left_out, merged, spread_of
from mixsense.scales.lapses import Lapses


def renew(
    old: Candidates | None,
    data: Data,
    expected: Expected,
    rng: np.random.Generator,
    new_starts: int,
    more: bool,
    others: Sequence[Array] = (),
) -> Candidates:
    """Renew every fit on all answers.

    Parameters
    ----------
    old : Candidates or None
        The fits so far.
    data : Data
        All answers.
    expected : Expected
        Noise, shares, sparsity and number of models to expect.
    rng : Generator
        Draws the random starts.
    new_starts : int
        How many new annealed starts are tried; if any, those from the second moments are, too.
    more : bool
        Try one model more than there seem to be.
    others : sequence of (L, n) arrays
        Further starts.
    """
    one = old.one if old and old.established and not new_starts else _one_model(old, data, expected)
    L = max(expected.models or 2, 2) if old is None else old.models
    fits = {1: [one]}
    fewer = None if L == 2 else _fewer(old, L, data, expected, new_starts > 0 or more)
    fits[L] = _several(old, L, fewer or one, data, expected, rng, new_starts, others)
    fits[L][0] = extended(fits[L][0], data, expected)
    score = {L: fits[L][0].score, 1: _score_of_one(one, fits[L][0], data, expected)}
    if new_starts and one.lapses and not fits[L][0].lapses and score[L] < score[1] - tuning.SEVERAL_ESTABLISHED:
        fits[L] = _beyond_lapses(fits[L], one, data, expected, rng, new_starts)
        score[L] = fits[L][0].score
    if expected.alike and expected.free_sigma and L == 2 and score[2] < score[1] + tuning.SEVERAL_ESTABLISHED:
        fits[2], score[2] = _with_split(fits[2], score, one, data, expected)
    if L == 2 and expected.alike and expected.models is None and not one.lapses and not answers_often(fits[2][0]):
        score[2] = min(score[2], score[1] - tuning.SEVERAL_ESTABLISHED)  # a few answers, and one has no lapses
    if fewer is not None:
        score[L - 1], fits[L - 1] = _if_near(fewer, "merged", fits[L][0], data, expected)
    if more and L <= MOST_MODELS:  # one beyond those that are reported, to see that they are enough
        score[L + 1], fits[L + 1] = _more(1, old, fits[L][0], data, expected, rng)
        if fits[L][0].sigmas is not None and L < MOST_MODELS:  # of these, one may be three
            value, found = _more(2, old, fits[L][0], data, expected, rng)
            if value > score[L + 1]:
                score[L + 2], fits[L + 2] = value, found
    if not fits[L][0].support[0].size and data.N >= tuning.ANSWERS_FOR_NOTHING:  # one model, zero, says it all
        most = score[1] + tuning.NOTHING_EVIDENCE
        score = {number: value if number == 1 else min(value, most) for number, value in score.items()}
    story = (old.held_out, old.unseen) if old else ({}, {})
    return Candidates(fits, score, expected.models, fewer, *story)


def _one_model(old: Candidates | None, data: Data, expected: Expected) -> Fit:
    """Fit one model, from the one before if there is."""
    if old is None:
        start, rate = np.zeros((1, data.X.shape[1])), expected.rate
        spread = spread_of(data.values, data.counts) or expected.sigma
    else:
        start, rate, spread = old.one.beta, old.one.rate, old.one.sigma
    selections = tuning.ONE_MODEL_SELECTIONS
    law = data if old is None else data._replace(scale=old.one.scale)
    em = climb(law, start, spread, np.ones(1), rate, expected.rate, free_sigma=True, selections=selections)
    return extended(finish(em, "one vector"), data, replace(expected, free_sigma=True))


def _several(
    old: Candidates | None,
    L: int,
    fewer: Fit | EM,
    data: Data,
    expected: Expected,
    rng: np.random.Generator,
    number: int,
    others: Sequence[Array],
) -> list[Fit]:
    """Fit L models: from the fits that are alive, and from new starts."""
    alive = [f for f in old.fits[L] if f.score > old.fits[L][0].score - tuning.DROPPED_BEHIND] if old else []
    found = again(alive, data, expected)
    sigma, weights = (alive[0].sigma, alive[0].weights) if alive else (expected.sigma, expected.shares(L))
    data = data._replace(scale=alive[0].scale) if alive else data
    if number:
        for start, route in best_starts(L, fewer, data, sigma, weights, rng, number, tuning.REFINED_STARTS):
            found.append(fitted(start, sigma, weights, expected.rate, route, data, expected))
    found += [
        fitted(start, sigma, weights, expected.rate, "rival", data, expected) for start in others if len(start) == L
    ]
    return distinct(found, sigma)


def _beyond_lapses(
    fits: list[Fit], one: Fit, data: Data, expected: Expected, rng: np.random.Generator, number: int
) -> list[Fit]:
    """Add fits from starts that do not see what is far from the one model: far answers lead all others astray."""
    law, L, scale = data._replace(scale=one.scale), fits[0].L, one.scale
    if not isinstance(scale, Lapses):
        return fits
    near = scale.lapsed(data.y, data.X @ one.beta.T, one.noise)[:, 0] < 0.5
    sigma, weights = expected.sigma, expected.shares(L)
    starts = best_starts(L, one, data.rows(np.flatnonzero(near)), sigma, weights, rng, number, tuning.REFINED_STARTS)
    found = [fitted(start, sigma, weights, expected.rate, route, law, expected) for start, route in starts]
    return distinct([*fits, *found], sigma)


def _with_split(
    fits: list[Fit], score: dict[int, float], one: Fit, data: Data, expected: Expected
) -> tuple[list[Fit], float]:
    """Add the pair whose models differ in one column only, if that explains more than the pairs so far."""
    data = data._replace(scale=one.scale)
    if not float(np.ptp(data.values - data.X @ one.beta[0])) > 0:  # of one or two answers nothing is left to explain
        return fits, score[2]
    split = split_of_one(data, one)
    evidence = evidence_of(split, len(data.y), data.loglik(one.beta, np.ones(1), _spread(one, data)))
    if score[1] + evidence <= score[2]:
        return fits, score[2]
    shares = split.weights if expected.free_weights else expected.shares(2)
    found = fitted(split.beta, split.sigma, shares, one.rate, "one column", data, expected)
    # What a pair with other shares explains says nothing where they are given.
    value = score[1] + evidence if expected.free_weights else found.score
    if found.lapses > tuning.MANY_LAPSES or value <= score[2]:
        return fits, score[2]
    return [found, *fits][: tuning.KEPT_FITS], value


def _fewer(old: Candidates | None, L: int, data: Data, expected: Expected, search: bool) -> EM | None:
    """Fit one model less than L, to compare with: from the fit before, from two models merged, from one left out.

    Without a `search`, or where every model is needed beyond doubt, the fit before is held against all answers as it
    is.
    """
    if old is None:
        return None
    above, shares = old.several, expected.shares(L - 1)
    data = data._replace(scale=above.scale)
    before = old.fewer if old.fewer is not None and old.fewer.L == L - 1 else None
    starts, needed = one_less(above, data, shares) if search or before is None else ([], True)
    if before is not None and needed:
        before.score = _score_on(before, data)
        return before
    given = [From(start, above.sigma, shares, above.rate) for start in starts[: tuning.REFINED_OF_FEWER]]
    if before is not None:
        given.append(From(before.beta, before.sigma, before.weights, before.rate))
    few = tuning.STEPS_OF_RIVAL
    best_em = max((climbed(*start, data, expected, 1, few) for start in given), key=lambda em: em.score)
    at = (best_em.weights, best_em.rate)
    others = [best_em]  # with a noise of each model, or with lapses, fewer may be enough
    if expected.free_sigma and not isinstance(best_em.sigma, np.ndarray):
        others.append(climbed(best_em.beta, np.full(L - 1, best_em.sigma), *at, data, expected, 1, few))
    if not best_em.has_lapses and (width := float(np.ptp(data.values))) > 0:
        law = data._replace(scale=Lapses(tuning.LAPSES_TRIED[1], width, data.scale))
        sigma = best_em.sigma * tuning.NARROWER_WITH_LAPSES[1] if expected.free_sigma else best_em.sigma
        others.append(climbed(best_em.beta, sigma, *at, law, expected, 1, few))
    return max((em for em in others if em.lapses <= tuning.MANY_LAPSES), key=lambda em: em.score, default=best_em)


def one_less(f: Fit, data: Data, shares: Array) -> tuple[list[Array], bool]:
    """Return where one model less may be, the most likely first: two merged, or one left out.

    Returns also whether each of the models is needed beyond doubt: then all starts are a nat for each answer behind.
    """
    starts = [merged(f.beta, f.weights), *left_out(f.beta)]
    rough = np.array([data.loglik(start, shares, f.sigma) for start in starts])
    needed = float(rough.max()) < f.loglik(data) - data.N
    return [starts[i] for i in np.argsort(-rough, kind="stable")], needed


def _score_on(em: EM, data: Data) -> float:
    """Return the score of a fit as it is on all answers."""
    return penalised(float(em.explained(data).loglik.sum()), em.size, data.N, data.X.shape[1], em.L, em.extra)


def _if_near(em: EM, route: str, best: Fit, data: Data, expected: Expected) -> tuple[float, list[Fit]]:
    """Return the score of a rival with another number of models, and its fit if it comes near the best one."""
    if em.score < best.score - tuning.DROPPED_BEHIND:
        return em.score, []
    law = data._replace(scale=em.data.scale)
    found = fitted(em.beta, em.sigma, em.weights, em.rate, route, law, expected)
    return (found.score, [found]) if found.lapses <= tuning.MANY_LAPSES else (-math.inf, [])


def _more(
    further: int, old: Candidates | None, best: Fit, data: Data, expected: Expected, rng: np.random.Generator
) -> tuple[float, list[Fit]]:
    """Fit one or two models more than there seem to be: from random starts and the fit before.

    One is also looked for by splitting a model in two, and beside the others.

    Returns the score, and the fit if it comes near that of the smaller number.
    """
    L, data = best.L + further, data._replace(scale=best.scale)
    sigma, weights = min(best.sigma, expected.sigma), np.full(L, 1 / L)
    new = best_starts(L, best, data, sigma, weights, rng, tuning.STARTS_OF_MORE, tuning.REFINED_OF_MORE)
    given = [(From(start, sigma, weights, best.rate), route) for start, route in new]
    if old and old.fits.get(L):
        before = old.fits[L][0]
        given.append((From(before.beta, before.noise, before.weights, before.rate), before.route))
    few = tuning.STEPS_OF_RIVAL
    tried = [(climbed(*start, data, expected, 1, few), route) for start, route in given]
    # A third model is found by splitting; one that answers seldom is beside the others, or among their lapses.
    for law in _laws_beside(best, data) if further == 1 else ():
        tried.append((climbed(*_beside(best, law, sigma), law, expected, 1, few), "beside"))
    often = [each for each in tried if each[0].weights.min() >= LEAST_SHARE]
    em, route = max(often or tried, key=lambda each: each[0].score)
    score, found = _if_near(em, route, best, data, expected)
    return (score, found) if all(map(supported, found)) else (-math.inf, [])


def _laws_beside(best: Fit, data: Data) -> list[Data]:
    """Return the answers as one model more beside the best fit may see them: all lapses may be its own, or most."""
    if isinstance(data.scale, Lapses):
        some = data.scale.with_share(min(tuning.LAPSES_BESIDE, data.scale.share / 2))
        return [data._replace(scale=scale) for scale in (data.scale.inner, some)]
    return [data] if best.L > 2 else []


def _beside(best: Fit, data: Data, sigma: float) -> From:
    """Return a start with one model more, which is found while the others are held fixed."""
    explained = data.explained(best.beta, best.weights, best.noise).loglik
    further, share = beside(data, explained, sigma)
    return From(np.vstack([best.beta, further]), sigma, np.append((1 - share) * best.weights, share), best.rate)


def supported(f: Fit) -> bool:
    """Say whether each model answers often enough to be one: else it explains a few outliers, whatever they are."""
    own = f.answers * f.weights
    return answers_often(f) and bool((own >= tuning.ANSWERS_PER_COEFFICIENT * f.inclusion.sum(axis=1)).all())


def answers_often(f: Fit) -> bool:
    """Say whether no share is too small to be told from outliers."""
    return bool(f.weights.min() >= LEAST_SHARE)


def _score_of_one(one: Fit, several: Fit, data: Data, expected: Expected) -> float:
    """Return the penalised log-likelihood of one model, in nats.

    At a known σ one model has to explain the answers with that σ; at an unknown one it may take the one it needs.
    """
    spread = _spread(one, data) if expected.free_sigma else several.sigma
    spread = max(spread, several.sigma * tuning.LEAST_SPREAD_OF_ONE)
    law = data._replace(scale=one.scale)
    return one_model_score(one.beta[0], one.inclusion[0], law, spread, extra=isinstance(one.scale, Lapses))


def _spread(one: Fit, data: Data) -> float:
    """Return the noise that one model needs to explain everything."""
    if one.scale is not None:
        return one.sigma
    return math.sqrt(float(np.average((data.y - data.X @ one.beta[0]) ** 2, weights=data.counts)))
