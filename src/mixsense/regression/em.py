"""EM for a mixture of L sparse regressions: from a start to the nearest optimum, and the expansion around it."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.likelihood import Explained, counted, one_a_group, positive_information, weighted_squares
from mixsense.regression.spike_slab import EVEN, Posterior, Prior, joint, marginal, slab_shares
from mixsense.scales.lapses import Lapses, share_of_lapses


class EM:
    """EM on a working set of columns: those of coefficients that are in, or that look promising one at a time.

    Parameters
    ----------
    data : Data
        Queries and answers.
    beta : (L, n) array
        Where to start.
    sigma, weights : float or (L,) array, (L,) array
        Noise, of all models or of each, and shares of the models.
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
    extra : int
        How many parameters besides coefficients were estimated, one noise not counted.
    """

    columns: Index
    mean: Array
    size: float = 0.0
    score: float = -math.inf
    extra: int = 0

    def __init__(
        self, data: Data, beta: Array, sigma: float | Array, weights: Array, rate: float, least_sigma: float
    ) -> None:
        self.data, self.here, self.beta = data, data, beta.copy()
        self.N, self.n, self.L = data.N, data.X.shape[1], len(beta)
        size = math.sqrt(float(np.average(data.values**2, weights=data.counts)))
        least = 1e-70  # of zeros alone: its fourth power is a number, too
        self.least_sigma = max(least_sigma, tuning.LEAST_RELATIVE_SIGMA * size, least)
        self.weights = weights if self.L > 1 else np.ones(1)
        self.sigma, self.rate = self._at_least(sigma), rate
        self.slab, self.shares = self._typical_square(beta), EVEN

    def _at_least(self, sigma: float | Array) -> float | Array:
        """Return the noise, and at least the least."""
        return np.maximum(sigma, self.least_sigma) if isinstance(sigma, np.ndarray) else max(sigma, self.least_sigma)

    @property
    def variance(self) -> Array:
        """The variance of the noise of each model, (L,)."""
        return np.broadcast_to(np.square(self.sigma), self.L)

    @property
    def typical_sigma(self) -> float:
        """The noise of an answer, whichever model it comes from."""
        if isinstance(self.sigma, np.ndarray):
            return math.sqrt(float(self.weights @ np.square(self.sigma)))
        return float(self.sigma)

    @property
    def further_noise(self) -> int:
        """How many noises there are beside the first."""
        return self.L - 1 if isinstance(self.sigma, np.ndarray) else 0

    @property
    def lapses(self) -> float:
        """Share of the answers that come from anywhere."""
        return share_of_lapses(self.data.scale)

    @property
    def has_lapses(self) -> bool:
        """Some answers come from anywhere."""
        return self.lapses > 0

    @property
    def prior(self) -> Prior:
        """The prior of a coefficient, as far as it is learned."""
        return Prior.of(self.slab, self.rate, self.tagged_variance, self.shares)

    @property
    def tagged_variance(self) -> float:
        """The variance that a coefficient would have if the answers told their models."""
        return float(self.typical_sigma**2 * self.L / self.N)

    @property
    def sure(self) -> Mask:
        """Which columns of the working set are in without being chosen, (c,)."""
        return np.arange(len(self.columns)) < self.data.sure

    def _typical_square(self, beta: Array) -> float:
        """Return the mean square of the coefficients that are not zero, and at least what noise could make of one."""
        found = beta[:, self.data.sure :]
        found = found[found != 0]
        least = float(tuning.START_SLAB * self.typical_sigma**2 / self.N)
        return max(float((found**2).mean()) if found.size else 0.0, least)

    def marginals(self) -> tuple[Posterior, Array, Array]:
        """Return the posterior of every coefficient by itself, its t², and its information, each (L, n)."""
        X, variance = self.data.X, self.variance[:, None]
        R, P, _, curvature = self.explained(self.data)
        P = counted(P, self.data.counts)
        told = P if self.data.scale is None else P * np.maximum(curvature, 0.0)
        G = np.stack([np.einsum("i,ij,ij->j", p, X, X) for p in told.T]) / variance
        b = (P * R).T @ X / variance + G * self.beta
        told_anything = G > 1e-200  # a model that explains no answer has none
        return marginal(b, G, self.prior), np.where(told_anything, b * b / np.where(told_anything, G, 1.0), 0.0), G

    def explained(self, data: Data) -> Explained:
        """Say how the models explain answers."""
        return data._replace(scale=self.data.scale).explained(self.beta, self.weights, self.sigma)

    def choose_columns(self) -> None:
        """Choose the working set."""
        found, t2, _ = self.marginals()
        kept = self.beta**2 > self.tagged_variance / tuning.KEEPS_COLUMN
        promise = np.maximum(found.inclusion, kept).max(axis=0) + tuning.T_SQUARE_IN_PROMISE * t2.max(axis=0)
        promise[: self.data.sure] = math.inf
        room = max(tuning.LEAST_COLUMNS, int(self.N) // tuning.ANSWERS_PER_COLUMN)
        order = np.argsort(-promise, kind="stable")
        first = np.sort(order[: min(self.n, room, tuning.MOST_COLUMNS)])
        self.columns = first[promise[first] > tuning.LEAST_PROMISE]
        if not len(self.columns):
            self.columns = order[: tuning.FALLBACK_COLUMNS]
        if self.n <= tuning.LEAST_COLUMNS and len(self.data.y) > tuning.ROWS_AT_ONCE:
            self.columns = np.arange(self.n)  # there is time for all, but a copy of many rows takes memory
        if len(self.columns) < self.n:
            self.here = self.data._replace(X=self.data.X[:, self.columns])
        else:
            self.here = self.data
        self.mean = self.beta[:, self.columns]

    def iterate(self, expected_rate: float, free_sigma: bool, free_weights: bool, steps: int) -> float:
        """Make EM steps until the means stand still; returns the log-likelihood.

        Steps of the coefficients that matter come between steps of all.
        """
        inclusion, square, every = np.zeros_like(self.mean), np.zeros_like(self.mean), True
        for step in range(steps):
            found = self.here.explained(self.mean, self.weights, self.sigma)
            sweeps = tuning.LATER_SWEEPS if step else tuning.JOINT_SWEEPS
            change = self._renew_mean(found, square, inclusion, sweeps, every)
            self._renew_prior(square, inclusion, expected_rate)
            if free_weights and self.L > 1:
                self._renew_weights(found)
            if self.has_lapses:
                self._renew_lapses(counted(found.probability, self.here.counts))
            if free_sigma:
                self._renew_sigma(counted(found.probability, self.here.counts), inclusion.sum(axis=1))
            settled = change < tuning.SETTLED_STEP and step > 0
            if settled and every:
                break
            every = settled or (step + 1) % tuning.STEPS_BETWEEN_ALL == 0
        self.beta = np.zeros_like(self.beta)
        self.beta[:, self.columns] = self.mean
        self.size = float(inclusion.sum())
        return float(found.loglik.sum())

    def _renew_mean(self, found: Explained, square: Array, inclusion: Array, sweeps: int, every: bool) -> float:
        """Fit each model to its share of the answers; returns the largest change, squared, in standard errors.

        `every` coefficient is renewed, or those that matter. Of an answer that is not a real number, the mean value
        that the model would have given it counts.
        """
        prior, change, X, y = self.prior, 0.0, self.here.X, self.here.y
        mass = counted(found.probability, self.here.counts)
        for a in range(self.L):
            p, variance = mass[:, a], float(self.variance[a])
            if self.here.scale is not None:
                y = X @ self.mean[a] + found.residual[:, a]
            G, b = weighted_squares(X, p) / variance, (p * y) @ X / variance
            only = None if every else inclusion[a] > tuning.LEAST_MATTERING
            new = joint(G, b, prior, self.mean[a], sweeps=sweeps, sure=self.sure, only=only)
            change = max(change, float(((new.mean - self.mean[a]) ** 2 * np.diag(G)).max()))
            renewed = slice(None) if only is None else only
            self.mean[a] = new.mean
            square[a, renewed], inclusion[a, renewed] = new.square[renewed], new.inclusion[renewed]
        return change

    def _renew_prior(self, square: Array, inclusion: Array, expected_rate: float) -> None:
        """Learn the rate of non-zero coefficients, the width of the slabs, and how often each slab is used."""
        sure = self.here.sure
        inclusion, square, n = inclusion[:, sure:], square[:, sure:], max(self.n - sure, 1)
        size, extra = float(inclusion.sum()), tuning.RATE_PRIOR_VECTORS * n
        rate = (size + expected_rate * extra) / (self.L * n + extra)
        self.rate = float(np.clip(rate, tuning.LEAST_COEFFICIENTS / n, tuning.LARGEST_RATE))
        imagined = tuning.PSEUDO_COUNT * self._typical_square(self.mean)
        self.slab = max(float(square.sum()) + imagined, 1e-12) / (size + tuning.PSEUDO_COUNT)
        self.shares = slab_shares(self.mean[:, sure:], inclusion, self.slab)

    def _renew_weights(self, found: Explained) -> None:
        """Learn the shares of the models, each group counted once; answers to x = 0 tell nothing about them."""
        group, zeros = self.here.group, self.here.zeros
        if group is None:
            left = self.here.without_zeros
            own, total = counted(found.probability[zeros:], left.counts).sum(axis=0), left.N
        else:
            P = one_a_group(found.probability[zeros:], group[zeros:])
            own, total = P.sum(axis=0), len(P)
        share = (own + tuning.PSEUDO_COUNT) / (total + self.L * tuning.PSEUDO_COUNT)
        share = np.clip(share, tuning.LEAST_SHARE_IN_FIT, 1 - tuning.LEAST_SHARE_IN_FIT)
        self.weights = share / share.sum()

    def _renew_sigma(self, P: Array, size: Array) -> None:
        """Learn the noise, from the residuals of the coefficients that were fitted, `size` of them in each model."""
        mean, scale = self.here.X @ self.mean.T, self.here.scale
        R = self.here.y[:, None] - mean
        square = P * R * R if scale is None else P * scale.terms(self.here.y, mean, self.sigma).square
        if isinstance(self.sigma, np.ndarray):
            own = P.sum(axis=0)
            freedom = np.maximum(own - size, own / tuning.LEAST_FREEDOM)
            found = np.sqrt(square.sum(axis=0) / np.maximum(freedom, 1e-300))
            together = math.sqrt(float(square.sum()) / self.N)
            self.sigma = self._at_least(np.maximum(found, tuning.LEAST_OWN_NOISE * together))
        else:
            freed = max(self.N - float(size.sum()), self.N / tuning.LEAST_FREEDOM)
            self.sigma = self._at_least(math.sqrt(float(square.sum()) / freed))

    def _renew_lapses(self, P: Array) -> None:
        """Learn the share of the answers that come from anywhere."""
        scale = self.here.scale
        if isinstance(scale, Lapses):
            lapsed = scale.lapsed(self.here.y, self.here.X @ self.mean.T, self.sigma)
            share = float((P * lapsed).sum()) / self.N
            scale = scale.with_share(min(max(share, tuning.LEAST_LAPSES), tuning.MOST_LAPSES))
            self.data, self.here = self.data._replace(scale=scale), self.here._replace(scale=scale)

    def laplace(self) -> tuple[Posterior, Array]:
        """Return spike and slab on the quadratic expansion of the mixture's own likelihood, and its information."""
        shape = self.mean.shape
        for _ in range(tuning.LAPLACE_STEPS):
            at = self.here.explained(self.mean, self.weights, self.sigma)
            J = positive_information(self.here.X, at, self.sigma, self.here.group, self.here.counts)
            slope = counted(at.probability * at.residual, self.here.counts).T @ self.here.X / self.variance[:, None]
            z, slope = self.mean.ravel(), slope.ravel()
            found = joint(J, J @ z + slope, self.prior, z, sure=np.tile(self.sure, self.L))
            move = found.mean - z
            length = math.sqrt(max(float(move @ J @ move), 0.0))  # in standard errors
            self.mean = (z + move * min(1.0, tuning.TRUST_RADIUS / max(length, 1e-9))).reshape(shape)
            if length < tuning.SETTLED_EXPANSION:
                break
        mean = self.mean if length > tuning.TRUST_RADIUS else found.mean.reshape(shape)
        return Posterior(mean, found.square.reshape(shape), found.inclusion.reshape(shape)), J
