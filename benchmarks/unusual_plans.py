"""Carry out plans where nothing was calibrated: short and long vectors, many coefficients, of every kind.

    python benchmarks/unusual_plans.py [--row certified] [--plans 200] [--jobs 2] [--keep FILE]
                                       [--markdown docs/plan.md]

Settings are random: n log-uniform from 10 to 2,000, k from 1 to n/2, gap/σ from 0.5 to 50, γ/σ from 0.05 to 1 and below
0.45 gap, σ from 0.01 to 100. The coefficients are of each kind of KINDS in turn, at random places, with random signs,
independently in the two models; the kinds are those of benchmarks/worlds_inside.py, made for any n, k and γ. Where the
kind says the sizes itself, the gap is what comes of it. `ms.plan` is told n, k, σ, γ and the distance of the two
models, not the kind. The plan is carried out once, told σ, but neither k nor the number of models: the row "certified"
is the default method, which stops when it is sure of γ, with ``max_queries`` = the number of that row; the row "frugal"
spends its number with γ = None. *Kept* means that there are two models, and their worst ℓ2 error is within γ.

A setting whose plan is above the row's limit is left out, and another one of its kind is drawn; how many were left out
is counted, and said beside the table. The exit code is 1 unless 90 % are kept.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import mixsense as ms  # noqa: E402
from mixsense.planning.calibration import MOST_OF_GAP, RANGES  # noqa: E402
from pages import put_table  # noqa: E402
from plan import work_through  # noqa: E402
from worlds_inside import apart, placed  # noqa: E402

SEED = {"certified": 14, "frugal": 13}
"""First part of every seed that is shown, by row; 12 is for development, and 13 has chosen a part of `certified`."""
LIMITS = {"n": (10, 2000), "gap/sigma": (0.5, 50), "gamma/sigma": (0.05, 1.0), "sigma": (0.01, 100)}
MOST = {"certified": 6000, "frugal": 1500}
"""The largest number of answers of a plan that is carried out, by row."""
KEPT = 0.9

Values = Callable[[], np.ndarray]


def scaled(values: Callable[[int, np.random.Generator], np.ndarray]) -> Callable[..., np.ndarray]:
    """Return the maker of a kind whose two models are scaled until they are the gap apart."""

    def make(n: int, k: int, gap: float, gamma: float, rng: np.random.Generator) -> np.ndarray:
        return far(n, lambda: values(k, rng), gap, rng)

    return make


def as_they_are(large: float, small: float) -> Callable[..., np.ndarray]:
    """Return the maker of a kind with one large coefficient, in units of σ, and k − 1 small ones."""

    def make(n: int, k: int, gap: float, gamma: float, rng: np.random.Generator) -> np.ndarray:
        return placed(n, lambda: np.r_[large, np.full(k - 1, small)], rng)

    return make


def far(n: int, values: Values, gap: float, rng: np.random.Generator) -> np.ndarray:
    """Return two models with such coefficients that are a gap apart."""
    while True:
        beta = placed(n, values, rng)
        if (beta[0] != beta[1]).any():
            return apart(beta, gap)


def some_tiny(n: int, k: int, gap: float, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """Return models with a quarter of equal coefficients; the others are tiny, together 1, 1.3 or 2 times γ."""
    large = max(1, round(k / 4))
    norm = gamma * rng.choice([1.0, 1.3, 2.0]) / math.sqrt(max(k - large, 1))
    beta = far(n, lambda: np.full(large, 1.0), gap, rng)
    for row in beta:
        here = rng.choice(np.flatnonzero(row == 0), k - large, replace=False)
        row[here] = norm * rng.choice([-1.0, 1.0], k - large)
    return beta


def tail(n: int, k: int, gap: float, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """Return models with k equal coefficients, and on two thirds of all places a tail of norm γ/2 beside them."""
    many = round(2 * n / 3)
    beta = far(n, lambda: np.full(k, 1.0), gap, rng)
    return beta + placed(n, lambda: np.full(many, 0.5 * gamma / math.sqrt(many)), rng)


ONE_OF_100, ONE_OF_20 = "one of 100 σ, k − 1 of 0.1 σ", "one of 20 σ, k − 1 of 0.15 σ"
SOME_TINY = "k/4 equal, the others 1 to 2 γ together"
KINDS: dict[str, Callable[..., np.ndarray]] = {
    "Gaussian": scaled(lambda k, rng: rng.standard_normal(k)),
    "Laplace": scaled(lambda k, rng: rng.laplace(size=k)),
    "Cauchy": scaled(lambda k, rng: rng.standard_cauchy(k)),
    "geometric, 0.65": scaled(lambda k, rng: 0.65 ** np.arange(k)),
    ONE_OF_100: as_they_are(100.0, 0.1),
    ONE_OF_20: as_they_are(20.0, 0.15),
    SOME_TINY: some_tiny,
    "k equal, and a tail of γ/2": tail,
}


def draw(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, int, float, float, float]:
    """Draw two models of a kind in units of σ, with k, their gap/σ, γ/σ, and σ."""
    while True:
        n, gap, gamma, sigma = (math.exp(rng.uniform(*np.log(LIMITS[name]))) for name in LIMITS)
        k = round(math.exp(rng.uniform(0.0, math.log(round(n) / 2))))
        beta = KINDS[kind](round(n), k, gap, gamma, rng)
        gap = float(np.linalg.norm(beta[0] - beta[1]))
        if gamma < MOST_OF_GAP * gap:
            return beta, k, gap, gamma, sigma


def unusual(number: int, seed: int, row: str) -> dict[str, Any]:
    """Draw a setting, ask for its plan, and carry it out."""
    rng = np.random.default_rng([seed, number])
    kind = list(KINDS)[number % len(KINDS)]
    left_out = 0
    while True:
        beta, k, gap, gamma, sigma = draw(kind, rng)
        n = beta.shape[1]
        queries = ms.plan(n, k, sigma=sigma, gap=gap * sigma, gamma=gamma * sigma)[row].queries
        if queries <= MOST[row]:
            break
        left_out += 1
    oracle = ms.SimulatedOracle(beta * sigma, sigma, seed=[seed, number, 1])
    start = time.process_time()
    wanted = gamma * sigma if row == "certified" else None
    r = ms.recover(oracle, n, gamma=wanted, sigma=sigma, max_queries=queries, seed=[seed, number, 2])
    error = ms.match_error(r.vectors, beta * sigma) / (gamma * sigma) if len(r.vectors) <= 2 else math.inf
    return {
        "kind": kind,
        "n": n,
        "k": k,
        "gap": gap,
        "gamma": gamma,
        "queries": queries,
        "left_out": left_out,
        "models": len(r.vectors),
        "status": r.status,
        "error": error,
        "seconds": time.process_time() - start,
    }


def ordinary(row: dict[str, Any]) -> bool:
    """Return whether a setting is within the ranges of the calibration, but for its kind of coefficients."""
    values = {"n": row["n"], "k": row["k"], "gap/sigma": row["gap"], "gamma/sigma": row["gamma"]}
    return 4 * row["k"] <= row["n"] and all(low <= values[name] <= high for name, (low, high) in RANGES.items())


def small_count(row: dict[str, Any]) -> bool:
    """Return whether a model has small coefficients beside large ones whose norm is γ or more."""
    each = {ONE_OF_100: 0.1, ONE_OF_20: 0.15}.get(row["kind"], 0.0)
    return row["k"] > 1 and (row["kind"] == SOME_TINY or each * math.sqrt(row["k"] - 1) >= row["gamma"])


def tables(rows: Sequence[dict[str, Any]], row: str) -> tuple[str, bool]:
    """Return what was measured, and whether it is what is promised."""
    from scipy.stats import binom, binomtest

    kept = np.array([one["error"] <= 1 for one in rows])
    queries, left_out = (np.array([one[name] for one in rows]) for name in ("queries", "left_out"))
    inside = np.array([ordinary(one) for one in rows])
    errors = np.array([one["error"] for one in rows])
    small, two = np.array([small_count(one) for one in rows]), np.array([one["models"] == 2 for one in rows])
    count, total = int(kept.sum()), len(rows)
    certified = [one["error"] <= 1 for one in rows if one["status"] == "certified"]
    low, high = binomtest(count, total).proportion_ci(0.95)
    chance = binom.cdf(count, total, KEPT)
    lines = [
        f"{total} plans of {queries.min():,} to {queries.max():,} answers, {int(np.median(queries)):,} in the median: "
        f"**{count} of {total}** within γ, {100 * count / total:.1f} % (95 % interval {100 * low:.1f} to "
        f"{100 * high:.1f} %; were nine of ten kept, {count} or fewer of {total} would have a probability of "
        f"{chance:.2g}). Of {int((~inside).sum())} outside of the calibrated ranges {int(kept[~inside].sum())} are "
        f"kept, of {int(inside.sum())} inside {int(kept[inside].sum())}. Median error {np.median(errors):.2f} γ, nine "
        f"of ten below {np.quantile(errors, 0.9, method='higher'):.2f} γ. Left out: {int(left_out.sum())} settings "
        f"that were drawn, {100 * left_out.sum() / (left_out.sum() + total):.0f} %, with plans above {MOST[row]:,} "
        "answers.",
        "",
        f"Small coefficients beside large ones have a norm of γ or more in {int(small.sum())} settings: "
        f"{int(kept[small].sum())} are kept. Of the {int((~small).sum())} others {int(kept[~small].sum())} are kept, "
        f"{100 * kept[~small].mean():.1f} %. {int((~two).sum())} runs found one model, or more than two."
        + (f" {len(certified)} were certified, {sum(certified)} of them within γ." if certified else ""),
        "",
        "| coefficients | within γ | left out |",
        "|---|---|---|",
    ]
    for kind in KINDS:
        own = np.array([one["kind"] == kind for one in rows])
        lines.append(f"| {kind} | {int(kept[own].sum())} of {int(own.sum())} | {int(left_out[own].sum())} |")
    lines += ["", "| within γ | lower third | middle third | upper third |", "|---|---|---|---|"]
    columns = {
        "k/n": [one["k"] / one["n"] for one in rows],
        "n": [one["n"] for one in rows],
        "k": [one["k"] for one in rows],
        "gap/σ": [one["gap"] for one in rows],
        "γ/σ": [one["gamma"] for one in rows],
    }
    for label, values in columns.items():
        cells = []
        for part in np.array_split(np.argsort(values, kind="stable"), 3):
            first, last = values[part[0]], values[part[-1]]
            cells.append(f"{int(kept[part].sum())} of {len(part)} ({first:.3g} to {last:.3g})")
        lines.append(f"| by {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines), count >= KEPT * total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=200)
    parser.add_argument("--row", choices=MOST, default="certified", help="which number of the plan is spent")
    parser.add_argument("--seed", type=int, help="first part of every seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="keep every result in this file; the same command goes on from there")
    parser.add_argument("--markdown", type=Path, help="put the tables between the markers of this page")
    args = parser.parse_args()
    work = partial(unusual, seed=args.seed or SEED[args.row], row=args.row)
    text, good = tables(list(work_through(work, args.plans, args.jobs, args.keep)), args.row)
    print(text)
    if args.markdown:
        put_table(args.markdown, f"unusual {args.row}", text)
    return not good


if __name__ == "__main__":
    sys.exit(main())
