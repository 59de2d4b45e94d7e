"""The picture of models that depend on one column: the answers, and a line for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.checks import as_int, visible
from mixsense.errors import InvalidInput
from mixsense.frames import as_column, in_order
from mixsense.recovery import Recovery
from mixsense.recovery.tables import share_texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown")
"""One for each model."""
STEPS = 200
"""Points of a line."""


def plot_lines(
    recovery: Recovery, X: Any, y: ArrayLike, groups: Any = None, column: int = 0, answer: str = "answer"
) -> Axes:
    """Draw answers against one column, coloured by the model that they most probably came from, and the models.

    Parameters
    ----------
    recovery : Recovery
        The models.
    X : (N, n) array_like or data frame
        What was asked.
    y : (N,) array_like
        The answers.
    groups : (N,) array_like, optional
        Which answers share a model.
    column : int
        The column that is drawn; all others are held at their mean.
    answer : str
        What the answers are called.

    Returns
    -------
    matplotlib Axes
        Each line has a dark band, the 95 % interval of the expected answer, and a light one, that of an answer.
    """
    import matplotlib.pyplot as plt

    L, n = recovery.vectors.shape
    if L > len(COLOURS):
        raise InvalidInput(f"there are {L} models: up to {len(COLOURS)} can be drawn")
    rows = in_order("X", X, recovery.names, n)
    column = as_int("column", column, 0, f"the column that is drawn, 0 to {n - 1}", n - 1)
    values = as_column("y", y, len(rows))
    own = recovery.responsibilities(rows, values, groups).argmax(axis=1)
    x = np.linspace(rows[:, column].min(), rows[:, column].max(), STEPS)
    asked = np.tile(rows.mean(axis=0), (STEPS, 1))
    asked[:, column] = x
    found, shares = recovery.predict(asked), share_texts(recovery)
    _, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for a, colour in zip(range(L), COLOURS, strict=False):
        here = own == a
        axes.plot(rows[here, column], values[here], "o", color=colour, markersize=3.5, alpha=0.7)
        told = f"model {a + 1}" + (f", share {shares[a]}" if shares else "")
        axes.plot(x, found.mean[:, a], color=colour, label=told)
        for band, alpha in ((found.interval, 0.3), (found.answers, 0.1)):
            axes.fill_between(x, band[:, a, 0], band[:, a, 1], color=colour, alpha=alpha, linewidth=0)
    name = "x" if recovery.names is None else visible(recovery.names[column]).replace("$", r"\$")
    axes.set(xlabel=name, ylabel=visible(answer).replace("$", r"\$"))
    axes.legend()
    drawn: Axes = axes
    return drawn
