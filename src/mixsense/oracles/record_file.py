"""The file of answers: lines of JSON that are only appended, each on the disk before its answers are used."""

from __future__ import annotations

import errno
import json
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_reals, for_owner, one_line, shown, visible
from mixsense.errors import InvalidInput
from mixsense.oracles.queries import entries, sparse_rows
from mixsense.rounds import Asked, is_sparse

HEADER = b'{"mixsense_record": 1'
"""How a file of answers begins."""
MARK = b" "
"""How a line begins that says not to trust the answers: it counts as soon as its first letter is on the disk."""
NOTES = {"distrusted", "unconfirmed", "confirmed"}
"""What a line holds that has no answers: not to trust them, or that a run began or ended whose oracle has to be closed
before its answers are sure."""
SYNC_SECONDS = 0.1
"""Within a call each answer is written as it comes, and on the disk after this many seconds at the latest: a kill loses
nothing, a power cut no more than that. Taste: with 7 ms for a sync, answers that come fast pay a fourteenth for it."""
LARGEST_GROUP = 2**53
"""Whole numbers up to here are exact as floats."""


class RecordFile:
    """A file of answers of one run.

    Parameters
    ----------
    path : path
        Where it is, or will be.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if "\0" in str(self.path):
            raise InvalidInput(f"the record's name {str(self.path)!r} has a NUL character: give another file")
        self.unconfirmed = 0
        """Runs that were ended by force: nobody saw whether their answers were followed by one too many."""
        self._synced = -SYNC_SECONDS
        self._end = 0, b""  # what is surely in the file, in bytes, and what has to follow: set together

    @property
    def waits(self) -> bool:
        """Whether an interruption or a full disk kept something out of the file."""
        return bool(self._end[1])

    def append(self, *lines: dict[str, Any], more: bool = False) -> None:
        """Write lines; they are on the disk when this returns, or soon if `more` are to follow.

        After an error they wait for `write`.
        """
        size, waiting = self._end
        text = b"".join((MARK if "distrusted" in line else b"") + json.dumps(line).encode() + b"\n" for line in lines)
        self._end = size, waiting + text
        self.write(len(waiting), more)

    def write(self, begun: int | None = None, more: bool = False) -> None:
        """Bring into the file what has to follow; only this many bytes of it may be there already, from another try."""
        size, text = self._end
        if size and not self.path.exists():  # opening would leave an empty file, which looks like a new record
            raise OSError(errno.EBUSY, f"it had {size} bytes and is gone: another program has removed it")
        with open(self.path, "ab+", opener=for_owner) as file:
            found = os.fstat(file.fileno()).st_size
            file.seek(size)
            there = file.read(len(text) + 1)
            if found < size or not text[:begun].startswith(there):
                raise OSError(errno.EBUSY, f"it has {found} bytes and had {size}: another program has changed it")
            file.write(text[len(there) :])
            file.flush()
            if not more or time.monotonic() - self._synced >= SYNC_SECONDS:
                os.fsync(file.fileno())  # an answer that was paid for survives a crash
                self._synced = time.monotonic()
        self._end = size + len(text), b""

    def read(self, run: dict[str, Any]) -> list[Asked | tuple[Any, Any]]:
        """Return what the file of this run holds, or begin it."""
        if self.path.exists() and not self.path.is_file():  # a pipe would be waited for, a device has no end
            raise InvalidInput(f"{self.path} cannot be used as a record (it is not a regular file): give another file")
        content = self.path.read_bytes() if self.path.exists() else b""
        size = content.rfind(b"\n") + 1
        new = not size and HEADER.startswith(content[: len(HEADER)])  # or killed before its first line was whole
        record = [] if new else self._lines(content[:size], run)
        if content[size:].startswith(MARK):
            self._refuse("it was noted so, and the reason is lost")
        if len(content) > size:  # killed while it wrote this line: its answers were never handed on
            with self.path.open("rb+") as file:
                file.truncate(size)  # in place: no other line is written again
                os.fsync(file.fileno())
        self._end = size, b""
        if new:
            self.append({"mixsense_record": 1, "run": run})
        return record

    def _lines(self, content: bytes, run: dict[str, Any]) -> list[Asked | tuple[Any, Any]]:
        try:
            first, *lines = [json.loads(line) for line in content.splitlines()]
            if first["mixsense_record"] != 1:
                raise ValueError(f"it has format {shown(first['mixsense_record'])}, this program reads format 1")
            known = dict(first["run"])
            doubts = [line["distrusted"] for line in lines if "distrusted" in line]
            self.unconfirmed = sum(("unconfirmed" in line) - ("confirmed" in line) for line in lines)
            record = _answers([line for line in lines if not NOTES & {*line}])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput(
                f"{self.path} is not a record of answers ({one_line(error, 120)}): give another file"
            ) from None
        if known != run:
            different = sorted(visible(key) for key in {*known, *run} if known.get(key) != run.get(key))
            raise InvalidInput(
                f"{self.path} holds the answers of another run ({', '.join(different)} differ): "
                "use the options of that run, or another file"
            )
        if doubts:
            self._refuse(doubts[0])
        return record

    def _refuse(self, why: str) -> None:
        raise InvalidInput(f"the answers in {self.path} are not to be trusted ({one_line(why)}): begin another file")


def as_line(asked: Asked) -> dict[str, Any]:
    """Return one call of an oracle as a line of the file."""
    y = asked.table()
    return {"queries": _queries(asked.vectors), "answers": y.tolist(), "group": asked.group.reshape(y.shape).tolist()}


def asking(queries: Array) -> dict[str, Any]:
    """Return the line that comes before the answers of one call that come one by one."""
    return {"asking": _queries(queries)}


def to_row(row: int, answer: float, group: int) -> dict[str, Any]:
    """Return the line of one answer to a row of the queries that were written last."""
    return {"row": row, "answer": answer, "group": group}


def _queries(queries: Array) -> Any:
    """Return queries as JSON has them; of sparse ones only the entries that are not 0."""
    if not is_sparse(queries):
        return queries.tolist()
    rows = [(place.tolist(), value.tolist()) for place, value in entries(queries)]
    places, values = ([row[part] for row in rows] for part in (0, 1))
    return {"n": queries.shape[1], "places": places, "values": values}


def _answers(lines: list[dict[str, Any]]) -> list[Asked | tuple[Any, Any]]:
    """Return the calls of lines that hold answers; a call whose answers came one by one has a line for each."""
    found, i = list[Asked | tuple[Any, Any]](), 0
    while i < len(lines):
        line, first = lines[i], i + 1
        i = next((k for k in range(first, len(lines)) if "row" not in lines[k]), len(lines))
        if "asking" not in line:
            if i > first:
                raise ValueError("an answer has no query before it")
            found.append(as_asked(**line) if line.get("group") is not None else _pair(**line))
        elif i > first:
            found += _one_by_one(line["asking"], lines[first:i])
    return found


def _one_by_one(queries: Any, lines: list[dict[str, Any]]) -> list[Asked]:
    """Return the answers of one call, query by query."""
    X, rows = _vectors(queries), defaultdict[int, list[tuple[Any, Any]]](list)
    for line in lines:
        if type(line["row"]) is not int or not 0 <= line["row"] < X.shape[0]:
            raise ValueError("an answer is to a query that was not asked")
        rows[line["row"]].append((line["answer"], line["group"]))
    return [as_asked(X[row : row + 1], *([[*part]] for part in zip(*rows[row], strict=True))) for row in sorted(rows)]


def as_asked(queries: Any, answers: Any, group: Any = None) -> Asked:
    """Return one call of an oracle, with nothing but numbers in it."""
    X = _vectors(queries)
    y = as_reals("answers", answers, "give (q, repeats), one row a query", kinds="biuf")  # yes and no are answers
    if group is not None:
        group = as_reals("group", group, "give a whole number for each answer")
        if (group != np.floor(group)).any() or np.abs(group).max(initial=0.0) > LARGEST_GROUP:
            raise InvalidInput("a group is not a whole number, or too large for one")
        group = group.astype(np.intp)
    return Asked.of_round(X, y, group)


def _vectors(queries: Any) -> Array:
    if isinstance(queries, dict):
        return sparse_rows(**queries)
    return queries if is_sparse(queries) else as_reals("queries", queries, "give (q, n), one row a query")


def as_run(run: Any) -> dict[str, Any]:
    """Return what identifies a run as the file will have it."""
    try:
        if not isinstance(run, dict):
            raise TypeError("it is not a dict")
        found: dict[str, Any] = json.loads(json.dumps(run, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        why = one_line(error, 120)
        raise InvalidInput(f"run cannot be stored as JSON ({why}): give a dict of plain values") from None
    return found


def _pair(queries: Any, answers: Any, group: None = None) -> tuple[Any, Any]:
    """Return one line of a file from before version 0.3.0, when there were no groups."""
    return queries, answers
