"""How many answers does each method take: the formulas behind `mixsense.plan`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.paper.constants import Constants
from mixsense.methods.paper.estimate import Accuracy
from mixsense.planning import limits
from mixsense.planning.calibration import CERTIFIED, FRUGAL, RANGES
from mixsense.problem import Weights

PLAYS = 15
"""So many times Algorithm 8 is played through; the median counts."""
MOST = 1000
"""With at most so many queries; more cost in proportion."""


def paper(n: int, k: int, sigma: float, gap: float, gamma: float, eta: float, constants: Constants) -> int:
    """Return the answers that ``method="paper"`` takes: Algorithm 8, played through without an oracle.

    Parameters
    ----------
    n, k, sigma, gap, gamma, eta
        As for `mixsense.plan`; γ < gap/2.
    constants : Constants
        `THEORY` or `PRACTICAL`.

    Returns
    -------
    int
        The batches of m base queries and of 2(m − 1) sums and differences with the pivot.

    Notes
    -----
    No answer is drawn, only what decides the size of the batches: the separations ⟨x, Δ⟩ ~ N(0, gap²) of the queries,
    and the sample variances, by their first two moments. The median over a few plays with fixed seeds.

    Examples
    --------
    >>> from mixsense.methods.paper.constants import PRACTICAL, THEORY
    >>> round(paper(60, 3, 1.0, 20.0, 0.3, 0.05, PRACTICAL), -4)  # docs/constants.md: 85,400, the median of 100 runs
    90000
    >>> paper(60, 3, 1.0, 20.0, 0.3, 0.05, THEORY) > 10**11
    True
    """
    m = constants.number_of_queries(n, k)
    accuracy = Accuracy(sigma, gamma, math.log(3 * m / eta), constants)
    size = _size_for_the_gap(m, gap, accuracy, eta)
    accuracy = replace(accuracy, gamma=min(gamma, constants.pivot_ratio * gap))  # the proof's γ' (case 1)
    played = min(m, MOST)
    counts = []
    for seed in range(PLAYS):
        rng = np.random.default_rng(seed)
        d = gap * np.sort(np.abs(rng.standard_normal(played)))  # |⟨x, Δ⟩| of each query
        others, pivot = d[:-1], d[-1]
        pairs = np.concatenate([others + pivot, others - pivot])
        counts.append(_batches(d, size, accuracy, rng) + _batches(pairs, accuracy.test_samples, accuracy, rng))
    return sorted(counts)[PLAYS // 2] * m // played


def _size_for_the_gap(m: int, gap: float, accuracy: Accuracy, eta: float) -> int:
    """Answers to each base query until ‖β¹ − β²‖ is known well enough to set γ' (see `methods.paper`)."""
    from scipy.special import chdtri

    c, size, sigma = accuracy.constants, accuracy.test_samples, accuracy.sigma
    z = NormalDist().inv_cdf(1 - eta / 4)
    while size < accuracy.close_samples:
        noise = z * math.sqrt(16 * (2 * sigma**4 + sigma**2 * gap**2) / (size - 1) / m)  # of the mean of 4(S² − σ²)
        low = math.sqrt(max(0.0, gap**2 - noise) / (chdtri(m, eta / 4) / m))
        high = math.sqrt((gap**2 + noise) / (chdtri(m, 1 - eta / 4) / m))
        if accuracy.gamma >= c.single_fraction * high or (
            low > 0 and (accuracy.gamma <= c.pivot_ratio * low or high <= 2 * low)
        ):
            break
        size *= 2
    return size


def _batches(d: Array, size: int, accuracy: Accuracy, rng: np.random.Generator) -> int:
    """Sum of the batches of queries whose means are |d| apart, doubled from `size` on until each is large enough."""
    sigma, h2 = accuracy.sigma, d**2 / 4
    sd = np.sqrt(2 * sigma**4 + 4 * sigma**2 * h2)  # of the sample variance, times √T
    sizes = np.full(len(d), float(size))
    noise = sd * np.sqrt(sizes) * rng.standard_normal(len(d))  # T (S² − σ² − h²): grows like a random walk
    while True:
        seen = np.maximum(h2 + noise / sizes, 0)
        spread = np.sqrt((2 * sigma**4 + 4 * sigma**2 * seen) / sizes)
        low = np.maximum(seen - math.sqrt(2 * accuracy.log_eta) * spread, 0)
        needed = np.ceil(np.minimum(accuracy.em_samples(2 * np.sqrt(low)), accuracy.close_samples))
        short = sizes < needed
        if not short.any():
            return int(sizes.sum())
        level = sizes[short].min()
        index = np.flatnonzero(short & (sizes == level))
        more = min(level, needed[index].max() - level)
        sizes[index] += more
        noise[index] += sd[index] * math.sqrt(more) * rng.standard_normal(len(index))


def noiseless(n: int, k: int, constants: Constants, printed: bool = False) -> int:
    """Return the answers that the noiseless scheme takes, on average; `printed` repeats each query as the paper does.

    A query shows both of its values after three answers on average, and one answer to its sum with another aligns it.

    Examples
    --------
    >>> from mixsense.methods.paper.constants import PRACTICAL
    >>> noiseless(100, 5, PRACTICAL), noiseless(100, 5, PRACTICAL, printed=True)
    (371, 3878)
    """
    m = min(constants.number_of_queries(n, k), max(n, 2))
    if printed:
        return math.ceil(constants.noiseless_repeats * math.log2(m)) * (3 * m - 2)
    return 3 * m + (m - 1)


def tagged(k: int, gamma: float, weights: Weights | None = None) -> int:
    """Return how many tagged answers to Gaussian queries give an expected worst error of γ (in σ), supports known.

    Examples
    --------
    >>> tagged(5, gamma=0.1)
    1272
    """
    return math.ceil((tagged_precision(k, 1, weights) / gamma) ** 2)


def tagged_precision(k: int, queries: int, weights: Weights | None = None) -> float:
    """Return the expected worst error of so many tagged answers, in units of σ."""
    few = min(k, 100)  # not the values, only the number of coefficients counts; beyond 100 as its root
    return limits.tagged(np.ones((2, few)), 1.0, queries, weights) * math.sqrt(k / few)


def frugal(n: int, k: int, gap: float, gamma: float, share: float = 0.5, certified: bool = False) -> int:
    """Return the answers with which the frugal method is within γ in at least nine runs of ten; calibrated.

    Parameters
    ----------
    n, k : int
        As for `mixsense.plan`.
    gap, gamma : float
        In units of σ.
    share : float
        The smaller of the two shares: of so many answers the rarer vector is found.
    certified : bool
        The answers until the method itself is sure of γ, and stops: so many at most in nine runs of ten.

    Notes
    -----
    N = S + P (σ/γ)². The start S grows as k log(n/k), and more where the vectors are close: they are faint then. The
    rest is the precision of 2k coefficients from queries that are focused on them, which helps more the larger n is,
    and that are pushed until the answers label themselves, which costs more the smaller the gap is. Beyond the
    calibrated n the focus counts as at its end: no run has shown that it helps further.

    Examples
    --------
    >>> frugal(100, 5, 5.0, 0.1) < frugal(100, 5, 5.0, 0.05) < frugal(100, 5, 1.0, 0.05)
    True
    """
    start, precision = frugal_parts(n, k, gap, share)
    needed: int = math.ceil(start + precision / gamma**2)
    if certified:  # to be sure of γ takes at least what it takes to be within it
        start, precision = frugal_parts(n, k, gap, share, CERTIFIED)
        needed = max(needed, math.ceil(start + precision / gamma**2))
    return needed


def frugal_precision(n: int, k: int, gap: float, queries: int, share: float = 0.5) -> float:
    """Return the γ (in σ) that the frugal method reaches with so many answers; inf before its start is over."""
    start, precision = frugal_parts(n, k, gap, share)
    return math.sqrt(precision / (queries - start)) if queries > start else math.inf


def frugal_parts(n: Any, k: Any, gap: Any, share: float = 0.5, coefficients: Mapping[str, float] = FRUGAL) -> Any:
    """Return S and P of the calibrated N = S + P (σ/γ)², of numbers or of arrays; gap in units of σ."""
    c = coefficients
    rarer = 0.5 / share
    start = c["base"] + rarer * c["start"] * k * np.log(n / k + 1) * np.sqrt(1 + c["faint"] / gap**2)
    seen = np.minimum(n, RANGES["n"][1])  # a plan must not get cheaper where no run was made
    precision = rarer * c["precision"] * k ** c["crowd"] / seen ** c["focus"] * (1 + c["labels"] / gap ** c["power"])
    return start, precision
