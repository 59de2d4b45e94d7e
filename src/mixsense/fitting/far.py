"""What looks like a mistake in a table: numbers far from all others, rows that are copies, the answer as a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.checks import shown
from mixsense.fitting import tuning
from mixsense.fitting.table import Table


def far_rows(table: Table) -> list[str]:
    """Say which row has the number that is furthest from all others of its column, and what to do.

    Examples
    --------
    >>> from mixsense.fitting.table import read_table
    >>> x = np.linspace(-1, 1, 50)
    >>> (text,) = far_rows(read_table(x[:, None], np.where(np.arange(50) == 7, 1e4, 1.0) * x, None, None))
    >>> text.partition(", 7")[0]
    'row 7 (from 0) is far from all others: its y is -7143'
    """
    rows, worst, most = set[int](), (0, -1), 0.0
    for j, values in enumerate([table.y, *table.X.T], -1):
        ratio, far = _far(values)
        rows |= set(far.tolist())
        if far.size and ratio.max() > most:
            worst, most = (int(ratio.argmax()), j), float(ratio.max())
    if not rows:
        return []
    i, j = worst
    name = "y" if j < 0 else f"column {_called(table, j)}"
    value = float(table.y[i] if j < 0 else table.X[i, j])
    row = f"row {int(table.row[i])} (from 0)"
    who = f"{row} is" if len(rows) == 1 else f"{len(rows):,} rows are"
    whose = "its" if len(rows) == 1 else f"of {row}"
    return [
        f"{who} far from all others: {whose} {name} is {value:.4g}, {most:.3g} times as far from the median as nine of "
        "ten are; correct what is wrong or leave it out, or give lapses=True if it is the answer"
    ]


def _far(values: Array) -> tuple[Array, Index]:
    """Return how far each number is from the median, in units of what is usual, and which are too far."""
    away = np.abs(values - np.median(values))
    usual = float(np.quantile(away, tuning.USUAL))
    if not usual:  # nine of ten are equal
        return away, np.empty(0, dtype=np.intp)
    ratio = away / usual
    far = np.flatnonzero(ratio > tuning.FAR)
    return ratio, far if len(far) <= max(tuning.FEW_FAR, tuning.FAR_SHARE * len(values)) else far[:0]


def copies(table: Table) -> int:
    """Return how many rows are exact copies of others, where answers are too fine for chance to make any; else 0.

    Examples
    --------
    >>> from mixsense.fitting.table import read_table
    >>> X, y = np.arange(100.0)[:, None] % 7, np.sqrt(np.arange(100.0))
    >>> copies(read_table(np.tile(X, (2, 1)), np.tile(y, 2), None, None)), copies(read_table(X, np.rint(y), None, None))
    (100, 0)
    """
    answers = len(np.unique(table.y))
    if answers == len(table.y) or table.counts is not None:  # the usual case, without another copy of the table
        return 0
    different = len(np.unique(np.column_stack([table.X, table.y]), axis=0))
    return len(table.y) - different if answers >= tuning.FINE * different else 0


def same_as_answers(table: Table, columns: Sequence[int]) -> list[int]:
    """Return the columns that are the answers themselves, in other units and up to rounding, where there are others.

    Examples
    --------
    >>> from mixsense.fitting.table import read_table
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> same_as_answers(read_table(X, 2 * X[:, 1], None, None), [0, 1])
    [1]
    """
    y = table.y - table.y.mean()
    size = float(np.linalg.norm(y))
    if len(columns) < 2 or not size:
        return []
    found = []
    for j in columns:
        x = table.X[:, j] - table.X[:, j].mean()
        norm = float(np.linalg.norm(x))
        if norm and abs(float((x / norm) @ (y / size))) > 1 - tuning.COPY:
            found.append(j)
    return found


def _called(table: Table, j: int) -> str:
    return shown(j if table.names is None else table.names[j], tuning.LONGEST_NAME)
