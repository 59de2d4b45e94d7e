"""The figures: the same data from the same seeds, whatever the workers; and a page that says what they show."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from in_process import mixsense
from mixsense.errors import InvalidInput
from mixsense.figures import FIGURES, make_figures
from mixsense.figures.complexity import COMPLEXITY, fitted
from mixsense.figures.figure import markdown
from mixsense.figures.phase import shares
from mixsense.figures.predecessors import PREDECESSORS
from mixsense.plots import plot_recovery
from mixsense.plots.statistics import wilson
from mixsense.recovery import Recovery

DOCS = Path(__file__).parent.parent / "docs"
NUMBERS = [figure.number for figure in FIGURES]


@pytest.fixture(scope="module", autouse=True)
def _no_window():
    import matplotlib as mpl

    mpl.use("Agg")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("figures")
    assert make_figures(out, scale="tiny", jobs=1) == [out / f"fig{number}.csv" for number in NUMBERS]
    return out


def test_data_do_not_depend_on_workers_or_on_the_choice_of_figures(made, tmp_path):
    for only in ([6, 1], [4]):
        make_figures(tmp_path, only=only, scale="tiny", jobs=2)
    for number in (1, 4, 6):
        for ending in ("csv", "svg", "png", "json"):
            name = f"fig{number}.{ending}"
            assert (tmp_path / name).read_bytes() == (made / name).read_bytes(), name


def test_another_seed_gives_other_data(made, tmp_path):
    make_figures(tmp_path, only=[1, 2, 6], scale="tiny", jobs=1, seed=7)
    for number in (1, 2, 6):
        name = f"fig{number}.csv"
        assert (tmp_path / name).read_bytes() != (made / name).read_bytes(), name


def test_every_figure_has_its_files_and_says_where_it_comes_from(made):
    assert sorted(p.name for p in made.iterdir()) == sorted(
        f"fig{number}.{ending}" for number in NUMBERS for ending in ("csv", "json", "png", "svg")
    )
    for figure in FIGURES:
        about = json.loads((made / f"{figure.stem}.json").read_text(encoding="utf-8"))
        assert {"mixsense", "numpy", "scipy", "python"} <= set(about["versions"])
        assert about["seeds"] == list(range(figure.scales["tiny"]["seeds"]))
        assert about["options"] == figure.scales["tiny"]
        assert about["summary"] == figure.summary(pd.read_csv(made / f"{figure.stem}.csv"))
        assert (made / f"{figure.stem}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (made / f"{figure.stem}.svg").read_bytes()


def test_numbers_are_written_with_every_bit(made):
    data = pd.read_csv(made / "fig2.csv", dtype=str)
    assert all(repr(float(text)) == text for text in data["true"])


@pytest.mark.parametrize("runs", [1, 20])
def test_wilson_agrees_with_scipy(runs):
    for successes in range(runs + 1):
        theirs = binomtest(successes, runs).proportion_ci(0.95, method="wilson")
        assert wilson(successes, runs) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_the_fit_finds_the_constant_and_its_quality():
    shape = np.geomspace(1, 100, 9)
    assert fitted(pd.DataFrame({"answers": 3 * shape, "theorem": shape})) == pytest.approx((3.0, 1.0))
    c, R2 = fitted(pd.DataFrame({"answers": np.full(9, 10.0) * np.tile([1.1, 0.9, 1.0], 3), "theorem": shape}))
    assert c < 1.1
    assert R2 < 0  # a curve that is worse than no curve is called so


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"only": [9]}, "there is no figure 9: give numbers from 1 to 8"),
        ({"only": []}, "no figure is named"),
        ({"scale": "huge"}, "give one of 'full', 'quick', 'tiny'"),
        ({"jobs": 0}, "jobs is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_wrong_input_is_refused_before_any_work(tmp_path, given, words):
    with pytest.raises(InvalidInput, match=re.escape(words)):
        make_figures(tmp_path / "new", **({"scale": "tiny"} | given))
    assert not (tmp_path / "new").exists()


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "fig2.csv").mkdir()
    with pytest.raises(InvalidInput, match=r"fig2\.csv cannot be written .*: give another folder"):
        make_figures(tmp_path, only=[2], scale="tiny", jobs=1)
    assert os.listdir(tmp_path) == ["fig2.csv"]


def start(*args, cwd):
    command = [sys.executable, "-m", "mixsense", "figures", *args]
    return subprocess.Popen(command, cwd=cwd, text=True, stderr=subprocess.PIPE)


def test_mistakes_on_the_command_line_are_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for args, words in (
        (["--out", "file"], "cannot be written to file (File exists): give another folder"),
        (["--only", "9"], "there is no figure 9"),
        (["--only", "one"], "--only is 'one': give numbers such as 1,4"),
    ):
        done = mixsense("figures", *args, cwd=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    with start("--quick", "--only", "1,6", "--jobs", "1", cwd=tmp_path) as process:
        finished = tmp_path / "figs" / "fig1.json"
        deadline = time.monotonic() + 120
        while not finished.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    # Where Ctrl-C meets Python while it makes a dataclass (a module is being loaded), Python ends by the signal itself
    # after all is said; a shell shows both as 130.
    assert process.returncode in (130, -signal.SIGINT), errors
    assert "finished: fig1; --only makes the others" in errors
    assert "Traceback" not in errors
    assert sorted(os.listdir(tmp_path / "figs")) == [f"fig1.{ending}" for ending in ("csv", "json", "png", "svg")]


def test_the_page_shows_what_the_data_beside_it_say():
    page = (DOCS / "figures.md").read_text(encoding="utf-8")
    for figure in FIGURES:
        data = pd.read_csv(DOCS / "figures" / f"{figure.stem}.csv")
        table = re.search(rf"<!-- {figure.stem} -->\n(.*?)\n<!-- end -->", page, re.S)[1]
        assert table == markdown(figure.summary(data)), f"{figure.stem}: run python benchmarks/figures.py --tables"
        assert f"(figures/{figure.stem}.png)" in page
        about = json.loads((DOCS / "figures" / f"{figure.stem}.json").read_text(encoding="utf-8"))
        assert (about["scale"], about["options"]) == ("full", figure.scales["full"])


def page_data(number):
    return pd.read_csv(DOCS / "figures" / f"fig{number}.csv")


def test_what_the_page_says_of_figure_1():
    error = page_data(1).pivot(index="separation", columns="estimator", values="median")
    assert (error[error.index < 0.1].idxmin(axis=1) == "single").all()
    near = error[(error.index > 0.3) & (error.index < 0.7)]
    assert (near.moments / near.EM).between(0.95, 1.05).all()
    far = error[error.index > 2.5]
    assert (far.EM < 0.95 * far.moments).all()
    assert error.moments.iloc[-1] > error.moments.min()


def test_what_the_page_says_of_figures_2_and_3():
    worst = []
    for number in (2, 3):
        data = page_data(number)
        true = data[data["true"] != 0]
        assert len(true) == 10
        assert (np.sign(true["true"]) == np.sign(true.recovered)).all()
        worst.append((data["true"] - data.recovered).pow(2).groupby(data.vector).sum().max())
    assert worst[1] < worst[0]


def test_what_the_page_says_of_figure_4():
    error = page_data(4).groupby(["gap", "method", "size"]).error.median()
    for gap in (5.0, 1.0):
        assert (error[gap, "frugal"] < error[gap, "passive"]).all()
        assert error[gap, "frugal", 5000] < error[gap, "paper", 600]


def test_what_the_page_says_of_figure_5():
    data = page_data(5)
    rows = pd.DataFrame(COMPLEXITY.summary(data)).set_index(["method", "against"])
    paper, frugal = rows.loc["paper"], rows.loc["frugal"]
    for against, row in paper.iterrows():
        if against == "log n":
            assert row["measured exponent"] == pytest.approx(row["theorem's exponent"], abs=0.25)
        else:
            assert abs(row["measured exponent"]) < abs(row["theorem's exponent"])
    assert (paper["median error / γ"] < 0.3).all()
    assert (frugal["R² over all panels"] < 0).all()
    answers = data.groupby(["method", "n", "k", "gap", "gamma"]).answers.median()
    assert (answers["paper"] / answers["frugal"]).min() > 150
    assert answers["frugal"][30].iloc[0] < answers["frugal"][300].iloc[0] < answers["frugal"][1000].iloc[0]
    runs = data[data.method == "frugal"]
    outside = runs[runs.error > runs.gamma]
    assert (len(runs), len(outside), (runs.status == "certified").sum()) == (170, 0, 169)


def test_what_the_page_says_of_figure_6():
    data = shares(page_data(6))
    enough = data[data.share >= 0.5].groupby("k").N.min()
    assert enough.is_monotonic_increasing
    assert enough.iloc[0] < enough.iloc[-1]
    assert ((data.low <= data.share) & (data.share <= data.high)).all()


def test_what_the_page_says_of_figure_7():
    data = page_data(7)
    missed = data[data.error > 1].groupby("models")["size"].max()
    for models, part in data.groupby("models"):
        found = part[part["size"] > missed.get(models, 0)].groupby("size")
        assert len(found) >= 1
        assert (found.error.median() < (1.1 if models == 5 else 1) * found.tagged.median()).all()
    assert missed.is_monotonic_increasing
    assert 2 not in missed


def test_what_the_page_says_of_figure_8():
    data = page_data(8)
    rows = pd.DataFrame(PREDECESSORS.summary(data))
    noisy, exact = (rows[(rows["noise / step"] > 0) == there] for there in (True, False))
    assert not rows.eq("fails").to_numpy().any()
    ratios = []
    for other in ("coloring", "lattice", "paper"):
        known = noisy[[isinstance(value, int) for value in noisy[other]]]
        assert len(known) > 5
        ratios.append((known[other] / known.frugal).rename(other))
    fewer = pd.concat(ratios, axis=1).min(axis=1).astype(float)  # than the next best
    assert round(fewer.min(), 1) == 1.5
    assert noisy.loc[fewer.idxmin(), "noise / step"] == 2.0
    assert (round(fewer.drop(fewer.idxmin()).min(), 1), round(fewer.max(), 1)) == (2.5, 7.6)
    for other in ("coloring", "steps", "noiseless"):
        assert (exact.polynomial < exact[other]).all(), other
    two = exact[(exact.axis != "models") | (exact.value < 4)]
    assert (two.polynomial < two.frugal).all()
    for other in ("coloring", "steps", "noiseless"):
        assert (exact.frugal < exact[other]).all(), other
    found = data[data.panel == "density"].groupby("bins").found.mean()
    assert found.is_monotonic_increasing
    assert found[3.71] > 0.99


# The picture of one recovery


def test_a_recovery_is_drawn_with_its_names_and_errors():
    import matplotlib.pyplot as plt

    vectors = np.array([[1.0, 0.0, -2.0], [0.0, 3.0, 0.0]])
    stderr = np.array([[0.1, 0.2, 0.3], [np.nan, 0.5, 0.0]])
    r = Recovery(vectors, status="budget", queries=9, stderr=stderr, names=("price", "$ off", "taste"))
    axes = plot_recovery(r, vectors[::-1])  # recovered ones keep their numbers: the last one shows vector 2
    axes.figure.canvas.draw()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["price", r"\$ off", "taste"]

    def bars(axes):
        (drawn,) = axes.containers
        return np.array(drawn.lines[2][0].get_segments())[:, :, 1]

    assert bars(axes) == pytest.approx(np.array([[3 - 0.98, 3 + 0.98]]))  # the only one with a standard error
    truth, recovered = axes.figure.axes[:2]
    ends = np.column_stack([vectors[0] - 1.96 * stderr[0], vectors[0] + 1.96 * stderr[0]])
    assert bars(recovered) == pytest.approx(ends)
    assert not truth.containers
    plain = plot_recovery(Recovery(vectors, status="budget"))
    assert not plain.containers
    assert all(float(place).is_integer() for place in plain.get_xticks())
    plt.close("all")
