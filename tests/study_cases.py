"""What several tests of studies use: small problems, and what mixsense 0.2.0 stored."""

from __future__ import annotations

import json
from pathlib import Path

from mixsense.studies.storage.database import Database
from mixsense.studies.storage.tables import sa

SMALL = {"n": 8, "gamma": 0.4, "sigma": 1.0, "seed": 4}
TINY = {"n": 3, "sigma": 1.0, "seed": 1}
OLD = json.loads((Path(__file__).parent / "data" / "study-0.2.0.json").read_text())
"""Two studies that mixsense 0.2.0 stored, "done" and "half": the statements that made its tables, and their rows."""


def make_old_database(url):
    """Write what mixsense 0.2.0 wrote into an empty database."""
    database = Database(url, create=True)
    with database.writing() as connection:
        for statement in OLD["tables"]["sqlite" if database.sqlite else "postgresql"]:
            connection.execute(sa.text(statement))
        insert_old_rows(connection)
    database.close()


def insert_old_rows(connection, skip=()):
    """Insert rows as mixsense 0.2.0 does, which knows the columns of its time only."""
    for table, rows in OLD["rows"].items():
        (made,) = (text for text in OLD["tables"]["sqlite"] if text.startswith(f"CREATE TABLE {table} "))
        columns = [part.split()[0].strip('"') for part in made.split("(", 1)[1].split(", ")][: len(rows[0])]
        statement = sa.text(f"INSERT INTO {table} ({', '.join(columns)}) VALUES (:{', :'.join(columns)})")
        for row in rows if table not in skip else ():
            values = dict(zip(columns, row, strict=True))
            values |= {name: bytes.fromhex(v["hex"]) for name, v in values.items() if isinstance(v, dict)}
            values |= {name: bool(v) for name, v in values.items() if name == "surplus"}
            connection.execute(statement, values)


def one_line(error):
    """Return the text of an error, which has to be one line that can be read."""
    text = str(error)
    assert "\n" not in text
    assert "Traceback" not in text
    assert len(text) < 400
    return text
