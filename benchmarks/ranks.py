"""Simulation-based calibration: where the truth stands in its posterior, which has to be anywhere with equal chance.

    python benchmarks/ranks.py [--worlds 1000] [--runs 200] [--seeds 40000] [--out docs/ranks.png]

Left: coefficients drawn from the prior of the bound for typical vectors, measured with noise, and ranked among the
draws of its sampler; a zero among zeros has a random rank. Right: the 95 % intervals of whole runs, in which queries
are focused and steered and answers untagged; every true non-zero coefficient has a rank in the normal distribution that
its interval stands for. Both are tested for uniformity, and drawn with the band of 99 % of a bar.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from scipy.stats import binom, chi2, norm  # noqa: E402

import mixsense as ms  # noqa: E402
from mixsense.figures.figure import new_figure, style  # noqa: E402
from mixsense.methods.frugal.tuning import EXPECTED_IN_AN_OCTAVE  # noqa: E402
from mixsense.methods.frugal.typical import _draws  # noqa: E402

BARS, DRAWS, KEPT = 20, 400, 20
"""Bars of a histogram; draws of the sampler, and one in how many counts, since neighbours are alike."""
N_COEFFICIENTS, LARGEST, NOISE = 60, 8.0, 0.25


def rank_in_posterior(seed: int) -> float:
    """Draw coefficients from the prior; return the rank of one of them in its posterior, from 0 to 1."""
    rng = np.random.default_rng([seed, 50])
    octaves = int(np.ceil(np.log2(LARGEST / NOISE))) + 1
    expected = rng.gamma(EXPECTED_IN_AN_OCTAVE, size=octaves)  # Gamma(1/2, 1): those of all coefficients together
    share = expected / N_COEFFICIENTS
    which = rng.choice(octaves + 1, N_COEFFICIENTS, p=np.append(share, max(1 - share.sum(), 0)) / max(share.sum(), 1))
    slab = np.append(LARGEST / 2.0 ** np.arange(octaves), 0.0)
    truth = slab[which] * rng.standard_normal(N_COEFFICIENTS)
    V = np.full(N_COEFFICIENTS, NOISE**2)
    b = truth + NOISE * rng.standard_normal(N_COEFFICIENTS)
    drawn = np.array(_draws(b, V, LARGEST, DRAWS, rng))[::KEPT, 0]
    below, alike = int((drawn < truth[0]).sum()), int((drawn == truth[0]).sum())
    return float((below + rng.integers(alike + 1) + rng.random()) / (len(drawn) + 1))


def ranks_of_intervals(seed: int) -> list[float]:
    """Run the default method; return the rank of every true non-zero coefficient, from 0 to 1."""
    pair = ms.random_pair(60, 6, gap=4.0, seed=[seed, 51])
    r = ms.recover(ms.SimulatedOracle(pair, 1.0, seed=[seed, 52]), 60, gamma=0.4, seed=[seed, 53])
    if len(r.vectors) != 2:
        return []
    order = min(([0, 1], [1, 0]), key=lambda order: np.linalg.norm(r.vectors[order] - pair))
    ends = np.asarray(r.interval)[order]
    middle, half = ends.mean(axis=2), np.ptp(ends, axis=2) / 2
    return norm.cdf((pair - middle) / (half / norm.ppf(0.975)))[pair != 0].tolist()


def p_value(ranks: np.ndarray) -> float:
    """Return the p-value of the hypothesis that the ranks are uniform, by the counts of the bars."""
    counts = np.histogram(ranks, BARS, (0, 1))[0]
    expected = len(ranks) / BARS
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), BARS - 1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=1000, help="draws from the prior")
    parser.add_argument("--runs", type=int, default=200, help="whole runs")
    parser.add_argument("--seeds", type=int, default=40_000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--out", type=Path, help="where the picture goes")
    args = parser.parse_args()
    seeds = range(args.seeds, args.seeds + max(args.worlds, args.runs))
    with ProcessPoolExecutor(args.jobs) as pool:
        posterior = np.array(list(pool.map(rank_in_posterior, seeds[: args.worlds], chunksize=20)))
        whole = np.concatenate(list(pool.map(ranks_of_intervals, seeds[: args.runs])))
    print(f"{len(whole) // 12} of {args.runs} runs found two models")
    inside = float(((whole > 0.025) & (whole < 0.975)).mean())
    print(f"posterior: {len(posterior)} ranks, uniform with p = {p_value(posterior):.2g}")
    print(f"intervals: {len(whole)} ranks, uniform with p = {p_value(whole):.2g}, {100 * inside:.1f} % within 95 %")
    if args.out:
        with style():
            figure = new_figure(8.0, 3.2)
            titles = ("coefficients drawn from the prior", f"intervals of {args.runs} runs")
            for axes, ranks, title in zip(figure.subplots(1, 2), (posterior, whole), titles, strict=True):
                axes.hist(ranks, BARS, range=(0, 1))
                axes.axhspan(*binom.ppf([0.005, 0.995], len(ranks), 1 / BARS), alpha=0.25, color="grey")
                axes.set(title=title, xlabel="rank of the truth", ylabel="how many", xlim=(0, 1))
            figure.savefig(args.out, dpi=120)
    return 0


if __name__ == "__main__":
    sys.exit(main())
