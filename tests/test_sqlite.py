"""SQLite files keep what was committed."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from mixsense import sqlite
from mixsense.studies.storage import database

VERSIONS = [((3, 40, 1), "delete"), ((3, 51, 2), "delete"), ((3, 51, 3), "wal"), ((3, 52, 0), "wal")]


@pytest.mark.parametrize(("version", "mode"), VERSIONS)
def test_the_journal_mode_follows_sqlite_s_version(tmp_path, monkeypatch, version, mode):
    monkeypatch.setattr(sqlite, "SQLITE_VERSION", version)
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        sqlite.make_durable(connection)
        assert connection.execute("PRAGMA journal_mode").fetchone() == (mode,)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.isolation_level is None
    store = database.Database(tmp_path / "b.db", create=True)
    with store.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == mode
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2


def test_a_file_that_others_use_keeps_its_mode(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as first, closing(sqlite3.connect(tmp_path / "a.db")) as second:
        sqlite.make_durable(first, "WAL")
        first.execute("CREATE TABLE songs (title)")
        first.execute("BEGIN IMMEDIATE")
        first.execute("INSERT INTO songs VALUES ('a')")
        second.execute("PRAGMA busy_timeout = 0")
        sqlite.make_durable(second, "DELETE")
        first.execute("COMMIT")
        assert second.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert second.execute("SELECT title FROM songs").fetchall() == [("a",)]
