"""Several answers from one person: crowds at their phones, and whether a plan for few people holds.

    python benchmarks/groups.py crowd                          # 200 phones: options of benchmarks/crowd.py
    python benchmarks/groups.py people --markdown docs/plan.md  # are the planned people enough?

*People.* Settings are drawn as in benchmarks/plan.py, with other seeds, for plans of at most `--most` answers.
`plan --per-person` says how many people give answers for the row "frugal". That many come, each with a model of their
own, and give all of their answers; *kept* means that the worst ℓ2 error is within γ. The exit code is 1 unless 90 % of
the plans are kept.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import crowd  # noqa: E402
import mixsense as ms  # noqa: E402
from pages import put_table  # noqa: E402
from plan import draw_setting  # noqa: E402

SEED, KEPT = 11, 0.9
"""First part of every seed, which no other benchmark of plans has; the promised share of plans that are kept."""


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


def people(plans: int, per_person: int, most: int, page: Path | None) -> int:
    """Carry out plans, and say how many are kept."""
    runs = [carry_out(number, per_person, most) for number in range(plans)]
    errors = np.array([error for _, _, error in runs])
    kept = int((errors <= 1).sum())
    text = (
        f"{plans} plans with {per_person} answers a person, {min(p for p, *_ in runs)} to {max(p for p, *_ in runs)} "
        f"people and at most {most:,} answers: {kept} are kept ({100 * kept / plans:.0f} %; {100 * KEPT:.0f} % are "
        f"promised). Median error {np.median(errors):.2f} γ, nine of ten below {np.quantile(errors, 0.9):.2f} γ."
    )
    print(text)
    if page:
        put_table(page, "people", text)
    return 0 if kept >= KEPT * plans else 1


def main() -> int:
    """Run the part that the command line names."""
    if sys.argv[1:2] == ["crowd"]:
        del sys.argv[1]
        crowd.main()
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["crowd", "people"])
    parser.add_argument("--plans", type=int, default=20)
    parser.add_argument("--per-person", type=int, default=12)
    parser.add_argument("--most", type=int, default=1500, help="largest number of answers of a plan")
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    return people(args.plans, args.per_person, args.most, args.markdown)


if __name__ == "__main__":
    sys.exit(main())
