"""Whether numbers are uniform between 0 and 1, as the probability transform of answers is if the models hold."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array


def uniform_p_value(u: Array) -> float:
    """Return the p-value of the Kolmogorov–Smirnov test of uniformity.

    Examples
    --------
    >>> uniform_p_value((np.arange(100) + 0.5) / 100), uniform_p_value(np.full(100, 0.5)) < 1e-6
    (1.0, True)
    """
    from scipy.special import kolmogorov

    m = len(u)
    u, i = np.sort(u), np.arange(1, m + 1)
    distance = max(float((i / m - u).max()), float((u - (i - 1) / m).max()))
    return float(kolmogorov(math.sqrt(m) * distance))
