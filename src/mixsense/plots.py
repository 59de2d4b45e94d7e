"""Pictures: each function takes a result and returns matplotlib Axes."""

from __future__ import annotations

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


def swept(frame: pd.DataFrame) -> list[str]:
    """Return the names of the parameters that a sweep varies: the method, and what varies within one."""
    names = [str(name) for name in frame.columns[: list(frame.columns).index("seed")]]
    many = frame.groupby("method")[names].nunique(dropna=False) > 1
    return [name for name in names if many[name].any() or (name == "method" and len(many) > 1)]


def plot_sweep(frame: pd.DataFrame) -> Axes:
    """Draw a sweep: a line for each combination of what varies, with a band over the seeds.

    Parameters
    ----------
    frame : pandas DataFrame
        From `sweep` or `read_sweep`. With a column `success` its share is drawn, with 95 % intervals; otherwise the
        median error, or, where no budget was given and so the precision decided, the median of the answers used, with
        quartiles. A failed run counts as infinitely bad.

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
    varied = swept(frame)
    across = next((name for name in SWEPT if name in varied), varied[0] if varied else "method")
    others = [name for name in varied if name != across]
    what = "success" if "success" in frame else "queries" if frame["max_queries"].isna().all() else "error"
    _, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for values, part in frame.groupby(others, dropna=False) if others else [((), frame)]:
        label = ", ".join(f"{name} = {value}" for name, value in zip(others, values, strict=True))
        _swept_line(axes, part, across, what, label)
    if across in SWEPT:
        places = frame[across].dropna().astype(float)
        if places.min() > 0 and places.max() >= 8 * places.min():
            axes.set_xscale("log")
    if what == "success":
        axes.set_ylim(-0.02, 1.02)
    else:
        axes.set_yscale("log")
    names = {"success": "share of successes", "queries": "answers used", "error": "worst ℓ2 error"}
    axes.set(xlabel=across, ylabel=names[what])
    if others:
        axes.legend(fontsize=8)
    return axes


def _swept_line(axes: Any, part: pd.DataFrame, across: str, what: str, label: str) -> None:
    rows = []
    for place, cells in part.groupby(across):
        values = cells[what].to_numpy(dtype=float)
        if what == "success":
            rows.append((place, *_wilson(values)))
        else:
            values = np.where(cells["status"] == "failed", np.inf, values)
            rows.append((place, *np.quantile(values, (0.25, 0.5, 0.75), method="inverted_cdf")))
    places = [row[0] if across in SWEPT else str(row[0]) for row in rows]
    curves = np.array([row[1:] for row in rows], dtype=float).T
    low, middle, high = np.where(np.isfinite(curves), curves, np.nan)
    (line,) = axes.plot(places, middle, "o-", markersize=4, label=label)
    axes.fill_between(places, low, high, color=line.get_color(), alpha=0.2, linewidth=0)


def _wilson(hits: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the share of hits between the ends of its 95 % interval (Wilson's)."""
    share, count, z = float(hits.mean()), len(hits), 1.96
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * float(np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)))
    return centre - half, share, centre + half
