"""The command oracle: real programs, well-behaved and not."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from in_process import mixsense
from mixsense.cli.recover import _telling
from mixsense.oracles.abilities import Callers, Stoppable, Watchful
from mixsense.oracles.secrets import Secrets
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
        assert isinstance(oracle, Stoppable)
        assert isinstance(oracle, Watchful)
        assert not isinstance(oracle, Callers)


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
        ("import subprocess; subprocess.Popen(['sleep', '60']); sys.exit(3)", r"exit code 3"),
        ("input(); os.close(1); time.sleep(60)", "closed its output"),
        ("print(1, flush=True); time.sleep(60)", "wrote '1' without being asked"),
        ("input(); print('1.5', end='', flush=True)", "exit code 0 before it answered"),
        ("input(); print(json.dumps({'y': 1}), flush=True); input()", r'holds \{"y": 1\}; a JSON number'),
        ('input(); print(\'{"id": 1, "id": 2}\', flush=True); input()', "it has 'id' twice"),
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


ECHO = "for i, line in enumerate(sys.stdin):\n    x = json.loads(line)['x'][0]\n"
LONG = np.arange(40.0)[:, None]


@pytest.mark.parametrize(
    "code",
    [
        "print(777, flush=True)\n" + ECHO + "    print(x, flush=True)",
        ECHO + "    print(x, flush=True)\n    if i == 10: print(777, flush=True)",
        ECHO + "    print(x, flush=True)\n    if i == 10: time.sleep(0.001); print(777, flush=True)",
        ECHO + "    if i == 10: print(777, flush=True)\n    print(x, flush=True)",
        ECHO + "    print(x, flush=True); print(x, flush=True)",
        # Buffered: it comes when the program ends, or in the middle.
        ECHO + "    os.write(1, f'{x}\\n'.encode())\n    if i == 10: print(777)",
        ECHO + "    os.write(1, f'{x}\\n'.encode())\n    print('7' * 400)",
        # Slower than the silence after an answer: found at the end.
        ECHO
        + "    time.sleep(0.01)\n    print(x, flush=True)\n    if i == 10: time.sleep(0.005); print(777, flush=True)",
    ],
)
def test_one_line_too_many_never_passes(code):
    for _ in range(5):
        with pytest.raises(ms.OracleError, match=r"without being asked|not JSON|more than 100,000 bytes|usable size"):
            with program(code) as oracle:
                oracle(LONG, 1)


def test_the_beginning_of_a_line_is_not_read_as_the_next_answer():
    # 7 and the next answer, 11.0, would be 711.0: only the silence after an answer tells. A busy machine may hold
    # the program up between its two writes, 44 ms in the worst of 2,000 cases.
    code = ECHO + "    print(x, flush=True)\n    if i == 10: print(end='7', flush=True)"
    for _ in range(2):
        with program(code, settle=0.2) as oracle:
            with pytest.raises(ms.OracleError, match="wrote '7' without being asked"):
                oracle(LONG, 1)
            assert oracle.count == 10


def test_a_line_too_many_is_found_before_an_answer_is_wrong():
    # With a fast program the silence after each answer is enough: what came until then is right.
    code = ECHO + "    print(x, flush=True)\n    if i == 10: print(777, flush=True)"
    for _ in range(4):
        with program(code, settle=0.05) as oracle:
            with pytest.raises(ms.OracleError, match="wrote '777' without being asked") as caught:
                oracle(LONG, 1)
            assert caught.value.reply == "777"
            assert "received" not in caught.value.data  # in doubt, no answer is one
            assert oracle.count == 10


def test_an_id_that_is_repeated_tells_answers_apart():
    named = "for i, line in enumerate(sys.stdin):\n    q = json.loads(line)\n"
    reply = "print(json.dumps({'id': q['id'], 'y': q['x'][0]}), flush=True)\n"
    with program(named + "    " + reply) as oracle:
        start = time.monotonic()
        assert np.array_equal(oracle(LONG, 5), np.repeat(LONG, 5, axis=1))
        assert oracle._repeats_ids
        assert time.monotonic() - start < 30
    lagging = named + f"    if i == 3: q, kept = kept, q\n    kept = q\n    {reply}"
    with pytest.raises(ms.OracleError, match="has another id than the query"), program(lagging) as oracle:
        oracle(LONG, 1)
    late = named + f"    {reply}    if i == 3: time.sleep(0.05); print(777, flush=True)"
    with pytest.raises(ms.OracleError, match=r"answer 777 has no id|without being asked"), program(late) as oracle:
        oracle(LONG, 1)
    deep = named + "    print(json.dumps({'id': q['id'], 'out': [q['x'][0]]}), flush=True)"
    with program(deep, answer="out[0]") as oracle:
        assert np.array_equal(oracle(LONG, 1), LONG)
    # An id of the program's own is no business of ours where none was sent.
    own = "for line in sys.stdin: print(json.dumps({'id': 5, 'y': json.loads(line)['x'][0]}), flush=True)"
    with program(own, body='{"x": "$x"}', answer="y") as oracle:
        assert np.array_equal(oracle(LONG, 1), LONG)


@pytest.mark.parametrize("more", ["time.sleep(60)", "time.sleep(0.1)\nwhile True: print(2, flush=True)"])
def test_a_program_that_closes_its_input_is_not_asked_again(more):
    code = f"input(); print(1, flush=True); os.close(0); {more}"
    with program(code) as oracle:
        assert oracle(X[:1], 1) == 1
        time.sleep(0.05)
        with pytest.raises(ms.OracleError, match="closed its input"):
            oracle(X[:1], 1)


def test_a_program_that_never_reads_is_not_waited_for():
    wide = np.ones((1, 200_000))  # more than a pipe holds
    with program("time.sleep(600)", timeout=0.3) as oracle:
        start = time.monotonic()
        with pytest.raises(ms.OracleError, match=r"did not answer within 0\.3 s"):
            oracle(wide, 1)
        assert time.monotonic() - start < 10


def test_stop_ends_a_call_at_once():
    with program("time.sleep(600)", timeout=500) as oracle:
        caught = []

        def ask():
            try:
                oracle(X, 1)
            except ms.OracleError as error:
                caught.append(error)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        while len(oracle._halts) < 2 or oracle._program is None:
            time.sleep(0.01)
        start = time.monotonic()
        oracle.stop()
        for thread in threads:
            thread.join(60)
        assert time.monotonic() - start < 10
        assert [str(error) for error in caught] == 2 * [f"the program {sys.executable} was stopped before it answered"]


def test_ctrl_c_ends_a_call_and_the_program(tmp_path):
    mark = tmp_path / "pid"
    code = f"""
import sys, mixsense as ms
inner = "import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
try:
    ms.CommandOracle([sys.executable, "-c", inner], timeout=500)([[1.0]], 1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as running:
        pid = pid_in(mark)
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=60)[0] == "interrupted\n"
    assert gone(pid)


def pid_in(mark):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if mark.exists() and mark.read_text():
            return int(mark.read_text())
        time.sleep(0.01)
    raise AssertionError("it did not start")


def gone(pid):
    """Whether a process ends within seconds; one that only waits for its parent has ended."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("ignore", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"])
@pytest.mark.parametrize("quiet", [True, False])
def test_children_of_the_program_end_with_it(ignore, quiet, tmp_path):
    mark = tmp_path / "pid"
    stdio = "stdin=-3, stdout=-3, stderr=-3" if quiet else ""
    child = f"import os, signal, time\n{ignore}open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    code = f"import subprocess\nsubprocess.Popen([sys.executable, '-c', {child!r}], {stdio})\n" + SUM
    with program(code) as oracle:
        oracle(X[:1], 1)
        pid = pid_in(mark)
    assert gone(pid)


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
    "code",
    [
        "input(); sys.exit('bad ' + os.environ['MODEL_KEY'])",
        "print('x' * 112 + json.loads(input())['token'], flush=True); input()",
        "input(); print(os.environ['MODEL_KEY'], flush=True, end=''); time.sleep(60)",
        "input(); print('1\\n' + os.environ['MODEL_KEY'], flush=True); input()",  # in one piece: else it may come later
        "input(); print(json.dumps({os.environ['MODEL_KEY']: 1}), flush=True); input()",
    ],
)
def test_a_secret_that_a_program_repeats_is_hidden(code, monkeypatch):
    monkeypatch.setenv("MODEL_KEY", "tok3n-with-9-parts")
    with program(code, body={"x": "$x", "token": "env:MODEL_KEY"}, timeout=1) as oracle:
        with pytest.raises(ms.OracleError) as caught:
            oracle(X[:1], 1)
    for text in (str(caught.value), repr(caught.value.data), repr(caught.value.__context__)):
        assert "tok3n" not in text
    with ms.CommandOracle("python model.py --key tok3n") as oracle:
        assert repr(oracle) == "CommandOracle('python …')"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ([], "give the program"),
        ("", "give the program"),
        ("python 'x", "cannot be split"),
        (["python", 3], "an entry of type int"),
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
    done = mixsense(*args, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "one of them" in done.stderr


def test_the_record_names_no_argument_of_the_program(tmp_path):
    (tmp_path / "model.py").write_text(HEAD + MIXTURE)
    command = f"{sys.executable} model.py --key s3cret"
    args = ["recover", "--command", command, "--n", "10", "--gamma", "0.4", "--seed", "1", "--record", "r.jsonl"]
    done = [mixsense(*args, cwd=tmp_path)]
    assert done[0].returncode == 0, done[0].stderr
    assert "s3cret" not in (tmp_path / "r.jsonl").read_text()
    done.append(mixsense(*args, cwd=tmp_path))
    assert (done[1].returncode, done[1].stdout) == (0, done[0].stdout)
    assert "answers are there already" in done[1].stderr
    # As 0.2.0 wrote it: the answers are paid for, and it goes on.
    first, _, rest = (tmp_path / "r.jsonl").read_text().partition("\n")
    old = json.loads(first)
    old["run"]["oracle"] = command
    (tmp_path / "r.jsonl").write_text(json.dumps(old) + "\n" + rest)
    done.append(mixsense(*args, cwd=tmp_path))
    assert (done[2].returncode, done[2].stdout) == (0, done[0].stdout)


def test_a_record_with_a_line_too_many_is_not_taken_again(tmp_path):
    args = ["recover", "--command", f"{sys.executable} model.py", "--n", "10", "--gamma", "0.4", "--seed", "1"]
    args = [*args, "--record", "r.jsonl", "--quiet"]
    (tmp_path / "model.py").write_text(HEAD + MIXTURE + "print(777, flush=True)")
    done = mixsense(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    assert "none of its answers can be trusted" in done.stderr
    assert "the answers in r.jsonl are not to be trusted: begin another file" in done.stderr
    (tmp_path / "model.py").write_text(HEAD + MIXTURE)
    done = mixsense(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "the answers in r.jsonl are not to be trusted" in done.stderr


def test_no_promise_is_made_of_answers_in_doubt(tmp_path):
    """A line too many in the middle of a run: the same command does not go on."""
    surplus = MIXTURE + "    count = globals().get('count', 0) + 1\n    if count == 40: print(777, flush=True)\n"
    (tmp_path / "model.py").write_text(HEAD + surplus)
    args = ["recover", "--command", f"{sys.executable} model.py", "--n", "10", "--gamma", "0.4", "--seed", "1"]
    args = [*args, "--quiet"]
    for more, words in (([], "and nothing else"), (["--record", "r.jsonl"], "not to be trusted: begin another file")):
        done = mixsense(*args, *more, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
        assert "without being asked" in done.stderr
        assert words in done.stderr
        assert "goes on" not in done.stderr
        assert "keeps them" not in done.stderr


def test_ctrl_c_makes_no_promise_of_answers_in_doubt(tmp_path):
    oracle = program(SUM + "\nprint(777, flush=True)")
    kept = ms.RecordedOracle(oracle, tmp_path / "r.jsonl", {})
    kept(X, 1)
    words, path = r"without being asked.* begin another file", tmp_path / "r.jsonl"
    with pytest.raises(ms.OracleError, match=words), _telling(path, kept, oracle), oracle:
        raise KeyboardInterrupt
    with program(SUM) as oracle, pytest.raises(KeyboardInterrupt), _telling(None, None, oracle):
        raise KeyboardInterrupt


def test_a_doubt_is_kept_when_another_error_comes_first():
    """A program that answers one question late, and is stopped on its way: two lines are left where one is owed."""
    code = """
os.write(1, f"{json.loads(input())['x'][0]}\\n777".encode())
for line in sys.stdin:
    time.sleep(0.2)
    os.write(1, f"\\n{json.loads(line)['x'][0]}".encode())
"""
    with program(code, settle=0.0) as oracle, pytest.raises(ms.OracleError):
        oracle(X, 1)
    assert "without being asked" in oracle.doubt
    slow = "for line in sys.stdin:\n    time.sleep(0.3)\n    print(1, flush=True)\n    print(2, flush=True)"
    with program(slow) as oracle:
        threading.Timer(0.1, oracle.stop).start()
        with pytest.raises(ms.OracleError, match="stopped"):
            oracle(X[:1], 1)
        assert "without being asked" in oracle.doubt


def test_with_ids_a_line_too_many_is_no_doubt():
    code = """
for line in sys.stdin:
    query = json.loads(line)
    print(json.dumps({"id": query["id"], "y": query["x"][0]}), flush=True)
print("bye", flush=True)
"""
    with program(code) as oracle:
        assert np.array_equal(oracle(X, 1)[:, 0], X[:, 0])
    assert oracle.doubt is None


@pytest.mark.parametrize("words", ["sys.exit(sys.argv[-1])", "print(sys.argv[-1], flush=True)"])
def test_what_a_program_knows_is_hidden_in_what_it_writes(words, monkeypatch):
    monkeypatch.setenv("LAB_API_KEY", "open sesame, please")
    for arguments, known in (
        (["--api-key", "blue-whale-song"], "[argument]"),
        (["--token=blue-whale-song"], "[argument]"),
        (["3fa8c1d27b604e58a1b2c3d4e5f60718"], "[argument]"),
        (["--greeting", "blue-whale-song"], "blue-whale-song"),
    ):
        code = HEAD + f"input(); {words}"
        with ms.CommandOracle([sys.executable, "-c", code, *arguments], timeout=10) as oracle:
            with pytest.raises(ms.OracleError) as caught:
                oracle(X[:1], 1)
            assert known in str(caught.value)
    with program("input(); sys.exit('no ' + os.environ['LAB_API_KEY'])") as oracle:
        with pytest.raises(ms.OracleError, match=r"last words: no \[LAB_API_KEY\]"):
            oracle(X[:1], 1)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_record_of_a_run_that_was_stopped_while_the_program_ended_is_not_sure(end, tmp_path):
    args = ["recover", "--command", f"{sys.executable} model.py", "--n", "10", "--gamma", "0.4", "--seed", "1"]
    args = [sys.executable, "-m", "mixsense", *args, "--record", "r.jsonl", "--quiet"]
    late = 'open("ended", "w").close(); time.sleep(1.0); print(777, flush=True)'
    (tmp_path / "model.py").write_text(HEAD + MIXTURE + "\n" + late)
    with subprocess.Popen(args, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as running:
        while not (tmp_path / "ended").exists():
            assert running.poll() is None, running.communicate()[1]
            time.sleep(0.01)
        running.send_signal(end)
    (tmp_path / "model.py").write_text(HEAD + MIXTURE)
    again = subprocess.run(args, capture_output=True, text=True, cwd=tmp_path)
    if end is signal.SIGINT:  # it was closed to the end all the same
        assert (again.returncode, again.stdout) == (2, ""), again.stderr
        assert "are not to be trusted (the program" in again.stderr
    else:
        assert (again.returncode, again.stdout[:10]) == (8, "uncertain:"), again.stderr
        assert "warning: an earlier run with this record was ended by force" in again.stdout


def test_ctrl_c_in_a_call_looks_for_a_line_too_many():
    """The program is one answer behind, and says so at its end only: two lines where one is owed."""
    code = (
        "for line in sys.stdin:\n    os.kill(os.getppid(), 2)\n    time.sleep(0.2)\n    print(1, flush=True)\nprint(2)"
    )
    oracle = program(code)
    with pytest.raises(KeyboardInterrupt):
        oracle(X[:1], 1)
    assert "without being asked" in oracle.doubt
    oracle.close()
    assert oracle.confirmed


def test_a_close_that_was_interrupted_goes_on():
    oracle = program(
        "input(); print(1, flush=True); sys.stdin.read(); os.kill(os.getppid(), 2); time.sleep(0.2); print(777)"
    )
    oracle(X[:1], 1)
    assert not oracle.confirmed
    with pytest.raises(KeyboardInterrupt):
        oracle.close()
    assert not oracle.confirmed
    with pytest.raises(ms.OracleError, match="777"):
        oracle.close()
    assert oracle.confirmed
    assert oracle.doubt is not None


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("DB_PASSWORD", "hunter2", False),
        ("SMTP_PASS", "abcdefg", False),
        ("PGPASSWORD", "hunter2", False),
        ("MYSQL_PWD", "hunter2", False),
        ("APITOKEN", "hunter2hunter2", False),
        ("OPENAI_KEY", "hunter2", False),
        ("DOOR_PIN", "4711", False),
        ("DATABASE_URL", "postgresql://lab:hunter2@host/tea", False),
        ("MIXSENSE_DB", "postgresql://lab:hunter%402@host/tea", False),
        ("PWD", "/home/hunter2", True),
        ("OLDPWD", "/home/hunter2", True),
        ("KEYBOARD", "hunter2", True),
        ("PASSENGERS", "hunter2", True),
        ("USE_TOKEN", "true", True),
    ],
)
def test_secrets_of_the_environment_are_hidden_in_what_a_program_writes(name, value, shown, monkeypatch):
    monkeypatch.setenv(name, value)
    show = ms.CommandOracle("model")._show
    said = show(f"cannot log in with {value}", 200)
    secret = value.rpartition(":")[2].partition("@")[0]
    assert (secret in said) is shown, said
    assert "cannot log in with" in said
    if "@" in value:
        assert "host/tea" in said  # the rest of an address helps to find what is wrong
    if "%40" in value:
        assert "hunter@2" not in show("the password hunter@2 is wrong", 200)


@pytest.mark.parametrize(
    "arguments",
    [["-p", "geheim12"], ["-pgeheim12"], ["--url", "https://u:geheim12@host/"], ["--at=http://u:geheim12@h"]],
)
def test_secrets_in_arguments_are_hidden(arguments):
    show = ms.CommandOracle(["model", *arguments])._show
    said = show(f"usage: {' '.join(arguments)} geheim12", 200)
    assert "geheim" not in said
    assert "usage" in said


def test_line_ends_within_a_secret_do_not_show_it():
    secrets = Secrets()
    secrets.add("Zq7Kx2Lm9Pw4Rt6Y", "[TOKEN]")
    for text in ("Zq7Kx2L\nm9Pw4Rt\n6Y", "Z q 7 K x 2 L m 9 P w 4 R t 6 Y", "\u200b".join("Zq7Kx2Lm9Pw4Rt6Y")):
        assert secrets.show(f"no {text.encode().decode()} here", 200) == "no [TOKEN] here"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["recover", "--command", "nosuch-program", "--n", "3"], "the program 'nosuch-program' is not there"),
        (["audit", "--command", "./nosuch-program x", "--n", "3"], "the program './nosuch-program' is not there"),
        (["recover", "--command", f"{sys.executable} model.py"], "say how many inputs the oracle has: give --n"),
        (["recover", "http://127.0.0.1:1/"], "say how many inputs the oracle has: give --n"),
        (["recover", "mylab:ask"], "say how many inputs the oracle has: give --n"),
    ],
)
def test_what_is_wrong_with_the_command_line_is_wrong_input(args, words, tmp_path):
    done = mixsense(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert words in done.stderr
    assert not list(tmp_path.iterdir())
