"""`mixsense fit`: files of data that one already has; and the passive method of sweeps."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mixsense as ms
from in_process import mixsense
from mixsense.fitting import tuning
from mixsense.fitting.files import read_file
from study_cases import one_line


def run(folder, *arguments):
    return mixsense("fit", *arguments, cwd=folder)


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


def test_warnings_name_options(folder):
    done = run(folder, "tea.csv", "--answer", "liking", "--group", "person", "--models", "1", "--intercept")
    assert done.returncode == 8
    assert "models: give --models auto" in done.stdout


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


def test_csv_is_read_as_spreadsheets_write_it(tmp_path):
    expected = np.array([[1.5, 2.0], [-3.0, 4.25]])
    for name, content in {
        "mac": "a;b;y\r1,5;2;6\r-3;4,25;7,5\r",
        "quoted": '"a, b, c";"d, e";y\r\n1,5;2;6\r\n\r\n-3;4,25;7,5\r\n',
        "marked": "\ufeffy\ta\tb\n6\t1.5\t2\n7.5\t-3\t4,25",
    }.items():
        (tmp_path / f"{name}.csv").write_bytes(content.encode())
        table = read_file(tmp_path / f"{name}.csv", "y")
        assert (np.array_equal(table.X, expected), table.y.tolist()) == (True, [6.0, 7.5])
    assert read_file(tmp_path / "quoted.csv", "y").names == ("a, b, c", "d, e")


def test_parquet_has_missing_cells_and_texts_that_are_numbers(tmp_path):
    who = pa.array([" ann ", "", None, "ann"])
    columns = {"x": ["1.5", None, " ", "2"], "y": pa.array([1, 2, 3, 4]), "who": who, "note": [b"\xff"] * 4}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = read_file(tmp_path / "a.parquet", "y", "who", ["x"])
    assert np.array_equal(table.X[:, 0], [1.5, np.nan, np.nan, 2.0], equal_nan=True)
    assert (table.y.tolist(), table.groups) == ([1, 2, 3, 4], ["ann", None, None, "ann"])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": pa.array([2**60, 1], pa.timestamp("us")), "y": [1.0, 2.0]}, "column 'x': it cannot be read ("),
        ({"x": [1.0, 2.0], "y": pa.array([2**60, 1], pa.timestamp("us"))}, "column 'y': it cannot be read ("),
        ({"x": [[1.0], [2.0]], "y": [1.0, 2.0]}, "column 'x': it cannot be read (it holds 'list<element: double>')"),
        ({"x": ["1", "1_000"], "y": [1.0, 2.0]}, "row 2, column 'x': '1_000' is no number"),
        ({"y": [1.0, 2.0]}, "has no column that the answers could depend on"),
        ({"x": "not UTF-8", "y": [1.0, 2.0]}, "column 'x': it cannot be read ('utf-8' codec"),
    ],
)
def test_a_parquet_file_that_cannot_be_read_is_one_line(tmp_path, columns, message):
    if columns.get("x") == "not UTF-8":
        raw = pa.Array.from_buffers(
            pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xff\xfe")]
        )
        columns = {**columns, "x": raw}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(ms.InvalidInput) as caught:
        read_file(tmp_path / "a.parquet", "y")
    assert message in one_line(caught.value)


def test_a_file_with_too_many_rows_is_refused_before_they_are_read(tmp_path, monkeypatch):
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64()), ("z", pa.float64())])
    part = pa.table({name: pa.array(np.ones(10**6)) for name in "xyz"})
    with pq.ParquetWriter(tmp_path / "a.parquet", schema) as writer:
        for _ in range(18):
            writer.write_table(part)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("rows were read"))
    with pytest.raises(
        ms.InvalidInput, match=r"has 18,000,000 rows or more of 3 columns .* 16,666,666 are read"
    ) as caught:
        read_file(tmp_path / "a.parquet", "y")
    one_line(caught.value)
    monkeypatch.undo()
    monkeypatch.setattr(tuning, "MOST_CELLS", 8)
    (tmp_path / "a.csv").write_text("x,y\n" + "1,2\n" * 5)
    with pytest.raises(ms.InvalidInput, match=r"has 5 rows or more of 2 columns .* 4 are read"):
        read_file(tmp_path / "a.csv", "y")
    monkeypatch.setattr(tuning, "MOST_BYTES", 8)
    with pytest.raises(ms.InvalidInput, match="has 24 bytes, and may have 8"):
        read_file(tmp_path / "a.csv", "y")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tea.csv", "--answer", "milk", "--columns", "milk,price"], "column 'milk' is the answer: name each column"),
        (["tea.csv", "--answer", "milk", "--group", "milk"], "column 'milk' is the answer: name each column once"),
        (["tea.csv", "--answer", "milk", "--columns", "price,price"], "column 'price' is among the columns already"),
        (["tens.csv", "--answer", "y"], "tens.csv, line 3, column 'x': '1_000' is no number"),
        (["tens.csv", "--answer", "x"], "tens.csv, line 3, column 'x': '1_000' is no number"),
        (["wide.csv", "--answer", "y"], "column 'x' of X has 1e+308, and its largest number must be between 1e-40"),
        (["high.csv", "--answer", "y"], "y has -1e+100, and its largest number must be between 1e-40 and 1e+40 or 0"),
        (["head.csv", "--answer", "y"], "there are 0 samples: give at least 2 rows"),
        (["pipe.csv", "--answer", "y"], "pipe.csv cannot be read (it is not a regular file)"),
        (["no.csv", "--answer", "y"], "no.csv cannot be read (there is no such file)"),
        (["tea.txt", "--answer", "y"], "tea.txt is neither CSV nor Parquet"),
        (["tea.csv", "--answer", "rating"], "tea.csv has no column 'rating': it has 'strength', 'temperature'"),
        (["tea.csv", "--answer", "liking", "--columns", "milk,beer"], "tea.csv has no column 'beer'"),
        (["tea.csv", "--answer", "liking", "--columns", "milk,,"], "--columns is 'milk,,'"),
        (["text.csv", "--answer", "y"], "text.csv, line 3, column 'x': 'green' is no number"),
        (["torn.csv", "--answer", "y"], "torn.csv, line 2: 1 cells under 2 columns"),
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
    (folder / "tens.csv").write_text("x,y\n1,2\n1_000,3\n")
    (folder / "wide.csv").write_text("x,y\n1,2\n1e308,3\n2,4\n")
    (folder / "high.csv").write_text("x,y\n1,2\n1,3\n2,-1e100\n")
    (folder / "head.csv").write_text("x,y\n")
    (folder / "pipe.csv").exists() or os.mkfifo(folder / "pipe.csv")
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
    assert [line.split()[:2] for line in done.stdout.splitlines() if "(collinear)" in line] == [
        ["a", "(collinear)"],
        ["d", "(collinear)"],
    ]


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
