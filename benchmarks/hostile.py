"""Everything that a hostile world can do, in one command: kills, services, programs, planted secrets.

    python benchmarks/hostile.py                              # 1,000 kills, all services, all programs, all secrets
    python benchmarks/hostile.py --kills 60 --only kills      # some
    python benchmarks/hostile.py --only servers programs

SIGKILLs are spread evenly over the repair of a record, a whole study, an upgrade, and each verb of `kill_verbs` (ask,
tell, import, create, delete, migrate) where that is there: on SQLite with its rollback journal and with its write-ahead
log, and on PostgreSQL. Each part prints a line as it ends; a table comes last. Any failure is a non-zero exit code.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import hostile_programs
import hostile_servers
import kill_record
import kill_study
import kill_upgrade
import planted
import postgres_server

try:
    import kill_verbs
except ModuleNotFoundError:
    kill_verbs = None
from mixsense import sqlite
from mixsense.studies.storage.tables import sa

STORAGES = ("DELETE", "WAL", "PostgreSQL")
"""SQLite by its journal, and PostgreSQL."""
PARTS = ("kills", "servers", "programs", "planted")


@dataclass
class Row:
    """One line of the table."""

    part: str
    tried: int
    failed: int
    seconds: float


class Table:
    """What was tried, as it goes and in the end."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, part: str, tried: int, work: Callable[[], tuple[int, int, str]]) -> None:
        """Do a part of the work, which gives back how much was tried, how much failed, and a text."""
        start = time.monotonic()
        try:
            tried, failed, text = work()
        except Exception:
            failed, text = max(tried, 1), traceback.format_exc()
        self.rows.append(Row(part, tried, failed, time.monotonic() - start))
        print(f"{'FAILED' if failed else 'ok':<6} {part}: {text}", flush=True)

    def show(self) -> None:
        """Print the table."""
        wide = max((len(row.part) for row in self.rows), default=0)
        total = Row("together", *(sum(getattr(r, key) for r in self.rows) for key in ("tried", "failed", "seconds")))
        print(f"\n{'':<{wide}} {'tried':>7} {'failed':>7} {'seconds':>8}")
        for row in [*self.rows, total]:
            print(f"{row.part:<{wide}} {row.tried:7,} {row.failed:7,} {row.seconds:8.0f}")


@contextlib.contextmanager
def databases(storage: str) -> Iterator[Callable[[], str]]:
    """Give a function that returns the URL of a new, empty database."""
    numbers = itertools.count()
    if storage != "PostgreSQL":
        before, sqlite.SQLITE_VERSION = sqlite.SQLITE_VERSION, sqlite.SAFE_WAL if storage == "WAL" else (3, 0, 0)
        try:
            with tempfile.TemporaryDirectory() as folder:
                yield lambda: f"sqlite:///{folder}/{next(numbers)}.db"
        finally:
            sqlite.SQLITE_VERSION = before
        return
    with postgres_server.running() as server:

        def new() -> str:
            name = f"hostile{next(numbers)}"
            engine = sa.create_engine(server.replace("://", "+psycopg://"), isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.execute(sa.text(f"CREATE DATABASE {name}"))
            engine.dispose()
            return f"{server.rpartition('/')[0]}/{name}"

        yield new


def kills(table: Table, count: int, storages: tuple[str, ...]) -> None:
    """Spread the kills over all that may be killed."""
    verbs = tuple(kill_verbs.VERBS) if kill_verbs else ()
    share = -(-count // (1 + len(storages) * (2 + len(verbs))))
    table.add("kills: repair of a record", share, lambda: (share, 0, kill_record.kill(share)))
    for storage in storages:
        try:
            with databases(storage) as new:
                table.add(
                    f"kills: a study, {storage}", share, lambda new=new: (share, 0, kill_study.kill(new(), share))
                )
                table.add(
                    f"kills: upgrade, {storage}", share, lambda new=new: (share, 0, kill_upgrade.kill(new, share))
                )
        except postgres_server.Unavailable as error:
            table.add(f"kills: {storage}", 1, lambda error=error: (1, 1, f"it cannot be started: {error}"))
            continue
        for verb in verbs:
            table.add(f"kills: {verb}, {storage}", share, lambda s=storage, v=verb: verb_kills(s, v, share))


def verb_kills(storage: str, verb: str, count: int) -> tuple[int, int, str]:
    """Kill processes that repeat a verb; returns the kills, the broken promises, and a text."""
    (tally,) = kill_verbs.kill_all(count, storages=(storage,), verbs=(verb,), show=lambda line: None)
    return tally.kills, tally.lost + tally.elsewhere + tally.torn, str(tally)


def misbehaving(table: Table, part: str, names: list[str], check: Callable[[str], list[str]]) -> None:
    """Ask every service, or every program, that misbehaves."""

    def work() -> tuple[int, int, str]:
        failed = 0
        for number, name in enumerate(names, 1):
            faults = check(name)
            failed += bool(faults)
            for fault in faults:
                print(f"FAILED {part} {name}: {fault}", flush=True)
            if number % 20 == 0:
                print(f"       {part}: {number} of {len(names)}, {failed} failed", flush=True)
        return len(names), failed, f"{len(names)} kinds, each ends in one clear line; {failed} failed"

    table.add(part, len(names), work)


def planted_secrets(table: Table) -> None:
    """Plant secrets and people, and look for them."""

    def work() -> tuple[int, int, str]:
        count, found = planted.run(say=lambda line: print(f"       {line}", flush=True))
        return count, found, f"{count} planted, {found} found"

    table.add("planted", 0, work)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, help="how many SIGKILLs, all together")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--storages", nargs="+", choices=STORAGES, default=STORAGES)
    args = parser.parse_args()
    table = Table()
    if "planted" in args.only:
        planted_secrets(table)
    if "servers" in args.only:
        misbehaving(table, "servers", list(hostile_servers.KINDS), hostile_servers.check)
    if "programs" in args.only:
        misbehaving(table, "programs", list(hostile_programs.KINDS), hostile_programs.check)
    if "kills" in args.only:
        kills(table, args.kills, tuple(args.storages))
    table.show()
    return int(any(row.failed for row in table.rows))


if __name__ == "__main__":
    sys.exit(main())
