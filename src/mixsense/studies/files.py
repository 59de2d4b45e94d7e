"""Answers as files: CSV and Parquet, out to a field team and back."""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from decimal import Decimal, InvalidOperation
from typing import Any

from mixsense.checks import shown
from mixsense.errors import InvalidInput
from mixsense.studies.records import Question
from mixsense.studies.storage.people import GROUP_BITS
from mixsense.studies.study import MOST_AT_ONCE, Study
from mixsense.studies.tablefile import FileRow, as_number, check_target, read_rows, write_table
from mixsense.table_files import FilePath

OWN_COLUMNS = ("id", "round", "group", "answer", "surplus")
ROWS_PER_QUESTION = 2
"""A file may say everything twice: two files that were put together."""
OTHER_ROWS = 10_000
"""Rows that are taken besides, answered or not."""
ROUNDING = 1e-6
"""Two values of a feature are the same up to this, relative to their size, or up to the digits that were printed."""


def export_answers(study: Study, path: FilePath, force: bool = False) -> int:
    """Write all answers to a CSV or Parquet file, one row each, surplus ones marked; returns how many.

    Columns: id, round, the features in the user's units, group, surplus, answer. Answers with the same number in the
    column `group` have one respondent; an empty cell says that nothing is known. A file that is there is replaced only
    if `force` is True.
    """
    check_target(path, force)
    rows = study.answers()
    columns: dict[str, list[Any]] = {
        "id": [row["id"] for row in rows],
        "round": [row["round"] for row in rows],
        **_feature_columns(study, [row["x"] for row in rows]),
        "group": _numbered([row["group"] for row in rows]),
        "surplus": [bool(row["surplus"]) for row in rows],
        "answer": [row["answer"] for row in rows],
    }
    write_table(path, columns)
    return len(rows)


def export_open(study: Study, path: FilePath, count: int = MOST_AT_ONCE, force: bool = False) -> int:
    """Take up to `count` open questions and write them to a file with empty columns `group` and `answer`.

    Returns how many. The questions are leased as by `ask`. Fill the answers in, a number of your own for each
    respondent who answers several, and give the file to `import_answers`. No file is written if all questions are out;
    one that is there is replaced only if `force` is True.
    """
    check_target(path, force)  # before any question is taken
    questions: list[Question] = study.ask_many(count, patient=True)
    if not questions:
        return 0
    columns: dict[str, list[Any]] = {
        "id": [q.id for q in questions],
        **_feature_columns(study, [q.x for q in questions]),
        "group": [None] * len(questions),
        "answer": [None] * len(questions),
    }
    write_table(path, columns)
    return len(questions)


def import_answers(study: Study, path: FilePath) -> dict[str, int]:
    """Read a file with the columns `id` and `answer`, and store all its answers, or none if a single one is wrong.

    Rows without an answer are passed over. Rows of one file that say the same in a column `group` have one respondent:
    that of a token, if one of the questions was handed to one. What they say is not stored, and a group that cannot
    be is refused; an empty one says nothing. Where the file has columns of features, each value must be the question's
    own, up to rounding: a column that was sorted by itself is noticed. Reading the same file twice does no harm.

    Returns
    -------
    dict
        How many were "taken", "surplus" or "known"; see `Study.tell`.
    """
    told: dict[str, tuple[float, FileRow]] = {}
    rows: list[FileRow] = []
    now = study.progress()
    asked = now.total + now.size + now.expired  # no more were handed out
    for row in read_rows(path, _labels(study), ROWS_PER_QUESTION * asked + OTHER_ROWS):
        try:
            study.ticket_of(row.id)
            number = study.checked(as_number(row.answer) if isinstance(row.answer, str) else row.answer)
            before, first = told.setdefault(row.id, (number, row))
            if before != number:
                raise InvalidInput(f"question {row.id} has another answer in {first.where}: give one of them")
        except InvalidInput as error:
            raise _refused(path, row, error) from None
        rows.append(row)
    _check_features(study, path, rows)
    groups = _groups(study, path, rows)
    try:
        outcome = study.tell_many(
            [(id_, number) for id_, (number, _) in told.items()], [groups.get(id_) for id_ in told]
        )
    except InvalidInput as error:
        raise _refused(path, told[study.id_of(error.ticket)][1], error) from None
    found = Counter(outcome)
    return {what: found[what] for what in ("taken", "surplus", "known")}


def _groups(study: Study, path: FilePath, rows: list[FileRow]) -> dict[str, int | None]:
    """Return the group of each question whose row has one, or say which rows cannot both be right."""

    def same(first: FileRow, row: FileRow, why: str) -> None:
        if first.group != row.group:
            raise _refused(path, row, InvalidInput(f"{why} {first.where}: give one group, or none"))

    said: dict[str, FileRow] = {}
    for row in rows:
        if row.group is not None:
            same(said.setdefault(row.id, row), row, f"question {row.id} has another group in")
    numbers: dict[Any, tuple[int, FileRow]] = {}
    labels: dict[int, FileRow] = {}
    known = study.respondents(said)
    for id_, row in said.items():
        if id_ not in known:
            continue
        if (group := known[id_]) is None:
            why = f"question {id_} was answered before without a group, and an answer is never changed"
            raise _refused(path, row, InvalidInput(f"{why}: leave its group empty"))
        number, first = numbers.setdefault(row.group, (group, row))
        if number != group:
            why = f"question {id_} has another respondent than that in {first.where}, and the same group"
            raise _refused(path, row, InvalidInput(f"{why}: give each a group, or none"))
        same(labels.setdefault(group, row), row, f"question {id_} has another group than the same respondent's in")
    new: defaultdict[Any, int] = defaultdict(lambda: secrets.randbits(GROUP_BITS))
    return {id_: numbers[row.group][0] if row.group in numbers else new[row.group] for id_, row in said.items()}


def _numbered(groups: list[int | None]) -> list[int | None]:
    """Return groups with small numbers, in the order of the design: a spreadsheet cuts long ones off.

    Examples
    --------
    >>> _numbered([None, 2**60, 5, 2**60])
    [None, 1, 2, 1]
    """
    places: dict[int, int] = {}
    return [None if group is None else places.setdefault(group, len(places) + 1) for group in groups]


def _refused(path: FilePath, row: FileRow, error: Exception) -> InvalidInput:
    return InvalidInput(f"{path}, {row.where}: {error}; nothing was stored", file=str(path))


def _labels(study: Study) -> list[str]:
    """Return the features' titles; one that is called like a column of ours gets a longer name, which no other has."""
    titles = []
    for name in study.names:
        title = name
        while title.casefold() in OWN_COLUMNS or (title != name and title in study.names):
            title = f"feature {title}"
        titles.append(title)
    return titles


def _feature_columns(study: Study, rows: list[Any]) -> dict[str, list[float]]:
    return {label: [float(x[j]) for x in rows] for j, label in enumerate(_labels(study))}


def _check_features(study: Study, path: FilePath, rows: list[FileRow]) -> None:
    """Refuse a row whose features are not those of its question."""
    rows = [row for row in rows if row.x]
    asked = study.handed_out(row.id for row in rows)
    for row in rows:
        if row.id not in asked:
            continue  # `tell` says so, with the same line
        for j, cell in row.x.items():
            if not same_value(cell, float(asked[row.id][j])):
                what = InvalidInput(
                    f"question {row.id} asks {study.names[j]} = {asked[row.id][j]:.6g}, and the file says "
                    f"{shown(cell, 30)}: keep each row as it was exported (was one column sorted by itself?)"
                )
                raise _refused(path, row, what)


def same_value(cell: Any, x: float) -> bool:
    """Return whether a cell holds x, as far as a spreadsheet kept its digits.

    Examples
    --------
    >>> same_value("0.33", 1 / 3), same_value("0.34", 1 / 3), same_value(0.3333333, 1 / 3)
    (True, False, True)
    """
    try:
        number = Decimal(cell) if isinstance(cell, (str, int, float, Decimal)) else Decimal("nan")
        if not number.is_finite():
            return False
        exponent = number.as_tuple().exponent if isinstance(cell, str) else -99
        printed = 0.5 * 10.0 ** min(int(exponent), 99)
        return abs(float(number) - x) <= max(ROUNDING * abs(x), printed * (1 + ROUNDING), 1e-12)
    except (InvalidOperation, OverflowError):
        return False
