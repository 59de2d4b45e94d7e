"""What is the best that anyone can do: the Cramér–Rao limits, with and without tags."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.checks import as_float, as_int, as_vectors
from mixsense.problem import Weights, as_shares

DRAWS = 4000
"""Draws of the errors whose larger norm is averaged (taste: exact within 0.5 %); their seed is fixed."""
POINTS = 4001
"""Points of the integral over ⟨x, Δ⟩ (taste): fine enough up to gaps of several hundred σ."""


def tagged(vectors: ArrayLike, sigma: float, queries: int, weights: tuple[float, float] | None = None) -> float:
    """Return the expected worst ℓ2 error of the two vectors if every answer told its model.

    Parameters
    ----------
    vectors : (2, n) array_like
        The two vectors; their supports count as known.
    sigma : float
        Standard deviation of the noise.
    queries : int
        Number N of answers to queries x ~ N(0, I).
    weights : pair of float, optional
        Shares of the two vectors; equal by default.

    Returns
    -------
    float
        E max(‖e¹‖, ‖e²‖) with e ~ N(0, σ²/(w N) I_k): the root mean square of one vector alone is σ √(2k/N) for equal
        shares, the expected worst of two about 12 % more at k = 5.

    Examples
    --------
    >>> round(tagged([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]], sigma=1.0, queries=400), 2)
    0.11
    """
    beta, sigma, N, share = _checked(vectors, sigma, queries, weights)
    component, _ = np.nonzero(beta)
    return sigma * _expected_worst(np.diag(1 / share[component]), component) / math.sqrt(N)


def untagged(vectors: ArrayLike, sigma: float, queries: int, weights: tuple[float, float] | None = None) -> float:
    """Return the expected worst ℓ2 error of an efficient estimate of both vectors from untagged answers.

    Parameters
    ----------
    vectors, sigma, queries, weights
        As for `tagged`.

    Returns
    -------
    float
        E max(‖e¹‖, ‖e²‖) with (e¹, e²) ~ N(0, J⁻¹), J the Fisher information of N answers to queries x ~ N(0, I),
        supports known; infinite if the information is singular, as at β¹ = β².

    Notes
    -----
    The score of β^a is P_a R_a x/σ², with R_a = y − ⟨x, β^a⟩ and P_a the probability that the answer is from β^a. Both
    depend on x only through d = ⟨x, Δ⟩, so that E[w(d) x xᵀ] = E[w](I − ΔΔᵀ/‖Δ‖²) + E[w d²] ΔΔᵀ/‖Δ‖⁴: integrals over
    d and the noise are all that is left.

    Examples
    --------
    >>> pair = [[3.0, 0.0, 0.0], [0.0, 2.0, 1.0]]
    >>> tagged(pair, 1.0, 1000) < untagged(pair, 1.0, 1000) < 2 * tagged(pair, 1.0, 1000)
    True
    """
    beta, sigma, N, share = _checked(vectors, sigma, queries, weights)
    delta = beta[0] - beta[1]
    gap = float(np.linalg.norm(delta))
    if gap == 0:
        return math.inf
    across, along = _information(gap / sigma, share)  # (2, 2) each, in units of 1/σ²
    component, place = np.nonzero(beta)
    u = delta[place] / gap
    a = np.ix_(component, component)
    same = place[:, None] == place[None, :]
    J = across[a] * same + (along - across)[a] * np.outer(u, u)
    if np.linalg.cond(J) > 1e12:
        return math.inf
    return sigma * _expected_worst(np.linalg.inv(J), component) / math.sqrt(N)


def _expected_worst(covariance: Array, component: Index) -> float:
    """Mean of the larger of the two norms of a Gaussian error."""
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(covariance))) @ np.linalg.cholesky(covariance).T
    norms = [np.linalg.norm(draws[:, component == c], axis=1) for c in (0, 1)]
    return float(np.maximum(*norms).mean())


def _information(gap: float, share: Array) -> tuple[Array, Array]:
    """E[P_a P_b R_a R_b] and E[P_a P_b R_a R_b (d/gap)²] over the query and the answer, at σ = 1: (2, 2) each."""
    z = np.linspace(-8, 8, POINTS)  # d = gap · z,  z ~ N(0, 1)
    density = np.exp(-0.5 * z**2)
    density /= density.sum()
    e, weight = np.polynomial.hermite_e.hermegauss(60)
    weight = weight / weight.sum()
    across, along = np.zeros((2, 2)), np.zeros((2, 2))
    for source, sign in ((0, 1.0), (1, -1.0)):
        d = sign * gap * z[:, None]
        own = np.broadcast_to(e, (POINTS, len(e)))  # residual against the model that answered
        other = own + d  # and against the other one
        R = np.stack([own, other] if source == 0 else [other, own])
        log_odds = np.log(share[0] / share[1]) - 0.5 * (R[0] ** 2 - R[1] ** 2)
        P0 = 1 / (1 + np.exp(-np.clip(log_odds, -700, 700)))
        S = np.stack([P0, 1 - P0]) * R
        w = np.einsum("azi,bzi,i->abz", S, S, weight) * density * share[source]
        across += w.sum(axis=2)
        along += (w * z**2).sum(axis=2)
    return across, along


def _checked(
    vectors: ArrayLike, sigma: float, queries: int, weights: Weights | None
) -> tuple[Array, float, int, Array]:
    beta = as_vectors(vectors)
    sigma = as_float("sigma", sigma, "the noise's standard deviation", 0.0, strict=True)
    share = as_shares(weights, "limits need the shares; give weights such as (0.7, 0.3)")
    return beta, sigma, as_int("queries", queries, 1, "the number of answers"), np.array(share)
