"""How near answers that do not name their model come to those that do, inside a box: the limits of its queries.

    python benchmarks/best_corners.py [--worlds 20] [--first 1000]

Three models with levels in a box of 12 features, 5 apart, σ = 1, as in benchmarks/models.py. All is known but the
coefficients: the errors that the information of untagged answers allows, over those of tagged answers to corners, for
corners drawn evenly and for the best weights of all 4,096 (an A-optimal design for the true models).
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import product
from types import SimpleNamespace

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

from mixsense.methods.frugal.best_design import untagged_information  # noqa: E402
from models import World  # noqa: E402

STEPS = 200
"""Steps of the multiplicative algorithm; 400 change the ratio by less than 0.001."""


def ratios(truth: np.ndarray) -> tuple[float, float]:
    """Return the root mean square errors of an answer to even and to the best corners, over that of a tagged one."""
    L, c = truth.shape
    rows = np.array([(1.0, *corner) for corner in product((-1.0, 1.0), repeat=c - 1)])
    fit = SimpleNamespace(L=L, beta=truth, noises=np.ones(L), noise=1.0, weights=np.full(L, 1 / L), scale=None)
    told = untagged_information(rows, fit)
    even = p = np.full(len(rows), 1 / len(rows))
    for _ in range(STEPS):
        squared = np.linalg.matrix_power(np.linalg.inv(information(p, rows, told)), 2).reshape(L, c, L, c)
        worth = np.zeros(len(rows))
        for a, b in product(range(L), repeat=2):
            worth += told[:, a, b] * ((rows @ squared[a, :, b]) * rows).sum(axis=1)
        p = p * worth / (p @ worth)
    tagged = L * L * c  # the trace for N = 1: each of the L models has 1/L of the answers
    even_, best = (np.trace(np.linalg.inv(information(each, rows, told))) for each in (even, p))
    return float(np.sqrt(even_ / tagged)), float(np.sqrt(best / tagged))


def information(p: np.ndarray, rows: np.ndarray, told: np.ndarray) -> np.ndarray:
    """Return the mean information of an answer, (L c, L c)."""
    L, c = told.shape[1], rows.shape[1]
    J = np.empty((L, c, L, c))
    for a, b in product(range(L), repeat=2):
        J[a, :, b] = (rows * (p * told[:, a, b])[:, None]).T @ rows
    return J.reshape(L * c, L * c)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000)
    given = parser.parse_args()
    world = World(3, 12, 12, 5.0, box=True)
    found = np.array([ratios(world.truth(seed)) for seed in range(given.first, given.first + given.worlds)])
    for name, column in zip(("even corners", "the best corners"), found.T, strict=True):
        print(f"{name}: {np.median(column):.2f} ({column.min():.2f} to {column.max():.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
