"""Which changes a database has seen, and how one of an older mixsense gets those that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from mixsense.checks import shown
from mixsense.errors import InvalidInput, StudyError
from mixsense.sqlite import MAGIC
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.tables import METADATA, migrations, sa, schema

VERSION = 2
"""What mixsense_schema says. mixsense 0.2.0 counts versions and refuses all but 1; since then changes have names."""


Change = Callable[[sa.Connection], None]


def _statements(*texts: str) -> Change:
    """Return the change that these statements make."""

    def change(connection: sa.Connection) -> None:
        for text in texts:
            connection.execute(sa.text(text))

    return change


def _new_table(table: str, columns: str) -> Change:
    def change(connection: sa.Connection) -> None:
        sqlite = connection.dialect.name == "sqlite"
        wanted = columns.format(bytes="BLOB" if sqlite else "BYTEA")
        connection.execute(sa.text(f"CREATE TABLE {table} ({wanted}){' WITHOUT ROWID' if sqlite else ''}"))

    return change


def _written_again(table: str, columns: str, index: str = "", first: str = "") -> Change:
    """Return the change that writes all rows of a table again, in another order than that in which they came.

    A statement may come `first`; the `index` went with the old table, where that is replaced.
    """

    def change(connection: sa.Connection) -> None:
        if connection.dialect.name == "sqlite":  # a new table without the hidden row numbers
            before = [f"ALTER TABLE {table} RENAME TO mixsense_old", f"CREATE TABLE {table} ({columns}) WITHOUT ROWID"]
        else:
            before = [
                f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE",
                f"CREATE TEMPORARY TABLE mixsense_old ON COMMIT DROP AS TABLE {table}",
                f"DELETE FROM {table}",
            ]
        shuffled = f"INSERT INTO {table} SELECT * FROM mixsense_old ORDER BY random()"
        after = [index] if index and connection.dialect.name == "sqlite" else []
        _statements(*filter(None, [first]), *before, shuffled, "DROP TABLE mixsense_old", *after)(connection)

    return change


MIGRATIONS: dict[str, Change] = {
    "answers have groups": _statements("ALTER TABLE mixsense_answers ADD COLUMN answer_group BIGINT"),
    "rounds have blocks": _statements(
        "ALTER TABLE mixsense_rounds ADD COLUMN block BIGINT DEFAULT 1 NOT NULL",
        "ALTER TABLE mixsense_rounds ADD COLUMN least BIGINT",
    ),
    "answers tell no order": _written_again(
        "mixsense_answers",
        "study BIGINT NOT NULL, ticket BIGINT NOT NULL, round BIGINT NOT NULL, slot BIGINT NOT NULL, "
        "value DOUBLE NOT NULL, surplus BOOLEAN NOT NULL, answer_group BIGINT, PRIMARY KEY (study, ticket)",
        index="CREATE UNIQUE INDEX mixsense_answers_slot ON mixsense_answers (study, round, slot) WHERE surplus = 0",
    ),
    "leases tell no order": _written_again(
        "mixsense_leases",
        "study BIGINT NOT NULL, round BIGINT NOT NULL, slot BIGINT NOT NULL, until BIGINT NOT NULL, "
        "PRIMARY KEY (study, round, slot)",
    ),
    "tickets have secrets": _written_again(  # those that were counted have none, and their ids are accepted as before
        "mixsense_tickets",
        "study BIGINT NOT NULL, ticket BIGINT NOT NULL, round BIGINT NOT NULL, slot BIGINT NOT NULL, secret BIGINT, "
        "PRIMARY KEY (study, ticket)",
        index="CREATE INDEX mixsense_tickets_slot ON mixsense_tickets (study, round, slot)",
        first="ALTER TABLE mixsense_tickets ADD COLUMN secret BIGINT",
    ),
    "runs are confirmed": _new_table(
        "mixsense_unconfirmed", "study BIGINT NOT NULL, run BIGINT NOT NULL, PRIMARY KEY (study, run)"
    ),
    "tickets have groups": _statements(
        "ALTER TABLE mixsense_tickets ADD COLUMN answer_group BIGINT",
        "CREATE INDEX mixsense_tickets_group ON mixsense_tickets (study, answer_group)",
    ),
    "leases have groups": _statements("ALTER TABLE mixsense_leases ADD COLUMN answer_group BIGINT"),
    "questions may be loose": _new_table(
        "mixsense_loose",
        "study BIGINT NOT NULL, round BIGINT NOT NULL, slot BIGINT NOT NULL, query BIGINT NOT NULL, came BIGINT, "
        "PRIMARY KEY (study, round, slot)",
    ),
    "rounds are closed": _new_table(  # those of before are complete where another one follows
        "mixsense_closed", "study BIGINT NOT NULL, round BIGINT NOT NULL, PRIMARY KEY (study, round)"
    ),
    "one process computes": _new_table(
        "mixsense_computing",
        "study BIGINT NOT NULL, holder BIGINT NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (study)",
    ),
    "respondents have groups": _new_table(
        "mixsense_salts", "study BIGINT NOT NULL, salt {bytes} NOT NULL, PRIMARY KEY (study)"
    ),
}
"""Every change since mixsense 0.2.0, in the order in which they are made. A name that was released stays for ever.

Each keeps every row and every column, and may only add some: programs of the older version that are at work in the same
database then go on undisturbed. That is so for one that writes a table again, too: the new table has the name, columns
and rows of the old one, a program finds a row by its key and never by its place, and a transaction sees all of the old
table or all of the new one. And each should change one table only: a change locks the table, and one that waits for a
second lock can wait in a circle.
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
    found = connection.execute(sa.text(f"SELECT version FROM {schema.name}")).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int) or found[0] < 1:
        what = shown(found[0] if len(found) == 1 else found)
        raise StudyError(
            f"{database.shown} is damaged: the version of its tables is {what}, which no mixsense wrote; "
            "take a copy from before"
        )
    (version,) = found
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
