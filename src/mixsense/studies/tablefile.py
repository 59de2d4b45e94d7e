"""Tables in CSV and Parquet files: written for any spreadsheet, read back as spreadsheets leave them."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixsense.checks import shown
from mixsense.errors import InvalidInput
from mixsense.frames import is_missing
from mixsense.table_files import FilePath, Needed, pyarrow, read_cells
from mixsense.whole_file import write_whole

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
FILE_KINDS = (".csv", ".parquet")
CELL_BYTES = 40
"""A cell that is longer than this is not a number, nor an id."""
USUAL_BYTES = 64 * 2**20
"""A file of this size is read whatever the study: comments and other columns may be long."""
OURS = ("id", "answer")
"""The columns that a file must have."""
GROUP = "group"
"""The title of the column with the respondents' numbers."""


LARGEST_PLAIN = 1e15
"""From here on a number has more digits than anybody reads, and up to here whole numbers are exact."""


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
    kind_of(path)
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
    """Write columns, all of the same length, wholly or not at all; a new file can be read by its owner only."""
    try:
        write_whole(path, _as_csv(columns) if kind_of(path) == ".csv" else _as_parquet(columns), private=True)
    except OSError as error:
        raise _unwritable(path, error) from None


def _as_csv(columns: dict[str, list[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([harmless(name) for name in columns])
    writer.writerows([map(_plain, row) for row in zip(*columns.values(), strict=True)])
    return text.getvalue().encode()


def _plain(cell: Any) -> Any:
    """Return a whole number without a decimal point, as people write it.

    Examples
    --------
    >>> _plain(4.0), _plain(0.5), _plain(True), _plain("4.0")
    (4, 0.5, True, '4.0')
    """
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < LARGEST_PLAIN else cell


def _as_parquet(columns: dict[str, list[Any]]) -> bytes:
    pa, pq = pyarrow()
    kinds = {"id": pa.string(), "round": pa.int64(), "group": pa.int64(), "surplus": pa.bool_()}
    arrays = {name: pa.array(column, kinds.get(name, pa.float64())) for name, column in columns.items()}
    content = io.BytesIO()
    pq.write_table(pa.table(arrays), content)
    return content.getvalue()


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
    kind_of(path)
    features: list[int] = []
    grouped = False

    def choose(titles: list[str]) -> Sequence[int]:
        nonlocal grouped
        at = _feature_places(titles, labels, path)
        groups = [_column(titles, GROUP, path)] if _places(titles, GROUP) else []
        features[:], grouped = at, bool(groups)
        return [*(_column(titles, name, path) for name in OURS), *groups, *at.values()]

    def check(rows: int, _: int) -> None:
        if rows > most:
            raise InvalidInput(
                f"{path} has {rows:,} rows or more, and this study takes {most:,} at most: give a file with the "
                "answers to its questions"
            )

    largest = max(USUAL_BYTES, most * (len(labels) + 4) * CELL_BYTES)
    try:
        for where, (id_, answer, *rest) in read_cells(path, Needed(choose, frozenset(OURS), check, largest)):
            if answer is not None:
                group, cells = (rest[0], rest[1:]) if grouped else (None, rest)
                given = {j: cell for j, cell in zip(features, cells, strict=True) if cell is not None}
                yield FileRow(where, id_, answer, given, _label(path, where, group))
    except InvalidInput as error:
        raise InvalidInput(f"{error}; nothing was stored") from None


def _label(path: FilePath, where: str, group: Any) -> Any:
    """Return what names a group, None for nobody."""
    try:
        hash(group)
    except TypeError:  # a list, or an object
        raise InvalidInput(f"{path}, {where}: the group is {shown(group, 30)}: give text or a number") from None
    return None if is_missing(group) else group


def _places(columns: list[str], name: str) -> list[int]:
    """Return which columns have a title: as it is written or, if none has, in any case."""
    exact = [i for i, column in enumerate(columns) if column == name]
    return exact or [i for i, column in enumerate(columns) if column.casefold() == name.casefold()]


def _column(columns: list[str], name: str, path: FilePath) -> int:
    places = _places(columns, name)
    if len(places) != 1:
        found = ", ".join(shown(column, 20) for column in columns[:10])
        many = "more than one" if places else "no"
        raise InvalidInput(f"{path}, line 1: there is {many} column {name!r} (found: {found})")
    return places[0]


def _feature_places(columns: list[str], labels: list[str], path: FilePath) -> dict[int, int]:
    """Return the column of each feature that the file has."""
    titles = [harmless(label) if _places(columns, harmless(label)) else label for label in labels]
    return {j: _column(columns, title, path) for j, title in enumerate(titles) if _places(columns, title)}
