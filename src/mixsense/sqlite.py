"""How SQLite files are written, for studies and sweeps alike: nothing that was committed may be lost."""

from __future__ import annotations

import sqlite3

MAGIC = 0x6D697873
"""The letters "mixs": marks files as ours in their header, and is the key of our lock on a PostgreSQL server."""
SQLITE_VERSION = sqlite3.sqlite_version_info
SAFE_WAL = (3, 51, 3)
"""Older versions have a race in which the reset of a write-ahead log loses commits."""


def journal_mode() -> str:
    """Return the journal mode to use: a write-ahead log where this version of SQLite keeps it safe.

    Examples
    --------
    >>> journal_mode() in ("WAL", "DELETE")
    True
    """
    return "WAL" if SQLITE_VERSION >= SAFE_WAL else "DELETE"


def make_durable(connection: sqlite3.Connection, mode: str | None = None) -> None:
    """Prepare a new connection: what it commits is on the disk when the commit returns.

    The connection begins its transactions itself from here on, with BEGIN; the driver begins none.

    Parameters
    ----------
    connection : sqlite3.Connection
        A connection on which nothing was done yet.
    mode : str, optional
        The journal mode; that of `journal_mode` if left out. A file that others are using keeps the one that it has.
    """
    mode = journal_mode() if mode is None else mode
    connection.isolation_level = None
    (found,) = connection.execute("PRAGMA journal_mode").fetchone()
    if found.upper() != mode:
        try:
            connection.execute(f"PRAGMA journal_mode={mode}")
        except sqlite3.OperationalError:  # others are at work in the mode that they found
            pass
    connection.execute("PRAGMA synchronous=FULL")
