"""Tables that users have: arrays and data frames, with the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.checks import as_reals, shown, summed_up
from mixsense.errors import InvalidInput

NUMBER_KINDS = "biuf"
"""Kinds of NumPy's dtypes that are numbers; True and False are 1 and 0 in a table."""
LARGEST_INTEGER = 2**63
"""NumPy keeps whole numbers from here on as Python's own, which are no numbers to it."""
MISSING = ("", "na", "n/a", "nan", "nat", "<na>", "null", "none", ".")
"""Texts that stand for a missing value, in any case of letters: what programs write where there is none."""


@runtime_checkable
class Frame(Protocol):
    """A data frame, as pandas has it."""

    columns: Any

    def __getitem__(self, name: Any) -> Any:
        """Return a column."""

    def __len__(self) -> int:
        """Return how many rows there are."""

    def to_numpy(self) -> Any:
        """Return all columns as an array."""


class Rows(NamedTuple):
    """The rows of a table, (N, n), and the names of its columns, if it has any."""

    values: Array
    names: tuple[str, ...] | None


def as_rows(name: str, X: Any) -> Rows:
    """Return a table as floats, NaN where a value is missing, or say what is wrong with it; nobody may write into it.

    Parameters
    ----------
    name : str
        What a message calls the table.
    X : array_like or data frame
        One row an answer; a single row may be given as (n,).

    Examples
    --------
    >>> as_rows("X", [[1, 2], [3, None]]).values
    array([[ 1.,  2.],
           [ 3., nan]])
    >>> as_rows("X", [["a", 2]])
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: X must be real numbers: give one row an answer, (N, n)
    """
    if isinstance(X, Frame):
        return _from_frame(name, X)
    values = _reals(name, X, "give one row an answer, (N, n)")
    if values.ndim == 1:
        values = values[None]
    if values.ndim != 2 or not values.shape[1]:
        raise InvalidInput(f"{name} has shape {values.shape}: give one row an answer, (N, n)", shape=values.shape)
    return Rows(values, None)


def as_column(name: str, y: Any, length: int) -> Array:
    """Return one number a row, NaN where it is missing, or say what is wrong with them; nobody may write into it.

    Examples
    --------
    >>> as_column("y", [1, 2.5], 2)
    array([1. , 2.5])
    >>> as_column("y", [1, 2.5], 3)
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: y has shape (2,), and there are 3 rows: give one number for each
    """
    found = _reals(name, _plain(y), "give one number for each row")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.shape != (length,):
        raise InvalidInput(
            f"{name} has shape {found.shape}, and there are {length} rows: give one number for each", shape=found.shape
        )
    return found


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, pandas' NA, blank text, or a text that programs write for it.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), " ", "NA", 0, False, "ann")]
    [True, True, True, True, False, False, False]
    """
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode("latin-1")
        return text.strip().casefold() in MISSING
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal nor unequal to itself
        return True


def as_groups(groups: Any, length: int) -> Index:
    """Return the group of each row as a number from 0 on; whatever can be told apart names a group.

    What is missing is nobody: it belongs to no other row.

    Examples
    --------
    >>> as_groups(["ann", "bob", "ann", None, None, "", ""], 7)
    array([0, 1, 0, 2, 3, 4, 5])
    """
    try:
        if isinstance(groups, str):
            raise TypeError
        labels = list(_plain(groups))
    except TypeError:
        raise InvalidInput(f"groups is {shown(groups)}: give one label for each row") from None
    if len(labels) != length:
        raise InvalidInput(f"groups has {len(labels)} labels for {length} rows: give one for each")
    number: dict[Any, int] = {}
    try:
        known = (object() if is_missing(label) else label for label in labels)
        return np.array([number.setdefault(label, len(number)) for label in known], dtype=np.intp)
    except (TypeError, ValueError):
        raise InvalidInput("groups must be labels: give one text or number for each row") from None


def in_order(name: str, X: Any, names: Sequence[str] | None, n: int) -> Array:
    """Return a table's rows with the columns that a result has, by their names where both have them."""
    if isinstance(X, Frame) and names is not None:
        columns = [str(column) for column in X.columns]
        missing = [wanted for wanted in names if wanted not in columns]
        if missing:
            raise InvalidInput(f"{name} has no column {shown(missing[0])}: give the columns that were fitted")
        X = X[[X.columns[columns.index(wanted)] for wanted in names]]
    elif names is not None and (cases := _cases(X)) is not None:
        missing = [wanted for case in cases for wanted in names if wanted not in case]
        if missing:
            raise InvalidInput(f"{name} has a query without {shown(missing[0])}: give a value for each feature")
        X = [[case[wanted] for wanted in names] for case in cases]
    values = as_rows(name, X).values
    if values.shape[1] != n:
        raise InvalidInput(f"{name} has {values.shape[1]} columns, the models have {n}: give one for each coefficient")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        raise InvalidInput(f"{name}[{row}, {column}] is {values[row, column]}: give numbers")
    return values


def _cases(X: Any) -> list[Mapping[str, Any]] | None:
    """Return queries that are dicts, name to value; None if they are not."""
    cases = [X] if isinstance(X, Mapping) else X
    if not isinstance(cases, Sequence) or not cases or not all(isinstance(case, Mapping) for case in cases):
        return None
    return list(cases)


def _from_frame(name: str, frame: Frame) -> Rows:
    names = tuple(str(column) for column in frame.columns)
    if len({*names}) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise InvalidInput(f"{name} has two columns {shown(twice)}: give each a name of its own")
    if not names:
        raise InvalidInput(f"{name} has no columns: give one for each feature")
    values = np.empty((len(frame), len(names)))
    for j, (column, label) in enumerate(zip(names, frame.columns, strict=True)):
        values[:, j] = _numbers(column, frame[label])
    return Rows(_without_infinity(name, values), names)


def _numbers(name: str, column: Any) -> Array:
    """Return a column of a data frame as floats; categories are no numbers, whatever they are called."""
    if getattr(column.dtype, "kind", "O") not in NUMBER_KINDS:
        try:
            if str(column.dtype).lower().startswith("categor"):
                raise InvalidInput("categories")
            found = [_known(value) for value in column.to_numpy().tolist()]
            return as_reals(name, found, "", finite=False, kinds=NUMBER_KINDS)
        except InvalidInput:
            raise InvalidInput(
                f"column {shown(name)} holds other things than numbers: leave it out, or give one column of 0 and 1 "
                "for each of its levels but one (pandas.get_dummies with drop_first=True)"
            ) from None
    try:
        found = column.to_numpy(dtype="float64", na_value=np.nan)  # pandas: its missing numbers have no float
    except TypeError:
        found = column.to_numpy()
    return np.asarray(found, dtype=np.float64)


def _known(value: Any) -> Any:
    """Return a value, and NaN where there is none; whole numbers beyond what NumPy counts with as floats."""
    if isinstance(value, int) and abs(value) >= LARGEST_INTEGER:
        try:
            return float(value)
        except OverflowError:
            return np.inf
    return np.nan if value is None else value


def _reals(name: str, values: Any, needed: str) -> Array:
    """Return numbers of whatever shape, None and what is masked as NaN; infinite ones are refused."""
    if hasattr(values, "toarray"):  # SciPy's sparse matrices are no arrays
        raise InvalidInput(f"{name} is sparse: give {name}.toarray()")
    try:
        found = np.asarray(values)
        if isinstance(values, np.ma.MaskedArray) and found.dtype.kind in f"{NUMBER_KINDS}O":
            found = np.where(np.ma.getmaskarray(values), np.nan, found)
    except (ValueError, TypeError):
        raise InvalidInput(f"{name} is {summed_up(values)}: {needed}") from None
    if found.dtype.kind == "O" and found.size:
        flat = [_known(value) for value in found.ravel().tolist()]
        found = as_reals(name, flat, needed, finite=False, kinds=NUMBER_KINDS).reshape(found.shape)
    if found.dtype == np.float64:  # no copy: a table may be as large as memory allows
        return _without_infinity(name, found)
    return _without_infinity(name, as_reals(name, found, needed, finite=False, kinds=NUMBER_KINDS))


def _without_infinity(name: str, values: Array) -> Array:
    if any(np.isinf(column).any() for column in values.T):  # a column at a time: a mask of all would be large
        place = ", ".join(map(str, np.argwhere(np.isinf(values))[0].tolist()))
        raise InvalidInput(f"{name}[{place}] is infinite: give finite numbers, or leave the row out")
    return values


def check_index(name: str, values: Any, rows: Any) -> None:
    """Refuse a column of pandas whose rows are called otherwise than those of its table: they would be mixed up."""
    index: Any = getattr(rows, "index", None)
    own: Any = getattr(values, "index", None)
    if hasattr(index, "equals") and hasattr(own, "equals") and len(index) == len(own) and not index.equals(own):
        raise InvalidInput(
            f"{name} has another index than X: give {name}.loc[X.index], or {name}.to_numpy() if the rows are in order"
        )


def _plain(values: Any) -> Any:
    """Return what a data frame's column holds, (N,); that of a frame with one column is the column."""
    if not isinstance(values, Frame) and not hasattr(values, "to_numpy"):
        return values
    found = values.to_numpy()
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
