"""As many models as there are: errors, the number of models, promises, and what two models pay for it.

    python benchmarks/models.py [--section errors number promise two crowd time] [--runs 100] [--seeds 20]
                                [--first 1000] [--jobs 2] [--store docs/models.csv] [--markdown docs/models.md]

Setting unless said: σ = 1, equal shares, Gaussian coefficients, the mean distance of two models is the gap; σ, the
shares and the number of models are unknown to the method. Seeds start at `--first`: those below 1000 chose settings.
Errors are medians of the worst ℓ2 error over the seeds; the exit code is 1 if a row does not keep its limit. With
--store every run is kept in a file as it ends, and the same command goes on where it was; with --stored beside it
nothing is run, and the tables have what the file has.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import mixsense as ms  # noqa: E402
from mixsense.figures.baselines import lasso_and_refit  # noqa: E402
from mixsense.metrics import best_order  # noqa: E402
from mixsense.recovery.statuses import PROMISES  # noqa: E402
from pages import put_table  # noqa: E402
from stored_runs import drop_torn_line, keep, stored  # noqa: E402

UNEQUAL = {1: (1.0,), 2: (0.6, 0.4), 3: (0.6, 0.25, 0.15), 4: (0.4, 0.3, 0.2, 0.1)}
"""Shares that differ, by number of models."""


@dataclass(frozen=True)
class World:
    """Who answers."""

    models: int
    n: int
    k: int
    gap: float
    shares: Sequence[float] | None = None
    box: bool = False
    """Queries stay in [−1, 1]ⁿ, and each model has a level of its own."""
    noise: str = "gaussian"
    sigma: float = 1.0

    def truth(self, seed: int) -> np.ndarray:
        """Draw the models, (L, n), or (L, 1 + n) with the levels first."""
        rng = np.random.default_rng([seed, 1])
        if self.models == 1:  # the gap is the norm
            one = ms.random_pair(self.n, self.k, 1.0, seed=rng)[:1]
            return self._with_level(one * self.gap / np.linalg.norm(one), rng)
        return self._with_level(ms.random_models(self.models, self.n, self.k, self.gap, seed=rng), rng)

    def _with_level(self, beta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        level = rng.standard_normal((len(beta), 1)) * self.gap / 4
        return np.hstack([level, beta]) if self.box else beta

    def __str__(self) -> str:
        shares = "equal" if self.shares is None else "/".join(f"{share:g}" for share in self.shares)
        where = "in a box" if self.box else "no box"
        return (
            f"{self.models} models, n = {self.n}, k = {self.k}, gap {self.gap:g}, {where}, shares {shares}, "
            f"{self.noise} noise of {self.sigma:g}"
        )


@dataclass(frozen=True)
class Task:
    """One run."""

    world: World
    seed: int
    tagged: int = 0
    """With tags, this many answers to Gaussian queries or corners, instead of `recover`."""
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> tuple[str, str, int]:
        """What is run, and the seed."""
        arguments = [f"{name}={value}" for name, value in self.given.items()]
        return str(self.world), f"{self.tagged} tagged answers" if self.tagged else ", ".join(arguments), self.seed


@dataclass(frozen=True)
class Run:
    """What is counted of one run; a line of the store."""

    world: str
    what: str
    """The arguments of `recover`, or how many tagged answers."""
    seed: int
    error: float
    """Infinite where another number of models was found."""
    status: str = ""
    queries: int = 0
    models: int = 0
    inside: int = 0
    """True coefficients, not zero, that lie in their intervals, of how many."""
    true: int = 0
    seconds: float = 0.0
    """Of the processor."""

    @property
    def name(self) -> tuple[str, str, int]:
        """What was run, and the seed: a task's."""
        return self.world, self.what, self.seed


def one_run(task: Task) -> Run:
    """Run the method, or the one that has tags, on one world."""
    world, truth, start = task.world, task.world.truth(task.seed), time.process_time()
    if task.tagged:
        vectors = tagged(world, truth, task.tagged, task.seed)
        return Run(*task.name, ms.match_error(vectors, truth))
    shares, rng = world.shares or np.full(len(truth), 1 / len(truth)), np.random.default_rng([task.seed, 2])

    def oracle(queries: np.ndarray, repeats: int) -> np.ndarray:
        X = np.repeat(np.hstack([np.ones((len(queries), int(world.box))), queries]), repeats, axis=0)
        own = truth[rng.choice(len(truth), len(X), p=shares)]
        noise = rng.standard_normal(len(X)) if world.noise == "gaussian" else rng.standard_t(5, len(X)) * np.sqrt(0.6)
        return (np.einsum("ij,ij->i", X, own) + world.sigma * noise).reshape(len(queries), repeats)

    box = {"box": [(-1, 1)] * world.n, "intercept": True} if world.box else {}
    r = ms.recover(oracle, world.n, seed=[task.seed, 3], **box, **task.given)
    vectors = np.hstack([r.intercept[:, None], r.vectors]) if world.box else r.vectors
    right = len(vectors) == len(truth)
    error, inside, total = ms.match_error(vectors, truth) if right else np.inf, 0, 0
    seconds = round(time.process_time() - start, 2)
    if right and r.interval is not None:
        true = truth[:, -world.n :]
        low, high = np.moveaxis(r.interval[list(best_order(r.vectors, true))], 2, 0)
        there = true != 0
        inside, total = int(((low <= true) & (true <= high))[there].sum()), int(there.sum())
    return Run(*task.name, error, r.status, r.queries, len(vectors), inside, total, seconds)


def tagged(world: World, truth: np.ndarray, N: int, seed: int) -> np.ndarray:
    """Recover each model from its own answers: lasso and refit, or least squares on corners of the box."""
    rng = np.random.default_rng([seed, 4])
    X = rng.choice([-1.0, 1.0], (N, world.n)) if world.box else rng.standard_normal((N, world.n))
    X = np.hstack([np.ones((N, int(world.box))), X])
    own = rng.choice(len(truth), N, p=world.shares)
    y = np.einsum("ij,ij->i", X, truth[own]) + world.sigma * rng.standard_normal(N)
    if world.box:
        return np.stack([np.linalg.lstsq(X[own == a], y[own == a], rcond=None)[0] for a in range(len(truth))])
    return np.stack([lasso_and_refit(X[own == a], y[own == a], world.sigma) for a in range(len(truth))])


class Bench:
    """Runs tasks, prints rows, and remembers which limits were broken."""

    def __init__(self, jobs: int, first: int, store: Path | None = None, stored_only: bool = False) -> None:
        self.pool, self.first, self.store, self.stored_only = ProcessPoolExecutor(jobs), first, store, stored_only
        self.lines: list[str] = []
        self.broken: list[str] = []
        if store and not stored_only:
            drop_torn_line(store)
        self.kept = {run.name: run for run in (stored(store, Run) if store else [])}

    def runs(self, world: World, runs: int, tagged: int = 0, **given: Any) -> list[Run]:
        """Run one world, once for each seed; of those that are stored alone, none may be there."""
        tasks = [Task(world, seed, tagged, given) for seed in self.seeds(runs)]
        if self.stored_only:
            return [self.kept[task.name] for task in tasks if task.name in self.kept]
        left = [self.pool.submit(one_run, task) for task in tasks if task.name not in self.kept]
        for done in as_completed(left):
            run = done.result()
            self.kept[run.name] = run
            if self.store:
                keep(self.store, run)
        return [self.kept[task.name] for task in tasks]

    def seeds(self, runs: int) -> range:
        """Return the seeds of this many runs."""
        return range(self.first, self.first + runs)

    def title(self, text: str, *columns: str) -> None:
        """Start a table."""
        self.print(f"\n### {text}\n\n| {' | '.join(columns)} | |\n|{'---|' * (len(columns) + 1)}")

    def row(self, *cells: Any, ok: bool) -> None:
        """Print a row and whether it keeps its limit."""
        line = f"| {' | '.join(map(str, cells))} | {'kept' if ok else 'BROKEN'} |"
        self.print(line)
        if not ok:
            self.broken.append(line)

    def print(self, text: str) -> None:
        """Print, and remember for the page."""
        print(text, flush=True)
        self.lines.append(text)


def median(results: list[Run], key: str = "error") -> float:
    return float(np.median([getattr(r, key) for r in results]))


def errors(bench: Bench, seeds: int, runs: int) -> None:
    bench.title(
        "Error against tagged answers",
        *("models", "shares", "n", "k", "gap", "N", "tagged", "frugal", "ratio", "limit", "worst / tagged", "limit"),
    )
    rows: list[tuple[World, int, dict[str, Any], float, float]] = [
        (World(3, 100, 5, 5.0), 1500, {"sigma": 1.0}, 0.50, 1.5),
        (World(3, 100, 5, 5.0), 3000, {"sigma": 1.0}, 0.50, 1.5),
        (World(3, 100, 5, 2.0), 3000, {"sigma": 1.0}, 0.60, 1.5),
        (World(4, 100, 5, 10.0), 3000, {"sigma": 1.0}, 0.50, 1.5),
        (World(5, 50, 4, 10.0), 3000, {"sigma": 1.0}, 0.60, 1.5),
        (World(3, 100, 5, 5.0, (0.5, 0.3, 0.2)), 3000, {}, 0.70, 2.0),
        (World(3, 12, 12, 5.0, box=True), 1500, {}, 1.1, 2.0),
    ]
    for world, N, given, limit, most in rows:
        ours, others = bench.runs(world, seeds, gamma=None, max_queries=N, **given), bench.runs(world, seeds, tagged=N)
        if not ours or not others:
            continue
        target = median(others)
        ratio, worst = median(ours) / target, max(r.error for r in ours) / target
        where = f"{world.n}{', in a box' if world.box else ''}"
        cells = [world.models, world.shares or "equal", where, world.k, f"{world.gap:g}", f"{N:,}"]
        bench.row(
            *(*cells, f"{target:.3f}", f"{median(ours):.3f}", f"{ratio:.2f}", f"{limit:.2f}", f"{worst:.2f}", most),
            ok=ratio <= limit and worst <= most,
        )


def number(bench: Bench, seeds: int, runs: int) -> None:
    bench.title(
        "The number of models, γ = 0.3, no budget",
        *("models", "where", "shares", "noise", "runs", "right", "too many", "found", "status", "answers"),
    )
    for noise in ("gaussian", "t5"):
        for box in (False, True):
            for models in (1, 2, 3, 4):
                for shares in (None, UNEQUAL[models]) if models > 1 else (None,):
                    n, k = (12, 12) if box else (50, 4)
                    found = bench.runs(World(models, n, k, 5.0, shares, box, noise), runs, gamma=0.3)
                    if not found:
                        continue
                    right = sum(r.models == models for r in found) / len(found)
                    many = sum(r.models > models for r in found) / len(found)
                    ok = many <= 0.05 if noise == "t5" else right >= 0.95 and many <= 0.02
                    counts, ends = (Counter(getattr(r, key) for r in found) for key in ("models", "status"))
                    bench.row(
                        *(models, "box of 12" if box else "n = 50", shares or "equal", noise, len(found)),
                        *(f"{right:.2f}", f"{many:.2f}", _counted(counts), _counted(ends)),
                        f"{median(found, 'queries'):,.0f}",
                        ok=ok,
                    )


def _counted(counts: Counter[Any]) -> str:
    return ", ".join(f"{key}: {count}" for key, count in sorted(counts.items()))


def promise(bench: Bench, seeds: int, runs: int) -> None:
    from scipy.stats import binom

    gamma, eta = 0.2, 0.05
    bench.title(
        f"Promise: γ = {gamma}, η = {eta}, σ and shares unknown",
        *("models", "shares", "n", "k", "gap", "runs", "status", "exceed γ", "allowed", "answers"),
        "95 % intervals cover",
    )
    for world in (
        World(3, 100, 5, 5.0),
        World(3, 100, 5, 2.0),
        World(3, 50, 4, 5.0, UNEQUAL[3]),
        World(4, 50, 4, 10.0),
        World(4, 100, 5, 5.0),
        World(3, 12, 12, 5.0, box=True),
    ):
        found = bench.runs(world, runs, gamma=gamma)
        if not found:
            continue
        certified = [r for r in found if r.status == "certified"]
        exceed, allowed = sum(r.error > gamma for r in certified), int(binom.ppf(0.99, max(len(certified), 1), eta))
        inside, total = sum(r.inside for r in found), sum(r.true for r in found)
        cover = inside / max(total, 1)
        bench.row(
            *(world.models, world.shares or "equal", world.n, world.k, f"{world.gap:g}", len(found)),
            *(_counted(Counter(r.status for r in found)), exceed, allowed),
            *(f"{median(found, 'queries'):,.0f}", f"{cover:.3f}"),
            ok=exceed <= allowed and 0.92 <= cover <= 0.98,
        )


def two(bench: Bench, seeds: int, runs: int) -> None:
    told = {"models": 2, "weights": "equal"}
    bench.title(
        "Two models, number and shares unknown against known: answers to γ = 0.2, σ unknown",
        *("n", "k", "gap", "runs", "known", "unknown", "ratio", "limit", "exceed γ"),
    )
    for n, k, gap in ((100, 5, 20.0), (100, 5, 5.0), (100, 5, 2.0), (100, 5, 1.0), (20, 3, 5.0), (300, 8, 5.0)):
        known = bench.runs(World(2, n, k, gap), runs, gamma=0.2, **told)
        free = bench.runs(World(2, n, k, gap), runs, gamma=0.2)
        if not known or not free:
            continue
        ratio = median(free, "queries") / median(known, "queries")
        exceed = sum(r.status == "certified" and r.error > 0.2 for r in free)
        cells = [f"{median(each, 'queries'):,.0f}" for each in (known, free)]
        bench.row(n, k, f"{gap:g}", len(free), *cells, f"{ratio:.2f}", "1.10", exceed, ok=ratio <= 1.10)
    bench.title(
        "Two models, number and shares unknown against known: error at a budget, σ known",
        *("gap", "N", "runs", "known", "unknown", "ratio", "limit"),
    )
    for gap, N in ((20.0, 600), (5.0, 1000), (2.0, 1000), (2.0, 2000), (1.0, 2000), (1.0, 5000)):
        known = bench.runs(World(2, 100, 5, gap), runs, gamma=None, max_queries=N, sigma=1.0, **told)
        free = bench.runs(World(2, 100, 5, gap), runs, gamma=None, max_queries=N, sigma=1.0)
        if not known or not free:
            continue
        ratio = median(free) / median(known)
        bench.row(
            f"{gap:g}",
            f"{N:,}",
            len(free),
            f"{median(known):.3f}",
            f"{median(free):.3f}",
            f"{ratio:.2f}",
            "1.05",
            ok=ratio <= 1.05,
        )


def crowd(bench: Bench, seeds: int, runs: int) -> None:
    bench.title(
        "A crowd: 8 features in a box, ratings of about 0 to 100, γ = 5 points, 40 runs a row",
        *("shares", "status", "models found", "certified and wrong", "answers"),
    )
    for shares in ((0.8, 0.2), (0.9, 0.1)):
        found = bench.runs(World(2, 8, 4, 40.0, shares, box=True, sigma=8.0), 40, gamma=5.0)
        if not found:
            continue
        wrong = sum(r.status in PROMISES and r.error > 5 for r in found)
        ends, numbers = (_counted(Counter(getattr(r, key) for r in found)) for key in ("status", "models"))
        bench.row(shares, ends, numbers, wrong, f"{median(found, 'queries'):,.0f}", ok=wrong == 0)


def seconds(bench: Bench, seeds: int, runs: int) -> None:
    bench.title(
        "Time, CPU seconds of a run with n = 100, k = 5, gap 5, N = 2,000", "two models", "three", "ratio", "limit"
    )
    found = [bench.runs(World(L, 100, 5, 5.0), seeds, gamma=None, max_queries=2000) for L in (2, 3)]
    if not all(found):
        return
    each = [median(runs, "seconds") for runs in found]
    bench.row(*(f"{t:.2f}" for t in each), f"{each[1] / each[0]:.2f}", "2.50", ok=each[1] <= 2.5 * each[0])


SECTIONS: dict[str, Callable[[Bench, int, int], None]] = {
    "errors": errors,
    "number": number,
    "promise": promise,
    "two": two,
    "crowd": crowd,
    "time": seconds,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, help="keep the runs in this file, and do not repeat those that it has")
    parser.add_argument("--stored", action="store_true", help="run nothing: show what the file of --store has")
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    if given.stored and not given.store:
        parser.error("--stored shows what a file has: give --store FILE")
    bench = Bench(given.jobs, given.first, given.store, given.stored)
    for section in given.section:
        begun = len(bench.lines)
        SECTIONS[section](bench, given.seeds, given.runs)
        if given.markdown:
            put_table(given.markdown, section, "\n".join(bench.lines[begun:]).strip())
    print(f"{len(bench.broken)} rows broken", flush=True)
    return 1 if bench.broken else 0


if __name__ == "__main__":
    sys.exit(main())
