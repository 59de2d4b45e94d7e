"""What the docs show was made by the present code: a sample of it is computed again; `make figures` makes all of it."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from PIL import Image

import mixsense as ms
from mixsense.cli.demo import GAMMA, K, N, told
from mixsense.cli.output import save_picture
from mixsense.figures import FIGURES
from mixsense.figures.make import _pictures

DOCS = Path(__file__).parent.parent / "docs"
ROUNDING = 1e-3
"""Another processor rounds otherwise, which moves an error by far less than this; another method moves it more."""
STALE = "the docs show another method than the present one: run `make figures`"


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        (4, {"method": "frugal", "gap": 5.0, "size": 300}),
        (4, {"method": "paper", "gap": 5.0, "size": 20}),
        (5, {"method": "frugal", "n": 30, "gap": 5.0, "gamma": 0.2}),
        (6, {"k": 1, "N": 100}),
        (7, {"models": 3, "size": 500}),
        (8, {"panel": "k", "method": "frugal", "k": 2, "noise": 0.5}),
        (8, {"panel": "k", "method": "frugal", "k": 5, "noise": 0.0}),
        (8, {"panel": "k", "method": "lattice", "k": 2}),
        (8, {"panel": "k", "method": "coloring", "k": 2, "noise": 0.0}),
    ],
)
def test_the_data_of_the_figures_are_those_of_the_present_method(number, wanted):
    figure = next(f for f in FIGURES if f.number == number)
    data = pd.read_csv(DOCS / "figures" / f"{figure.stem}.csv")
    cells = figure.cells(figure.scales["full"], range(3))
    chosen = [cell for cell in cells if all(cell[name] == value for name, value in wanted.items())]
    assert len(chosen) >= 3
    for cell in chosen[:3]:
        (row,) = figure.run(**cell)
        names = {*cell} & {*data}
        stored = data[np.logical_and.reduce([data[name] == cell[name] for name in names])]
        assert len(stored) == 1, STALE
        assert stored.answers.item() == row["answers"], STALE
        assert "error" not in row or stored.error.item() == pytest.approx(row["error"], rel=ROUNDING), STALE


@pytest.mark.parametrize(("number", "place"), [(1, 20), (2, 0), (3, 0)])
def test_the_data_of_the_papers_figures_are_those_of_the_present_code(number, place):
    figure = next(f for f in FIGURES if f.number == number)
    stored = pd.read_csv(DOCS / "figures" / f"{figure.stem}.csv")
    cell = figure.cells(figure.scales["full"], range(figure.scales["full"]["seeds"]))[place]
    new = pd.DataFrame(figure.run(**cell))
    if number == 1:
        stored = stored[stored.separation == cell["separation"]].reset_index(drop=True)
    pd.testing.assert_frame_equal(new, stored, rtol=ROUNDING, atol=1e-9)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.stem)
def test_the_pictures_are_what_the_present_code_draws(figure):
    stored = DOCS / "figures" / f"{figure.stem}.png"
    check_same(BytesIO(_pictures(figure, pd.read_csv(stored.with_suffix(".csv")))[".png"]), stored)


def check_same(new, stored):
    drawn, page = matplotlib.image.imread(new), matplotlib.image.imread(stored)
    # Another version of matplotlib or another font moves a few pixels; other words or marks change more of them.
    assert drawn.shape == page.shape, STALE
    assert np.mean(np.abs(drawn - page).max(axis=2) > 0.5) < 0.002, STALE


def test_the_picture_of_the_demo_is_that_of_make_demo(tmp_path):
    truth = ms.random_pair(N, K, 5.0, seed=1)
    r = ms.recover(ms.SimulatedOracle(truth, seed=2), N, gamma=GAMMA, seed=3)
    save_picture(lambda: r.plot(truth), tmp_path / "demo.png")
    assert Image.open(DOCS / "demo.png").text["Description"] == told(r), STALE
    check_same(tmp_path / "demo.png", DOCS / "demo.png")


def test_the_picture_of_the_tones_is_what_the_present_code_draws(tmp_path):
    data = ms.datasets.tone()
    r = ms.fit(data.X, data.y, models=2, intercept=True, features=data.names)
    save_picture(lambda: ms.plots.plot_lines(r, data.X, data.y, answer=data.answer), tmp_path / "tone.png")
    check_same(tmp_path / "tone.png", DOCS / "tone.png")


def test_make_figures_makes_every_picture_of_the_docs():
    program = (DOCS.parent / "benchmarks" / "figures.py").read_text(encoding="utf-8")
    made = {*re.findall(r'DOCS / "(\w+\.png)"', program), *(f"figures/{figure.stem}.png" for figure in FIGURES)}
    assert {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.png")} == made
