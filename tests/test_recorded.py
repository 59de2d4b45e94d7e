"""Answers that are kept in a file: the same contract as for every other oracle, new or read again."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
import mixsense.oracles.recorded as recorded_module
from oracle_contract import check_oracle

# Whole numbers: their products are exact, whether rows are multiplied one by one or together.
PAIR = np.random.default_rng(0).integers(-3, 4, (2, 20))
X = np.random.default_rng(1).integers(-9, 10, (6, 20)).astype(float)
RUN = {"seed": 1}


def test_contract_where_every_answer_is_new(tmp_path):
    numbers = itertools.count()
    check_oracle(lambda: ms.RecordedOracle(simulated(), tmp_path / f"{next(numbers)}.jsonl", RUN), X)


def test_contract_where_every_answer_is_in_the_file(tmp_path):
    path = tmp_path / "answers.jsonl"
    first = ms.RecordedOracle(simulated(), path, RUN)(X, 2)
    check_oracle(lambda: ms.RecordedOracle(nobody, path, RUN), X)
    assert np.array_equal(ms.RecordedOracle(nobody, path, RUN)(X, 2), first)


@pytest.mark.parametrize("known", [1, 5])
def test_contract_where_some_answers_are_in_the_file(tmp_path, known):
    numbers = itertools.count()

    def make():
        path, oracle = tmp_path / f"{next(numbers)}.jsonl", simulated()
        ms.RecordedOracle(oracle, path, RUN)(X[:known], 2)
        return ms.RecordedOracle(oracle, path, RUN)  # the simulation goes on where it was

    check_oracle(make, X)
    assert np.array_equal(make()(X, 2), simulated()(X, 2))


def simulated():
    return ms.SimulatedOracle(PAIR, sigma=0.5, seed=3)


def nobody(queries, repeats):
    raise AssertionError("everything is in the file")


# -- what is interrupted, and what is no file ----------------------------------------------------------------


def answers_in(path):
    _, *lines = map(json.loads, path.read_text().splitlines())
    return [answer for line in lines for row in line["answers"] for answer in row]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")], ids=["ctrl-c", "full"])
@pytest.mark.parametrize("known", [0, 2])
def test_an_interrupted_write_loses_nothing_and_the_oracle_goes_on(tmp_path, monkeypatch, failure, known):
    path, asked = tmp_path / "answers.jsonl", simulated()
    recorded = ms.RecordedOracle(asked, path, RUN)
    recorded(X[:known], 1) if known else None

    def interrupted(_):
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises((KeyboardInterrupt, ms.OracleError)):
            recorded(X, 1)
    before = asked.count
    assert recorded(X, 1).shape == (len(X), 1)
    assert asked.count == max(before, known + len(X))  # what came before the interruption is not asked again
    recorded(X[:1], 1)
    assert len(answers_in(path)) == asked.count
    assert ms.RecordedOracle(nobody, path, RUN).reused == asked.count


@pytest.mark.parametrize("written", [0, 7, 60])
def test_a_line_that_was_torn_while_the_oracle_lives_is_made_whole(tmp_path, monkeypatch, written):
    path, asked = tmp_path / "answers.jsonl", simulated()
    recorded = ms.RecordedOracle(asked, path, RUN)
    whole = path.stat().st_size

    def torn(_):
        os.truncate(path, whole + written)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", torn)
        with pytest.raises(KeyboardInterrupt):
            recorded(X, 1)
    first = recorded(X, 1)
    assert asked.count == len(X)
    assert answers_in(path) == first.ravel().tolist()


def test_what_another_program_adds_in_between_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "answers.jsonl"
    recorded = ms.RecordedOracle(simulated(), path, RUN)

    def interrupted(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            recorded(X, 1)
    with path.open("a") as file:
        file.write("{}\n")
    with pytest.raises(ms.OracleError, match="another program has changed it"):
        recorded(X, 1)


def test_what_is_not_a_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/full"), Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(ms.InvalidInput, match=r"cannot be used as a record \(it is not a regular file\)"):
            ms.RecordedOracle(simulated(), path, RUN)


@pytest.mark.parametrize("run", [None, 3, [1], {"seed": object()}, {"seed": float("nan")}, {(1, 2): 3}])
def test_a_run_that_has_no_json_is_one_line(tmp_path, run):
    with pytest.raises(ms.InvalidInput, match="run cannot be stored as JSON") as caught:
        ms.RecordedOracle(simulated(), tmp_path / "answers.jsonl", run)
    assert str(caught.value).isprintable()
    assert not (tmp_path / "answers.jsonl").exists()


class Sessions:
    """Answers 1, all from one model, whose group is 0 in every call."""

    def __call__(self, queries, repeats):
        return self.asked(queries, repeats, 1).table()

    def asked(self, queries, repeats, block):
        return ms.Asked.of_round(queries, np.ones((len(queries), repeats)), np.zeros((len(queries), repeats), int))


def test_groups_of_another_oracle_are_not_taken_for_those_of_the_record(tmp_path):
    replay = ms.ReplayOracle([(X[:2], np.ones((2, 1)))], then=Sessions())
    first, second, third = (replay.asked(X[rows], 1).group.tolist() for rows in (slice(0, 2), [2, 3], [4]))
    assert first == [0, 1]
    assert second[0] == second[1] == third[0]  # over all calls
    assert not {*first} & {*second}
    path = tmp_path / "answers.jsonl"
    ms.RecordedOracle(Sessions(), path, RUN)(X[:2], 1)
    later = ms.RecordedOracle(Sessions(), path, RUN)
    known, new = (later.asked(X[rows], 1).group.tolist() for rows in (slice(0, 2), [2, 3]))
    assert known[0] == known[1] != new[0] == new[1]


def test_no_queries_are_one_line(tmp_path):
    record = [(X[:2], np.ones((2, 1)))]
    for oracle in (ms.ReplayOracle(record), ms.ReplayOracle(record, then=simulated())):
        with pytest.raises(ms.InvalidInput, match=r"queries have shape \(0, 20\): give"):
            oracle(X[:0], 1)


def test_queries_that_are_not_in_the_record_leave_nothing_behind():
    replay = ms.ReplayOracle([(X[:2], np.ones((2, 1)))], then=simulated())
    for rows in (slice(2, 6), slice(0, 3), slice(0, 6)):
        replay(X[rows], 2)
    assert not replay._answers


def test_a_record_of_many_queries_is_read_in_one_pass(monkeypatch):
    many = np.arange(4000.0).reshape(2000, 2)
    record, counted = [(many, many[:, :1])], []
    keys = recorded_module._keys
    monkeypatch.setattr(recorded_module, "_keys", lambda rows: (counted.append(len(rows)), keys(rows))[1])
    assert np.array_equal(ms.ReplayOracle(record)(many, 1), many[:, :1])
    assert sum(counted) <= 3 * len(many)


def test_what_a_call_left_half_in_the_file_can_be_distrusted(tmp_path):
    """The second half of the first call fails: the first half is in the file."""
    path, calls = tmp_path / "answers.jsonl", itertools.count()
    ms.RecordedOracle(simulated(), path, RUN)(X[2:3], 1)

    def failing(queries, repeats):
        if next(calls):
            raise ms.OracleError("one line too many")
        return np.ones((len(queries), repeats))

    recorded = ms.RecordedOracle(failing, path, RUN)
    with pytest.raises(ms.OracleError, match="too many"):
        recorded(X[:3], 1)
    assert (recorded.count, recorded.reused, recorded.kept) == (0, 1, 2)


@pytest.mark.parametrize("room", [1, 5, 20])
def test_a_torn_note_not_to_trust_still_counts(tmp_path, room):
    """On a full disk the note is torn: no later run takes the answers all the same."""
    code = """
import resource, signal, sys, numpy as np, mixsense as ms
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
oracle = ms.RecordedOracle(lambda X, repeats: np.ones((len(X), repeats)), "r.jsonl", {"a": 1})
oracle(np.eye(2), 1)
limit = open("r.jsonl", "rb").seek(0, 2) + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    oracle.distrust("a line too many")
except ms.OracleError as error:
    print(error)
"""
    args = [sys.executable, "-c", code, str(room)]
    done = subprocess.run(args, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("a line too many; and this cannot be noted in r.jsonl (")
    for _ in range(2):
        with pytest.raises(ms.InvalidInput, match="not to be trusted"):
            ms.RecordedOracle(lambda X, repeats: np.ones((len(X), repeats)), tmp_path / "r.jsonl", {"a": 1})


def test_a_whole_note_not_to_trust_counts(tmp_path):
    def ones(X, repeats):
        return np.ones((len(X), repeats))

    oracle = ms.RecordedOracle(ones, tmp_path / "r.jsonl", {})
    oracle(np.eye(2), 1)
    oracle.distrust("a line too many")
    with pytest.raises(ms.InvalidInput, match=r"not to be trusted \(a line too many\)"):
        ms.RecordedOracle(ones, tmp_path / "r.jsonl", {})
