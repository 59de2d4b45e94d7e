"""Driving a study with a callable: failures, Ctrl-C, and two drivers at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from mixsense.studies.storage.tables import answers, sa
from study_cases import SMALL

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
from kill_study import oracle  # noqa: E402


def test_an_oracle_s_failure_comes_after_what_was_answered_is_stored(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "lab", **SMALL)
    calls = 0

    def failing(queries, repeats):
        nonlocal calls
        calls += 1
        if calls > 5:
            raise TimeoutError("no answer")
        return oracle(queries, repeats)

    with pytest.raises(ms.OracleError, match=r"raised \(TimeoutError: no answer\); all other answers are stored"):
        ms.run_study(study, failing, workers=1, batch=3)
    assert study.progress().total == 15
    for bad, words in (
        (lambda queries, repeats: [["a"]], "return real numbers, as float"),
        (lambda queries, repeats: [[np.nan]], "answered nan"),
        (lambda queries, repeats: [1.0, 2.0], "return shape"),
    ):
        with pytest.raises(ms.OracleError, match=words):
            ms.run_study(study, bad, workers=1)
    ranged = ms.create_study(tmp_path / "a.db", "rating", **SMALL, answer_range=(0, 1))
    with pytest.raises(ms.OracleError, match="the answer is 9: give a number from 0 to 1"):
        ms.run_study(ranged, lambda queries, repeats: [[9.0]])
    assert ms.run_study(study, oracle, batch=50) == ms.recover(oracle, **SMALL)


@pytest.mark.parametrize("bad", [9.0, np.nan, np.inf])
def test_one_unusable_answer_costs_no_other_of_its_call(tmp_path, bad):
    study = ms.create_study(tmp_path / "a.db", "rating", **SMALL, answer_range=(0, 1))

    def rated(queries, repeats):
        y = np.full((len(queries), repeats), 0.5)
        y[7] = bad
        return y

    with pytest.raises(ms.OracleError, match=r"(the answer is 9|answered nan|answered inf).*all other answers are"):
        ms.run_study(study, rated, workers=1, batch=20)
    assert study.progress().total == 19


def test_one_unusable_answer_keeps_the_groups_of_the_others(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "rating", **SMALL, answer_range=(0, 1))

    class Grouped:
        def __call__(self, queries, repeats):
            raise AssertionError

        def asked(self, queries, repeats, block):
            y = np.where(np.arange(len(queries)) == 3, 9.0, 0.5)[:, None]
            return ms.Asked.of_round(queries, y, np.arange(len(queries))[:, None] // 2)

    with pytest.raises(ms.OracleError, match="the answer is 9"):
        ms.run_study(study, Grouped(), workers=1, batch=10)
    with study._database.reading() as connection:
        stored = connection.execute(sa.select(answers.c.answer_group).order_by(answers.c.slot)).scalars().all()
    assert [stored.index(group) for group in stored] == [0, 0, 2, 3, 3, 5, 5, 7, 7]


def test_what_a_failed_call_received_is_stored(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "lab", **SMALL)

    def stopping(queries, repeats):
        raise ms.OracleError("the line broke", received=np.where(np.arange(len(queries)) < 4, 1.0, np.nan)[:, None])

    with pytest.raises(ms.OracleError, match=r"failed \(the line broke\); all other answers are stored"):
        ms.run_study(study, stopping, workers=1, batch=10)
    assert study.progress().total == 4


def test_what_units_received_before_another_failed_is_stored(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "lab", **SMALL, block=4)
    calls = []

    def third_fails(queries, repeats):
        calls.append(len(queries))
        if len(calls) == 3:
            raise TimeoutError("no answer")
        return np.ones((len(queries), repeats))

    with pytest.raises(ms.OracleError, match=r"raised \(TimeoutError: no answer\); all other answers are stored"):
        ms.run_study(study, third_fails, workers=1, batch=20)
    assert study.progress().total == sum(calls[:2])


def test_an_oracle_in_doubt_ends_the_study_for_good(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "lab", **SMALL)
    program = (
        "import sys\nfor i, _ in enumerate(sys.stdin):\n    print(1.0, flush=True)\n"
        "    if i == 14: print(777, flush=True)"
    )
    with ms.CommandOracle([sys.executable, "-c", program], settle=0.5) as oracle:
        with pytest.raises(ms.OracleError, match=r"without being asked.*'lab' cannot go on: mend that, and begin an"):
            ms.run_study(study, oracle, workers=1, batch=10)
    with pytest.raises(ms.MixsenseError, match="without being asked"):
        ms.run_study(study, lambda queries, repeats: np.ones((len(queries), repeats)))


def test_ctrl_c_stores_what_has_come(tmp_path):
    code = (
        "import os, sys, time; from kill_study import oracle; import mixsense as ms\n"
        "def slow(queries, repeats):\n"
        "    time.sleep(0.05)\n"
        "    os.write(1, b'asked\\n')\n"  # whole, whatever the other threads write
        "    return oracle(queries, repeats)\n"
        "ms.run_study(ms.load_study(sys.argv[1], 'lab'), slow, workers=3)\n"
    )
    study = ms.create_study(tmp_path / "a.db", "lab", **SMALL)
    process = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "a.db"],
        cwd=ROOT / "benchmarks",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(10):
        process.stdout.readline()
    process.send_signal(2)
    rest, stderr = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in stderr
    assert study.progress().total == 10 + rest.count("asked")  # all that was answered, the calls in flight included
    assert ms.run_study(study, oracle, batch=50) == ms.recover(oracle, **SMALL)


def test_two_drivers_share_a_study(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "lab", **SMALL)
    code = (
        "import sys; from kill_study import oracle; import mixsense as ms\n"
        "print(ms.run_study(ms.load_study(sys.argv[1], 'lab'), oracle, workers=2, batch=5, take_over=False).to_json())"
    )
    command = [sys.executable, "-c", code, tmp_path / "a.db"]
    both = [subprocess.Popen(command, cwd=ROOT / "benchmarks", stdout=subprocess.PIPE, text=True) for _ in range(2)]
    same = ms.recover(oracle, **SMALL)
    for process in both:
        assert ms.Recovery.from_json(process.communicate(timeout=120)[0]) == same
    assert (study.progress().surplus, study.progress().expired) == (0, 0)
