"""Figure 8: answers that the paper's two predecessors need, beside its own methods and the frugal one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsense.api import recover
from mixsense.arrays import Array
from mixsense.errors import MixsenseError
from mixsense.figures.figure import BLUE, GREY, LOOK, PURPLE, Cell, Data, Figure, Options, Row, new_figure, rounded
from mixsense.methods.predecessors.density import design_for, heard, unowned
from mixsense.metrics import best_order, match_error
from mixsense.oracles import SimulatedOracle, random_models

if TYPE_CHECKING:
    import matplotlib.figure

STYLES = {
    "coloring": ("coloring", BLUE, "v"),
    "polynomial": ("polynomial, exact fractions", PURPLE, "D"),
    "steps": ("polynomial, small steps", "#8C510A", "x"),
    "lattice": ("lattice", "#56B4E9", "P"),
    "noiseless": ("noiseless", GREY, "^"),
    "paper": ("paper", LOOK["paper"][0], LOOK["paper"][1]),
    "frugal": ("frugal", LOOK["frugal"][0], LOOK["frugal"][1]),
}
"""What each method is called, its colour and its mark."""
WITHOUT_NOISE = ("coloring", "polynomial", "steps", "noiseless", "frugal")
WITH_NOISE = ("coloring", "lattice", "paper", "frugal")
LABELS = {"k": "k, coefficients of a vector", "n": "n", "models": "models", "noise": "noise / step"}
NEAR = 0.45
"""The precision that frugal is asked for, in steps: rounding to the grid is right then, and below a half (taste)."""
BATCHES = (2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800, 1200, 2000)
"""Batches of the paper's method, of which the smallest that is right counts (taste: a grid in steps of a half)."""
RUNS = 0.9
"""The answers that this part of the runs needs at most are those for 90 % success."""
FOUND = 1e-6
"""A coefficient within this of the truth, relative to the largest one, is found (a numerical guard)."""


def cells(options: Options, seeds: Sequence[int]) -> list[Cell]:
    """One cell for each method and seed of each setting."""
    base = {"n": options["n"], "k": options["k"], "models": 2}
    found: list[Cell] = []
    for noise, methods in ((0.0, WITHOUT_NOISE), (options["noise"], WITH_NOISE)):
        axes = [(name, value) for name in ("k", "n", "models") for value in options["axes"][name]]
        settings = [(name, base | {name: value}, noise) for name, value in axes]
        settings += [("noise", base, value) for value in options["noises"]] if noise else []
        for panel, setting, level in settings:
            for method in methods:
                if level and method == "coloring" and setting["models"] > 2:
                    continue
                found += [{"panel": panel, "method": method, "noise": level, "seed": s, **setting} for s in seeds]
    wide = {"panel": "density", "method": "coloring", "noise": 0.0, "n": 500, "k": 25, "models": 2}
    return found + [{**wide, "seed": s, "bins": bins} for bins in options["bins"] for s in seeds]


def run(panel: str, method: str, noise: float, seed: int, bins: float = 0.0, **setting: int) -> list[Row]:
    """Return how many answers a method took, infinitely many if what it found is wrong."""
    row = {"panel": panel, "method": method, "noise": noise, "seed": seed, **setting, "bins": bins}
    if panel == "density":
        return [row | {"answers": math.nan, "found": _share_found(seed, bins, **setting)}]
    truth = grid_models(setting["models"], setting["n"], setting["k"], seed)
    return [row | {"answers": _needed(truth, method, noise, setting["k"], seed), "found": math.nan}]


def grid_models(models: int, n: int, k: int, seed: Any) -> Array:
    """Draw vectors that every method can treat: k coefficients ±1 … ±5, different where supports meet.

    Examples
    --------
    >>> vectors = grid_models(2, 50, 3, seed=1)
    >>> (vectors != 0).sum(axis=1).tolist(), float(np.abs(vectors).max()) <= 5
    ([3, 3], True)
    """
    rng = np.random.default_rng([8, *np.atleast_1d(seed).tolist(), 0])
    vectors = np.zeros((models, n))
    for a, row in enumerate(vectors):
        support = rng.choice(n, k, replace=False)
        row[support] = rng.integers(1, 6, k) * rng.choice([-1, 1], k)
        while (again := (row != 0) & (vectors[:a] == row).any(axis=0)).any():
            row[again] = rng.integers(1, 6, int(again.sum())) * rng.choice([-1, 1], int(again.sum()))
    return vectors


def _needed(truth: Array, method: str, noise: float, k: int, seed: int) -> float:
    """Return the answers that a method takes until it is right; the step is 1."""
    given: dict[str, Any] = {"method": method, "k": k}
    if method == "frugal":
        given = {"gamma": NEAR, "weights": "equal"}
    elif method == "steps":
        given |= {"method": "polynomial", "design": "steps"}
    elif noise and method in ("coloring", "lattice"):
        given |= {"step": 1.0}
    tries: list[dict[str, Any]] = [{"batch": batch} for batch in BATCHES] if method == "paper" else [{}]
    for more in tries:
        oracle = SimulatedOracle(truth, noise, seed=[8, seed, 1], exact=method == "polynomial")
        try:
            r = recover(oracle, truth.shape[1], sigma=noise, models=len(truth), seed=[8, seed, 2], **given, **more)
        except MixsenseError:
            continue
        if r.vectors.shape == truth.shape and match_error(np.rint(r.vectors), truth) == 0:
            return float(r.queries)
    return math.inf


def _share_found(seed: int, bins: float, n: int, k: int, models: int) -> float:
    """Return the share of the coefficients that Mixed-Coloring finds with their owners in a fixed number of bins."""
    truth = random_models(models, n, k, 3.0, seed=[8, seed, 3])
    oracle = SimulatedOracle(truth, 0.0, seed=[8, seed, 4])
    given: dict[str, Any] = {"bins": round(bins * models * k), "rateless": False}
    r = recover(oracle, n, sigma=0.0, models=models, k=k, method="coloring", seed=[8, seed, 5], **given)
    order = list(best_order(r.vectors, truth))
    near = np.abs(r.vectors[order] - truth) <= FOUND * np.abs(truth).max()
    return float(near[truth != 0].mean())


def _quantiles(data: Data) -> Data:
    """Answers for 90 % success: of each method, noise and setting."""
    part = data[data.panel != "density"].copy()
    part["value"] = [row[row["panel"]] for _, row in part.iterrows()]
    groups = part.groupby(["panel", "noise", "value", "method"])["answers"]
    found = groups.quantile(RUNS, interpolation="higher").rename("needed").reset_index()
    found["runs"] = groups.size().to_numpy()
    found["row"] = np.where((found.noise == 0), 0, 1)
    return found


def draw(data: Data) -> matplotlib.figure.Figure:
    """Above without noise, below with it; beside each other over k, n, the number of models, and the noise."""
    from matplotlib.ticker import LogLocator, NullFormatter

    needed = _quantiles(data)
    figure = new_figure(13.0, 6.6)
    grid = figure.subplots(2, 4, squeeze=False)
    for row, methods in enumerate((WITHOUT_NOISE, WITH_NOISE)):
        for axes, panel in zip(grid[row], LABELS, strict=True):
            if panel == "noise" and row == 0:
                _draw_density(axes, data[data.panel == "density"])
                continue
            part = needed[(needed.panel == panel) & (needed.row == row)]
            for method in methods:
                name, colour, mark = STYLES[method]
                line = part[(part.method == method) & np.isfinite(part.needed)]
                axes.plot(line.value, line.needed, f"{mark}-", color=colour, label=name)
            axes.set(yscale="log", xlabel=LABELS[panel])
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:,.0f}")
            axes.yaxis.set_minor_formatter(NullFormatter())
            if panel in ("n", "k"):
                axes.set_xscale("log")
            values = sorted(part.value.unique())
            axes.set_xticks(values, [f"{value:g}" for value in values])
            axes.set_xticks([], minor=True)
        grid[row][0].set_ylabel(f"answers, {'with' if row else 'without'} noise")
    known: dict[str, Any] = {}
    for axes in (grid[0][0], grid[1][0]):
        known |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=len(known), fontsize=9)
    return figure


def _draw_density(axes: Any, data: Data) -> None:
    means = data.groupby("bins").found.mean()
    (repeats, layers, _), models = design_for(2, 0.5), 2
    bins = np.linspace(min(means.index), max(means.index), 100)
    predicted = [1 - unowned(layers / (models * b), layers, heard(1 / models, repeats)) for b in bins]
    axes.plot(bins, predicted, "-", color="0.3")
    axes.plot(means.index, means, "v", color=STYLES["coloring"][1])
    axes.set(xlabel="bins / K", ylabel="share of coefficients found")
    axes.set_title("coloring, n = 500, K = 50: measured,\nand what density evolution predicts", fontsize=9)


def summary(data: Data) -> list[Row]:
    """Return the answers for 90 % success of each method in each setting, and the shares of density evolution."""
    needed, rows = _quantiles(data), list[Row]()
    for (_, panel, value), part in needed.groupby(["row", "panel", "value"]):
        by = dict(zip(part.method, part.needed, strict=True))
        cells_: Row = {"noise / step": float(part.noise.iloc[0]), "axis": panel, "value": rounded(float(value))}
        rows.append(cells_ | {name: _shown(by.get(name)) for name in STYLES})
    return rows


def _shown(answers: float | None) -> Any:
    return "" if answers is None else int(answers) if math.isfinite(answers) else "fails"


FULL: Options = {
    "n": 100,
    "k": 5,
    "noise": 0.5,
    "axes": {"k": [2, 5, 10], "n": [100, 300, 1000], "models": [2, 3, 4]},
    "noises": [0.3, 0.5, 1.0, 2.0],
    "bins": [2.0, 2.5, 3.0, 3.3, 3.71, 4.2],
    "seeds": 10,
}
FEW_AXES = {"k": [2, 5], "n": [100, 300], "models": [2]}
ONE_AXIS = {"k": [2], "n": [30], "models": [2]}
PREDECESSORS = Figure(
    number=8,
    title="answers for 90 % success: the predecessors, the paper, frugal",
    scales={
        "full": FULL,
        "quick": {**FULL, "axes": FEW_AXES, "noises": [0.5, 1.0], "bins": [2.0, 3.0, 4.2], "seeds": 3},
        "tiny": {"n": 30, "k": 2, "noise": 0.3, "axes": ONE_AXIS, "noises": [0.3], "bins": [2.0], "seeds": 1},
    },
    cells=cells,
    run=run,
    draw=draw,
    summary=summary,
)
