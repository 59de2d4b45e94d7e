"""From a table to models: how many there are, where they are, and whether each has a noise of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mixsense.arrays import Array
from mixsense.fitting import tuning
from mixsense.problem import MOST_MODELS
from mixsense.regression.candidates import Candidates, Expected
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit, climb, finish
from mixsense.regression.renewal import renew, supported
from mixsense.regression.starts import spread_of
from mixsense.regression.tuning import ANSWERS_PER_COEFFICIENT, NEW_STARTS, SUPPORT_PROBABILITY


@dataclass(frozen=True, slots=True)
class Found:
    """The models that explain a table best, and how much better than others."""

    fit: Fit
    """On all rows."""
    evidence: float
    """How much better it explains the answers than any smaller number of models, in nats; of one model, than two."""
    scores: dict[int, float]
    """Number of models -> score of the best fit, in nats."""
    own_noise: float
    """How much better the answers are explained if each model has a noise of its own, in nats."""
    sampled: int
    """How many rows the number of models was decided on."""


def expect(data: Data, models: int | None, sigma: float | None, weights: Array | None, estimate: bool) -> Expected:
    """Return what is known of the models before they are fitted."""
    n = max(data.X.shape[1] - data.sure, 1)
    return Expected(
        sigma=sigma or max(tuning.GUESSED_NOISE * spread_of(data.values, data.counts), 1e-100),
        models=models,
        weights=weights,
        rate=min(tuning.LARGEST_GUESSED_RATE, tuning.TYPICAL_COEFFICIENTS / n),
        free_sigma=sigma is None,
        free_weights=estimate,
        lapses=False,
    )


def search(data: Data, expected: Expected, rng: np.random.Generator) -> Found:
    """Find the models behind a table.

    Parameters
    ----------
    data : Data
        All rows.
    expected : Expected
        What is known of the models.
    rng : Generator
        Draws the starts and, of a large table, the sample of rows.
    """
    sample = _sample(data, rng)
    found = _by_number(sample, expected, rng)
    best = {L: f if f.sigmas is None else _climbed(f, f.sigma, sample, expected) for L, f in found.items()}
    own = {L: _own_noise(f, sample, expected) for L, f in found.items() if L > 1 and expected.free_sigma}
    given = [L for L in best if expected.models in (None, L)]
    asked_for = max((own[L].score for L in given if L in own), default=-math.inf) - max(best[L].score for L in given)
    if asked_for > tuning.OWN_NOISE_ESTABLISHED:
        best = best | own
    scores = {number: f.score for number, f in best.items()}
    L = max(given, key=lambda L: scores[L])
    L = 1 if scores[L] < scores[1] else L  # as many as were asked for explain no more than one would
    others = [score for number, score in scores.items() if (number < L if L > 1 else number > L)]
    chosen = best[L]
    if sample is not data or _dense(chosen, data):
        chosen = _refined(chosen, data, expected)
    return Found(chosen, scores[L] - max(others, default=-math.inf), scores, asked_for, len(sample.y))


def _by_number(data: Data, expected: Expected, rng: np.random.Generator) -> dict[int, Fit]:
    """Return the best fit of each number of models that was tried: further ones until two in a row do not help.

    Each number is searched for by itself: two models that stand for four are a place from which three are not found.
    """
    if expected.models is not None:
        return _better({}, renew(None, data, expected, rng, NEW_STARTS, more=False))
    best = dict[int, Fit]()
    for L in range(2, MOST_MODELS + 1):
        best = _better(best, renew(None, data, replace(expected, models=L), rng, NEW_STARTS, more=False))
        if L > 2 and not supported(best[L]):
            del best[L]
        leader = max(best, key=lambda number: best[number].score)
        if L >= leader + 2:
            break
    return best


def _better(best: dict[int, Fit], candidates: Candidates) -> dict[int, Fit]:
    """Return the better of the fits so far and those of the candidates, for each number of models."""
    new = {L: replace(fits[0], score=candidates.score[L]) for L, fits in candidates.fits.items() if fits}
    return best | {L: f for L, f in new.items() if L not in best or f.score > best[L].score}


def _own_noise(f: Fit, data: Data, expected: Expected) -> Fit:
    """Return the fit in which each model has a noise of its own, from one in which all have the same."""
    return _climbed(f, np.full(f.L, f.sigma) if f.sigmas is None else f.sigmas, data, expected)


def _climbed(f: Fit, noise: float | Array, data: Data, expected: Expected) -> Fit:
    """Fit again from where a fit ended, with the noise of all models or of each."""
    own = isinstance(noise, np.ndarray)
    em = climb(
        data._replace(scale=f.scale),
        f.beta,
        noise,
        f.weights,
        f.rate,
        expected.rate,
        free_sigma=expected.free_sigma or f.L == 1,
        free_weights=expected.free_weights,
        least_sigma=max(expected.least_sigma, tuning.LEAST_FITTED_NOISE * f.sigma if own else 0.0),
    )
    return finish(em, f.route)


def _dense(f: Fit, data: Data) -> bool:
    """Say whether nearly every coefficient is in, and each model has the answers for all of them.

    A prior of zeros knows nothing then, and would only take small coefficients for none.
    """
    inside = (f.inclusion[:, data.sure :] > SUPPORT_PROBABILITY).mean() if data.X.shape[1] > data.sure else 1.0
    enough = f.answers * float(f.weights.min()) >= ANSWERS_PER_COEFFICIENT * data.X.shape[1]
    return bool(inside >= tuning.DENSE_SHARE and enough)


def _refined(f: Fit, data: Data, expected: Expected) -> Fit:
    """Return a fit refined on all rows; where the models are dense, no coefficient is shrunk."""
    found = _climbed(f, f.noise, data._replace(sure=data.X.shape[1]) if _dense(f, data) else data, expected)
    return replace(found, score=f.score)


def _sample(data: Data, rng: np.random.Generator) -> Data:
    """Return as many rows as the search takes, whole groups of them."""
    N, n = data.X.shape
    most = max(tuning.LEAST_SAMPLE, tuning.SAMPLE_ENTRIES // n)
    if N <= most:
        return data
    if data.group is None:
        chosen = np.sort(rng.choice(N, most, replace=False))
        group = None
    else:
        order = rng.permutation(int(data.group.max()) + 1)
        taken = order[: max(1, int(np.searchsorted(np.bincount(data.group)[order].cumsum(), most)))]
        chosen = np.flatnonzero(np.isin(data.group, taken))
        group = np.unique(data.group[chosen], return_inverse=True)[1]
    counts = None if data.counts is None else data.counts[chosen]
    return data._replace(X=data.X[chosen], y=data.y[chosen], group=group, counts=counts)
