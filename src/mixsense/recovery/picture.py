"""A picture of a recovery, in the manner of the paper's figures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.checks import as_vectors, visible
from mixsense.errors import InvalidInput
from mixsense.metrics import best_order
from mixsense.recovery.digits import in_digits
from mixsense.recovery.fields import CONSTANT
from mixsense.recovery.importance import PRINTED, Choice, choose, importance
from mixsense.recovery.result import Recovery
from mixsense.recovery.tables import error_text, share_texts
from mixsense.recovery.uses import HALF_RANGES, LEVEL, MIDDLES, normal_quantile, of_each_feature, scale_or_none
from mixsense.scales import Rating

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRUTH, RECOVERED = "tab:green", "tab:orange"
"""The colours of the paper's figures."""
MOST_NAMES = 40
"""Up to this many coefficients have their names below the axis."""
LETTERS = 60
"""This many letters fit below the axis side by side; longer names are turned."""
TOO_SHORT = 0.01
"""A stem below this share of the longest cannot be told from a dot on the axis."""


def drawn(axes: Axes, kind: str, **metadata: str) -> bytes:
    """Return the picture that these axes are in as the content of a file of a kind, such as "svg", and close it."""
    from matplotlib import pyplot as plt

    content, figure = io.BytesIO(), cast("Figure", axes.figure)
    figure.savefig(content, format=kind, dpi=130, metadata=metadata or None)
    plt.close(figure)
    return content.getvalue()


def plot_recovery(
    recovery: Recovery,
    truth: ArrayLike | None = None,
    title: str | None = None,
    units: Sequence[str] | None = None,
) -> Axes:
    """Draw the recovered vectors, in the manner of the paper's figures.

    Parameters
    ----------
    recovery : Recovery
        What is drawn, in orange, a row for each of the L vectors: the coefficients that its table would list; with grey
        bars of the 95 % intervals, and the names of at most 40 coefficients, where it has them. The vectors are
        numbered as in the table, and have their shares beside the numbers. A constant column, which has no coefficient,
        has no place where names tell the others apart, and an empty one where positions do.
    truth : (L, n) array_like, optional
        The true vectors: drawn in green on the left, each beside the recovered one that stands for it, and with its
        number. One recovered vector stands beside each true one; of any other number the order tells nothing.
    title : str, optional
        What stands above all: the name of a study, which has models rather than vectors.
    units : sequence of str, optional
        What each feature is measured in, empty where there is no unit; shown with its name.

    Where the range of each feature is known, what is drawn is the effect of half of it, so that features of any unit
    compare; and each model's level, its answer in the middle of the box, stands beside its share.

    Returns
    -------
    matplotlib Axes
        The last one; its figure is ``axes.figure``.
    """
    import matplotlib.pyplot as plt

    half, choice = of_each_feature(recovery, HALF_RANGES), choose(recovery)
    unit = np.ones(recovery.vectors.shape[1]) if half is None else half
    found = recovery.vectors * unit
    drawn = importance(recovery) >= PRINTED
    drawn[:, np.setdiff1d(np.arange(found.shape[1]), choice.shown)] = False
    true = None if truth is None else _checked(truth, found) * unit
    order = list(range(len(found)))
    if true is not None and len(found) == 1:
        order = [0] * len(true)
    elif true is not None and len(found) == len(true):
        true = true[list(best_order(true, found))]
    names, places = _places(recovery)
    ends = _ends(recovery)
    left_out = _left_out(found, choice, ends is not None)
    found, drawn, true = found[:, places], drawn[:, places], None if true is None else true[:, places]
    columns: list[tuple[list[str], Array, Any, str]] = [
        (
            _titles(recovery, order, "recovered: vector" if title is None else "model"),
            found[order],
            drawn[order],
            RECOVERED,
        )
    ]
    if true is not None:
        columns.insert(0, ([f"truth: vector {i + 1}" for i in range(len(true))], true, true != 0, TRUTH))
    rows = max(len(vectors) for _, vectors, _, _ in columns)
    figure, grid = plt.subplots(
        rows,
        len(columns),
        figsize=(5.5 * len(columns), 1 + 2 * rows),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for column, (titles, vectors, stems, colour) in zip(grid.T, columns, strict=True):
        for axes, name, vector, here in zip(column, titles, vectors, stems, strict=False):
            _stems(axes, vector, np.flatnonzero(here), colour)
            axes.set_title(name, fontsize=10)
        for axes in column[len(vectors) :]:
            axes.set_visible(False)
        last: Axes = column[len(vectors) - 1]
        _name_places(last, names, found.shape[1], None if units is None else [units[j] for j in places])
        last.tick_params(labelbottom=True)
    if ends is not None:
        for axes, i in zip(grid[:, -1], order, strict=False):
            _bars(axes, ends[i][places], unit[places])
    for axes in grid[:, 0]:
        axes.set_ylabel(_effect(recovery, half is not None))
    told = f"{recovery.status}, {recovery.queries:,} answers, {error_text(recovery.error_bound)}"
    if ends is not None:
        told += "; grey: 95 % intervals"
    above = [] if title is None else [_plain(title)]
    figure.suptitle("\n".join([*above, told, *left_out]), fontsize=11)
    return last


def _checked(truth: ArrayLike, found: Array) -> Array:
    """Return the true vectors, which must be as long as those that were found."""
    true = as_vectors(truth, "truth")
    if true.shape[1] != found.shape[1]:
        raise InvalidInput(
            f"truth has shape {true.shape}, the recovered vectors {found.shape}: they must be equal in length"
        )
    return true


def _places(recovery: Recovery) -> tuple[tuple[str, ...] | None, Index]:
    """Return the names below the axis, and the coefficients that have a place on it.

    Where names tell them apart, those of constant columns have none, unless all columns are constant.
    """
    names, n = recovery.names, recovery.vectors.shape[1]
    places = np.setdiff1d(np.arange(n), recovery.diagnostics.get(CONSTANT, ()))
    if names is None or n > MOST_NAMES or not len(places):
        return names, np.arange(n)
    return tuple(names[j] for j in places), places


def _titles(recovery: Recovery, order: list[int], what: str) -> list[str]:
    """Return what stands above the recovered vectors: what they are called, their numbers, and shares."""
    shares, levels = share_texts(recovery), _levels(recovery)
    return [
        f"{what} {i + 1}" + (f", share {shares[i]}" if shares else "") + (levels[i] if levels else "") for i in order
    ]


def _levels(recovery: Recovery) -> list[str]:
    """Return what is said of each model's level in the middle of the box; nothing where that is not known."""
    middle = of_each_feature(recovery, MIDDLES)
    if middle is None or recovery.intercept is None:
        return []
    found = recovery.predict(middle)
    half = np.ptp(found.interval[0], axis=1) / (2 * normal_quantile(LEVEL))  # standard errors, as those of the shares
    levels = [in_digits(value, error) for value, error in zip(found.mean[0].tolist(), half.tolist(), strict=True)]
    return [f", level {str(level).removeprefix('+')}" for level in levels]


def _left_out(found: Array, choice: Choice, bars: bool) -> list[str]:
    """Say what the picture does not show; with bars it shows at least the interval of every coefficient."""
    size = np.abs(found).max(axis=0)
    short = int((size[choice.shown] < TOO_SHORT * size.max()).sum())
    notes = [f"no stem: {choice.others}" if bars else choice.note] if choice.others else []
    if short:
        notes.append(f"{short:,} too small to see on this scale: see the table")
    return notes


def _stems(axes: Any, vector: Array, places: Index, colour: str) -> None:
    axes.vlines(places, 0, vector[places], color=colour, linewidth=1.5)
    axes.plot(places, vector[places], "o", color=colour, markersize=3)
    axes.axhline(0, color="0.6", linewidth=0.6)
    axes.set_xlim(-1, len(vector))


def _ends(recovery: Recovery) -> Array | None:
    """Return the 95 % intervals that are drawn, (L, n, 2): the recovery's own, or those of its standard errors."""
    if recovery.interval is not None or recovery.stderr is None:
        return recovery.interval
    half = 1.96 * recovery.stderr
    return np.stack([recovery.vectors - half, recovery.vectors + half], axis=2)


def _bars(axes: Any, ends: Array, unit: Array) -> None:
    places = np.flatnonzero(np.isfinite(ends).all(axis=1) & (ends[:, 0] < ends[:, 1]) & (unit > 0))
    cap = 2 if len(ends) <= MOST_NAMES else 0
    drawn = ends[places] * unit[places, None]
    middle, half = drawn.mean(axis=1), np.ptp(drawn, axis=1) / 2
    axes.errorbar(places, middle, half, fmt="none", ecolor="0.4", elinewidth=0.8, capsize=cap, zorder=3)


def _effect(recovery: Recovery, ranges: bool) -> str:
    """Say what the height of a stem is, on which scale."""
    if not ranges:
        return "value"
    scale, told = scale_or_none(recovery), ""
    if isinstance(scale, Rating):
        told = "\n(scale {:g} to {:g})".format(*scale.ends)
    elif scale is not None:
        told = "\n(logit)"
    return f"effect of half\nof the range{told}"


def _plain(text: str) -> str:
    """Return a text as it is: dollars would begin a formula."""
    return visible(text).replace("$", r"\$")


def _name_places(axes: Any, names: tuple[str, ...] | None, n: int, units: Sequence[str] | None) -> None:
    if names is not None and n <= MOST_NAMES:
        texts = [visible(name) for name in names]
        turned = max(map(len, texts)) * (n + 1) > LETTERS
        ends = [f"{' ' if turned else chr(10)}({_plain(unit)})" if unit else "" for unit in units or [""] * n]
        labels = [_plain(text) + end for text, end in zip(texts, ends, strict=True)]
        axes.set_xticks(range(n), labels, rotation=90 if turned else 0, fontsize=8)
        return
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
    axes.set_xlabel("coefficient")
