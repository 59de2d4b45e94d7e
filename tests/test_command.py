"""The command oracle: real programs, well-behaved and not."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mixsense as ms
from mixsense.oracles.abilities import Callers, Closing, Stoppable
from oracle_contract import check_oracle

X = np.arange(12.0).reshape(4, 3)
HEAD = "import sys, json, os, time\n"
SUM = "for line in sys.stdin: print(sum(json.loads(line)['x']), flush=True)"
MIXTURE = """
import random, math
rng = random.Random(3)
models = [[3.0] + 9 * [0.0], [0.0, -2.0] + 8 * [0.0]]
for line in sys.stdin:
    x = json.loads(line)["x"]
    print(sum(a * b for a, b in zip(x, rng.choice(models))) + rng.gauss(0, 0.5), flush=True)
"""


def program(code, **options):
    return ms.CommandOracle([sys.executable, "-c", HEAD + code], **options)


@pytest.mark.parametrize(("code", "queries"), [(SUM, X), (MIXTURE, np.eye(10))])
def test_contract(code, queries):
    with contextlib.ExitStack() as stack:
        check_oracle(lambda: stack.enter_context(program(code)), queries)


def test_abilities_are_declared():
    with program(SUM) as oracle:
        assert isinstance(oracle, Closing)
        assert not isinstance(oracle, Callers)
        assert not isinstance(oracle, Stoppable)


def test_body_answer_and_names():
    code = "for line in sys.stdin: print(json.dumps({'y': [json.loads(line)['tea']['milk']]}), flush=True)"
    options = {"body": {"tea": "$features"}, "answer": "y[0]", "features": ["water", "milk", "sugar"]}
    with program(code, **options) as oracle:
        assert np.array_equal(oracle(X, 1)[:, 0], X[:, 1])
        with pytest.raises(ms.InvalidInput, match="there are 3 features"):
            oracle(X[:, :2], 1)


def test_threads_take_turns():
    with program(SUM) as oracle:
        found = {}

        def ask(i):
            found[i] = [float(oracle(X[i : i + 1], 1)[0, 0]) for _ in range(50)]

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {i: [X[i].sum()] * 50 for i in range(4)}
        assert oracle.count == 200


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sys.exit('no model')", r"exit code 1 before it answered; its last words: no model"),
        ("input(); raise ValueError('boom')", r"exit code 1 .*last words: ValueError: boom"),
        ("os.kill(os.getpid(), 9)", r"exit code -9"),
        ("input(); os.close(1); time.sleep(60)", "closed its output"),
        ("input(); print('abc', flush=True); input()", "'abc' is not JSON"),
        ("input(); print('NaN', flush=True); input()", "NaN is not a JSON number"),
        ("input(); print('-Infinity', flush=True); input()", "not a JSON number"),
        ("input(); print('\"3\"', flush=True); input()", "a JSON number is needed"),
        ("input(); print('[3]', flush=True); input()", r"holds \[3\]; a JSON number is needed"),
        ("input(); print('true', flush=True); input()", "holds true"),
        ("input(); print('', flush=True); input()", "it is empty"),
        ("input(); print('1e999', flush=True); input()", "no number of usable size"),
        ("input(); sys.stdout.buffer.write(b'\\xff\\x00\\n'); sys.stdout.flush(); input()", "not JSON"),
        ("input(); sys.stdout.write('1' * 10_000_000); sys.stdout.flush(); input()", "more than 100,000 bytes"),
        ("input(); sys.stdout.write('1' * 10_000_000 + '\\n'); sys.stdout.flush(); input()", "more than 100,000 bytes"),
    ],
)
def test_programs_that_misbehave_say_so_in_one_line(code, words):
    with program(code) as oracle:
        with pytest.raises(ms.OracleError, match=words) as caught:
            oracle(X[:1], 1)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500


def test_a_slow_program_is_stopped():
    with program("time.sleep(600)", timeout=0.2) as oracle:
        with pytest.raises(ms.OracleError, match=r"did not answer within 0\.2 s: does it flush"):
            oracle(X[:1], 1)


def test_lines_that_nobody_asked_for_are_refused():
    with program("print(1, flush=True); time.sleep(600)") as oracle:
        assert oracle(X[:1], 1) in (1.0,)  # a line before the first question cannot be told from its answer
    with program("input(); print(1); print(2, flush=True); input(); input()") as oracle:
        oracle(X[:1], 1)
        while oracle._program._lines.empty():
            time.sleep(0.01)
        with pytest.raises(ms.OracleError, match="wrote '2' without being asked"):
            oracle(X[:1], 1)


def test_a_failure_keeps_what_came_and_the_next_call_starts_anew(tmp_path):
    code = f"""
log = open({str(tmp_path / "starts")!r}, "a"); log.write("x"); log.close()
for i, line in enumerate(sys.stdin):
    if i == 2: sys.exit(3)
    print(i, flush=True)
"""
    with program(code) as oracle:
        with pytest.raises(ms.OracleError) as caught:
            oracle(X, 1)
        assert caught.value.exit_code == 3
        assert np.array_equal(caught.value.received[:, 0], [0, 1, np.nan, np.nan], equal_nan=True)
        assert oracle(X[:1], 1) == 0.0
    assert (tmp_path / "starts").read_text() == "xx"
    with pytest.raises(ms.OracleError, match="closed"):
        oracle(X[:1], 1)


@pytest.mark.parametrize("code", [SUM, "input(); print(1, flush=True); time.sleep(600)"])
def test_close_ends_the_program(code, tmp_path):
    mark = tmp_path / "pid"
    oracle = program(f"open({str(mark)!r}, 'w').write(str(os.getpid()))\n" + code)
    oracle(X[:1], 1)
    oracle.close()
    assert subprocess.run(["kill", "-0", mark.read_text()], capture_output=True).returncode != 0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ([], "give the program"),
        ("", "give the program"),
        ("python 'x", "cannot be split"),
        (["python", 3], "holds 3"),
        (["a\0b"], "holds"),
        (None, "give the program"),
    ],
)
def test_wrong_commands_are_refused(command, words):
    with pytest.raises(ms.InvalidInput, match=words):
        ms.CommandOracle(command)


def test_a_program_that_is_not_there():
    with ms.CommandOracle("/no/such/program") as oracle, pytest.raises(ms.InvalidInput, match="cannot be started"):
        oracle(X, 1)


def test_the_command_line_asks_a_program(tmp_path):
    (tmp_path / "model.py").write_text(HEAD + MIXTURE)
    command = f"{sys.executable} model.py"
    args = ["recover", "--command", command, "--n", "10", "--gamma", "0.4", "--seed", "1", "--out", "r.json", "--quiet"]
    done = subprocess.run([sys.executable, "-m", "mixsense", *args], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    r = ms.Recovery.from_json((tmp_path / "r.json").read_text())
    truth = np.zeros((2, 10))
    truth[0, 0], truth[1, 1] = 3.0, -2.0
    assert ms.match_error(r.vectors, truth) < 0.4
    args = ["recover", "--command", command, "--simulate"]
    done = subprocess.run([sys.executable, "-m", "mixsense", *args], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "one of them" in done.stderr
