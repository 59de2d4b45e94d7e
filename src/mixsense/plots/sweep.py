"""The picture of a sweep: a line for each combination of what varies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.plots.statistics import quantile, wilson

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SWEPT = ("max_queries", "gap", "k", "n", "models", "sigma", "gamma", "overlap", "eta", "m", "batch")
"""The horizontal axis of a sweep's picture is the first of these that varies."""
NEEDED_COLUMNS = ("method", "max_queries", "seed", "status", "error", "queries")
"""Columns that a frame must have to be drawn."""
IN_TITLE = ("method", "n", "k", "models", "gap", "sigma", "max_queries", "gamma")
"""Settings that stand above the picture if they do not vary."""
LINE_STYLES, MARKERS = ("-", "--", ":", "-."), "os^DvPX"
"""For what the colour does not tell: 28 combinations before the first one comes again."""
Y_LABELS = {
    "success": "share of successes, with its 95 % interval",
    "queries": "answers used: median and quartiles",
    "error": "worst ℓ2 error: median and quartiles",
}
"""What the vertical axis says, for each quantity that may be drawn."""
ASIDE = 3.0
"""Bars of several lines stand this many points beside each other, so that all of them are seen."""
MOST_ASIDE = 8
"""Of more lines than this the bars would seem to belong to other places."""


def swept(frame: pd.DataFrame) -> list[str]:
    """Return the names of the parameters that a sweep varies: the method, and what varies within one."""
    names = [str(name) for name in frame.columns[: list(frame.columns).index("seed")]]
    many = _with_shares(frame).groupby("method")[names].nunique(dropna=False) > 1
    return [name for name in names if many[name].any() or (name == "method" and len(many) > 1)]


def _with_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with shares as text, that can be compared whatever a file made of them: "equal", or numbers."""
    if "weights" not in frame:
        return frame
    texts = [w if isinstance(w, str) else str(tuple(map(float, w))) for w in frame["weights"]]
    equal = [len(set(text.strip("()").rstrip(",").split(", "))) == 1 for text in texts]
    return frame.assign(weights=["equal" if same else text for same, text in zip(equal, texts, strict=True)])


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

    missing = [name for name in NEEDED_COLUMNS if name not in getattr(frame, "columns", ())]
    if missing:
        what = f"has no column {missing[0]!r}" if hasattr(frame, "columns") else f"is of type {type(frame).__name__}"
        raise InvalidInput(f"the frame {what}: give what ms.sweep or ms.read_sweep returned")
    if not len(frame):
        raise InvalidInput("the sweep has no finished cell: there is nothing to draw")
    frame = _with_shares(frame)
    varied = swept(frame)
    numbers = [name for name in SWEPT if name in varied and frame[name].notna().all()]
    across = numbers[0] if numbers else varied[0] if varied else "method"
    others = [name for name in varied if name != across]
    what = "success" if "success" in frame else "queries" if frame["max_queries"].isna().all() else "error"
    figure, axes = plt.subplots(figsize=(8, 4.8) if others else (6.4, 4.5), layout="constrained")
    for part, label, look in _lines(frame, others):
        _draw_line(axes, part, across, what, label, look if numbers else {**look, "linestyle": "none"})
    if numbers:
        _ticks(axes, sorted(frame[across].astype(float).unique().tolist()))
    if what == "success":
        axes.set_ylim(-0.02, 1.02)
    else:
        axes.set_yscale("log")
    _move_apart(axes)
    axes.set(xlabel=across, ylabel=Y_LABELS[what])
    once = [name for name in IN_TITLE if name in frame and name not in varied and frame[name].nunique() == 1]
    fixed = [f"{name} = {_brief(frame[name].iloc[0])}" for name in once if frame[name].notna().all()]
    failed = int((frame["status"] == "failed").sum())
    told = [", ".join(fixed), f"seeds: {frame['seed'].nunique():,}"]
    told += [f"{failed:,} of {len(frame):,} runs failed"] if failed else []
    axes.set_title("; ".join(told), loc="left", fontsize=9)
    if others:
        figure.legend(loc="outside right upper", fontsize=8, ncols=1 + len(axes.containers) // 25)
    return axes


def _brief(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _lines(frame: pd.DataFrame, others: list[str]) -> Iterator[tuple[pd.DataFrame, str, dict[str, Any]]]:
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
        values_of = {name: _brief(part[name].iloc[0]) for name in others if part[name].notna().all()}
        shape = shapes.setdefault(tuple(values_of.get(name, "") for name in rest), len(shapes))
        look = {"linestyle": LINE_STYLES[shape % len(LINE_STYLES)], "marker": MARKERS[shape % len(MARKERS)]}
        label = ", ".join(f"{name} = {value}" for name, value in values_of.items())
        yield part, label, {"color": colours[hues.index(values[0])], **look}


def _draw_line(axes: Any, part: pd.DataFrame, across: str, what: str, label: str, look: dict[str, Any]) -> None:
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


def _move_apart(axes: Any) -> None:
    """Move the lines a little to the left and to the right, after the axes have their scales."""
    from matplotlib.transforms import ScaledTranslation

    axes.autoscale_view()  # by the data: matplotlib takes what is moved for data elsewhere
    lines = axes.containers if len(axes.containers) <= MOST_ASIDE else []
    for i, line in enumerate(lines):
        inches = ASIDE / 72 * (i - (len(lines) - 1) / 2)
        for part in line.get_children():
            part.set_transform(axes.transData + ScaledTranslation(inches, 0, axes.figure.dpi_scale_trans))


def _ticks(axes: Any, values: list[float]) -> None:
    """Mark the values that were run, on a logarithmic axis if they span much."""
    from matplotlib.ticker import NullLocator

    if values[0] > 0 and values[-1] >= 8 * values[0]:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    if len(values) <= 10:
        axes.set_xticks(values, [f"{value:,g}" for value in values])


def failed_last(cells: pd.DataFrame, what: str) -> Array:
    """Return a column of a sweep in which a failed run counts as infinitely bad."""
    values = cells[what].to_numpy(dtype=float)
    return np.where(cells["status"] == "failed", np.inf, values)
