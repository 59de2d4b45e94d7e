"""Answers as files: CSV and Parquet, out to a field team and back."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mixsense.errors import InvalidInput
from mixsense.study.database import shown
from mixsense.study.question import Question
from mixsense.study.study import MOST, Study

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
KINDS = (".csv", ".parquet")
RESERVED = ("id", "round", "answer", "surplus")


def export_answers(study: Study, path: str | os.PathLike[str]) -> int:
    """Write all answers to a CSV or Parquet file, one row each, surplus ones marked; returns how many.

    Columns: id, round, the features in the user's units, surplus, answer.
    """
    kind = _kind(path)
    rows = study.answers()
    columns: dict[str, list[Any]] = {
        "id": [row["id"] for row in rows],
        "round": [row["round"] for row in rows],
        **_feature_columns(study, [row["x"] for row in rows]),
        "surplus": [bool(row["surplus"]) for row in rows],
        "answer": [row["answer"] for row in rows],
    }
    _write(path, kind, columns)
    return len(rows)


def export_open(study: Study, path: str | os.PathLike[str], count: int = MOST) -> int:
    """Take up to `count` open questions and write them to a file with an empty column `answer`; returns how many.

    The questions are leased as by `ask`. Fill the answers in, and give the file to `import_answers`.
    """
    kind = _kind(path)
    _write(path, kind, {})  # before any question is taken: can the file be written at all?
    questions: list[Question] = study.ask_many(count)
    columns: dict[str, list[Any]] = {
        "id": [q.id for q in questions],
        **_feature_columns(study, [q.x for q in questions]),
        "answer": [None] * len(questions),
    }
    _write(path, kind, columns)
    return len(questions)


def import_answers(study: Study, path: str | os.PathLike[str]) -> dict[str, int]:
    """Read a file with the columns `id` and `answer`, and store all its answers, or none if a single one is wrong.

    Rows without an answer are passed over. Reading the same file twice does no harm.

    Returns
    -------
    dict
        How many were "taken", "surplus" or "known"; see `Study.tell`.
    """
    kind = _kind(path)
    told: dict[str, tuple[float, str]] = {}
    for where, id_, value in _csv_rows(path) if kind == ".csv" else _parquet_rows(path):
        try:
            study.checked_id(id_)
            number = study.checked(as_number(value) if isinstance(value, str) else value)
            before = told.setdefault(id_, (number, where))
            if before[0] != number:
                raise InvalidInput(f"question {id_} has the answer {number:g} here and {before[0]:g} in {before[1]}")
        except InvalidInput as error:
            raise InvalidInput(f"{path}, {where}: {error}; nothing was stored", file=str(path)) from None
    try:
        outcome = study.tell_many((id_, number) for id_, (number, _) in told.items())
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}; nothing was stored", file=str(path)) from None
    found = Counter(outcome)
    return {what: found[what] for what in ("taken", "surplus", "known")}


def _kind(path: str | os.PathLike[str]) -> str:
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise InvalidInput(f"the file {shown(str(path))} is neither .csv nor .parquet: give one of these")
    return kind


def _feature_columns(study: Study, rows: list[Any]) -> dict[str, list[float]]:
    """Columns of the features; one that is called like a column of ours gets a longer name."""
    labels = [f"feature {name}" if name in RESERVED else name for name in study.names]
    return {label: [float(x[j]) for x in rows] for j, label in enumerate(labels)}


def harmless(cell: str) -> str:
    """Return a cell that no spreadsheet runs as a formula.

    Examples
    --------
    >>> harmless("=HYPERLINK(1)"), harmless("strength")
    ("'=HYPERLINK(1)", 'strength')
    """
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _write(path: str | os.PathLike[str], kind: str, columns: dict[str, list[Any]]) -> None:
    try:
        if kind == ".csv":
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow([harmless(name) for name in columns])
                writer.writerows(zip(*columns.values(), strict=True))
        else:
            pa, pq = _pyarrow()
            kinds = {"id": pa.string(), "round": pa.int64(), "surplus": pa.bool_()}
            arrays = {name: pa.array(column, kinds.get(name, pa.float64())) for name, column in columns.items()}
            pq.write_table(pa.table(arrays), os.fspath(path))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written ({error.strerror or error}): give another file") from None


def as_number(text: str) -> float:
    """Return the number that a text says, or say what is needed."""
    try:
        if "_" in text:  # Python reads 1_000, nobody else does
            raise ValueError
        return float(text)
    except ValueError:
        hint = " with a decimal point" if "," in text else ""
        raise InvalidInput(f"the answer is {shown(text)}: give a number{hint}") from None


def _csv_rows(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (line, id, answer) of each row that has an answer."""
    text = _read_text(path)
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [cell.strip() for cell in next(reader, [])]
        at_id, at_answer = (_column(columns, name, path) for name in ("id", "answer"))
        for row in reader:
            where = f"line {reader.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(columns):
                raise InvalidInput(
                    f"{path}, {where}: {len(row)} cells under {len(columns)} columns; nothing was stored"
                )
            if row[at_answer].strip():
                yield where, row[at_id].strip(), row[at_answer].strip()
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {reader.line_num}: no CSV ({error}); nothing was stored") from None


def _read_text(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}): give another file") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidInput(f"{path}, line {line}: not UTF-8: save it as CSV in UTF-8; nothing was stored") from None


def _column(columns: list[str], name: str, path: Any) -> int:
    if columns.count(name) != 1:
        found = ", ".join(shown(column, 20) for column in columns[:10])
        many = "no" if name not in columns else "more than one"
        raise InvalidInput(f"{path}, line 1: there is {many} column {name!r} (found: {found}); nothing was stored")
    return columns.index(name)


def _parquet_rows(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, Any]]:
    pa, pq = _pyarrow()
    try:
        table = pq.read_table(os.fspath(path))
    except FileNotFoundError:
        raise InvalidInput(f"{path} cannot be read (there is no such file): give another file") from None
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInput(f"{path} is no Parquet file ({shown(reason, 120)}); nothing was stored") from None
    at_id, at_answer = (_column(table.column_names, name, path) for name in ("id", "answer"))
    pairs = zip(table.column(at_id).to_pylist(), table.column(at_answer).to_pylist(), strict=True)
    for number, (id_, value) in enumerate(pairs, start=1):
        if value is not None:
            yield f"row {number}", id_, value


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise InvalidInput("Parquet needs pyarrow, which is not installed: pip install 'mixsense[study]'") from None
    return pyarrow, pyarrow.parquet
