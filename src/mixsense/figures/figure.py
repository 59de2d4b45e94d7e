"""What a figure is: settings, cells that can be run in any order, a picture and a summary of its data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mixsense.api import recover
from mixsense.arrays import Array
from mixsense.oracles import SimulatedOracle, random_pair
from mixsense.recovery import Recovery

if TYPE_CHECKING:
    import matplotlib.figure

Options = Mapping[str, Any]
Cell = dict[str, Any]
Row = dict[str, Any]
Data = Any
"""A pandas DataFrame, or one that is grouped; pandas is loaded only when it is needed, and has no static types here."""

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
"""The colours of Okabe and Ito, which colour-blind readers can tell apart."""
LOOK = {"frugal": (ORANGE, "o"), "paper": (GREEN, "s"), "passive": (BLUE, "^")}
"""A method has the same colour and the same mark in every figure."""
BAND = (0.1, 0.9)
"""Bands and bars hold the middle 80 % of the runs."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: what is simulated, and how it is drawn."""

    number: int
    title: str
    scales: Mapping[str, Options]
    """Settings: "full", "quick" with fewer seeds, "tiny" to test the machinery."""
    cells: Callable[[Options, Sequence[int]], list[Cell]]
    """The arguments of each piece of work, from the settings and the seeds."""
    run: Callable[..., list[Row]]
    """Does one piece of work; what it returns depends on its arguments only."""
    draw: Callable[[Data], matplotlib.figure.Figure]
    summary: Callable[[Data], list[Row]]
    """The few numbers that the picture stands for, as rows of a table."""
    collect: Callable[[Data], Data] | None = None
    """Turns the rows of all cells into the data of the figure, where these are not the rows themselves."""

    @property
    def stem(self) -> str:
        """Name of its files, without the ending."""
        return f"fig{self.number}"


def hidden_pair(figure: int, seed: int, n: int, k: int, gap: float) -> Array:
    """Return the pair of vectors that a seed of a figure stands for."""
    return random_pair(n, k, gap, seed=[figure, seed, 0])


def simulate(figure: int, seed: int, truth: Array, **given: Any) -> Recovery:
    """Recover models that are hidden behind an oracle with σ = 1 and equal shares; all that is known."""
    oracle = SimulatedOracle(truth, 1.0, seed=[figure, seed, 1])
    known: dict[str, Any] = {"sigma": 1.0, "models": len(truth), "weights": "equal"}
    return recover(oracle, truth.shape[1], seed=[figure, seed, 2], **known, **given)


def medians_and_band(groups: Data, columns: list[str], of: str) -> Data:
    """Return the medians of some columns in each group, and the ends of the band of one as `low` and `high`."""
    ends = [groups[of].quantile(q).rename(name) for q, name in zip(BAND, ("low", "high"), strict=True)]
    return groups[columns].median().join(ends).reset_index()


def rounded(value: float) -> float:
    """Return a number with three significant digits, for tables.

    Examples
    --------
    >>> rounded(0.123456), rounded(44800)
    (0.123, 44800.0)
    """
    return float(f"{value:.3g}")


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows of a summary as a table for a page.

    Examples
    --------
    >>> print(markdown([{"answers": 44800, "error": 0.1}]))
    | answers | error |
    |---|---|
    | 44,800 | 0.1 |
    """
    body = [[f"{v:,.10g}" if isinstance(v, (int, float)) else str(v) for v in row.values()] for row in rows]
    lines = [f"| {' | '.join(cells)} |" for cells in [list(rows[0]), *body]]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def new_figure(width: float, height: float) -> matplotlib.figure.Figure:
    """Return an empty figure that belongs to no window."""
    from matplotlib.figure import Figure as Canvas

    return Canvas(figsize=(width, height), layout="constrained")


@contextmanager
def style() -> Iterator[None]:
    """Draw everything within in one style, and so that the same data give the same file."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {
        "svg.hashsalt": "mixsense",
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "0.9",
        "grid.linewidth": 0.7,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
    }
    with mpl.rc_context(settings):
        yield
