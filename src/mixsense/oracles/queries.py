"""The queries that an oracle is asked, checked before they cost anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.checks import as_int, as_reals
from mixsense.errors import InvalidInput
from mixsense.rounds import is_sparse

NEEDED = "give (q, n), one row of finite numbers for each query"
"""What queries are."""
PLACEHOLDERS = (
    '"$x" (all numbers), "$x[0]" (one), "$nonzero" ([position, number] of those that are not 0), "$features" '
    '(name: number), "$features.NAME" (one), "$id" (a fresh id)'
)
"""The placeholders that a body may hold, as messages list them."""


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


def entries(queries: Any) -> Iterator[tuple[Index, Array]]:
    """Yield the positions and the values of the non-zero entries of each query, of an array or of sparse rows.

    Examples
    --------
    >>> [(place.tolist(), value.tolist()) for place, value in entries(np.array([[0.0, 2.0], [-0.0, 0.0]]))]
    [([1], [2.0]), ([], [])]
    """
    if not is_sparse(queries):
        for x in queries:
            place = np.flatnonzero(x)
            yield place, x[place]
        return
    for start, end in zip(queries.indptr[:-1], queries.indptr[1:], strict=True):
        place, value = queries.indices[start:end], queries.data[start:end]
        yield place[value != 0].astype(np.intp), value[value != 0]


def sparse_rows(n: int, places: Any, values: Any) -> Array:
    """Return the queries that have these entries, as SciPy's CSR rows; they are read from a file, and checked.

    Examples
    --------
    >>> sparse_rows(3, [[2], []], [[1.5], []]).toarray()
    array([[0. , 0. , 1.5],
           [0. , 0. , 0. ]])
    """
    from scipy.sparse import csr_array

    indices = [as_reals("places", row, "whole numbers") for row in places]
    data = [as_reals("values", row, "numbers") for row in values]
    if [len(row) for row in indices] != [len(row) for row in data]:
        raise InvalidInput("sparse queries have another number of places than of values")
    at = np.concatenate([*indices, np.empty(0)])
    if (at != np.floor(at)).any() or (at.size and not 0 <= at.min() <= at.max() < n):
        raise InvalidInput(f"a place of a sparse query is not a whole number from 0 to {n - 1}")
    ends = np.cumsum([0, *map(len, data)])
    made = csr_array((np.concatenate([*data, np.empty(0)]), at.astype(np.intp), ends), shape=(len(data), n))
    return made  # type: ignore[no-any-return]
