"""The frugal method against its targets: tagged answers, the passive peer, the paper, and its own promises.

    python benchmarks/frugal.py [--section grid large paper antipodal special unknown promise single speed exact
                                focused faint] [--seeds 20] [--runs 200] [--jobs 2] [--markdown docs/frugal.md]

Setting unless said: n = 100, k = 5, σ = 1 known, equal shares, Gaussian coefficients, ‖β¹ − β²‖ = gap. Errors are
medians of the worst ℓ2 error over the seeds; "limit" is what each row must keep; the exit code is 1 if a row does not.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import mixsense as ms  # noqa: E402
from pages import put_table  # noqa: E402

GAPS = {20.0: 1.10, 5.0: 1.10, 2.0: 1.10, 1.0: 1.15, 0.5: 1.25}  # most that frugal's error may be of the tagged one's
COUNTS = (600, 1000, 2000, 5000)
EQUAL = (0.5, 0.5)


def pair_of(kind: str, n: int, k: int, gap: float, seed: int) -> np.ndarray:
    """Two vectors `gap` apart, of several kinds."""
    if kind == "gaussian":
        return ms.random_pair(n, k, gap, seed=seed)
    if kind == "half overlap":
        return ms.random_pair(n, k, gap, seed=seed, overlap=k // 2)
    rng = np.random.default_rng([seed, 11])
    pair = np.zeros((2, n))
    if kind == "power law":  # approximately sparse: no coefficient is zero
        for row in pair:
            row[rng.permutation(n)] = rng.choice([-1.0, 1.0], n) * np.arange(1, n + 1) ** -1.5
    else:
        support = rng.choice(n, k, replace=False)
        pair[:, support] = rng.standard_normal(k)
        if kind == "antipodal":
            pair[1] = -pair[0]
        else:  # equal values on shared support, but for two coefficients
            pair[1, support[:2]] = rng.standard_normal(2)
    return pair * (gap / np.linalg.norm(pair[0] - pair[1]))


Task = tuple[str, str, int, int, float, int, int, dict[str, Any]]  # method, kind, n, k, gap, N, seed, options


def one_run(task: Task) -> dict[str, Any]:
    """Run a method on one problem; returns its error, status, time and more."""
    method, kind, n, k, gap, N, seed, options = task
    pair = pair_of(kind, n, k, gap, seed) if gap else np.repeat(ms.random_pair(n, k, 1.0, seed=seed)[:1], 2, axis=0)
    shares = options.get("shares", EQUAL)
    start = time.process_time()
    extra: dict[str, Any] = {}
    if method == "tagged":
        from mixsense.figures.baselines import tagged_practical

        vectors = tagged_practical(pair, N, 1.0, shares, [seed, 3])
    elif method == "passive":
        from mixsense.figures.baselines import passive

        vectors = passive(pair, N, 1.0, [seed, 4])
    else:
        oracle = ms.SimulatedOracle(pair, 1.0, weights=shares, seed=[seed, 1])
        given = {"sigma": 1.0, "gamma": None, "max_queries": N or None, "method": method}
        r = ms.recover(oracle, n, seed=[seed, 2], **(given | options.get("recover", {})))
        vectors = r.vectors
        extra = {"status": r.status, "queries": r.queries, "bound": r.error_bound, "shares": r.weights.tolist()}
        extra["shares_stderr"] = r.diagnostics.get("weights_stderr")
        if r.stderr is not None and gap:
            extra["covered"] = coverage(r, pair)
    seconds = time.process_time() - start
    return {"error": ms.match_error(vectors, pair), "seconds": seconds, "each": errors_in_order(vectors, pair), **extra}


def errors_in_order(vectors: np.ndarray, pair: np.ndarray) -> list[float]:
    from mixsense.metrics import best_order

    return np.linalg.norm(vectors[list(best_order(vectors, pair))] - pair, axis=1).tolist()


def coverage(r: ms.Recovery, pair: np.ndarray) -> tuple[int, int]:
    """How many 95 % intervals of non-zero coefficients that were found hold the truth, and how many there are."""
    from mixsense.metrics import best_order

    order = list(best_order(r.vectors, pair))
    found, error = r.vectors[order], r.stderr[order]
    there = (pair != 0) & (np.abs(found) > 3 * error)
    return int((np.abs(found - pair) <= 1.96 * error)[there].sum()), int(there.sum())


class Bench:
    """Runs tasks, prints rows, and remembers which limits were broken."""

    def __init__(self, jobs: int) -> None:
        self.pool = ProcessPoolExecutor(jobs)
        self.lines: list[str] = []
        self.broken: list[str] = []

    def runs(
        self, method: str, kind: str, n: int, k: int, gap: float, N: int, seeds: Iterable[int], **options: Any
    ) -> list[Any]:
        """Run one method on one setting, once for each seed."""
        return list(
            self.pool.map(one_run, [(method, kind, n, k, gap, N, seed, options) for seed in seeds], chunksize=2)
        )

    def title(self, text: str, *columns: str) -> None:
        """Start a table."""
        self.print(f"\n### {text}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")

    def row(self, *cells: Any, ok: bool = True) -> None:
        """Print a row and whether it keeps its limit."""
        line = f"| {' | '.join(str(c) for c in cells)} | {'kept' if ok else 'BROKEN'} |"
        self.print(line)
        if not ok:
            self.broken.append(line)

    def print(self, text: str) -> None:
        """Print, and remember for the page."""
        print(text, flush=True)
        self.lines.append(text)


def median(results: list[Any], key: str = "error") -> float:
    return float(np.median([r[key] for r in results]))


def versus_tagged(bench: Bench, settings: Iterable[tuple[Any, ...]], seeds: range, passive_too: bool) -> None:
    bench.print("")
    peers = "passive | frugal / passive | " if passive_too else ""
    bench.print(
        f"| setting | n | k | gap | N | tagged | {peers}frugal | frugal / tagged | limit | worst / tagged | "
        "untagged limit | |"
    )
    bench.print(f"|---|---|---|---|---|---|{'---|---|' if passive_too else ''}---|---|---|---|---|---|")
    for kind, n, k, gap, N, limit in settings:
        ours = bench.runs("frugal", kind, n, k, gap, N, seeds)
        tagged = median(bench.runs("tagged", kind, n, k, gap, N, seeds))
        ratio, worst = median(ours) / tagged, max(r["error"] for r in ours) / tagged
        ok = ratio <= limit and worst <= 2.5
        pair = pair_of(kind, n, k, gap, 0)
        cells = [kind, n, k, f"{gap:g}", f"{N:,}", f"{tagged:.3f}"]
        if passive_too:
            passive = median(bench.runs("passive", kind, n, k, gap, N, seeds))
            against = median(ours) / passive
            ok &= against <= (1 / 1.3 if gap <= 1 or gap >= 20 else 1.05)
            if gap >= 5 and N >= 2000:
                ok &= tagged <= 1.25 * ms.limits.tagged(pair, 1.0, N)
            cells += [f"{passive:.3f}", f"{against:.2f}"]
        cells += [f"{median(ours):.3f}", f"{ratio:.2f}", f"{limit:.2f}", f"{worst:.2f}"]
        bench.row(*cells, f"{ms.limits.untagged(pair, 1.0, N):.3f}", ok=ok)


def grid(bench: Bench, seeds: range, runs: int) -> None:
    bench.print("\n### Error against tagged answers and the passive peer")
    settings = [("gaussian", 100, 5, g, N, limit) for g, limit in GAPS.items() for N in COUNTS if g >= 1 or N >= 1000]
    versus_tagged(bench, settings, seeds, passive_too=True)


def large(bench: Bench, seeds: range, runs: int) -> None:
    bench.print("\n### Larger vectors")
    versus_tagged(
        bench, [("gaussian", 1000, 10, g, N, 1.10) for g in (20.0, 5.0, 2.0) for N in (1000, 2000)], seeds, False
    )


def special(bench: Bench, seeds: range, runs: int) -> None:
    bench.print("\n### Vectors of other kinds")
    settings = [
        ("equal values", 100, 5, 5.0, 1000, 1.25),
        ("equal values", 100, 5, 1.0, 1000, 1.25),
        ("half overlap", 100, 6, 2.0, 1000, 1.25),
        ("gaussian", 20, 3, 5.0, 400, 1.25),
        ("gaussian", 20, 3, 2.0, 400, 1.25),
        ("gaussian", 50, 50, 5.0, 4000, 1.25),
        ("power law", 100, 10, 5.0, 2000, 1.25),
        ("power law", 100, 10, 2.0, 1000, 1.25),
    ]
    versus_tagged(bench, settings, seeds, passive_too=False)


def paper(bench: Bench, seeds: range, runs: int) -> None:
    """How many answers give the paper's error, on seeds that chose nothing: with its energy, and with its SNR too."""
    bench.title(
        "Answers for the error that the paper's method has with 150 queries (448 with their sums and differences), "
        "100 answers each, seeds from 1,000 on",
        *("gap", "paper, answers", "paper, error", "held equal", "frugal, answers", "frugal, error", "limit", ""),
    )
    fresh = [1000 + seed for seed in seeds]
    fixed = {"recover": {"m": 150, "batch": 100, "k": 5, "max_queries": None, "gamma": 0.1}}
    as_loud = {"recover": {"snr": 2.0}}  # as the paper's sums of two queries
    for gap, louder in ((5.0, 20), (2.0, 50), (1.0, 80)):
        target = bench.runs("paper", "gaussian", 100, 5, gap, 0, fresh, **fixed)
        asked = int(median(target, "queries"))
        for held, limit, options in (("energy", louder, {}), ("energy and SNR", 20, as_loud)):
            ours = bench.runs("frugal", "gaussian", 100, 5, gap, asked // limit, fresh, **options)
            cells = [f"{asked:,}", f"{median(target):.3f}", held, f"{asked // limit:,}", f"{median(ours):.3f}"]
            bench.row(f"{gap:g}", *cells, f"1/{limit} of the answers", ok=median(ours) <= median(target))


def antipodal(bench: Bench, seeds: range, runs: int) -> None:
    bench.title("β² = −β¹: error below gap/4", "gap", "N", "median error", "right", "")
    for gap, N in ((5.0, 1500), (2.0, 4000), (1.0, 12000)):
        found = bench.runs("frugal", "antipodal", 100, 5, gap, N, seeds)
        right = sum(r["error"] < gap / 4 for r in found)
        bench.row(f"{gap:g}", f"{N:,}", f"{median(found):.3f}", f"{right} of {len(found)}", ok=right == len(found))


def unknown(bench: Bench, seeds: range, runs: int) -> None:
    bench.title("Unknown σ", "gap", "N", "σ known", "σ unknown", "ratio", "limit", "")
    many = range(4 * len(seeds))  # a ratio of 1.05 needs a finer comparison than 20 seeds give
    for gap in (5.0, 1.0):
        known = bench.runs("frugal", "gaussian", 100, 5, gap, 1000, many)
        free = bench.runs("frugal", "gaussian", 100, 5, gap, 1000, many, recover={"sigma": None})
        ratio = median(free) / median(known)
        bench.row(
            f"{gap:g}", 1000, f"{median(known):.3f}", f"{median(free):.3f}", f"{ratio:.2f}", "1.05", ok=ratio <= 1.05
        )
    bench.title(
        "Unknown shares",
        "shares",
        "gap",
        "N",
        "within three standard errors",
        "larger: frugal / tagged",
        "smaller",
        "limit",
        "",
    )
    for shares in ((0.7, 0.3), (0.9, 0.1)):
        options = {"shares": shares, "recover": {"weights": "estimate"}}
        for gap in (5.0, 2.0):
            ours = bench.runs("frugal", "gaussian", 100, 5, gap, 2000, seeds, **options)
            tagged = bench.runs("tagged", "gaussian", 100, 5, gap, 2000, seeds, shares=shares)
            near = sum(abs(max(r["shares"]) - shares[0]) <= 3 * (r["shares_stderr"] or 0) for r in ours)
            ratios = [
                np.median([r["each"][i] for r in ours]) / np.median([r["each"][i] for r in tagged]) for i in (0, 1)
            ]
            cells = [f"{r:.2f}" for r in ratios]
            bench.row(
                shares,
                f"{gap:g}",
                2000,
                f"{near} of {len(ours)}",
                *cells,
                "1.25",
                ok=near >= len(ours) - 1 and max(ratios) <= 1.25,
            )


PROMISES = [
    ("gaussian", 100, 5, 20.0),
    ("gaussian", 100, 5, 5.0),
    ("gaussian", 100, 5, 2.0),
    ("gaussian", 100, 5, 1.0),
    ("gaussian", 100, 5, 0.5),
    ("antipodal", 100, 5, 2.0),
    ("half overlap", 100, 6, 2.0),
    ("gaussian", 20, 3, 5.0),
    ("equal values", 100, 5, 3.0),
    ("gaussian", 300, 8, 5.0),
]


def promise(bench: Bench, seeds: range, runs: int) -> None:
    from scipy.stats import binom

    gamma, eta = 0.2, 0.05
    allowed = int(binom.ppf(0.99, runs, eta))  # one-sided 1 % bound on the number of broken promises
    bench.title(
        f"Promise: γ = {gamma}, η = {eta}, σ unknown, {runs} runs; at most {allowed} certified errors may exceed γ",
        *("kind", "n", "k", "gap", "status", "exceed γ", "answers, median"),
        *("within γ at a fixed N of 1/1.6 of that (below 0.95)", "95 % intervals cover", ""),
    )
    for kind, n, k, gap in PROMISES:
        found = bench.runs("frugal", kind, n, k, gap, 0, range(runs), recover={"gamma": gamma, "sigma": None})
        certified = [r for r in found if r["status"] == "certified"]
        exceed = sum(r["error"] > gamma for r in certified)
        used = median(found, "queries")
        # The best fixed N is the smallest that is within γ in 95 %: 1.6 times it is not below the answers used if and
        # only if a fixed N of 1/1.6 of those is not enough.
        fixed = bench.runs(
            "frugal", kind, n, k, gap, int(used / 1.6), range(1000, 1000 + runs // 2), recover={"sigma": None}
        )
        enough = float(np.mean([r["error"] <= gamma for r in fixed]))
        inside, total = (sum(r["covered"][i] for r in found) for i in (0, 1))
        statuses = ", ".join(
            f"{s} {sum(r['status'] == s for r in found)}" for s in sorted({r["status"] for r in found})
        )
        ok = exceed <= allowed and enough < 0.95 and 0.92 <= inside / total <= 0.98
        cells = [statuses, exceed, f"{used:,.0f}", f"{enough:.2f}", f"{inside / total:.3f}"]
        bench.row(kind, n, k, f"{gap:g}", *cells, ok=ok)


def single(bench: Bench, seeds: range, runs: int) -> None:
    bench.title("One vector or two", "truth", "called single", "limit", "")
    given = {"recover": {"gamma": 0.2, "sigma": None}}
    one = bench.runs("frugal", "gaussian", 100, 5, 0.0, 0, range(runs), **given)
    two = bench.runs("frugal", "gaussian", 100, 5, 2.0, 0, range(runs), **given)
    shares = [np.mean([r["status"] == "single" for r in found]) for found in (one, two)]
    bench.row("β¹ = β²", f"{shares[0]:.3f}", "≥ 0.95", ok=shares[0] >= 0.95)
    bench.row("gap 2", f"{shares[1]:.3f}", "≤ 0.05", ok=shares[1] <= 0.05)


def speed(bench: Bench, seeds: range, runs: int) -> None:
    bench.title("Time, CPU seconds of one run", "n", "k", "N", "frugal", "passive", "ratio", "limit", "")
    for n, k, most in ((100, 5, 2.0), (1000, 10, 10.0)):
        ours = bench.runs("frugal", "gaussian", n, k, 5.0, 2000, range(6))
        peer = bench.runs("passive", "gaussian", n, k, 5.0, 2000, range(6))
        ratio = median(ours, "seconds") / median(peer, "seconds")
        ok = ratio <= 1 and median(ours, "seconds") <= most
        bench.row(
            n,
            k,
            "2,000",
            f"{median(ours, 'seconds'):.2f}",
            f"{median(peer, 'seconds'):.2f}",
            f"{ratio:.2f}",
            "1",
            ok=ok,
        )
    start = time.monotonic()
    found = bench.runs("frugal", "gaussian", 10_000, 30, 10.0, 3000, range(1))
    bench.row(
        "10,000",
        30,
        "3,000",
        f"{time.monotonic() - start:.0f}",
        "–",
        f"error {median(found):.3f}",
        "60 s",
        ok=time.monotonic() - start <= 60,
    )


def focused(bench: Bench, seeds: range, runs: int) -> None:
    """Compare with tagged answers to queries on the known supports, on seeds that chose nothing."""
    _title_of_focused(bench, "Spending a budget: the error over `ms.limits.focused`, seeds from 1,000 on")
    for N in (5000, 10_000):
        for gap, most in ((1.0, 1.8), (5.0, 1.25), (20.0, 1.25)):
            _over_focused(bench, gap, N, most, [1000 + seed for seed in seeds])


def faint(bench: Bench, seeds: range, runs: int) -> None:
    """Repeat the row of gap 1 on ten times as many seeds: its ratios are spread so widely that 20 to 40 do not tell."""
    many = range(5000, 5000 + 10 * len(seeds))
    _title_of_focused(bench, f"Gap 1 once more, on seeds from {many.start:,} to {many.stop - 1:,}")
    _over_focused(bench, 1.0, 5000, 1.8, many)


def _title_of_focused(bench: Bench, title: str) -> None:
    columns = ("gap", "N", "frugal, error", "focused limit", "ratio, median", "± its error", "ratio, 9 of 10")
    bench.title(title, *columns, "bound holds", "limit", "")


def _over_focused(bench: Bench, gap: float, N: int, most: float, seeds: Sequence[int]) -> None:
    found = bench.runs("frugal", "gaussian", 100, 5, gap, N, seeds)
    best = [ms.limits.focused(pair_of("gaussian", 100, 5, gap, seed), 1.0, N) for seed in seeds]
    ratios = np.sort([r["error"] for r in found] / np.array(best))
    # The median lies between order statistics √N/2 ranks on either side of the middle, within one standard error.
    half, middle = math.sqrt(len(ratios)) / 2, len(ratios) / 2
    error = (ratios[round(middle + half) - 1] - ratios[round(middle - half)]) / 2
    held = sum(r["bound"] >= r["error"] for r in found)
    cells = [f"{median(found):.4f}", f"{np.median(best):.4f}", f"{np.median(ratios):.2f}", f"{error:.2f}"]
    cells += [f"{np.quantile(ratios, 0.9):.2f}", f"{held} of {len(seeds)}", f"{most:g}"]
    bench.row(f"{gap:g}", f"{N:,}", *cells, ok=np.median(ratios) <= most and held == len(seeds))


def exact(bench: Bench, seeds: range, runs: int) -> None:
    columns = ("n", "k", "answers at σ = 0", "certified", "largest error", "answers at σ = 0.001, γ = 0.001", "")
    bench.title("No noise at all: γ = 0; at most the answers of σ = 0.001, exact to 10⁻⁸", *columns)
    for n, k in ((20, 2), (100, 5), (300, 8)):
        found, noisy = [], []
        for seed in seeds:
            pair = ms.random_pair(n, k, 5.0, seed=seed)
            r = ms.recover(ms.SimulatedOracle(pair, 0.0, seed=[seed, 1]), n, sigma=0.0, gamma=0.0, seed=[seed, 2])
            found.append((r.queries, r.status == "certified", ms.match_error(r.vectors, pair)))
            oracle = ms.SimulatedOracle(pair, 0.001, seed=[seed, 1])
            noisy.append(ms.recover(oracle, n, sigma=0.001, gamma=0.001, max_queries=5000, seed=[seed, 2]).queries)
        answers, certified, errors = zip(*found, strict=True)
        ok = all(certified) and max(errors) <= 1e-8 and all(a <= b for a, b in zip(answers, noisy, strict=True))
        cells = [f"{np.median(answers):.0f}", f"{sum(certified)} of {len(seeds)}", f"{max(errors):.0e}"]
        bench.row(n, k, *cells, f"{np.median(noisy):.0f}", ok=ok)


SECTIONS: dict[str, Callable[[Bench, range, int], None]] = {
    f.__name__: f
    for f in (grid, large, paper, antipodal, special, unknown, promise, single, speed, exact, focused, faint)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--markdown", type=Path, help="put each section's tables between its markers on this page")
    args = parser.parse_args()
    try:
        import mixsense.figures.baselines  # noqa: F401
    except ImportError as error:
        print(f"{error.name} is not installed: pip install 'mixsense[figures]'", file=sys.stderr)
        return 2
    bench = Bench(args.jobs)
    for name in args.section:
        bench.lines = []
        SECTIONS[name](bench, range(args.seeds), args.runs)
        if args.markdown:
            put_table(args.markdown, name, "\n".join(bench.lines).strip())
    print(f"\n{len(bench.broken)} limits broken" if bench.broken else "\nall limits kept")
    return bool(bench.broken)


if __name__ == "__main__":
    sys.exit(main())
