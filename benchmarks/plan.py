"""What the frugal method needs, and whether `mixsense.plan` is honest about it.

    python benchmarks/plan.py --calibrate [--runs 800] [--keep FILE] [--markdown docs/plan.md]
    python benchmarks/plan.py --honesty [--plans 400] [--keep FILE] [--markdown docs/plan.md]

Settings are random: n, k, gap/σ and γ/σ log-uniform in the calibrated ranges (k ≤ n/4, γ < 0.45 gap), σ log-uniform
between 0.01 and 100, a Gaussian pair (`random_pair`). The method is told σ, but not k.

*Calibrate.* For the row "frugal" each run has γ = None and a random budget: 0.4 to 1.6 times what the coefficients so
far plan for the setting. Its error at the end counts, and with less weight its error at every fourth earlier stage that
a run of that budget would have reached in the same way. The coefficients of N = S + P (σ/γ)² are those that put the
quantile QUANTILE of the errors where it is (quantile regression of log error, cut to the range of γ). For the row
"typical" as many runs have a γ, promise="typical" and no budget, and the same formula is fitted to the same quantile of
the answers that they took. Both are written to ``src/mixsense/planning/calibration.py``. The row "certified" is not
calibrated: `mixsense.planning.certainty` derives it.

*Honesty.* Other seeds. Every plan is carried out once: ``max_queries`` = the planned number, γ = None; *kept* means
that the worst ℓ2 error is within γ. *Needed* is measured in two ways. By settings: the smallest N = plan/f, f in
FACTORS, such that this N and all larger ones of the grid keep γ in each of SEEDS runs with fresh pairs. (Seven of
seven: an N that keeps γ with probability 0.906 passes half of the time.) If plan/1.4 does not pass, plan/needed counts
as 1. By runs: the number of answers from which on this one run, carried on to the plan, stayed within γ; that is known
afterwards only. And each setting is run once more with γ and no budget, to see whether the row "certified" is enough.
The exit code is 1 unless 90 % of the plans are kept, 90 % of the certified rows are enough, and the median of
plan/needed by settings is at most 2.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import mixsense as ms  # noqa: E402
from mixsense.methods.frugal.method import first_batch, frugal  # noqa: E402
from mixsense.planning.calibration import FRUGAL, MOST_OF_GAP, RANGES, UNTIL_SURE  # noqa: E402
from mixsense.planning.costs import frugal_parts  # noqa: E402
from mixsense.planning.table import Plan  # noqa: E402
from mixsense.rounds import Method, run  # noqa: E402
from pages import put_table  # noqa: E402

QUANTILE = 0.93  # the fit itself is not exact, so above the promised 0.9
LEAST = 30  # answers of a calibration run
AROUND = (0.4, 1.6)
FACTORS = (1.4, 2.0, 2.8, 4.0)
SEEDS = 7
CALIBRATION, HONESTY = 5, 8  # first part of every seed: the two never share one
CALIBRATED = Path(__file__).parent.parent / "src" / "mixsense" / "planning" / "calibration.py"

Setting = tuple[int, int, float, float]  # n, k, gap/σ, γ/σ
Coefficients = dict[str, float]


def draw_setting(rng: np.random.Generator) -> Setting:
    """Draw n, k, gap/σ and γ/σ from the calibrated ranges."""
    while True:
        n, k, gap, gamma = (math.exp(rng.uniform(*np.log(RANGES[name]))) for name in RANGES)
        n, k = round(n), round(k)
        if k <= n / 4 and gamma < MOST_OF_GAP * gap:
            return n, k, gap, gamma


def watched(method: Method[ms.Recovery], pair: np.ndarray, path: list[tuple[int, float]]) -> Method[ms.Recovery]:
    """Note the error of the estimate before every round, and in the end."""
    count, asked = 0, None
    while True:
        try:
            round_ = method.send(asked)  # type: ignore[arg-type]
        except StopIteration as stop:
            path.append((count, ms.match_error(stop.value.vectors, pair)))
            return stop.value  # type: ignore[no-any-return]
        if round_.estimate is not None:
            path.append((count, ms.match_error(round_.estimate().vectors, pair)))
        asked = yield round_
        count += len(asked)


def calibration_run(number: int) -> list[tuple[int, int, float, int, float, float]]:
    """One run with a random budget: rows of n, k, gap/σ, N, error/σ, weight."""
    rng = np.random.default_rng([CALIBRATION, number])
    n, k, gap, gamma = draw_setting(rng)
    start, precision = frugal_parts(n, k, gap)
    around = (start + precision / gamma**2) * math.exp(rng.uniform(*np.log(AROUND)))
    budget = round(max(around, LEAST))
    pair = ms.random_pair(n, k, gap, seed=rng)
    oracle = ms.SimulatedOracle(pair, 1.0, seed=[CALIBRATION, number, 1])
    problem = ms.Problem(n=n, gamma=None, sigma=1.0, max_queries=budget)
    path: list[tuple[int, float]] = []
    run(watched(frugal(problem, np.random.default_rng([CALIBRATION, number, 2])), pair, path), oracle, budget)
    *earlier, last = path
    # The first batch is at most 40 % of the budget: only later stages are those of a smaller budget as well.
    stages = [(N, error, 0.3) for N, error in earlier if 0.4 * N >= first_batch(n, None, 10**9)][::4]
    return [(n, k, gap, *row) for row in (*stages, (*last, 1.0))]


def typical_run(number: int) -> tuple[int, int, float, float, int]:
    """One run until the method is sure of γ for typical vectors: n, k, gap/σ, γ/σ, answers."""
    rng = np.random.default_rng([CALIBRATION, number, 7])
    n, k, gap, gamma = draw_setting(rng)
    pair = ms.random_pair(n, k, gap, seed=rng)
    oracle = ms.SimulatedOracle(pair, 1.0, seed=[CALIBRATION, number, 8])
    seed = [CALIBRATION, number, 9]
    r = ms.recover(oracle, n, gamma=gamma, sigma=1.0, seed=seed, promise="typical")
    return n, k, gap, gamma, r.queries


def fit_errors(data: np.ndarray) -> tuple[Coefficients, float]:
    """Return the coefficients whose γ is the QUANTILE of the errors, and the share of errors below it."""
    n, k, gap, N, error, weight = data.T
    low, high = RANGES["gamma/sigma"]
    top = np.minimum(high * 1.4, 0.5 * gap)  # what is not a precision any more, whatever its size
    log_error = np.log(np.clip(error, low * 0.8, top))

    def expected(tried: Coefficients) -> np.ndarray:
        start, precision = frugal_parts(n, k, gap, coefficients=tried)
        return np.clip(np.sqrt(precision / np.maximum(N - start, 1e-9)), low * 0.8, top)

    found = quantile_regression(FRUGAL, lambda tried: log_error - np.log(expected(tried)), weight)
    inside = expected(found) < top
    return found, float(np.average(error[inside] <= expected(found)[inside], weights=weight[inside]))


def fit_answers(data: np.ndarray) -> tuple[Coefficients, float]:
    """Return the coefficients whose N is the QUANTILE of the answers taken, and the share of runs that took fewer."""
    n, k, gap, gamma, answers = data.T

    def expected(tried: Coefficients) -> np.ndarray:
        start, precision = frugal_parts(n, k, gap, coefficients=tried)
        return start + precision / gamma**2

    found = quantile_regression(
        UNTIL_SURE, lambda tried: np.log(answers) - np.log(expected(tried)), np.ones(len(answers))
    )
    return found, float((answers <= expected(found)).mean())


def quantile_regression(
    first: Coefficients, above: Callable[[Coefficients], np.ndarray], weight: np.ndarray
) -> Coefficients:
    """Return the positive coefficients for which QUANTILE of the residuals are below zero; they start from `first`."""
    from scipy.optimize import minimize

    names, origin = list(first), np.log(list(first.values()))

    def loss(p: np.ndarray) -> float:
        residual = above(dict(zip(names, np.exp(p), strict=True)))
        pinball = np.where(residual > 0, QUANTILE * residual, (QUANTILE - 1) * residual)
        return float(np.average(pinball, weights=weight)) + 1e-4 * float(((p - origin) ** 2).sum())

    best = None
    for start in range(4):
        p = origin + 0.3 * np.random.default_rng(start).standard_normal(len(names))
        for _ in range(4):  # Nelder–Mead, started again where it stopped: the loss has kinks
            found = minimize(loss, p, method="Nelder-Mead", options={"maxfev": 6000, "adaptive": True})
            p = found.x
        if best is None or found.fun < best.fun:
            best = found
    return {name: float(f"{value:.4g}") for name, value in zip(names, np.exp(best.x), strict=True)}


TEMPLATE = '''"""Generated by ``python benchmarks/plan.py --calibrate``: what the frugal method was seen to need."""

from __future__ import annotations

FRUGAL = {{
{frugal}
}}
"""Coefficients of `mixsense.planning.costs.frugal_parts` for a run that spends a budget."""

UNTIL_SURE = {{
{until_sure}
}}
"""Coefficients of `mixsense.planning.costs.frugal_parts` for a run that stops by itself, sure of
γ for typical vectors."""

RANGES = {{"n": (20, 1000), "k": (1, 10), "gap/sigma": (0.5, 20), "gamma/sigma": (0.05, 0.5)}}
"""Where the runs were made, with k at most n/4; beyond these ranges a plan extrapolates."""

MOST_OF_GAP = {most}
"""The largest γ of the runs, as a share of the gap."""

RUNS = {runs}
"""Number of runs that each set of coefficients is fitted to."""
'''


def calibrate(runs: int, jobs: int, keep: Path | None) -> str:
    """Make the runs, fit, write the coefficients into the package; returns the table."""
    rows = [row for part in work_through(calibration_run, runs, jobs, keep) for row in part]
    frugal, below = fit_errors(np.array(rows))
    until_sure, fewer = fit_answers(np.array(list(work_through(typical_run, runs, jobs, keep))))
    lines = {
        name: "\n".join(f'    "{key}": {value:g},' for key, value in found.items())
        for name, found in (("frugal", frugal), ("until_sure", until_sure))
    }
    CALIBRATED.write_text(TEMPLATE.format(runs=runs, most=MOST_OF_GAP, **lines), encoding="utf-8")
    return "\n".join(
        [
            f"{runs} runs with a budget, {len(rows)} errors: {100 * below:.0f} % of them are below the fitted γ. "
            f"{runs} runs with a γ: {100 * fewer:.0f} % took fewer answers than the fitted N.\n",
            "| coefficient | frugal | typical |",
            "|---|---|---|",
            *(f"| {name} | {frugal[name]:g} | {until_sure[name]:g} |" for name in frugal),
        ]
    )


def planned(number: int) -> tuple[Setting, float, Plan]:
    """Return a random setting, its σ, and the plan for it."""
    rng = np.random.default_rng([HONESTY, number])
    n, k, gap, gamma = draw_setting(rng)
    sigma = 10 ** rng.uniform(-2, 2)
    return (n, k, gap, gamma), sigma, ms.plan(n, k, sigma=sigma, gap=gap * sigma, gamma=gamma * sigma)


def run_once(setting: Setting, sigma: float, queries: int, seed: list[int]) -> list[tuple[int, float]]:
    """Spend this many answers on a fresh pair: error/γ on the way, and in the end."""
    n, k, gap, gamma = setting
    pair = ms.random_pair(n, k, gap * sigma, seed=[*seed, 0])
    problem = ms.Problem(n=n, gamma=None, sigma=sigma, max_queries=queries)
    path: list[tuple[int, float]] = []
    method = watched(frugal(problem, np.random.default_rng([*seed, 2])), pair, path)
    run(method, ms.SimulatedOracle(pair, sigma, seed=[*seed, 1]), queries)
    return [(asked, error / (gamma * sigma)) for asked, error in path]


def carried_out(number: int) -> dict[str, Any]:
    """Carry out one plan: whether it was kept, and plan/needed of this run."""
    setting, sigma, plan = planned(number)
    queries = plan["frugal"].queries
    path = run_once(setting, sigma, queries, [HONESTY, number, 0])
    outside = [i for i, (_, error) in enumerate(path) if error > 1]
    kept = not outside or outside[-1] + 1 < len(path)
    needed = path[outside[-1] + 1 if outside else 0][0] if kept else queries
    return {"setting": setting, "queries": queries, "kept": kept, "ratio": queries / needed}


def over_needed(number: int) -> float:
    """Return plan/needed of one setting."""
    setting, sigma, plan = planned(number)
    ratio = 1.0
    for factor in FACTORS:
        fewer, seed = max(10, round(plan["frugal"].queries / factor)), [HONESTY, number, round(10 * factor)]
        if any(run_once(setting, sigma, fewer, [*seed, run])[-1][1] > 1 for run in range(SEEDS)):
            break
        ratio = factor
    return ratio


def certified(number: int) -> float:
    """Return what a run that stops by itself takes, as a share of the plan for it."""
    (n, k, gap, gamma), sigma, plan = planned(number)
    pair = ms.random_pair(n, k, gap * sigma, seed=[HONESTY, number, 1, 0])
    oracle = ms.SimulatedOracle(pair, sigma, seed=[HONESTY, number, 1, 1])
    r = ms.recover(oracle, n, gamma=gamma * sigma, sigma=sigma, seed=[HONESTY, number, 1, 2])
    return r.queries / plan["certified"].queries


def honesty(plans: int, jobs: int, keep: Path | None) -> tuple[str, bool]:
    """Return the tables, and whether the promises hold."""
    results = list(work_through(carried_out, plans, jobs, keep))
    share = np.array(list(work_through(certified, plans, jobs, keep)))
    ratio = np.array(list(work_through(over_needed, plans, jobs, keep)))
    kept, settings, queries, own = (
        np.array([r[name] for r in results]) for name in ("kept", "setting", "queries", "ratio")
    )
    good = bool(kept.mean() >= 0.9 and (share <= 1).mean() >= 0.9 and np.median(ratio) <= 2)
    lines = [
        f"{plans} plans of {queries.min():,} to {queries.max():,} answers, {int(np.median(queries)):,} in the median: "
        f"**{100 * kept.mean():.1f} %** within γ (promised: 90 %). plan/needed by settings: **{np.median(ratio):g}** "
        f"in the median (promised: at most 2); by runs: {np.median(own):.2f}.\n",
        f"| plan/needed by settings | below {FACTORS[0]:g} | " + " | ".join(f"{f:g}" for f in FACTORS) + " or more |",
        "|---" * (len(FACTORS) + 2) + "|",
        "| plans | " + " | ".join(str(int((ratio == f).sum())) for f in (1.0, *FACTORS)) + " |",
        "",
        "| within γ | lower third | middle third | upper third |",
        "|---|---|---|---|",
    ]
    for column, label in enumerate(("n", "k", "gap/σ", "γ/σ")):
        order = np.array_split(np.argsort(settings[:, column], kind="stable"), 3)
        lines.append(f"| by {label} | " + " | ".join(f"{100 * kept[part].mean():.0f} %" for part in order) + " |")
    low, middle, high = np.quantile(share, [0.05, 0.5, 0.95])
    lines += [
        "",
        f"Row `certified`: **{100 * (share <= 1).mean():.1f} %** of {plans} runs with a γ and no budget stopped within "
        f"it (promised: 90 %), after {middle:.2f} of it in the median, {low:.2f} to {high:.2f} in the middle 90 %.",
    ]
    return "\n".join(lines), good


def work_through(work: Callable[[int], Any], count: int, jobs: int, keep: Path | None) -> Iterator[Any]:
    """Do work(0), work(1), …; what stands in the file `keep` is not done again, and a stop loses nothing of it.

    What a `partial` was given is part of its name in the file.
    """
    called = (
        ", ".join([work.func.__name__, *map(str, work.keywords.values())])
        if isinstance(work, partial)
        else work.__name__
    )
    lines = keep.read_text(encoding="utf-8").splitlines() if keep and keep.exists() else []
    done = {number: result for name, number, result in map(json.loads, lines) if name == called}
    todo = [number for number in range(count) if number not in done]
    start = last = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        for position, (number, result) in enumerate(zip(todo, pool.map(work, todo), strict=True), 1):
            done[number] = result
            if keep:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([called, number, result]) + "\n")
            if time.monotonic() - last > 20 or position == len(todo):
                last = time.monotonic()
                left = (last - start) / position * (len(todo) - position)
                print(f"{called}: {len(done)} of {count}, {left:.0f} s left", file=sys.stderr, flush=True)
    for number in range(count):
        yield done[number]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibrate", action="store_true", help="fit the coefficients and write them into the package")
    parser.add_argument("--honesty", action="store_true", help="carry out random plans")
    parser.add_argument("--runs", type=int, default=800)
    parser.add_argument("--plans", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="keep every result in this file; the same command goes on from there")
    parser.add_argument("--markdown", type=Path, help="put the tables between the markers of this page")
    args = parser.parse_args()
    if args.calibrate == args.honesty:  # one process does not load the coefficients that it has just written
        parser.error("give --calibrate or --honesty")
    if args.calibrate:
        marker, text, good = "calibration", calibrate(args.runs, args.jobs, args.keep), True
    else:
        marker = "honesty"
        text, good = honesty(args.plans, args.jobs, args.keep)
    print(text)
    if args.markdown:
        put_table(args.markdown, marker, text)
    return not good


if __name__ == "__main__":
    sys.exit(main())
