"""How good is a recovery: errors up to the order of the vectors."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_vectors
from mixsense.errors import InvalidInput


def best_order(estimate: ArrayLike, truth: ArrayLike) -> tuple[int, ...]:
    """Return for each true vector the estimate's row that stands for it: the order with the smallest worst error.

    A single row stands for every true vector.

    Examples
    --------
    >>> best_order([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    (1, 0)
    >>> best_order([[1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    (0, 0)
    """
    from scipy.optimize import linear_sum_assignment

    ours, theirs = _comparable(estimate, truth)
    if len(ours) == 1:
        return (0,) * len(theirs)
    distance = np.linalg.norm(theirs[:, None] - ours, axis=2)  # (true, found)
    values, place = np.unique(distance, return_inverse=True)
    rank = place.reshape(distance.shape)  # of the distance: the smallest worst rank is the smallest worst distance

    def beyond(worst: int) -> int:
        """Return how many vectors have to be further off than this rank."""
        too_far = rank > worst
        return int(too_far[linear_sum_assignment(too_far)].sum())

    worst = bisect_left(range(len(values)), 0, key=lambda rank: -beyond(rank))
    # Of the orders with the smallest worst error, one in which the others are small, too.
    _, order = linear_sum_assignment(np.where(rank <= worst, rank, len(theirs) * len(values)))
    return tuple(order.tolist())


def match_error(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Worst ℓ2 error over the vectors, in their best order.

    Parameters
    ----------
    estimate, truth : (L, n) array_like
        The recovered and the true vectors; their order does not matter. An estimate of one row is held against every
        true vector.

    Returns
    -------
    float

    Raises
    ------
    InvalidInput
        The estimate has other than one or L rows, or vectors of another length.

    Examples
    --------
    >>> match_error([[0.0, 1.0], [1.0, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    0.5
    """
    order = list(best_order(estimate, truth))
    difference = np.asarray(estimate, dtype=np.float64)[order] - np.asarray(truth, dtype=np.float64)
    return float(np.linalg.norm(difference, axis=1).max())


def _comparable(estimate: ArrayLike, truth: ArrayLike) -> tuple[Array, Array]:
    ours, theirs = as_vectors(estimate, "estimate"), as_vectors(truth, "truth")
    if ours.shape[1] != theirs.shape[1]:
        raise InvalidInput(f"estimate has shape {ours.shape} and truth {theirs.shape}: they must be equal in length")
    if len(ours) not in (1, len(theirs)):
        raise InvalidInput(
            f"estimate has {len(ours)} vectors and truth {len(theirs)}: give as many as there are models, or one that "
            "is held against all of them"
        )
    return ours, theirs
