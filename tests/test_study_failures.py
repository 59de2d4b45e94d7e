"""What a study does when its database fails, its disk is full, its clock is wrong, or a method or an oracle is odd."""

from __future__ import annotations

import json
import re
import resource
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from mixsense import sqlite
from mixsense.rounds import Asked
from mixsense.studies import study as study_module
from mixsense.studies.files import import_answers
from mixsense.studies.registry import list_studies
from mixsense.studies.storage import database as database_module
from study_cases import SMALL, one_line

pytest_plugins = ["study_storages"]


def with_time(monkeypatch, minutes):
    monkeypatch.setattr(study_module, "_minutes", lambda: minutes)


@pytest.mark.parametrize("ahead", [16, 60 * 24 * 365, 1e9])
def test_a_clock_that_was_ahead_holds_no_question(make, monkeypatch, ahead):
    study = make(lease=600)
    size = study.progress().size
    with_time(monkeypatch, 1000.0 + ahead)
    assert len(study.ask_many(size)) == size
    assert study.ask_many(1, patient=True) == []
    with_time(monkeypatch, 1000.0)  # the clock is set right, or another machine asks
    assert (study.progress().open, study.progress().out) == (size, 0)
    assert study.ask() is not None
    with_time(monkeypatch, 995.5)  # clocks of machines that work together differ a little
    assert (study.progress().open, study.progress().out) == (size - 1, 1)


class Torn:
    """A way to a PostgreSQL server that carries a commit there, and nothing back."""

    def __init__(self, port):
        self._port = port
        self.breaks = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._port))
            self._sockets += [client, server]
            threading.Thread(target=self._carry, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._carry, args=(server, client, False), daemon=True).start()

    def _carry(self, source, target, asks):
        try:
            while data := source.recv(65536):
                commit = asks and self.breaks and b"COMMIT\0" in data
                if commit:
                    source.shutdown(socket.SHUT_RDWR)  # nothing goes back to who asked
                target.sendall(data)
                if commit:
                    return
        except OSError:
            pass

    def close(self):
        for each in self._sockets:
            each.close()


def test_a_commit_whose_answer_was_lost_is_said_to_be_unknown(postgres):
    server = re.search(r":(\d+)/", postgres)[1]
    way = Torn(int(server))
    direct = ms.create_study(postgres, "torn", **SMALL)
    study = ms.load_study(postgres.replace(f":{server}/", f":{way.port}/"), "torn")
    q = study.ask()
    way.breaks = True
    with pytest.raises(ms.StudyError, match="it is not known whether this call was stored; call again") as caught:
        study.tell(q.id, 6.5)
    assert "nothing was stored" not in one_line(caught.value)
    way.breaks = False
    assert study.tell(q.id, 6.5) in ("known", "taken")
    assert (direct.progress().total, direct.progress().surplus) == (1, 0)
    for each in (study, direct):
        each.close()
    way.close()


def test_a_commit_that_waits_in_vain_stores_nothing_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "SQLITE_VERSION", (3, 0, 0))
    monkeypatch.setattr(database_module, "WAIT_SECONDS", 0.1)
    study = ms.create_study(tmp_path / "a.db", "tea", **SMALL)
    q = study.ask()
    with closing(sqlite3.connect(tmp_path / "a.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM mixsense_answers").fetchone()
        with pytest.raises(ms.StudyError, match="nothing was stored by this step"):
            study.tell(q.id, 6.5)
    assert study.progress().total == 0
    assert study.tell(q.id, 6.5) == "taken"


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_full_disk_is_read(tmp_path, monkeypatch, mode):
    monkeypatch.setattr(sqlite, "SQLITE_VERSION", sqlite.SAFE_WAL if mode == "WAL" else (3, 0, 0))
    with closing(ms.create_study(tmp_path / "a.db", "tea", **SMALL)) as study:
        q = study.ask()
        study.tell(q.id, 6.5)
    code = (
        "import sys, mixsense as ms; from mixsense import sqlite\n"
        f"sqlite.SQLITE_VERSION = {sqlite.SQLITE_VERSION}\n"
        "study = ms.load_study(sys.argv[1], 'tea')\n"
        "now = study.progress()\n"
        "print(now.total, now.open, len(study.answers()))\n"
        "try: study.ask()\n"
        "except ms.StudyError as error: print(error)\n"
        "print(study.progress().total)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.db"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),  # nothing more can be written
    )
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert (first, third) == (f"1 {study.progress().size - 1} 1", "1")
    assert re.search(r"cannot be used \(.*\): nothing was stored|it is not known whether", one_line(second))
    assert (study.progress().total, study.tell(q.id, 6.5)) == (1, "known")


def test_a_method_that_says_open_ends_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "openlab.py").write_text(
        "import numpy as np, mixsense as ms\n"
        "def search(problem, rng):\n"
        "    yield ms.Round(np.eye(problem.n))\n"
        "    return ms.Recovery(np.ones((2, problem.n)), status='open')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    study = ms.create_study(tmp_path / "a.db", "tea", n=3, seed=1, method="openlab:search")
    study.tell_many([(q.id, 1.0) for q in study.ask_many(3)])
    assert study.ask() is None
    for r in (study.result(), ms.load_study(tmp_path / "a.db", "tea").result()):
        assert r.status == "uncertain"
        assert "'open' although it had ended" in r.summary()
    assert (study.progress().state, study.progress().status) == ("ended", "uncertain")


class Sessions:
    """An oracle that knows who answers: two answers each, counted from 0 in every run."""

    def __init__(self, move=0.0):
        self._given, self._move = 0, move

    def __call__(self, queries, repeats):
        raise AssertionError("it is to be asked for groups")

    def asked(self, queries, repeats, block):
        group = (self._given + np.arange(len(queries) * repeats)) // 2
        self._given += group.size
        return Asked.of_round(queries + self._move, np.repeat(queries[:, :1], repeats, axis=1), group)


def test_the_groups_of_an_oracle_are_stored(tmp_path):
    (tmp_path / "pairs.py").write_text(
        "import numpy as np, mixsense as ms\n"
        "def search(problem, rng):\n"
        "    for _ in range(2):\n"
        "        asked = yield ms.Round(np.eye(problem.n))\n"
        "    return ms.Recovery(np.ones((2, 4)), status='uncertain', diagnostics={'groups': asked.group.tolist()})\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        study = ms.create_study(tmp_path / "a.db", "tea", n=4, seed=1, method="pairs:search")
        with pytest.raises(ms.OracleError, match="changed the queries: a study keeps its own"):
            ms.run_study(study, Sessions(move=1.0), workers=1, batch=4)
        study.release()
        told = [(q.id, 1.0) for q in study.ask_many(4, in_order=True)]
        with pytest.raises(ms.InvalidInput, match="group is 'a'"):
            study.tell_many(told, [5, 5, None, "a"])
        study.tell_many(told, [5, 5, None, 5])
        result = ms.run_study(study, Sessions(), workers=1, batch=4)
    finally:
        sys.path.remove(str(tmp_path))
    # 5 and 0 of an earlier run are not those of this one.
    assert [part.group.tolist() for part in study.record()] == [[0, 0, 2, 0], [4, 4, 6, 6]]
    assert result.diagnostics["groups"] == [4, 4, 6, 6]


def test_an_import_may_be_repeated_after_a_failure(study, tmp_path):
    a, b = study.ask_many(2)
    (tmp_path / "a.csv").write_text(f"id,answer\n{a.id},1\n{b.id},2\n{b.id},2\n")
    assert import_answers(study, tmp_path / "a.csv") == {"taken": 2, "surplus": 0, "known": 0}
    assert import_answers(study, tmp_path / "a.csv") == {"taken": 0, "surplus": 0, "known": 2}
    assert json.loads(json.dumps(study.progress().to_dict()))["total"] == 2


@pytest.mark.parametrize("storage", ["DELETE", "WAL", "PostgreSQL"])
def test_kills_in_every_verb_lose_nothing(storage, request):
    if storage == "PostgreSQL":
        request.getfixturevalue("postgres")  # or skip
    program = Path(__file__).parent.parent / "benchmarks" / "kill_verbs.py"
    done = subprocess.run(
        [sys.executable, program, "--kills", "2", "--storages", storage], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("in all: {'kills': 12, 'lost': 0, 'elsewhere': 0, 'torn': 0}\n")


def test_a_failure_to_read_says_nothing_of_what_was_stored(tmp_path, monkeypatch):
    """The study is stored, the look at it fails: whoever reads that nothing was stored would create it twice."""

    def failing(database, name):
        with database.reading():
            raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as broken:
        broken.setattr("mixsense.studies.study.find_study", failing)
        with pytest.raises(ms.StudyError, match=r"the study 'tea' was created.*disk I/O error") as caught:
            ms.create_study(tmp_path / "a.db", "tea", **SMALL)
    assert "nothing was stored" not in one_line(caught.value)
    assert list_studies(tmp_path / "a.db") == ["tea"]
    study = ms.load_study(tmp_path / "a.db", "tea")
    monkeypatch.setattr(study._reports, "counts", lambda *_: failing(study._database, "tea"))
    with pytest.raises(ms.StudyError, match="what is stored stays"):
        ms.run_study(study, lambda X, repeats: X[:, :1] + np.zeros((1, repeats)), workers=1, progress=lambda _: None)
    assert ms.load_study(tmp_path / "a.db", "tea").progress().total == 1
