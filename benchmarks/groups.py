"""Several answers from one person: what they are worth, what nobody could do better, and whether plans for people hold.

    python benchmarks/groups.py errors shares blocks                 # all that is promised of groups
    python benchmarks/groups.py errors --settings 2:0.5:5 2:0.5:10 3:1:5 --markdown docs/scales.md
    python benchmarks/groups.py people --markdown docs/plan.md       # are the planned people enough?
    python benchmarks/groups.py crowd                                # 200 phones: options of benchmarks/crowd.py

*Errors.* n = 30, k = 4, 1,000 answers, σ = 1, unsteered, fitted by `ms.fit` with the number of models that there are.
The error is the worst ℓ2 error, its mean over the seeds over that of *tagged practical*: answers that tell their model,
lasso and refit. Where the limit of 1.1 is missed, posterior means that are told nearly everything follow, on the same
answers (benchmarks/posterior.py). *Shares.* Whether 95 % intervals of a share cover, with 12 answers a person; 15
tables a seed, of seeds from 1,000 on behind the others. *Blocks.* `recover` in blocks of 5, against as many single
answers.

*People.* Settings are drawn as in benchmarks/plan.py, with other seeds, for plans of at most `--most` answers.
`plan --per-person` says how many people give answers for the row "frugal". That many come, each with a model of their
own, and give all of their answers; *kept* means that the worst ℓ2 error is within γ.

Seeds begin at 300: none chose a constant. The exit code is 1 if something that is promised does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import crowd  # noqa: E402
import mixsense as ms  # noqa: E402
from mixsense.figures.baselines import lasso_and_refit  # noqa: E402
from pages import put_table  # noqa: E402
from plan import draw_setting  # noqa: E402
from posterior import posterior_mean  # noqa: E402

FIRST = 300
SEED, KEPT = 11, 0.9
"""First part of every seed of plans, which no other benchmark has; the promised share of plans that are kept."""
MOST, COVER, STEERED = 1.1, (0.92, 0.98), 0.7
"""Most that errors may be of tagged ones; how often intervals cover; most that blocks of 5 may have of single ones."""
SETTINGS = tuple(f"{row}:{block}" for row in ("2:0.5", "2:1", "2:2", "3:1", "3:2") for block in (5, 10, 20))
"""Models, gap, and answers a person."""
Say = Callable[[str], None]


def draw(seed: int, L: int, gap: float, block: int) -> tuple[np.ndarray, ...]:
    """Draw models, rows, answers, who gave each of them, and of which model each is."""
    beta, rng = ms.random_models(L, 30, 4, gap, seed=[seed, 0]), np.random.default_rng([seed, 1])
    X, person = rng.standard_normal((1000, 30)), np.arange(1000) // block
    label = rng.integers(L, size=1000)[person * block]
    return beta, X, np.einsum("ij,ij->i", X, beta[label]) + rng.standard_normal(1000), person, label


def errors(say: Say, seeds: range, settings: Sequence[str] = SETTINGS) -> bool:
    """Compare with tagged answers and, where that is too much, with who knows nearly everything."""
    say(
        f"| models | gap | answers a person | error | × tagged practical | at most {MOST} "
        "| posterior mean | supports known |"
    )
    say("|---|---|---|---|---|---|---|---|")
    good = True
    for setting in settings:
        L, gap, block = (kind(part) for kind, part in zip((int, float, int), setting.split(":"), strict=True))
        drawn = [draw(seed, L, gap, block) for seed in seeds]
        ours = [
            ms.match_error(ms.fit(X, y, groups=person, models=L, seed=[seed, 2]).vectors, beta)
            for seed, (beta, X, y, person, _) in zip(seeds, drawn, strict=True)
        ]
        tagged = np.array([_tagged(*each) for each in drawn])
        ratio = np.mean(ours) / tagged.mean()
        # The error of a ratio of means, from the differences on the same seeds.
        chance = np.std(np.array(ours) - ratio * tagged) / np.sqrt(len(drawn)) / tagged.mean()
        limits = (
            ["", ""] if ratio <= MOST else [f"{_limit(drawn, seeds, s) / tagged.mean():.2f}" for s in (False, True)]
        )
        good &= bool(ratio <= MOST)
        told = "kept" if ratio <= MOST else "MISSED"
        say(
            f"| {L} | {gap:g} | {block} | {np.mean(ours):.3f} | {ratio:.2f} ± {chance:.2f} | {told} "
            f"| {' | '.join(limits)} |"
        )
    say(f"Means of {len(seeds)} seeds from {seeds[0]} on.")
    return good


def _tagged(beta: np.ndarray, X: np.ndarray, y: np.ndarray, person: np.ndarray, label: np.ndarray) -> float:
    found = np.stack([lasso_and_refit(X[label == a], y[label == a], 1.0) for a in range(len(beta))])
    return float(ms.match_error(found, beta))


def _limit(drawn: list[tuple[np.ndarray, ...]], seeds: range, supports: bool) -> float:
    """Return the mean error of the posterior mean; `supports` are known as well."""
    found = [
        ms.match_error(posterior_mean(X, y, person, beta, 1.0, np.random.default_rng([seed, 3]), supports), beta)
        for seed, (beta, X, y, person, _) in zip(seeds, drawn, strict=True)
    ]
    return float(np.mean(found))


def shares(say: Say, seeds: range) -> bool:
    """Twelve answers a person: do intervals of the share cover."""
    hits = []
    for seed in range(seeds.start + 1000, seeds.start + 1000 + 15 * len(seeds)):
        pair, rng = ms.random_pair(10, 4, 3.0, seed=[seed, 0]), np.random.default_rng([seed, 1])
        X, person = rng.standard_normal((720, 10)), np.arange(720) // 12
        label = (rng.random(60) > 0.6).astype(int)[person]
        y = np.einsum("ij,ij->i", X, pair[label]) + rng.standard_normal(720)
        r = ms.fit(X, y, groups=person, models=2, seed=seed)
        first = np.linalg.norm(r.vectors - pair[0], axis=1).argmin()
        hits.append(abs(r.weights[first] - 0.6) < 1.96 * r.weights_stderr[first])
    covered = float(np.mean(hits))
    good = COVER[0] <= covered <= COVER[1]
    say(
        f"The share of 60 people with 12 answers each: {100 * covered:.0f} % of {len(hits)} intervals cover "
        f"(92 to 98 %: {'kept' if good else 'MISSED'})."
    )
    return good


def blocks(say: Say, seeds: range) -> bool:
    """Steered in blocks of 5, by recover: against the same number of single answers."""
    found, gap = [], 0.5
    for seed in seeds:
        pair = ms.random_pair(30, 4, gap, seed=[seed, 0])
        runs = []
        for block in (5, 1):
            oracle = ms.SimulatedOracle(pair, 1.0, seed=[seed, 1], block=block)
            r = ms.recover(oracle, 30, gamma=None, max_queries=1000, models=2, block=block, seed=seed)
            runs.append(ms.match_error(r.vectors, pair))
        found.append(runs)
    linked, single = np.mean(found, axis=0)
    good = bool(linked <= STEERED * single)
    say(
        f"Steered by `recover`, gap {gap:g}, 1,000 answers: blocks of 5 have an error of {linked:.3f}, "
        f"{linked / single:.2f} times that of single answers ({STEERED} at most: {'kept' if good else 'MISSED'})."
    )
    return good


def carry_out(number: int, per_person: int, most: int) -> tuple[int, int, float]:
    """Draw a setting, ask the planned number of people; returns people, answers, and the error in units of γ."""
    rng = np.random.default_rng([SEED, number])
    while True:
        n, k, gap, gamma = draw_setting(rng)
        row = ms.plan(n, k, sigma=1.0, gap=gap, gamma=gamma, per_person=per_person)["frugal"]
        if row.queries <= most:
            break
    pair, answers = ms.random_pair(n, k, gap, seed=rng), row.people * per_person
    oracle = ms.SimulatedOracle(pair, 1.0, seed=[SEED, number, 1], block=per_person)
    r = ms.recover(
        oracle, n, gamma=None, sigma=1.0, max_queries=answers, block=per_person, models=2, seed=[SEED, number, 2]
    )
    error = ms.match_error(r.vectors, pair) / gamma
    print(f"n {n} k {k} gap {gap:.2g} γ {gamma:.2g}: {row.people} people, error {error:.2f} γ", flush=True)
    return row.people, answers, error


def people(say: Say, plans: int, per_person: int, most: int) -> bool:
    """Carry out plans, and say how many are kept."""
    runs = [carry_out(number, per_person, most) for number in range(plans)]
    found = np.array([error for _, _, error in runs])
    kept = int((found <= 1).sum())
    say(
        f"{plans} plans with {per_person} answers a person, {min(p for p, *_ in runs)} to {max(p for p, *_ in runs)} "
        f"people and at most {most:,} answers: {kept} are kept ({100 * kept / plans:.0f} %; {100 * KEPT:.0f} % are "
        f"promised). Median error {np.median(found):.2f} γ, nine of ten below {np.quantile(found, 0.9):.2f} γ."
    )
    return kept >= KEPT * plans


PARTS = {"shares": shares, "blocks": blocks}


def main() -> int:
    """Run the parts that the command line names."""
    if sys.argv[1:2] == ["crowd"]:
        del sys.argv[1]
        crowd.main()
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=["errors", *PARTS, "people"], help="or crowd, alone")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--settings", nargs="*", default=SETTINGS, help="of errors: models:gap:answers a person")
    parser.add_argument("--plans", type=int, default=20)
    parser.add_argument("--per-person", type=int, default=12)
    parser.add_argument("--most", type=int, default=1500, help="largest number of answers of a plan")
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    good = True
    for part in args.parts:
        lines: list[str] = []

        def say(text: str, lines: list[str] = lines) -> None:
            print(text, flush=True)
            lines.append(text if text.startswith("|") else f"\n{text}")

        if part == "people":
            good &= people(say, args.plans, args.per_person, args.most)
        elif part == "errors":
            good &= errors(say, range(args.first, args.first + args.seeds), args.settings)
        elif part in PARTS:
            good &= PARTS[part](say, range(args.first, args.first + args.seeds))
        if args.markdown:
            put_table(args.markdown, part, "\n".join(lines).strip())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
