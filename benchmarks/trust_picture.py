"""How the runs of docs/trust.csv ended, world by world: the picture of docs/trust.md.

python benchmarks/trust_picture.py docs/trust.png
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from trust import Run, runs_of
from worlds import WORLDS

STORE = Path(__file__).parent.parent / "docs" / "trust.csv"
ENDS = {
    "certified or single, within γ": "tab:blue",
    "wrong": "tab:red",
    "uncertain, with the right reason": "tab:green",
    "uncertain": "tab:gray",
    "budget": "0.85",
}
"""How a run ends, and its colour."""


def family(world: str) -> str:
    """Return a name for worlds that differ in sizes and shares only.

    Examples
    --------
    >>> family("different: one of half features, each a yes or no, by 1.5 σ, shares 0.8/0.2")
    'different: one yes or no'
    """
    name = re.sub(
        r"( of norm [\d.]+ γ|, norm [\d.]+|,? by [\d.]+ σ|, [\d.]+ σ|, shares [\d./]+|, gap [\d.]+)", "", world
    )
    return re.sub(r" of (all|half) features, each a yes or no", " yes or no", name)


def end(run: Run) -> str:
    """Return how a run ended, as the legend says it."""
    if run.promised:
        return "wrong" if run.wrong else next(iter(ENDS))
    return "uncertain, with the right reason" if run.right else run.status


def draw(runs: list[Run], path: Path) -> None:
    """Draw a bar for each family of worlds, those inside the model on the left."""
    figure, both = plt.subplots(1, 2, figsize=(13, 9.5), layout="constrained")
    for axes, section in zip(both, ("inside", "outside"), strict=True):
        ended = defaultdict(Counter)
        for name in WORLDS:  # in their order
            if WORLDS[name].section == section:
                ended[family(name)].update(end(run) for run in runs if run.world == name)
        labels = [f"{name} ({count.total()})" for name, count in ended.items()]
        left = [0.0] * len(ended)
        for what, colour in ENDS.items():
            parts = [count[what] / max(count.total(), 1) for count in ended.values()]
            axes.barh(labels, parts, left=left, color=colour, height=0.75, label=what)
            left = [a + b for a, b in zip(left, parts, strict=True)]
        axes.invert_yaxis()
        axes.set(xlim=(0, 1), xlabel="share of the runs", title=f"{section} of the model")
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(y=0.01)
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(ENDS), frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(runs_of(STORE), Path(sys.argv[1]))
