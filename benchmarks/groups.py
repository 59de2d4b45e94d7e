"""Several answers from one person: crowds at their phones, and whether a plan for few people holds.

python benchmarks/groups.py crowd                  # 200 phones: see benchmarks/crowd.py, whose options it takes
python benchmarks/groups.py people --seeds 20 30   # are planned answers enough if each person gives 12 of them?
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

import crowd
import mixsense as ms

SETTINGS = [(30, 4, 1.0, 0.3), (30, 4, 2.0, 0.3), (100, 5, 2.0, 0.3)]
"""n, k, gap and γ of each plan, in units of the noise."""


def people(seeds: Sequence[int], per_person: int = 12) -> None:
    """Spend what `plan` says for the frugal method, with several answers a person; count the runs within γ."""
    for n, k, gap, gamma in SETTINGS:
        queries = ms.plan(n, k, sigma=1.0, gap=gap, gamma=gamma)["frugal"].queries
        errors = []
        for seed in seeds:
            truth = ms.random_pair(n, k, gap=gap, seed=seed)
            oracle = ms.SimulatedOracle(truth, sigma=1.0, seed=1000 + seed, block=per_person)
            settings = {"k": k, "gamma": None, "sigma": 1.0, "max_queries": queries, "seed": seed, "block": per_person}
            errors.append(ms.match_error(ms.recover(oracle, n, **settings).vectors, truth))
        within = sum(error <= gamma for error in errors)
        print(
            f"n = {n}, k = {k}, gap = {gap:g}: {queries} answers, {per_person} a person: {within} of {len(errors)} "
            f"runs within {gamma:g}; median error {np.median(errors):.3f}, 90 % {np.quantile(errors, 0.9):.3f}",
            flush=True,
        )


def main() -> None:
    """Run the part that the command line names."""
    if sys.argv[1:2] == ["crowd"]:
        del sys.argv[1]
        crowd.main()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["crowd", "people"])
    parser.add_argument("--seeds", type=int, nargs=2, default=(20, 30), help="from the first up to the second")
    parser.add_argument("--per-person", type=int, default=12)
    args = parser.parse_args()
    people(range(*args.seeds), args.per_person)


if __name__ == "__main__":
    main()
