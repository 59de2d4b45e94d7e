"""How good is a recovery: errors up to the order of the vectors, and random pairs to try on."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixsense.errors import InvalidInput
from mixsense.problem import as_vectors, generator, real, whole

Array = NDArray[np.float64]


def best_order(estimate: ArrayLike, truth: ArrayLike) -> tuple[int, ...]:
    """Return the order of the estimate's rows in which they match the truth best.

    Examples
    --------
    >>> best_order([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    (1, 0)
    """
    ours, theirs = as_vectors(estimate, "estimate"), as_vectors(truth, "truth")
    if ours.shape != theirs.shape:
        raise InvalidInput(f"estimate has shape {ours.shape} and truth {theirs.shape}: they must be equal")

    def worst(order: tuple[int, ...]) -> float:
        return float(np.linalg.norm(ours[list(order)] - theirs, axis=1).max())

    return min(permutations(range(len(ours))), key=worst)


def match_error(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Worst ℓ2 error over the vectors, in their best order.

    Parameters
    ----------
    estimate, truth : (2, n) array_like
        The recovered and the true vectors; their order does not matter.

    Returns
    -------
    float

    Examples
    --------
    >>> match_error([[0.0, 1.0], [1.0, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    0.5
    """
    order = list(best_order(estimate, truth))
    difference = np.asarray(estimate, dtype=np.float64)[order] - np.asarray(truth, dtype=np.float64)
    return float(np.linalg.norm(difference, axis=1).max())


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
    n = whole("n", n, 1, "the length of the vectors")
    k = whole("k", k, 1, "the number of non-zero coefficients of each vector")
    gap = real("gap", gap, "the distance between the two vectors", 0.0, strict=True)
    if k > n:
        raise InvalidInput(f"k is {k}, but the vectors have n = {n} coefficients: give k between 1 and {n}", k=k, n=n)
    rng = generator(seed)
    if overlap is None:
        supports = [rng.choice(n, k, replace=False) for _ in range(2)]
    else:
        overlap = whole("overlap", overlap, 0, "how many positions the two supports share")
        if overlap > k or 2 * k - overlap > n:
            raise InvalidInput(
                f"overlap is {overlap} with k = {k} and n = {n}: give one between {max(0, 2 * k - n)} and {k}",
                overlap=overlap,
            )
        places = rng.choice(n, 2 * k - overlap, replace=False)
        supports = [places[:k], places[k - overlap :]]
    beta = np.zeros((2, n))
    for row, support in zip(beta, supports, strict=True):
        row[support] = rng.standard_normal(k)
    return beta * (gap / np.linalg.norm(beta[0] - beta[1]))
