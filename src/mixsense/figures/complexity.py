"""Figure 5: how many answers are needed, against k, log n, ‖β¹ − β²‖ and 1/γ, with the theorem's shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

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

if TYPE_CHECKING:
    import matplotlib.figure

BASE: dict[str, Any] = {"n": 100, "k": 5, "gap": 5.0, "gamma": 0.2}
METHODS = ("paper", "frugal")
PANELS = {"k": "sparsity k", "n": "log n", "gap": "distance ‖β¹ − β²‖ / σ", "gamma": "1 / γ, in units of 1/σ"}


def theorem(n: int, k: int, gap: float, gamma: float) -> float:
    """Return the number of queries of Theorem 1, case 1, without its constant, at σ = 1.

    k log n log k ⌈log k / log(√SNR/NF)⌉ ⌈1/(NF⁴ √SNR) + 1/NF²⌉ with √SNR = ‖β¹ − β²‖ and NF = γ.

    Examples
    --------
    >>> round(theorem(n=100, k=5, gap=5.0, gamma=0.2))
    5559
    """
    repeats = math.ceil(math.log(k) / math.log(gap / gamma))
    batch = math.ceil(1 / (gamma**4 * gap) + 1 / gamma**2)
    return k * math.log(n) * math.log(k) * repeats * batch


def settings(options: Options) -> list[tuple[str, dict[str, Any]]]:
    """Return each panel's settings: one of the four quantities varies, the others stay."""
    return [(panel, BASE | {panel: value}) for panel in PANELS for value in options[panel]]


def cells(options: Options, seeds: Sequence[int]) -> list[Cell]:
    """One cell for each setting, method and seed; a setting that several panels share is run once."""
    distinct = {tuple(setting.items()): setting for _, setting in settings(options)}
    return [
        {**setting, "method": method, "seed": seed}
        for setting in distinct.values()
        for method in METHODS
        for seed in seeds
    ]


def run(n: int, k: int, gap: float, gamma: float, method: str, seed: int) -> list[Row]:
    """Ask until the method itself stops: how many answers, and was it right."""
    given = {"k": k} if method == "paper" else {}
    truth = hidden_pair(5, seed, n, k, gap)
    r = simulate(5, seed, truth, gamma=gamma, method=method, **given)
    row = {"n": n, "k": k, "gap": gap, "gamma": gamma, "method": method, "seed": seed}
    return [row | {"answers": r.queries, "error": match_error(r.vectors, truth), "status": r.status}]


def collect(data: Data) -> Data:
    """Order the runs for a reader, and put the theorem's shape beside them."""
    data = data.sort_values(["method", "n", "k", "gap", "gamma", "seed"])
    shape = [theorem(row.n, row.k, row.gap, row.gamma) for row in data.itertuples()]
    return data.assign(theorem=shape)


def _medians(data: Data, method: str) -> Data:
    groups = data[data.method == method].groupby(["n", "k", "gap", "gamma"])
    return medians_and_band(groups, ["answers", "theorem"], of="answers")


def fitted(medians: Data) -> tuple[float, float]:
    """Fit the one constant c of answers = c · theorem to the logarithms, over all settings: c and R²."""
    logs, shape = np.log(medians.answers.to_numpy()), np.log(medians.theorem.to_numpy())
    c = float(np.mean(logs - shape))
    R2 = 1 - float(((logs - shape - c) ** 2).sum() / ((logs - logs.mean()) ** 2).sum())
    return math.exp(c), R2


def _panel(medians: Data, panel: str) -> tuple[Any, Data]:
    """Return what a panel varies, as it is drawn, and its medians."""
    others = [name for name in PANELS if name != panel]
    part = medians[np.logical_and.reduce([medians[name] == BASE[name] for name in others])].sort_values(panel)
    x = {"n": np.log(part.n), "gamma": 1 / part.gamma}.get(panel, part[panel])
    return np.asarray(x, dtype=np.float64), part


def draw(data: Data) -> matplotlib.figure.Figure:
    """Four panels: medians with bars, and c times the theorem's shape as a dashed line."""
    figure = new_figure(9.5, 7.2)
    grid = figure.subplots(2, 2, sharey=True)
    for method in METHODS:
        medians, (colour, mark) = _medians(data, method), LOOK[method]
        c, _ = fitted(medians)
        for axes, panel in zip(grid.flat, PANELS, strict=True):
            x, part = _panel(medians, panel)
            bars = np.stack([part.answers - part.low, part.high - part.answers])
            axes.errorbar(x, part.answers, bars, fmt=f"{mark}-", color=colour, capsize=2, label=method)
            label = f"{rounded(c):g} × theorem's shape"
            axes.plot(x, c * part.theorem, "--", color=colour, linewidth=1.2, label=label)
    for axes, (panel, label) in zip(grid.flat, PANELS.items(), strict=True):
        axes.set(xscale="log", yscale="log", xlabel=label)
        x, part = _panel(_medians(data, METHODS[0]), panel)
        _ticks(axes, x, [f"\n(n = {n:,})" for n in part.n] if panel == "n" else [""] * len(x))
    for axes in grid[:, 0]:
        axes.set_ylabel("answers until the method stops")
    # matplotlib lists lines before bars: put each method before its curve.
    handles, labels = ([entries[i] for i in (2, 0, 3, 1)] for entries in grid[0, 0].get_legend_handles_labels())
    runs = data.seed.nunique()
    title = f"median of {runs} runs; bars: middle 80 %" if runs > 1 else "one run"
    figure.legend(handles, labels, loc="outside lower center", ncols=4, title=title)
    base = "n = 100, k = 5, ‖β¹ − β²‖ = 5 σ, γ = 0.2 σ, but for what a panel varies"
    figure.suptitle(base, fontsize=10, x=0.02, ha="left")
    return figure


def _ticks(axes: Any, x: Any, more: list[str]) -> None:
    from matplotlib.ticker import NullFormatter, NullLocator

    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(x, [f"{value:.3g}{text}" for value, text in zip(x, more, strict=True)])


def summary(data: Data) -> list[Row]:
    """Return the constant, how well the shape fits, and the measured exponent in each panel beside the theorem's."""
    rows: list[Row] = []
    for method in METHODS:
        medians = _medians(data, method)
        c, R2 = fitted(medians)
        runs = data[data.method == method]
        relative = runs.error / runs.gamma
        for panel, label in PANELS.items():
            x, part = _panel(medians, panel)
            slopes = [float(np.polyfit(np.log(x), np.log(y), 1)[0]) for y in (part.answers, part.theorem)]
            off = np.log(part.answers / (c * part.theorem))
            rows.append(
                {
                    "method": method,
                    "against": label,
                    "measured exponent": round(slopes[0], 2),
                    "theorem's exponent": round(slopes[1], 2),
                    "constant c": rounded(c),
                    "R² over all panels": round(R2, 2),
                    "furthest from the curve": f"× {math.exp(float(np.abs(off).max())):.2f}",
                    "median error / γ": rounded(relative.median()),
                    "runs with error ≤ γ": f"{100 * (relative <= 1).mean():.0f} %",
                }
            )
    return rows


COMPLEXITY = Figure(
    number=5,
    title="answers needed",
    scales={
        "full": {
            "k": [2, 3, 5, 8, 12, 16],
            "n": [30, 100, 300, 1000],
            "gap": [2.0, 3.0, 5.0, 10.0, 20.0],
            "gamma": [0.4, 0.3, 0.2, 0.14, 0.1],
            "seeds": 10,
        },
        "quick": {"k": [2, 5, 10], "n": [30, 100, 300], "gap": [2.0, 5.0, 20.0], "gamma": [0.4, 0.2, 0.1], "seeds": 2},
        "tiny": {"k": [2, 3], "n": [20, 40], "gap": [10.0, 20.0], "gamma": [0.4, 0.3], "seeds": 1},
    },
    cells=cells,
    run=run,
    draw=draw,
    summary=summary,
    collect=collect,
)
