"""Answers as they come: ratings, probabilities, noise of each model, lapses, groups; against answers without all that.

    python benchmarks/scales.py [--seeds 20] [--only rating groups] [--markdown docs/scales.md]

Data are fitted as they are (`ms.fit`, two models, nothing else known) unless a row says "recover". Rows of groups show
the fit of as many models as there are, also where one explains the answers as well. Errors are the worst ℓ2 error,
means over the seeds; a ratio is that of two means on the same seeds. Seeds begin at 300: none was used to choose
anything.
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
from mixsense.figures.baselines import lasso_and_refit  # noqa: E402
from mixsense.fitting.search import expect  # noqa: E402
from mixsense.regression.data import Data  # noqa: E402
from mixsense.regression.renewal import renew  # noqa: E402
from mixsense.regression.tuning import NEW_STARTS  # noqa: E402
from pages import put_table  # noqa: E402

FIRST_SEED = 300
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
    """Ratings from 1 to 7 against the same values rounded, but not cut."""
    rows, scale = [], ms.Rating(1, 7)
    for gap in (2.0, 3.5, 4.5):
        found, ends = [], []
        for seed in seeds:
            full, X, _, value, _ = corners(seed, 6, gap, 400, 0.6, 4.0)
            y = scale.answer(value)
            ends.append(np.isin(y, (1, 7)).mean())
            runs = fitted(X, y, seed, scale), fitted(X, np.round(value), seed), fitted(X, y, seed)
            found.append([error(r, full) for r in runs])
        own, unbounded, real = np.mean(found, axis=0)
        world = f"ratings 1–7, {100 * np.mean(ends):.0f} % at the ends"
        rows.append((world, f"{own / unbounded:.2f} × unbounded", f"{real / unbounded:.2f} × as real numbers"))
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
    """Noise of 0.5 and 1.5: do 95 % intervals cover."""
    rows = []
    for N in (400, 1000):
        hits, alike = [], 0
        for seed in seeds:
            full, X, _, value, _ = corners(seed, 12, 4.0, N, [0.5, 1.5], 0.0)
            r = fitted(X, value, seed)
            alike += np.ndim(r.sigma) == 0
            estimate, stderr = r.vectors, r.stderr
            swapped = np.linalg.norm(estimate[0] - full[0, 1:]) > np.linalg.norm(estimate[1] - full[0, 1:])
            order = [1, 0] if swapped else [0, 1]
            large = np.abs(full[:, 1:]) > 3 * stderr[order]
            hits += (np.abs(estimate[order] - full[:, 1:]) < 1.96 * stderr[order])[large].tolist()
        found = f"own noise found in {len(seeds) - alike} of {len(seeds)}"
        rows.append((f"σ 0.5 and 1.5, N = {N}", f"{100 * np.mean(hits):.1f} % of {len(hits)} intervals cover", found))
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
            runs = fitted(X, y, seed), fitted(X, value, seed)
            found.append([error(r, full) for r in runs])
            numbers.append(len(ms.fit(X, y, intercept=True, seed=seed).vectors))
        spoilt, clean = np.mean(found, axis=0)
        right = f"two models found in {numbers.count(2)} of {len(seeds)}"
        rows.append((f"{100 * share:.0f} % lapses", f"{spoilt / clean:.2f} × without", right))
    return rows


def groups(seeds: range) -> list[Row]:
    """Answers of one respondent: against tagged answers, lasso and refit."""
    rows, n, k, N = [], 30, 4, 1000
    for L, gap in ((2, 0.5), (2, 1.0), (2, 2.0), (3, 1.0), (3, 2.0)):
        shown = []
        for block in (5, 10, 20):
            found = []
            for seed in seeds:
                beta, rng = ms.random_models(L, n, k, gap, seed=[seed, 0]), np.random.default_rng([seed, 1])
                X, person = rng.standard_normal((N, n)), np.arange(N) // block
                label = rng.integers(L, size=N)[person * block]
                y = np.einsum("ij,ij->i", X, beta[label]) + rng.standard_normal(N)
                data = Data(X, y, group=person)
                known = expect(data, L, None, None, estimate=True)
                several = renew(None, data, known, np.random.default_rng([seed, 2]), NEW_STARTS, more=False).several
                tagged = np.stack([lasso_and_refit(X[label == a], y[label == a], 1.0) for a in range(L)])
                found.append([ms.match_error(several.beta, beta), ms.match_error(tagged, beta)])
            linked, tagged_error = np.mean(found, axis=0)
            shown.append(f"{linked / tagged_error:.2f}")
        world = f"{L} models, gap {gap:g}, 5, 10, 20 answers a person"
        rows.append((world, f"{', '.join(shown)} × tagged practical", ""))
    return rows


def shares(seeds: range) -> list[Row]:
    """Twelve answers a person: do intervals of the share cover."""
    hits = []
    for seed in range(seeds.start, seeds.start + 5 * len(seeds)):
        pair, rng = ms.random_pair(10, 4, 3.0, seed=[seed, 0]), np.random.default_rng([seed, 1])
        X, person = rng.standard_normal((720, 10)), np.arange(720) // 12
        label = (rng.random(60) > 0.6).astype(int)[person]
        y = np.einsum("ij,ij->i", X, pair[label]) + rng.standard_normal(720)
        r = ms.fit(X, y, groups=person, models=2, seed=seed)
        first = np.linalg.norm(r.vectors - pair[0], axis=1).argmin()
        hits.append(abs(r.weights[first] - 0.6) < 1.96 * r.weights_stderr[first])
    return [("share of 60 people, 12 answers each", f"{100 * np.mean(hits):.0f} % of {len(hits)} intervals cover", "")]


def blocks(seeds: range) -> list[Row]:
    """Steered in blocks, by recover: against the same number of single answers."""
    rows = []
    for gap in (0.5, 1.0):
        found = []
        for seed in seeds:
            pair = ms.random_pair(30, 4, gap, seed=[seed, 0])
            runs = []
            for block in (5, 1):
                oracle = ms.SimulatedOracle(pair, 1.0, seed=[seed, 1], block=block)
                r = ms.recover(oracle, 30, gamma=None, max_queries=1000, models=2, block=block, seed=seed)
                runs.append(ms.match_error(r.vectors, pair))
            found.append(runs)
        linked, single = np.mean(found, axis=0)
        rows.append((f"recover, gap {gap:g}, blocks of 5", f"{linked / single:.2f} × single answers", f"{linked:.3f}"))
    return rows


PARTS: dict[str, Callable[[range], list[Row]]] = {
    "ratings": ratings,
    "probabilities": probabilities,
    "own": own_noise,
    "lapses": lapses,
    "groups": groups,
    "shares": shares,
    "blocks": blocks,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--markdown", help="the page whose table is replaced")
    given = parser.parse_args()
    lines = ["| answers | found | besides |", "|---|---|---|"]
    for part in given.only:
        for row in PARTS[part](range(FIRST_SEED, FIRST_SEED + given.seeds)):
            lines.append(f"| {' | '.join(row)} |")
            print(lines[-1], flush=True)
    if given.markdown:
        put_table(Path(given.markdown), "scales", "\n".join(lines))


if __name__ == "__main__":
    main()
