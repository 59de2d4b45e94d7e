"""CSV and Parquet files as spreadsheets and programs leave them, read row by row; a message says where it is wrong."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
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
LONGEST_TEXT = 1000
"""Bytes of a cell of a Parquet file: numbers, ids and names of groups have fewer. Taste."""
TEXT_KINDS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
"""What a column of text may be in a Parquet file."""
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
    """The largest CSV file, or columns of a Parquet file, unpacked."""


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
            _check_size(path, file.metadata, chosen, needed.most_bytes)
            texts = [title for title in chosen if _is_text(path, pa, file.schema_arrow.field(title))]
            _check_texts(path, pq.ParquetFile(opened, metadata=file.metadata, read_dictionary=texts), texts)
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
        raise _unreadable(path, title, one_line(error, 80)) from None
    return [(sys.intern(cell.strip()) or None) if isinstance(cell, str) else cell for cell in cells]  # each text once


def _is_text(path: FilePath, pa: Any, column: Any) -> bool:
    """Return whether a column of a Parquet file holds text; one of lists or of very long cells is refused."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(kind) or (pa.types.is_fixed_size_binary(kind) and kind.byte_width > LONGEST_TEXT):
        raise _unreadable(path, column.name, f"it holds {shown(str(kind))}")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in TEXT_KINDS)


def _check_texts(path: FilePath, packed: Any, titles: list[str]) -> None:
    """Refuse cells that are very long.

    Of `packed`, columns of text are read with each text once, as the file has them: a cell of 20 MB that stands in a
    thousand rows takes 1 kB of a file, and 20 GB of memory.
    """
    compute = require("pyarrow.compute", "study", "Parquet needs")
    for group in range(packed.num_row_groups if titles else 0):
        columns = packed.read_row_group(group, columns=titles)
        for title in titles:
            for part in columns.column(title).chunks:
                longest = compute.max(compute.binary_length(part.dictionary)).as_py()
                if (longest or 0) > LONGEST_TEXT:
                    raise _unreadable(path, title, f"a cell has {longest:,} bytes, and may have {LONGEST_TEXT:,}")


def _check_size(path: FilePath, about: Any, chosen: list[str], most: int) -> None:
    """Refuse columns that are larger than `most` bytes once they are unpacked."""
    groups = (about.row_group(i) for i in range(about.num_row_groups))
    columns = (group.column(i) for group in groups for i in range(group.num_columns))
    size = sum(column.total_uncompressed_size for column in columns if column.path_in_schema in chosen)
    if size > most:
        raise InvalidInput(
            f"{path} has {size:,} bytes in the columns that are to be read, and may have {most:,} at most: "
            "give another file"
        )


def _unreadable(path: FilePath, title: str, why: str) -> InvalidInput:
    return InvalidInput(f"{path}, column {shown(title)}: it cannot be read ({why}): give text and numbers")


def pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its part for Parquet, or say how to get them."""
    return require("pyarrow", "study", "Parquet needs"), require("pyarrow.parquet", "study", "Parquet needs")
