"""A fitted mixture of L sparse regressions: what was found in the answers, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.em import EM
from mixsense.regression.evidence import penalised
from mixsense.regression.likelihood import Explained, counted
from mixsense.regression.spike_slab import Posterior
from mixsense.scales.lapses import share_of_lapses
from mixsense.scales.scale import Scale


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted mixture of L sparse regressions."""

    beta: Array
    """(L, n), posterior means."""
    inclusion: Array
    """(L, n), probability of each coefficient to be non-zero."""
    variance: Array
    """(L, n), posterior variances, those of coefficients that were not found included."""
    information: Array
    """(L, n), of each coefficient by itself, at the probabilities of the models."""
    stderr: Array
    """(L, n), standard errors, from the information of the mixture."""
    support: tuple[Index, Index]
    """Model and position of the s coefficients that are in."""
    covariance: Array
    """(s, s), of the coefficients that are in."""
    weights: Array
    """(L,), shares of the models."""
    sigma: float
    """Noise of an answer; where each model has its own, the root of its mean square."""
    score: float
    """Penalised log-likelihood."""
    rate: float
    """Share of the coefficients in the working set that are non-zero, among all."""
    answers: float
    """How many answers it was fitted to."""
    route: str = ""
    """Where the start came from."""
    sigmas: Array | None = None
    """(L,), noise of each model's answers, where each has its own."""
    scale: Scale | None = None
    """How answers are made of the linear value, lapses included if there are any."""
    excess: float = 1.0
    """Mean square of the residuals over that of the noise: far above 1 if the noise is known and the models wrong."""

    @property
    def L(self) -> int:
        """How many models it has."""
        return len(self.beta)

    @property
    def noise(self) -> float | Array:
        """The noise of all models or, (L,), of each: what a likelihood takes."""
        return self.sigma if self.sigmas is None else self.sigmas

    @property
    def noises(self) -> Array:
        """The noise of each model's answers, (L,), whether all have the same or not."""
        return np.broadcast_to(np.asarray(self.noise, dtype=np.float64), self.L)

    @property
    def found(self) -> Mask:
        """(L, n), the coefficients that are in the support."""
        return self.inclusion > tuning.SUPPORT_PROBABILITY

    @property
    def lapses(self) -> float:
        """Share of the answers that come from anywhere."""
        return share_of_lapses(self.scale)

    def explained(self, data: Data) -> Explained:
        """Say how the models explain answers."""
        return data._replace(scale=self.scale).explained(self.beta, self.weights, self.noise)

    def loglik(self, data: Data) -> float:
        """Return the log-likelihood of answers under the models."""
        return data._replace(scale=self.scale).loglik(self.beta, self.weights, self.noise)

    def covariance_of(self, a: int) -> Array:
        """Return the covariance of all coefficients of model a, (n, n); those that are out are independent."""
        model, place = self.support
        here = model == a
        found = np.diag(self.variance[a])
        found[np.ix_(place[here], place[here])] = self.covariance[np.ix_(here, here)]
        return found


def climb(
    data: Data,
    beta: Array,
    sigma: float | Array,
    weights: Array,
    rate: float,
    expected_rate: float,
    *,
    free_sigma: bool = False,
    free_weights: bool = False,
    least_sigma: float = 0.0,
    selections: int = tuning.SELECTIONS,
    steps: int = tuning.EM_STEPS,
) -> EM:
    """Fit L sparse models to untagged answers, from a start to the nearest optimum.

    Parameters
    ----------
    data : Data
        Queries and answers.
    beta : (L, n) array
        Where to start.
    sigma, weights : float or (L,) array, (L,) array
        Noise, of all models or of each, and shares; updated if `free_sigma`, `free_weights`.
    rate, expected_rate : float
        Share of non-zero coefficients: to start with, and before any answer.
    least_sigma : float
        The noise is at least this much.
    selections : int
        How often the working set is chosen at most.
    steps : int
        How many steps EM takes on a working set at most.

    Returns
    -------
    EM
        Where it stands still; `finish` makes a fit of it.
    """
    em = EM(data, beta, sigma, weights, rate, least_sigma)
    before = -math.inf
    for _ in range(selections):
        em.choose_columns()
        loglik = em.iterate(expected_rate, free_sigma, free_weights, steps)
        if abs(loglik - before) < tuning.SETTLED_LOGLIK:
            break
        before = loglik
    em.extra = (em.L - 1 if free_weights else 0) + (em.further_noise if free_sigma else 0) + em.has_lapses
    em.score = penalised(loglik, em.size, em.N, em.n, em.L, em.extra)
    return em


def finish(em: EM, route: str = "") -> Fit:
    """Expand the likelihood around where EM stands still, and say how sure everything is.

    Parameters
    ----------
    em : EM
        What `climb` returned.
    route : str
        Where the start came from.
    """
    everywhere, _, G = em.marginals()
    found, J = em.laplace()
    return _assemble(em, everywhere, found, J, G, route)


def _assemble(em: EM, everywhere: Posterior, found: Posterior, J: Array, G: Array, route: str) -> Fit:
    """Put the working set, found jointly, among all other coefficients, known one at a time."""
    columns = em.columns
    beta, square, inclusion = np.zeros_like(em.beta), everywhere.square.copy(), everywhere.inclusion.copy()
    beta[:, columns], square[:, columns], inclusion[:, columns] = found
    variance = np.maximum(square - beta**2, 0)
    inside = found.inclusion > tuning.SUPPORT_PROBABILITY
    which = inside.ravel()
    shrunk = ~np.tile(em.sure, em.L)[which]
    precision = J[np.ix_(which, which)] + np.diag(shrunk / em.slab)
    covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
    model, place = np.nonzero(inside)
    support = (model, columns[place])
    stderr = np.sqrt(variance)
    stderr[support] = np.sqrt(np.maximum(np.diag(covariance), variance[support]))
    at = em.here.explained(found.mean, em.weights, em.sigma)
    loglik = float(at.loglik.sum())
    return Fit(
        beta=beta,
        inclusion=inclusion,
        variance=variance,
        information=G,
        stderr=stderr,
        support=support,
        covariance=covariance,
        weights=em.weights,
        sigma=em.typical_sigma,
        scale=em.data.scale,
        excess=float((counted(at.probability * at.residual**2, em.data.counts) / em.variance).sum()) / em.N,
        sigmas=em.sigma if isinstance(em.sigma, np.ndarray) else None,
        score=penalised(loglik, float(found.inclusion.sum()), em.N, em.n, em.L, em.extra),
        rate=em.rate,
        answers=em.N,
        route=route,
    )
