"""EM for a mixture of L sparse regressions: from a start to the nearest optimum, and the expansion around it."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression import tuning
from mixsense.regression.likelihood import explain, positive_information
from mixsense.regression.spike_slab import EVEN, Posterior, Prior, joint, marginal, slab_shares


class EM:
    """EM on a working set of columns: those of coefficients that are in, or that look promising one at a time.

    Parameters
    ----------
    X, y : (N, n) and (N,) arrays
        Queries and answers.
    beta : (L, n) array
        Where to start.
    sigma, weights : float, (L,) array
        Noise, and shares of the models.
    rate : float
        Share of non-zero coefficients.
    least_sigma : float
        The noise is at least this much.

    Attributes
    ----------
    columns : (c,) array of int
        The working set.
    mean : (L, c) array
        The coefficients there.
    size : float
        How many of them are not zero: the sum of their probabilities.
    score : float
        Penalised log-likelihood, once it stands still.
    free_shares : int
        How many shares were estimated.
    """

    columns: Index
    mean: Array
    size: float = 0.0
    score: float = -math.inf
    free_shares: int = 0

    def __init__(
        self, X: Array, y: Array, beta: Array, sigma: float, weights: Array, rate: float, least_sigma: float
    ) -> None:
        self.X, self.y, self.beta = X, y, beta.copy()
        (self.N, self.n), self.L = X.shape, len(beta)
        self.least_sigma = max(least_sigma, tuning.LEAST_RELATIVE_SIGMA * math.sqrt(float(np.mean(y * y))), 1e-100)
        self.sigma, self.rate = max(sigma, self.least_sigma), rate
        self.weights = weights if self.L > 1 else np.ones(1)
        self.slab, self.shares = self._typical_square(beta), EVEN

    @property
    def prior(self) -> Prior:
        """The prior of a coefficient, as far as it is learned."""
        return Prior.of(self.slab, self.rate, self.noise, self.shares)

    @property
    def noise(self) -> float:
        """The variance that a coefficient would have if the answers told their models."""
        return float(self.sigma**2 * self.L / self.N)

    def _typical_square(self, beta: Array) -> float:
        """Return the mean square of the coefficients that are not zero, and at least what noise could make of one."""
        found = beta[beta != 0]
        least = float(tuning.START_SLAB * self.sigma**2 / self.N)
        return max(float((found**2).mean()) if found.size else 0.0, least)

    def marginals(self) -> tuple[Posterior, Array, Array]:
        """Return the posterior of every coefficient by itself, its t², and its information, each (L, n)."""
        R, P, _ = explain(self.X, self.y, self.beta, self.weights, self.sigma)
        G = np.stack([np.einsum("i,ij,ij->j", p, self.X, self.X) for p in P.T]) / self.sigma**2
        b = (P * R).T @ self.X / self.sigma**2 + G * self.beta
        return marginal(b, G, self.prior), b * b / np.maximum(G, 1e-300), G

    def choose_columns(self) -> None:
        """Choose the working set."""
        found, t2, _ = self.marginals()
        kept = self.beta**2 > self.noise / tuning.KEEPS_COLUMN
        promise = np.maximum(found.inclusion, kept).max(axis=0) + tuning.T_SQUARE_IN_PROMISE * t2.max(axis=0)
        room = max(tuning.LEAST_COLUMNS, self.N // tuning.ANSWERS_PER_COLUMN)
        order = np.argsort(-promise, kind="stable")
        first = np.sort(order[: min(self.n, room, tuning.MOST_COLUMNS)])
        self.columns = first[promise[first] > tuning.LEAST_PROMISE]
        if not len(self.columns):
            self.columns = order[: tuning.FALLBACK_COLUMNS]
        self.Xc = self.X if len(self.columns) == self.n else self.X[:, self.columns]
        self.mean = self.beta[:, self.columns]

    def iterate(self, expected_rate: float, free_sigma: bool, free_weights: bool, zeros: int, steps: int) -> float:
        """Make EM steps until the means stand still; returns the log-likelihood.

        The answers to the first `zeros` queries, which are x = 0, tell nothing about the shares.
        """
        inclusion, square = np.zeros_like(self.mean), np.zeros_like(self.mean)
        for step in range(steps):
            _, P, loglik = explain(self.Xc, self.y, self.mean, self.weights, self.sigma)
            change = self._renew_mean(P, square, inclusion, tuning.LATER_SWEEPS if step else tuning.JOINT_SWEEPS)
            self._renew_prior(square, inclusion, expected_rate)
            if free_weights and self.L > 1:
                self._renew_weights(P[zeros:])
            if free_sigma:
                self._renew_sigma(P, float(inclusion.sum()))
            if change < tuning.SETTLED_STEP and step:
                break
        self.beta = np.zeros_like(self.beta)
        self.beta[:, self.columns] = self.mean
        self.size = float(inclusion.sum())
        return float(loglik.sum())

    def _renew_mean(self, P: Array, square: Array, inclusion: Array, sweeps: int) -> float:
        """Fit each model to its share of the answers; returns the largest change, squared, in standard errors."""
        prior, change = self.prior, 0.0
        for a in range(self.L):
            WX = P[:, a, None] * self.Xc
            G, b = WX.T @ self.Xc / self.sigma**2, self.y @ WX / self.sigma**2
            new, square[a], inclusion[a] = joint(G, b, prior, self.mean[a], sweeps=sweeps)
            change = max(change, float(((new - self.mean[a]) ** 2 * np.diag(G)).max()))
            self.mean[a] = new
        return change

    def _renew_prior(self, square: Array, inclusion: Array, expected_rate: float) -> None:
        """Learn the rate of non-zero coefficients, the width of the slabs, and how often each slab is used."""
        size, extra = float(inclusion.sum()), tuning.RATE_PRIOR_VECTORS * self.n
        rate = (size + expected_rate * extra) / (self.L * self.n + extra)
        self.rate = float(np.clip(rate, tuning.LEAST_COEFFICIENTS / self.n, tuning.LARGEST_RATE))
        imagined = tuning.PSEUDO_COUNT * self._typical_square(self.mean)
        self.slab = max(float(square.sum()) + imagined, 1e-12) / (size + tuning.PSEUDO_COUNT)
        self.shares = slab_shares(self.mean, inclusion, self.slab)

    def _renew_weights(self, P: Array) -> None:
        """Learn the shares of the models."""
        share = (P.sum(axis=0) + tuning.PSEUDO_COUNT) / (len(P) + self.L * tuning.PSEUDO_COUNT)
        share = np.clip(share, tuning.LEAST_SHARE_IN_FIT, 1 - tuning.LEAST_SHARE_IN_FIT)
        self.weights = share / share.sum()

    def _renew_sigma(self, P: Array, size: float) -> None:
        """Learn the noise, from the residuals of `size` fitted coefficients."""
        R = self.y[:, None] - self.Xc @ self.mean.T
        freedom = max(self.N - size, self.N / tuning.LEAST_FREEDOM)
        self.sigma = max(math.sqrt(float((P * R * R).sum()) / freedom), self.least_sigma)

    def laplace(self) -> tuple[Posterior, Array]:
        """Return spike and slab on the quadratic expansion of the mixture's own likelihood, and its information."""
        shape = self.mean.shape
        for _ in range(tuning.LAPLACE_STEPS):
            R, P, _ = explain(self.Xc, self.y, self.mean, self.weights, self.sigma)
            J = positive_information(self.Xc, R, P, self.sigma)
            z, slope = self.mean.ravel(), ((P * R).T @ self.Xc / self.sigma**2).ravel()
            found = joint(J, J @ z + slope, self.prior, z)
            move = found.mean - z
            length = math.sqrt(max(float(move @ J @ move), 0.0))  # in standard errors
            self.mean = (z + move * min(1.0, tuning.TRUST_RADIUS / max(length, 1e-9))).reshape(shape)
            if length < tuning.SETTLED_EXPANSION:
                break
        mean = self.mean if length > tuning.TRUST_RADIUS else found.mean.reshape(shape)
        return Posterior(mean, found.square.reshape(shape), found.inclusion.reshape(shape)), J
