"""What a run that spends a budget can reach at all: designs whose answers are tagged, with the prior known.

    python benchmarks/spending.py [--gap 1] [--answers 5000] [--worlds 1000] [--runs 20]

n = 100, k = 5, σ = 1. The energy E on a coordinate tells each of the two models with the information E/2, as if labels
and all other coefficients were known. Errors are over `ms.limits.focused`, which knows the supports too. `--runs` says
of how many runs a benchmark takes the median, whose spread is printed.

Two kinds of design: that of `mixsense.methods.frugal.spending`, with several sharpnesses; and optimal stopping. The
latter raises all coordinates together, and gives each of them up where that minimises the expected sum of min(e², c²)
plus λ times the information, solved backwards on a grid. At the price λ, what was found gets Gf = 1/√λ of it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import ndtr

import mixsense as ms
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.sizes import first_batch, growth, next_size
from mixsense.methods.frugal.spending import lacking
from mixsense.regression.spike_slab import Prior, marginal

N_FEATURES, K = 100, 5
FIRST_WORLD = 100_000  # worlds that no other benchmark and no setting has seen
SHARPNESSES = (tuning.SHARPNESS, (0.3, 0.9), (0.4, 1.2), (0.5, 0.5), (1.0, 1.0))
STOPPING = ((math.inf, 2.2e4), (0.03, 2.8e4), (0.02, 4.0e4))  # c and Gf: about what uses up 5,000 answers at gap 1
FARTHEST, STEP, RATIO = 8.0, 0.1, 1.1  # the grid: |t| up to this, in steps; information in these ratios

Design = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]


def prior_of(gap: float) -> Prior:
    """Return the prior: of ten coefficients of two models this far apart."""
    rate = K / N_FEATURES
    return Prior((gap**2 / (2 * K),), (math.log(rate / (1 - rate)),))


class Seen:
    """What tagged answers have told about the coefficients (2, n) of a pair."""

    def __init__(self, pair: np.ndarray, prior: Prior, rng: np.random.Generator) -> None:
        self.pair, self.prior, self.rng = pair, prior, rng
        self.score, self.energy = np.zeros_like(pair), np.zeros(pair.shape[1])

    @property
    def information(self) -> np.ndarray:
        """(n,), about each of the two models."""
        return np.maximum(self.energy / 2, 1e-9)

    def ask(self, energy: np.ndarray) -> None:
        """Spend energy (n,) on the coordinates."""
        told = energy / 2
        self.score += told * self.pair + np.sqrt(told) * self.rng.standard_normal(self.pair.shape)
        self.energy += energy

    def posterior(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean, variance and probability to be non-zero of each coefficient."""
        found = marginal(self.score, np.broadcast_to(self.information, self.score.shape), self.prior)
        return found.mean, found.square - found.mean**2, found.inclusion


def sharp(gap: float, early: float, late: float) -> Design:
    """Return the design of runs that spend a budget, with these powers of the chance to matter."""

    def run(pair: np.ndarray, N: int, rng: np.random.Generator) -> np.ndarray:
        seen, n = Seen(pair, prior_of(gap), rng), pair.shape[1]
        asked = first_batch(n, None, N)
        seen.ask(np.full(n, asked * tuning.QUERY_ENERGY))
        while asked < N:
            _, variance, inclusion = seen.posterior()
            chance = np.maximum(inclusion, variance * seen.information).max(axis=0)
            power = early + (late - early) * asked / N
            left = N - asked
            wanted = np.clip(chance, tuning.LEAST_CHANCE, 1.0) ** power
            q = next_size(asked, left, math.inf, None, share=growth(n, spends=True))
            seen.ask(lacking(wanted, seen.energy, left * tuning.QUERY_ENERGY * n) * q / left)
            asked += q
        return seen.posterior()[0]

    return run


def stopping(gap: float, most: float, information: float) -> Design:
    """Return optimal stopping, for errors that count up to `most` and this information on what was found."""
    prior = prior_of(gap)
    levels = first_batch(N_FEATURES, None, 10**6) * RATIO ** np.arange(80)
    go_on = list(reversed(list(_continued(prior, levels, most, information**-2))))

    def run(pair: np.ndarray, N: int, rng: np.random.Generator) -> np.ndarray:
        seen, n = Seen(pair, prior, rng), pair.shape[1]
        alive, left = np.ones(n, bool), N * tuning.QUERY_ENERGY * n
        seen.ask(np.full(n, 2 * levels[0]))
        left -= 2 * levels[0] * n
        for here, there, go in zip(levels[:-1], levels[1:], go_on, strict=False):
            t = np.abs(seen.score) / math.sqrt(here)
            i, j = np.minimum(np.rint(t / STEP), len(go) - 1).astype(int)
            alive &= np.where((t > FARTHEST).any(axis=0), here < information, go[i, j])
            energy = alive * 2 * (there - here)
            if energy.sum() > left:
                break
            seen.ask(energy)
            left -= energy.sum()
        wanted = np.where(seen.posterior()[2].max(axis=0) > 0.5, 1.0, 1e-9)  # what is left goes to what was found
        seen.ask(lacking(wanted, seen.energy, left))
        return seen.posterior()[0]

    return run


def _continued(prior: Prior, levels: np.ndarray, most: float, price: float) -> Iterator[np.ndarray]:
    """Yield, from the last level backwards, where (|t¹|, |t²|) a coordinate is asked about further."""
    t = np.arange(0, FARTHEST + STEP / 2, STEP)
    edges = np.concatenate([[0.0], t[:-1] + STEP / 2, [FARTHEST + STEP / 2]])
    (slab,), size = prior.variances, len(t)
    value, above = None, math.nan
    for G in levels[::-1]:
        b, v = t * math.sqrt(G), 1 / (G + 1 / slab)
        p = marginal(b, np.full(size, G), prior).inclusion
        loss = _loss(p, v * b, v, most)
        stop = loss[:, None] + loss[None, :]
        last = max(price**-0.5, G)  # the information at which a coordinate that was found stops
        known = price * (last - G) + 1 / last
        if value is None:
            go = np.zeros_like(stop, bool)
        else:
            d = above - G
            ends = edges * math.sqrt(above)
            step = np.zeros((size, size + 1))  # from |t| here to |t| at the level above; the last is beyond the grid
            for part, mean, sd in ((1 - p, b, math.sqrt(d)), (p, b + v * b * d, math.sqrt(d + v * d * d))):
                inside = ndtr((ends - mean[:, None]) / sd) - ndtr((-ends - mean[:, None]) / sd)
                step[:, :size] += part[:, None] * np.diff(inside, axis=1)
                step[:, size] += part * (1 - inside[:, -1])
            ask = price * d + step @ value @ step.T
            go = ask < stop
            stop = np.where(go, ask, stop)
        value = np.full((size + 1, size + 1), known + 1 / last)
        value[:size, :size] = stop
        value[size, :size] = value[:size, size] = known + p / last
        above = G
        yield go


def _loss(p: np.ndarray, m: np.ndarray, v: float, most: float) -> np.ndarray:
    """Return E min(e², most²) of posterior means: zero with probability 1 − p, else N(m, v)."""
    z, weight = np.polynomial.hermite_e.hermegauss(31)
    error = m[:, None] + math.sqrt(v) * z - (p * m)[:, None]
    there = np.minimum(error**2, most**2) @ (weight / weight.sum())
    loss: np.ndarray = p * there + (1 - p) * np.minimum((p * m) ** 2, most**2)
    return loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gap", type=float, default=1.0)
    parser.add_argument("--answers", type=int, default=5000)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    gap, N = given.gap, given.answers
    seeds = range(FIRST_WORLD, FIRST_WORLD + given.worlds)
    pairs = [ms.random_pair(N_FEATURES, K, gap, seed=seed) for seed in seeds]
    # The limit depends on the pair by the size of its union only.
    unions = [int(pair.any(axis=0).sum()) for pair in pairs]
    limit = {s: ms.limits.focused(pairs[unions.index(s)], 1.0, N) for s in set(unions)}
    designs = {f"sharpness {a:g} to {b:g}": sharp(gap, a, b) for a, b in SHARPNESSES}
    designs |= {f"stopping, c = {c:g}, Gf = {Gf:,.0f}": stopping(gap, c, Gf) for c, Gf in STOPPING}
    print(f"gap {gap:g}, {N:,} tagged answers, {len(pairs)} worlds; error over ms.limits.focused\n")
    print(f"| design | median | 3 of 4 | 9 of 10 | at most 1.25 | at most 1.8 | median of {given.runs} runs, 80 % |")
    print("|---|---|---|---|---|---|---|")
    for name, design in designs.items():
        errors = [
            np.linalg.norm(design(pair, N, np.random.default_rng([seed, 1])) - pair, axis=1).max() / limit[s]
            for seed, pair, s in zip(seeds, pairs, unions, strict=True)
        ]
        middle, most, nine = np.quantile(errors, (0.5, 0.75, 0.9))
        share = [f"{np.mean(np.array(errors) <= bound):.2f}" for bound in (1.25, 1.8)]
        medians = np.median(np.random.default_rng(0).choice(errors, (4000, given.runs)), axis=1)
        low, high = np.quantile(medians, (0.1, 0.9))
        cells = [f"{middle:.2f}", f"{most:.2f}", f"{nine:.2f}", *share, f"{low:.2f} to {high:.2f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
