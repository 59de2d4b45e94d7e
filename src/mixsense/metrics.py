"""How good is a recovery: errors up to the order of the vectors."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from mixsense.checks import as_vectors
from mixsense.errors import InvalidInput

MOST_MODELS = 8
"""The orders of more vectors are too many to try them all."""


def best_order(estimate: ArrayLike, truth: ArrayLike) -> tuple[int, ...]:
    """Return the order of the estimate's rows in which they match the truth best.

    Examples
    --------
    >>> best_order([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    (1, 0)
    """
    ours, theirs = as_vectors(estimate, "estimate", models=None), as_vectors(truth, "truth", models=None)
    if ours.shape != theirs.shape:
        raise InvalidInput(f"estimate has shape {ours.shape} and truth {theirs.shape}: they must be equal")
    if len(ours) > MOST_MODELS:
        raise InvalidInput(f"there are {len(ours)} vectors: at most {MOST_MODELS} can be compared in every order")
    distance = np.linalg.norm(ours[:, None] - theirs, axis=2)  # (L, L)

    def worst(order: tuple[int, ...]) -> float:
        return float(distance[list(order), range(len(order))].max())

    return min(permutations(range(len(ours))), key=worst)


def match_error(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Worst ℓ2 error over the vectors, in their best order.

    Parameters
    ----------
    estimate, truth : (L, n) array_like
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
