"""How many answers the paper's predecessors take, and which of them apply."""

from __future__ import annotations

import math

from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.density import Design, design_for
from mixsense.methods.predecessors.grid import answers_to_read, rows_to_begin
from mixsense.methods.registry import ENTRIES
from mixsense.methods.verification.tuning import NEW_ROWS
from mixsense.planning.people import people_if_known
from mixsense.planning.setting import UNEQUAL, are_equal
from mixsense.planning.table import Row
from mixsense.problem import Weights

OF_DESIGN = 0.75
"""The part of its design's answers within which nine of ten runs of Mixed-Coloring end. Swept: on seeds 0 to 11 of
n = 500, K = 50 and n = 600, K = 60, L = 3: 0.56 to 0.59 on average, 0.73 to 0.80 at most."""
FEW = 8
"""Of fewer coefficients in all than this, Mixed-Coloring takes more than `OF_DESIGN`: chance has a larger part.
Swept: on seeds 100 to 129 nine of ten runs take 1.6 to 2 times as much with 4, 0.8 to 1.25 with 6, 0.9 with 10; with
and without noise."""
MORE_STEPS = 1.75
"""Answers of small steps over L times the measurements to begin with, in nine of ten runs. Swept: 1.6 was 0.93 to 1.12
of what they take, on seeds 100 to 129 of n = 30 to 200, k = 2 to 20."""
MORE_ROWS = 1.15
"""Answers of the lattice over those of the rows to begin with, for nine of ten runs. Taste: a handful of runs."""

ON_A_GRID = ("coloring", "lattice")
"""The rows of the methods that take coefficients on a grid, and noise."""
STEPS = "steps"
"""The row of method="polynomial" with design="steps"."""


def note(name: str, models: int) -> str:
    """Return how a row's method is called, what it is told, and what it assumes."""
    if name == STEPS:
        return f'method="polynomial", design="steps", models={models}, and k; assumes no noise, sparse vectors'
    return f'method="{name}", models={models}, and k; assumes {ENTRIES[name].assumes}'


def without_noise(n: int, k: int, shares: Weights) -> dict[str, int]:
    """Return the answers for exact vectors, in nine of ten runs, of each predecessor without noise.

    Examples
    --------
    >>> without_noise(100, 5, (0.5, 0.5))
    {'coloring': 428, 'polynomial': 63, 'steps': 167}
    """
    L, least = len(shares), min(shares)
    heard_all = sum(1 / (i * least) for i in range(1, L + 1)) / L if L > 1 else 1.0
    once = math.ceil(heard_all * L) if L > 1 else 1  # answers until a query has shown all values, on average
    rows = rows_to_begin(n, k)
    return {
        "coloring": _layers(design_for(L, least), L * k, 3) + once + NEW_ROWS,
        "polynomial": math.ceil(2 * k * once * math.sqrt(2)) + NEW_ROWS,
        STEPS: math.ceil(MORE_STEPS * min(rows, n) / least) + once + NEW_ROWS,
    }


def with_noise(n: int, k: int, noise: float, models: int) -> dict[str, int]:
    """Return the answers for exact vectors on a grid, in nine of ten runs; `noise` is in units of the step.

    Examples
    --------
    >>> with_noise(100, 5, 0.5, 3)
    {'lattice': 2885}
    """
    rows = rows_to_begin(n, k)
    repeats = answers_to_read(models, noise, tuning.UNHEARD)
    found = {"lattice": math.ceil(MORE_ROWS * (2 * rows * repeats + models * tuning.ANCHOR_CARE * noise**2))}
    if models == 2:
        repeats = answers_to_read(2, noise, tuning.ROBUST_RISK, tuning.ROBUST_CARE)
        design = Design(repeats, tuning.ROBUST_LAYERS, tuning.ROBUST_BINS)
        queries = 2 * (1 + math.ceil(math.log2(max(n, 2))) + tuning.CHECK_ROWS) - 1
        found = {"coloring": _layers(design, 2 * k, queries)} | found
    return {name: answers + NEW_ROWS for name, answers in found.items()}


def _layers(design: Design, total: int, queries: int) -> int:
    """Return the answers of Mixed-Coloring with this many queries a bin."""
    width = max(design.bins * total / design.layers, tuning.FEWEST_BINS)
    more = OF_DESIGN * max(1.0, FEW / total)
    return math.ceil(more * design.layers * width) * queries * design.repeats


def rows_with_noise(
    n: int, k: int, sigma: float, step: float | None, shares: Weights
) -> list[tuple[str, int | None, str]]:
    """Return name, answers and note of each predecessor with noise; without a number the note says what is missing."""
    if step is None:
        return []
    if sigma > tuning.MOST_NOISE * step:
        why = f"noise of more than {tuning.MOST_NOISE:g} steps: a grid is of no help"
        return [(name, None, why) for name in ON_A_GRID]
    if not are_equal(shares):
        return [(name, None, UNEQUAL) for name in ON_A_GRID]
    needed = with_noise(n, k, sigma / step, len(shares))
    others = {"coloring": "with noise for two models only"}
    return [(name, needed.get(name), note(name, len(shares)) if name in needed else others[name]) for name in ON_A_GRID]


def row(name: str, queries: int | None, text: str, budget: int | None, per_person: int | None) -> Row:
    """Return the row of a method that is exact or not; None if the budget is too small for it."""
    if queries is not None and budget is not None and queries > budget:
        return Row(name, None, None, None, f"needs about {queries:,} answers; {text}")
    return Row(name, queries, None if queries is None else 0.0, people_if_known(queries, per_person), text)
