"""The queries that an oracle is asked, checked before they cost anything."""

from __future__ import annotations

from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_int, as_reals
from mixsense.errors import InvalidInput

NEEDED = "give (q, n), one row of finite numbers for each query"
"""What queries are."""


def as_queries(queries: ArrayLike, repeats: int) -> tuple[Array, int]:
    """Return the queries as a finite (q, n) array and how often each is asked, or say what is wrong with them.

    Examples
    --------
    >>> as_queries([[1, 2]], 3)
    (array([[1., 2.]]), 3)
    """
    X = as_reals("queries", queries, NEEDED)
    repeats = as_int("repeats", repeats, 1, "how often each query is asked")
    if X.ndim != 2:
        raise InvalidInput(f"queries have shape {X.shape}: {NEEDED}")
    return X, repeats
