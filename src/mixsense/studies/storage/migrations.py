"""Which version a database has, and how an older one becomes a newer one."""

from __future__ import annotations

from collections.abc import Callable

from mixsense.errors import InvalidInput
from mixsense.sqlite import MAGIC
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.tables import METADATA, sa, schema

MIGRATIONS: list[Callable[[sa.Connection], None]] = []
"""The first turns version 1 into version 2, and so on. A new database gets the newest tables at once."""


def newest() -> int:
    """Return the version that this program writes."""
    return 1 + len(MIGRATIONS)


def upgrade(database: Database, create: bool = False) -> None:
    """Bring the database to the newest version: the change and its record in one transaction.

    Raises
    ------
    InvalidInput
        The database belongs to a newer program, or to another one, or has no studies and `create` is False.
    """
    with database.reading() as connection:
        found = _version(connection, database, create)
    if found == newest():
        return
    with database.writing() as connection:
        if not database.sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MAGIC)))
        found = _version(connection, database, create)  # another program may have been faster
        if found is None:
            METADATA.create_all(connection)
            connection.execute(schema.insert().values(version=newest()))
            return
        for migrate in MIGRATIONS[found - 1 :]:
            migrate(connection)
        connection.execute(schema.update().values(version=newest()))


def _version(connection: sa.Connection, database: Database, create: bool) -> int | None:
    there = sa.inspect(connection).get_table_names()
    if schema.name not in there:
        if there and database.sqlite:
            raise InvalidInput(f"{database.shown} is a database of another program: give another file")
        if not create:
            raise InvalidInput(f"{database.shown} has no studies: create one in it first, or give another database")
        return None
    found = int(connection.execute(sa.select(schema.c.version)).scalar_one())
    if found > newest():
        raise InvalidInput(
            f"{database.shown} was written by a newer mixsense (version {found} of its tables, this program knows "
            f"{newest()}): update mixsense",
            found=found,
            known=newest(),
        )
    return found
