"""How many answers does each method take: the formulas behind `mixsense.plan`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mixsense.methods.paper.constants import Constants
from mixsense.methods.paper.stopping import Accuracy
from mixsense.methods.verification.tuning import NEW_ROWS
from mixsense.planning import limits
from mixsense.planning.calibration import FRUGAL, RANGES, UNTIL_SURE
from mixsense.planning.play import play
from mixsense.problem import Weights

TWO = (0.5, 0.5)
"""The shares that the formulas are made for."""
Growth = tuple[float, float, float]
NO_GROWTH: Growth = (1.0, 1.0, 1.0)
PLAYS = (15, 101)
"""The fewest and the most plays of Algorithm 8, of which the median counts (taste: a plan takes a second at most)."""
PLAYED = 10_000
"""Queries of all plays together (swept on docs/constants.md: 15 plays are off by up to 47 %, these by up to 16 %)."""
MOST_PLAYED = 1000
"""The most queries of one play; more of them cost in proportion (taste)."""
MOST_COEFFICIENTS = 100
"""The limit of tagged answers is drawn for at most this many coefficients, and grows as their root beyond (taste)."""
FEW_COEFFICIENTS = 10
"""How many more answers three models or more take than two is computed for at most this many coefficients (taste: the
ratio hardly depends on them)."""


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
    The median over plays with fixed seeds; see `mixsense.planning.play`.

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
    played = min(m, MOST_PLAYED)
    plays = min(max(PLAYED // played, PLAYS[0]), PLAYS[1])
    counts = [play(m, played, gap, accuracy, eta, np.random.default_rng(seed)) for seed in range(plays)]
    return sorted(counts)[plays // 2] * m // played


EXACT_BASE, EXACT_SLOPE, EXACT_MODELS = 16.0, 1.3, 1.1
"""Answers of the frugal method without noise in nine of ten runs, over the smallest share: at least, for each
k log(n/k + 1), and times this for every model beyond two.
Swept: fitted by eye to seeds 500 to 511 of two models, n = 20 to 1,000 and k = 2 to 20, and of three, n = 20 to 300 and
k = 2 to 8, gap 5, and to seeds 0 to 9 of n = 100, k = 5, gap 2."""


def frugal_exact(n: int, k: int, shares: Weights) -> int:
    """Return the answers that the frugal method takes without noise, in nine runs of ten.

    Examples
    --------
    >>> frugal_exact(100, 5, (0.5, 0.5))
    72
    """
    each = EXACT_BASE + EXACT_SLOPE * k * math.log(n / k + 1)
    return math.ceil(each * EXACT_MODELS ** max(len(shares) - 2, 0) / min(shares))


def noiseless(n: int, k: int, constants: Constants, printed: bool = False) -> int:
    """Return the answers that the noiseless scheme takes, on average; `printed` repeats each query as the paper does.

    A query shows both of its values after three answers on average, and one answer to its sum with another aligns it;
    `NEW_ROWS` more verify the vectors.

    Examples
    --------
    >>> from mixsense.methods.paper.constants import PRACTICAL
    >>> noiseless(100, 5, PRACTICAL), noiseless(100, 5, PRACTICAL, printed=True)
    (391, 3878)
    """
    m = min(constants.number_of_queries(n, k), max(n, 2))
    if printed:
        return math.ceil(constants.noiseless_repeats * math.log2(m)) * (3 * m - 2)
    return 3 * m + (m - 1) + NEW_ROWS


def tagged(k: int, gamma: float, shares: Weights = TWO) -> int:
    """Return how many tagged answers to Gaussian queries give an expected worst error of γ (in σ), supports known.

    Examples
    --------
    >>> tagged(5, gamma=0.1)
    1272
    """
    return math.ceil((tagged_precision(k, 1, shares) / gamma) ** 2)


def tagged_precision(k: int, queries: int, shares: Weights = TWO) -> float:
    """Return the expected worst error of this many tagged answers, in units of σ."""
    few = min(k, MOST_COEFFICIENTS)  # only the number of the coefficients counts, not their values
    return limits.tagged(np.ones((len(shares), few)), 1.0, queries, shares) * math.sqrt(k / few)


def frugal(n: int, k: int, gap: float, gamma: float, growth: Growth = NO_GROWTH, until_sure: bool = False) -> int:
    """Return the answers with which the frugal method is within γ in at least nine runs of ten; calibrated.

    Parameters
    ----------
    n, k : int
        As for `mixsense.plan`.
    gap, gamma : float
        In units of σ.
    growth : three floats
        By how much base, S without it, and P are larger than for two models with equal shares; see `growth_of`.
    until_sure : bool
        The answers until the method itself is sure of γ, for typical vectors, and stops; nine runs of ten take no more.

    Notes
    -----
    N = S + P (σ/γ)². The start S grows as k log(n/k), and more where the vectors are close: they are faint then. The
    rest is the precision of the coefficients from queries that are focused on them, which helps more the larger n is,
    and that are pushed until the answers label themselves, which costs more the smaller the gap is. Beyond the
    calibrated n the focus counts as at its end: no run has shown that it helps further.

    Examples
    --------
    >>> frugal(100, 5, 5.0, 0.1) < frugal(100, 5, 5.0, 0.05) < frugal(100, 5, 1.0, 0.05)
    True
    """
    start, precision = frugal_parts(n, k, gap, growth)
    needed: int = math.ceil(start + precision / gamma**2)
    if until_sure:  # to be sure of γ takes at least what it takes to be within it
        start, precision = frugal_parts(n, k, gap, growth, UNTIL_SURE)
        needed = max(needed, math.ceil(start + precision / gamma**2))
    return needed


def frugal_precision(n: int, k: int, gap: float, queries: int, growth: Growth = NO_GROWTH) -> float:
    """Return the γ (in σ) that the frugal method reaches with this many answers; inf before its start is over."""
    start, precision = frugal_parts(n, k, gap, growth)
    return math.sqrt(precision / (queries - start)) if queries > start else math.inf


def frugal_parts(
    n: Any,
    k: Any,
    gap: Any,
    growth: Growth = NO_GROWTH,
    coefficients: Mapping[str, float] = FRUGAL,
) -> Any:
    """Return S and P of the calibrated N = S + P (σ/γ)², of numbers or of arrays; gap in units of σ."""
    c = coefficients
    start = growth[0] * c["base"] + growth[1] * c["start"] * k * np.log(n / k + 1) * np.sqrt(1 + c["faint"] / gap**2)
    seen = np.minimum(n, RANGES["n"][1])  # a plan must not get cheaper where no run was made
    precision = c["precision"] * k ** c["crowd"] / seen ** c["focus"] * (1 + c["labels"] / gap ** c["power"])
    return start, growth[2] * precision


def growth_of(k: int, gap: float, shares: Weights) -> Growth:
    """Return by how much base, S without it, and P are larger than for two models with equal shares.

    Parameters
    ----------
    k : int
        As for `mixsense.plan`.
    gap : float
        In units of σ.
    shares : L floats
        Of the models.

    Notes
    -----
    Only two models with equal shares are calibrated. Of two others S (but for its base) and P grow as 0.5/(smaller
    share): that part of the answers tells about the rarer vector. Of more than two models all of S grows as the cube of
    that (roughly what was seen: docs/plan.md), and P as the square of the untagged limit of vectors that are all at the
    same distance from each other.

    Examples
    --------
    >>> growth_of(5, 2.0, (0.75, 0.25))
    (1.0, 2.0, 2.0)
    >>> base, start, precision = growth_of(5, 2.0, (1 / 3,) * 3)
    >>> round(base, 2), round(start, 2), 2 < precision < 3
    (3.38, 3.38, True)
    """
    rarer = 0.5 / min(shares)
    if len(shares) == 2:
        return 1.0, rarer, rarer
    gap = min(max(gap, RANGES["gap/sigma"][0]), RANGES["gap/sigma"][1])
    few = min(k, FEW_COEFFICIENTS)

    def limit(shares: Weights) -> float:
        vectors = np.kron(np.eye(len(shares)), np.full((1, few), gap / math.sqrt(2 * few)))
        return limits.untagged(vectors, 1.0, 1, shares)

    return rarer**3, rarer**3, (limit(shares) / limit(TWO)) ** 2
