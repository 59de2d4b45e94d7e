"""What query vectors may be: a (q, n) array, rows of which only the non-zero entries are held, or exact fractions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from numbers import Rational
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mixsense.arrays import Array, Mask
from mixsense.checks import one_line
from mixsense.errors import InvalidInput

MOST_DENSE = 4_000_000
"""Sparse queries are written out for an oracle that needs them dense in pieces of this many entries: 32 MB (taste)."""
NUMBER_KINDS = "biuf"
"""Kinds of NumPy's dtypes that are taken for numbers: a complex one would lose a part."""
PARTS = ("data", "indices", "indptr")
"""What CSR rows are made of."""


@runtime_checkable
class SparseOracle(Protocol):
    """An oracle that takes queries as SciPy's CSR rows, if its attribute says so; others are sent dense arrays."""

    takes_sparse: bool


@runtime_checkable
class ExactOracle(Protocol):
    """An oracle that computes with `fractions.Fraction`, if its attribute says so; others are sent floats."""

    exact: bool


def is_sparse(queries: Any) -> bool:
    """Return whether queries are a sparse array of SciPy's, which has not to be loaded to see that they are not.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse(np.eye(2)), is_sparse(csr_array(np.eye(2)))
    (False, True)
    """
    sparse: Any = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(queries))


def is_exact(values: Any) -> bool:
    """Return whether an array holds Python's own numbers (fractions, whole numbers of any size), not floats.

    Examples
    --------
    >>> from fractions import Fraction
    >>> is_exact(np.array([[Fraction(1, 3)]])), is_exact(np.eye(2))
    (True, False)
    """
    return isinstance(values, np.ndarray) and values.dtype.kind == "O"


def as_held(queries: Any) -> Array:
    """Return queries as a round holds them: a read-only copy, dense, sparse or exact, or say what is wrong."""
    needed = "give a (q, n) array of finite numbers"
    if is_sparse(queries):
        rows: Any = as_sparse(queries).copy()
        rows.sum_duplicates()
        values, shape = rows.data, rows.shape
    elif is_exact(queries):
        rows = queries.copy()
        if not all(isinstance(value, Rational) for value in rows.flat):
            raise InvalidInput(f"a round's queries are objects that are no fractions: {needed}, or of Fraction")
        values, shape = np.zeros(1), rows.shape
    else:
        try:
            if np.asarray(queries).dtype.kind == "c":
                raise TypeError
            rows = values = np.array(queries, dtype=np.float64)  # a copy: the method may use its own again
        except (TypeError, ValueError):
            raise InvalidInput(f"a round's queries are not numbers: {needed}") from None
        shape = rows.shape
    if len(shape) != 2 or 0 in shape or not np.isfinite(values).all():
        raise InvalidInput(f"a round's queries have shape {shape}: {needed}")
    for part in [getattr(rows, name) for name in PARTS] if is_sparse(rows) else [rows]:
        part.flags.writeable = False
    return rows  # type: ignore[no-any-return]


def as_sparse(queries: Any) -> Array:
    """Return sparse queries as CSR rows of floats, or say what is wrong: SciPy reads whatever memory an index says."""
    from scipy.sparse import csr_array

    why = "" if queries.dtype.kind in NUMBER_KINDS else "they are not numbers"
    try:
        if hasattr(queries, "check_format"):  # compressed rows or columns
            queries.check_format(full_check=True)
        elif any(
            at.size and not 0 <= at.min() <= at.max() < end
            for at, end in zip(getattr(queries, "coords", ()), queries.shape, strict=False)
        ):
            why = "an index is out of range"
    except ValueError as error:
        why = one_line(error, 80)
    if why:
        raise InvalidInput(f"sparse queries cannot be used ({why}): give a (q, n) array of finite numbers")
    return csr_array(queries, dtype=np.float64)  # type: ignore[no-any-return]


def as_rows(queries: Any) -> Array:
    """Return queries as they came if they are sparse or exact, and as an array of floats otherwise."""
    if is_sparse(queries):
        return as_sparse(queries)
    return queries if is_exact(queries) else np.asarray(queries, dtype=np.float64)


def as_answers(answers: Any) -> Array:
    """Return answers as they came if they are exact, and as an array of floats otherwise."""
    return answers if is_exact(answers) else np.asarray(answers, dtype=np.float64)


def dense(queries: Any) -> Array:
    """Return queries as an array of floats.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> dense(csr_array(np.eye(2)))
    array([[1., 0.],
           [0., 1.]])
    """
    return queries.toarray() if is_sparse(queries) else np.asarray(queries, dtype=np.float64)


def stacked(parts: Sequence[Any]) -> Array:
    """Put rows below each other; they stay sparse if all parts are."""
    if all(map(is_sparse, parts)):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")  # type: ignore[no-any-return]
    return np.concatenate([dense(part) if is_sparse(part) else part for part in parts])


def for_oracle(queries: Array, oracle: Any) -> Array:
    """Return queries as an oracle takes them: sparse or exact only where it says that it can."""
    if is_sparse(queries):
        return queries if takes_sparse(oracle) else dense(queries)
    return dense(queries) if is_exact(queries) and not computes_exactly(oracle) else queries


def takes_sparse(oracle: Any) -> bool:
    """Return whether an oracle takes sparse queries."""
    return isinstance(oracle, SparseOracle) and oracle.takes_sparse is True


def computes_exactly(oracle: Any) -> bool:
    """Return whether an oracle answers with fractions."""
    return isinstance(oracle, ExactOracle) and oracle.exact is True


def rows_at_once(queries: Array, oracle: Any) -> int:
    """Return how many of the queries may go to an oracle in one call: written out they take memory."""
    written_out = is_sparse(queries) and not takes_sparse(oracle)
    return max(1, MOST_DENSE // int(queries.shape[1])) if written_out else int(queries.shape[0])


def unlike(asked: Any, sent: Any, tolerance: float) -> Mask:
    """Return which queries were changed on their way by more than rounding; both are (q, n), sparse or not."""
    if is_sparse(asked) != is_sparse(sent):
        pieces = max(1, MOST_DENSE // sent.shape[1])
        starts = range(0, sent.shape[0], pieces)
        return np.concatenate(
            [_far(dense(asked[i : i + pieces]), dense(sent[i : i + pieces]), tolerance) for i in starts]
        )
    return _far(asked, sent, tolerance)


def _far(asked: Any, sent: Any, tolerance: float) -> Mask:
    if is_sparse(sent) and all(np.array_equal(getattr(asked, part), getattr(sent, part)) for part in PARTS):
        return np.zeros(sent.shape[0], dtype=np.bool_)  # the usual case, without another copy of them
    if is_sparse(sent):
        most, size = abs(asked - sent).max(axis=1).toarray().reshape(-1), abs(sent).max(axis=1).toarray().reshape(-1)
    else:
        most, size = np.abs(asked - sent).max(axis=1), np.abs(sent).max(axis=1)
    return np.asarray(most > tolerance * size, dtype=np.bool_)
