"""Noise that is not the same for all answers: of each model its own, and lapses; where the answers ask for it."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array
from mixsense.regression import tuning
from mixsense.regression.candidates import Expected
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit, finish
from mixsense.regression.from_start import climbed
from mixsense.regression.likelihood import counted
from mixsense.scales.lapses import Lapses
from mixsense.scales.scale import Scale, terms_of


def extended(fit: Fit, data: Data, expected: Expected) -> Fit:
    """Return a fit with the kind of noise that explains the answers best: as it is, with more, or with less.

    Parameters
    ----------
    fit : Fit
        Where to start.
    data : Data
        The answers.
    expected : Expected
        What is known of the models.

    Notes
    -----
    What the further parameters cost is in the score. A look at the fit as it is tells whether the search is worth it.
    """
    best = fit
    for kind in (_with_lapses, _with_own_noise) if expected.lapses else (_with_own_noise,):
        for sigma, scale in kind(best, data, expected):
            law = data._replace(scale=scale)
            other = finish(climbed(best.beta, sigma, best.weights, best.rate, law, expected, 1), best.route)
            if _worth(other) > _worth(best):
                best = other
    return best


def _worth(fit: Fit) -> float:
    """Return the score of a fit, less what lapses have to earn; more lapses than there may be are never taken."""
    if fit.lapses > tuning.MANY_LAPSES:
        return -math.inf
    return fit.score - (tuning.LAPSES_ESTABLISHED if fit.lapses else 0.0)


def _with_lapses(fit: Fit, data: Data, expected: Expected) -> list[tuple[float | Array, Scale | None]]:
    """Return noise and scale that may explain more: with lapses, or without those that there are."""
    if isinstance(fit.scale, Lapses):
        plain = data._replace(scale=fit.scale.inner).loglik(fit.beta, fit.weights, fit.noise)
        lost = fit.loglik(data) - plain
        near = tuning.NOISE_WORTH_A_LOOK * math.log(data.N) + tuning.LAPSES_ESTABLISHED
        return [(fit.noise, fit.scale.inner)] if lost < near or fit.lapses > tuning.MANY_LAPSES else []
    now = fit.loglik(data)
    spread = float(np.ptp(data.values))
    if not spread > 0:
        return []
    found = []
    for share in tuning.LAPSES_TRIED:
        scale = Lapses(share, spread, fit.scale)
        for narrower in tuning.NARROWER_WITH_LAPSES if expected.free_sigma else (1.0,):
            sigma = np.multiply(fit.noise, narrower) if isinstance(fit.noise, np.ndarray) else fit.noise * narrower
            gain = data._replace(scale=scale).loglik(fit.beta, fit.weights, sigma) - now
            found.append((gain, sigma, scale))
    gain, sigma, scale = max(found, key=lambda each: each[0])
    return [(sigma, scale)] if gain > 0.5 * math.log(data.N) else []


def _with_own_noise(fit: Fit, data: Data, expected: Expected) -> list[tuple[float | Array, Scale | None]]:
    """Return noise and scale that may explain more: with a noise of each model, or with one for all."""
    if not expected.free_sigma or fit.L == 1:
        return []
    own, gain = own_noise(fit, data)
    cost = (fit.L - 1) * math.log(data.N)
    if fit.sigmas is not None:
        return [(fit.sigma, fit.scale)] if gain < tuning.NOISE_WORTH_A_LOOK * cost else []
    enough = data.N * fit.weights >= tuning.ANSWERS_PER_COEFFICIENT * (fit.inclusion.sum(axis=1) + 1)
    return [(own, fit.scale)] if gain > 0.5 * cost and bool(enough.all()) else []


def own_noise(fit: Fit, data: Data) -> tuple[Array, float]:
    """Return the noise that each model's answers show, (L,), and how much more it explains than one for all, in nats.

    The gain is that of answers that tell their model.
    """
    mean = data.X @ fit.beta.T
    P = counted(fit.explained(data).probability, data.counts)
    terms = terms_of(fit.scale, data.y, mean, fit.noise)
    count = np.maximum(P.sum(axis=0), 1e-9)
    square = np.maximum((P * terms.square).sum(axis=0) / count, 1e-300)
    together = float(count @ square) / float(count.sum())
    gain = 0.5 * float(count @ (math.log(together) - np.log(square)))
    return np.sqrt(square), gain
