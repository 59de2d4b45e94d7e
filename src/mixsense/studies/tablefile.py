"""Tables in CSV and Parquet files: written for any spreadsheet, read back as spreadsheets leave them."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixsense.checks import for_owner, one_line, require, shown
from mixsense.errors import InvalidInput

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
FILE_KINDS = (".csv", ".parquet")
DELIMITERS = ",;\t"
LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line: also that of an old Macintosh, as spreadsheets still write it."""
CELL_BYTES = 40
"""A cell that is longer than this is not a number, nor an id."""
USUAL_BYTES = 64 * 2**20
"""A file of this size is read whatever the study: comments and other columns may be long."""
ROWS_AT_ONCE = 1000
"""Rows of a Parquet file that are held in memory: a small file can have many long cells."""
GROUP = "group"
"""The title of the column with the respondents' numbers."""
FilePath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row with an answer: where it stands ("line 3"), its id, its answer, and the cells of the features by number.

    Rows of a file with the same group have one respondent; None says that nothing is known.
    """

    where: str
    id: Any
    answer: Any
    x: dict[int, Any]
    group: Any = None


def kind_of(path: FilePath) -> str:
    """Return ".csv" or ".parquet", or say that the file is neither."""
    kind = Path(path).suffix.lower()
    if kind not in FILE_KINDS or "\0" in os.fspath(path):
        raise InvalidInput(f"the file {shown(str(path))} is neither .csv nor .parquet: give one of these")
    return kind


def check_target(path: FilePath, force: bool) -> None:
    """Say at once what would keep a file from being written; a file that is there is replaced only by `force`."""
    there = os.path.lexists(path)
    if there and not force and not os.path.isdir(path):
        raise InvalidInput(
            f"{path} is there already, and may hold answers: give another file, or replace it with --force (force=True)"
        )
    try:
        with open(path, "ab" if there else "xb"):
            pass
        if not there:
            os.unlink(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def write_table(path: FilePath, columns: dict[str, list[Any]]) -> None:
    """Write columns, all of the same length; a new file can be read by its owner only."""
    try:
        if kind_of(path) == ".csv":
            with open(path, "w", newline="", encoding="utf-8", opener=for_owner) as file:
                writer = csv.writer(file)
                writer.writerow([harmless(name) for name in columns])
                writer.writerows(zip(*columns.values(), strict=True))
        else:
            pa, pq = _pyarrow()
            kinds = {"id": pa.string(), "round": pa.int64(), "group": pa.int64(), "surplus": pa.bool_()}
            arrays = {name: pa.array(column, kinds.get(name, pa.float64())) for name, column in columns.items()}
            with open(path, "wb", opener=for_owner) as file:
                pq.write_table(pa.table(arrays), file)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: FilePath, error: OSError) -> InvalidInput:
    return InvalidInput(f"{path} cannot be written ({error.strerror or error}): give another file")


def harmless(cell: str) -> str:
    """Return a cell that no spreadsheet runs as a formula.

    Examples
    --------
    >>> harmless("=HYPERLINK(1)"), harmless("strength")
    ("'=HYPERLINK(1)", 'strength')
    """
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell


def as_number(text: str) -> float:
    """Return the number that a text says, or say what is needed."""
    try:
        if "_" in text:  # Python reads 1_000, nobody else does
            raise ValueError
        return float(text)
    except ValueError:
        hint = " with a decimal point" if "," in text else ""
        raise InvalidInput(f"the answer is {shown(text)}: give a number{hint}") from None


def read_rows(path: FilePath, labels: list[str], most: int) -> Iterator[FileRow]:
    """Yield each row that has an answer.

    Parameters
    ----------
    path : path
        A .csv or .parquet file.
    labels : list of str
        The titles of the features' columns, where the file has them.
    most : int
        A file with more rows is refused, before they are read: it cannot be one of this study, and might be without
        end.
    """
    read = _csv_rows if kind_of(path) == ".csv" else _parquet_rows
    if os.path.lexists(path) and not os.path.isfile(path):  # a pipe would be waited for
        raise InvalidInput(f"{path} cannot be read (it is not a regular file): give another file")
    return read(path, labels, most)


def _check_rows(path: FilePath, rows: int, most: int) -> None:
    if rows > most:
        raise InvalidInput(
            f"{path} has {rows:,} rows or more, and this study takes {most:,} at most: give a file with the answers to "
            "its questions; nothing was stored"
        )


def _csv_rows(path: FilePath, labels: list[str], most: int) -> Iterator[FileRow]:
    text = _read_text(path, max(USUAL_BYTES, most * (len(labels) + 4) * CELL_BYTES))
    delimiter = _delimiter(LINE_END.split(text, maxsplit=1)[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [cell.strip() for cell in next(reader, [])]
        at_id, at_answer = (_column(columns, name, path) for name in ("id", "answer"))
        at, at_group = _feature_places(columns, labels, path), _group_place(columns, path)
        rows = (row for row in reader if any(cell.strip() for cell in row))  # spreadsheets write many that are empty
        for number, row in enumerate(rows, start=1):
            where = f"line {reader.line_num}"
            _check_rows(path, number, most)
            if len(row) != len(columns):
                raise InvalidInput(
                    f"{path}, {where}: {len(row)} cells under {len(columns)} columns; nothing was stored"
                )
            cells = [_decimal_point(cell.strip(), delimiter) for cell in row]
            if cells[at_answer]:
                given = {j: cells[i] for j, i in at.items() if cells[i]}
                group = None if at_group is None else cells[at_group] or None
                yield FileRow(where, cells[at_id], cells[at_answer], given, group)
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {reader.line_num}: not CSV ({error}); nothing was stored") from None


def _delimiter(head: str) -> str:
    """Return what separates the titles: the one that lets us see our columns, else the most frequent."""
    likely = sorted(DELIMITERS, key=head.count, reverse=True)
    for delimiter in likely:
        titles = next(csv.reader([head.strip()], delimiter=delimiter), []) if len(head) < 100_000 else []
        if {"id", "answer"} <= {title.strip().lower() for title in titles}:
            return delimiter
    return likely[0]


def _decimal_point(cell: str, delimiter: str) -> str:
    """Read 6,5 as 6.5 where the comma does not separate cells, as spreadsheets in many languages write it."""
    whole, comma, digits = cell.partition(",")
    is_number = whole.lstrip("+-").isdigit() and digits[:1].isdigit() and "," not in digits and "." not in digits
    return f"{whole}.{digits}" if delimiter != "," and comma and is_number else cell


def _read_text(path: FilePath, most: int) -> str:
    try:
        size = os.path.getsize(path)
        if size > most:
            raise InvalidInput(f"{path} has {size:,} bytes, a file of this study {most:,} at most: give another file")
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}): give another file") from None
    except UnicodeDecodeError as error:
        line = len(LINE_END.split(error.object[: error.start].decode("latin-1")))
        raise InvalidInput(f"{path}, line {line}: not UTF-8: save it as CSV in UTF-8; nothing was stored") from None


def _places(columns: list[str], name: str) -> list[int]:
    """Return which columns have a title: as it is written or, if none has, in any case."""
    exact = [i for i, column in enumerate(columns) if column == name]
    return exact or [i for i, column in enumerate(columns) if column.casefold() == name.casefold()]


def _column(columns: list[str], name: str, path: FilePath) -> int:
    places = _places(columns, name)
    if len(places) != 1:
        found = ", ".join(shown(column, 20) for column in columns[:10])
        many = "more than one" if places else "no"
        raise InvalidInput(f"{path}, line 1: there is {many} column {name!r} (found: {found}); nothing was stored")
    return places[0]


def _feature_places(columns: list[str], labels: list[str], path: FilePath) -> dict[int, int]:
    """Return the column of each feature that the file has."""
    titles = [harmless(label) if _places(columns, harmless(label)) else label for label in labels]
    return {j: _column(columns, title, path) for j, title in enumerate(titles) if _places(columns, title)}


def _group_place(columns: list[str], path: FilePath) -> int | None:
    """Return the column that says which answers have one respondent, if the file has it."""
    return _column(columns, GROUP, path) if _places(columns, GROUP) else None


def _parquet_rows(path: FilePath, labels: list[str], most: int) -> Iterator[FileRow]:
    pa, pq = _pyarrow()
    try:
        with pq.ParquetFile(os.fspath(path)) as file:
            _check_rows(path, file.metadata.num_rows, most)
            titles = file.schema_arrow.names
            at_id, at_answer = (_column(titles, name, path) for name in ("id", "answer"))
            at, at_group = _feature_places(titles, labels, path), _group_place(titles, path)
            groups = at_answer if at_group is None else at_group
            rows = (
                row
                for batch in file.iter_batches(batch_size=ROWS_AT_ONCE)
                for row in zip(*(_cells(path, batch, i) for i in (at_id, at_answer, groups, *at.values())), strict=True)
            )
            for number, (id_, value, group, *cells) in enumerate(rows, start=1):
                if value is not None:
                    given = {j: cell for j, cell in zip(at, cells, strict=True) if cell is not None}
                    yield FileRow(f"row {number}", id_, value, given, None if at_group is None else group)
    except FileNotFoundError:
        raise InvalidInput(f"{path} cannot be read (there is no such file): give another file") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not a Parquet file ({one_line(error, 120)}); nothing was stored") from None


def _cells(path: FilePath, batch: Any, column: int) -> list[Any]:
    """Return the cells of a column as Python has them."""
    try:
        found: list[Any] = batch.column(column).to_pylist()
        return found
    except (ValueError, OverflowError) as error:  # text that is not UTF-8, a time beyond all calendars
        title = shown(batch.schema.names[column])
        raise InvalidInput(
            f"{path}, column {title}: it cannot be read ({one_line(error, 80)}): give text and numbers; "
            "nothing was stored"
        ) from None


def _pyarrow() -> tuple[Any, Any]:
    return require("pyarrow", "study", "Parquet needs"), require("pyarrow.parquet", "study", "Parquet needs")
