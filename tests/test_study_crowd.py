"""Nobody waits: there is a question until the end, late answers are used, and one process computes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from mixsense.rounds import Steps
from mixsense.studies import playback as playback_module
from mixsense.studies import study as study_module
from mixsense.studies.storage import turns as turns_module
from mixsense.studies.storage.tables import sa

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from kill_study import TRUTH, answer

pytest_plugins = ["study_storages"]


def with_time(monkeypatch, minutes):
    monkeypatch.setattr(study_module, "_minutes", lambda: minutes)


def tell(study, questions):
    return study.tell_many([(q.id, answer(q.x)) for q in questions])


def rows(study, table):
    with study._database.reading() as connection:
        return connection.execute(sa.text(f"SELECT * FROM mixsense_{table} WHERE study = {study._row.study}")).all()


def same_to_the_last_bit(study, url):
    """A process that has seen nothing plays the study back to the same result."""
    other = ms.load_study(url, study.name)
    steps = playback_module.steps_of(ms.Problem.from_dict(other.problem))
    for asked in other.record():
        steps.send(asked)
    again = steps.result
    assert again is not None
    result = study.result()
    assert again.vectors.tobytes() == result.vectors.tobytes()
    assert (again.queries, again.status) == (result.queries, result.status)
    other.close()


def test_enough_answers_begin_the_next_round_and_late_ones_are_used(make, url):
    study = make(gamma=None, max_queries=200, lease=31_000_000.0)
    size = study.progress().size
    first = study.ask_many(size)
    late = first[: size // 10]  # ENOUGH is 0.9
    tell(study, first[size // 10 :])
    assert study.progress().state == "ready"
    (q,) = study.ask_many(1)
    now = study.progress()
    assert (now.round, now.total) == (2, size - len(late))
    assert tell(study, [*late, q]) == ["taken"] * (len(late) + 1)
    tell(study, study.ask_many(1000))
    assert study.advance()
    asked = study.record()
    assert len(asked[0]) == size - len(late)
    assert len(asked[1]) == now.size + len(late)
    given = {tuple(x) for x in asked[1].queries[now.size :]}
    assert given == {tuple(q.x) for q in late}
    while questions := study.ask_many(1000):
        tell(study, questions)
    assert study.result().queries == study.progress().total == sum(map(len, study.record())) == 200
    same_to_the_last_bit(study, url)


def test_a_year_s_lease_and_people_who_left_hold_nothing_up(make, url):
    """One of five never answers: extra questions take the place of theirs."""
    study, rng, asked = make(lease=31_000_000.0, gamma=0.3), np.random.default_rng(3), 0
    while (q := study.ask()) is not None:
        asked += 1
        if rng.random() < 0.8:
            study.tell(q.id, answer(q.x) + 0.5 * rng.standard_normal())  # extra questions are asked before
        assert asked < 2000
    assert study.progress().state == "ended"
    assert len(rows(study, "loose")) > 5
    assert study.result().queries == study.progress().total
    # Answers depend on x alone, and σ is too small: no model. When they come decides how many are asked, and once one
    # model too many was shown.
    away = np.linalg.norm(study.result().vectors[:, None] - TRUTH, axis=2).min(axis=0)
    assert away.max() < 0.6
    same_to_the_last_bit(study, url)


def test_the_budget_is_a_hard_limit_for_a_crowd_too(make, url):
    study, rng, out = make(gamma=None, max_queries=150), np.random.default_rng(4), []
    while (q := study.ask()) is not None:
        out.append(q)
        if len(out) > 60:  # answers come late, and in any order
            tell(study, [out.pop(rng.integers(len(out)))])
    tell(study, out)
    result = study.result()
    assert result.queries == study.progress().total == sum(map(len, study.record())) <= 150
    assert study.progress().surplus == len(study.answers()) - result.queries
    same_to_the_last_bit(study, url)


def test_a_method_that_needs_all_answers_gets_the_first_of_two(make):
    study = make(method="paper", k=2, m=4, batch=4, lease=31_000_000.0)
    size = study.progress().size
    assert size == 16
    first = study.ask_many(size, in_order=True)
    rng = np.random.default_rng(5)  # the answers to one query differ
    study.tell_many([(q.id, answer(q.x) + rng.standard_normal()) for q in first[1:]])
    again = study.ask(respondent="somebody else")
    assert np.array_equal(again.x, first[0].x)  # what is out, although its lease is a year
    assert study.progress().round == 1
    assert tell(study, [again]) == ["taken"]
    assert tell(study, [first[0]]) == ["surplus"]
    assert study.advance() is True


def test_while_the_next_round_is_computed_there_are_questions(make, monkeypatch):
    study = make()
    size = study.progress().size
    tell(study, study.ask_many(size))
    begun, go_on, send = threading.Event(), threading.Event(), Steps.send

    def slow(self, asked):
        begun.set()
        assert go_on.wait(60)
        send(self, asked)

    monkeypatch.setattr(Steps, "send", slow)
    computing = threading.Thread(target=study.advance)
    computing.start()
    assert begun.wait(60)
    assert study.progress().state == "computing"
    assert not study.ask_many(1, patient=True)
    extra = [study.ask(respondent=f"token {i % 3}") for i in range(9)]
    assert None not in extra
    for who in {q.group for q in extra}:
        assert len({tuple(q.x) for q in extra if q.group == who}) == 3  # nobody gets one twice
    assert tell(study, extra) == ["taken"] * 9
    go_on.set()
    computing.join(60)
    now = study.progress()
    assert (now.round, now.total, now.answered) == (2, size + 9, 0)
    tell(study, study.ask_many(now.size))
    study.ask()
    assert [len(asked) for asked in study.record()] == [size, now.size + 9]
    groups = study.record()[1].group[now.size :]
    assert sorted(np.unique(groups, return_counts=True)[1].tolist()) == [3, 3, 3]


def test_a_process_that_was_killed_keeps_its_turn_for_a_minute_only(make, url, monkeypatch):
    study = make()
    tell(study, study.ask_many(study.progress().size))

    def die():
        monkeypatch.setattr(Steps, "send", lambda self, asked: os.kill(os.getpid(), signal.SIGKILL))
        ms.load_study(url, study.name).advance()

    process = multiprocessing.get_context("fork").Process(target=die)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert study.progress().state == "computing"
    assert study.advance() is False
    assert study.ask() is not None
    assert study.progress().round == 1
    with_time(monkeypatch, time.time() / 60 + 2.1)
    assert study.progress().state == "ready"
    assert study.advance() is True
    assert study.progress().round == 2
    assert rows(study, "computing") == []


@pytest.mark.parametrize("ahead", [10, -10, 1e9])
def test_a_clock_that_jumped_holds_no_turn(make, url, monkeypatch, ahead):
    study = make()
    tell(study, study.ask_many(study.progress().size))
    now = time.time() / 60
    assert study._playback._turns.take(0, now + ahead, patient=False)
    other = ms.load_study(url, study.name)
    with_time(monkeypatch, now)
    assert other.advance() is True
    assert study.progress().round == 2
    other.close()


def test_a_turn_is_kept_while_the_method_computes(make, url, monkeypatch):
    study = make()
    tell(study, study.ask_many(study.progress().size))
    monkeypatch.setattr(turns_module, "RENEWALS", 0.01)
    monkeypatch.setattr(turns_module, "minutes", lambda: 5000.0)
    with_time(monkeypatch, 1000.0)
    seen, send = [], Steps.send

    def slow(self, asked):
        until = time.monotonic() + 30
        while not seen and time.monotonic() < until:
            seen.extend(row for row in rows(study, "computing") if row.until == 5001)
        send(self, asked)

    monkeypatch.setattr(Steps, "send", slow)
    assert study.advance()
    assert len(seen) == 1


def test_a_method_that_fails_gives_its_turn_back(make, monkeypatch):
    study = make()
    tell(study, study.ask_many(study.progress().size))
    with monkeypatch.context() as patch:
        patch.setattr(Steps, "send", lambda self, asked: 1 / 0)
        with pytest.raises(ms.StudyError, match="no answer is lost"):
            study.advance()
    assert study.progress().state == "ready"
    assert study.advance() is True


def test_no_question_is_given_up_that_nobody_was_handed(make):
    study = make()
    size = study.progress().size
    tell(study, study.ask_many(size - 1))
    assert study.advance() is False
    assert study.progress().state == "asking"
    tell(study, study.ask_many(5))
    assert study.advance() is True


def test_who_leaves_the_computing_to_others_never_computes(make, monkeypatch):
    study = make()
    tell(study, study.ask_many(study.progress().size))
    with monkeypatch.context() as patch:
        patch.setattr(Steps, "send", lambda self, asked: 1 / 0)
        assert study.ask(advance=False) is not None
    assert study.progress().round == 1


def test_extra_questions_are_stored_without_an_order(make):
    study = make()
    study.ask_many(study.progress().size)
    x = [study.ask().x for _ in range(40)]
    queries = [tuple(q) for q in study._storage.round(0)[0].queries]
    place = {q: i for i, q in enumerate(queries)}  # a round may ask a query twice
    stored = [place[queries[row.query]] for row in sorted(rows(study, "loose"), key=lambda row: row.slot)]
    asked = [place[tuple(q)] for q in x]
    assert sorted(stored) == sorted(asked)
    assert stored != asked
    # The rank correlation of 40 in a random order has the standard deviation 1 / √39 = 0.16.
    order = [sorted(stored).index(query) for query in stored]
    assert abs(np.corrcoef(order, [sorted(asked).index(query) for query in asked])[0, 1]) < 6 * 0.16


@pytest.mark.parametrize("seed", [1])
def test_a_small_crowd_is_never_kept_waiting(tmp_path, seed):
    from crowd import crowd

    told = crowd(tmp_path / "crowd.db", phones=16, processes=2, seed=seed, think=0.02, budget=250, n=8)
    assert told.refused == 0
    assert told.computed == told.rounds
    assert told.left > 0
    assert told.late > 0
    assert told.status in ("certified", "budget", "uncertain")
    assert told.used <= 250
