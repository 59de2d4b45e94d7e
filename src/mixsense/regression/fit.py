"""The likelihood of the raw answers: EM for a mixture of two sparse regressions, and how sure its result is.

Every answer counts once, whatever query it belongs to: X is (N, n), y is (N,). The same code fits one vector (K = 1)
and two (K = 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression.spike_slab import EVEN, Posterior, Prior, alone, slab_shares, together

WATCHED = 250
"""At most so many columns are worked on at a time."""
TINY = 1e-7
"""Noise below this share of the answers is rounding."""
INFORMED = 0.02
"""Share of the information of tagged answers that untagged ones are taken to have at least, in every direction."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted mixture of K sparse regressions."""

    beta: Array  # (K, n) posterior means
    inclusion: Array  # (K, n) probability of each coefficient to be non-zero
    square: Array  # (K, n) posterior second moments
    variance: Array  # (K, n) posterior variances, those of coefficients that were not found included
    information: Array  # (K, n) of each coefficient alone, at the probabilities of the models
    stderr: Array  # (K, n) standard errors, from the information of the mixture
    support: tuple[Index, Index]  # vector and position of the coefficients that are in
    covariance: Array  # (s, s) of the coefficients that are in
    missed: Array  # (K,) sum of squares of all coefficients that are out, 0 unless it is significant
    weights: Array  # (K,)
    sigma: float
    loglik: float
    score: float  # penalised log-likelihood
    rate: float  # share of coefficients that are non-zero, as far as they are watched …
    lift: float  # … and what that grows by if those that may have been missed elsewhere are counted
    route: str = ""


def posterior(X: Array, y: Array, beta: Array, weights: Array, sigma: float) -> tuple[Array, Array, Array]:
    """Return residuals (N, K), probabilities of the models (N, K), and the log-likelihood of each answer (N,)."""
    R = y[:, None] - X @ beta.T
    log_p = -0.5 * (R / sigma) ** 2 + np.log(weights)
    top = log_p.max(axis=1, keepdims=True)
    P = np.exp(log_p - top)
    total = P.sum(axis=1, keepdims=True)
    loglik = (top + np.log(total))[:, 0] - math.log(sigma * math.sqrt(2 * math.pi))
    return R, P / total, loglik


def observed_information(X: Array, R: Array, P: Array, sigma: float) -> Array:
    """Return minus the Hessian of the mixture's log-likelihood in all coefficients, (K c, K c).

    What is lost because an answer does not tell its model is paid for here: the second term.
    """
    K, c = R.shape[1], X.shape[1]
    J = np.empty((K * c, K * c))
    for a in range(K):
        for b in range(K):
            d = (a == b) * P[:, a] / sigma**2 - P[:, a] * ((a == b) - P[:, b]) * R[:, a] * R[:, b] / sigma**4
            J[a * c : (a + 1) * c, b * c : (b + 1) * c] = X.T @ (d[:, None] * X)
    return J


def penalised(loglik: float, size: float, N: int, n: int) -> float:
    """Return the extended BIC: each coefficient pays for its estimation, and for having been chosen among n."""
    return loglik - size * 0.5 * math.log(max(N, 2)) - size * math.log(n / max(size / 2, 1) + 1)


class _EM:
    """EM on a working set of columns: those that are in, or that look promising one at a time."""

    def __init__(
        self, X: Array, y: Array, beta: Array, sigma: float, weights: Array, rate: float, least: float
    ) -> None:
        self.X, self.y, self.beta = X, y, beta.copy()
        (self.N, self.n), self.K = X.shape, len(beta)
        self.least = max(least, TINY * math.sqrt(float(np.mean(y * y))), 1e-100)
        self.sigma, self.rate = max(sigma, self.least), rate
        self.weights = weights if self.K > 1 else np.ones(1)
        self.slab, self.shares = self._typical(beta), EVEN

    @property
    def prior(self) -> Prior:
        return Prior.of(self.slab, self.rate, self.noise, self.shares)

    @property
    def noise(self) -> float:
        return float(self.sigma**2 * self.K / self.N)  # variance of a coefficient, were its answers tagged

    def _typical(self, beta: Array) -> float:
        large = beta[beta != 0]
        return max(float((large**2).mean()) if large.size else 0.0, float(4 * self.sigma**2 / self.N))

    def one_at_a_time(self) -> tuple[Posterior, Array, Array]:
        """Return the posterior of every coefficient alone, its t², and its information, each (K, n)."""
        R, P, _ = posterior(self.X, self.y, self.beta, self.weights, self.sigma)
        G = np.stack([np.einsum("i,ij,ij->j", p, self.X, self.X) for p in P.T]) / self.sigma**2
        b = (P * R).T @ self.X / self.sigma**2 + G * self.beta
        return alone(b, G, self.prior), b * b / np.maximum(G, 1e-300), G

    def watch(self) -> None:
        """Choose the columns to work on."""
        found, t2, _ = self.one_at_a_time()
        promise = np.maximum(found.inclusion, self.beta**2 > self.noise / 100).max(axis=0) + 1e-3 * t2.max(axis=0)
        most = min(self.n, max(60, self.N // 4), WATCHED)
        best = np.sort(np.argsort(-promise, kind="stable")[:most])
        self.watched = best[promise[best] > 0.01]
        if not len(self.watched):
            self.watched = np.argsort(-promise, kind="stable")[:2]
        self.Xc = self.X if len(self.watched) == self.n else self.X[:, self.watched]
        self.mean = self.beta[:, self.watched]

    def iterate(self, guess: float, free_sigma: bool, free_weights: bool, zeros: int, most: int = 60) -> float:
        """EM steps until the means stand still; returns the log-likelihood."""
        inclusion, square = np.zeros_like(self.mean), np.zeros_like(self.mean)
        for step in range(most):
            _, P, loglik = posterior(self.Xc, self.y, self.mean, self.weights, self.sigma)
            prior, change = self.prior, 0.0
            for a in range(self.K):
                WX = P[:, a, None] * self.Xc
                G, b = WX.T @ self.Xc / self.sigma**2, self.y @ WX / self.sigma**2
                new, square[a], inclusion[a] = together(G, b, prior, self.mean[a], sweeps=4 if step else 10)
                change = max(change, float(((new - self.mean[a]) ** 2 * np.diag(G)).max()))
                self.mean[a] = new
            size = float(inclusion.sum())
            self.rate = float(np.clip((size + guess * self.n) / (self.K * self.n + self.n), 0.5 / self.n, 0.98))
            self.slab = max(float(square.sum()) + self._typical(self.mean), 1e-12) / (size + 1)
            self.shares = slab_shares(self.mean, inclusion, self.slab)
            if free_weights and self.K > 1:
                share = np.clip((P[zeros:].sum(axis=0) + 1) / (self.N - zeros + 2), 0.005, 0.995)
                self.weights = share / share.sum()
            if free_sigma:
                R = self.y[:, None] - self.Xc @ self.mean.T
                spread = math.sqrt(float((P * R * R).sum()) / max(self.N - size, self.N / 2))
                self.sigma = max(spread, self.least)
            if change < 1e-3 and step:
                break
        self.beta = np.zeros_like(self.beta)
        self.beta[:, self.watched] = self.mean
        return float(loglik.sum())

    def laplace(self, steps: int = 3) -> tuple[Posterior, Array]:
        """Spike and slab on the quadratic expansion of the mixture's own likelihood; returns its information too."""
        shape = self.mean.shape
        for _ in range(steps):
            R, P, _ = posterior(self.Xc, self.y, self.mean, self.weights, self.sigma)
            J = _at_least(observed_information(self.Xc, R, P, self.sigma), self.Xc, P, self.sigma)
            z, slope = self.mean.ravel(), ((P * R).T @ self.Xc / self.sigma**2).ravel()
            found = together(J, J @ z + slope, self.prior, z)
            move = found.mean - z
            size = math.sqrt(max(float(move @ J @ move), 0.0))  # in standard errors
            self.mean = (z + move * min(1.0, 3 / max(size, 1e-9))).reshape(shape)
            if size < 0.1:
                break
        mean = self.mean if size > 3 else found.mean.reshape(shape)
        return Posterior(mean, found.square.reshape(shape), found.inclusion.reshape(shape)), J


def fit(
    X: Array,
    y: Array,
    beta: Array,
    sigma: float,
    weights: Array,
    rate: float,
    guess: float,
    *,
    free_sigma: bool = False,
    free_weights: bool = False,
    zeros: int = 0,
    least: float = 0.0,
    rounds: int = 2,
    route: str = "",
) -> Fit:
    """Fit K sparse vectors to untagged answers, from a start.

    Parameters
    ----------
    X, y : (N, n) and (N,) arrays
        Queries and answers; the first `zeros` queries are x = 0.
    beta : (K, n) array
        Where to start.
    sigma, weights : float, (K,) array
        Noise and shares; updated if `free_sigma`, `free_weights`.
    rate, guess : float
        Share of non-zero coefficients: to start with, and as a prior.
    least : float
        The noise is at least this much.
    rounds : int
        How often the working set is chosen.
    route : str
        Where the start came from.

    Returns
    -------
    Fit
    """
    em = _EM(X, y, beta, sigma, weights, rate, least)
    old = -math.inf
    for _ in range(rounds):
        em.watch()
        loglik = em.iterate(guess, free_sigma, free_weights, zeros)
        if abs(loglik - old) < 0.05:
            break
        old = loglik
    everywhere, t2, G = em.one_at_a_time()
    found, J = em.laplace()
    return _assemble(em, everywhere, found, J, G, _missed(t2, G, everywhere.inclusion), route)


def _assemble(em: _EM, everywhere: Posterior, found: Posterior, J: Array, G: Array, missed: Array, route: str) -> Fit:
    columns = em.watched
    beta, square, inclusion = np.zeros_like(em.beta), everywhere.square.copy(), everywhere.inclusion.copy()
    beta[:, columns], square[:, columns], inclusion[:, columns] = found
    variance = np.maximum(square - beta**2, 0)
    inside = found.inclusion > 0.5
    which = inside.ravel()
    covariance = np.asarray(
        np.linalg.inv(J[np.ix_(which, which)] + np.eye(int(which.sum())) / em.slab), dtype=np.float64
    )
    vector, place = np.nonzero(inside)
    support = (vector, columns[place])
    stderr = np.sqrt(variance)
    stderr[support] = np.sqrt(np.maximum(np.diag(covariance), variance[support]))
    loglik = float(posterior(em.Xc, em.y, found.mean, em.weights, em.sigma)[2].sum())
    score = penalised(loglik, float(found.inclusion.sum()), em.N, em.n)
    unwatched = float(np.delete(everywhere.inclusion, columns, axis=1).sum())
    lift = 1 + unwatched / (em.rate * (em.K + 1) * em.n)  # the rate is a share of n coefficients of the prior, too
    return Fit(
        beta, inclusion, square, variance, G, stderr, support, covariance, missed,
        em.weights, em.sigma, loglik, score, em.rate, lift, route,
    )  # fmt: skip


def _missed(t2: Array, G: Array, inclusion: Array) -> Array:
    """Sum of squares of the coefficients that are out, unbiased: Σ (t² − 1)/G; 0 unless 1.5 standard errors above 0.

    Vectors that are only approximately sparse show here.
    """
    known = G > 1e-9 * G.max()
    out, G = (inclusion < 0.5) & known, np.where(known, G, 1.0)
    energy = np.where(out, (t2 - 1) / G, 0).sum(axis=1)
    noise = np.sqrt(np.where(out, 2 / G**2, 0).sum(axis=1))
    if energy.sum() < 1.5 * float(np.linalg.norm(noise)):
        return np.zeros(len(energy))
    missed: Array = np.maximum(energy, 0.0) + 0.5 * noise
    return missed


def _at_least(J: Array, X: Array, P: Array, sigma: float) -> Array:
    """Keep the information positive: at least 2 % of what tagged answers would give, in every direction."""
    c = X.shape[1]
    tagged = np.zeros_like(J)
    for a, p in enumerate(P.T):
        part = slice(a * c, (a + 1) * c)
        tagged[part, part] = X.T @ (p[:, None] * X) / sigma**2
    tagged[np.diag_indices_from(tagged)] += 1e-9 * np.trace(tagged) / len(tagged) + 1e-12
    L = np.linalg.cholesky(tagged)
    M = np.linalg.solve(L, np.linalg.solve(L, J).T)  # J in units of the tagged information
    e, V = np.linalg.eigh((M + M.T) / 2)
    if e[0] >= INFORMED:
        return J
    LV = L @ V
    raised: Array = (LV * np.maximum(e, INFORMED)) @ LV.T
    return raised


def one_vector_at(fit: Fit, X: Array, y: Array, sigma: float) -> float:
    """Return the penalised log-likelihood of a one-vector fit at a given σ."""
    R = y - X @ fit.beta[0]
    loglik = -0.5 * float(R @ R) / sigma**2 - len(y) * math.log(sigma * math.sqrt(2 * math.pi))
    size = float(fit.inclusion[fit.inclusion > 0.01].sum())
    return penalised(loglik, size, len(y), X.shape[1])
