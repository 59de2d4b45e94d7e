"""Makes plan_runs.csv: plans that were carried out, which the rows of `mixsense.plan` are held against.

    python tests/data/make_plan_runs.py

Settings are random, as in benchmarks/plan.py, of a size that takes seconds: n at most 200 and a row "frugal" of at most
400 answers; σ = 1, seeds that no coefficient was fitted to. A run of the row "frugal" spends the planned answers, and
its error counts. Of the rows "typical" and "certified" runs go on until they are sure of γ, and their answers count.
What the file has already, of the same row and number, is not run again.
"""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

import mixsense as ms  # noqa: E402
from mixsense.planning.calibration import MOST_OF_GAP, RANGES  # noqa: E402
from mixsense.planning.certainty import certain_of_any  # noqa: E402
from mixsense.planning.costs import TWO, frugal  # noqa: E402

FILE = Path(__file__).with_name("plan_runs.csv")
RUNS = {"frugal": 100, "typical": 50, "certified": 24}
PROMISES = {"typical": "typical", "certified": "any"}
FIELDS = ("row", "number", "n", "k", "gap", "gamma", "planned", "answers", "error")
SEEDS, MOST_ANSWERS = 21, 400

Setting = tuple[int, int, float, float]  # n, k, gap/σ, γ/σ


def setting(number: int) -> Setting:
    """Draw a setting whose plan is small."""
    rng = np.random.default_rng([SEEDS, number])
    while True:
        n, k, gap, gamma = (math.exp(rng.uniform(*np.log(RANGES[name]))) for name in RANGES)
        drawn = round(n), round(k), float(f"{gap:.3g}"), float(f"{gamma:.3g}")
        if n <= 200 and drawn[1] <= drawn[0] / 4 and drawn[3] < MOST_OF_GAP * drawn[2]:
            if planned("frugal", drawn) <= MOST_ANSWERS:
                return drawn


def planned(row: str, given: Setting) -> int:
    """Return the answers of a row, without the others of a plan: those of the paper take a second."""
    if row == "certified":
        return certain_of_any(*given, shares=TWO)
    return frugal(*given, until_sure=row == "typical")


def one_run(row: str, number: int, given: Setting, plan: int) -> dict[str, object]:
    """Carry out a plan."""
    n, k, gap, gamma = given
    pair = ms.random_pair(n, k, gap, seed=[SEEDS, number, 1])
    oracle = ms.SimulatedOracle(pair, 1.0, seed=[SEEDS, number, 2, *row.encode()])
    if row == "frugal":
        wanted = {"gamma": None, "max_queries": plan}
    else:
        wanted = {"gamma": gamma, "promise": PROMISES[row], "max_queries": 20_000}
    r = ms.recover(oracle, n, sigma=1.0, seed=[SEEDS, number, 3], **wanted)
    error = ms.match_error(r.vectors, pair) if len(r.vectors) <= 2 else math.inf
    return dict(zip(FIELDS, (row, number, *given, plan, r.queries, f"{error:.4g}"), strict=True))


def stored() -> list[dict[str, str]]:
    """Return the runs of the file."""
    if not FILE.exists():
        return []
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def setting_of(run: dict[str, str]) -> Setting:
    """Return the setting of a stored run."""
    return int(run["n"]), int(run["k"]), float(run["gap"]), float(run["gamma"])


def main() -> None:
    done = {(run["row"], int(run["number"])): run for run in stored()}
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for row, runs in RUNS.items():
            for number in range(runs):
                given = setting(number)
                writer.writerow(done.get((row, number)) or one_run(row, number, given, planned(row, given)))
                file.flush()


if __name__ == "__main__":
    main()
