"""Where the cells of a sweep are kept: one SQLite file, each finished cell committed at once."""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mixsense
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.sqlite import MAGIC, make_durable
from mixsense.sweeps.cell import Cell, Result

FORMAT = 1
BUSY_SECONDS = 30.0
NOT_FOR_CELLS = (".toml", ".csv", ".parquet", ".png")
"""Endings of a sweep's other files: what keeps the cells must not be written over by a table or a picture."""
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE cell (
    key TEXT NOT NULL,  -- the setting as JSON
    seed INTEGER NOT NULL,
    status TEXT NOT NULL,
    error REAL,
    error_bound REAL,
    queries INTEGER NOT NULL,
    message TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (key, seed)
);
CREATE TABLE origin (mixsense TEXT NOT NULL);
INSERT INTO origin VALUES ('{mixsense.__version__}');
PRAGMA application_id = {MAGIC};
PRAGMA user_version = {FORMAT};
COMMIT;
"""  # one transaction: a process killed here leaves an empty file or a whole one


class Store:
    """The file of a sweep. Only one process writes; others may read meanwhile.

    Parameters
    ----------
    path : path or None
        The file; made if it is not there. None keeps the cells in memory.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else _file(path)
        self._lock = None if self.path is None else _lock(self.path)
        try:
            self._db = _open(self.path)
            if self._db.execute("PRAGMA application_id").fetchone()[0] == 0:
                self._db.executescript(SCHEMA)
            (origin,) = self._db.execute("SELECT mixsense FROM origin").fetchone()
        except BaseException:
            self._unlock()
            raise
        if origin != mixsense.__version__:
            self.close()
            raise InvalidInput(
                f"{path} was computed with mixsense {origin}, this is {mixsense.__version__}: the results may differ; "
                "give another file with out, or delete this one"
            )

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let the next sweep have it."""
        self._db.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None and self.path is not None:
            self._lock.close()
            with contextlib.suppress(OSError):
                _lock_path(self.path).unlink()

    def put(self, cell: Cell, result: Result) -> None:
        """Keep a finished cell: when this returns, it is on the disk."""
        row = (cell.key, cell.seed, result.status, result.error, result.error_bound)
        try:
            self._db.execute(
                "INSERT OR IGNORE INTO cell VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, result.queries, result.message, result.seconds),
            )
        except sqlite3.Error as error:
            raise MixsenseError(
                f"a cell cannot be written to {self.path} ({error}): the cells before are kept; "
                "when that is mended, the same command goes on"
            ) from None

    def rows(self) -> Iterator[tuple[Cell, Result]]:
        """Yield every cell in the file."""
        return _rows(self._db)


def read_store(path: str | os.PathLike[str]) -> list[tuple[Cell, Result]]:
    """Return every cell of a file, also while a sweep writes to it."""
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidInput(f"path is of type {type(path).__name__}: give the .sqlite file of a sweep")
    if not Path(path).is_file():
        raise InvalidInput(f"{path} is not there: give the .sqlite file of a sweep")
    with contextlib.closing(_open(Path(path))) as db:
        if db.execute("PRAGMA application_id").fetchone()[0] == 0:
            return []
        return list(_rows(db))


def _rows(db: sqlite3.Connection) -> Iterator[tuple[Cell, Result]]:
    for key, seed, status, error, bound, queries, message, seconds in db.execute("SELECT * FROM cell"):
        error, bound = (math.nan if value is None else value for value in (error, bound))  # SQLite has no nan
        yield Cell(key, seed), Result(status, error, bound, queries, message, seconds)


def _open(path: Path | None) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None)  # commits by itself
    except sqlite3.Error as error:
        raise InvalidInput(f"{path} cannot be opened ({error}): give another file with out") from None
    try:
        make_durable(db, "DELETE")  # one file, also while a sweep runs
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != MAGIC and (application or tables):
            raise sqlite3.DatabaseError("another program's database")
    except sqlite3.Error as error:
        db.close()
        raise InvalidInput(
            f"{path} is not a file of a sweep ({error}): give another file, such as grid.sqlite"
        ) from None
    if version > FORMAT:
        db.close()
        raise InvalidInput(f"{path} was written by a newer mixsense (format {version}): update mixsense")
    return db


def _file(path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not Path(path).name:
        raise InvalidInput(f"out is {str(path)!r}: give the file that keeps the cells, such as grid.sqlite")
    if Path(path).suffix in NOT_FOR_CELLS:
        raise InvalidInput(
            f"out is {str(path)!r}, but the cells are kept in SQLite: give a name such as grid.sqlite; tables and "
            "pictures come with --export and --plot"
        )
    return Path(path)


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _lock(path: Path) -> sqlite3.Connection:
    """Hold a lock beside the file; the system lets go of it when the process ends, however it ends."""
    try:
        lock = sqlite3.connect(_lock_path(path), timeout=0, isolation_level=None)
    except sqlite3.Error as error:
        raise InvalidInput(f"{path} cannot be written ({error}): give another file with out") from None
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        lock.close()
        raise InvalidInput(
            f"{path} is in use by another sweep ({error}): wait for its end, or give another file with out"
        ) from None
    return lock
