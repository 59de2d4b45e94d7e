"""The database of studies and how its transactions begin: an SQLite file, or PostgreSQL if the URL says so."""

from __future__ import annotations

import os
import re
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from mixsense.checks import is_unicode, one_line, require, shown
from mixsense.errors import InvalidInput, StudyError
from mixsense.sqlite import forget_log, make_private, opened
from mixsense.studies.storage.tables import sa

WAIT_SECONDS = 60
"""How long a transaction waits for others to end."""
LOOKS = 0.02, 0.004
"""Seconds between two looks whether an SQLite file is free: at first, and the fewest. Taste: a look takes 11 µs."""
_NO_FILE = re.compile(r"^postgres(ql)?\S*:|\bpassword\s*=", re.I)
"""How an address begins that is mistyped, and what PostgreSQL's other form holds: no name of a file, and not shown."""


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
        self.shown = _without_secrets(self.url)
        """The URL without its password, nor any of its options: `password` and `sslpassword` are some."""
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite:
            _check_file(Path(str(self.url.database)), create)
        self._engine = _sqlite_engine(self.url, create) if self.sqlite else _postgres_engine(self.url)
        self._pid = os.getpid()
        self.close = weakref.finalize(self, self._engine.dispose)
        """Close the connections; this is done in any case when the object goes."""

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """Begin a transaction that only reads."""
        return self._begin(writes=False)

    def writing(self) -> AbstractContextManager[sa.Connection]:
        """Begin a transaction that may write; what it did is safe on disk when the block has ended."""
        return self._begin(writes=True)

    @contextmanager
    def _begin(self, writes: bool) -> Iterator[sa.Connection]:
        if os.getpid() != self._pid:  # connections do not survive a fork
            self._engine.dispose(close=False)
            self._pid = os.getpid()
        try:
            with self._engine.connect() as plain:
                # One look at everything for whoever reads; SQLite gives no other.
                isolation = {} if writes or self.sqlite else {"isolation_level": "REPEATABLE READ"}
                connection = plain.execution_options(mixsense_writes=writes, **isolation)
                with connection.begin() as transaction:
                    yield connection
                    if writes:
                        self._commit(transaction, connection)
                return
        except (sa.exc.DBAPIError, sqlite3.Error) as error:
            failure = self._explained(error, writes)
        try:
            raise failure  # here, where it does not drag along the driver's error, which knows the password
        finally:
            failure.__context__ = None  # the block of the transaction is still handling its own, which knows the row

    def _commit(self, transaction: sa.Transaction, connection: sa.Connection) -> None:
        raw: Any = connection.connection.driver_connection
        try:
            transaction.commit()
            return
        except sa.exc.DBAPIError as error:
            if self.sqlite and raw.in_transaction:
                raise  # it waits for a commit still, and is rolled back
            reason = _reason(error)
        raise StudyError(
            f"the database {self.shown} failed while it stored ({reason}): it is not known whether this call was "
            "stored; call again, the same answer may be told twice"
        ) from None

    def _explained(self, error: sa.exc.DBAPIError | sqlite3.Error, writes: bool) -> Exception:
        reason = _reason(error)
        then = "nothing was stored by this step" if writes else "it was to be read; what is stored stays"
        if "not a database" in reason:
            return InvalidInput(f"{self.shown} is not an SQLite file: give the database of a study, or a new file")
        lost = isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated
        if lost or isinstance(error, sa.exc.OperationalError | sqlite3.OperationalError):
            return StudyError(f"the database {self.shown} cannot be used ({reason}): {then}")
        return StudyError(f"the database {self.shown} refused ({reason}): {then}")

    def forget(self) -> None:
        """Empty an SQLite file's write-ahead log, which holds what was removed from the file."""
        if not self.sqlite:
            return
        reason = "somebody reads it"
        try:
            if forget_log(str(self.url.database), WAIT_SECONDS):
                return
        except sqlite3.Error as error:
            reason = _reason(error)
        raise StudyError(
            f"what was removed from {self.shown} may still be in the log beside the file ({reason}): "
            "it goes as soon as nobody uses the file"
        )


def _reason(error: sa.exc.DBAPIError | sqlite3.Error) -> str:
    """Return what the database says, without the values of any row."""
    found = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    diagnosis = getattr(found, "diag", None)  # PostgreSQL's
    return one_line((diagnosis and diagnosis.message_primary) or found)


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
    text = os.fspath(url) if isinstance(url, os.PathLike) else url
    is_text = isinstance(text, str) and bool(text.strip()) and "\0" not in text and is_unicode(text)
    is_file = "://" not in str(text) and not _NO_FILE.search(str(text))
    if not is_text and is_file:
        raise InvalidInput(f"the database is {shown(text)}: {hint}")
    if is_file:
        return sa.URL.create("sqlite", database=text)
    try:
        found = sa.make_url(text) if is_text else None
    except (sa.exc.ArgumentError, ValueError):
        found = None
    if found is None:  # not shown: it may hold a password
        raise InvalidInput(f"the database's URL cannot be read: {hint}")
    if found.get_backend_name() in ("postgresql", "postgres"):
        return found.set(drivername="postgresql+psycopg")
    if found.get_backend_name() != "sqlite":
        raise InvalidInput(f"the database is of the kind {shown(found.drivername)}: {hint}")
    if found.query or found.host or found.username or found.password or found.port:
        # With uri=true SQLite would read the name as an address: as another file than we look at.
        raise InvalidInput("the URL of an SQLite file has a host or options: give its name alone, as in sqlite:///a.db")
    if found.database in (None, "", ":memory:"):
        raise InvalidInput(f"the database {found} is in memory, and a study has to last: {hint}")
    return found.set(drivername="sqlite")


def _without_secrets(url: sa.URL) -> str:
    """Return a URL for messages.

    Examples
    --------
    >>> _without_secrets(sa.make_url("postgresql://lab:hunter2@localhost/tea?sslmode=require&password=hunter2"))
    'postgresql://lab:***@localhost/tea?…'
    """
    return url.set(query={}).render_as_string(hide_password=True) + ("?…" if url.query else "")


def _check_file(path: Path, create: bool) -> None:
    try:
        is_folder, in_folder, exists = path.is_dir(), path.parent.is_dir(), path.exists()
    except OSError as error:  # a name that is too long, a folder that may not be read
        raise InvalidInput(f"the database {path} cannot be used ({error.strerror}): give another file") from None
    if is_folder or not in_folder:
        reason = "is a folder" if is_folder else "is in a folder that does not exist"
        raise InvalidInput(f"the database {path} {reason}: give another file")
    if not create and not exists:
        raise InvalidInput(f"there is no database {path}: create a study in it first, or give its file (--db)")


def _sqlite_engine(url: sa.URL, create: bool) -> sa.Engine:
    # A connection for each transaction: cheap here, and none is ever shared by threads or across a fork.
    waits = {"timeout": WAIT_SECONDS}
    engine = sa.create_engine(url, connect_args=waits, poolclass=sa.pool.NullPool, hide_parameters=True)

    @sa.event.listens_for(engine, "do_connect")
    def _connect(dialect: Any, record: Any, args: Any, parameters: Any) -> sqlite3.Connection:
        if create:
            make_private(str(url.database))
        return opened(lambda: dialect.connect(*args, **parameters))

    @sa.event.listens_for(engine, "begin")
    def _begun(connection: sa.Connection) -> None:
        if connection.get_execution_options().get("mixsense_writes"):
            _begin_to_write(connection)
        else:
            connection.exec_driver_sql("BEGIN")

    return engine


def _begin_to_write(connection: sa.Connection) -> None:
    """Begin a transaction with the lock of a writer: one that began by reading could not wait for another writer.

    SQLite itself looks ever more seldom whether the lock is free, in the end every 100 ms: under load whoever came last
    gets it first, and whoever has waited waits on. So look the more often, the longer we have waited.
    """
    driver: Any = connection.connection.driver_connection
    start, waited = time.monotonic(), 0.0
    driver.execute("PRAGMA busy_timeout=0")
    while waited < WAIT_SECONDS:
        try:
            driver.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                waited = WAIT_SECONDS
        waited = max(waited, time.monotonic() - start)
        time.sleep(max(LOOKS[1], LOOKS[0] / (1 + waited / LOOKS[0])))
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # fails as every statement that fails does
    driver.execute(f"PRAGMA busy_timeout={round(1000 * WAIT_SECONDS)}")  # to commit, it waits for whoever reads


def _postgres_engine(url: sa.URL) -> sa.Engine:
    driver = require("psycopg", "postgres", "PostgreSQL needs")
    known = {option.keyword.decode() for option in driver.pq.Conninfo.get_defaults()}
    if strange := {*url.query} - known:  # SQLAlchemy and the driver have some of their own, which take no text
        raise InvalidInput(
            f"the URL of the database has an option {shown(min(strange))}, which PostgreSQL has not: leave it out"
        )
    try:
        return sa.create_engine(url, pool_pre_ping=True, max_overflow=-1, hide_parameters=True)
    except (sa.exc.SQLAlchemyError, ValueError):  # hosts and ports that do not go together
        pass
    raise InvalidInput(f"the URL {_without_secrets(url)} has options that do not go together: leave them out")
