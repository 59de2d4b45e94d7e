"""What was given, read and checked: rows, answers, groups and names; what is missing is left out and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.checks import shown
from mixsense.errors import InvalidInput
from mixsense.features.units import feature_names
from mixsense.fitting import tuning
from mixsense.frames import as_column, as_groups, as_rows, check_index


@dataclass(frozen=True, slots=True)
class Table:
    """The rows that can be used."""

    X: Array
    """(N, n)."""
    y: Array
    """(N,), the answers."""
    group: Index | None
    """(N,), the group of each row, numbered from 0 without a gap; None if all are alone."""
    counts: Array | None
    """(N,), how often each row counts; None for once."""
    names: tuple[str, ...] | None
    """What the columns are called."""
    missing: int
    """How many rows were left out."""
    row: Index
    """(N,), the number of each row in what was given."""


def read_table(X: Any, y: Any, groups: Any, features: Sequence[str] | None, counts: Any = None) -> Table:
    """Read a table, or say in one line why it cannot be fitted.

    Parameters
    ----------
    X : (N, n) array_like or data frame
        The queries.
    y : (N,) array_like
        The answers.
    groups : (N,) array_like or None
        Which rows share a model, as labels.
    features : sequence of str or None
        Names of the columns; those of a data frame by default.
    counts : (N,) array_like or None
        How often each row counts.

    Examples
    --------
    >>> table = read_table([[1, 2], [3, None], [5, 6], [7, 8]], [1, 2, None, 4], None, None)
    >>> table.X, table.missing
    (array([[1., 2.],
           [7., 8.]]), 2)
    """
    rows = as_rows("X", X)
    if len(rows.values) == 1 and np.ndim(X) == 1:
        raise InvalidInput("X has one dimension: give one row an answer, (N, n); of one column that is X[:, None]")
    for name, given in (("y", y), ("groups", groups)):
        check_index(name, given, X)
    values, (N, n) = rows.values, rows.values.shape
    answers = as_column("y", y, N)
    group = None if groups is None else as_groups(groups, N)
    weight = None if counts is None else _counts(counts, N)
    names = rows.names if features is None else feature_names(n, list(features))
    there = ~np.isnan(answers)
    for column in values.T:  # one at a time: a mask of all entries would be large
        there &= ~np.isnan(column)
    missing = N - int(there.sum())
    if missing > tuning.LARGEST_MISSING_SHARE * N:
        raise InvalidInput(
            f"{missing:,} of {N:,} rows have a missing value: fill in what is known, or leave out the columns "
            "that miss most",
            missing=missing,
        )
    if weight is not None:
        there &= weight > 0  # what counts 0 times is not there
    if not there.all():
        values, answers = values[there], answers[there]
        weight = None if weight is None else weight[there]
        group = None if group is None else np.unique(group[there], return_inverse=True)[1]
    if len(answers) < tuning.LEAST_ROWS:
        count = "is 1 sample" if len(answers) == 1 else f"are {len(answers)} samples"
        raise InvalidInput(f"there {count}: give at least {tuning.LEAST_ROWS} rows, better some for each coefficient")
    for name, column in [
        ("y", answers),
        *((f"column {shown(_called(names, j))} of X", values[:, j]) for j in range(n)),
    ]:
        _check_size(name, column)
    if group is not None and int(group.max()) + 1 == len(group):
        group = None
    return Table(values, answers, group, weight, names, missing, np.flatnonzero(there))


def _called(names: tuple[str, ...] | None, j: int) -> int | str:
    return j if names is None else names[j]


def _check_size(name: str, values: Array) -> None:
    """Refuse numbers whose fourth powers are beyond what floats hold."""
    largest = float(np.abs(values).max())
    if largest > tuning.LARGEST_IN_COLUMN or 0 < largest < 1 / tuning.LARGEST_IN_COLUMN:
        where = int(np.abs(values).argmax())
        raise InvalidInput(
            f"{name} has {values[where]:g}, and its largest number must be between {1 / tuning.LARGEST_IN_COLUMN:g} "
            f"and {tuning.LARGEST_IN_COLUMN:g} or 0: give it in other units, or leave out what is wrong"
        )


def _counts(counts: Any, N: int) -> Array:
    found = as_column("sample_weight", counts, N)
    if not (found >= 0).all():
        raise InvalidInput(f"sample_weight has {shown(float(found.min()))}: give numbers of at least 0")
    if not found.any():
        raise InvalidInput("sample_weight is 0 for every row: give some rows a weight")
    return found
