"""Simulated, replayed and recorded answers."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import mixsense as ms
from mixsense.oracles import RecordedOracle
from oracle_contract import check_oracle

PAIR = ms.random_pair(20, 3, gap=2.0, seed=0)
X = np.random.default_rng(1).standard_normal((6, 20))


def test_simulated_oracle_keeps_the_contract():
    check_oracle(lambda: ms.SimulatedOracle(PAIR, sigma=0.5, weights=(0.3, 0.7), seed=3), X)


def test_replay_oracle_keeps_the_contract():
    record = [(X, ms.SimulatedOracle(PAIR, seed=3)(X, 2))]
    check_oracle(lambda: ms.ReplayOracle(record), X)


def test_simulated_answers_have_the_promised_law():
    # 100,000 answers with shares 0.3 / 0.7: the share has standard error 0.0014, each mean 0.5/√30,000 = 0.003, the
    # noise 0.5/√200,000 = 0.0011; five of each.
    oracle = ms.SimulatedOracle([[1.0, 0.0], [9.0, 0.0]], sigma=0.5, weights=(0.3, 0.7), seed=4)
    y = oracle([[1.0, 0.0]], 100_000)[0]
    first = y < 5
    assert abs(first.mean() - 0.3) < 0.0075
    assert abs(y[first].mean() - 1) < 0.015
    assert abs(y[~first].mean() - 9) < 0.015
    assert abs(y[first].std() - 0.5) < 0.007
    assert oracle.count == 100_000


def test_many_models_answer_in_their_shares():
    # 60,000 answers: a share has standard error √(0.24/60,000) = 0.002; five of it.
    shares = (0.5, 0.3, 0.15, 0.05)
    oracle = ms.SimulatedOracle(np.diag([1.0, 2.0, 3.0, 4.0]), sigma=0.0, weights=shares, seed=4)
    y = oracle([[1.0, 1.0, 1.0, 1.0]], 60_000)
    assert oracle.weights == shares
    for value, share in enumerate(shares, start=1):
        assert abs((y == value).mean() - share) < 0.01
    assert ms.SimulatedOracle([[2.0, 1.0]], sigma=0.0)([[1.0, 1.0]], 3).tolist() == [[3.0, 3.0, 3.0]]
    with pytest.raises(ms.InvalidInput, match="weights has 2 entries, models is 3"):
        ms.SimulatedOracle(np.eye(3), weights=(0.5, 0.5))


@pytest.mark.parametrize("sizes", [(10**4000, 2), (20, 10**4000)])
def test_vectors_of_endless_size_are_one_short_line(sizes):
    for overlap in (None, 1):
        with pytest.raises(ms.InvalidInput) as caught:
            ms.random_pair(*sizes, gap=2.0, overlap=overlap)
        assert len(str(caught.value)) < 300


def test_the_stream_of_two_models_stays_what_it_was():
    coin, noise = np.random.default_rng(3).spawn(2)
    means = X @ PAIR.T
    second = coin.random((6, 50)) >= 0.3
    expected = np.where(second, means[:, 1:], means[:, :1]) + 0.5 * noise.standard_normal((6, 50))
    assert np.array_equal(ms.SimulatedOracle(PAIR, 0.5, (0.3, 0.7), seed=3)(X, 50), expected)


def test_replay_gives_each_answer_once_and_refuses_what_it_lacks():
    oracle = ms.ReplayOracle([(X[:1], [[1.0, 2.0]]), (X[:1], [[3.0]])])
    assert oracle(X[:1], 1).tolist() == [[1.0]]
    with pytest.raises(ms.OracleError, match="holds 2 more answers to query 0, 3 are asked for") as caught:
        oracle(X[:1], 3)
    assert caught.value.available == 2
    assert oracle(X[:1], 2).tolist() == [[2.0, 3.0]]
    with pytest.raises(ms.OracleError, match="holds 0 more answers"):
        oracle(X[1:2], 1)


def test_replay_goes_on_with_another_oracle():
    later = ms.SimulatedOracle(PAIR, seed=5)
    oracle = ms.ReplayOracle([(X[:1], [[1.0, 2.0]])], then=later)
    answers = oracle(X[:2], 3)
    assert answers[0, :2].tolist() == [1.0, 2.0]
    assert later.count == 4  # one for the first query, three for the second


def test_replay_refuses_a_crooked_record():
    with pytest.raises(ms.InvalidInput, match="list of pairs"):
        ms.ReplayOracle([(X, [[1.0]])])


def test_recorded_answers_survive_and_are_not_asked_again(tmp_path):
    path, run = tmp_path / "answers.jsonl", {"seed": 1}
    first = RecordedOracle(ms.SimulatedOracle(PAIR, seed=6), path, run)(X, 2)
    with path.open("a") as file:
        file.write('{"queries": [[1.0')  # killed while it wrote
    asked = ms.SimulatedOracle(PAIR, seed=7)
    again = RecordedOracle(asked, path, run)
    assert again.reused == 12
    assert np.array_equal(again(X, 2), first)
    assert asked.count == 0
    again(X[:1], 1)
    assert asked.count == 1
    assert RecordedOracle(asked, path, run).reused == 13


def test_a_torn_line_is_cut_off_and_no_other_is_touched(tmp_path, monkeypatch):
    path, run = tmp_path / "answers.jsonl", {"seed": 1}
    RecordedOracle(ms.SimulatedOracle(PAIR, seed=6), path, run)(X, 2)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"queries": [[1.0')

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)  # dies in the middle of the repair
    with pytest.raises(KeyboardInterrupt):
        RecordedOracle(ms.SimulatedOracle(PAIR), path, run)
    assert path.read_bytes()[: len(whole)] == whole
    monkeypatch.undo()
    assert RecordedOracle(ms.SimulatedOracle(PAIR), path, run).reused == 12
    assert path.read_bytes() == whole


@pytest.mark.parametrize("torn", [b"", b'{"mix', b'{"mixsense_record": 1, "run": {"se'])
def test_a_record_that_was_killed_in_its_first_line_begins_again(tmp_path, torn):
    path, run = tmp_path / "answers.jsonl", {"seed": 1}
    path.write_bytes(torn)
    assert RecordedOracle(ms.SimulatedOracle(PAIR), path, run).reused == 0
    assert json.loads(path.read_text())["run"] == run


@pytest.mark.parametrize("change", ["shrink", "grow", "gone"])
def test_a_record_that_another_program_changes_is_refused_and_the_answers_kept(tmp_path, change):
    path = tmp_path / "answers.jsonl"
    recorded = RecordedOracle(ms.SimulatedOracle(PAIR, seed=6), path, {})
    recorded(X, 1)
    content = path.read_bytes()
    if change == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:40] if change == "shrink" else content + b"{}\n")
    with pytest.raises(ms.OracleError, match=r"another program has (changed|removed) it") as caught:
        recorded(X, 1)
    assert np.isfinite(caught.value.unwritten).all()
    assert caught.value.unwritten.shape == (len(X), 1)
    assert "received" not in caught.value.data  # the oracle keeps them, a record of the run would have them twice


def test_record_of_another_run_is_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    RecordedOracle(ms.SimulatedOracle(PAIR), path, {"seed": 1})
    with pytest.raises(ms.InvalidInput, match="another run \\(seed differ\\)"):
        RecordedOracle(ms.SimulatedOracle(PAIR), path, {"seed": 2})
    path.write_text(json.dumps([1, 2]) + "\n")
    with pytest.raises(ms.InvalidInput, match="is not a record of answers"):
        RecordedOracle(ms.SimulatedOracle(PAIR), path, {"seed": 2})


GOOD_LINE = '{"mixsense_record": 1, "run": {}}'


@pytest.mark.parametrize(
    "lines",
    [
        ["[" * 100_000],
        [GOOD_LINE, "[" * 100_000],
        ['{"mixsense_record": 2, "run": {}}'],
        ['{"mixsense_record": 1, "run": 5}'],
        ['{"mixsense_record": 1, "run": [1]}'],
        ['{"mixsense_record": 1, "run": {"\\u001b[2J": 1}}'],
        [GOOD_LINE, "5"],
        [GOOD_LINE, '{"queries": [[1, 2]], "answers": [[NaN]]}'],
        [GOOD_LINE, '{"queries": [[1, 2]], "answers": [[NaN]], "group": [[0]]}'],
        [GOOD_LINE, '{"queries": [[1, 2]], "answers": [["1"]], "group": [[0]]}'],
        [GOOD_LINE, '{"queries": [[1, 2]], "answers": [[null]], "group": [[0]]}'],
        [GOOD_LINE, f'{{"queries": [[1, 2]], "answers": [[{10**400}]], "group": [[0]]}}'],
        [GOOD_LINE, f'{{"queries": [[1, 2]], "answers": [[1]], "group": [[{10**30}]]}}'],
        [GOOD_LINE, '{"queries": [[1, 2]], "answers": [[1]], "group": [[0.5]]}'],
        [GOOD_LINE, '{"queries": [[1, 2]], "answers": [[1]], "group": [[0, 1]]}'],
        [GOOD_LINE, '{"queries": [[1, 2]], "answers": [[1]], "\\u001b[2J": 3}'],
    ],
    ids=lambda lines: lines[-1][:60],
)
def test_a_crooked_file_is_one_line(tmp_path, lines):
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ms.InvalidInput) as caught:
        RecordedOracle(ms.SimulatedOracle(PAIR), path, {})
    assert str(caught.value).isprintable()


def test_answers_of_yes_and_no_can_be_replayed():
    assert ms.ReplayOracle([(X[:1], [[True, False]])])(X[:1], 2).tolist() == [[1.0, 0.0]]


def test_a_skipped_stream_goes_on_where_it_was():
    whole, later = ms.SimulatedOracle(PAIR, seed=8), ms.SimulatedOracle(PAIR, seed=8)
    first = whole(X, 2)
    later.skip(first.size)
    assert np.array_equal(later(X, 1), whole(X, 1))


def test_a_failure_behind_a_replay_loses_nothing_that_came():
    calls = []

    def flaky(queries, repeats):
        calls.append(1)
        if len(calls) == 3:
            raise OSError("gone")
        return np.full((len(queries), repeats), float(len(calls)))

    replay = ms.ReplayOracle([(np.eye(6)[::2], np.full((3, 1), 7.0))], then=flaky)
    with pytest.raises(OSError, match="gone"):
        replay(np.eye(6), 1)
    assert replay(np.eye(6), 1).ravel().tolist() == [7.0, 1.0, 7.0, 2.0, 7.0, 4.0]
