"""Sweeps: what a grid may be, that a cell depends on nothing but itself, and that what is done stays done."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mixsense as ms
from in_process import mixsense
from mixsense.sweeps import workers
from mixsense.sweeps.cell import arguments_of, run_cell
from mixsense.sweeps.grid import AXES, PLAIN_KEYS, read_grid
from mixsense.sweeps.store import Store, read_store
from mixsense.sweeps.sweep import commonest_failure, save_table, summarise

TINY = {
    "n": 10,
    "k": [1, 2],
    "gap": [2.0, 5.0],
    "method": "paper",
    "seeds": 5,
    "options": {"paper": {"m": 4, "batch": 6}},
}
TINY_TOML = """
n = 10
k = [1, 2]
gap = [2.0, 5.0]
method = "paper"
seeds = {seeds}
[options.paper]
m = 4
batch = 6
"""


def equal(a, b):
    pd.testing.assert_frame_equal(a.drop(columns="seconds"), b.drop(columns="seconds"), check_exact=True)


def command(*args):
    return [sys.executable, "-m", "mixsense", "sweep", *map(str, args)]


def program(*args, **kwargs):
    """Run a sweep in a process of its own."""
    return subprocess.run(command(*args), capture_output=True, text=True, timeout=120, **kwargs)


def alone(*args, cwd):
    """Run a sweep in this process, and its cells too."""
    return mixsense("sweep", *args, cwd=cwd)


def count(path):
    return len(read_store(path)) if path.exists() else 0


PAGE, EMPTY = 4096, 4 * 4096  # of SQLite: a page holds about seven cells; a file without cells


def wait_for(path, pages, process):
    """Wait until the file has grown so much, or the process has ended; a busy writer lets readers wait for long."""

    def size():
        return max(path.stat().st_size, EMPTY) if path.exists() else EMPTY

    goal, deadline = size() + pages * PAGE, time.monotonic() + 60
    while size() < goal and process.poll() is None:
        assert time.monotonic() < deadline, "the sweep does not get on"
        time.sleep(0.005)


@contextlib.contextmanager
def started(*args, cwd, stderr=subprocess.PIPE):
    """Run a sweep in a session of its own meanwhile."""
    pipes = {"stdout": subprocess.DEVNULL, "stderr": stderr, "text": True}
    with subprocess.Popen(command(*args), cwd=cwd, start_new_session=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def tiny():
    return ms.sweep(TINY, jobs=1)


@pytest.fixture(autouse=True)
def _no_pictures_left():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_a_file_from_windows_is_read(tmp_path):
    (tmp_path / "grid.toml").write_bytes(b"\xef\xbb\xbf" + TINY_TOML.format(seeds=5).replace("\n", "\r\n").encode())
    assert {*read_grid(tmp_path / "grid.toml").cells} == {*read_grid(TINY).cells}


# The grid


def test_the_function_stays_the_function():
    import mixsense.sweeps.sweep

    assert callable(ms.sweep)
    assert ms.sweep is mixsense.sweeps.sweep.sweep


def test_a_grid_is_the_product_of_all_lists(tiny):
    assert len(tiny) == 2 * 2 * 5
    assert tiny[["k", "gap", "seed"]].drop_duplicates().shape == (20, 3)
    assert tiny.loc[0, ["n", "k", "gap", "sigma", "method", "m", "batch"]].tolist() == [10, 1, 2.0, 1.0, "paper", 4, 6]
    options = {"paper": {"m": 4, "batch": [6, 8]}, "single": {"batch": 5}}
    both = read_grid({**TINY, "method": ["paper", "single"], "options": options})
    assert len(both.cells) == 2 * 2 * (2 + 1) * 5  # options of one method do not multiply the other


def test_defaults_and_spelling_do_not_change_a_cell():
    plain = {"n": 10, "k": 1, "gap": 5.0, "max_queries": 60, "seeds": [2, 3]}
    spelt = {"method": ["frugal"], "sigma": 1, "eta": 0.05, "weights": [0.5, 0.5], **plain, "gap": [5], "seeds": [3, 2]}
    assert {*read_grid(plain).cells} == {*read_grid(spelt).cells}


def test_a_cell_is_the_run_it_says(tiny):
    row = tiny[(tiny.k == 2) & (tiny.gap == 5.0) & (tiny.seed == 3)].iloc[0]
    pair = ms.random_pair(10, 2, gap=5.0, seed=[3, 1])
    oracle = ms.SimulatedOracle(pair, sigma=1.0, seed=[3, 2])
    r = ms.recover(oracle, 10, k=2, sigma=1.0, method="paper", m=4, batch=6, seed=[3, 3])
    assert (row.status, row.queries, row.error) == (r.status, r.queries, ms.match_error(r.vectors, pair))


def test_known_is_what_the_method_is_told():
    base = {"n": 10, "k": 1, "gap": 5.0, "weights": [0.7, 0.3], "gamma": "none", "max_queries": 100, "seeds": [1]}
    pair = ms.random_pair(10, 1, gap=5.0, seed=[1, 1])
    told = {
        ("k", "models", "sigma", "weights"): {"k": 1, "models": 2, "sigma": 1.0, "weights": (0.7, 0.3)},
        (): {"models": "auto", "weights": None},
    }
    for known, arguments in told.items():
        oracle = ms.SimulatedOracle(pair, weights=(0.7, 0.3), seed=[1, 2])
        r = ms.recover(oracle, 10, gamma=None, max_queries=100, seed=[1, 3], **arguments)
        frame = ms.sweep({**base, "known": list(known)}, jobs=1)
        assert frame.error[0] == ms.match_error(r.vectors, pair)
        assert frame.known[0] == ", ".join(known)


def test_equal_shares_that_are_known_do_not_tell_the_number_of_models():
    (cell,) = read_grid({"n": 10, "k": 1, "gap": 5.0, "models": 3, "seeds": 1, "known": ["weights"]}).cells
    told = arguments_of(cell.setting)
    assert (told["weights"], told["models"], told["k"], told["sigma"]) == ("equal", "auto", None, None)
    assert cell.setting["weights"] == [1 / 3, 1 / 3, 1 / 3]


def test_the_number_of_models_is_an_axis():
    grid = {"n": 12, "k": 1, "gap": 8.0, "models": [1, 2, 3], "gamma": "none", "max_queries": 200, "seeds": [1]}
    frame = ms.sweep(grid, jobs=1)
    assert frame.models.tolist() == [1, 2, 3]
    assert frame.weights.tolist() == [(1.0,), (0.5, 0.5), (1 / 3,) * 3]
    vectors = ms.random_models(3, 12, 1, gap=8.0, seed=[1, 1])
    told = {"k": 1, "sigma": 1.0, "models": 3, "weights": "equal", "gamma": None, "max_queries": 200}
    r = ms.recover(ms.SimulatedOracle(vectors, seed=[1, 2]), 12, seed=[1, 3], **told)
    assert frame.error[2] == ms.match_error(r.vectors, vectors)
    assert ms.plots.plot_sweep(frame).get_xlabel() == "models"


def test_shares_tell_the_number_of_models_where_it_is_not_given():
    base = {"n": 10, "k": 1, "gap": 5.0, "seeds": 1}
    shares = [[0.5, 0.3, 0.2], [0.6, 0.4]]
    assert [cell.setting["models"] for cell in read_grid({**base, "weights": shares}).cells] == [3, 2]
    one = read_grid({**base, "weights": shares[0]}).cells
    assert one == read_grid({**base, "weights": shares[0], "models": 3}).cells


def test_another_number_of_models_than_the_true_one_is_infinitely_wrong(tmp_path, monkeypatch):
    (tmp_path / "mylab.py").write_text(
        "import numpy as np, mixsense as ms\n"
        "def guess(problem, rng, rows=2):\n"
        "    yield ms.Round(np.eye(problem.n), 1)\n"
        "    return ms.Recovery(np.ones((rows, problem.n)), 'budget')\n"
    )
    monkeypatch.chdir(tmp_path)
    options = {"mylab:guess": {"rows": [1, 2, 3]}}
    grid = {"n": 5, "k": 1, "gap": 5.0, "models": 3, "method": "mylab:guess", "options": options, "seeds": 2}
    frame = ms.sweep({**grid, "success": 100.0}, out=tmp_path / "grid.sqlite", jobs=1)
    two = frame[frame.rows == 2]
    assert (two.status == "budget").all()  # it did not fail: it was wrong
    assert two.error.tolist() == [np.inf, np.inf]
    assert two.message.tolist() == 2 * ["models found: 2; there are 3"]
    others = frame[frame.rows != 2]
    assert np.isfinite(others.error).all()
    assert others.message.tolist() == 2 * ["models found: 1; there are 3"] + 2 * [""]
    assert frame.success.tolist() == (frame.rows != 2).tolist()
    equal(ms.read_sweep(tmp_path / "grid.sqlite"), frame.drop(columns="success"))


def test_a_file_of_0_2_0_is_of_two_models():
    frame = ms.read_sweep(Path(__file__).parent / "data" / "sweep-0.2.0.sqlite")
    assert len(frame) > 0
    assert set(frame.models) == {2}


def test_a_budget_is_spent_only_if_no_precision_is_asked_for():
    grid = {"n": 10, "k": 1, "gap": 5.0, "sigma": 0.1, "max_queries": 200, "seeds": 1}
    usual = ms.sweep(grid, jobs=1)
    assert (usual.gamma[0], usual.status[0]) == (0.1, "certified")
    assert usual.queries[0] < 200
    for none in ("none", None, ["none"]):
        spent = ms.sweep({**grid, "gamma": none}, jobs=1)
        assert (np.isnan(spent.gamma[0]), spent.queries[0]) == (True, 200)
    with pytest.raises(ms.InvalidInput, match="gamma"):
        ms.sweep({"n": 10, "k": 1, "gap": 5.0, "gamma": "none"})


def test_no_noise_needs_no_precision():
    frame = ms.sweep({"n": 10, "k": 2, "gap": 5.0, "sigma": 0, "gamma": [0, "none"], "method": "noiseless", "seeds": 2})
    assert frame.status.tolist() == ["certified"] * 4
    assert frame.error.max() < 1e-9


def test_keys_that_are_not_text_are_one_line():
    with pytest.raises(ms.InvalidInput, match="unknown key 3: it can be n, k, gap"):
        ms.sweep({"n": 10, "k": 1, "gap": 5.0, 3: 1})
    with pytest.raises(ms.InvalidInput, match=r"unknown key in options.frugal: 3"):
        ms.sweep({"n": 10, "k": 1, "gap": 5.0, "options": {"frugal": {3: 1}}})


BAD = [
    ("n = 10\nk = 1\ngaps = 2.0", "unknown key 'gaps': did you mean 'gap'?"),
    ("n = 10\nk = 1\ngap = 2.0\nzebra = 1", "unknown key 'zebra': it can be n, k, gap"),
    ("n = 10\nk = 1", "gap is missing"),
    ("n = 10\nk = []\ngap = 2.0", "k is an empty list: the grid would have no cell"),
    ("n = 10\nk = 1\ngap = 2.0\nseeds = []", "seeds is an empty list"),
    ("n = 10\nk = 1\ngap = 2.0\nmethod = []", "method is an empty list"),
    ("n = 10\nk = 1\ngap = 2.0\nseeds = 0", "seeds is 0; it must be at least 1"),
    ("n = 10\nk = 1\ngap = 2.0\nseeds = [1, -1]", "seeds is -1"),
    ("n = 10\nk = 1\ngap = 2.0\nseeds = [4294967296]", "seeds lists 4294967296"),
    ("n = 10\nk = [1, 'two']\ngap = 2.0", "k is 'two'; it must be a whole number"),
    ("n = 10.5\nk = 1\ngap = 2.0", "n is 10.5; it must be a whole number"),
    ("n = true\nk = 1\ngap = 2.0", "n is True; it must be a whole number"),
    ("n = 10\nk = 1\ngap = 'wide'", "gap is 'wide'; it must be a real number"),
    ("n = 10\nk = 1\ngap = true", "gap is True; it must be a real number"),
    ("n = 10\nk = 1\ngap = nan", "gap is nan; it must be finite"),
    ("n = 99999999999999999999\nk = 1\ngap = 2.0", "n is 99999999999999999999; it must be at most 1e+07"),
    ("n = 10\nk = 1\ngap = 1e308", "gap is 1e+308; it must be at most 1e+50"),
    (
        "n = 10\nk = 1\ngap = 2.0\nmax_queries = 9223372036854775808",
        "max_queries is 9223372036854775808; it must be at",
    ),
    ("n = 10\nk = 1\ngap = 2.0\ngamma = 0", "gamma is 0; it must be above 0"),
    ("n = 10\nk = 1\ngap = 2.0\ngamma = 0\nsigma = [0, 1.0]", "(0 needs sigma=0)"),
    ("n = 10\nk = 1\ngap = 2.0\ngamma = -1", "gamma is -1; it must be at least 0"),
    ("n = 10\nk = 1\ngap = 2.0\neta = true", "eta is True; it must be a real number"),
    ('n = 10\nk = 1\ngap = 2.0\n"\\u001b[2J" = 1', "unknown key '\\x1b[2J': it can be"),
    (f"n = 10\nk = 1\ngap = 2.0\nknown = {list(range(9999))}", "known is [0, 1, 2, 3"),
    ("n = 10\nk = 1\ngap = 2024-01-01", "gap is"),
    ("n = 10\nk = [1, 1]\ngap = 2.0", "k lists 1 twice"),
    ("n = [5, 100]\nk = 10\ngap = 2.0", "k is 10, but the vectors have n = 5"),
    ("n = 10\nk = 1\ngap = 2.0\noverlap = 2", "overlap is 2"),
    ("n = 10\nk = 1\ngap = 2.0\noverlap = 1\nmodels = 3", "overlap is for two models, models is 3: leave overlap out"),
    ("n = 10\nk = 1\ngap = 2.0\nmodels = 7", "models is 7; it must be at most 6"),
    ("n = 10\nk = 1\ngap = 2.0\nmodels = 'auto'", "models is 'auto'; it must be a whole number"),
    ("n = 10\nk = 1\ngap = 2.0\nmodels = 3\nweights = [0.5, 0.5]", "weights has 2 entries, models is 3"),
    ("n = 10\nk = 1\ngap = 2.0\neta = 2", "eta is 2; it must be below 1"),
    ("n = 10\nk = 1\ngap = 2.0\neta = [0.05, 1e-13]", "eta is 1e-13; it must be at least 1e-12"),
    ("n = 10\nk = 1\ngap = 2.0\nseeds = 99999999999", "seeds is 99,999,999,999: a grid has at most 1,000,000 cells"),
    ("n = 10\nk = 1\ngap = [2.0, 3.0]\nseeds = 700000", "1,400,000 cells (gap: 2, seeds: 700,000): the most is"),
    (
        "n = 10\nk = 1\ngap = 2.0\n[options.frugal]\ndesign = 'gaussian'",
        "options.frugal.design is for queries in a box",
    ),
    ("n = 10\nk = 1\ngap = 2.0\n[options.frugal]\nsteer = 'no'", "steer is 'no': give True or False"),
    ("n = 10\nk = 1\ngap = 2.0\n[options.frugal]\nsteer = 1", "steer is 1: give True or False"),
    (
        "n = 10\nk = 1\ngap = 2.0\n[options.paper]\nbatch = 6",
        "options.paper is given, but method is frugal: add 'paper'",
    ),
    ("n = 10\nk = 1\ngap = 2.0\nweights = [0.5, 0.6]", "weights sum to 1.1"),
    ("n = 10\nk = 1\ngap = 2.0\nweights = 'estimate'", "weights is 'estimate': give the true shares"),
    ("n = 10\nk = 1\ngap = 2.0\nmethod = 'magic'", "method is 'magic': give one of 'frugal'"),
    ("n = 10\nk = 1\ngap = 2.0\nmethod = 'paper'\nweights = [0.7, 0.3]", "weights is (0.7, 0.3)"),
    ("n = 10\nk = 1\ngap = 2.0\nmethod = 'paper'\nknown = []", "k is missing"),
    ("n = 10\nk = 1\ngap = 2.0\nknown = 'k'", "known is 'k': list what the methods are told"),
    ("n = 10\nk = 1\ngap = 2.0\nknown = ['n']", "unknown entry of known: 'n'"),
    ("n = 10\nk = 1\ngap = 2.0\nsuccess = 'often'", "success is 'often'"),
    ("n = 10\nk = 1\ngap = 2.0\noptions = 3", "options is 3: give a table"),
    ("n = 10\nk = 1\ngap = 2.0\n[options.magic]\nm = 2", "method is 'magic': give one of 'frugal'"),
    ("n = 10\nk = 1\ngap = 2.0\n[options.paper]\nbatches = 2", "unknown key in options.paper: 'batches'"),
    ("n = 10\nk = 1\ngap = 2.0\n[options.paper]\nbatch = []", "options.paper.batch is an empty list"),
    ("n = 10\nk = 1\ngap = 2.0\n[options.paper.batch]\nx = 1", "options.paper.batch is {'x': 1}"),
    ("n = 10\nk = 1\ngap = 2.0\nmethod = 'paper'\n[options.paper]\nbatch = 'x'", "batch is 'x'"),
    ("n = 10\nk = [1, 2\ngap = 2.0", "grid.toml is not a TOML file"),
    ("n = 10\nn = 10", "grid.toml is not a TOML file"),
    (f"n = {list(range(10, 2000))}\nk = 1\ngap = 2.0\nseeds = 1000", "the grid has 1,990,000 cells (n: 1,990"),
]


@pytest.mark.parametrize(("text", "words"), BAD, ids=[words for _, words in BAD])
def test_a_bad_grid_is_refused_with_the_name_of_the_key(tmp_path, text, words):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(ms.InvalidInput, match=re.escape(words)) as caught:
        ms.sweep(path)
    assert len(str(caught.value).splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["grid.toml"]  # nothing was begun


def test_mistakes_on_the_command_line_are_one_line(tmp_path):
    (tmp_path / "good.toml").write_text(TINY_TOML.format(seeds=1))
    (tmp_path / "bad.toml").write_text("n = 10\nk = []\ngap = 2.0")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "text.sqlite").write_text("this is no database, and long enough not to look like an empty one\n" * 20)
    with contextlib.closing(sqlite3.connect(tmp_path / "other.sqlite")) as db:
        db.execute("CREATE TABLE mine (x)")
    Store(tmp_path / "newer.sqlite").close()
    with contextlib.closing(sqlite3.connect(tmp_path / "newer.sqlite")) as db:
        db.execute("PRAGMA user_version = 99")
    Store(tmp_path / "older.sqlite").close()
    with contextlib.closing(sqlite3.connect(tmp_path / "older.sqlite")) as db, db:
        db.execute("UPDATE origin SET mixsense = '0.0.1'")
    (tmp_path / "folder.csv").mkdir()
    before = (tmp_path / "other.sqlite").read_bytes()
    cases = [
        (["bad.toml"], "bad.toml: k is an empty list"),
        (["binary.toml"], "binary.toml is not a TOML file"),
        (["nothing.toml"], "nothing.toml cannot be read"),
        ([".", "--out", "x.sqlite"], ". is not a file: give a TOML file"),
        (["."], ". is not a file: give a TOML file"),
        (["/"], "/ is not a file: give a TOML file"),
        ([""], ". is not a file: give a TOML file"),
        ([".."], ".. cannot be read"),
        (["good.toml", "--out", "."], "out is '.': give the file that keeps the cells"),
        (["good.toml", "--export", "no/where.csv"], "--export is no/where.csv, but there is no folder no: make it"),
        (["good.toml", "--export", "folder.csv"], "--export is folder.csv, a folder: give a file"),
        (["good.toml", "--jobs", "0"], "jobs is 0"),
        (["good.toml", "--out", "cells.csv"], "out is 'cells.csv', but the cells are kept in SQLite"),
        (["good.toml", "--jobs", "2", "--dask", "tcp://127.0.0.1:9"], "give one of them"),
        (["good.toml", "--out", "text.sqlite"], "text.sqlite is not a file of a sweep"),
        (["good.toml", "--out", "other.sqlite"], "other.sqlite is not a file of a sweep (another program's database)"),
        (["good.toml", "--out", "newer.sqlite"], "newer.sqlite was written by a newer mixsense (format 99)"),
        (["good.toml", "--out", "older.sqlite"], "older.sqlite was computed with mixsense 0.0.1"),
        (["good.toml", "--out", "no/where.sqlite"], "no/where.sqlite cannot be"),
        (["good.toml", "--export", "x.xls"], "--export is x.xls"),
    ]
    for args, words in cases:
        done = alone(*args, cwd=tmp_path)
        assert (done.returncode, words in done.stderr) == (2, True), (args, done.stderr)
        assert len(done.stderr.splitlines()) == 1, done.stderr
    assert (tmp_path / "other.sqlite").read_bytes() == before
    assert not list(tmp_path.glob("*.lock*"))
    assert not (tmp_path / "good.sqlite").exists()  # nothing was run


def test_what_is_no_file_and_no_table_is_refused(tmp_path, tiny):
    for call, words in (
        (lambda: ms.sweep(None), "settings is of type NoneType: give a TOML file"),
        (lambda: ms.sweep([1]), "settings is of type list: give a TOML file"),
        (lambda: ms.sweep(TINY, out=3), "out is '3': give the file"),
        (lambda: ms.read_sweep(3), "path is of type int: give the .sqlite file"),
        (lambda: ms.plots.plot_sweep(3), "the frame is of type int: give what ms.sweep"),
        (lambda: ms.plots.plot_sweep(tiny.drop(columns="error")), "the frame has no column 'error': give what"),
        (lambda: save_table(tiny, tmp_path / "no" / "x.csv"), "No such file or directory"),
    ):
        with pytest.raises(ms.InvalidInput, match=re.escape(words)) as caught:
            call()
        assert len(str(caught.value).splitlines()) == 1


# The result


def test_workers_and_order_do_not_matter(tiny):
    equal(ms.sweep(TINY, jobs=2), tiny)
    shuffled = {**TINY, "k": [2, 1], "gap": [5.0, 2.0], "seeds": [3, 1, 4, 0, 2]}
    equal(ms.sweep(shuffled, jobs=1), tiny)
    cells = read_grid(TINY).cells
    random.Random(1).shuffle(cells)
    with Store(None) as store:
        for cell in cells:
            store.put(*run_cell(cell))
        assert {c: (r.error, r.queries) for c, r in store.rows()} == {
            c: (r.error, r.queries) for c, r in map(run_cell, read_grid(TINY).cells)
        }


def test_a_failed_run_is_a_cell_too():
    frame = ms.sweep({**TINY, "max_queries": [20, 1000], "seeds": 2, "success": 1.0}, jobs=1)
    failed = frame[frame.max_queries == 20]
    assert (failed.status == "failed").all()
    assert failed.message.str.contains("max_queries is 20, but the step").all()
    assert failed.error.isna().all()
    assert not failed.success.any()
    assert (frame[frame.max_queries == 1000].message == "").all()
    assert commonest_failure(frame) == f"commonest failure, 8 of 8: {failed.message.iloc[0]}"
    other = frame.assign(message=["another", *frame.message[1:]])
    assert "failure, 7 of 8: max_queries is 20" in commonest_failure(other)
    assert commonest_failure(frame[frame.max_queries == 1000]) is None


def test_a_sweep_of_failures_says_where_and_ends_with_1(tmp_path):
    (tmp_path / "mylab.py").write_text("def lost(problem, rng):\n    int('x')\n    yield\n")
    (tmp_path / "grid.toml").write_text("n = 5\nk = 1\ngap = 5.0\nmethod = 'mylab:lost'\nseeds = 2\n")
    done = alone("grid.toml", "--quiet", "--jobs", "1", cwd=tmp_path)
    assert (done.returncode, "2 cells, 2 failed" in done.stdout) == (1, True), done.stderr
    assert "ValueError: invalid literal for int() with base 10: 'x' (mylab.py, line 2)" in done.stdout


def test_a_worker_with_another_version_is_refused():
    with pytest.raises(ms.InvalidInput, match=r"the sweep started with 0\.0\.1: install the same there"):
        run_cell(read_grid(TINY).cells[0], "0.0.1")


def test_python_may_give_arrays_and_ranges(tiny):
    arrays = {**TINY, "k": range(1, 3), "gap": np.array([2.0, 5.0]), "seeds": np.arange(5), "n": np.int64(10)}
    assert {*read_grid(arrays).cells} == {*read_grid(TINY).cells}


def test_a_terminal_gets_a_bar(tmp_path):
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=5))
    ours, theirs = pty.openpty()
    with started("grid.toml", "--jobs", "1", cwd=tmp_path, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end was closed
            while more := os.read(ours, 4096):
                shown += more
        assert process.wait() == 0
    os.close(ours)
    assert b"20 of 20 cells, 0 reused" in shown
    assert re.search(rb"[\d.]+/s, \d:\d\d:\d\d left", shown)


def test_a_changed_grid_reuses_what_is_still_in_it(tmp_path, tiny, capfd):
    out = tmp_path / "grid.sqlite"
    ms.sweep({**TINY, "gap": [1.0, 2.0]}, out, jobs=1)
    equal(ms.sweep(TINY, out, jobs=1, progress=True), tiny)
    assert "20 of 20 cells, 10 reused" in capfd.readouterr().err
    everything = ms.read_sweep(out)
    assert sorted(everything.gap.unique()) == [1.0, 2.0, 5.0]
    equal(everything[everything.gap > 1].reset_index(drop=True), tiny)


def test_the_command_draws_and_exports(tmp_path, tiny):
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=5))
    for name in ("table.csv", "table.parquet"):
        done = alone("grid.toml", "--jobs", "1", "--plot", "--export", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "20 cells, 0 failed: grid.sqlite" in done.stdout
    assert "20 of 20 cells, 20 reused" in done.stderr
    assert summarise(tiny) in done.stdout
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")
    for table in (pd.read_csv(tmp_path / "table.csv"), pd.read_parquet(tmp_path / "table.parquet")):
        assert table.error.tolist() == tiny.error.tolist()
    equal(ms.read_sweep(tmp_path / "grid.sqlite"), tiny)
    (tmp_path / "poor.toml").write_text("max_queries = 20" + TINY_TOML.format(seeds=2))
    done = alone("poor.toml", "--quiet", "--jobs", "1", cwd=tmp_path)
    assert "\ncommonest failure, 8 of 8: max_queries is 20, but" in done.stdout
    assert done.stdout.endswith("8 cells, 8 failed: poor.sqlite\n")


def test_the_picture_shows_the_medians(tiny):
    axes = ms.plots.plot_sweep(tiny.assign(max_queries=100))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("gap", "worst ℓ2 error: median and quartiles")
    assert (
        axes.get_title(loc="left")
        == "method = paper, n = 10, models = 2, sigma = 1, max_queries = 100, gamma = 0.1; seeds: 5"
    )
    assert labels(axes) == ["k = 1", "k = 2"]
    for seeds in (5, 4):  # also an even number: the median of the table
        some = tiny[tiny.seed < seeds].assign(max_queries=100)
        cells = some[(some.k == 1) & (some.gap == 2.0)]
        assert drawn(ms.plots.plot_sweep(some))[0] == np.median(cells.error)
        assert f"{np.median(cells.error):.4g}" in summarise(some)
    cells = tiny[(tiny.k == 1) & (tiny.gap == 2.0)]
    assert ms.plots.plot_sweep(tiny).get_ylabel() == "answers used: median and quartiles"  # no budget
    assert drawn(ms.plots.plot_sweep(tiny.assign(success=tiny.error < 1)))[0] == (cells.error < 1).mean()
    broken = tiny.assign(max_queries=100, status="failed")
    assert np.isnan(drawn(ms.plots.plot_sweep(broken))).all()
    assert "inf" in summarise(broken)
    half = tiny.assign(max_queries=100, status=["failed" if seed > 2 else "budget" for seed in tiny.seed])
    axes = ms.plots.plot_sweep(half)
    assert np.isfinite(drawn(axes)).all()  # the median is there, the upper quartile is infinite
    assert axes.get_title(loc="left").endswith(f"seeds: 5; {2 * len(half) // 5} of {len(half)} runs failed")
    # Bars at one place stand beside each other, and the axis says where they belong.
    first, second = (bars.lines[0] for bars in axes.containers)
    assert list(first.get_xdata()) == list(second.get_xdata())
    ends = [line.get_transform().transform((2.0, 1.0))[0] for line in (first, second)]
    assert ends[1] - ends[0] == pytest.approx(3.0 * axes.figure.dpi / 72)
    low, high = axes.get_ylim()
    assert all(low < height < high for line in (first, second) for height in line.get_ydata())
    both = pd.concat([tiny.drop(columns=["m", "batch"]).assign(method="single", gamma=np.nan), tiny])
    # What goes with the method is not said again.
    assert labels(ms.plots.plot_sweep(both))[0] == "method = paper, k = 1"
    one = ms.plots.plot_sweep(cells)
    assert one.get_xlabel() == "method"  # nothing varies but the seed
    assert not [line for line in one.get_lines() if line.get_linestyle() not in ("None", "none")]  # no line to join


def test_the_picture_takes_what_a_file_holds(tmp_path, tiny):
    mixed = pd.concat([tiny, tiny.assign(max_queries=100, gamma=np.nan), tiny.assign(max_queries=200, gamma=np.nan)])
    assert ms.plots.plot_sweep(mixed).get_xlabel() == "gap"  # some cells have no budget
    both = pd.concat([tiny, tiny.assign(weights=[(0.7, 0.3)] * len(tiny))])
    for name in ("cells.csv", "cells.parquet"):
        save_table(both, tmp_path / name)
        read = (pd.read_csv if name.endswith("csv") else pd.read_parquet)(tmp_path / name)
        shown = labels(ms.plots.plot_sweep(read))
        assert [any(f"weights = {shares}" in label for label in shown) for shares in ("(0.7, 0.3)", "equal")] == [
            True
        ] * 2


def test_the_number_of_models_is_an_axis_and_equal_shares_are_equal():
    frame = ms.sweep({"n": 4, "k": 1, "gap": 9.0, "models": [1, 2, 3], "max_queries": 60, "gamma": "none", "seeds": 1})
    axes = ms.plots.plot_sweep(frame)
    assert (axes.get_xlabel(), axes.figure.legends) == ("models", [])  # one line
    assert "weights" not in summarise(frame)


def drawn(axes):
    """Heights of the marks of the first line."""
    return axes.containers[0].lines[0].get_ydata()


def labels(axes):
    return [text.get_text() for text in axes.figure.legends[0].get_texts()]


def test_what_cannot_be_drawn_is_refused(tiny):
    with pytest.raises(ms.InvalidInput, match="nothing to draw"):
        ms.plots.plot_sweep(tiny[:0])


# What is done stays done


def test_320_cells_killed_five_times(tmp_path):
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=80))
    out, moments = tmp_path / "grid.sqlite", random.Random(1)
    for _ in range(5):
        with started("grid.toml", "--quiet", cwd=tmp_path) as process:
            wait_for(out, moments.randint(0, 2), process)
            time.sleep(moments.uniform(0, 0.05))
            process.kill()
            assert process.wait() == -signal.SIGKILL
    kept = count(out)
    assert 5 <= kept < 320  # some 60, and room for a machine on which the one who kills is late
    done = program("grid.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"320 of 320 cells, {kept} reused" in done.stderr
    frame = ms.read_sweep(out)
    assert len(frame) == len(frame[["k", "gap", "seed"]].drop_duplicates()) == 320
    equal(frame, ms.sweep({**TINY, "seeds": 80}, jobs=1))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["grid.sqlite", "grid.toml"]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def workers_of(process):
    """Process numbers of the workers, two of them."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")  # any thread may have started them
    children = [int(child) for path in tasks for child in path.read_text().split()]
    found = [pid for pid in children if b"LokyProcess" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(found) == 2
    return found


@contextlib.contextmanager
def endless(tmp_path):
    """Run a sweep of more cells than anyone waits for, of which a few are done."""
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=100_000))
    with started("grid.toml", "--jobs", "2", cwd=tmp_path) as process:
        wait_for(tmp_path / "grid.sqlite", 3, process)
        yield process


def test_ctrl_c_keeps_what_is_done(tmp_path):
    with endless(tmp_path) as process:
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the workers too
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "on with the same command" in stderr
    kept = count(tmp_path / "grid.sqlite")
    assert kept >= 5
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=2))
    assert "8 of 8 cells" in alone("grid.toml", "--jobs", "1", cwd=tmp_path).stderr
    assert count(tmp_path / "grid.sqlite") >= kept


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_workers_end_with_their_parent(tmp_path):
    with endless(tmp_path) as process:
        ours = workers_of(process)
        second = alone("grid.toml", cwd=tmp_path)
        assert (second.returncode, "grid.sqlite is in use by another sweep" in second.stderr) == (2, True)
    deadline = time.monotonic() + 60
    while any(map(alive, ours)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, ours))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_killed_worker_is_one_line(tmp_path):
    with endless(tmp_path) as process:
        os.kill(workers_of(process)[0], signal.SIGKILL)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "a worker process died" in stderr
    assert "Traceback" not in stderr


def test_a_full_disk_is_one_line(tmp_path):
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=30))

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    done = program("grid.toml", "--jobs", "1", "--quiet", cwd=tmp_path, preexec_fn=small_files)
    assert done.returncode == 1
    assert "a cell cannot be written to grid.sqlite" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    kept = count(tmp_path / "grid.sqlite")
    assert kept > 10
    done = alone("grid.toml", "--jobs", "1", cwd=tmp_path)
    assert f"120 of 120 cells, {kept} reused" in done.stderr


def test_reading_what_is_not_there(tmp_path):
    with pytest.raises(ms.InvalidInput, match="is not there"):
        ms.read_sweep(tmp_path / "nothing.sqlite")
    (tmp_path / "empty.sqlite").touch()  # killed before the first write
    assert len(ms.read_sweep(tmp_path / "empty.sqlite")) == 0
    assert ms.read_sweep(tmp_path / "empty.sqlite").columns[0] == "n"


# More than one machine: a real Dask cluster of separate processes


class Cluster:
    """A scheduler and workers without nannies, so that a killed worker stays dead."""

    def __init__(self, folder, workers):
        self._folder, self._file = folder, folder / "scheduler.json"
        self._all = []
        self.scheduler = self._start("scheduler", "--port", "0", "--no-show", "--scheduler-file", self._file)
        deadline = time.monotonic() + 60
        self.address = None
        while self.address is None:
            assert time.monotonic() < deadline, "no scheduler"
            with contextlib.suppress(OSError, ValueError):
                self.address = json.loads(self._file.read_text())["address"]
            time.sleep(0.05)
        self.workers = [self.add_worker() for _ in range(workers)]

    def _start(self, role, *args, path=""):
        with (self._folder / f"{role}.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", role, *map(str, args), "--host", "127.0.0.1", "--no-dashboard"],
                cwd=self._folder,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(path), os.getenv("PYTHONPATH")]))},
            )
        self._all.append(process)
        return process

    def add_worker(self, path=""):
        return self._start("worker", self.address, "--no-nanny", "--nthreads", "1", path=path)

    def log(self):
        return (self._folder / "scheduler.log").read_text()

    def close(self):
        for process in reversed(self._all):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    folder = tmp_path / "dask"
    folder.mkdir()
    made = []

    def make(workers):
        made.append(Cluster(folder, workers))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_dask_equals_local_also_when_a_worker_is_killed(tmp_path, cluster):
    dask = cluster(workers=2)
    grid = {**TINY, "seeds": 40}
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=40))
    with started("grid.toml", "--dask", dask.address, cwd=tmp_path) as process:
        wait_for(tmp_path / "grid.sqlite", 10, process)
        kept = {cell for cell, _ in read_store(tmp_path / "grid.sqlite")}
        dask.workers[0].kill()
        _, stderr = process.communicate(timeout=100)
    assert process.returncode == 0, stderr
    assert len(kept) < 160, "the sweep was over before the worker was killed"
    assert stderr.splitlines()[-1] == "mixsense: 160 of 160 cells, 0 reused"
    frame = ms.read_sweep(tmp_path / "grid.sqlite")
    assert len(frame) == 160
    equal(frame, ms.sweep(grid, jobs=2))
    # What was kept is not computed again, but for the last few, whose release was still on its way to the scheduler.
    lost = "".join(line for line in dask.log().splitlines() if "lose already computed" in line)
    order = sorted(read_grid(grid).cells, key=lambda cell: cell.seed)
    again = [order[int(number)] for number in re.findall(r"_run_on_worker-\S+-(\d+)'", lost)]
    assert len(kept & {*again}) <= 3


@pytest.mark.parametrize(("package", "words"), [("__version__ = '0.0.1'", "mixsense 0.0.1"), ("1 / 0", "no mixsense")])
def test_dask_workers_with_another_mixsense_are_refused(tmp_path, cluster, package, words):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mixsense.py").write_text(package)
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=2))
    dask = cluster(workers=0)
    dask.add_worker(path=tmp_path / "other")
    done = program("grid.toml", "--dask", dask.address, "--quiet", cwd=tmp_path)
    assert (done.returncode, f"has {words}: install mixsense {ms.__version__} there" in done.stderr) == (2, True)
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_dask_mistakes_and_a_lost_scheduler(tmp_path, cluster, monkeypatch):
    (tmp_path / "grid.toml").write_text(TINY_TOML.format(seeds=1000))
    monkeypatch.setattr(workers, "DASK_SECONDS", 1)
    for run, address, words in (
        (alone, "tcp://127.0.0.1:9", "no Dask scheduler answers"),
        (program, "nonsense://x", "unknown address scheme"),
    ):
        done = run("grid.toml", "--dask", address, "--quiet", cwd=tmp_path)
        assert (done.returncode, words in done.stderr, address in done.stderr) == (2, True, True), done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr

    dask = cluster(workers=0)
    with pytest.raises(ms.InvalidInput, match=f"{dask.address} has no worker: start some with `dask worker"):
        ms.sweep(TINY, dask=dask.address)

    dask.add_worker()
    out, kept = tmp_path / "grid.sqlite", 0
    for stop, code, words in (
        (lambda process: process.send_signal(signal.SIGINT), 130, "on with the same command"),
        (lambda _: dask.scheduler.kill(), 1, "is gone: the finished cells are kept"),
    ):
        with started("grid.toml", "--dask", dask.address, "--quiet", cwd=tmp_path) as process:
            wait_for(out, 2, process)
            stop(process)
            _, stderr = process.communicate(timeout=100)
        assert (process.returncode, words in stderr) == (code, True), stderr
        assert "Traceback" not in stderr
        assert count(out) > kept
        kept = count(out)


# The page


def test_the_example_of_the_page_runs(tmp_path):
    page = (Path(__file__).parent.parent / "docs" / "sweeps.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    settings = tomllib.loads(example)
    assert f"That is {len(read_grid(settings).cells):,} cells" in page
    frame = ms.sweep({**settings, "seeds": 1, "k": 2}, jobs=2)
    assert set(frame.steer) == {True, False}
    for name in (*AXES, *PLAIN_KEYS):
        assert f"`{name}`" in page, name
