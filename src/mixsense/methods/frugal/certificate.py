"""How far can the result be trusted: a bound on the error of the worst model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.corners import Box
from mixsense.regression.candidates import Candidates
from mixsense.regression.fit import Fit
from mixsense.regression.rivals import Rival, distance_kept, rivals


def error_bound(answers: Answers, candidates: Candidates, eta: float) -> float:
    """Return the posterior's error times a factor that is larger, the more answers could be from several models.

    Parameters
    ----------
    answers, candidates
        All answers, and the fits to them.
    eta : float
        Probability with which the error may be larger.
    """
    several = candidates.several
    P = several.explained(answers.data.without_zeros).probability
    guess = 1 - float(several.weights @ several.weights)  # how often two draws of a model differ, before any answer
    unlabelled = float((1 - (P * P).sum(axis=1)).mean()) / guess  # 0: each answer labels itself, 1: none does
    factor = tuning.BOUND_FACTOR + tuning.BOUND_FACTOR_UNLABELLED * unlabelled
    return factor * error_quantile(candidates.winner, eta)


def rivals_of(answers: Answers, candidates: Candidates, box: Box | None) -> list[Rival]:
    """Return the pairs of models that the answers do not rule out, where corners were asked and two models found."""
    winner = candidates.winner
    if box is None or box.design == "gaussian" or winner.L != 2:
        return []
    return rivals(answers.data, winner)


def with_rivals(bound: float, alive: Sequence[Rival], candidates: Candidates, eta: float) -> float:
    """Return the bound, or the distance of the farthest rival that is too probable to be left out."""
    if not alive:
        return bound
    return max(bound, distance_kept(alive, candidates.winner.beta, eta / tuning.RIVALS_SHARE_OF_ETA))


def error_quantile(fit: Fit, eta: float, draws: int = tuning.BOUND_DRAWS) -> float:
    """Return the posterior 1 − η quantile of the worst model's ℓ2 error, with what may have been missed.

    Parameters
    ----------
    fit : Fit
        The fitted models.
    eta : float
        Probability with which the error may be larger.
    draws : int
        Monte Carlo sample; its seed is fixed.
    """
    rng = np.random.default_rng(0)
    total = np.stack([_squared_error(fit, a, draws, rng) for a in range(len(fit.beta))], axis=1)  # (draws, L)
    return float(np.sqrt(np.quantile(total.max(axis=1), 1 - eta)))


def _squared_error(fit: Fit, a: int, draws: int, rng: np.random.Generator) -> Array:
    """Draw the squared ℓ2 error of model a from the posterior, (draws,)."""
    total = np.zeros(draws)
    p, m, square = fit.inclusion[a], fit.beta[a], fit.square[a]
    model, place = fit.support
    here = model == a
    inside = np.zeros(len(p), dtype=np.bool_)
    inside[place[here]] = True
    if here.any():
        e = np.maximum(np.linalg.eigvalsh(fit.covariance[np.ix_(here, here)]), 0)
        total += rng.standard_normal((draws, len(e))) ** 2 @ e
    there = np.where(p > 0, p, 1.0)
    mu = np.where(m != 0, m / there, np.sqrt(np.maximum(square / there, 0)))  # if it is there, it is N(mu, sd²)
    sd = np.sqrt(np.maximum(square / there - mu * mu, 0))
    rare = ~inside & (p > 0) & (p < tuning.RARE_COEFFICIENT)
    if rare.any():
        expected = float(p[rare].sum())
        number = rng.poisson(fit.rate_correction * expected, draws)
        which = rng.choice(np.flatnonzero(rare), int(number.sum()), p=p[rare] / expected)
        value = mu[which] + sd[which] * rng.standard_normal(len(which))
        total += np.bincount(np.repeat(np.arange(draws), number), (value - m[which]) ** 2, draws)
    for j in np.flatnonzero(~rare & (p > 0)):
        hit = rng.random(draws) < p[j]
        if inside[j]:  # if it is really zero, the error is all of it
            total[~hit] += m[j] ** 2
        else:
            value = mu[j] + sd[j] * rng.standard_normal(draws)
            total += (np.where(hit, value, 0.0) - m[j]) ** 2
    total += max(0.0, float(fit.tail_energy[a]) - float(fit.variance[a][~inside].sum()))
    return total
