"""What nobody may learn: whose answer it was, when it came, or what a study that was deleted held."""

from __future__ import annotations

import os
import re
import sqlite3
import struct
import traceback
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
import mixsense.studies.storage.database as database_module
from mixsense import sqlite
from mixsense.studies.files import export_answers, export_open
from mixsense.studies.ids import read_id, text_of
from mixsense.studies.registry import delete_study, list_studies
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.scatter import NEIGHBOURS, new_ticket
from mixsense.studies.storage.tables import TABLES_OF_A_STUDY, sa, tickets
from study_cases import OLD, SMALL, one_line

pytest_plugins = ["study_storages"]


def file_of(url):
    return Path(url.removeprefix("sqlite:///"))


def place_of(study, q):
    """Which question of the first round it is; a round may ask a query twice."""
    mine = tickets.c.study == study._row.study, tickets.c.ticket == study.ticket_of(q.id).number
    with study._database.reading() as connection:
        return int(connection.execute(sa.select(tickets.c.slot).where(*mine)).scalar_one())


@pytest.mark.parametrize("same_number", [False, True])
def test_a_handle_of_a_deleted_study_touches_no_other(empty, same_number):
    old = ms.create_study(empty, "tea", **SMALL)
    q = old.ask()
    delete_study(empty, "tea")
    new = ms.create_study(empty, "tea", **SMALL)
    assert new._row.study != old._row.study
    if same_number:  # as an older program, which counts, would number it
        with new._database.writing() as connection:
            for table in TABLES_OF_A_STUDY:
                connection.execute(table.update().values(study=old._row.study))
        new = ms.load_study(empty, "tea")
    uses = [old.ask, old.progress, old.result, old.answers, old.record, old.release, lambda: old.tell(q.id, 1.0)]
    uses += [lambda: old.handed_out([q.id]), lambda: old._storage.finish("failed", "{}")]
    for use in uses:
        with pytest.raises(ms.StudyError, match=r"the study 'tea' in .* has been deleted") as caught:
            use()
        one_line(caught.value)
    with pytest.raises(ms.InvalidInput, match=r"another study|never handed out"):
        new.tell(q.id, 1.0)
    now = new.progress()
    assert (now.state, now.total, now.out, now.expired) == ("asking", 0, 0, 0)
    for study in (old, new):
        study.close()


def test_ids_cannot_be_counted_and_refusals_tell_nothing(make):
    study = make()
    mine, other = study.ask_many(2)
    study.tell(other.id, 6.5)
    assert re.fullmatch(r"[b-z]{4}-[b-z]{19}", mine.id)
    said = set()
    for number in range(1, 60):
        with pytest.raises(ms.InvalidInput, match="was never handed out") as caught:
            study.tell(f"{study._row.key}-{number}", 1.0)
        said.add(re.sub(r"-\d+", "", str(caught.value)))
    for position in (-1, 6):  # one letter of the id is another one: a wrong secret, a wrong number
        letters = list(other.id)
        letters[position] = "c" if letters[position] == "b" else "b"
        with pytest.raises(ms.InvalidInput, match=r"never handed out|the question's id is"):
            study.tell("".join(letters), 6.5)
    assert len(said) == 1
    assert study.progress().total == 1


def test_the_random_part_of_an_id_has_more_than_64_bits():
    names = [new_ticket() for _ in range(300)]
    bits = np.array([[int(b) for b in f"{(-1 - t.number) << 17 | t.secret:080b}"] for t in names])
    # Each of 80 bits is 1 in half of the ids: the standard error is 0.029, and 6 of them are never seen in 80.
    assert (abs(bits.mean(axis=0) - 0.5) < 6 * 0.029).all()
    for ticket in names:
        assert read_id(text_of("bcdf", ticket)) == ("bcdf", ticket)
        assert ticket.number < 0
    assert read_id("bcdf-" + "z" * 19) is None


def test_counted_ids_of_an_older_version_are_still_answered(old):
    study = ms.load_study(old, "half")
    tickets = {(row[2], row[3]): row[1] for row in OLD["rows"]["mixsense_tickets"] if row[0] == 2}
    out = tickets[tuple(OLD["rows"]["mixsense_leases"][0][1:3])]
    known = next(row for row in OLD["rows"]["mixsense_answers"] if row[0] == 2)
    before = study.progress()
    assert study.tell(f"bcbl-{known[1]}", known[4]) == "known"
    assert study.tell(f"bcbl-{out}", 1.0) == "taken"
    assert study.tell(f"bcbl-{out}", 1.0) == "known"
    assert study.progress().total == before.total + 1
    assert {f"bcbl-{known[1]}", f"bcbl-{out}"} <= {row["id"] for row in study.answers()}
    assert re.fullmatch(r"bcbl-[b-z]{19}", study.ask().id)
    study.close()


def test_the_order_of_hand_out_is_nowhere(make):
    study = make()
    size = study.progress().size
    asked = [place_of(study, study.ask()) for _ in range(size)]
    assert sorted(asked) == list(range(size))
    # Of 60 in a random order, the correlation with their places has the standard deviation 1 / √59 = 0.13.
    assert abs(np.corrcoef(asked, range(size))[0, 1]) < 6 * 0.13
    assert study.ask_many(1, patient=True) == []
    study.release()
    again = [place_of(study, study.ask()) for _ in range(size)]
    assert sorted(again) == list(range(size))
    assert abs(np.corrcoef(again, range(size))[0, 1]) < 6 * 0.13


def test_large_rounds_are_handed_out_to_the_last_question(make):
    study = make(method="paper", k=2, m=20, batch=35)
    size = study.progress().size
    assert size == 700
    seen = [q.id for _ in range(100) for q in study.ask_many(3)] + [q.id for q in study.ask_many(100, in_order=True)]
    assert len(set(seen)) == 400
    with study._database.writing() as connection:  # an older program at work goes on after the largest slot
        connection.execute(sa.text("UPDATE mixsense_tickets SET slot = 650 WHERE slot = 5"))
    assert len(study.ask_many(1000)) == 300
    assert study.ask_many(1, patient=True) == []


def test_the_order_of_arrival_is_not_in_the_file(make, url):
    study = make()
    values = {}
    for i in range(30):
        q = study.ask()
        study.tell(q.id, values.setdefault(q.id, 1000.5 + i / 7))
    tickets = sorted(values, key=lambda id_: study.ticket_of(id_).number)
    if url.startswith("postgresql"):
        with study._database.reading() as connection:
            mine = f"study = {study._row.study}"
            for table in ("mixsense_answers", "mixsense_tickets"):
                placed = sa.text(f"SELECT ticket FROM {table} WHERE {mine} ORDER BY ctid")
                order = connection.execute(placed).scalars().all()
                assert order == sorted(order)  # that of random numbers
                by = connection.execute(sa.text(f"SELECT DISTINCT xmin::text FROM {table} WHERE {mine}")).all()
                assert len(by) == 1
        return
    study.close()
    data = file_of(url).read_bytes()
    places = {id_: [m.start() for m in re.finditer(re.escape(struct.pack(">d", v)), data)] for id_, v in values.items()}
    assert all(len(found) == 1 for found in places.values())
    assert sorted(values, key=lambda id_: -places[id_][0]) == tickets  # a page is filled from its end
    with closing(sqlite3.connect(file_of(url))) as connection:
        for table in ("mixsense_answers", "mixsense_tickets", "mixsense_leases"):
            with pytest.raises(sqlite3.OperationalError, match="no such column: rowid"):
                connection.execute(f"SELECT rowid FROM {table}")


def test_every_row_of_a_batch_is_written_among_others(make, url):
    """What one transaction wrote: were it the batch alone, it would tell who was handed out together."""
    study = make(method="paper", k=2, m=20, batch=100)
    study.ask_many(300)
    with study._database.writing() as connection:
        if not url.startswith("postgresql"):
            connection.execute(sa.text("CREATE TABLE written (ticket BIGINT)"))
            note = "AFTER INSERT ON mixsense_tickets BEGIN INSERT INTO written VALUES (new.ticket); END"
            connection.execute(sa.text(f"CREATE TRIGGER note {note}"))

    def asked(count):
        """Ask; return all tickets, those that are new, and those that this call wrote."""
        with study._database.writing() as connection:
            if not url.startswith("postgresql"):
                connection.execute(sa.text("DELETE FROM written"))
        new = {study.ticket_of(q.id).number for q in study.ask_many(count)}
        one = f"(SELECT xmin FROM mixsense_tickets WHERE ticket = {min(new)})"
        written = f"SELECT ticket FROM mixsense_tickets WHERE xmin = {one}"
        with study._database.reading() as connection:
            rows = sa.text(written if url.startswith("postgresql") else "SELECT ticket FROM written")
            here = sa.select(tickets.c.ticket).where(tickets.c.study == study._row.study)
            everything = sorted(connection.execute(here).scalars())
            return everything, new, set(connection.execute(rows).scalars())

    everything, _, written = asked(20)
    assert written == set(everything)  # 20 × 128 neighbours are more than there are
    everything, new, written = asked(2)
    assert len(written) <= 2 * (1 + 2 * NEIGHBOURS)
    for number in new:
        place = everything.index(number)
        assert set(everything[max(0, place - NEIGHBOURS) : place + NEIGHBOURS + 1]) <= written


def test_an_older_file_loses_the_order_of_arrival(old):
    with closing(ms.load_study(old, "half")):
        pass
    database = Database(old)
    with database.reading() as connection:
        if database.sqlite:
            tables = "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'"
            assert connection.execute(sa.text(tables)).scalar_one() == 8
        else:
            order = connection.execute(sa.text("SELECT ticket FROM mixsense_answers ORDER BY ctid")).scalars().all()
            assert order != sorted(order)
    database.close()


def test_nothing_of_a_deleted_study_is_left(url):
    if url.startswith("postgresql"):
        pytest.skip("a server reuses the room in its own time")
    study = ms.create_study(url, "tea", **SMALL)
    values = [1000.5 + i / 7 for i in range(20)]
    study.tell_many([(q.id, v) for q, v in zip(study.ask_many(20), values, strict=True)])
    with closing(sqlite3.connect(file_of(url))) as other:  # keeps a write-ahead log from going by itself
        other.execute("SELECT count(*) FROM mixsense_answers").fetchone()
        other.commit()
        delete_study(url, "tea")
        left = b"".join(path.read_bytes() for path in file_of(url).parent.glob("study.db*"))
    assert not [v for v in values if struct.pack(">d", v) in left]
    with study._database.reading() as connection:
        assert connection.execute(sa.text("PRAGMA secure_delete")).scalar_one() == 1
    study.close()


def test_a_log_that_somebody_reads_is_said_to_hold_what_was_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "SQLITE_VERSION", sqlite.SAFE_WAL)
    monkeypatch.setattr(database_module, "WAIT_SECONDS", 0.1)
    path, value = tmp_path / "study.db", 1000.5 + 1 / 7
    study = ms.create_study(path, "tea", **SMALL)
    with closing(sqlite3.connect(path)) as other:
        study.tell(study.ask().id, value)
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM mixsense_answers").fetchone()
        with pytest.raises(ms.StudyError, match=r"was removed from .*study\.db may still be in the log") as caught:
            delete_study(path, "tea")
        one_line(caught.value)
        assert list_studies(path) == []
    left = b"".join(file.read_bytes() for file in tmp_path.glob("study.db*"))
    assert struct.pack(">d", value) not in left  # as the message says
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ms.StudyError, match=r"may still be in the log .*\(database is locked\)") as caught:
            Database(path).forget()
        one_line(caught.value)


def test_a_file_that_is_given_as_an_address_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ms.InvalidInput, match="give its name alone") as caught:
        ms.create_study("sqlite:///file:u.db?mode=rwc&uri=true", "tea", **SMALL)
    one_line(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_new_file_is_its_owner_s_alone(tmp_path):
    before = os.umask(0o022)
    try:
        with closing(ms.create_study(tmp_path / "tea.db", "tea", **SMALL)):
            assert [oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()] == ["0o600"]
        (tmp_path / "shared.db").touch(0o660)
        os.chmod(tmp_path / "shared.db", 0o660)
        ms.create_study(tmp_path / "shared.db", "tea", **SMALL).close()
        assert (tmp_path / "shared.db").stat().st_mode & 0o777 == 0o660  # what the user chose stays
        (tmp_path / "link.db").symlink_to(tmp_path / "behind.db")
        ms.create_study(tmp_path / "link.db", "tea", **SMALL).close()
        assert (tmp_path / "behind.db").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_new_file_of_answers_is_its_owner_s_alone(tmp_path, kind):
    before = os.umask(0o022)
    try:
        with closing(ms.create_study(tmp_path / "tea.db", "tea", **SMALL)) as study:
            answers, questions, shared = (tmp_path / f"{name}.{kind}" for name in ("answers", "questions", "shared"))
            export_open(study, questions, 3)
            export_answers(study, answers)
            shared.touch()
            os.chmod(shared, 0o660)
            export_answers(study, shared, force=True)
        ms.RecordedOracle(ms.SimulatedOracle(np.eye(2)), tmp_path / "record", {})(np.eye(2), 1)
        mode = {
            path.stem: oct(path.stat().st_mode & 0o777) for path in (answers, questions, shared, tmp_path / "record")
        }
        assert mode == {"answers": "0o600", "questions": "0o600", "shared": "0o660", "record": "0o600"}
    finally:
        os.umask(before)


def test_a_failure_to_store_does_not_show_the_answer(empty):
    study = ms.create_study(empty, "tea", **SMALL)
    with study._database.writing() as connection:
        if study._database.sqlite:
            refuse = "CREATE TRIGGER no BEFORE INSERT ON mixsense_answers BEGIN SELECT RAISE(ABORT, 'no room'); END"
        else:
            refuse = "ALTER TABLE mixsense_answers ADD CONSTRAINT no CHECK (value < 0)"
        connection.execute(sa.text(refuse))
    q, value = study.ask(), 49.125 + 12.28125
    with pytest.raises(ms.StudyError, match="nothing was stored by this step") as caught:
        study.tell(q.id, value)
    one_line(caught.value)
    assert str(value) not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None  # the driver's error knows the row
    assert study.progress().total == 0
    study.close()
