"""Answers that are kept in a file: the same contract as for every other oracle, new or read again."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
import mixsense.oracles.replay as replay_module
from http_service import Service
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


def test_a_record_that_was_removed_is_refused_and_none_is_left_in_its_place(tmp_path):
    path = tmp_path / "answers.jsonl"
    oracle = ms.RecordedOracle(simulated(), path, {"seed": 1})
    oracle(np.eye(PAIR.shape[1])[:1], 1)
    path.unlink()
    with pytest.raises(ms.OracleError, match="is gone: another program has removed it"):
        oracle(np.eye(PAIR.shape[1])[1:2], 1)
    assert not path.exists()
    with pytest.raises(ms.InvalidInput, match="NUL character"):
        ms.RecordedOracle(simulated(), "a\0b", {})


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
    keys = replay_module._keys
    monkeypatch.setattr(replay_module, "_keys", lambda rows: (counted.append(len(rows)), keys(rows))[1])
    assert np.array_equal(ms.ReplayOracle(record)(many, 1), many[:, :1])
    assert sum(counted) <= 3 * len(many)


def test_what_a_call_left_half_in_the_file_can_be_distrusted(tmp_path):
    """The second half of the first call fails: the first half is in the file."""
    path, calls = tmp_path / "answers.jsonl", itertools.count()
    ms.RecordedOracle(simulated(), path, RUN)(X[1:2], 1)

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


# -- answers that come one by one ----------------------------------------------------------------------------


COUNTING = """
import os, sys
log = open({log!r}, "a")
for i, line in enumerate(sys.stdin, 1):
    print(1, file=log, flush=True)
    if i == {last}: {end}
    print({first} + i, flush=True)
"""


def counting(folder, last, end, first=0):
    """A program that answers 1, 2, … and does something else at one question; it logs each question."""
    code = COUNTING.format(log=str(folder / "asked"), last=last, end=end, first=first)
    return ms.CommandOracle([sys.executable, "-c", code])


def test_what_a_program_answered_before_it_died_within_a_call_is_in_the_file(tmp_path):
    path = tmp_path / "answers.jsonl"
    with counting(tmp_path, 100, "sys.exit(3)") as program:
        recorded = ms.RecordedOracle(program, path, RUN)
        with pytest.raises(ms.OracleError, match="exit code 3") as caught:
            recorded(X[:2], 60)
        assert recorded.kept == 99
        assert "received" not in caught.value.data  # the oracle keeps them
    with counting(tmp_path, 0, "pass", first=1000) as program:
        recorded = ms.RecordedOracle(program, path, RUN)
        assert recorded.reused == 99
        y = recorded(X[:2], 60)
    assert y.ravel().tolist() == [*range(1, 100), *range(1001, 1022)]
    assert len((tmp_path / "asked").read_text().splitlines()) == 100 + 21
    assert np.array_equal(ms.RecordedOracle(nobody, path, RUN)(X[:2], 60), y)


@pytest.mark.parametrize("stop", [9, 2], ids=["kill", "ctrl-c"])
def test_a_run_that_is_ended_within_a_call_keeps_every_answer_and_asks_for_the_rest(tmp_path, stop):
    def recover(end, first):
        code = COUNTING.format(log=str(tmp_path / "asked"), last=40, end=end, first=first)
        (tmp_path / "die.py").write_text(code)
        options = "--n 3 --k 1 --method paper --batch 100 --sigma 1 --gamma none --max-queries 500 --seed 1 --quiet"
        command = [sys.executable, "-m", "mixsense", "recover", "--command", f"{sys.executable} die.py"]
        command += ["--record", "r.jsonl", *options.split()]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    ended = recover(f"os.kill(os.getppid(), {stop}); sys.stdin.read()", 0)
    assert ended.returncode in (-9, 130)
    header, *lines = map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())
    assert header["mixsense_record"] == 1
    assert [line["answer"] for line in lines if "row" in line] == [*range(1, 40)]
    (tmp_path / "asked").unlink()
    assert "39 answers are there already" in recover("pass", 1000).stderr
    assert len((tmp_path / "asked").read_text().splitlines()) == 500 - 39


def test_a_record_of_a_program_in_doubt_is_not_read_again(tmp_path):
    path, code = tmp_path / "answers.jsonl", "for i, _ in enumerate(sys.stdin):\n    print(1, flush=True)\n"
    code = f"import sys\n{code}    if i == 2: print(777, flush=True)"
    with ms.CommandOracle([sys.executable, "-c", code], settle=0.5) as program:
        with pytest.raises(ms.OracleError, match="wrote '777' without being asked"):
            ms.RecordedOracle(program, path, RUN)(X, 1)
    with pytest.raises(ms.InvalidInput, match=r"not to be trusted .*without being asked"):
        ms.RecordedOracle(nobody, path, RUN)


def test_a_record_of_answers_that_come_at_the_same_time_is_whole(tmp_path):
    def sums(call):
        return call.x.sum() if call.x[0] != 9 else (400, {}, b"no")

    path, rows = tmp_path / "answers.jsonl", np.arange(40.0).reshape(20, 2)
    with Service(sums) as service, ms.HTTPOracle(service.url, retries=0) as oracle:
        recorded = ms.RecordedOracle(oracle, path, RUN)
        assert np.array_equal(recorded(rows, 3), np.repeat(rows.sum(axis=1)[:, None], 3, axis=1))
        rows[10, 0] = 9
        with pytest.raises(ms.OracleError, match="status 400"):
            recorded(rows, 1)
        kept, answered = recorded.kept, oracle.count
        assert kept == answered > 60
    again = ms.RecordedOracle(nobody, path, RUN)
    assert again.reused == kept
    rows[10, 0] = 20
    assert np.array_equal(again(rows, 3), np.repeat(rows.sum(axis=1)[:, None], 3, axis=1))


def test_blocks_of_callers_are_recorded_with_their_groups(tmp_path):
    path = tmp_path / "answers.jsonl"

    def fails_later(call):
        return call.x.sum() if call.x[0] < 8 else (400, {}, b"no")

    rows = np.arange(12.0)[:, None]
    with Service(fails_later) as service, ms.HTTPOracle(service.url, retries=0, concurrency=1) as oracle:
        recorded = ms.RecordedOracle(oracle, path, RUN)
        with pytest.raises(ms.OracleError, match="status 400"):
            recorded.asked(rows, 1, 3)
    with Service(lambda call: call.x.sum()) as service, ms.HTTPOracle(service.url) as oracle:
        recorded = ms.RecordedOracle(oracle, path, RUN)
        assert recorded.reused == 8
        found = recorded.asked(rows, 1, 3)
        assert (oracle.count, found.answers.tolist()) == (4, rows.ravel().tolist())
    group = found.group.tolist()
    # Two whole blocks, one of which the last answer came from another caller, and one that is asked whole.
    assert [group.index(number) for number in group] == [0, 0, 0, 3, 3, 3, 6, 6, 8, 9, 9, 9]


def test_answers_that_come_one_by_one_wait_for_a_disk_that_is_full(tmp_path, monkeypatch):
    path = tmp_path / "answers.jsonl"
    with counting(tmp_path, 0, "pass") as program:
        recorded = ms.RecordedOracle(program, path, RUN)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            with pytest.raises(ms.OracleError, match=r"cannot be written to .* \(No space left on device\)"):
                recorded(X, 2)
        came = recorded.kept
        recorded(X, 2)
    assert len((tmp_path / "asked").read_text().splitlines()) == X.shape[0] * 2
    assert 1 <= came <= X.shape[0] * 2
    assert ms.RecordedOracle(nobody, path, RUN).reused == X.shape[0] * 2


@pytest.mark.parametrize(
    "line",
    [
        '{"row": 0, "answer": 1, "group": 0}',
        '{"asking": [[1, 2]]}\n{"row": 0}',
        '{"asking": [[1, 2]]}\n{"row": 0, "answer": "a", "group": 0}',
        '{"asking": [[1, 2]]}\n{"row": 1, "answer": 1, "group": 0}',
        '{"asking": [[1, 2]]}\n{"row": -1, "answer": 1, "group": 0}',
        '{"asking": [[1, 2]]}\n{"row": true, "answer": 1, "group": 0}',
        '{"asking": 3}\n{"row": 0, "answer": 1, "group": 0}',
    ],
)
def test_a_damaged_answer_of_a_call_is_one_line(tmp_path, line):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"mixsense_record": 1, "run": {"seed": 1}}\n' + line + "\n")
    with pytest.raises(ms.InvalidInput, match="is not a record of answers") as caught:
        ms.RecordedOracle(nobody, path, RUN)
    assert str(caught.value).isprintable()


def test_what_a_function_says_that_it_received_is_kept(tmp_path):
    def failing(queries, repeats):
        raise ms.OracleError("the line broke", received=[[1.0], [np.nan], [3.0]])

    path = tmp_path / "answers.jsonl"
    with pytest.raises(ms.OracleError, match="the line broke"):
        ms.RecordedOracle(failing, path, RUN)(X[:3], 1)
    again = ms.RecordedOracle(lambda queries, repeats: np.full((len(queries), repeats), 2.0), path, RUN)
    assert (again.reused, again(X[:3], 1).ravel().tolist()) == (2, [1.0, 2.0, 3.0])


def test_an_error_s_record_goes_on_within_the_call():
    asked = []

    def failing(queries, repeats):
        asked.append(queries.shape[0] * repeats)
        if len(asked) == 1:
            raise ms.OracleError("the line broke", received=[[1.0, np.nan, 3.0]])
        return np.full((len(queries), repeats), 2.0)

    def method():
        found = yield ms.Round(np.eye(1), 3)
        return Result(found.answers.tolist())

    with pytest.raises(ms.OracleError, match="the 2 answers received before") as caught:
        ms.run(method(), failing)
    assert ms.run(method(), ms.ReplayOracle(caught.value.record, then=failing)).found == [1.0, 3.0, 2.0]
    assert asked == [3, 1]


@dataclasses.dataclass
class Result:
    found: list
    queries: int = 0
