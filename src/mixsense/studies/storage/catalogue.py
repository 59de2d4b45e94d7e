"""Which studies a database holds: store a new one, find it by its name, remove it."""

from __future__ import annotations

import secrets

from mixsense.checks import visible
from mixsense.errors import InvalidInput
from mixsense.rounds import Round
from mixsense.studies.storage.access import Access, StudyRow
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.storage import insert_round
from mixsense.studies.storage.tables import TABLES_OF_A_STUDY, sa, studies

KEY_LETTERS = "bcdfghjklmnpqrstvwxz"
"""What keys are made of: without vowels no spreadsheet takes an id for a date, and no reader for a word."""
KEY_LENGTH = 4
NUMBERS = 2**40, 2**62
"""From where to where the numbers of studies are drawn: none is used twice, and an older program may count on."""


def insert_study(database: Database, name: str, problem: str, asking: str, first: Round) -> None:
    """Store a new study with its first round."""
    with database.writing() as connection:
        if not database.sqlite:
            connection.execute(sa.text(f"LOCK TABLE {studies.name} IN SHARE ROW EXCLUSIVE MODE"))
        if connection.execute(sa.select(studies.c.study).where(studies.c.name == name)).first():
            raise InvalidInput(
                f"{database.shown} has a study {name!r} already: load it, or give another name", name=name
            )
        number = NUMBERS[0] + secrets.randbelow(NUMBERS[1] - NUMBERS[0])  # never that of a study that was deleted
        taken = set(connection.execute(sa.select(studies.c.key)).scalars())
        while (key := "".join(secrets.choice(KEY_LETTERS) for _ in range(KEY_LENGTH))) in taken:
            pass
        connection.execute(studies.insert().values(study=number, name=name, key=key, problem=problem, asking=asking))
        insert_round(connection, number, 0, first)


def study_names(database: Database) -> list[str]:
    """Return the names of all studies."""
    with database.reading() as connection:
        found = connection.execute(sa.select(studies.c.name).order_by(studies.c.name)).scalars()
        return [visible(str(name)) for name in found]


def find_study(database: Database, name: str) -> StudyRow:
    """Return a study by its name."""
    with database.reading() as connection:
        found = connection.execute(sa.select(studies).where(studies.c.name == name)).first()
    if found is None:
        there = study_names(database)
        known = f"it has {', '.join(map(repr, there[:5]))}{' …' if len(there) > 5 else ''}" if there else "it has none"
        raise InvalidInput(f"{database.shown} has no study {name!r} ({known}): give its name, or create it", name=name)
    return StudyRow(*found)


def remove_study(database: Database, row: StudyRow) -> None:
    """Remove a study with everything that it stored, so that nothing of it is left in an SQLite file."""
    with Access(database, row).writing() as connection:
        for table in TABLES_OF_A_STUDY:
            connection.execute(table.delete().where(table.c.study == row.study))
    database.forget()
