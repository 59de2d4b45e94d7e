"""How the fits are renewed when there are more answers: refitted, and rivalled by new starts and other numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from mixsense.arrays import Array
from mixsense.problem import MOST_MODELS
from mixsense.regression import tuning
from mixsense.regression.candidates import Candidates, Data, Expected
from mixsense.regression.em import EM
from mixsense.regression.evidence import one_model_score, penalised
from mixsense.regression.fit import Fit, climb, finish
from mixsense.regression.likelihood import explain
from mixsense.regression.starts import anneal, merged, moment_columns, second_moments, splits


def renew(
    old: Candidates | None, data: Data, expected: Expected, rng: np.random.Generator, new_starts: int, more: bool
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
    """
    one = old.one if old and old.established and not new_starts else _one_model(old, data, expected)
    L = max(expected.models or 2, 2) if old is None else old.models
    fits = {1: [one]}
    if L > 2:
        fits[L - 1] = _fewer(old, L - 1, data, expected)
    fits[L] = _several(old, L, fits[L - 1][0], data, expected, rng, new_starts)
    score = {number: found[0].score for number, found in fits.items()}
    score[1] = _score_of_one(one, fits[L][0], data, expected)
    if more and L < MOST_MODELS:
        score[L + 1], fits[L + 1] = _one_more(old, fits[L][0], data, expected, rng)
    if not fits[L][0].support[0].size and len(data.y) >= tuning.ANSWERS_FOR_NOTHING:  # one model, zero, says it all
        most = score[1] + tuning.NOTHING_EVIDENCE
        score = {number: value if number == 1 else min(value, most) for number, value in score.items()}
    return Candidates(fits, score, expected.models, old.held_out if old else {}, old.unseen if old else {})


def _one_model(old: Candidates | None, data: Data, expected: Expected) -> Fit:
    """Fit one model, from the one before if there is."""
    if old is None:
        start, rate = np.zeros((1, data.X.shape[1])), expected.rate
        spread = float(np.std(data.y)) or expected.sigma
    else:
        start, rate, spread = old.one.beta, old.one.rate, old.one.sigma
    selections = tuning.ONE_MODEL_SELECTIONS
    em = climb(
        data.X, data.y, start, spread, np.ones(1), rate, expected.rate, free_sigma=True, selections=selections
    )
    return finish(em, "one vector")


def _climbed(
    start: Array,
    sigma: float,
    weights: Array,
    rate: float,
    data: Data,
    expected: Expected,
    selections: int = tuning.SELECTIONS,
    steps: int = tuning.EM_STEPS,
) -> EM:
    """Fit several models from a start to the nearest optimum."""
    return climb(
        data.X,
        data.y,
        start,
        sigma,
        weights,
        rate,
        expected.rate,
        free_sigma=expected.free_sigma,
        free_weights=expected.free_weights,
        zeros=data.zeros,
        least_sigma=expected.least_sigma,
        selections=selections,
        steps=steps,
    )


def _fit(start: Array, sigma: float, weights: Array, rate: float, route: str, data: Data, expected: Expected) -> Fit:
    """Fit several models from a start."""
    return finish(_climbed(start, sigma, weights, rate, data, expected), route)


def _again(fits: Iterable[Fit], data: Data, expected: Expected) -> list[Fit]:
    """Fit again from where earlier fits of the same number of models ended."""
    return [_fit(f.beta, f.sigma, f.weights, f.rate, f.route, data, expected) for f in fits]


def _several(
    old: Candidates | None, L: int, fewer: Fit, data: Data, expected: Expected, rng: np.random.Generator, number: int
) -> list[Fit]:
    """Fit L models: from the fits that are alive, and from new starts."""
    alive = [f for f in old.fits[L] if f.score > old.fits[L][0].score - tuning.DROPPED_BEHIND] if old else []
    found = _again(alive, data, expected)
    sigma, weights = (alive[0].sigma, alive[0].weights) if alive else (expected.sigma, expected.shares(L))
    if number:
        for start, route in _starts(L, fewer, data, sigma, weights, rng, number, tuning.REFINED_STARTS):
            found.append(_fit(start, sigma, weights, expected.rate, route, data, expected))
    return _distinct(found, sigma)


def _fewer(old: Candidates | None, L: int, data: Data, expected: Expected) -> list[Fit]:
    """Fit one model less than there seem to be, to compare with; where the lead is large, the old fit is enough."""
    if old is None:
        rng = np.random.default_rng(0)  # the number of models was given: this fit decides nothing but a warning
        starts = anneal(*data.without_zeros, expected.sigma, expected.shares(L), rng, tuning.STARTS_OF_MORE)[0]
        return _distinct(
            [_fit(start, expected.sigma, expected.shares(L), expected.rate, "annealed", data, expected) for start in starts],
            expected.sigma,
        )
    best = old.fits[L][:1] if L in old.fits else []
    if best and old.evidence > tuning.NO_NEW_STARTS:
        return [_rescored(best[0], data, expected)]
    above = old.several
    start = merged(above.beta, above.weights)
    found = [*_again(best, data, expected)]
    found.append(_fit(start, above.sigma, expected.shares(L), above.rate, "merged", data, expected))
    return _distinct(found, above.sigma)


def _rescored(f: Fit, data: Data, expected: Expected) -> Fit:
    """Return a fit as it is, with its score on all answers."""
    loglik = float(explain(data.X, data.y, f.beta, f.weights, f.sigma).loglik.sum())
    (N, n), L = data.X.shape, len(f.beta)
    shares = L - 1 if expected.free_weights else 0
    return replace(f, score=penalised(loglik, float(f.inclusion.sum()), N, n, L, shares))


def _one_more(
    old: Candidates | None, best: Fit, data: Data, expected: Expected, rng: np.random.Generator
) -> tuple[float, list[Fit]]:
    """Fit one model more than there seem to be: from the models split in two, and from a few random starts.

    Returns the score, and the fit if it comes near that of the smaller number.
    """
    L = len(best.beta) + 1
    sigma, weights = min(best.sigma, expected.sigma), np.full(L, 1 / L)
    before = [(f.beta, f.sigma, f.weights, f.rate, f.route) for f in old.fits.get(L, [])[:1]] if old else []
    starts = _starts(L, best, data, sigma, weights, rng, tuning.STARTS_OF_MORE, tuning.REFINED_OF_MORE)
    new = [(start, sigma, weights, best.rate, route) for start, route in starts]
    few = tuning.STEPS_OF_MORE
    tried = [(_climbed(*start, data, expected, selections=1, steps=few), route) for *start, route in (*before, *new)]
    em, route = max(tried, key=lambda each: each[0].score)
    if em.score < best.score - tuning.DROPPED_BEHIND:
        return em.score, []
    found = _fit(em.beta, em.sigma, em.weights, em.rate, route, data, expected)
    return found.score, [found]


def _starts(
    L: int,
    fewer: Fit,
    data: Data,
    sigma: float,
    weights: Array,
    rng: np.random.Generator,
    number: int,
    refined: int,
) -> list[tuple[Array, str]]:
    """Return where L models may be, each with its route: the best annealed starts, and those of the second moments."""
    X, y = data.without_zeros
    if L == 2:
        t, difference = second_moments(X, y, fewer.beta[0], moment_columns(len(data.y), X.shape[1]))
        seeds = [np.stack([fewer.beta[0] + difference / 2, fewer.beta[0] - difference / 2])]
        always, name = {number}, "second moments"  # the seed is the last
    else:
        own = explain(X, y, fewer.beta, fewer.weights, fewer.sigma).probability.argmax(axis=1)
        seeds, t = splits(X, y, fewer.beta, own), None
        always, name = set[int](), "split"
    starts, value = anneal(X, y, sigma, weights, rng, number, seeds, promise=t)
    chosen = {*np.argsort(-value, kind="stable")[:refined].tolist()} | always
    return [(starts[i], name if i >= number else "annealed") for i in sorted(chosen)]


def _distinct(fits: Sequence[Fit], sigma: float) -> list[Fit]:
    """Sort fits by their scores, and leave out those equal to a better one, whatever the order of their models."""
    kept: list[Fit] = []
    for f in sorted(fits, key=lambda f: -f.score):
        apart = (np.abs(f.beta[:, None] - g.beta).max(axis=2).min(axis=1).max() for g in kept)
        if all(distance > tuning.DISTINCT * sigma for distance in apart):
            kept.append(f)
    return kept[: tuning.KEPT_FITS]


def _score_of_one(one: Fit, several: Fit, data: Data, expected: Expected) -> float:
    """Return the penalised log-likelihood of one model, in nats.

    At a known σ one model has to explain the answers with that σ; at an unknown one it may take the one it needs.
    """
    X, y = data.X, data.y
    spread = float(np.sqrt(np.mean((y - X @ one.beta[0]) ** 2))) if expected.free_sigma else several.sigma
    spread = max(spread, several.sigma * tuning.LEAST_SPREAD_OF_ONE)
    return one_model_score(one.beta[0], one.inclusion[0], X, y, spread)
