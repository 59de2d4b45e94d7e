"""Where a fit of L models can start: annealed EM with a lasso, the second moments of the answers, a model split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression import tuning
from mixsense.regression.likelihood import of_groups


def anneal(
    X: Array,
    y: Array,
    sigma: float,
    weights: Array,
    rng: np.random.Generator,
    starts: int,
    seeds: Sequence[Array] = (),
    promise: Array | None = None,
    group: Index | None = None,
    counts: Array | None = None,
    sure: int = 0,
) -> tuple[Array, Array]:
    """Run annealed EM with a lasso in the M-step, all starts at once.

    The effective σ starts near the spread of the answers, where all models are one, and is cooled to the true one;
    the common solution splits along its least stable directions. At the true σ from the beginning EM sticks at large
    gaps.

    Parameters
    ----------
    X, y : (N, n) and (N,) arrays
        Queries and answers.
    sigma, weights : float, (L,) array
        Noise, and shares of the models.
    rng : Generator
        Draws the random starts.
    starts : int
        Number of random starts.
    seeds : sequence of (L, n) arrays
        Further starts, which begin nearer to the true σ.
    promise : (n,) array, optional
        t-values of the coordinates from `second_moments`; for long vectors they, the t-values of the answers and the
        seeds choose the columns that are worked on.
    group : (N,) array of int, optional
        The group of each answer, numbered from 0 without a gap; those of a group share a model.
    counts : (N,) array, optional
        How often each answer counts; once by default.
    sure : int
        How many columns, the first, are not penalised.

    Returns
    -------
    vectors : (S, L, n) array
    value : (S,) array
        Penalised log-likelihood of each.
    """
    if X.shape[1] > tuning.MOST_ANNEALED_COLUMNS:
        columns = _screened(X, y, seeds, promise, sure)
        shorter = [seed[:, columns] for seed in seeds]
        found, value = anneal(
            X[:, columns], y, sigma, weights, rng, starts, shorter, group=group, counts=counts, sure=sure
        )
        vectors = np.zeros((len(found), len(weights), X.shape[1]))
        vectors[:, :, columns] = found
        return vectors, value
    (N, n), L, S = X.shape, len(weights), starts + len(seeds)
    spread = spread_of(y, counts) + 1e-12
    # A start has to come near: half of the digits do, and take half of the time.
    kind: Any = np.float32 if sigma > tuning.HALF_OF_THE_DIGITS * float(np.abs(y).max()) else np.float64
    times = np.ones(N, kind) if counts is None else counts.astype(kind)
    scale = np.sqrt(times @ np.square(X) / times.sum())
    scale[scale == 0] = 1.0
    A, y = (X / scale).astype(kind), y.astype(kind)  # the one dense copy of the queries
    unit = lasso_penalty(n, sure).astype(kind)
    curvature = largest_eigenvalue(A, times)
    shared = _lasso(A, y, times, unit * spread * math.sqrt(times.sum()), curvature)
    B = np.broadcast_to(shared, (S, L, n)).astype(kind)
    kick = rng.standard_normal((starts, L - 1, n)) * spread / math.sqrt(n)
    B[:starts] += simplex(L) @ kick
    for i, seed in enumerate(seeds):
        B[starts + i] = seed * scale
    # A group of b answers tells its model as one answer with 1/√b of the noise would: it begins that much hotter.
    together = 1.0 if group is None else math.sqrt(N / (int(group.max()) + 1))
    temperature = np.full((S, 1, 1), together * max(spread, sigma), kind)
    temperature[starts:] = max(min(spread, tuning.SEED_TEMPERATURE * sigma), sigma)
    cooling = math.ceil(max(0.0, math.log(float(temperature.max()) / sigma) / -math.log(tuning.COOLING_FACTOR)))
    log_w = np.log(weights)[:, None].astype(kind)
    for _ in range(cooling + tuning.STEPS_AT_TRUE_SIGMA):
        R = y - (B.reshape(-1, n) @ A.T).reshape(S, L, N)
        log_p = _together(-0.5 * (R / temperature) ** 2, group, counts) + log_w
        P = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)  # (S, L, N), or a column a group
        P = P if group is None else P[:, :, group]
        penalty = unit * temperature * np.sqrt((P**2 @ times)[:, :, None])
        P = P if counts is None else P * times
        B = lasso_steps(A, y, P, R, B, penalty, tuning.SHORTER_CURVATURE * curvature)
        temperature = np.maximum(temperature * tuning.COOLING_FACTOR, kind(sigma))
    R = y - (B.reshape(-1, n) @ A.T).reshape(S, L, N)
    log_p = _together(-0.5 * (R / sigma) ** 2, group, counts) + log_w
    loglik = np.logaddexp.reduce(log_p, axis=1).astype(np.float64) @ (
        times if group is None else np.ones(log_p.shape[2])
    )
    return B / scale, loglik - (penalty * np.abs(B)).sum(axis=(1, 2), dtype=np.float64) / sigma**2


def _together(log_p: Array, group: Index | None, counts: Array | None) -> Array:
    """Return log-likelihoods (S, L, N), added up over each group, (S, L, G)."""
    if group is None:
        return log_p
    counted = log_p if counts is None else log_p * counts
    return of_groups(counted.reshape(-1, log_p.shape[2]).T, group).T.reshape(*log_p.shape[:2], -1).astype(log_p.dtype)


def simplex(L: int) -> Array:
    """Return the corners of a regular simplex around 0 as rows, (L, L − 1), each of length 1.

    Examples
    --------
    >>> simplex(2)
    array([[ 1.],
           [-1.]])
    """
    corners = np.zeros((L, L - 1))
    for j in range(L - 1):  # Helmert's contrasts: the first j + 1 corners against the next one
        corners[: j + 1, j], corners[j + 1, j] = 1, -(j + 1)
        corners[:, j] *= math.sqrt(L / (L - 1)) / math.sqrt((j + 1) * (j + 2))
    return corners


def _screened(X: Array, y: Array, seeds: Sequence[Array], promise: Array | None, sure: int) -> Index:
    """Return the columns that the answers, their squares or a seed point to."""
    size = np.sqrt(np.einsum("ij,ij->j", X, X))
    worth = np.abs(y @ X) / (size * np.std(y) + 1e-300)
    worth = worth if promise is None else np.maximum(worth, promise)
    for seed in seeds:
        worth[seed.any(axis=0)] = np.inf
    worth[:sure] = np.inf
    return np.sort(np.argsort(-worth, kind="stable")[: tuning.MOST_ANNEALED_COLUMNS])


def lasso_penalty(n: int, sure: int) -> Array:
    """Return the penalty of each of n coefficients, the first of which have none, where scores have variance 1."""
    unit = np.full(n, tuning.LASSO_PENALTY * math.sqrt(2 * math.log(max(n, 2))))
    unit[:sure] = 0.0
    return unit


def lasso_steps(
    A: Array, y: Array, P: Array, R: Array, B: Array, penalty: Array, curvature: float, steps: int = tuning.LASSO_STEPS
) -> Array:
    """Make a few accelerated proximal steps of every weighted lasso."""
    ahead, t, n = B, 1.0, B.shape[2]
    for step in range(steps):
        if step:
            R = y - (ahead.reshape(-1, n) @ A.T).reshape(R.shape)
        Z = ahead + ((P * R).reshape(-1, len(y)) @ A).reshape(B.shape) / curvature
        new = np.sign(Z) * np.maximum(np.abs(Z) - penalty / curvature, 0)
        t_next = (1 + math.sqrt(1 + 4 * t * t)) / 2
        ahead = new + (t - 1) / t_next * (new - B)
        B, t = new, t_next
    return B


def _lasso(A: Array, y: Array, counts: Array, penalty: Array, curvature: float) -> Array:
    """Return the lasso of all answers together: one model."""
    start, P = np.zeros((1, 1, A.shape[1]), A.dtype), counts[None, None]
    found = lasso_steps(A, y, P, y[None, None], start, penalty, curvature, tuning.SHARED_LASSO_STEPS)
    one: Array = found[0, 0]
    return one


def spread_of(y: Array, counts: Array | None) -> float:
    """Return the standard deviation of answers, each as often as it counts.

    Examples
    --------
    >>> bool(spread_of(np.array([1.0, 5.0]), np.array([3.0, 1.0])) == np.std([1, 1, 1, 5]))
    True
    """
    middle = np.average(y, weights=counts)
    return math.sqrt(float(np.average((y - middle) ** 2, weights=counts)))


def largest_eigenvalue(A: Array, counts: Array) -> float:
    """Return the largest eigenvalue of AᵀA, each row as often as it counts, by power iteration, with some slack."""
    v: Array = np.random.default_rng(0).standard_normal((A.shape[1],)).astype(A.dtype)
    for _ in range(tuning.POWER_STEPS):
        v = (counts * (A @ (v / max(float(np.linalg.norm(v)), 1e-300)))) @ A
    return tuning.EIGENVALUE_SLACK * float(np.linalg.norm(v)) + 1e-300


def second_moments(X: Array, y: Array, mean: Array, size: int, counts: Array | None = None) -> tuple[Array, Array]:
    """Find the difference of the two models from the squares of the residuals r = y − ⟨x, mean⟩.

    For Gaussian x, E[r² x xᵀ] = const I + ΔΔᵀ/2: this sees β² = −β¹, whose mean is 0.

    Parameters
    ----------
    X, y : (N, n) and (N,) arrays
        Queries and answers.
    mean : (n,) array
        The one model that fits all answers best.
    size : int
        How many coordinates the direction is computed on.
    counts : (N,) array, optional
        How often each answer counts; once by default.

    Returns
    -------
    t : (n,) array
        t-value of each coordinate's r² x_j².
    difference : (n,) array
        An estimate of Δ, up to its sign.
    """
    n, times = X.shape[1], np.ones(len(y)) if counts is None else counts
    N = float(times.sum())
    r = y - X @ mean
    c = r * r - times @ (r * r) / N
    told = times * c
    t, scale = np.empty(n), np.empty(n)
    for j in range(0, n, tuning.COLUMNS_AT_ONCE):  # blocks of columns: no dense copy of the queries
        here = slice(j, j + tuning.COLUMNS_AT_ONCE)
        Z = X[:, here] ** 2
        scale[here] = times @ Z / N
        Z -= scale[here]
        t[here] = (told @ Z) / np.sqrt((told * c) @ (Z * Z) + 1e-300)
    scale[scale == 0] = 1.0
    top = np.argsort(-t, kind="stable")[:size]
    root = np.sqrt(scale[top])
    Xt = X[:, top] / root
    e, V = np.linalg.eigh((Xt * told[:, None]).T @ Xt / N)
    difference = np.zeros(n)
    difference[top] = V[:, -1] * math.sqrt(max(float(e[-1]), 0.0) * 2) / root
    return t, difference


def splits(X: Array, y: Array, beta: Array, own: Array, counts: Array | None = None) -> list[Array]:
    """Return starts with one model more: each model split along the largest second moment of its residuals.

    Parameters
    ----------
    X, y : (N, n) and (N,) arrays
        Queries and answers.
    beta : (L, n) array
        The models so far.
    own : (N,) array of int
        The model that each answer most probably came from.
    counts : (N,) array, optional
        How often each answer counts; once by default.
    """
    found = []
    for a, model in enumerate(beta):
        mine = own == a
        times = None if counts is None else counts[mine]
        size = int(mine.sum() if times is None else times.sum())
        if size < tuning.LEAST_ANSWERS_TO_SPLIT:
            continue
        _, difference = second_moments(X[mine], y[mine], model, moment_columns(size, X.shape[1]), times)
        found.append(np.concatenate([beta[:a], beta[a + 1 :], [model + difference / 2, model - difference / 2]]))
    return found


def merged(beta: Array, weights: Array) -> Array:
    """Return a start with one model less: the two that are closest become one, (L − 1, n)."""
    distance = np.linalg.norm(beta[:, None] - beta, axis=2) + np.diag(np.full(len(beta), np.inf))
    a, b = np.unravel_index(int(distance.argmin()), distance.shape)
    both = (weights[a] * beta[a] + weights[b] * beta[b]) / (weights[a] + weights[b])
    return np.concatenate([np.delete(beta, [a, b], axis=0), [both]])


def left_out(beta: Array) -> list[Array]:
    """Return starts with one model less: each is left out once."""
    return [np.delete(beta, a, axis=0) for a in range(len(beta))]


def moment_columns(N: int, n: int) -> int:
    """Return how many coordinates of n the direction of the second moments of N answers is computed on."""
    room = min(tuning.MOST_MOMENT_COLUMNS, N // tuning.ANSWERS_PER_MOMENT_COLUMN)
    return min(n, max(tuning.LEAST_MOMENT_COLUMNS, room))
