"""What a user would do without mixsense: the peers that the frugal method is measured against.

- *Tagged practical*: N answers to Gaussian queries, each with the tag of its model; lasso path, refit, extended BIC and
  a backward t-test per model. Nobody has tags: this is the target, not a competitor.
- *Passive*: N answers to Gaussian queries, EM for the mixture of two regressions with a lasso in the M-step, ten random
  starts with the true σ, best penalised likelihood, then EM without penalty on the supports, with backward t-tests.

Both need scikit-learn: pip install 'mixsense[figures]'.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import require


def _linear_model() -> Any:
    return require("sklearn.linear_model", "figures", "the peers need")


def gaussian_answers(
    pair: Array, N: int, sigma: float, weights: tuple[float, float], seed: Any
) -> tuple[Array, Array, Array]:
    """Return queries (N, n), answers (N,) and tags (N,)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, pair.shape[1]))
    tags = (rng.random(N) >= weights[0]).astype(int)
    y = np.einsum("ij,ij->i", X, pair[tags]) + sigma * rng.standard_normal(N)
    return X, y, tags


def tagged_practical(
    pair: Array, N: int, sigma: float = 1.0, weights: tuple[float, float] = (0.5, 0.5), seed: Any = 0
) -> Array:
    """Recover each vector from its own answers."""
    X, y, tags = gaussian_answers(pair, N, sigma, weights, seed)
    return np.stack([lasso_and_refit(X[tags == tag], y[tags == tag], sigma) for tag in (0, 1)])


def lasso_and_refit(X: Array, y: Array, sigma: float) -> Array:
    """Least squares on the best support of the lasso path, by extended BIC, weak coefficients dropped one by one."""
    N, n = X.shape
    best, vector = math.inf, np.zeros(n)
    if N < 4:
        return vector
    path = _linear_model().lars_path(X, y, method="lasso", max_iter=min(n, N // 2, 60))[2]
    seen: set[tuple[int, ...]] = set()
    for coefficients in path.T:
        S = np.flatnonzero(coefficients)
        while tuple(S) not in seen:
            seen.add(tuple(S))
            inverse = np.linalg.inv(X[:, S].T @ X[:, S])
            b = inverse @ (X[:, S].T @ y)
            r = y - X[:, S] @ b
            choices = math.lgamma(n + 1) - math.lgamma(len(S) + 1) - math.lgamma(n - len(S) + 1)
            criterion = float(r @ r) / sigma**2 + len(S) * math.log(N) + 2 * choices  # extended BIC with γ = 1
            if criterion < best:
                best, vector = criterion, np.zeros(n)
                vector[S] = b
            t = np.abs(b) / (sigma * np.sqrt(np.diag(inverse)))
            if not len(S) or t.min() > math.sqrt(2 * math.log(n)):
                break
            S = np.delete(S, t.argmin())
    return vector


def passive(pair: Array, N: int, sigma: float = 1.0, seed: Any = 0, starts: int = 10) -> Array:
    """EM-lasso from random starts, then EM on the supports."""
    X, y, _ = gaussian_answers(pair, N, sigma, (0.5, 0.5), seed)
    rng = np.random.default_rng([*np.atleast_1d(seed), 1])
    penalty = 0.7 * sigma * math.sqrt(2 * math.log(X.shape[1]) * N / 2)
    _, beta = max((em_lasso(X, y, sigma, penalty, rng) for _ in range(starts)), key=lambda found: found[0])
    return em_on_support(X, y, sigma, beta)


def responsibilities(X: Array, y: Array, beta: Array, sigma: float) -> tuple[Array, float]:
    """P(model | answer), (N, 2), and the log-likelihood without its constant."""
    log_p = -0.5 * ((y[:, None] - X @ beta.T) / sigma) ** 2
    top = log_p.max(axis=1, keepdims=True)
    P = np.exp(log_p - top)
    total = P.sum(axis=1, keepdims=True)
    return P / total, float((top + np.log(total)).sum())


def em_lasso(X: Array, y: Array, sigma: float, penalty: float, rng: np.random.Generator) -> tuple[float, Array]:
    """One random start; returns the penalised likelihood and the vectors."""
    Lasso = _linear_model().Lasso
    first = rng.random(len(y))
    P = np.stack([first, 1 - first], axis=1)
    lassos = [
        Lasso(alpha=penalty / len(y), fit_intercept=False, warm_start=True, tol=1e-3, max_iter=300) for _ in range(2)
    ]
    old = -math.inf
    for _ in range(60):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for lasso, p in zip(lassos, np.sqrt(P.T), strict=True):
                lasso.fit(X * p[:, None], y * p)
        beta = np.stack([lasso.coef_ for lasso in lassos])
        P, likelihood = responsibilities(X, y, beta, sigma)
        value = likelihood - penalty * float(np.abs(beta).sum()) / sigma**2
        if value - old < 1e-2:
            break
        old = value
    return value, beta


def em_on_support(X: Array, y: Array, sigma: float, beta: Array) -> Array:
    """EM without penalty on the supports; the weakest coefficients are dropped until all are significant."""
    supports = [np.flatnonzero(b) for b in beta]
    for _ in range(12):
        weak = False
        for _ in range(30):
            P, _ = responsibilities(X, y, beta, sigma)
            new, t_values = np.zeros_like(beta), []
            for row, S, p in zip(new, supports, P.T, strict=True):
                A = X[:, S]
                inverse = np.linalg.inv((A.T * p) @ A + 1e-9 * np.eye(len(S)))
                row[S] = inverse @ (A.T @ (p * y))
                t_values.append(np.abs(row[S]) / (sigma * np.sqrt(np.diag(inverse))))
            change, beta = float(np.abs(new - beta).max()), new
            if change < 1e-4:
                break
        for i, t in enumerate(t_values):
            keep = t > math.sqrt(2 * math.log(X.shape[1]))
            weak |= not keep.all()
            beta[i, supports[i][~keep]] = 0
            supports[i] = supports[i][keep]
        if not weak:
            break
    return beta
