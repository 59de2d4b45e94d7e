"""Who answers: a simulation, and random vectors to simulate with.

Any callable with the signature ``oracle(queries, repeats) -> answers`` is an oracle; see `rounds.Oracle`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.checks import as_float, as_int, as_reals, as_vectors, generator, shown
from mixsense.errors import InvalidInput
from mixsense.problem import LARGEST_N, Weights, as_noise, as_shares
from mixsense.rounds import Asked, as_sparse, block_groups, is_exact, is_sparse
from mixsense.scales import scale_of


def _as_queries(queries: Any, n: int) -> Array:
    if is_sparse(queries):
        found = as_sparse(queries)
    elif is_exact(queries):
        found = queries
    else:
        found = as_reals("queries", queries, f"this oracle takes (q, {n}), one row a query")
    if found.ndim != 2 or found.shape[1] != n:
        raise InvalidInput(f"queries have shape {found.shape}; this oracle takes (q, {n}): one row a query")
    return found


class SimulatedOracle:
    """Answers ⟨x, β⟩ + noise, with β one of L known vectors, drawn again for every answer.

    Parameters
    ----------
    vectors : (L, n) array_like
        The hidden models, one row each.
    sigma : float or L floats
        Standard deviation of the Gaussian noise, of all models or of each; 0 for none.
    weights : L floats, optional
        Probability of each vector; equal by default.
    seed : int or numpy Generator
        Source of the coin and of the noise. The stream of answers depends only on their number, not on how
        they are divided into calls.
    block : int
        This many consecutive rows of a call come from one model: one respondent answers them.
    scale : Rating, Probability or dict, optional
        How answers are made of the linear value, noise included; real numbers by default.
    exact : bool
        Compute with `fractions.Fraction`: the vectors are taken as the floats that they are, and the answers are
        fractions, without any rounding. Needs ``sigma=0``.

    Attributes
    ----------
    count : int
        Answers given so far.
    takes_sparse : bool
        True: queries may be SciPy's CSR rows, which are never written out.

    Examples
    --------
    >>> oracle = SimulatedOracle([[1.0, 0.0], [0.0, 2.0]], sigma=0.0, seed=1)
    >>> oracle([[1.0, 1.0]], 4)
    array([[2., 1., 2., 1.]])
    >>> oracle.count
    4
    """

    takes_sparse = True

    def __init__(
        self,
        vectors: ArrayLike,
        sigma: float | ArrayLike = 1.0,
        weights: Weights | str | None = None,
        seed: Any = 0,
        block: int = 1,
        scale: Any = None,
        *,
        exact: bool = False,
    ) -> None:
        self.vectors = as_vectors(vectors)
        self.sigma = as_noise(sigma, len(self.vectors))
        self.weights = as_shares(weights, len(self.vectors))
        self._ends = np.cumsum(self.weights)[:-1]  # the last share ends at 1, whatever the rounding
        self._columns = np.ascontiguousarray(self.vectors.T)  # sparse rows would copy the other order at every call
        self._coin, self._noise = generator(seed).spawn(2)
        self.count = 0
        self.block = as_int("block", block, 1, "how many consecutive rows come from one model")
        self.scale = scale_of(scale)
        if exact and (np.any(self.sigma) or self.scale is not None):
            most = float(np.max(self.sigma))
            raise InvalidInput(f"sigma is {most:g}: exact answers are without noise; give sigma=0, and no scale")
        self.exact = bool(exact)

    def __call__(self, queries: Any, repeats: int) -> Array:
        """Answer each query `repeats` times; returns (q, repeats)."""
        return self._answers(queries, repeats, self.block)

    def asked(self, queries: Any, repeats: int, block: int) -> Asked:
        """Answer, and say which answers share a model: those of `block` consecutive rows, if it is more than 1."""
        first, block = self.count, block if block > 1 else self.block
        y = self(queries, repeats) if block == self.block else self._answers(queries, repeats, block)
        return Asked.of_round(queries, y, block_groups(len(y), y.shape[1], block, first))

    def _answers(self, queries: Any, repeats: int, block: int) -> Array:
        X = _as_queries(queries, self.vectors.shape[1])
        repeats = as_int("repeats", repeats, 1, "how often each query is asked")
        if self.exact and not is_sparse(X):
            means = _exact_means(X, self.vectors)  # (q, L)
        else:
            means = X @ (self._columns if is_sparse(X) else self.vectors.T)
        shape = (X.shape[0], repeats)
        first_of_block = np.arange(shape[0]) // block * block
        model = np.searchsorted(self._ends, self._coin.random(shape)[first_of_block], side="right")
        answers: Array = np.take_along_axis(means, model, axis=1)
        if np.any(self.sigma):
            sigma = self.sigma if isinstance(self.sigma, float) else self.sigma[model]
            answers += sigma * self._noise.standard_normal(shape)
        self.count += answers.size
        return answers if self.scale is None else self.scale.answer(answers)

    def skip(self, count: int) -> None:
        """Pass over this many answers of the stream: they were given before, by an oracle with the same seed."""
        count = as_int("count", count, 0, "how many answers were given before")
        self._coin.random(count)
        if np.any(self.sigma):
            self._noise.standard_normal(count)


def _exact_means(X: Any, vectors: Array) -> Array:
    """Return ⟨x, β⟩ as fractions, (q, L); floats are the fractions that they stand for."""
    means = np.empty((len(X), len(vectors)), dtype=object)
    for b, beta in enumerate(vectors):
        support = np.flatnonzero(beta)
        values = [Fraction(value) for value in beta[support].tolist()]
        for i, row in enumerate(X):
            means[i, b] = sum((Fraction(x) * v for x, v in zip(row[support].tolist(), values, strict=True)), Fraction())
    return means


def random_models(models: int, n: int, k: int, gap: float, seed: Any = None) -> Array:
    """Draw k-sparse vectors with Gaussian coefficients and independent supports at a given distance from each other.

    Parameters
    ----------
    models : int
        Number L of vectors.
    n, k : int
        Length, and number of non-zero coefficients of each vector.
    gap : float
        Mean of ‖βᵃ − βᵇ‖₂ over all pairs; all vectors are scaled together to reach it. One vector alone has this norm.
    seed : int or numpy Generator, optional
        Source of randomness. Two vectors are those of `random_pair` with the same seed.

    Returns
    -------
    (L, n) array

    Examples
    --------
    >>> vectors = random_models(3, 100, 5, gap=2.0, seed=1)
    >>> vectors.shape, (vectors != 0).sum(axis=1).tolist()
    ((3, 100), [5, 5, 5])
    """
    models = as_int("models", models, 1, "how many hidden models there are")
    n, k, gap = _sizes(n, k, gap)
    rng = generator(seed)
    return _at_distance([rng.choice(n, k, replace=False) for _ in range(models)], n, gap, rng)


def random_pair(n: int, k: int, gap: float, seed: Any = None, overlap: int | None = None) -> Array:
    """Draw two k-sparse vectors with Gaussian coefficients at a given distance from each other.

    Parameters
    ----------
    n, k : int
        Length, and number of non-zero coefficients of each vector.
    gap : float
        ‖β¹ − β²‖₂; both vectors are scaled together to reach it.
    seed : int or numpy Generator, optional
        Source of randomness.
    overlap : int, optional
        How many positions both supports share. None: the supports are drawn independently.

    Returns
    -------
    (2, n) array

    Examples
    --------
    >>> pair = random_pair(100, 5, gap=2.0, seed=1)
    >>> pair.shape, (pair != 0).sum(axis=1).tolist(), round(float(np.linalg.norm(pair[0] - pair[1])), 6)
    ((2, 100), [5, 5], 2.0)
    """
    if overlap is None:
        return random_models(2, n, k, gap, seed)
    n, k, gap = _sizes(n, k, gap)
    overlap = as_int("overlap", overlap, 0, "how many positions the two supports share")
    if overlap > k or 2 * k - overlap > n:
        raise InvalidInput(
            f"overlap is {overlap} with k = {k} and n = {n}: give one between {max(0, 2 * k - n)} and {k}",
            overlap=overlap,
        )
    rng = generator(seed)
    places = rng.choice(n, 2 * k - overlap, replace=False)
    return _at_distance([places[:k], places[k - overlap :]], n, gap, rng)


def _sizes(n: int, k: int, gap: float) -> tuple[int, int, float]:
    n = as_int("n", n, 1, "the length of the vectors", LARGEST_N)
    k = as_int("k", k, 1, "the number of non-zero coefficients of each vector")
    gap = as_float("gap", gap, "the distance between the vectors", 0.0, strict=True)
    if k > n:
        raise InvalidInput(
            f"k is {shown(k)}, but the vectors have n = {n} coefficients: give k between 1 and {n}", k=k, n=n
        )
    return n, k, gap


def _at_distance(supports: list[Index], n: int, gap: float, rng: np.random.Generator) -> Array:
    """Return vectors with Gaussian coefficients on these supports, `gap` apart on average."""
    beta = np.zeros((len(supports), n))
    for row, support in zip(beta, supports, strict=True):
        row[support] = rng.standard_normal(len(support))
    between = [float(np.linalg.norm(a - b)) for a, b in combinations(beta, 2)] or [float(np.linalg.norm(beta))]
    return beta * (gap / fmean(between))
