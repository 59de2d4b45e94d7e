"""What a picture shows of many runs: quantiles that may be infinite, and intervals of a probability."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from mixsense.arrays import Array


def quantile(values: Array, q: float) -> float:
    """Return the q-quantile of numbers that may be infinite; at q = ½ the median.

    Examples
    --------
    >>> quantile(np.array([3.0, 1.0, 2.0, np.inf]), 0.5), quantile(np.array([3.0, 1.0, 2.0, np.inf]), 0.75)
    (2.5, inf)
    """
    ordered, place = np.sort(values), q * len(values)
    above = ordered[min(int(place), len(values) - 1)]
    if place != int(place):
        return float(above)
    return float((ordered[max(int(place) - 1, 0)] + above) / 2)


def wilson(successes: int, runs: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a probability.

    Examples
    --------
    >>> low, high = wilson(10, 10)
    >>> round(low, 3), high
    (0.722, 1.0)
    """
    z = NormalDist().inv_cdf(0.975)
    p = successes / runs
    centre = (p + z**2 / (2 * runs)) / (1 + z**2 / runs)
    half = z / (1 + z**2 / runs) * math.sqrt(p * (1 - p) / runs + z**2 / (4 * runs**2))
    # At 0 and at all the end is exact; rounding must not move it.
    return (0.0 if successes == 0 else centre - half), (1.0 if successes == runs else centre + half)
