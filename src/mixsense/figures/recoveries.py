"""Figures 2 and 3: two vectors and what the paper's method recovers, with small and with large batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mixsense.figures.figure import Cell, Data, Figure, Options, Row, hidden_pair, rounded, simulate
from mixsense.metrics import best_order, match_error
from mixsense.recovery import Recovery
from mixsense.recovery.importance import choose
from mixsense.recovery.picture import TRUTH, plot_recovery

if TYPE_CHECKING:
    import matplotlib.figure

PAIR_OF_FIGURE = 2
"""Both figures hide the same pair, that of figure 2."""


def cells(options: Options, seeds: Sequence[int]) -> list[Cell]:
    """One run only."""
    return [{key: options[key] for key in ("n", "k", "gap", "m", "batch")} | {"seed": seeds[0]}]


def run(n: int, k: int, gap: float, m: int, batch: int, seed: int) -> list[Row]:
    """Recover one pair with the paper's method: a row for each coefficient, recovered vectors in their best order."""
    truth = hidden_pair(PAIR_OF_FIGURE, seed, n, k, gap)
    r = simulate(PAIR_OF_FIGURE, seed, truth, k=k, gamma=0.25, method="paper", m=m, batch=batch)
    found = r.vectors[list(best_order(r.vectors, truth))]
    return [
        {
            "vector": i + 1,
            "coefficient": j,
            "true": float(truth[i, j]),
            "recovered": float(found[i, j]),
            "batch": batch,
            "answers": r.queries,
            "status": r.status,
        }
        for i in range(2)
        for j in range(n)
    ]


def _vectors(data: Data, column: str) -> np.ndarray:
    return np.stack([data[data.vector == i][column].to_numpy() for i in (1, 2)])


def draw(data: Data) -> matplotlib.figure.Figure:
    """Draw the truth on the left in green, the recovered vectors on the right in orange, with the truth as rings."""
    from matplotlib import pyplot as plt

    truth, found = _vectors(data, "true"), _vectors(data, "recovered")
    recovery = Recovery(vectors=found, status=data.status[0], queries=int(data.answers[0]), error_bound=np.inf)
    figure = plot_recovery(recovery, truth).figure
    plt.close(figure)  # type: ignore[arg-type]  # it is written to files, not shown
    for axes, vector in zip((figure.axes[1], figure.axes[3]), truth, strict=True):
        places = np.flatnonzero(vector)
        axes.plot(places, vector[places], "o", markersize=9, color=TRUTH, fillstyle="none", label="truth")
        axes.legend(loc="best", fontsize=9)
    n, k, gap = truth.shape[1], int((truth[0] != 0).sum()), float(np.linalg.norm(truth[0] - truth[1]))
    told = f"the paper's method, batches of {data.batch[0]}: {data.answers[0]:,} answers in all, worst ℓ2 error "
    setting = f"n = {n}, k = {k}, ‖β¹ − β²‖ = {gap:g} σ"
    lines = [f"{told}{match_error(found, truth):.2g} σ", "; ".join(filter(None, [setting, choose(recovery).note]))]
    figure.suptitle("\n".join(lines), fontsize=11)
    return figure  # type: ignore[return-value]


def summary(data: Data) -> list[Row]:
    """Return the errors of the two vectors."""
    truth, found = _vectors(data, "true"), _vectors(data, "recovered")
    return [
        {
            "answers": int(data.answers[0]),
            "worst ℓ2 error": rounded(match_error(found, truth)),
            "largest error of a coefficient": rounded(float(np.abs(found - truth).max())),
            "true coefficients": int((truth != 0).sum()),
            "largest false one": rounded(float(np.abs(found[truth == 0]).max())),
        }
    ]


def _figure(number: int, batch: int) -> Figure:
    options = {"n": 100, "k": 5, "gap": 5.0, "m": 150, "batch": batch, "seeds": 1}
    return Figure(
        number=number,
        title=f"the paper's method, batches of {batch}",
        scales=dict.fromkeys(("full", "quick", "tiny"), options),
        cells=cells,
        run=run,
        draw=draw,
        summary=summary,
    )


BATCHES_OF_100 = _figure(2, 100)
BATCHES_OF_600 = _figure(3, 600)
