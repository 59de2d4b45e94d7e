"""A database of an older mixsense is brought up to date, whoever is at work in it, and loses nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest

import mixsense as ms
from mixsense.studies.registry import list_studies
from mixsense.studies.storage import migrations
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.migrations import MIGRATIONS, VERSION, upgrade
from mixsense.studies.storage.tables import METADATA, sa
from study_cases import OLD, SMALL, insert_old_rows

pytest_plugins = ["study_storages"]


def structure(url):
    """Every column with what it is, and every index."""
    database = Database(url)
    with database.reading() as connection:
        inspector = sa.inspect(connection)
        tables = [table for table in inspector.get_table_names() if table.startswith("mixsense_")]
        columns = {
            f"{table}.{c['name']}": (str(c["type"]), c["nullable"], c["default"], i)
            for table in tables
            for i, c in enumerate(inspector.get_columns(table))
        }
        indices = {i["name"]: (i["column_names"], i["unique"]) for t in tables for i in inspector.get_indexes(t)}
    database.close()
    return columns, indices


def applied(url):
    """The version that is stored, and the names of the changes, None where there is no table of them."""
    database = Database(url)
    with database.reading() as connection:
        version = connection.execute(sa.text("SELECT version FROM mixsense_schema")).scalar_one()
        if "mixsense_migrations" not in sa.inspect(connection).get_table_names():
            return version, None
        names = set(connection.execute(sa.text("SELECT name FROM mixsense_migrations")).scalars())
    database.close()
    return version, names


def old_rows(url):
    """Every row, with the columns that mixsense 0.2.0 had, as it wrote them."""
    database, found = Database(url), {}
    with database.reading() as connection:
        for table, rows in OLD["rows"].items():
            if table != "mixsense_schema":
                there = connection.execute(sa.text(f"SELECT * FROM {table}"))
                found[table] = sorted(repr(row[: len(rows[0])]) for row in there)
    database.close()
    return found


def at_once(count, job, *arguments):
    """Run a job in several processes that begin together; returns their exit codes."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(count)

    def begin():
        barrier.wait()
        job(*arguments)

    processes = [context.Process(target=begin) for _ in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    return [process.exitcode for process in processes]


def test_a_database_of_0_2_0_keeps_everything(old):
    before = old_rows(old)
    assert applied(old) == (1, None)
    assert list_studies(old) == ["done", "half"]
    assert applied(old) == (VERSION, {*MIGRATIONS})
    assert old_rows(old) == before
    done, half = ms.load_study(old, "done"), ms.load_study(old, "half")
    stored = {row[0]: row[2] for row in OLD["rows"]["mixsense_ends"]}
    assert done.result() == ms.Recovery.from_json(stored[1])
    assert (done.units, done.notes) == (("g", "", "m"), {"by": "0.2.0"})
    now = half.progress()
    assert (now.round, now.answered, now.total, now.surplus, now.expired) == (2, 3, 21, 1, 1)
    first, second = half._storage.round(0), half._storage.round(1)
    assert (first[0].block, first[0].least, first[1].group.tolist()) == (1, None, list(range(now.total - 3)))
    assert second[1] is None
    rng = ms.SimulatedOracle([[3, 0, 0], [0, -2, 0]], sigma=1.0, seed=1)
    assert ms.run_study(half, rng, workers=1, batch=20).queries == half.progress().total > 21
    for study in (done, half):
        study.close()


def test_it_becomes_what_a_new_one_is(old, tmp_path, request):
    list_studies(old)
    there = structure(old)
    assert set(there[0]) == {f"{t.name}.{c.name}" for t in METADATA.tables.values() for c in t.columns}
    if old.startswith("postgresql"):
        other = request.getfixturevalue("postgres")
    else:
        other = f"sqlite:///{tmp_path}/new.db"
    upgrade(Database(other, create=True), create=True)
    assert applied(other) == (VERSION, {*MIGRATIONS})
    assert there == structure(other)


def test_a_program_of_0_2_0_that_is_at_work_goes_on(empty):
    upgrade(Database(empty, create=True), create=True)
    database = Database(empty)
    with database.writing() as connection:
        insert_old_rows(connection, skip=["mixsense_schema"])  # its statements name the columns of its time only
    database.close()
    assert ms.load_study(empty, "half").progress().total == 21
    # One that opens it refuses: 0.2.0 knows version 1, and says that a newer mixsense wrote the database.
    assert applied(empty)[0] > 1


def test_programs_that_upgrade_at_the_same_time(old):
    before = old_rows(old)
    assert at_once(6, list_studies, old) == [0] * 6
    assert applied(old) == (VERSION, {*MIGRATIONS})
    assert old_rows(old) == before


def test_programs_that_create_at_the_same_time(empty):
    assert at_once(6, lambda: upgrade(Database(empty, create=True), create=True)) == [0] * 6
    assert applied(empty) == (VERSION, {*MIGRATIONS})
    assert list_studies(empty) == []


@pytest.mark.parametrize("name", MIGRATIONS)
@pytest.mark.parametrize("where", ["changed", "recorded"])
def test_a_kill_leaves_the_old_or_the_new_state(old, monkeypatch, name, where):
    rows, columns = old_rows(old), structure(old)[0]
    change, record = MIGRATIONS[name], migrations._record

    def die(connection):
        change(connection)
        os.kill(os.getpid(), signal.SIGKILL)

    def die_later(connection, names):
        record(connection, names)
        if name in names:
            os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patch:
        if where == "changed":
            patch.setitem(MIGRATIONS, name, die)
        else:
            patch.setattr(migrations, "_record", die_later)
        assert at_once(1, list_studies, old) == [-signal.SIGKILL]
    earlier = set(list(MIGRATIONS)[: list(MIGRATIONS).index(name)])
    assert applied(old) == ((VERSION, earlier) if earlier else (1, None))
    assert ("mixsense_answers.answer_group" in structure(old)[0]) == ("answers have groups" in earlier)
    assert ("mixsense_rounds.block" in structure(old)[0]) == ("rounds have blocks" in earlier)
    assert ("mixsense_tickets.secret" in structure(old)[0]) == ("tickets have secrets" in earlier)
    assert columns.keys() <= structure(old)[0].keys()
    assert list_studies(old) == ["done", "half"]
    assert applied(old) == (VERSION, {*MIGRATIONS})
    assert old_rows(old) == rows


def test_the_change_and_its_record_are_one_transaction(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    ms.create_study(path, "tea", **SMALL).close()

    def add_colour(connection):
        connection.execute(sa.text("ALTER TABLE mixsense_studies ADD COLUMN colour TEXT"))
        connection.execute(sa.text("UPDATE mixsense_studies SET colour = 'green'"))

    def fail(connection):
        add_colour(connection)
        raise ZeroDivisionError

    monkeypatch.setitem(MIGRATIONS, "studies have colours", fail)
    with pytest.raises(ZeroDivisionError):
        ms.load_study(path, "tea")
    assert "mixsense_studies.colour" not in structure(path)[0]
    monkeypatch.setitem(MIGRATIONS, "studies have colours", add_colour)
    upgrade(Database(path))
    upgrade(Database(path))  # a second time there is nothing to do
    assert "mixsense_studies.colour" in structure(path)[0]
    assert "studies have colours" in applied(path)[1]
    monkeypatch.undo()
    with pytest.raises(ms.InvalidInput, match=r"a newer mixsense \('studies have colours', which this"):
        ms.load_study(path, "tea")


def test_a_later_version_is_refused(tmp_path):
    path = tmp_path / "a.db"
    ms.create_study(path, "tea", **SMALL).close()
    database = Database(path)
    with database.writing() as connection:
        connection.execute(sa.text(f"UPDATE mixsense_schema SET version = {VERSION + 1}"))
    with pytest.raises(ms.InvalidInput, match=rf"a newer mixsense \(version {VERSION + 1} of its tables, which"):
        ms.load_study(path, "tea")
