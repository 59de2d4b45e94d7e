"""Queries inside a box: random corners against Gaussians shrunk until three standard deviations fit.

    python benchmarks/box.py [--seeds 20] [--jobs 2] [--markdown docs/studies.md]

n features, k of which matter in each model; an effect is what half of a feature's range does to the answer, N(0, 1) in
each model; σ = 1 unknown. Errors are medians of the worst ℓ2 error of the effects over the seeds. A row is kept if
corners with N answers are at least as good as Gaussians with 4 N.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import mixsense as ms  # noqa: E402
from pages import put_table  # noqa: E402

SETTINGS = [  # n, k, box, intercept, N
    (12, 4, (-1.0, 1.0), False, 300),
    (12, 4, (0.0, 10.0), False, 300),
    (12, 4, (0.0, 10.0), True, 300),
    (12, 12, (0.0, 10.0), True, 600),
    (50, 5, (-1.0, 1.0), False, 500),
    (50, 5, (1.0, 7.0), True, 500),
]


def one_run(task: tuple[Any, ...]) -> float:
    n, k, (low, high), intercept, N, design, seed = task
    rng = np.random.default_rng([seed, 21])
    effects = np.zeros((2, n))
    for row in effects:
        row[rng.choice(n, k, replace=False)] = rng.standard_normal(k)
    half, constants = (high - low) / 2, np.array([3.0, 5.0]) * intercept

    def oracle(X: np.ndarray, repeats: int) -> np.ndarray:
        means = X @ effects.T / half + constants
        model = rng.integers(0, 2, (len(X), repeats))
        return np.take_along_axis(means, model, axis=1) + rng.standard_normal(model.shape)

    r = ms.recover(
        oracle, n, gamma=None, max_queries=N, box=[(low, high)] * n, intercept=intercept, design=design, seed=[seed, 22]
    )
    return ms.match_error(r.vectors * half, effects)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--markdown", type=Path, help="put the table between the markers 'box' of this page")
    args = parser.parse_args()
    lines = [
        "| features | that matter | box | intercept | N | corners, N | Gaussian, N | Gaussian, 4 N | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    broken = 0
    with ProcessPoolExecutor(args.jobs) as pool:
        for n, k, box, intercept, N in SETTINGS:
            error = {}
            for design, count in (("corners", N), ("gaussian", N), ("gaussian", 4 * N)):
                tasks = [(n, k, box, intercept, count, design, seed) for seed in range(args.seeds)]
                error[design, count] = float(np.median(list(pool.map(one_run, tasks))))
            kept = error["corners", N] <= error["gaussian", 4 * N]
            broken += not kept
            cells = [n, k, box, "yes" if intercept else "no", N, *(f"{e:.3f}" for e in error.values())]
            lines.append(f"| {' | '.join(map(str, cells))} | {'kept' if kept else 'BROKEN'} |")
            print(lines[-1], flush=True)
    if args.markdown:
        put_table(args.markdown, "box", "\n".join(lines))
    print(f"{broken} limits broken" if broken else "all limits kept")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
