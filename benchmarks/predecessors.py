"""What the paper's two predecessors reach, rebuilt: the tables of docs/predecessors.md.

OMP_NUM_THREADS=1 python benchmarks/predecessors.py [--section coloring em ...] [--markdown docs/predecessors.md]

The settings were chosen on seeds below 100. Exit code 1 if a row misses its limit. Figure 8 (mixsense figures --only 8)
has the comparison with the paper's methods and the frugal one.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import mixsense as ms
from mixsense.figures.predecessors import grid_models
from pages import put_table

EXACT = 1e-8
"""Relative error of what counts as exact, without noise: decoding rounds."""


def gaussian_models(models: int, n: int, total: int, seed: int) -> np.ndarray:
    """Draw vectors with total/L Gaussian coefficients each."""
    return ms.random_models(models, n, total // models, 3.0, seed=[seed, 1])


def one_run(
    seed: int,
    make: Callable[..., np.ndarray],
    sizes: tuple[int, ...],
    sigma: float = 0.0,
    exact: bool = False,
    **given: Any,
) -> dict[str, Any]:
    """Recover one draw, and say whether it is right, whether it is certified, what it took."""
    truth = make(*sizes, seed)
    oracle = ms.SimulatedOracle(truth, sigma, seed=[seed, 2], exact=exact)
    start = time.process_time()
    r = ms.recover(oracle, truth.shape[1], sigma=sigma, models=len(truth), seed=[seed, 3], **given)
    seconds = time.process_time() - start
    right = r.vectors.shape == truth.shape and ms.match_error(r.vectors, truth) <= EXACT * np.abs(truth).max()
    return {"right": right, "certified": r.status == "certified", "queries": r.queries, "seconds": seconds}


class Bench:
    """Runs, prints rows, and remembers which limits were missed."""

    def __init__(self, jobs: int, first: int, seeds: int) -> None:
        self.pool, self.first, self.seeds = ProcessPoolExecutor(jobs), first, seeds
        self.lines: list[str] = []
        self.broken = 0

    def runs(self, seeds: int | None = None, **task: Any) -> list[dict[str, Any]]:
        """Run one setting, once for each seed."""
        numbers = range(self.first, self.first + (seeds or self.seeds))
        return list(self.pool.map(partial(one_run, **task), numbers))

    def title(self, text: str, *columns: str) -> None:
        """Start a table."""
        self.print(f"\n### {text}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")

    def row(self, *cells: Any, ok: bool = True) -> None:
        """Print a row, and whether it misses its limit."""
        self.print(f"| {' | '.join(map(str, cells))} |")
        if not ok:
            self.broken += 1
            print("  ^ misses its limit", flush=True)

    def print(self, text: str) -> None:
        """Print, and remember for the page."""
        print(text, flush=True)
        self.lines.append(text)


def counted(found: list[dict[str, Any]]) -> list[str]:
    """Cells that every table has: exact, certified, certified and wrong, answers, time."""
    N = len(found)
    right, certified = (sum(r[name] for r in found) for name in ("right", "certified"))
    wrong = sum(r["certified"] and not r["right"] for r in found)
    answers = np.mean([r["queries"] for r in found])
    seconds = np.median([r["seconds"] for r in found])
    return [f"{right} of {N}", f"{certified}", f"{wrong}", f"{answers:,.0f}", f"{seconds:.2g}"]


COLUMNS = ("exact", "certified", "certified and wrong", "answers, mean", "CPU seconds, median")


def kept(found: list[dict[str, Any]], least: float) -> bool:
    """Whether enough runs are right, and none is certified that is not."""
    share = sum(r["right"] for r in found) / len(found)
    return share >= least and not any(r["certified"] and not r["right"] for r in found)


def coloring(bench: Bench) -> None:
    bench.title("Mixed-Coloring without noise", "L", "n", "K", "bins", *COLUMNS, "answers / K", "wanted")
    rows = [(2, 500, 50, 186, 0.95), (2, 1000, 100, 371, 0.98), (3, 600, 60, 151, 0.90), (4, 1000, 120, 202, 0.94)]
    for models, n, total, bins, least in rows:
        task = {"make": gaussian_models, "sizes": (models, n, total), "method": "coloring", "k": total // models}
        for rateless, wanted in ((False, least), (True, 1.0)):
            found = bench.runs(**task, bins=None if rateless else bins, rateless=rateless)
            each = np.mean([r["queries"] for r in found]) / total
            cells = [models, n, total, "rateless" if rateless else bins, *counted(found), f"{each:.1f}"]
            bench.row(*cells, f"{wanted:.0%}", ok=kept(found, wanted))


def robust(bench: Bench) -> None:
    bench.title("Mixed-Coloring with noise, two models on a grid", "n", "K", "noise / step", *COLUMNS, "wanted")
    for n, total, noise in ((200, 20, 0.3), (200, 20, 0.5)):
        task = {"make": grid_models, "sizes": (2, n, total // 2), "method": "coloring", "k": total // 2, "step": 1.0}
        found = bench.runs(**task, sigma=noise)
        bench.row(n, total, noise, *counted(found), "95%", ok=kept(found, 0.95))


def lattice(bench: Bench) -> None:
    bench.title("Lattice", "L", "n", "k", "noise / step", *COLUMNS, "wanted")
    for models, n, k, noise in (
        (2, 100, 5, 0.5),
        (2, 100, 5, 1.0),
        (2, 100, 5, 2.0),
        (3, 100, 5, 0.5),
        (3, 100, 5, 1.0),
    ):
        task = {"make": grid_models, "sizes": (models, n, k), "method": "lattice", "k": k, "step": 1.0}
        found = bench.runs(**task, sigma=noise)
        bench.row(models, n, k, noise, *counted(found), "95%", ok=kept(found, 0.95))


def gaussian_sparse(models: int, n: int, k: int, seed: int) -> np.ndarray:
    """Draw vectors with k Gaussian coefficients each."""
    return ms.random_models(models, n, k, 3.0, seed=[seed, 1])


def polynomial(bench: Bench) -> None:
    bench.title("Polynomial with exact fractions", "L", "n", "k", "asks", *COLUMNS, "wanted")
    for models, n, k in ((2, 30, 3), (2, 100, 5), (2, 60, 8), (3, 30, 3), (3, 100, 5)):
        task = {"make": gaussian_sparse, "sizes": (models, n, k), "method": "polynomial", "k": k, "exact": True}
        for printed in (True, False):
            found = bench.runs(**task, printed=printed)
            wanted = max(0.0, 1 - 3 / k) if printed else 1.0 if k >= 5 else 0.0
            asks = "as printed" if printed else "until L values are seen"
            bench.row(models, n, k, asks, *counted(found), f"{wanted:.0%}", ok=kept(found, wanted))


def steps(bench: Bench) -> None:
    bench.title("Small steps against pivots, without noise, floats", "L", "n", "k", "method", *COLUMNS)
    for models, n, k in ((2, 100, 5), (3, 100, 5), (2, 1000, 10)):
        means = []
        for name, given in (
            ("steps", {"method": "polynomial", "design": "steps"}),
            ("noiseless", {"method": "noiseless"}),
        ):
            found = bench.runs(make=gaussian_sparse, sizes=(models, n, k), k=k, **given)
            means.append(np.mean([r["queries"] for r in found]))
            bench.row(models, n, k, name, *counted(found), ok=kept(found, 0.98))
        print(f"  steps / pivots: {means[0] / means[1]:.2f}")


# -- Expectation maximisation on dense queries, which Yin et al. compare with ------------------------------


def alternating(X: np.ndarray, y: np.ndarray, rounds: int = 100) -> np.ndarray:
    """Hard-assignment EM for two regressions without noise: spectral start, then least squares until nobody moves."""
    N, n = X.shape
    moment = (X.T * y**2) @ X / N
    _, axes = np.linalg.eigh(moment)
    plane = axes[:, -2:]  # holds both vectors if N is large
    angles = np.linspace(0, np.pi, 60, endpoint=False)
    size = math.sqrt(float(np.mean(y**2)))
    steps_ = np.stack([np.cos(angles), np.sin(angles)])
    ends = np.concatenate([steps_, -steps_], axis=1) * size  # (2, 120)
    misses = (y[:, None] - X @ plane @ ends) ** 2  # (N, 120)
    # The best pair of directions: the smallest sum of the smaller miss.
    pairs = [(float(np.minimum(misses[:, [i]], misses).sum(axis=0).min()), i) for i in range(misses.shape[1])]
    i = min(pairs)[1]
    j = int(np.minimum(misses[:, [i]], misses).sum(axis=0).argmin())
    beta, owner = (plane @ ends[:, [i, j]]).T, None
    for _ in range(rounds):
        now = ((y[:, None] - X @ beta.T) ** 2).argmin(axis=1)
        if owner is not None and np.array_equal(now, owner):
            break
        owner = now
        for a in (0, 1):
            A, b = X[owner == a], y[owner == a]
            beta[a] = np.linalg.solve(A.T @ A + 1e-9 * np.eye(n), A.T @ b)
    return beta


def em_run(seed: int, n: int, total: int, samples: int) -> dict[str, Any]:
    truth, rng = gaussian_models(2, n, total, seed), np.random.default_rng([seed, 4])
    X = rng.standard_normal((samples, n))
    y = np.einsum("ij,ij->i", X, truth[rng.integers(0, 2, samples)])
    start = time.process_time()
    beta = alternating(X, y)
    seconds = time.process_time() - start
    return {"right": ms.match_error(beta, truth) < 1e-6, "queries": samples, "seconds": seconds}


def em(bench: Bench) -> None:
    n, total, seeds = 500, 50, min(bench.seeds, 5)
    bench.title(
        "Mixed-Coloring against EM, n = 500, K = 50, without noise", "method", "answers", "exact", "CPU seconds"
    )
    for factor in (4, 6, 8, 10):
        task = partial(em_run, n=n, total=total, samples=factor * n)
        found = list(bench.pool.map(task, range(bench.first, bench.first + seeds)))
        right, seconds = sum(r["right"] for r in found), np.median([r["seconds"] for r in found])
        bench.row("EM, dense queries", f"{factor * n:,} ({factor} n)", f"{right} of {seeds}", f"{seconds:.2g}")
    found = bench.runs(make=gaussian_models, sizes=(2, n, total), method="coloring", k=total // 2)
    needed = np.quantile([r["queries"] if r["right"] else np.inf for r in found], 0.9)
    cells = counted(found)
    bench.row("Mixed-Coloring, rateless", f"{needed:,.0f} (9 of 10 runs)", cells[0], cells[-1])


MILLION = """
import resource, time
import numpy as np, mixsense as ms
n, K, rng = 10**6, 100, np.random.default_rng({seed})
truth = np.zeros((2, n))
for row in truth:
    row[rng.choice(n, K // 2, replace=False)] = rng.standard_normal(K // 2)
oracle, start = ms.SimulatedOracle(truth, 0.0, seed={seed}), time.process_time()
r = ms.recover(oracle, n, sigma=0.0, method="coloring", seed={seed}, models=2, k=K // 2)
seconds, most = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(int(ms.match_error(r.vectors, truth) < 1e-8), r.queries, seconds, most)
"""


def million(bench: Bench) -> None:
    bench.title("n = 10⁶, K = 100, L = 2", "exact", "answers", "CPU seconds, most", "MiB, most", "wanted")
    rows = []
    for seed in range(bench.first, bench.first + 5):
        command = [sys.executable, "-c", MILLION.format(seed=seed)]
        rows.append(
            [float(v) for v in subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()]
        )
    right, answers, seconds, most = zip(*rows, strict=True)
    bench.row(
        f"{sum(right):.0f} of {len(rows)}",
        f"{min(answers):,.0f} to {max(answers):,.0f}",
        f"{max(seconds):.1f}",
        f"{max(most):,.0f}",
        "5 s, 1,024 MiB",
        ok=all(right) and max(seconds) < 5 and max(most) < 1024,
    )


SECTIONS: dict[str, Callable[[Bench], None]] = {
    "coloring": coloring,
    "em": em,
    "robust": robust,
    "lattice": lattice,
    "polynomial": polynomial,
    "steps": steps,
    "million": million,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    bench = Bench(given.jobs, given.first, given.seeds)
    for section in given.section:
        begun = len(bench.lines)
        SECTIONS[section](bench)
        if given.markdown:
            put_table(given.markdown, section, "\n".join(bench.lines[begun:]).strip())
    bench.pool.shutdown()
    print(f"{bench.broken} rows miss their limit", flush=True)
    return 1 if bench.broken else 0


if __name__ == "__main__":
    sys.exit(main())
