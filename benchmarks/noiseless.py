"""Answers that the noiseless method uses, beside the number that the paper prints: the table of docs/noiseless.md.

python benchmarks/noiseless.py [--markdown docs/noiseless.md]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import mixsense as ms
from pages import put_table

SIZES = [(50, 3), (100, 5), (500, 8), (1000, 10), (2000, 20)]
SEEDS = range(20)
HEADER = (
    "| n | k | m | printed: 2 log₂ m each | measured, median | measured, most | worst relative error |\n"
    "|---|---|---|---|---|---|---|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    rows = [HEADER]
    for n, k in SIZES:
        used, errors = [], []
        for seed in SEEDS:
            pair = ms.random_pair(n, k, gap=3.0, seed=seed)
            oracle = ms.SimulatedOracle(pair, sigma=0.0, seed=[seed, 1])
            r = ms.recover(oracle, n, k=k, sigma=0.0, method="noiseless", models=2, seed=[seed, 2])
            used.append(r.queries)
            errors.append(ms.match_error(r.vectors, pair) / np.linalg.norm(pair, axis=1).max())
        story = r.diagnostics
        rows.append(
            f"| {n} | {k} | {story['m']} | {story['printed_queries']:,} | {int(np.median(used)):,} | {max(used):,} | "
            f"{max(errors):.0e} |"
        )
        print(rows[-1], flush=True)
    if args.markdown:
        put_table(args.markdown, "measured", "\n".join(rows))


if __name__ == "__main__":
    main()
