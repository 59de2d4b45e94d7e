"""Pictures: each function takes a result and returns matplotlib Axes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixsense.errors import InvalidInput
from mixsense.metrics import best_order
from mixsense.problem import as_vectors
from mixsense.recovery import Recovery

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TRUTH, RECOVERED = "tab:green", "tab:orange"  # the colours of the paper's figures
NAMED = 40
"""Up to so many coefficients have their names below the axis."""


def plot_recovery(recovery: Recovery, truth: ArrayLike | None = None) -> Axes:
    """Draw the recovered vectors, in the manner of the paper's figures.

    Parameters
    ----------
    recovery : Recovery
        What is drawn, in orange; with grey bars of ±1.96 standard errors, and the names of at most 40 coefficients,
        where it has them.
    truth : (2, n) array_like, optional
        The true vectors: drawn in green on the left, the recovered ones on the right in their best order.

    Returns
    -------
    matplotlib Axes
        The last one; its figure is ``axes.figure``.
    """
    import matplotlib.pyplot as plt

    found: NDArray[np.float64] = recovery.vectors
    order = [0, 1]
    columns: list[tuple[str, NDArray[np.float64], str]] = [("recovered", found, RECOVERED)]
    if truth is not None:
        true = as_vectors(truth, "truth")
        if true.shape != found.shape:
            raise InvalidInput(f"truth has shape {true.shape}, the recovered vectors {found.shape}: they must be equal")
        order = list(best_order(found, true))
        columns = [("truth", true, TRUTH), ("recovered", found[order], RECOVERED)]
    figure, grid = plt.subplots(
        2,
        len(columns),
        figsize=(5.5 * len(columns), 5),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for column, (name, vectors, colour) in enumerate(columns):
        for row, vector in enumerate(vectors):
            _stems(grid[row, column], vector, colour)
            grid[row, column].set_title(f"{name}: vector {row + 1}", fontsize=10)
    if recovery.stderr is not None:
        for axes, vector, stderr in zip(grid[:, -1], found[order], recovery.stderr[order], strict=True):
            _bars(axes, vector, 1.96 * stderr)
    for axes in grid[-1]:
        _name_places(axes, recovery.names, found.shape[1])
    for axes in grid[:, 0]:
        axes.set_ylabel("value")
    figure.suptitle(f"{recovery.status}, {recovery.queries:,} answers", fontsize=11)
    last: Axes = grid[-1, -1]
    return last


def _stems(axes: Any, vector: NDArray[np.float64], colour: str) -> None:
    places = np.flatnonzero(np.abs(vector) > 0.002 * np.abs(vector).max(initial=0.0))
    axes.vlines(places, 0, vector[places], color=colour, linewidth=1.5)
    axes.plot(places, vector[places], "o", color=colour, markersize=3)
    axes.axhline(0, color="0.6", linewidth=0.6)
    axes.set_xlim(-1, len(vector))


def _bars(axes: Any, vector: NDArray[np.float64], half: NDArray[np.float64]) -> None:
    places = np.flatnonzero(np.isfinite(half) & (half > 0))
    cap = 2 if len(vector) <= NAMED else 0
    axes.errorbar(places, vector[places], half[places], fmt="none", ecolor="0.4", elinewidth=0.8, capsize=cap, zorder=3)


def _name_places(axes: Any, names: tuple[str, ...] | None, n: int) -> None:
    if names is not None and n <= NAMED:
        axes.set_xticks(range(n), [name.replace("$", r"\$") for name in names], rotation=90, fontsize=8)
        return
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
    axes.set_xlabel("coefficient")


SWEPT = ("max_queries", "gap", "k", "n", "sigma", "gamma", "overlap", "eta", "m", "batch")
"""The horizontal axis of a sweep's picture is the first of these that varies."""
DRAWN = ("method", "max_queries", "seed", "status", "error", "queries")
"""Columns that a sweep's picture needs."""
FIXED = ("method", "n", "k", "gap", "sigma", "max_queries", "gamma")
"""What does not vary stands above the picture."""
LINES, MARKS = ("-", "--", ":", "-."), "os^DvPX"
"""For what the colour does not tell: 28 looks before one comes again."""
ASKED = {
    "success": "share of successes, with its 95 % interval",
    "queries": "answers used: median and quartiles",
    "error": "worst ℓ2 error: median and quartiles",
}


def swept(frame: pd.DataFrame) -> list[str]:
    """Return the names of the parameters that a sweep varies: the method, and what varies within one."""
    names = [str(name) for name in frame.columns[: list(frame.columns).index("seed")]]
    many = frame.groupby("method")[names].nunique(dropna=False) > 1
    return [name for name in names if many[name].any() or (name == "method" and len(many) > 1)]


def plot_sweep(frame: pd.DataFrame) -> Axes:
    """Draw a sweep: a line for each combination of what varies, with bars over the seeds.

    Parameters
    ----------
    frame : pandas DataFrame
        From `sweep` or `read_sweep`. With a column `success` its share is drawn, with 95 % intervals; otherwise the
        median error, or, where no budget was given and so the precision decided, the median of the answers used, with
        quartiles. A failed run counts as infinitely bad; an arrow stands for a quartile that is.

    Returns
    -------
    matplotlib Axes
    """
    import matplotlib.pyplot as plt

    missing = [name for name in DRAWN if name not in getattr(frame, "columns", ())]
    if missing:
        what = f"has no column {missing[0]!r}" if hasattr(frame, "columns") else f"is of type {type(frame).__name__}"
        raise InvalidInput(f"the frame {what}: give what ms.sweep or ms.read_sweep returned")
    if not len(frame):
        raise InvalidInput("the sweep has no finished cell: there is nothing to draw")
    if "weights" in frame:  # a pair; as text it can be compared, whatever a file made of it
        frame = frame.assign(weights=[w if isinstance(w, str) else str(tuple(map(float, w))) for w in frame["weights"]])
    varied = swept(frame)
    numbers = [name for name in SWEPT if name in varied and frame[name].notna().all()]
    across = numbers[0] if numbers else varied[0] if varied else "method"
    others = [name for name in varied if name != across]
    what = "success" if "success" in frame else "queries" if frame["max_queries"].isna().all() else "error"
    figure, axes = plt.subplots(figsize=(8, 4.8) if others else (6.4, 4.5), layout="constrained")
    for part, label, look in _swept_lines(frame, others):
        _swept_line(axes, part, across, what, label, look if numbers else {**look, "linestyle": "none"})
    if numbers:
        _swept_ticks(axes, sorted(frame[across].astype(float).unique().tolist()))
    if what == "success":
        axes.set_ylim(-0.02, 1.02)
    else:
        axes.set_yscale("log")
    axes.set(xlabel=across, ylabel=ASKED[what])
    fixed = [f"{name} = {_brief(frame[name].iloc[0])}" for name in FIXED if name not in varied and _told(frame, name)]
    axes.set_title(f"{', '.join(fixed)}; seeds: {frame['seed'].nunique():,}", loc="left", fontsize=9)
    if others:
        lines = len(axes.containers)
        figure.legend(loc="outside right upper", fontsize=8, ncols=1 + lines // 25)
    return axes


def _told(frame: pd.DataFrame, name: str) -> bool:
    return name in frame and frame[name].nunique() == 1 and bool(frame[name].notna().all())


def _brief(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _swept_lines(frame: pd.DataFrame, others: list[str]) -> Iterator[tuple[pd.DataFrame, str, dict[str, Any]]]:
    """Yield the cells of each line, its label and its look: the colour is the method, or else the first that varies."""
    import matplotlib as mpl

    if not others:
        yield frame, "", {"color": "tab:blue", "linestyle": "-", "marker": "o"}
        return
    others = sorted(others, key=lambda name: name != "method")
    hue, *rest = others
    hues = sorted(frame[hue].unique().tolist(), key=lambda value: (isinstance(value, str), value))
    if len(hues) > 2 and not isinstance(hues[0], str):
        colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(hues))).tolist()
    else:
        colours = [mpl.colormaps["tab10"](i % 10) for i in range(len(hues))]
    shapes: dict[tuple[str, ...], int] = {}
    for values, part in frame.groupby(others, dropna=False):
        told = {name: _brief(part[name].iloc[0]) for name in others if part[name].notna().all()}
        shape = shapes.setdefault(tuple(told.get(name, "") for name in rest), len(shapes))
        look = {"linestyle": LINES[shape % len(LINES)], "marker": MARKS[shape % len(MARKS)]}
        label = ", ".join(f"{name} = {value}" for name, value in told.items())
        yield part, label, {"color": colours[hues.index(values[0])], **look}


def _swept_line(axes: Any, part: pd.DataFrame, across: str, what: str, label: str, look: dict[str, Any]) -> None:
    rows: list[tuple[Any, ...]] = []
    for place, cells in part.groupby(across, dropna=False):
        if what == "success":
            hits = cells[what].to_numpy(dtype=float)
            low, high = wilson(int(hits.sum()), len(hits))
            rows.append((place, low, float(hits.mean()), high))
        else:
            values = failed_last(cells, what)
            rows.append((place, *(quantile(values, q) for q in (0.25, 0.5, 0.75))))
    places = [float(row[0]) if look["linestyle"] != "none" else str(row[0]) for row in rows]
    low, middle, high = np.array([row[1:] for row in rows], dtype=float).T
    middle = np.where(np.isfinite(middle), middle, np.nan)
    endless = np.isfinite(middle) & ~np.isfinite(high)
    bars = np.stack([middle - np.where(np.isfinite(low), low, middle), np.where(endless, 0.5 * middle, high - middle)])
    bars = np.where(np.isfinite(middle), np.maximum(bars, 0), 0)
    axes.errorbar(places, middle, bars, lolims=endless, label=label, markersize=4, capsize=2, elinewidth=0.9, **look)


def _swept_ticks(axes: Any, values: list[float]) -> None:
    """Mark the values that were run, on a logarithmic axis if they span much."""
    from matplotlib.ticker import NullLocator

    if values[0] > 0 and values[-1] >= 8 * values[0]:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    if len(values) <= 10:
        axes.set_xticks(values, [f"{value:g}" for value in values])


def failed_last(cells: pd.DataFrame, what: str) -> NDArray[np.float64]:
    """Return a column of a sweep in which a failed run counts as infinitely bad."""
    values = cells[what].to_numpy(dtype=float)
    return np.where(cells["status"] == "failed", np.inf, values)


def quantile(values: NDArray[np.float64], q: float) -> float:
    """Return the q-quantile of numbers that may be infinite; at q = ½ the median.

    Examples
    --------
    >>> quantile(np.array([3.0, 1.0, 2.0, np.inf]), 0.5), quantile(np.array([3.0, 1.0, 2.0, np.inf]), 0.75)
    (2.5, inf)
    """
    ordered, place = np.sort(values), q * len(values)
    above = ordered[min(int(place), len(values) - 1)]
    if place != int(place):
        return float(above)
    return float((ordered[max(int(place) - 1, 0)] + above) / 2)


def wilson(successes: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval for a probability.

    Examples
    --------
    >>> low, high = wilson(10, 10)
    >>> round(low, 3), high
    (0.722, 1.0)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = successes / runs
    centre = (p + z**2 / (2 * runs)) / (1 + z**2 / runs)
    half = z / (1 + z**2 / runs) * math.sqrt(p * (1 - p) / runs + z**2 / (4 * runs**2))
    # At 0 and at all the end is exact; rounding must not move it.
    return (0.0 if successes == 0 else centre - half), (1.0 if successes == runs else centre + half)
