"""Figure 7: error against answers, for two and more models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mixsense.figures.figure import (
    LOOK,
    Cell,
    Data,
    Figure,
    Options,
    Row,
    medians_and_band,
    new_figure,
    rounded,
    simulate,
)
from mixsense.metrics import match_error
from mixsense.oracles import random_models
from mixsense.planning import limits

if TYPE_CHECKING:
    import matplotlib.figure

MISSED = 1.0
"""A run with an error above this many σ, a tenth of the gap, has taken something else for one of the models (taste)."""


def cells(options: Options, seeds: Sequence[int]) -> list[Cell]:
    """One cell for each run."""
    fixed = {name: options[name] for name in ("n", "k", "gap")}
    axes = ((models, size) for models in options["models"] for size in options["counts"])
    return [{**fixed, "models": models, "size": size, "seed": seed} for models, size in axes for seed in seeds]


def run(n: int, k: int, gap: float, models: int, size: int, seed: int) -> list[Row]:
    """Spend this many answers on some models; the limit beside it is for as many tagged ones."""
    truth = random_models(models, n, k, gap, seed=[7, seed, 0])
    r = simulate(7, seed, truth, gamma=None, max_queries=size)
    row = {"n": n, "k": k, "gap": gap, "models": models, "size": size, "seed": seed, "answers": r.queries}
    return [row | {"error": match_error(r.vectors, truth), "tagged": limits.tagged(truth, 1.0, size)}]


def _bands(data: Data) -> Data:
    """Answers, errors and limits of each size: medians, and the ends of the errors' band."""
    return medians_and_band(data.groupby(["models", "size"]), ["answers", "error", "tagged"], of="error")


def draw(data: Data) -> matplotlib.figure.Figure:
    """One panel for each number of models."""
    bands = _bands(data)
    numbers = sorted(bands.models.unique())
    figure = new_figure(10.5, 4.2)
    grid = figure.subplots(1, len(numbers), sharex=True, sharey=True, squeeze=False)[0]
    (colour, mark), sizes = LOOK["frugal"], sorted(bands["size"].unique())
    for axes, models in zip(grid, numbers, strict=True):
        part = bands[bands.models == models]
        axes.fill_between(part.answers, part.low, part.high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(part.answers, part.error, f"{mark}-", color=colour, label="frugal")
        axes.plot(part.answers, part.tagged, ":", color="0.2", linewidth=1.3, label="tagged limit, Gaussian queries")
        axes.set(xscale="log", yscale="log", xlabel="answers")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45)
        axes.set_xticks([], minor=True)
        axes.set_title(f"{models} models", loc="left")
    grid[0].set_ylabel("worst ℓ2 error of the models / σ")
    handles, labels = grid[0].get_legend_handles_labels()
    runs = data.seed.nunique()
    setting = f"n = {data.n.iloc[0]}, k = {data.k.iloc[0]}, models {data.gap.iloc[0]:g} σ apart on average"
    title = f"{setting}; median of {runs} draws, band: middle 80 %" if runs > 1 else f"{setting}; one draw"
    figure.legend(handles, labels, loc="outside lower center", ncols=2, title=title, fontsize=9)
    return figure


def summary(data: Data) -> list[Row]:
    """Return the median errors at each number of models and of answers, and how many runs missed a model."""
    missed = (data.error > MISSED).groupby([data.models, data["size"]]).sum()
    return [
        {
            "models": int(part.models),
            "answers": int(part.answers),
            "median error": rounded(part.error),
            "middle 80 %": f"{part.low:.3f} to {part.high:.3f}",
            "tagged limit": rounded(part.tagged),
            f"runs with error > {MISSED:g}": int(missed[part.models, part.asked]),
        }
        for part in _bands(data).rename(columns={"size": "asked"}).itertuples()
    ]


MANY = Figure(
    number=7,
    title="error against answers, for two and more models",
    scales={
        "full": {"n": 50, "k": 4, "gap": 10.0, "models": [2, 3, 4, 5], "counts": [500, 1000, 2000, 4000], "seeds": 6},
        "quick": {"n": 50, "k": 4, "gap": 10.0, "models": [2, 3], "counts": [500, 2000], "seeds": 2},
        "tiny": {"n": 20, "k": 2, "gap": 10.0, "models": [2, 3], "counts": [200, 400], "seeds": 2},
    },
    cells=cells,
    run=run,
    draw=draw,
    summary=summary,
)
