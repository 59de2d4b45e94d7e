"""How many answers the measurement of the noise, the start and each stage take."""

from __future__ import annotations

import math

from mixsense.methods.frugal import tuning


def noise_batch(budget: int) -> int:
    """Return how many answers measure an unknown noise.

    Examples
    --------
    >>> noise_batch(3), noise_batch(100), noise_batch(10_000)
    (0, 16, 30)
    """
    wanted = max(tuning.LEAST_NOISE_ANSWERS, tuning.NOISE_SHARE * min(budget, tuning.NOISE_BUDGET))
    return int(min(budget // tuning.NOISE_BUDGET_PART, wanted))


def expected_sparsity(n: int) -> float:
    """Return a guess of k where it is not given: 5 at n = 100, growing with the cube root."""
    return tuning.TYPICAL_SPARSITY * math.cbrt(n / tuning.TYPICAL_LENGTH)


def first_batch(n: int, k: int | None, budget: int) -> int:
    """Return how many unsteered queries come first: enough for the larger coefficients, at most 40 % of the budget."""
    k_ = k or expected_sparsity(n)
    enough = tuning.START_PER_COEFFICIENT * k_ * math.log(n / k_ + 1) + tuning.START_BASE
    return int(max(min(enough, tuning.LARGEST_START * budget), min(budget, tuning.LEAST_START)))


def start_size(first: int, left: int, gamma: float | None) -> int:
    """Return how many of the first batch are asked before the first fit, with `left` answers in the budget."""
    wanted = first if gamma is None else max(1, int(tuning.START_SHARE_WITH_GAMMA * first))
    return min(wanted, left)


def least_answers(n: int) -> int:
    """Return how many answers a certificate takes in a box of n features: with fewer, the checks have no power.

    Examples
    --------
    >>> least_answers(2), least_answers(8), least_answers(30)
    (250, 200, 150)
    """
    (few, most), (many, least) = tuning.LEAST_IN_BOX
    part = min(max((n - few) / (many - few), 0.0), 1.0)
    return round(most + part * (least - most))


def growth(n: int, spends: bool) -> float:
    """Return which share of the answers so far a stage adds where no bound says how many are missing.

    Where the energy follows what was found until a budget is spent, stages are small.

    Examples
    --------
    >>> growth(100, False), growth(100, True), growth(10_000, True)
    (0.2, 0.1, 0.2)
    """
    return tuning.BUDGET_STAGE_GROWTH if spends and n <= tuning.SHORT_VECTORS else tuning.STAGE_GROWTH


def next_size(
    N: int, left: int, bound: float, gamma: float | None, least: int = 0, share: float = tuning.STAGE_GROWTH
) -> int:
    """Return how many answers the next stage takes, of `left` in the budget; a certificate takes `least` of them.

    As many as may bring the bound, which falls like 1/√N, down to γ, but not too many at once; `share` of those so far
    where there is no bound.

    Examples
    --------
    >>> next_size(1000, 10_000, 0.22, 0.2), next_size(1000, 10_000, 0.4, 0.2), next_size(1000, 10_000, math.inf, 0.2)
    (210, 400, 200)
    """
    if gamma is not None and math.isfinite(bound):
        wanted = (bound / max(gamma, 1e-300)) ** 2 - 1
        share = min(max(wanted, tuning.LEAST_STAGE_GROWTH), tuning.LARGEST_STAGE_GROWTH)
    q = max(tuning.LEAST_STAGE, math.ceil(round(share * N, 6)))
    if gamma is not None and bound <= gamma:
        q = max(q, least - N)
    q = min(left, q)
    return left if left - q < tuning.SMALLEST_REST * q else q  # no crumbs at the end


def largest_useful_bound(gamma: float) -> float:
    """Return the error bound above which the next stage is as large as it can be, whatever the bound is.

    Examples
    --------
    >>> round(largest_useful_bound(0.2), 3), next_size(1000, 10_000, 0.24, 0.2) == next_size(1000, 10_000, 9.0, 0.2)
    (0.237, True)
    """
    return gamma * math.sqrt(1 + tuning.LARGEST_STAGE_GROWTH)


def enough_of(q: int, left: int) -> float:
    """Return which part of q answers is enough to go on, with `left` answers in the budget: of the last ones, all.

    Examples
    --------
    >>> enough_of(60, 500), enough_of(60, 60)
    (0.9, 1.0)
    """
    return tuning.ENOUGH if q < left else 1.0
