"""Does a database of mixsense 0.2.0 survive SIGKILLs while it is brought up to date.

    python benchmarks/kill_upgrade.py [--kills 200]

On each kind of storage a process that opens such a database is killed at a random moment, again and again until all
changes are made. After each kill a change has to be there with its record or not at all, and at the end each row of
0.2.0 as it was. A broken promise is an exception.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from mixsense import sqlite
from mixsense.studies.registry import list_studies
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.migrations import MIGRATIONS
from mixsense.studies.storage.tables import sa

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import postgres_server
from study_cases import OLD, make_old_database

ADDED = {
    "answers have groups": ("mixsense_answers", "answer_group"),
    "rounds have blocks": ("mixsense_rounds", "least"),
    "tickets have secrets": ("mixsense_tickets", "secret"),
    "tickets have groups": ("mixsense_tickets", "answer_group"),
    "leases have groups": ("mixsense_leases", "answer_group"),
}
"""The columns that changes add."""
WITHOUT_ROWID = {
    "answers tell no order": "mixsense_answers",
    "leases tell no order": "mixsense_leases",
    "tickets have secrets": "mixsense_tickets",
    "runs are confirmed": "mixsense_unconfirmed",
    "questions may be loose": "mixsense_loose",
    "rounds are closed": "mixsense_closed",
    "one process computes": "mixsense_computing",
    "respondents have groups": "mixsense_salts",
}
"""The tables of an SQLite file that changes write again, or make."""


def rows(connection: sa.Connection) -> list[str]:
    """Return every row of 0.2.0, with the columns of its time."""
    found = {
        table: connection.execute(sa.text(f"SELECT * FROM {table}")).all()
        for table in OLD["rows"]
        if table != "mixsense_schema"
    }
    return sorted(f"{table} {row[: len(OLD['rows'][table][0])]}" for table in found for row in found[table])


def state(url: str) -> tuple[int, list[str]]:
    """Return how many changes were made, and all rows; refuse a change without its record, and a record without it."""
    database = Database(url)
    with database.reading() as connection:
        inspector = sa.inspect(connection)
        named = "mixsense_migrations" in inspector.get_table_names()
        names = set(connection.execute(sa.text("SELECT name FROM mixsense_migrations")).scalars()) if named else set()
        for name, (table, column) in ADDED.items():
            assert (name in names) == (column in {c["name"] for c in inspector.get_columns(table)}), name
        if database.sqlite:
            made = "SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'"
            there = set(connection.execute(sa.text(made)).scalars())
            assert there == {table for name, table in WITHOUT_ROWID.items() if name in names}
        version = connection.execute(sa.text("SELECT version FROM mixsense_schema")).scalar_one()
        assert version == (2 if names else 1)
        found = rows(connection)
    database.close()
    return len(names), found


def one_life(url: str, delay: float | None) -> bool:
    """Open the database in a process that is killed after a while; returns whether it was."""
    pid = os.fork()
    if pid == 0:
        list_studies(url)
        os._exit(0)
    if delay is not None:
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def new_database(server: str, name: str) -> str:
    """Make a database on a PostgreSQL server; returns its URL."""
    engine = sa.create_engine(server.replace("://", "+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{server.rpartition('/')[0]}/{name}"


def kill(new_url, kills: int) -> str:
    """Kill processes that upgrade until there were enough of them."""
    make_old_database(url := new_url())
    start = time.monotonic()
    one_life(url, None)
    whole = time.monotonic() - start  # seconds that an upgrade takes
    rng, killed, seen, made = random.Random(1), 0, Counter(), 0
    while killed < kills:
        make_old_database(url := new_url())
        made += 1
        before = state(url)[1]
        while state(url)[0] < len(MIGRATIONS):
            if one_life(url, rng.uniform(0.3, 1.1) * whole):
                killed += 1
                seen[state(url)[0]] += 1
        assert list_studies(url) == ["done", "half"]
        assert state(url) == (len(MIGRATIONS), before)
    after = ", ".join(f"{n} changes {seen[n]} times" for n in sorted(seen))
    return f"{killed} kills in {made} databases, after which there were {after}; nothing was lost"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    kills = parser.parse_args().kills
    assert {*ADDED} | {*WITHOUT_ROWID} == {*MIGRATIONS}
    with tempfile.TemporaryDirectory() as folder, postgres_server.running() as server:
        for backend in ("DELETE", "WAL", "PostgreSQL"):
            sqlite.SQLITE_VERSION = sqlite.SAFE_WAL if backend == "WAL" else (3, 0, 0)
            numbers = iter(range(10**9))

            def new_url(backend=backend, numbers=numbers) -> str:
                name = f"{backend.lower()}{next(numbers)}"
                if backend != "PostgreSQL":
                    return f"sqlite:///{folder}/{name}.db"
                return new_database(server, name)

            print(f"{backend}: {kill(new_url, kills)}", flush=True)


if __name__ == "__main__":
    main()
