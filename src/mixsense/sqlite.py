"""How SQLite files are written, for studies and sweeps alike: nothing that was committed may be lost."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable

from mixsense.checks import for_owner

MAGIC = 0x6D697873
"""The letters "mixs": marks files as ours in their header, and is the key of our lock on a PostgreSQL server."""
SQLITE_VERSION = sqlite3.sqlite_version_info
SAFE_WAL = (3, 51, 3)
"""Older versions have a race in which the reset of a write-ahead log loses commits."""
NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
"""What SQLite says where it cannot make the files beside its own."""


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
    connection.execute("PRAGMA secure_delete=ON")  # what is removed is overwritten, whatever the default of this build
    (found,) = connection.execute("PRAGMA journal_mode").fetchone()
    if found.upper() != mode:
        try:
            connection.execute(f"PRAGMA journal_mode={mode}")
        except sqlite3.OperationalError:  # others are at work in the mode that they found, or the disk is full
            pass
    connection.execute("PRAGMA synchronous=FULL")


def opened(connect: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
    """Return a new connection, prepared by `make_durable`; a write-ahead log can be read on a full disk, too."""
    connection = connect()
    try:
        make_durable(connection)
        return connection
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF not in NO_ROOM:
            raise
    # There is no room for the file that processes share; one that is alone needs none, if it says so at once.
    connection = connect()
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    make_durable(connection)
    return connection


def make_private(path: str) -> None:
    """Make a new file, which only its owner may read; one that is there stays as it is.

    The journal and the log of an SQLite file have the rights of the file.
    """
    try:
        path = os.path.realpath(path)  # a link may lead to a file that is not there yet
        os.close(for_owner(path, os.O_CREAT | os.O_EXCL | os.O_RDWR))
    except OSError:  # it is there, or SQLite says why it cannot be made
        pass


def forget_log(path: str, wait: float) -> bool:
    """Move a write-ahead log into its file, and empty it: it holds what was removed from the file.

    Returns
    -------
    bool
        False if somebody read the file for longer than `wait` seconds: then the log is as it was.
    """
    with contextlib.closing(opened(lambda: sqlite3.connect(path, timeout=wait))) as connection:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
