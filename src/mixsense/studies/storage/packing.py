"""How a query is stored: all of its entries, or those that are not 0 where the method asks such rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.rounds import is_sparse
from mixsense.studies.storage.access import Misshapen

SPARSE = b"nz1\0"
"""How a query begins of which only the entries that are not 0 are stored: their places follow, then their values.
Derived: four bytes more than a multiple of eight, which is the length of a query that is stored as it is."""
PLACE, VALUE = "<i8", "<f8"
"""What a place and a value are stored as."""


def packed(queries: Any) -> list[bytes]:
    """Return queries (q, n), one row each, as they are stored.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> [len(row) for row in packed(np.zeros((2, 50)))], [len(row) for row in packed(csr_array(np.eye(2, 50)))]
    ([400, 400], [20, 20])
    """
    if not is_sparse(queries):
        return [row.tobytes() for row in np.asarray(queries, dtype=VALUE)]
    places, values, ends = queries.indices.astype(PLACE), queries.data.astype(VALUE), queries.indptr
    return [SPARSE + places[start:end].tobytes() + values[start:end].tobytes() for start, end in pairwise(ends)]


def as_bytes(stored: Any) -> bytes:
    """Return a query as it was stored, or raise Misshapen: SQLite keeps a number where it should be bytes."""
    if not isinstance(stored, (bytes, memoryview)):
        raise Misshapen("a query is not bytes")
    return bytes(stored)


def holds_all(stored: Any) -> bool:
    """Return whether all entries of a query were stored, also those that are 0."""
    bits = as_bytes(stored)
    return not bits.startswith(SPARSE) or len(bits) % np.dtype(VALUE).itemsize == 0


def as_vector(stored: Any, n: int) -> Array:
    """Return a query (n,) as it was stored, or raise Misshapen."""
    if holds_all(stored):
        x = np.frombuffer(stored, dtype=VALUE)
        if x.shape != (n,) or not np.isfinite(x).all():
            raise Misshapen(f"a query has not {n} finite numbers")
        return x
    places, values = _entries(stored, n)
    x = np.zeros(n)  # of which the system holds only the pages that are written to
    x[places] = values
    x.flags.writeable = False
    return x


def as_queries(stored: Sequence[Any], n: int) -> Array:
    """Return the queries of a round (q, n), sparse if all were stored so, or raise Misshapen."""
    if not stored or any(map(holds_all, stored)):
        return np.stack([as_vector(x, n) for x in stored]).astype(np.float64)
    from scipy.sparse import csr_array

    rows = [_entries(x, n) for x in stored]
    ends = np.cumsum([0, *(len(places) for places, _ in rows)])
    places, values = (np.concatenate(part) for part in zip(*rows, strict=True))
    return csr_array((values, places, ends), shape=(len(rows), n))  # type: ignore[no-any-return]


def _entries(stored: Any, n: int) -> tuple[Index, Array]:
    """Return the places and the values of the entries that are not 0."""
    body = as_bytes(stored)[len(SPARSE) :]
    count, rest = divmod(len(body), np.dtype(PLACE).itemsize + np.dtype(VALUE).itemsize)
    if rest:
        raise Misshapen("a sparse query has not as many places as values")
    places = np.frombuffer(body, dtype=PLACE, count=count).astype(np.intp)
    values = np.frombuffer(body, dtype=VALUE, offset=places.nbytes).astype(np.float64)
    if not ((places >= 0) & (places < n)).all() or (np.diff(places) <= 0).any() or not np.isfinite(values).all():
        raise Misshapen(f"a sparse query has not finite numbers at ascending places below {n}")
    return places, values
