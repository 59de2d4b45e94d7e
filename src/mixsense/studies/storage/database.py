"""The database of studies and how its transactions begin: an SQLite file, or PostgreSQL if the URL says so."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mixsense.checks import one_line, require, shown
from mixsense.errors import InvalidInput, StudyError
from mixsense.sqlite import make_durable
from mixsense.studies.storage.tables import sa

WAIT_SECONDS = 60
"""How long a transaction waits for others to end."""


class Database:
    """A database and its transactions. It may be used by several threads, and after a fork.

    Parameters
    ----------
    url : str or path
        ``sqlite:///tea.db``, a plain path, or ``postgresql://user@host/database``.
    create : bool
        Whether an SQLite file may be made.
    """

    def __init__(self, url: str | os.PathLike[str], create: bool = False) -> None:
        self.url = as_url(url)
        self.shown = self.url.render_as_string(hide_password=True)
        """The URL without its password."""
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite:
            _check_file(Path(str(self.url.database)), create)
        self._engine = _sqlite_engine(self.url) if self.sqlite else _postgres_engine(self.url)
        self._pid = os.getpid()
        self.close = weakref.finalize(self, self._engine.dispose)
        """Close the connections; this is done in any case when the object goes."""

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Begin a transaction that only reads."""
        with self._begin(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Begin a transaction that may write; what it did is safe on disk when the block has ended."""
        with self._begin(writes=True) as connection:
            yield connection

    @contextmanager
    def _begin(self, writes: bool) -> Iterator[sa.Connection]:
        if os.getpid() != self._pid:  # connections do not survive a fork
            self._engine.dispose(close=False)
            self._pid = os.getpid()
        try:
            with self._engine.connect() as plain:
                connection = plain.execution_options(mixsense_writes=writes)
                with connection.begin():
                    yield connection
                return
        except sa.exc.DBAPIError as error:
            failure = self._explained(error)
        raise failure  # here, where it does not drag along the driver's error, which knows the password

    def _explained(self, error: sa.exc.DBAPIError) -> Exception:
        reason = one_line(error.orig)
        if "not a database" in reason:
            return InvalidInput(f"{self.shown} is not an SQLite file: give the database of a study, or a new file")
        if error.connection_invalidated or isinstance(error, sa.exc.OperationalError):
            return StudyError(f"the database {self.shown} cannot be used ({reason}): nothing was stored by this call")
        return StudyError(f"the database {self.shown} refused ({reason}): nothing was stored by this call")


def as_url(url: str | os.PathLike[str]) -> sa.URL:
    """Return the URL of a database; a plain path is an SQLite file.

    Examples
    --------
    >>> as_url("tea.db")
    sqlite:///tea.db
    >>> as_url("postgresql://lab@localhost/tea").drivername
    'postgresql+psycopg'
    """
    hint = "give sqlite:///tea.db, a file's name, or postgresql://user@host/database"
    if not isinstance(url, (str, os.PathLike)) or not str(url).strip() or "\0" in str(url):
        raise InvalidInput(f"the database is {shown(url)}: {hint}")
    text = os.fspath(url) if isinstance(url, os.PathLike) else url
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        found = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InvalidInput(f"the database's URL cannot be read: {hint}") from None
    if found.get_backend_name() in ("postgresql", "postgres"):
        return found.set(drivername="postgresql+psycopg")
    if found.get_backend_name() != "sqlite":
        raise InvalidInput(f"the database is of the kind {shown(found.drivername)}: {hint}")
    if found.database in (None, "", ":memory:"):
        raise InvalidInput(f"the database {found} is in memory, and a study has to last: {hint}")
    return found.set(drivername="sqlite")


def _check_file(path: Path, create: bool) -> None:
    if path.is_dir() or not path.parent.is_dir():
        reason = "is a folder" if path.is_dir() else "is in a folder that does not exist"
        raise InvalidInput(f"the database {path} {reason}: give another file")
    if not create and not path.exists():
        raise InvalidInput(f"there is no database {path}: create a study in it first, or give another file")


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    # A connection for each transaction: cheap here, and none is ever shared by threads or across a fork.
    engine = sa.create_engine(url, connect_args={"timeout": WAIT_SECONDS}, poolclass=sa.pool.NullPool)

    @sa.event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        make_durable(connection)

    @sa.event.listens_for(engine, "begin")
    def _begun(connection: sa.Connection) -> None:
        # A writer takes its lock at once: one that began by reading could not wait for another writer.
        writes = connection.get_execution_options().get("mixsense_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgres_engine(url: sa.URL) -> sa.Engine:
    require("psycopg", "postgres", "PostgreSQL needs")
    return sa.create_engine(url, pool_pre_ping=True, max_overflow=-1)
