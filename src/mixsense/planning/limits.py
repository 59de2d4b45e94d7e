"""What is the best that anyone can do: the Cramér–Rao limits, with and without tags, and with the best queries."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.checks import as_int, as_size, as_vectors
from mixsense.methods.frugal.tuning import NOISE_POINTS, QUERY_ENERGY
from mixsense.problem import Weights, as_shares

DRAWS = 4000
"""Draws of the errors whose largest norm is averaged (taste: exact within 0.5 %); their seed is fixed."""
POINTS = 4001
"""Points of the integral over one direction (taste): fine enough up to gaps of several hundred σ."""
LOG2_POINTS = 13
"""Points of the integral over several directions, as a power of two (taste: four times as many
change the limits of up to six models by at most 0.05 %)."""
SINGULAR = 1e12
"""An information with a larger condition number counts as singular (taste: what floats can still invert)."""


def tagged(vectors: ArrayLike, sigma: float, queries: int, weights: Weights | str | None = None) -> float:
    """Return the expected worst ℓ2 error of the vectors if every answer told its model.

    Parameters
    ----------
    vectors : (L, n) array_like
        The models, one row each; their supports count as known.
    sigma : float
        Standard deviation of the noise.
    queries : int
        Number N of answers to queries x ~ N(0, I).
    weights : L floats, optional
        Share of each model; equal by default.

    Returns
    -------
    float
        E maxₐ ‖eᵃ‖ with eᵃ ~ N(0, σ²/(wₐ N) I_k): the root mean square of one vector alone is σ √(L k/N) for equal
        shares, the expected worst of two about 12 % more at k = 5.

    Examples
    --------
    >>> round(tagged([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]], sigma=1.0, queries=400), 2)
    0.11
    """
    beta, sigma, N, share = _checked(vectors, sigma, queries, weights)
    component, _ = np.nonzero(beta)
    return sigma * _expected_worst(np.diag(1 / share[component]), component) / math.sqrt(N)


def focused(vectors: ArrayLike, sigma: float, queries: int, weights: Weights | str | None = None) -> float:
    """Return the expected worst ℓ2 error if every answer told its model, to queries on the known supports alone.

    Parameters
    ----------
    vectors, sigma, queries, weights
        As for `tagged`, but for the queries: their energy, 2n as that of the paper's sums and of `method="frugal"`,
        is spread evenly over the union of the supports.

    Returns
    -------
    float
        That of `tagged` times √(s/2n), s the size of the union. Nobody who has to find supports and labels does better
        with queries of this energy that treat the coordinates of the supports alike.

    Examples
    --------
    >>> pair = [[3.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]]
    >>> round(focused(pair, 1.0, 1000) / tagged(pair, 1.0, 1000), 3)
    0.5
    """
    beta, sigma, N, share = _checked(vectors, sigma, queries, weights)
    s, n = int(beta.any(axis=0).sum()), beta.shape[1]
    return tagged(beta, sigma, N, tuple(share)) * math.sqrt(s / (QUERY_ENERGY * n))


def untagged(vectors: ArrayLike, sigma: float, queries: int, weights: Weights | str | None = None) -> float:
    """Return the expected worst ℓ2 error of an efficient estimate of all vectors from untagged answers.

    Parameters
    ----------
    vectors, sigma, queries, weights
        As for `tagged`.

    Returns
    -------
    float
        E maxₐ ‖eᵃ‖ with (e¹, …, eᴸ) ~ N(0, J⁻¹), J the Fisher information of N answers to queries x ~ N(0, I),
        supports, shares and noise known; infinite if the information is singular, as at β¹ = β².

    Notes
    -----
    The score of βᵃ is Pₐ Rₐ x/σ², with Rₐ = y − ⟨x, βᵃ⟩ and Pₐ the probability that the answer is from βᵃ. Both depend
    on x only through its part z = Uᵀx in the span of the differences of the vectors, so that E[w(z) x xᵀ] =
    E[w](I − U Uᵀ) + U E[w z zᵀ] Uᵀ: integrals over z and the noise are all that is left.

    Examples
    --------
    >>> pair = [[3.0, 0.0, 0.0], [0.0, 2.0, 1.0]]
    >>> tagged(pair, 1.0, 1000) < untagged(pair, 1.0, 1000) < 2 * tagged(pair, 1.0, 1000)
    True
    """
    beta, sigma, N, share = _checked(vectors, sigma, queries, weights)
    if len(np.unique(beta, axis=0)) < len(beta):
        return math.inf
    U = _span(beta)  # (n, r)
    across, along = _information(beta @ U / sigma, share)  # in units of 1/σ²
    component, place = np.nonzero(beta)
    J = np.zeros((len(place), len(place)))
    for a, b in np.ndindex(across.shape):
        rows, columns = np.flatnonzero(component == a), np.flatnonzero(component == b)
        i, j = place[rows], place[columns]
        same = i[:, None] == j[None, :]
        J[np.ix_(rows, columns)] = across[a, b] * (same - U[i] @ U[j].T) + U[i] @ along[a, b] @ U[j].T
    if len(J) and np.linalg.cond(J) > SINGULAR:
        return math.inf
    return sigma * _expected_worst(np.asarray(np.linalg.inv(J)), component) / math.sqrt(N)


def _expected_worst(covariance: Array, component: Index) -> float:
    """Mean of the largest of the models' norms of a Gaussian error."""
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(covariance))) @ np.linalg.cholesky(covariance).T
    norms = [np.linalg.norm(draws[:, component == c], axis=1) for c in np.unique(component)]
    return float(np.max(norms, axis=0, initial=0.0).mean())


def _span(beta: Array) -> Array:
    """Return an orthonormal basis (n, r) of the differences of the vectors."""
    _, size, directions = np.linalg.svd(beta[1:] - beta[0], full_matrices=False)
    return np.asarray(directions[size > 1e-9 * size.max(initial=0.0)].T)


def _information(coordinates: Array, share: Array) -> tuple[Array, Array]:
    """E[Pₐ P_b Rₐ R_b], (L, L), and E[Pₐ P_b Rₐ R_b z zᵀ], (L, L, r, r), over query and answer, at σ = 1."""
    L, r = coordinates.shape
    z, density = _normal_points(r)  # (p, r), (p,)
    e, weight = np.polynomial.hermite_e.hermegauss(NOISE_POINTS)
    weight = weight / weight.sum()
    means = z @ coordinates.T  # (p, L)
    across, along = np.zeros((L, L)), np.zeros((L, L, r, r))
    for source in range(L):
        R = (means[:, source] - means.T)[:, :, None] + e  # (L, p, e): residual of the answer against each model
        log_P = np.log(share)[:, None, None] - 0.5 * R**2
        P = np.exp(log_P - log_P.max(axis=0))
        S = P / P.sum(axis=0) * R
        w = np.einsum("api,bpi,i->abp", S, S, weight) * density * share[source]
        across += w.sum(axis=2)
        along += np.einsum("abp,pr,ps->abrs", w, z, z)
    return across, along


def _normal_points(r: int) -> tuple[Array, Array]:
    """Return points of r dimensions and their weights, which integrate over N(0, I)."""
    if r == 0:
        return np.zeros((1, 0)), np.ones(1)
    if r == 1:
        z = np.linspace(-8, 8, POINTS)
        density = np.exp(-0.5 * z**2)
        return z[:, None], density / density.sum()
    from scipy.special import ndtri
    from scipy.stats import qmc

    count = 2**LOG2_POINTS
    u = qmc.Sobol(r, scramble=False).random_base2(LOG2_POINTS) + 0.5 / count  # the middle of each cell: never 0
    return np.asarray(ndtri(u)), np.full(count, 1 / count)


def _checked(
    vectors: ArrayLike, sigma: float, queries: int, weights: Weights | str | None
) -> tuple[Array, float, int, Array]:
    beta = as_vectors(vectors)
    sigma = as_size("sigma", sigma, "the noise's standard deviation")
    share = np.array(as_shares(weights, len(beta)))
    return beta, sigma, as_int("queries", queries, 1, "the number of answers"), share
