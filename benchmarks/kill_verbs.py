"""SIGKILLs while a study is asked, told, imported into, created, deleted or brought up to date.

    python benchmarks/kill_verbs.py --kills 60                     # of each verb on each kind of storage
    python benchmarks/kill_verbs.py --kills 10 --verbs tell import --storages WAL

A process that repeats one verb is killed at a random moment, again and again. Counted are acknowledged answers that are
not there afterwards, rows that stand where nobody told them, and changes that are there in part. `kill_all` is all of
it, for other programs; a line appears as soon as a verb is done.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import kill_upgrade
import mixsense as ms
from kill_process import PROBLEM, Bystander, Say, Tally, Victim, orphans
from kill_study import answer, integrity
from mixsense import sqlite
from mixsense.studies.files import export_open, import_answers
from mixsense.studies.registry import delete_study, list_studies

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import postgres_server
from study_cases import OLD, make_old_database

STORAGES = ("DELETE", "WAL", "PostgreSQL")
LARGE = {"n": 8, "k": 2, "sigma": 1.0, "method": "paper", "m": 20, "batch": 2_000}
"""A first round that no series of kills uses up."""


def ask(url: str, kills: int, seed: int, tally: Tally) -> None:
    """Take questions; each that was acknowledged must be there to be answered."""
    study, victim = ms.create_study(url, f"ask {time.monotonic_ns()}", **LARGE), Victim(seed)

    def job(say: Say) -> None:
        say("ready")
        for i in range(200):
            say("begin", f"{os.getpid()}.{i}", "-")
            say("done", f"{os.getpid()}.{i}", " ".join(q.id for q in study.ask_many(3)))

    for _ in range(kills):
        victim.live(job, tally)
    ids = [id_ for text in victim.done.values() for id_ in text.split()]
    tally.acknowledged = len(ids)
    tally.lost = len(set(ids)) - len(study.handed_out(ids))
    now = study.progress()
    tally.torn = int(now.answered + now.out + now.open != now.size) + int(now.expired != 0)
    tally.elsewhere += now.total + len(ids) - len(set(ids))
    study.close()


def told(study: ms.Study, victim: Victim, tally: Tally) -> None:
    """Hold the stored answers against what was begun and what was acknowledged."""
    stored = {row["id"]: repr(row["answer"]) for row in study.answers()}
    tally.acknowledged = len(victim.done)
    tally.lost = sum(stored.get(id_) != value for id_, value in victim.done.items())
    tally.elsewhere += sum(victim.begun.get(id_) != value for id_, value in stored.items())


def tell(url: str, kills: int, seed: int, tally: Tally) -> None:
    """Tell answers one by one."""
    study, victim = ms.create_study(url, f"tell {time.monotonic_ns()}", **LARGE), Victim(seed)

    def job(say: Say) -> None:
        questions = study.ask_many(40)
        say("ready")
        for q in questions:
            value = answer(q.x)
            say("begin", q.id, repr(value))
            study.tell(q.id, value)
            say("done", q.id, repr(value))

    for _ in range(kills):
        victim.live(job, tally)
    told(study, victim, tally)
    study.close()


def import_(url: str, kills: int, seed: int, tally: Tally) -> None:
    """Import files of ten answers: all of a file are there, or none."""
    study, victim = ms.create_study(url, f"import {time.monotonic_ns()}", **LARGE), Victim(seed)
    folder, files = Path(tempfile.mkdtemp()), list[list[str]]()

    def job(say: Say) -> None:
        for name, ids in todo:
            for id_ in ids:
                say("begin", id_, repr(1.5))
            if name == todo[0][0]:
                say("ready")
            import_answers(study, name)
            for id_ in ids:
                say("done", id_, repr(1.5))

    for number in range(kills):
        todo = []
        for part in range(8):
            path = folder / f"{number}-{part}.csv"
            export_open(study, path, 10)
            head, *lines = path.read_text().splitlines()
            path.write_text("\n".join([head, *(f"{line}1.5" for line in lines)]))
            todo.append((path, [line.split(",")[0] for line in lines]))
        files += [ids for _, ids in todo]
        victim.live(job, tally)
    told(study, victim, tally)
    stored = {row["id"] for row in study.answers()}
    tally.torn = sum(0 < len(stored & {*ids}) < len(ids) for ids in files)
    study.close()


def create(url: str, kills: int, seed: int, tally: Tally) -> None:
    """Create studies: one that was acknowledged can be used, any other is whole or not there."""
    victim = Victim(seed)

    def job(say: Say) -> None:
        say("ready")
        for i in range(50):
            name = f"made-{os.getpid()}-{time.monotonic_ns()}-{i}"
            say("begin", name, "-")
            ms.create_study(url, name, **PROBLEM).close()
            say("done", name, "-")

    for _ in range(kills):
        victim.live(job, tally)
    there = {name for name in list_studies(url) if name.startswith("made-")}
    tally.acknowledged = len(victim.done)
    tally.lost = len({*victim.done} - there)
    tally.elsewhere += len(there - {*victim.begun})
    for name in there:
        with closing(ms.load_study(url, name)) as study:
            now = study.progress()
            tally.torn += (now.size, now.total) != (len(study._storage.round(0)[0].queries), 0)
        delete_study(url, name)


def delete(url: str, kills: int, seed: int, tally: Tally) -> None:
    """Delete studies, and create others of the same names: a handle of a deleted one must not reach the new one."""
    victim = Victim(seed, pace=0.05)

    def job(say: Say) -> None:
        for i, (name, old, id_) in enumerate(todo):
            if i == 0:
                say("ready")
            say("begin", name, "-")
            delete_study(url, name)
            say("done", name, "-")
            new = ms.create_study(url, f"{name} again", **PROBLEM)
            try:
                old.tell(id_, 99.5)
                say("failed", "a handle of a deleted study told an answer")
            except ms.StudyError:
                pass
            new.close()

    names = []
    for _ in range(kills):
        todo = []
        for _ in range(4):
            study = ms.create_study(url, f"gone-{time.monotonic_ns()}", **PROBLEM)
            out, *questions = study.ask_many(6)
            study.tell_many([(q.id, answer(q.x)) for q in questions])
            todo.append((study.name, study, out.id))
        names += [name for name, _, _ in todo]
        victim.live(job, tally)
        for _, study, _ in todo:
            study.close()
    there = {*list_studies(url)}
    tally.acknowledged = len(victim.done)
    tally.lost = len({*victim.done} & there)  # acknowledged deletions of what is still there
    for name in there:
        if name.startswith("gone-"):
            with closing(ms.load_study(url, name)) as study:
                if name.endswith("again"):
                    tally.elsewhere += study.progress().total
                else:
                    tally.torn += (len(study.answers()), study.progress().out) != (5, 1)
            delete_study(url, name)


def migrate(new_url: Callable[[], str], kills: int, seed: int, tally: Tally) -> None:
    """Open databases of mixsense 0.2.0, and answer a question of theirs by its old id."""
    victim = Victim(seed, pace=0.1)
    tickets = {(row[2], row[3]): row[1] for row in OLD["rows"]["mixsense_tickets"] if row[0] == 2}
    told_before = sum(row[0] == 2 for row in OLD["rows"]["mixsense_answers"])
    id_ = f"bcbl-{tickets[tuple(OLD['rows']['mixsense_leases'][0][1:3])]}"

    def job(say: Say) -> None:
        say("ready")
        say("begin", url, "6.5")
        with closing(ms.load_study(url, "half")) as study:
            study.tell(id_, 6.5)
        say("done", url, "6.5")
        time.sleep(60)  # killed all the same

    for _ in range(kills):
        make_old_database(url := new_url())
        before = kill_upgrade.state(url)[1]
        victim.live(job, tally)
        after = {*kill_upgrade.state(url)[1]}  # refuses a change without its record, and a record without it
        tally.lost += len({row for row in before if not row.startswith("mixsense_leases")} - after)
        tally.elsewhere += len([row for row in after - {*before} if not row.startswith("mixsense_answers")])
        with closing(ms.load_study(url, "half")) as study:
            stored = {row["id"]: row["answer"] for row in study.answers()}
            tally.lost += url in victim.done and stored.get(id_) != 6.5
            tally.elsewhere += len(stored) - told_before - (id_ in stored)
    tally.acknowledged = len(victim.done)


VERBS = {"ask": ask, "tell": tell, "import": import_, "create": create, "delete": delete, "migrate": migrate}


@contextmanager
def places(storages: tuple[str, ...]) -> Iterator[Callable[[str], str]]:
    """Give a function that makes the URL of an empty database on a kind of storage."""
    numbers = iter(range(10**9))
    with tempfile.TemporaryDirectory() as folder:

        def sqlite_url(storage: str) -> str:
            return f"sqlite:///{folder}/{storage.lower()}{next(numbers)}.db"

        if "PostgreSQL" not in storages:
            yield sqlite_url
            return
        with postgres_server.running() as server:
            yield (
                lambda storage: (
                    kill_upgrade.new_database(server, f"kills{next(numbers)}")
                    if storage == "PostgreSQL"
                    else sqlite_url(storage)
                )
            )


def kill_all(
    kills: int,
    seed: int = 1,
    storages: tuple[str, ...] = STORAGES,
    verbs: tuple[str, ...] = tuple(VERBS),
    show: Callable[[str], None] = print,
) -> list[Tally]:
    """Kill `kills` processes in each verb on each kind of storage; `show` gets a line as soon as one is done.

    Raises
    ------
    postgres_server.Unavailable
        PostgreSQL is wanted, and not installed.
    """
    tallies, version = [], sqlite.SQLITE_VERSION
    with places(storages) as new_url:
        for storage in storages:
            sqlite.SQLITE_VERSION = sqlite.SAFE_WAL if storage == "WAL" else (3, 0, 0)
            try:
                for number, verb in enumerate(verbs):
                    tally = Tally(storage, verb)
                    tallies.append(tally)
                    if verb == "migrate":
                        migrate(lambda storage=storage: new_url(storage), kills, seed + number, tally)
                    else:
                        url = new_url(storage)
                        bystander = Bystander(url)
                        VERBS[verb](url, kills, seed + number, tally)
                        tally.elsewhere += bystander.changed() + orphans(url)
                        bystander.close()
                        integrity(url)
                    show(str(tally))
            finally:
                sqlite.SQLITE_VERSION = version
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="of each verb on each kind of storage")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--storages", nargs="+", choices=STORAGES, default=STORAGES)
    parser.add_argument("--verbs", nargs="+", choices=VERBS, default=tuple(VERBS))
    args = parser.parse_args()

    def show(line: str) -> None:
        print(line, flush=True)

    tallies = kill_all(args.kills, args.seed, tuple(args.storages), tuple(args.verbs), show)
    total = {name: sum(getattr(t, name) for t in tallies) for name in ("kills", "lost", "elsewhere", "torn")}
    print("in all:", total)
    sys.exit(any(total[name] for name in ("lost", "elsewhere", "torn")))


if __name__ == "__main__":
    main()
