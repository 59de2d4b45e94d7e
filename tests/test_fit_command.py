"""`mixsense fit`: files of data that one already has; and the passive method of sweeps."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import mixsense as ms
from mixsense.fitting.files import read_file


def run(folder, *arguments):
    command = [sys.executable, "-m", "mixsense", "fit", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("data")
    frame = ms.datasets.crowd(people=150, answers=6).to_frame()
    frame.to_csv(where / "tea.csv", index=False)
    frame.to_parquet(where / "tea.parquet")
    german = frame.map(lambda value: str(value).replace(".", ","))
    german.to_csv(where / "german.csv", index=False, sep=";")
    return where


def test_a_file_gives_the_same_as_python_and_files_for_others(folder):
    options = "--answer", "liking", "--group", "person", "--intercept"
    done = run(folder, "tea.csv", *options, "--out", "r.json", "--html", "r.html", "--plot", "r.png")
    assert (done.returncode, done.stderr) == (0, "")
    data = ms.datasets.crowd(people=150, answers=6)
    r = ms.fit(data.X, data.y, data.groups, intercept=True, features=data.names)
    assert done.stdout == r.summary() + "\n"
    back = ms.Recovery.from_json((folder / "r.json").read_text())
    assert np.allclose(back.vectors, r.vectors)
    assert "strength" in (folder / "r.html").read_text()
    assert (folder / "r.png").stat().st_size > 10_000
    printed = run(folder, "tea.parquet", *options, "--json")
    assert np.allclose(json.loads(printed.stdout)["vectors"], r.vectors)


def test_numbers_with_a_comma_are_read(folder):
    ours, theirs = (read_file(folder / name, "liking", "person") for name in ("tea.csv", "german.csv"))
    assert np.array_equal(ours.X, theirs.X)
    assert ours.names == theirs.names == ms.datasets.crowd().names


def test_columns_can_be_chosen(folder):
    table = read_file(folder / "tea.csv", "liking", columns=["milk", "price"])
    assert table.names == ("milk", "price")
    assert table.X.shape == (900, 2)
    assert table.groups is None


def test_empty_cells_are_missing(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,who\n1,2,ann\n,3,\nNA,4,bob\n5,.,bob\n")
    table = read_file(tmp_path / "a.csv", "y", "who")
    assert np.array_equal(table.X[:, 0], [1, np.nan, np.nan, 5], equal_nan=True)
    assert np.array_equal(table.y, [2, 3, 4, np.nan], equal_nan=True)
    assert table.groups == ["ann", None, "bob", "bob"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.csv", "--answer", "y"], "no.csv cannot be read (there is no such file)"),
        (["tea.txt", "--answer", "y"], "tea.txt is neither CSV nor Parquet"),
        (["tea.csv", "--answer", "rating"], "tea.csv has no column 'rating': it has 'strength', 'temperature'"),
        (["tea.csv", "--answer", "liking", "--columns", "milk,beer"], "tea.csv has no column 'beer'"),
        (["tea.csv", "--answer", "liking", "--columns", "milk,,"], "--columns is 'milk,,'"),
        (["text.csv", "--answer", "y"], "text.csv, column 'x', row 2: 'green' is no number"),
        (["torn.csv", "--answer", "y"], "torn.csv, row 1: 1 cells under 2 columns"),
        (["twice.csv", "--answer", "y"], "twice.csv has two columns 'x'"),
        (["bad.parquet", "--answer", "y"], "bad.parquet is not a Parquet file"),
        (["tea.csv", "--answer", "liking", "--out", "tea.csv"], "--out and --data are both tea.csv"),
        (["tea.csv", "--answer", "liking", "--models", "many"], "--models is 'many'"),
    ],
)
def test_a_mistake_is_one_line_and_code_2(folder, arguments, message):
    (folder / "tea.txt").write_text("x")
    (folder / "text.csv").write_text("x,y\n1,2\ngreen,3\n")
    (folder / "torn.csv").write_text("x,y\n1\n")
    (folder / "twice.csv").write_text("x,x,y\n1,2,3\n")
    (folder / "bad.parquet").write_text("nothing")
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_codes_tell_a_single_model_and_an_uncertain_one(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    frame.assign(y=2 * frame.a + rng.standard_normal(200)).to_csv(tmp_path / "one.csv", index=False)
    frame.assign(d=frame.a, y=2 * frame.a + rng.standard_normal(200)).to_csv(tmp_path / "odd.csv", index=False)
    assert run(tmp_path, "one.csv", "--answer", "y").returncode == 7
    done = run(tmp_path, "odd.csv", "--answer", "y")
    assert done.returncode == 8
    assert "warning: the columns 'a', 'd' depend on each other" in done.stdout


def test_one_column_is_drawn_with_its_lines(tmp_path):
    ms.datasets.tone().to_frame().assign(none=None).to_csv(tmp_path / "tone.csv", index=False)
    options = ["--answer", "tuned", "--columns", "stretchratio", "--models", "2", "--intercept", "--plot", "tone.png"]
    assert run(tmp_path, "tone.csv", *options).returncode == 0
    assert (tmp_path / "tone.png").stat().st_size > 10_000


def test_the_picture_has_a_line_and_bands_for_each_model():
    import matplotlib as mpl

    mpl.use("Agg")
    data = ms.datasets.tone()
    r = ms.fit(data.X, data.y, models=2, intercept=True, features=data.names)
    axes = ms.plots.plot_lines(r, data.X, data.y, answer="tuned")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("stretchratio", "tuned")
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert sum(len(line.get_xdata()) for line in points) == 150
    assert len(axes.collections) == 4
    with pytest.raises(ms.InvalidInput, match="column is 3"):
        ms.plots.plot_lines(r, data.X, data.y, column=3)
    mpl.pyplot.close("all")


# The passive method


def test_passive_is_a_method_of_recover_and_of_sweeps():
    pair = ms.random_pair(12, 2, 5.0, seed=1)
    r = ms.recover(ms.SimulatedOracle(pair, seed=2), 12, method="fit", max_queries=300, seed=3)
    assert (r.status, r.queries) == ("budget", 300)
    assert ms.match_error(r.vectors, pair) < 0.5
    grid = {"n": 12, "k": 2, "gap": 5.0, "method": ["fit", "frugal"], "gamma": "none", "max_queries": 300, "seeds": 2}
    frame = ms.sweep(grid, jobs=1)
    assert (frame.status == "budget").all()
    assert (frame.queries == 300).all()
    assert (frame[frame.method == "fit"].error < 0.6).all()


def test_passive_has_to_be_told_how_many():
    oracle = ms.SimulatedOracle(np.eye(2), seed=1)
    with pytest.raises(ms.InvalidInput, match="give max_queries, or answers"):
        ms.recover(oracle, 2, method="fit")
    assert ms.recover(oracle, 2, method="fit", answers=50, seed=1).queries == 50
