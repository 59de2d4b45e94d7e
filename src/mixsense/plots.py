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
    from matplotlib.axes import Axes

TRUTH, RECOVERED = "tab:green", "tab:orange"  # the colours of the paper's figures


def plot_recovery(recovery: Recovery, truth: ArrayLike | None = None) -> Axes:
    """Draw the recovered vectors, in the manner of the paper's figures.

    Parameters
    ----------
    recovery : Recovery
        What is drawn, in orange.
    truth : (2, n) array_like, optional
        The true vectors: drawn in green on the left, the recovered ones on the right in their best order.

    Returns
    -------
    matplotlib Axes
        The last one; its figure is ``axes.figure``.
    """
    import matplotlib.pyplot as plt

    found: NDArray[np.float64] = recovery.vectors
    columns: list[tuple[str, NDArray[np.float64], str]] = [("recovered", found, RECOVERED)]
    if truth is not None:
        true = as_vectors(truth, "truth")
        if true.shape != found.shape:
            raise InvalidInput(f"truth has shape {true.shape}, the recovered vectors {found.shape}: they must be equal")
        columns = [("truth", true, TRUTH), ("recovered", found[list(best_order(found, true))], RECOVERED)]
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
    for axes in grid[-1]:
        axes.set_xlabel("coefficient")
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
