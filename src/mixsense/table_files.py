"""CSV and Parquet files as spreadsheets and programs leave them, read row by row; a message says where it is wrong."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mixsense.checks import one_line, require, shown
from mixsense.errors import InvalidInput

DELIMITERS = ",;\t"
"""What may separate the cells of a CSV file."""
LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line: also that of an old Macintosh, as spreadsheets still write it."""
LONGEST_HEAD = 100_000
"""A first line that is longer has no titles."""
ROWS_AT_ONCE = 1000
"""Rows of a Parquet file that are held in memory: a small file can have many long cells."""
FilePath = str | os.PathLike[str]


class Needed(NamedTuple):
    """What is wanted of a file."""

    choose: Callable[[list[str]], Sequence[int]]
    """Which columns are read, of the titles; it refuses titles that are wrong."""
    titles: frozenset[str]
    """Titles that the file should have: they show what separates the cells."""
    check: Callable[[int, int], None]
    """Refuses more rows than there may be, of how many columns: before they are read, where the file says so."""
    most_bytes: int
    """The largest CSV file."""


class Cells(NamedTuple):
    """The chosen cells of a row, and where it stands ("line 3"); what is empty is None, and text is stripped."""

    where: str
    cells: list[Any]


def read_cells(path: FilePath, needed: Needed) -> Iterator[Cells]:
    """Yield the rows of a file that ends with .parquet, or else is CSV; empty lines of CSV are passed over."""
    if not os.path.isfile(path):  # a pipe would be waited for
        why = "it is not a regular file" if os.path.lexists(path) else "there is no such file"
        raise InvalidInput(f"{path} cannot be read ({why}): give another file")
    return _parquet(path, needed) if Path(path).suffix.lower() == ".parquet" else _csv(path, needed)


def _csv(path: FilePath, needed: Needed) -> Iterator[Cells]:
    text = _read_text(path, needed.most_bytes)
    delimiter = delimiter_of(LINE_END.split(text, maxsplit=1)[0], needed.titles)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        titles = [cell.strip() for cell in next(reader, [])]
        places = needed.choose(titles)
        rows = (row for row in reader if any(cell.strip() for cell in row))  # spreadsheets write many that are empty
        for number, row in enumerate(rows, start=1):
            where = f"line {reader.line_num}"
            needed.check(number, len(places))
            if len(row) != len(titles):
                raise InvalidInput(f"{path}, {where}: {len(row)} cells under {len(titles)} columns")
            yield Cells(where, [decimal_point(row[i].strip(), delimiter) or None for i in places])
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {reader.line_num}: not CSV ({error})") from None


def _read_text(path: FilePath, most: int) -> str:
    try:
        size = os.path.getsize(path)
        if size > most:
            raise InvalidInput(f"{path} has {size:,} bytes, and may have {most:,} at most: give another file")
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}): give another file") from None
    except UnicodeDecodeError as error:
        line = len(LINE_END.split(error.object[: error.start].decode("latin-1")))
        raise InvalidInput(f"{path}, line {line}: not UTF-8: save it as CSV in UTF-8") from None


def delimiter_of(head: str, titles: frozenset[str]) -> str:
    """Return what separates the cells of a first line: what shows titles that are needed, else the most frequent.

    Examples
    --------
    >>> delimiter_of('"a, b";"c, d";y', frozenset({"y"})), delimiter_of("a,b;c,y", frozenset())
    (';', ',')
    """
    likely = sorted(DELIMITERS, key=head.count, reverse=True)
    needed = {title.casefold() for title in titles}
    for delimiter in likely if len(head) < LONGEST_HEAD else ():
        try:
            found = next(csv.reader([head.strip()], delimiter=delimiter), [])
        except csv.Error:
            continue
        if needed <= {title.strip().casefold() for title in found}:
            return delimiter
    return likely[0]


def decimal_point(cell: str, delimiter: str) -> str:
    """Read 6,5 as 6.5 where the comma does not separate cells, as spreadsheets in many languages write it.

    Examples
    --------
    >>> decimal_point("6,5", ";"), decimal_point("6,5", ","), decimal_point("1,006,5", ";")
    ('6.5', '6,5', '1,006,5')
    """
    whole, comma, digits = cell.partition(",")
    is_number = whole.lstrip("+-").isdigit() and digits[:1].isdigit() and "," not in digits and "." not in digits
    return f"{whole}.{digits}" if delimiter != "," and comma and is_number else cell


def _parquet(path: FilePath, needed: Needed) -> Iterator[Cells]:
    pa, pq = pyarrow()
    try:
        with open(path, "rb") as opened, pq.ParquetFile(opened) as file:
            titles = list(map(str, file.schema_arrow.names))
            chosen = [titles[i] for i in needed.choose(titles)]
            needed.check(file.metadata.num_rows, len(chosen))
            batches = file.iter_batches(batch_size=ROWS_AT_ONCE, columns=chosen)
            rows = (
                row for batch in batches for row in zip(*(_column(path, batch, title) for title in chosen), strict=True)
            )
            for number, row in enumerate(rows, start=1):
                yield Cells(f"row {number}", list(row))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not a Parquet file ({one_line(error, 120)}): give another file") from None


def _column(path: FilePath, batch: Any, title: str) -> list[Any]:
    """Return the cells of a column as Python has them."""
    try:
        cells = batch.column(batch.schema.names.index(title)).to_pylist()
    except (ValueError, OverflowError) as error:  # text that is not UTF-8, a time beyond all calendars
        why = one_line(error, 80)
        raise InvalidInput(f"{path}, column {shown(title)}: it cannot be read ({why}): give text and numbers") from None
    return [cell.strip() or None if isinstance(cell, str) else cell for cell in cells]


def pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its part for Parquet, or say how to get them."""
    return require("pyarrow", "study", "Parquet needs"), require("pyarrow.parquet", "study", "Parquet needs")
