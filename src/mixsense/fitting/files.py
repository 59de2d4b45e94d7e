"""Tables in files: CSV and Parquet, read into what `fit` takes."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import shown
from mixsense.errors import InvalidInput
from mixsense.fitting import tuning
from mixsense.frames import is_missing
from mixsense.table_files import Needed, read_cells

FILE_KINDS = (".csv", ".tsv", ".parquet")


class FileTable(NamedTuple):
    """What `fit` takes, out of a file."""

    X: Array
    y: Array
    groups: list[Any] | None
    names: tuple[str, ...]


def read_file(
    path: str | os.PathLike[str], answer: str, group: str | None = None, columns: Sequence[str] | None = None
) -> FileTable:
    """Read a table from a .csv or .parquet file; other columns than those that are needed are not read.

    Parameters
    ----------
    path : path
        The file; the first line of a CSV file has the names of the columns.
    answer : str
        The column with the answers.
    group : str, optional
        The column that says who answered.
    columns : sequence of str, optional
        The columns that the answers may depend on; all others by default.
    """
    path = Path(path)
    if path.suffix.lower() not in FILE_KINDS:
        raise InvalidInput(f"{path} is neither CSV nor Parquet: give a file whose name ends with .csv or .parquet")
    aside = [answer] if group is None else [answer, group]
    _check_roles(aside, columns)
    names: list[str] = []

    def choose(titles: list[str]) -> Sequence[int]:
        names[:] = [title for title in titles if title not in aside] if columns is None else columns
        if not names:
            raise InvalidInput(f"{path} has no column that the answers could depend on: give one at least")
        return _places(path, titles, [*aside, *names])

    def check(rows: int, width: int) -> None:
        if rows > (most := tuning.MOST_CELLS // width):
            raise InvalidInput(
                f"{path} has {rows:,} rows or more of {width} columns that are to be read, and {most:,} are read at "
                "most: give some of the rows, or of the columns with --columns"
            )

    needed = Needed(choose, frozenset({*aside, *(columns or ())}), check, tuning.MOST_BYTES)
    numbers, groups = array("d"), list[Any]()
    for where, (y, *cells) in read_cells(path, needed):
        if group is not None:
            label = cells.pop(0)
            groups.append(None if is_missing(label) else label)
        numbers.extend(
            _number(path, where, name, cell) for name, cell in zip((answer, *names), (y, *cells), strict=True)
        )
    table = np.frombuffer(numbers).reshape(-1, 1 + len(names)) if numbers else np.empty((0, 1 + len(names)))
    return FileTable(table[:, 1:], table[:, 0], None if group is None else groups, tuple(names))


def _check_roles(aside: Sequence[str], columns: Sequence[str] | None) -> None:
    """Refuse a column that is to be two things: answers explain themselves, and link whoever agrees."""
    roles = [*aside, *(columns or ())]
    for name in roles:
        if roles.count(name) > 1:
            what = "the answer" if name == aside[0] else "the group" if name in aside else "among the columns already"
            raise InvalidInput(f"column {shown(name, tuning.LONGEST_CELL)} is {what}: name each column once")


def _places(path: Path, titles: list[str], wanted: Sequence[str]) -> list[int]:
    """Return where the columns are, or say which is not there."""
    twice = [title for title in titles if titles.count(title) > 1]
    if twice or not titles:
        what = f"two columns {shown(twice[0])}" if twice else "no columns"
        raise InvalidInput(f"{path} has {what}: give names once")
    for name in wanted:
        if name not in titles:
            there = ", ".join(shown(title, tuning.LONGEST_CELL) for title in titles[: tuning.MOST_LISTED])
            raise InvalidInput(f"{path} has no column {shown(name)}: it has {there}")
    return [titles.index(name) for name in wanted]


def _number(path: Path, where: str, name: str, cell: Any) -> float:
    """Return the number of a cell, NaN where it is missing."""
    try:
        if is_missing(cell):
            return math.nan
        if isinstance(cell, str) and "_" in cell:  # Python reads 1_000, nobody else does
            raise ValueError
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{path}, {where}, column {shown(name)}: {shown(cell, tuning.LONGEST_CELL)} is no number; leave it out "
            "with --columns, or give one column of 0 and 1 for each of its levels; if it says who answered, give it as "
            "--group"
        ) from None
