"""Tables in files: CSV and Parquet, read into columns."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import one_line, require, shown
from mixsense.errors import InvalidInput

DELIMITERS = ",;\t"
"""What may separate the cells of a CSV file."""
MISSING = ("", "na", "n/a", "nan", "null", "none", ".")
"""What stands for a missing value, in any case of letters."""
LISTED = 10
"""A message lists at most this many columns."""
LONGEST = 30
"""Letters of a cell, or of a name, in a message."""

Columns = dict[str, list[Any]]


class FileTable(NamedTuple):
    """What `fit` takes, out of a file."""

    X: Array
    y: Array
    groups: list[Any] | None
    names: tuple[str, ...]


def read_file(
    path: str | os.PathLike[str], answer: str, group: str | None = None, columns: Sequence[str] | None = None
) -> FileTable:
    """Read a table from a .csv or .parquet file.

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
    readers = {".csv": _csv, ".tsv": _csv, ".parquet": _parquet}
    if path.suffix.lower() not in readers:
        raise InvalidInput(f"{path} is neither CSV nor Parquet: give a file whose name ends with .csv or .parquet")
    if not path.is_file():
        raise InvalidInput(f"{path} cannot be read ({'it is no file' if path.exists() else 'there is no such file'})")
    table = readers[path.suffix.lower()](path)
    aside = [answer] if group is None else [answer, group]
    names = [name for name in table if name not in aside] if columns is None else list(columns)
    for name in (*aside, *names):
        if name not in table:
            there = ", ".join(shown(found, LONGEST) for found in [*table][:LISTED])
            raise InvalidInput(f"{path} has no column {shown(name)}: it has {there}")
    if not names:
        raise InvalidInput(f"{path} has no column that the answers could depend on: give one at least")
    X = np.column_stack([_numbers(path, name, table[name]) for name in names])
    people = None if group is None else [None if _missing(cell) else cell for cell in table[group]]
    return FileTable(X, _numbers(path, answer, table[answer]), people, tuple(names))


def _missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().casefold() in MISSING)


def _numbers(path: Path, name: str, cells: list[Any]) -> Array:
    """Return the numbers of a column, NaN where one is missing."""
    found = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            found[i] = np.nan if _missing(cell) else float(cell)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"{path}, column {shown(name)}, row {i + 1}: {shown(cell, LONGEST)} is no number; leave it out "
                "with --columns, or give one column of 0 and 1 for each of its levels"
            ) from None
    return found


def _named(path: Path, names: list[str]) -> list[str]:
    twice = [name for name in names if names.count(name) > 1]
    if twice or not names:
        raise InvalidInput(f"{path} has {'two columns ' + shown(twice[0]) if twice else 'no columns'}: give names once")
    return names


def _csv(path: Path) -> Columns:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8: save it as CSV in UTF-8") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}): give another file") from None
    head = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = _named(path, [cell.strip() for cell in next(reader, [])])
        rows = [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {reader.line_num}: not CSV ({error})") from None
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise InvalidInput(f"{path}, row {number}: {len(row)} cells under {len(names)} columns")
    if delimiter != ",":  # as spreadsheets in many languages write numbers
        rows = [[_decimal_point(cell) for cell in row] for row in rows]
    return {name: [row[j].strip() for row in rows] for j, name in enumerate(names)}


def _decimal_point(cell: str) -> str:
    """Return 6,5 as 6.5."""
    whole, comma, digits = cell.strip().partition(",")
    return f"{whole}.{digits}" if comma and whole.lstrip("+-").isdigit() and digits[:1].isdigit() else cell


def _parquet(path: Path) -> Columns:
    pa = require("pyarrow", "study", "Parquet needs")
    pq = require("pyarrow.parquet", "study", "Parquet needs")
    try:
        table = pq.read_table(os.fspath(path))
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput(f"{path} is not a Parquet file ({one_line(error, 100)}): give another file") from None
    names = _named(path, list(map(str, table.column_names)))
    return {name: table.column(j).to_pylist() for j, name in enumerate(names)}
