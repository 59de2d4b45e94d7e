"""Which changes a database has seen, and how one of an older mixsense gets those that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from mixsense.errors import InvalidInput
from mixsense.sqlite import MAGIC
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.tables import METADATA, migrations, sa, schema

VERSION = 2
"""What mixsense_schema says. mixsense 0.2.0 counts versions and refuses all but 1; since then changes have names."""


def _answers_have_groups(connection: sa.Connection) -> None:
    connection.execute(sa.text("ALTER TABLE mixsense_answers ADD COLUMN answer_group BIGINT"))


def _rounds_have_blocks(connection: sa.Connection) -> None:
    connection.execute(sa.text("ALTER TABLE mixsense_rounds ADD COLUMN block BIGINT DEFAULT 1 NOT NULL"))
    connection.execute(sa.text("ALTER TABLE mixsense_rounds ADD COLUMN least BIGINT"))


MIGRATIONS: dict[str, Callable[[sa.Connection], None]] = {
    "answers have groups": _answers_have_groups,
    "rounds have blocks": _rounds_have_blocks,
}
"""Every change since mixsense 0.2.0, in the order in which they are made. A name that was released stays for ever.

Each should only add: programs of the older version that are at work in the same database then go on undisturbed. And
each should change one table only: a change locks the table, and one that waits for a second lock can wait in a circle.
"""


def upgrade(database: Database, create: bool = False) -> None:
    """Make the changes that the database lacks, each in one transaction with its record.

    Whenever a program is killed here, each change is there with its record, or not at all; the next program to open
    the database makes the rest. A new database gets the newest tables at once.

    Parameters
    ----------
    database : Database
        The database of studies.
    create : bool
        Whether the tables may be made where there are none.

    Raises
    ------
    InvalidInput
        The database belongs to a newer program, or to another one, or has no studies and `create` is False.
    """
    with database.reading() as connection:
        applied = _applied(connection, database, create)
    if applied is None:
        with _alone(database) as connection:
            applied = _applied(connection, database, create)  # another program may have been faster
            if applied is None:
                METADATA.create_all(connection)
                connection.execute(schema.insert().values(version=VERSION))
                _record(connection, MIGRATIONS)
                return
    for name in MIGRATIONS:
        if name not in applied:
            _migrate(database, name)


def _migrate(database: Database, name: str) -> None:
    with _alone(database) as connection:
        if name in (_applied(connection, database) or ()):  # another program was faster
            return
        MIGRATIONS[name](connection)
        migrations.create(connection, checkfirst=True)
        connection.execute(schema.update().values(version=VERSION))
        _record(connection, [name])


def _record(connection: sa.Connection, names: Iterable[str]) -> None:
    for name in names:
        connection.execute(migrations.insert().values(name=name))


@contextmanager
def _alone(database: Database) -> Iterator[sa.Connection]:
    """Begin a transaction while no other program upgrades; SQLite has one writer at a time anyway."""
    with database.writing() as connection:
        if not database.sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MAGIC)))
        yield connection


def _applied(connection: sa.Connection, database: Database, create: bool = False) -> set[str] | None:
    """Return the names of the changes that were made, None where there are no tables; refuse what is not ours."""
    there = sa.inspect(connection).get_table_names()
    if schema.name not in there:
        if there and database.sqlite:
            raise InvalidInput(f"{database.shown} is a database of another program: give another file")
        if not create:
            raise InvalidInput(f"{database.shown} has no studies: create one in it first, or give another database")
        return None
    version = int(connection.execute(sa.select(schema.c.version)).scalar_one())
    named = migrations.name in there  # since 0.3.0
    names = set(connection.execute(sa.select(migrations.c.name)).scalars()) if named else set[str]()
    unknown = sorted(names - {*MIGRATIONS})
    if version > VERSION or unknown:
        what = ", ".join(map(repr, unknown)) if unknown else f"version {version} of its tables"
        raise InvalidInput(
            f"{database.shown} was written by a newer mixsense ({what}, which this program does not know): "
            "update mixsense",
            found=version,
            unknown=unknown,
        )
    return names
