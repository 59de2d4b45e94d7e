"""Figure 4: error against answers, for three methods and three limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mixsense.figures.baselines import passive
from mixsense.figures.figure import (
    LOOK,
    Cell,
    Data,
    Figure,
    Options,
    Row,
    hidden_pair,
    medians_and_band,
    new_figure,
    rounded,
    simulate,
)
from mixsense.metrics import match_error
from mixsense.planning import limits

if TYPE_CHECKING:
    import matplotlib.figure

LABELS = {"passive": "passive EM-lasso", "paper": "paper, 150 queries", "frugal": "frugal"}
LIMITS = {"tagged limit": ":", "untagged limit": "--", "focused limit": "-."}
GAUSSIAN = ("tagged limit", "untagged limit")  # the other is of queries on the supports alone


def cells(options: Options, seeds: Sequence[int]) -> list[Cell]:
    """One cell for each run; the limits of a pair are one cell."""
    fixed = {"n": options["n"], "k": options["k"]}
    found: list[Cell] = []
    for gap in options["gaps"]:
        for seed in seeds:
            here = {**fixed, "gap": gap, "seed": seed}
            sizes = {"passive": options["counts"], "frugal": options["counts"], "paper": options["batches"]}
            found += [{**here, "method": method, "size": size} for method in sizes for size in sizes[method]]
            found += [{**here, "method": name, "size": size} for name in LIMITS for size in options["ends"]]
    return found


def run(n: int, k: int, gap: float, seed: int, method: str, size: int) -> list[Row]:
    """Run one method with a budget (the paper's: with a batch size), or take a limit at this number of answers."""
    truth, asked = hidden_pair(4, seed, n, k, gap), size
    if method in LIMITS:
        error = getattr(limits, method.removesuffix(" limit"))(truth, 1.0, size)
    elif method == "passive":
        error = match_error(passive(truth, size, 1.0, [4, seed, 3]), truth)
    else:
        given = {"gamma": None, "max_queries": size} if method == "frugal" else {"gamma": 0.1, "k": k, "m": 150}
        if method == "paper":
            given["batch"] = size
        r = simulate(4, seed, truth, method=method, **given)
        error, asked = match_error(r.vectors, truth), r.queries
    row = {"n": n, "k": k, "gap": gap, "method": method, "size": size, "seed": seed}
    return [row | {"answers": asked, "error": error}]


def collect(data: Data) -> Data:
    """Order the runs for a reader."""
    return data.sort_values(["gap", "method", "size", "seed"], ascending=[False, True, True, True])


def _bands(data: Data) -> Data:
    """Answers and errors of each size: medians, and the ends of the band."""
    groups = data.groupby(["gap", "method", "size"])
    return medians_and_band(groups, ["answers", "error"], of="error")


def draw(data: Data) -> matplotlib.figure.Figure:
    """One panel for each gap."""
    bands = _bands(data)
    gaps = sorted(bands.gap.unique(), reverse=True)
    figure = new_figure(10.5, 5.0)
    grid = figure.subplots(1, len(gaps), sharex=True, sharey=True, squeeze=False)[0]
    for axes, gap in zip(grid, gaps, strict=True):
        here = bands[bands.gap == gap]
        for method, label in LABELS.items():
            part, (colour, mark) = here[here.method == method], LOOK[method]
            axes.fill_between(part.answers, part.low, part.high, color=colour, alpha=0.15, linewidth=0)
            axes.plot(part.answers, part.error, f"{mark}-", color=colour, label=label)
        for name, line in LIMITS.items():
            part = here[here.method == name]
            queries = "Gaussian queries" if name in GAUSSIAN else "queries on the supports"
            axes.plot(part.answers, part.error, line, color="0.2", linewidth=1.3, label=f"{name}, {queries}")
        axes.set(xscale="log", yscale="log", xlabel="answers")
        axes.set_title(f"n = {data.n.iloc[0]}, k = {data.k.iloc[0]}, ‖β¹ − β²‖ = {gap:g} σ", loc="left")
    grid[0].set_ylabel("worse ℓ2 error of the two vectors / σ")
    handles, labels = grid[0].get_legend_handles_labels()
    runs = data.seed.nunique()
    title = f"median of {runs} pairs; band: middle 80 %" if runs > 1 else "one pair"
    figure.legend(handles, labels, loc="outside lower center", ncols=3, title=title, fontsize=9, columnspacing=1.2)
    return figure


def summary(data: Data) -> list[Row]:
    """Return the median errors at each number of answers."""
    rows = []
    bands = _bands(data)
    for gap in sorted(bands.gap.unique(), reverse=True):
        here = bands[bands.gap == gap]
        for method, label in LABELS.items():
            for part in here[here.method == method].itertuples():
                row: Row = {"gap / σ": float(gap), "method": label, "answers": int(part.answers)}
                row |= {"median error": rounded(part.error), "middle 80 %": f"{part.low:.3f} to {part.high:.3f}"}
                for name in LIMITS:
                    limit = here[here.method == name]
                    # Limits fall like 1/√N exactly, so that one point of each is enough.
                    at_one = float(np.median(limit.error * np.sqrt(limit.answers)))
                    row[name] = rounded(at_one / part.answers**0.5)
                rows.append(row)
    return rows


FULL: Options = {
    "n": 100,
    "k": 5,
    "gaps": [5.0, 1.0],
    "counts": [300, 600, 1000, 2000, 5000, 10_000],
    "batches": [20, 50, 100, 200, 600],
    "ends": [300, 300_000],
    "seeds": 12,
}
TINY = {"n": 20, "k": 2, "gaps": [5.0], "counts": [100, 200], "batches": [20, 40], "ends": [100, 20_000], "seeds": 2}
ANSWERS = Figure(
    number=4,
    title="error against answers",
    scales={
        "full": FULL,
        "quick": {**FULL, "counts": [300, 1000, 3000], "batches": [20, 100, 600], "seeds": 2},
        "tiny": TINY,
    },
    cells=cells,
    run=run,
    draw=draw,
    summary=summary,
    collect=collect,
)
