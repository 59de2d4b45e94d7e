"""Figure 1: the three estimators of a mixture's means, error against separation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsense import mixture
from mixsense.figures.figure import BAND, BLUE, GREEN, ORANGE, Cell, Data, Figure, Options, Row, new_figure, rounded
from mixsense.methods.paper.constants import PRACTICAL

if TYPE_CHECKING:
    import matplotlib.figure

CURVES = {
    "EM": ("EM (Algorithm 1)", ORANGE, "-"),
    "moments": ("method of moments (Algorithm 3)", BLUE, "--"),
    "single": ("one Gaussian (Algorithm 4)", GREEN, ":"),
}
"""Label, colour and line of each estimator."""
SWITCH = PRACTICAL.regime_switch
"""Algorithm 5 takes EM where the moments' separation is above this many σ (for γ < σ)."""


def cells(options: Options, seeds: Sequence[int]) -> list[Cell]:
    """One cell for each separation."""
    low, high, count = options["separations"]
    grid = np.geomspace(low, high, count).round(4)
    fixed = {"samples": options["samples"], "seeds": list(seeds)}
    return [{"separation": float(delta), **fixed} for delta in grid]


def run(separation: float, samples: int, seeds: list[int]) -> list[Row]:
    """Estimate both means of one batch for each seed: the worse of the two errors, and where Algorithm 5 would go."""
    truth = np.array([0.0, separation])
    y = np.stack([_batch(truth, samples, seed) for seed in seeds])
    estimates = {
        "EM": mixture.em(y, 1.0).value,
        "moments": mixture.moments(y, 1.0).value,
        "single": mixture.single(y).value,
    }
    to_em = float((np.ptp(estimates["moments"], axis=1) > SWITCH).mean())
    rows = []
    for name, value in estimates.items():
        error = np.abs(value - truth).max(axis=1)
        low, median, high = np.quantile(error, [BAND[0], 0.5, BAND[1]]).tolist()
        row = {"separation": separation, "estimator": name, "median": median, "low": low, "high": high}
        rows.append(row | {"to_em": to_em, "batches": len(seeds)})
    return rows


def _batch(truth: Any, samples: int, seed: int) -> Any:
    rng = np.random.default_rng([1, seed])  # the same coin and noise at every separation
    return truth[(rng.random(samples) < 0.5).astype(int)] + rng.standard_normal(samples)


def draw(data: Data) -> matplotlib.figure.Figure:
    """Median errors with their bands, and the line where Algorithm 5 switches."""
    figure = new_figure(7.5, 4.8)
    axes = figure.subplots()
    for name, (label, colour, line) in CURVES.items():
        part = data[data.estimator == name]
        axes.fill_between(part.separation, part.low, part.high, color=colour, alpha=0.1, linewidth=0)
        for edge in (part.low, part.high):  # the bands overlap: their edges tell them apart
            axes.plot(part.separation, edge, line, color=colour, linewidth=0.7, alpha=0.7)
        axes.plot(part.separation, part["median"], line, color=colour, label=label)
    axes.axvline(SWITCH, color="0.3", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="separation |μ₁ − μ₂| / σ", ylabel="worse error of the two means / σ")
    axes.annotate(
        "Algorithm 5 switches\nfrom moments to EM: 15/32",
        (SWITCH, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        fontsize=9,
        color="0.3",
    )
    title = f"median; band: middle 80 % of {data.batches.max():,} batches"
    axes.legend(title=title, loc="upper left", alignment="left", fontsize=9)
    axes.set_title("Two means from 1,000 samples, μ₁ = 0", loc="left")
    return figure


def summary(data: Data) -> list[Row]:
    """Return the errors near a few separations, and the share that Algorithm 5 would give to EM."""
    grid = data.separation.unique()
    rows = []
    for wanted in (0.1, SWITCH, 1.0, 2.0, 4.0):
        at = float(grid[np.abs(np.log(grid / wanted)).argmin()])
        part = data[data.separation == at].set_index("estimator")
        row: Row = {"separation / σ": rounded(at)}
        row |= {f"{name}, median error": rounded(part.loc[name, "median"]) for name in CURVES}
        rows.append(row | {"share that Algorithm 5 gives to EM": rounded(part.to_em.iloc[0])})
    return rows


ESTIMATORS = Figure(
    number=1,
    title="three estimators of a mixture's means",
    scales={
        "full": {"samples": 1000, "separations": [0.05, 6.0, 41], "seeds": 400},
        "quick": {"samples": 1000, "separations": [0.05, 6.0, 21], "seeds": 60},
        "tiny": {"samples": 1000, "separations": [0.05, 6.0, 7], "seeds": 4},
    },
    cells=cells,
    run=run,
    draw=draw,
    summary=summary,
)
