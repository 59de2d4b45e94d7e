"""Figure 6: how often does a recovery succeed, over sparsity and number of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mixsense.figures.figure import Cell, Data, Figure, Options, Row, hidden_pair, new_figure, rounded, simulate
from mixsense.metrics import match_error
from mixsense.plots.statistics import wilson

if TYPE_CHECKING:
    import matplotlib.figure

SUCCESS = 0.2
"""A run succeeds if the worse of the two vectors' ℓ2 errors is at most this many σ."""


def cells(options: Options, seeds: Sequence[int]) -> list[Cell]:
    """One cell for each run."""
    fixed = {"n": options["n"], "gap": options["gap"]}
    return [{**fixed, "k": k, "N": N, "seed": seed} for k in options["k"] for N in options["N"] for seed in seeds]


def run(n: int, gap: float, k: int, N: int, seed: int) -> list[Row]:
    """Spend N answers on one pair."""
    truth = hidden_pair(6, seed, n, k, gap)
    r = simulate(6, seed, truth, gamma=None, max_queries=N)
    return [{"k": k, "N": N, "seed": seed, "answers": r.queries, "error": match_error(r.vectors, truth)}]


def shares(data: Data) -> Data:
    """Count the successes of each pair (k, N), with Wilson's 95 % interval."""
    groups = data.groupby(["k", "N"]).error
    counts = groups.agg(runs="size", successes=lambda error: int((error <= SUCCESS).sum())).reset_index()
    ends = [wilson(int(row.successes), int(row.runs)) for row in counts.itertuples()]
    return counts.assign(
        share=counts.successes / counts.runs, low=[low for low, _ in ends], high=[high for _, high in ends]
    )


def draw(data: Data) -> matplotlib.figure.Figure:
    """Coloured cells, each with its share and its interval."""
    data = shares(data)
    table = data.pivot(index="N", columns="k", values="share")
    figure = new_figure(8.0, 5.6)
    axes = figure.subplots()
    image = axes.pcolormesh(table.to_numpy(), cmap="cividis", vmin=0, vmax=1, edgecolors="white", linewidth=1)
    for row in data.itertuples():
        at = (table.columns.get_loc(row.k) + 0.5, table.index.get_loc(row.N) + 0.5)
        text = f"{row.share:.2f}\n{row.low:.2f}–{row.high:.2f}"
        axes.text(*at, text, ha="center", va="center", fontsize=8, color="white" if row.share < 0.55 else "black")
    axes.set_xticks(np.arange(len(table.columns)) + 0.5, [f"{k}" for k in table.columns])
    axes.set_yticks(np.arange(len(table.index)) + 0.5, [f"{N:,}" for N in table.index])
    axes.set(xlabel="sparsity k of each vector, evenly spaced", ylabel="answers N, evenly spaced")
    axes.grid(False)
    axes.set_title(
        f"frugal: share of {data.runs.max()} runs with error ≤ {SUCCESS:g} σ, and its 95 % interval", loc="left"
    )
    figure.colorbar(image, ax=axes, label="share of successes")
    return figure


def summary(data: Data) -> list[Row]:
    """Return for each k the fewest answers with which half and nine tenths of the runs succeed."""
    rows = []
    for k, part in shares(data).groupby("k"):
        row: Row = {"k": int(np.asarray(k))}
        for least in (0.5, 0.9):
            enough = part[part.share >= least].N
            row[f"fewest N with a share ≥ {least:g}"] = int(enough.min()) if len(enough) else f"> {part.N.max():,}"
        top = part[part.N == part.N.max()].iloc[0]
        row[f"share at N = {part.N.max():,}"] = rounded(top.share)
        rows.append(row | {"its 95 % interval": f"{top.low:.2f} to {top.high:.2f}"})
    return rows


FULL: Options = {"n": 100, "gap": 5.0, "k": [1, 2, 3, 5, 8, 12], "N": [60, 100, 150, 225, 340, 500, 750], "seeds": 20}
PHASE = Figure(
    number=6,
    title="phase diagram",
    scales={
        "full": {**FULL, "success": SUCCESS},
        "quick": {"n": 100, "gap": 5.0, "k": [2, 5, 10], "N": [75, 150, 300, 600], "seeds": 3, "success": SUCCESS},
        "tiny": {"n": 30, "gap": 5.0, "k": [1, 3], "N": [40, 160], "seeds": 2, "success": SUCCESS},
    },
    cells=cells,
    run=run,
    draw=draw,
    summary=summary,
)
