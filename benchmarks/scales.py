"""Answers as they come: ratings, probabilities, noise of each model, lapses; against answers without all that.

    python benchmarks/scales.py [--seeds 20] [--only ratings lapses] [--markdown docs/scales.md]

Data are fitted as they are (`ms.fit`, as many models as there are, nothing else known) unless a row says "recover".
Errors are the worst ℓ2 error, means over the seeds; a ratio is that of two means on the same seeds. Ratings and exact
answers take twice the seeds. Seeds begin at 300, those of exact answers at 40,000: none was used to choose anything.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import mixsense as ms  # noqa: E402
from pages import put_table  # noqa: E402
from rating_limit import least_error  # noqa: E402

FIRST_SEED, FIRST_EXACT = 300, 40_000
Row = tuple[str, str, str]
World = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.random.Generator]


def corners(seed: int, n: int, gap: float, N: int, sigma: float | list[float], level: float) -> World:
    """Draw two models with a level first, rows at corners and middles, labels, linear values with noise."""
    beta, rng = ms.random_pair(n, min(n, 5), gap, seed=[seed, 0]), np.random.default_rng([seed, 1])
    X = rng.choice([-1.0, 1.0], (N, n))
    X[rng.random((N, n)) < 0.15] = 0.0
    full, label = np.column_stack([np.full(2, level), beta]), rng.integers(2, size=N)
    value = np.einsum("ij,ij->i", np.column_stack([np.ones(N), X]), full[label])
    return full, X, label, value + np.broadcast_to(sigma, 2)[label] * rng.standard_normal(N), rng


def fitted(X: np.ndarray, y: np.ndarray, seed: int, scale: object = None) -> ms.Recovery:
    """Fit two models with intercepts."""
    return ms.fit(X, y, models=2, scale=scale, intercept=True, seed=seed)


def error(r: ms.Recovery, full: np.ndarray) -> float:
    """Return the worst ℓ2 error, levels included."""
    return float(ms.match_error(np.column_stack([r.intercept, r.vectors]), full))


def ratings(seeds: range) -> list[Row]:
    """Ratings from 1 to 7 against the same values rounded, but not cut, and against what any estimate could reach."""
    rows, scale, sigma = [], ms.Rating(1, 7), 0.6
    cut, uncut = np.arange(1.5, 7), np.arange(-49.5, 60)
    for gap in (2.0, 3.4, 4.5):
        found, ends, least = [], [], []
        for seed in range(seeds.start, seeds.start + 2 * len(seeds)):
            full, X, _, value, rng = corners(seed, 6, gap, 400, sigma, 4.0)
            y, rows_of = scale.answer(value), np.column_stack([np.ones(400), X])
            ends.append(np.isin(y, (1, 7)).mean())
            least.append([least_error(full, rows_of, sigma, borders, rng) for borders in (cut, uncut)])
            runs = fitted(X, y, seed, scale), fitted(X, np.round(value), seed), fitted(X, y, seed)
            found.append([error(r, full) for r in runs])
        own, unbounded, real = np.mean(found, axis=0)
        bound = np.divide(*np.mean(least, axis=0))
        world = f"ratings 1–7, {100 * np.mean(ends):.0f} % at the ends"
        besides = f"{bound:.2f} × is the least possible; {real / unbounded:.2f} × as real numbers"
        rows.append((world, f"{own / unbounded:.2f} × unbounded", besides))
    return rows


def probabilities(seeds: range) -> list[Row]:
    """Probabilities against their logits."""
    rows = []
    for digits in (None, 3, 2):
        found = []
        for seed in seeds:
            full, X, _, value, _ = corners(seed, 6, 4.0, 300, 0.4, 0.0)
            y = ms.Probability(digits).answer(value)
            runs = fitted(X, y, seed, ms.Probability()), fitted(X, value, seed)
            found.append([error(r, full) for r in runs])
        own, logits = np.mean(found, axis=0)
        rounded = "not rounded" if digits is None else f"{digits} digits"
        # The error falls like 1/√N: this many times the answers reach the same one.
        rows.append((f"probabilities, {rounded}", f"{(own / logits) ** 2:.2f} × the answers of logits", ""))
    return rows


def own_noise(seeds: range) -> list[Row]:
    """Noise of 0.5 and 1.5: do the 95 % intervals of all coefficients that are not zero cover."""
    rows, sigma = [], [0.5, 1.5]
    for N, asked in ((400, False), (1000, False), (400, True)):
        hits, alike = [], 0
        for seed in seeds:
            full, X, _, value, _ = corners(seed, 12, 4.0, N, sigma, 0.0)
            truth = full[:, 1:]
            if asked:
                oracle = ms.SimulatedOracle(truth, sigma, seed=[seed, 1])
                r = ms.recover(oracle, 12, gamma=None, max_queries=N, models=2, box=[(-1, 1)] * 12, seed=seed)
            else:
                r = fitted(X, value, seed)
            alike += np.ndim(r.sigma) == 0
            there = [np.linalg.norm(r.vectors - beta, axis=1) for beta in truth]  # of each true model, to both found
            order = [0, 1] if there[0][0] + there[1][1] <= there[0][1] + there[1][0] else [1, 0]
            low, high = np.moveaxis(r.interval[order], 2, 0)
            hits += ((low < truth) & (truth < high))[truth != 0].tolist()
        found = f"own noise found in {len(seeds) - alike} of {len(seeds)}"
        world = f"σ 0.5 and 1.5, N = {N}" + (", recover in a box" if asked else "")
        rows.append((world, f"{100 * np.mean(hits):.1f} % of {len(hits)} intervals cover", found))
    return rows


def lapses(seeds: range) -> list[Row]:
    """Answers from anywhere: against the same answers without."""
    rows = []
    for share in (0.05, 0.1):
        found, numbers = [], []
        for seed in seeds:
            full, X, _, value, rng = corners(seed, 12, 4.0, 400, 0.5, 0.0)
            bad = rng.random(len(value)) < share
            y = np.where(bad, rng.uniform(value.min(), value.max(), len(value)), value)
            runs = ms.fit(X, y, models=2, intercept=True, seed=seed, lapses=True), fitted(X, value, seed)
            found.append([error(r, full) for r in runs])
            numbers.append(len(ms.fit(X, y, intercept=True, seed=seed, lapses=True).vectors))
        spoilt, clean = np.mean(found, axis=0)
        right = f"two models found in {numbers.count(2)} of {len(seeds)}"
        rows.append((f"{100 * share:.0f} % lapses", f"{spoilt / clean:.2f} × without", right))
    return rows


KINDS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "exact": lambda y, rng: y,
    "noise of 10⁻¹²": lambda y, rng: y + 1e-12 * rng.standard_normal(y.shape),
    "rounded to 6 decimals": lambda y, rng: np.round(y, 6),
    "single precision": lambda y, rng: y.astype(np.float32).astype(np.float64),
}


def exact(seeds: range) -> list[Row]:
    """Answers that are exact or nearly so, by recover: two models, 30 features, 6 of each matter, a box, a constant."""
    rows, n = [], 30
    for kind, change in KINDS.items():
        off, answers, certified = [], [], 0
        for seed in range(FIRST_EXACT, FIRST_EXACT + 2 * len(seeds)):
            rng, beta = np.random.default_rng([seed, 0]), np.zeros((2, n + 1))
            for a in range(2):
                beta[a, rng.choice(n, 6, replace=False)] = rng.standard_normal(6)
            beta[:, n] = 2 * rng.standard_normal(2)

            def oracle(X: np.ndarray, repeats: int, rng=rng, beta=beta, change=change) -> np.ndarray:
                each = np.column_stack([X, np.ones(len(X))]) @ beta.T
                return change(np.take_along_axis(each, rng.integers(2, size=(len(X), repeats)), axis=1), rng)

            r = ms.recover(oracle, n, gamma=0.3, box=[(0, 10)] * n, intercept=True, seed=seed)
            found = np.column_stack([r.vectors, r.intercept])
            off.append(ms.match_error(found, beta) / np.abs(beta).max() if len(found) < 3 else np.inf)
            answers.append(r.queries)
            certified += r.status == "certified"
        world = f"{kind}, n = 30, 6 matter, constant, box"
        good = f"{np.sum(np.array(off) < 1e-6)} of {len(off)} within 10⁻⁶"
        rows.append((world, good, f"{np.median(answers):.0f} answers, {max(answers)} at most; {certified} certified"))
    return rows


PLANNED: tuple[tuple[int, int, float, float, float, object], ...] = (
    (20, 4, 0.6, 3.0, 0.25, ms.Rating(-3, 3)),
    (50, 4, 0.6, 3.0, 0.3, ms.Rating(-3, 3)),
    (30, 3, 0.5, 2.0, 0.2, ms.Rating(-2, 2, 0.5)),
    (40, 5, 1.0, 5.0, 0.5, ms.Rating(-6, 6)),
    (20, 4, 0.4, 4.0, 0.2, ms.Probability(2)),
)
"""n, k, σ, gap, γ and the scale of what is planned, one after the other."""


def plans(seeds: range) -> list[Row]:
    """Budgets that `plan` names for answers on a scale, spent by recover: is the error within γ."""
    good, used = [], []
    for place, seed in enumerate(seeds):
        n, k, sigma, gap, gamma, scale = PLANNED[place % len(PLANNED)]
        budget = ms.plan(n, k, sigma, gap, gamma, scale=scale)["frugal"].queries
        pair = ms.random_pair(n, k, gap, seed=[seed, 0])
        oracle = ms.SimulatedOracle(pair, sigma, seed=[seed, 1], scale=scale)
        r = ms.recover(oracle, n, gamma=None, sigma=sigma, max_queries=budget, models=2, scale=scale, seed=seed)
        good.append(ms.match_error(r.vectors, pair) <= gamma)
        used.append(ms.match_error(r.vectors, pair) / gamma)
    found = f"{sum(good)} of {len(good)} within γ (9 of 10 are promised)"
    return [("budgets of `plan` on a scale", found, f"error {np.median(used):.2f} γ in the median")]


PARTS: dict[str, Callable[[range], list[Row]]] = {
    "ratings": ratings,
    "probabilities": probabilities,
    "own": own_noise,
    "lapses": lapses,
    "exact": exact,
    "plans": plans,
}


ROWS = {
    "ratings": "ratings 1–7",
    "probabilities": "probabilities,",
    "own": "σ 0.5 and",
    "lapses": "% lapses",
    "exact": "6 matter",
    "plans": "budgets of",
}
"""What the first cell of each part's rows holds: parts that are not run keep theirs on the page."""


def merged(page: Path, parts: list[str], lines: list[str]) -> str:
    """Return the table of a page with the rows of these parts replaced, in the order of all parts."""
    old = page.read_text(encoding="utf-8").partition("<!-- scales -->")[2].partition("<!-- end -->")[0].splitlines()
    kept = [line for line in old if line.startswith("|") and not any(ROWS[part] in line for part in parts)]
    rows = [*kept[2:], *lines]
    place = {part: number for number, part in enumerate(PARTS)}
    rows.sort(key=lambda line: next((place[part] for part, words in ROWS.items() if words in line), len(place)))
    return "\n".join([*HEAD, *rows])


HEAD = ("| answers | found | besides |", "|---|---|---|")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=FIRST_SEED)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--markdown", help="the page whose rows of these parts are replaced")
    given = parser.parse_args()
    lines: list[str] = []
    for part in given.only:
        for row in PARTS[part](range(given.first, given.first + given.seeds)):
            lines.append(f"| {' | '.join(row)} |")
            print(lines[-1], flush=True)
    if given.markdown:
        put_table(Path(given.markdown), "scales", merged(Path(given.markdown), given.only, lines))


if __name__ == "__main__":
    main()
