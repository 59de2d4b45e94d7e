"""Programs that misbehave in every way that we know of, and whether a command oracle stands each of them.

    python benchmarks/hostile_programs.py                       # all of them, as a table
    python benchmarks/hostile_programs.py surplus_line sleeps   # some

`check(kind)` returns what went wrong: an exception that is not ours, a wait beyond the limit, a message of several
lines, a wrong answer, a secret, a process that is left. `command_of(kind)` is the program, for others to ask. Every
check ends by itself within `SECONDS`.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import mixsense as ms
from hostile_servers import RIGHT, SECRET, UNSEEN, VARIABLE, faults_of

SECONDS = 25.0
"""No check may take longer than this; most take less than one."""
ALIVE = 60
"""A program, and what it started, ends by itself after this many seconds."""
QUERIES = np.arange(1.0, 21.0)[:, None]
MARK = "MIXSENSE_HOSTILE_MARK"
"""The environment variable with a file in which a program may note the processes that must not be left."""
_HEAD = f"""
import json, os, signal, subprocess, sys, time
signal.alarm({ALIVE})
key = os.environ.get({VARIABLE!r}, "")
def note(pid):
    if {MARK!r} in os.environ:
        open(os.environ[{MARK!r}], "a").write(f"{{pid}}\\n")
note(os.getpid())
def lines():
    for i, line in enumerate(sys.stdin):
        query = json.loads(line)
        yield i, query.get("id"), query["x"][0]
def say(*what):
    print(*what, flush=True)
"""


@dataclass(frozen=True)
class Kind:
    """What a program does, and what the oracle has to say to it: a pattern for its message."""

    code: str
    expected: str
    options: dict[str, Any] = field(default_factory=dict)
    queries: np.ndarray = field(default_factory=lambda: QUERIES)


_ASKED = "for i, name, x in lines():\n"
_WIDE = np.ones((1, 200_000))
"""A question that is longer than what a pipe holds."""
KINDS = {
    # One line too many.
    "surplus_line": Kind(_ASKED + "    say(x)\n    if i == 10: say(777)", "without being asked"),
    "surplus_before": Kind(_ASKED + "    if i == 10: say(777)\n    say(x)", "without being asked"),
    "surplus_in_one_write": Kind(_ASKED + "    say(f'{x}\\n777' if i == 10 else x)", "without being asked"),
    "surplus_soon": Kind(_ASKED + "    say(x)\n    if i == 10: time.sleep(0.0005); say(777)", "without being asked"),
    "surplus_late": Kind(
        _ASKED + "    time.sleep(0.01); say(x)\n    if i == 10: time.sleep(0.005); say(777)", "without being asked"
    ),
    "surplus_at_the_end": Kind(_ASKED + "    say(x)\nsay(777)", "seen when it ended: none of its answers"),
    "surplus_in_a_buffer": Kind(
        _ASKED + "    os.write(1, f'{x}\\n'.encode())\n    if i == 10: print(777)", "seen when it ended"
    ),
    "surplus_without_a_line_end": Kind(_ASKED + "    say(x)\n    if i == 10: print(end='7', flush=True)", "asked"),
    "greeting": Kind("say(777)\n" + _ASKED + "    say(x)", "without being asked"),
    "greeting_in_words": Kind("say('ready')\n" + _ASKED + "    say(x)", "without being asked|is not JSON"),
    "answers_twice": Kind(_ASKED + "    say(x); say(x)", "without being asked"),
    "floods_stdout": Kind("while True: say(1)", "without being asked"),
    "answers_ahead": Kind(
        "import itertools\nfor i in itertools.count(1): say(i); time.sleep(0.02)", "without being asked"
    ),
    "other_id": Kind(
        "kept = None\n" + _ASKED + "    name, kept = (kept if i == 5 else name), name\n"
        "    say(json.dumps({'id': name, 'y': x}))",
        "another id than the query",
    ),
    "forgets_the_id": Kind(_ASKED + "    say(json.dumps({'id': name, 'y': x}) if i < 5 else x)", "has no id"),
    "repeats_the_id": Kind(_ASKED + "    say(json.dumps({'id': name, 'y': x}))", RIGHT),
    "answer_to_another_question": Kind("before = 777\n" + _ASKED + "    say(before); before = x", UNSEEN),
    # No line.
    "no_line_end": Kind(_ASKED + "    print(end=str(x), flush=True)", r"only '1\.0', without a line end"),
    "no_flush": Kind(_ASKED + "    print(x)", "does it flush its output"),
    "half_a_line_then_hangs": Kind("input(); print(end='1.', flush=True); time.sleep(60)", r"only '1\.', without"),
    "sleeps": Kind("time.sleep(60)", "did not answer within"),
    "never_reads": Kind("time.sleep(60)", "did not answer within", queries=_WIDE),
    "reads_slowly": Kind("while os.read(0, 1000): time.sleep(0.05)", "did not answer within", queries=_WIDE),
    "closes_stdin": Kind(_ASKED + "    say(x)\n    if i == 10: os.close(0); time.sleep(60)", "closed its input"),
    "closes_stdout": Kind(_ASKED + "    say(x)\n    if i == 10: os.close(1); time.sleep(60)", "closed its output"),
    "exits_at_once": Kind("sys.exit(0)", "ended with exit code 0"),
    "dies_half_way": Kind(_ASKED + "    if i == 10: os.kill(os.getpid(), 9)\n    say(x)", "ended with exit code -9"),
    "dies_in_a_line": Kind("input(); print(end='1.', flush=True); os._exit(3)", "ended with exit code 3"),
    "raises": Kind(_ASKED + "    say(x)\n    if i == 10: raise ValueError('boom')", "last words: ValueError: boom"),
    # No number.
    "not_a_number": Kind(_ASKED + "    say('NaN')", "NaN is not a JSON number"),
    "infinity": Kind(_ASKED + "    say('-Infinity')", "Infinity is not a JSON number"),
    "binary_garbage": Kind(_ASKED + "    os.write(1, bytes(range(128, 256)) + b'\\0\\n')", "is not JSON"),
    "words": Kind(_ASKED + "    say('the answer is', x)", "is not JSON"),
    "boolean": Kind(_ASKED + "    say('true')", "holds true"),
    "huge_integer": Kind(_ASKED + "    say('9' * 50_000)", "is not JSON"),
    "deep_list": Kind(_ASKED + "    say('[' * 90_000)", "is not JSON"),
    "line_without_end": Kind("input()\nwhile True: os.write(1, b'1' * 65536)", "more than 100,000 bytes"),
    "control_letters": Kind(_ASKED + "    say('\\x1b[2J\\r\\x07' * 50)", "is not JSON"),
    # Processes, and what is written elsewhere.
    "floods_stderr": Kind("sys.stderr.write('x' * 5_000_000)\n" + _ASKED + "    say(x)", RIGHT),
    "ignores_sigterm": Kind(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + _ASKED + "    say(x)\ntime.sleep(60)", RIGHT
    ),
    "ignores_sigterm_and_hangs": Kind(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)", "did not answer within"
    ),
    "grandchild": Kind("note(subprocess.Popen(['sleep', '60']).pid)\n" + _ASKED + "    say(x)", RIGHT),
    "quiet_grandchild": Kind(
        "note(subprocess.Popen(['sleep', '60'], stdin=-3, stdout=-3, stderr=-3).pid)\n" + _ASKED + "    say(x)", RIGHT
    ),
    "stubborn_grandchild": Kind(
        "note(subprocess.Popen(['sh', '-c', 'trap \"\" TERM; sleep 60; sleep 1']).pid)\ntime.sleep(60)",
        "did not answer within",
    ),
    "leaves_a_grandchild": Kind("note(subprocess.Popen(['sleep', '60']).pid)\ninput()", "ended with exit code 0"),
    # Secrets.
    "secret_in_last_words": Kind("input(); sys.exit(f'bad key {key}')", "last words: bad key"),
    "secret_in_an_answer": Kind(_ASKED + "    say('x' * 110 + key)", "is not JSON"),
    "secret_as_a_name": Kind(_ASKED + "    say(json.dumps({key: 1}))", "a JSON number is needed"),
    "secret_beyond_the_answer": Kind(_ASKED + "    say(f'{x}\\n{key}')", "without being asked"),
}


def command_of(name: str) -> list[str]:
    """Return the program of a kind, for whoever wants to ask it."""
    return [sys.executable, "-E", "-c", _HEAD + KINDS[name].code]


def _left(mark: Path) -> list[int]:
    """Return the noted processes that are alive, after some seconds to end; kill them: they are ours."""
    pids = [int(line) for line in mark.read_text().split()] if mark.exists() else []
    end = time.monotonic() + 3
    while (alive := [pid for pid in pids if _alive(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    return alive


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def outcome(name: str) -> tuple[list[str], str, float]:
    """Return what went wrong, the message, and the seconds that it took."""
    what = KINDS[name]
    found: list[str] = []
    said = ""

    def ask() -> None:
        nonlocal said
        body = {"id": "$id", "x": "$x", "token": f"env:{VARIABLE}"}
        try:
            with ms.CommandOracle(command_of(name), timeout=1.0, body=body, **what.options) as oracle:
                answers = oracle(what.queries, 1)
        except Exception as error:
            said = str(error)
            found.extend(faults_of(error, what.expected))
        else:
            wrong = not np.array_equal(answers, what.queries)
            said = (
                ("wrong" if wrong else "right")
                + " answers"
                + (", and nobody can tell" if what.expected == UNSEEN else "")
            )
            if what.expected not in (RIGHT, UNSEEN) or (wrong and what.expected == RIGHT):
                found.append(f"no error; the answers are {'wrong' if wrong else 'right'}: {answers[:, 0].tolist()}")

    with tempfile.TemporaryDirectory() as folder:
        mark = Path(folder) / "pids"
        before = {key: os.environ.get(key) for key in (VARIABLE, MARK)}
        os.environ.update({VARIABLE: SECRET, MARK: str(mark)})
        start = time.monotonic()
        try:
            thread = threading.Thread(target=ask, daemon=True)
            thread.start()
            thread.join(SECONDS)
        finally:
            for key, value in before.items():
                os.environ.pop(key)
                if value is not None:
                    os.environ[key] = value
        seconds = time.monotonic() - start
        if thread.is_alive():
            found.append(f"it did not end within {SECONDS:g} s")
        if left := _left(mark):
            found.append(f"processes are left: {left}")
    return found, re.sub(re.escape(sys.executable), "PYTHON", said), seconds


def check(kind: str) -> list[str]:
    """Return what went wrong with one kind of program; nothing is as it should be."""
    return outcome(kind)[0]


def main(names: list[str]) -> int:
    failed = 0
    for name in names or KINDS:
        found, said, seconds = outcome(name)
        failed += bool(found)
        print(f"{'FAILED' if found else 'ok':<6} {name:<28} {seconds:5.1f} s  {said}", flush=True)
        for fault in found:
            print(f"       {fault}")
    print(f"{len(names or KINDS)} programs, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
