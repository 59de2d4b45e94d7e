"""Does `practical` keep its promise? Measures it in many regimes and prints the table of docs/constants.md.

    python benchmarks/calibrate.py [--runs 100] [--jobs 2] [--markdown docs/constants.md]

A run asks a simulated oracle with practical constants and compares with the truth:

- *means*: every base query's two estimated means are within γ of the true ones (case 2: their midpoint is);
- *vectors*: the worst ℓ2 error is within the documented bound, γ + 2 ‖β − β_(k)‖₁/√k in case 1, and
  γ + ‖β¹ − β²‖/2 + 2 ‖β − β_(k)‖₁/√k in case 2;
- *reported*: it is also within the run's own `error_bound` (plus the same term for the tail).

Each must hold with frequency ≥ 1 − η at η = 0.05; the exit code is 1 if one does not.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import mixsense as ms
from mixsense.problem import DEFAULTS
from pages import put_table

ETA = DEFAULTS["eta"]
TAIL_FACTOR = 2.0


@dataclass(frozen=True)
class Regime:
    """One setting; `tail` is the ℓ1 norm of what is beyond the k largest coefficients."""

    case: int
    n: int
    k: int
    sigma: float
    gap: float
    gamma: float
    tail: float = 0.0


REGIMES = [
    Regime(1, 60, 3, 1.0, 20.0, 0.3),
    Regime(1, 100, 5, 1.0, 20.0, 1.5),
    Regime(1, 60, 3, 1.0, 10.0, 0.25),
    Regime(1, 100, 5, 1.0, 10.0, 0.9),
    Regime(1, 60, 3, 1.0, 5.0, 0.25),
    Regime(1, 200, 10, 1.0, 5.0, 0.4),
    Regime(1, 60, 3, 1.0, 5.0, 1.5),
    Regime(1, 40, 2, 1.0, 2.0, 0.19),
    Regime(1, 20, 2, 1.0, 1.0, 0.3),
    Regime(1, 60, 3, 0.1, 20.0, 1.0),
    Regime(1, 60, 3, 1.0, 5.0, 0.3, tail=0.3),
    Regime(2, 60, 3, 1.0, 0.5, 0.5),
    Regime(2, 100, 5, 1.0, 0.5, 1.0),
    Regime(2, 100, 5, 1.0, 1.0, 2.0),
    Regime(2, 200, 10, 0.5, 2.0, 3.0),
    Regime(2, 60, 3, 1.0, 0.5, 0.6, tail=0.3),
]


def pair_of(regime: Regime, seed: int) -> np.ndarray:
    pair = ms.random_pair(regime.n, regime.k, regime.gap, seed=seed)
    if regime.tail:
        rng = np.random.default_rng([seed, 7])
        small = rng.standard_normal(pair.shape)
        pair = pair + regime.tail * small / np.abs(small).sum(axis=1, keepdims=True)
    return pair


def tail_term(regime: Regime, pair: np.ndarray) -> float:
    """Return c ‖β − β_(k)‖₁/√k of the worse vector."""
    beyond = np.sort(np.abs(pair), axis=1)[:, : -regime.k].sum(axis=1).max()
    return TAIL_FACTOR * float(beyond) / regime.k**0.5


def one_run(regime: Regime, seed: int) -> tuple[bool, bool, bool, int, float, str]:
    pair = pair_of(regime, seed)
    oracle = ms.SimulatedOracle(pair, regime.sigma, seed=[seed, 1])
    asked: list[np.ndarray] = []

    def watched(queries: np.ndarray, repeats: int) -> np.ndarray:
        asked.append(queries)
        return oracle(queries, repeats)

    r = ms.recover(
        watched,
        regime.n,
        gamma=regime.gamma,
        k=regime.k,
        sigma=regime.sigma,
        eta=ETA,
        method="paper" if regime.case == 1 else "single",
        seed=[seed, 2],
    )
    X = np.concatenate(asked)[: r.diagnostics["m"]]
    truth = np.sort(X @ pair.T, axis=1)
    if "aligned_means" in r.diagnostics:
        off = np.abs(np.sort(np.array(r.diagnostics["aligned_means"]).T, axis=1) - truth).max()
        limit = r.diagnostics["gamma_used"]
    else:
        off = np.abs(np.array(r.diagnostics["midpoints"]) - truth.mean(axis=1)).max()
        limit = regime.gamma
    error, tail = ms.match_error(r.vectors, pair), tail_term(regime, pair)
    # The true distance, not regime.gap: a tail moves it a little.
    apart = 0.0 if regime.case == 1 else float(np.linalg.norm(pair[0] - pair[1])) / 2
    documented = regime.gamma + apart + tail
    return bool(off <= limit), error <= documented, error <= r.error_bound + tail, r.queries, error, r.status


def measure(regime: Regime, runs: int, jobs: int) -> tuple[dict[str, float], str]:
    with ProcessPoolExecutor(jobs) as pool:
        results = list(pool.map(one_run, [regime] * runs, range(runs)))
    means, vectors, reported, queries, errors, statuses = zip(*results, strict=True)
    shares = {"means": np.mean(means), "vectors": np.mean(vectors), "reported": np.mean(reported)}
    found = ", ".join(f"{s} {statuses.count(s)}" for s in sorted(set(statuses)))
    row = (
        f"| {regime.case} | {regime.n} | {regime.k} | {regime.sigma:g} | {regime.gap / regime.sigma:g} | "
        f"{regime.gamma / regime.sigma:g} | {regime.tail:g} | {shares['means']:.2f} | {shares['vectors']:.2f} | "
        f"{shares['reported']:.2f} | {np.median(errors) / regime.gamma:.2f} | {int(np.median(queries)):,} | {found} |"
    )
    return {name: float(share) for name, share in shares.items()}, row


HEADER = (
    "| case | n | k | σ | gap/σ | γ/σ | tail ℓ1 | means within γ | vectors within bound | within own error_bound | "
    "median error/γ | median answers | status |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int, help="one regime by its number, from 0")
    parser.add_argument("--markdown", type=Path, help="put the table between the markers of this page")
    args = parser.parse_args()
    print(HEADER, flush=True)
    rows, broken = [], []
    start = time.monotonic()
    for number, regime in enumerate(REGIMES):
        if args.only is not None and number != args.only:
            continue
        shares, row = measure(regime, args.runs, args.jobs)
        rows.append(row)
        print(row, flush=True)
        broken += [f"{name} of regime {number}" for name, share in shares.items() if share < 1 - ETA]
    print(f"{len(rows)} regimes of {args.runs} runs in {time.monotonic() - start:.0f} s", file=sys.stderr)
    if args.markdown:
        put_table(args.markdown, "calibration", "\n".join([f"{args.runs} runs in each regime.\n", HEADER, *rows]))
    if broken:
        print("promise broken: " + ", ".join(broken), file=sys.stderr)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
