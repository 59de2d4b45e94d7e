"""From a table to models: how many there are, where they are, and whether each has a noise of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mixsense.arrays import Array
from mixsense.fitting import tuning
from mixsense.fitting.groups import gain_of_ungrouped
from mixsense.problem import MOST_MODELS
from mixsense.regression.candidates import Candidates, Expected
from mixsense.regression.data import Data
from mixsense.regression.extensions import extended, own_noise
from mixsense.regression.fit import Fit, climb, finish
from mixsense.regression.from_start import climbed
from mixsense.regression.likelihood import counted
from mixsense.regression.renewal import one_less, renew, supported
from mixsense.regression.starts import spread_of
from mixsense.regression.tuning import (
    ANSWERS_PER_COEFFICIENT,
    LAPSES_TRIED,
    LEAST_RELATIVE_SIGMA,
    NEW_STARTS,
    STEPS_OF_RIVAL,
    SUPPORT_PROBABILITY,
)
from mixsense.scales.lapses import Lapses


@dataclass(frozen=True, slots=True)
class Found:
    """The models that explain a table best, and how much better than others."""

    fit: Fit
    """On all rows."""
    evidence: float
    """How much better it explains the answers than any smaller number of models, in nats; of one model, than two.
    Negative if more models were asked for than the answers show."""
    scores: dict[int, float]
    """Number of models -> score of the best fit, in nats."""
    own_noise: float
    """How much better the answers are explained if each model has a noise of its own, in nats."""
    sampled: int
    """How many rows the number of models was decided on."""
    lapses: float = 0.0
    """How much better the answers would be explained if some came from anywhere, in nats, where that was not asked."""
    lapse_share: float = 0.0
    """How many would."""
    ungrouped: float = 0.0
    """How much better the answers are explained if those of a group need not share a model, in nats."""


def expect(
    data: Data, models: int | None, sigma: float | None, weights: Array | None, estimate: bool, lapses: bool = False
) -> Expected:
    """Return what is known of the models before they are fitted."""
    n = max(data.X.shape[1] - data.sure, 1)
    return Expected(
        sigma=sigma or max(tuning.GUESSED_NOISE * spread_of(data.values, data.counts), 1e-100),
        models=models,
        weights=weights,
        rate=min(tuning.LARGEST_GUESSED_RATE, tuning.TYPICAL_COEFFICIENTS / n),
        free_sigma=sigma is None,
        free_weights=estimate,
        lapses=lapses,
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
    if not data.values.any():  # nothing is left to explain, and there is no unit to measure noise in
        return _nothing(data, expected)
    sample = _sample(data, rng)
    found = _by_number(sample, expected, rng)
    if expected.lapses:
        found = _with_lapses(found, sample, expected, rng)
    best = {L: f if f.sigmas is None else _climbed(f, f.sigma, sample, expected) for L, f in found.items()}
    own = {L: _own_noise(f, sample, expected) for L, f in found.items() if L > 1 and expected.free_sigma}
    given = [L for L in best if expected.models in (None, L)]
    asked_for = max((own[L].score for L in given if L in own), default=-math.inf) - max(best[L].score for L in given)
    if asked_for > tuning.OWN_NOISE_ESTABLISHED:
        best = best | {L: f for L, f in own.items() if f.sigmas is not None}
    scores = {number: f.score for number, f in best.items()}
    if expected.models is not None and expected.models > 2:
        less = _with_one_less(best[expected.models], sample, expected)
        scores |= {expected.models - 1: less} if less > -math.inf else {}
    L = max(given, key=lambda L: scores[L])
    if scores[L] < scores[1] and _alike(best[L]):  # as many as were asked for turned out to be the same model
        L = 1
    others = [score for number, score in scores.items() if (number < L if L > 1 else number > L)]
    chosen = best[L]
    lapses = _missing_lapses(chosen, sample, expected)
    if sample is not data or _dense(chosen, data):
        chosen = _refined(chosen, data, expected)
    evidence = scores[L] - max(others, default=-math.inf)
    apart = gain_of_ungrouped(sample, best[L], expected, rng)
    return Found(chosen, evidence, scores, asked_for, len(sample.y), *lapses, ungrouped=apart)


def _with_one_less(f: Fit, data: Data, expected: Expected) -> float:
    """Return the score of one model less than were asked for; minus infinity where each is needed beyond doubt."""
    law, shares = data._replace(scale=f.scale), np.full(f.L - 1, 1 / (f.L - 1))
    starts, needed = one_less(f, law, shares)
    if needed:
        return -math.inf
    noise = f.sigma if f.sigmas is None else np.full(f.L - 1, f.sigma)
    return climbed(starts[0], noise, shares, f.rate, law, expected, 1, STEPS_OF_RIVAL).score


def _nothing(data: Data, expected: Expected) -> Found:
    """Return one model that is zero."""
    sigma = LEAST_RELATIVE_SIGMA if expected.free_sigma else expected.sigma
    em = climb(data, np.zeros((1, data.X.shape[1])), sigma, np.ones(1), expected.rate, expected.rate)
    return Found(finish(em, "nothing"), math.inf, {1: em.score}, -math.inf, len(data.y))


def _missing_lapses(f: Fit, data: Data, expected: Expected) -> tuple[float, float]:
    """Return how much better lapses would explain the answers, in nats, and their share; 0 where they are allowed."""
    if expected.lapses:
        return 0.0, 0.0
    other = extended(f, data, replace(expected, lapses=True))
    return (other.score - f.score, other.lapses) if other.lapses else (0.0, 0.0)


def _by_number(data: Data, expected: Expected, rng: np.random.Generator) -> dict[int, Fit]:
    """Return the best fit of each number of models that was tried: further ones until two in a row do not help.

    Each number is searched for by itself: two models that stand for four are a place from which three are not found.
    """
    if expected.models is not None:
        found = _better({}, renew(None, data, expected, rng, NEW_STARTS, more=False))
        return {L: _from_least_squares(f, data, expected) for L, f in found.items()}
    best = dict[int, Fit]()
    for L in range(2, MOST_MODELS + 1):
        best = _better(best, renew(None, data, replace(expected, models=L), rng, NEW_STARTS, more=False))
        if L > 2 and not supported(best[L]):
            del best[L]
        leader = max(best, key=lambda number: best[number].score)
        if L >= leader + 2:
            break
    return {L: _from_least_squares(f, data, expected) for L, f in best.items()}


def _from_least_squares(f: Fit, data: Data, expected: Expected) -> Fit:
    """Return the better of a fit and of one from the least squares of all columns, where these go together.

    Of columns that are nearly the same, the first that comes in takes what is the others': one at a time, as fits renew
    their coefficients, they hardly move then.
    """
    X, at = data.X, data._replace(scale=f.scale).explained(f.beta, f.weights, f.noise)
    P = counted(at.probability, data.counts)
    if (P.sum(axis=0) < ANSWERS_PER_COEFFICIENT * X.shape[1]).any() or not _go_together(X):
        return f
    values = X @ f.beta.T + at.residual  # of answers that are real numbers, these
    roots = np.sqrt(P)
    beta = [np.linalg.lstsq(X * roots[:, [a]], values[:, a] * roots[:, a], rcond=None)[0] for a in range(f.L)]
    return max(f, _climbed(replace(f, beta=np.array(beta)), f.noise, data, expected), key=lambda each: each.score)


def _go_together(X: Array) -> bool:
    """Say whether some columns nearly tell another.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> _go_together(X), _go_together(np.column_stack([X, X[:, 0] + 0.1 * X[:, 1]]))
    (False, True)
    """
    size = np.sqrt((X * X).sum(axis=0))
    unit = X / np.where(size > 0, size, 1.0)
    return bool(np.linalg.eigvalsh(unit.T @ unit)[0] < tuning.NEARLY_TOLD)


def _with_lapses(found: dict[int, Fit], data: Data, expected: Expected, rng: np.random.Generator) -> dict[int, Fit]:
    """Return the better of these fits and of those that know of lapses from the start.

    Lapses lead fits astray that do not know of them. Besides, one model more takes them up, and is left out then.
    """
    law = data._replace(scale=Lapses(LAPSES_TRIED[1], float(np.ptp(data.values)) or 1.0, data.scale))
    number = min((expected.models or 2) + 1, MOST_MODELS)
    more = found if number in found else found | _by_number(data, replace(expected, models=number), rng)
    others = _by_number(law, expected, rng)
    for L, f in more.items():
        if L > 2 and expected.models in (None, L - 1):
            kept = np.delete(np.arange(L), f.weights.argmin())
            noise = f.sigma if f.sigmas is None else float(np.sqrt(np.mean(f.sigmas[kept] ** 2)))
            start = replace(f, beta=f.beta[kept], weights=f.weights[kept] / f.weights[kept].sum(), sigmas=None)
            fewer = extended(_climbed(replace(start, scale=law.scale), noise, law, expected), data, expected)
            others[L - 1] = max(others.get(L - 1, fewer), fewer, key=lambda each: each.score)
    better = {L: f for L, f in others.items() if L not in found or f.score > found[L].score}
    return found | better


def _better(best: dict[int, Fit], candidates: Candidates) -> dict[int, Fit]:
    """Return the better of the fits so far and those of the candidates, for each number of models."""
    new = {L: replace(fits[0], score=candidates.score[L]) for L, fits in candidates.fits.items() if fits}
    return best | {L: f for L, f in new.items() if L not in best or f.score > best[L].score}


def _alike(f: Fit) -> bool:
    """Say whether all models of a fit are one: no coefficient differs from the first model's beyond its error."""
    apart, error = np.abs(f.beta - f.beta[0]), np.hypot(f.stderr, f.stderr[0])
    return bool((apart <= tuning.ALIKE_ERRORS * error).all())


def _own_noise(f: Fit, data: Data, expected: Expected) -> Fit:
    """Return the fit in which each model has a noise of its own, from one in which all have the same.

    Where a look says that it is not worth its price, that is the same fit, with about the score that it would have.
    """
    price = 0.5 * (f.L - 1) * math.log(data.N)
    if f.sigmas is None and (gain := own_noise(f, data)[1]) < tuning.OWN_NOISE_WORTH_A_FIT * price:
        return replace(f, score=f.score + gain - price)
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
        return data.rows(np.sort(rng.choice(N, most, replace=False)))
    order = rng.permutation(int(data.group.max()) + 1)
    taken = order[: max(1, int(np.searchsorted(np.bincount(data.group)[order].cumsum(), most)))]
    return data.rows(np.flatnonzero(np.isin(data.group, taken)))
