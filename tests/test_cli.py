"""The command line, as a user runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mixsense as ms

SMALL = ["--method", "paper", "--n", "30", "--k", "2", "--sigma", "1", "--m", "40", "--batch", "60", "--seed", "3"]


def mixsense(*args, cwd=None, **kwargs):
    return subprocess.run(
        [sys.executable, "-m", "mixsense", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
        **kwargs,
    )


def test_help_is_complete():
    top = mixsense("--help")
    assert top.returncode == 0
    for command in ("demo", "recover", "plan", "sweep", "figures", "audit"):
        assert command in top.stdout
        page = mixsense(command, "--help", env=os.environ | {"COLUMNS": "200"}).stdout
        options = [line for line in page.splitlines() if line.strip("│ ").startswith("--")]
        assert len(options) > 3
        for line in options:
            assert len(line.strip("│ ").split("  ")) > 1, f"no help for {line}"
    assert mixsense("--version").stdout.strip() == f"mixsense {ms.__version__}"


def test_demo_shows_the_table_and_draws_the_picture(tmp_path):
    done = mixsense("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("worst ℓ2 error", "44,800", "of 150 queries rightly", "times fewer answers"):
        assert words in done.stdout
    assert int(re.search(r"used (\d+) times fewer", done.stdout)[1]) >= 20
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_recover_needs_only_n(tmp_path):
    done = mixsense("recover", "--simulate", "--n", "30", "--gamma", "0.4", "--weights", "estimate", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("certified")
    for options, words in (
        (["--weights", "a,b"], "give two shares"),
        (["--batch", "9"], "does not go with --method frugal"),
    ):
        done = mixsense("recover", "--simulate", *options)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_recover_simulated_writes_the_result(tmp_path):
    done = mixsense("recover", "--simulate", *SMALL, "--gamma", "1", "--out", "r.json", "--plot", "r.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = ms.Recovery.from_json((tmp_path / "r.json").read_text())
    assert result.status == "certified"
    assert result.summary() in done.stdout
    assert (tmp_path / "r.png").exists()


ORACLE = """
import time
import mixsense as ms
ask = ms.SimulatedOracle(ms.random_pair(30, 2, gap=5.0, seed=1), sigma=1.0, seed=2)
def slow(queries, repeats):
    time.sleep(0.03)
    with open("calls", "a") as file:
        file.write("x")
    return ask(queries, repeats)
def broken(queries, repeats):
    raise RuntimeError("the lab is closed")
number = 3
"""


def test_recover_from_a_python_function_and_its_mistakes(tmp_path):
    (tmp_path / "lab.py").write_text(ORACLE)
    (tmp_path / "badlab.py").write_text("def ask(:")
    done = mixsense("recover", "lab:ask", *SMALL, "--gamma", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cases = [
        (["lab:nothing", *SMALL], 2, "has no callable 'nothing'"),
        (["lab:number", *SMALL], 2, "has no callable 'number'"),
        (["nolab:ask", *SMALL], 2, "'nolab' cannot be imported"),
        (["lab", *SMALL], 2, "give module:function"),
        (["badlab:ask", *SMALL], 2, "SyntaxError"),
        (["lab:ask", *SMALL, "--record", "no/where.jsonl"], 2, "cannot be used as a record"),
        (["lab:ask", *SMALL, "--record", "."], 2, "cannot be used as a record"),
        (["--simulate", *SMALL, "--seed", "-1"], 2, "seed is -1"),
        ([*SMALL], 2, "give an oracle as module:callable, or --simulate"),
        (["lab:ask", "--simulate", *SMALL], 2, "one of them"),
        (["lab:broken", *SMALL], 1, "RuntimeError: the lab is closed"),
        (["lab:ask", *SMALL, "--gamma", "-1"], 2, "gamma is -1"),
        (["lab:ask", *SMALL, "--gamma", "x"], 2, "x"),
        (["lab:ask", "--method", "noiseless", "--batch", "9"], 2, "--batch does not go with --method noiseless"),
        (["lab:ask", *SMALL, "--max-queries", "10"], 1, "nothing was asked"),
        (["lab:ask", *SMALL, "--gamma", "1", "--out", "no/where.json"], 2, "give another --out"),
    ]
    for args, code, words in cases:
        done = mixsense("recover", *args, cwd=tmp_path)
        assert (done.returncode, words in done.stderr) == (code, True), (args, done.stderr)
        assert "Traceback" not in done.stderr


def test_budget_is_an_exit_code_of_its_own(tmp_path):
    done = mixsense("recover", "--simulate", *SMALL, "--gamma", "1", "--max-queries", "2400", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith("budget: max_queries ran out; the best estimate so far; 2,400 answers")


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    (tmp_path / "lab.py").write_text(ORACLE)
    command = ["recover", "lab:slow", *SMALL, "--gamma", "1", "--record", "answers.jsonl"]
    first = subprocess.Popen(
        [sys.executable, "-m", "mixsense", *command],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    calls = tmp_path / "calls"
    deadline = time.monotonic() + 60
    while not (calls.exists() and calls.stat().st_size >= 20) and time.monotonic() < deadline:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = calls.stat().st_size
    done = mixsense(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "answers are there already" in done.stderr
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    kept = sum(len(row) for line in lines[1:] for row in line["answers"])
    assert f"{kept:,} answers" in done.stdout  # every answer of the file was used, none asked twice
    # At most the one call in flight when the process died was made again.
    assert calls.stat().st_size <= len(lines) - 1 + 1
    assert before < calls.stat().st_size


@pytest.mark.parametrize("signal_", [signal.SIGINT])
def test_ctrl_c_is_one_line(tmp_path, signal_):
    (tmp_path / "lab.py").write_text(ORACLE)
    process = subprocess.Popen(
        [sys.executable, "-m", "mixsense", "recover", "lab:slow", *SMALL],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    calls = tmp_path / "calls"
    deadline = time.monotonic() + 60
    while not calls.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal_)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "--record" in stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_one_line():
    command = [sys.executable, "-m", "mixsense", "plan", *"--n 20 --k 2 --sigma 1 --gap 2 --gamma 0.1".split()]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr
