"""How many answers it takes to be sure of γ, whatever the vectors are: what the default method's certificate costs."""

from __future__ import annotations

import math

import numpy as np

from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.steering import labelled
from mixsense.methods.frugal.unseen import noncentrality
from mixsense.problem import DEFAULTS, Weights

FLOOR = tuning.FLOORS["any"][-1] * tuning.QUERY_ENERGY
"""Variance of every coordinate of a query that depends on no answer."""
UNLUCKY = 1.3
"""The estimate of the squared error is this many standard errors too large in one run of ten (derived: 1.28)."""
ANSWERS_A_COEFFICIENT = 12
"""Answers of its own that a model takes for each of its coefficients: with fewer there are false optima.
Swept: of 200 unusual plans with the seeds [13, 0] on (benchmarks/unusual_plans.py) 29 had fewer, and 17 of them
failed; of the 171 others 6 did."""
FIFTHS_OF_NORMAL = np.array([0.1257, 0.3853, 0.6745, 1.0364, 1.6449])
"""Midpoints of five equally probable parts of |N(0, 1)|."""
PUSHED = 0.7
"""Share of the rest of the energy that pushes a query until its answer labels itself, where it has to (taste)."""
OVERSHOOT = 1.2
"""What nine runs of ten take at most, in units of the formula: stages go beyond what is needed, and fits differ.
Swept: nine of ten of 100 runs with the seeds [9, 0] to [9, 99] took at most 1.13 of it, of 60 with the seeds [10, 0] on
1.15 (n 20 to 200, k 1 to 10, gap 0.5 to 20 σ, γ 0.05 to 0.5 σ)."""


def certain_of_any(n: int, k: int, gap: float, gamma: float, shares: Weights) -> int:
    """Return the answers after which γ is certified for any vectors, in nine runs of ten.

    Parameters
    ----------
    n, k : int
        As for `mixsense.plan`.
    gap, gamma : float
        In units of σ.
    shares : L floats
        Of the models.

    Notes
    -----
    With v = c/N the variance of one coefficient's step, m of them outside what was found, and λ the noncentrality
    that a χ² of m degrees of freedom is tested against, γ² = v (λ + χ²) is reached, with χ² the quantile of the k
    coefficients that were found: N = c (λ + χ²)/γ², and `OVERSHOOT` of it for nine runs of ten.

    Examples
    --------
    >>> certain_of_any(100, 5, 5.0, 0.1, (0.5, 0.5)) > 3 * certain_of_any(100, 5, 5.0, 0.2, (0.5, 0.5))
    True
    """
    from scipy.special import chdtri

    outside = max(n - k, 1)
    pushed = min((tuning.QUERY_ENERGY - FLOOR) * n * gap**2 * PUSHED, tuning.LABELLING_SEPARATION**2)
    told = float(labelled(np.maximum((gap * FIFTHS_OF_NORMAL) ** 2 * FLOOR, pushed)).mean())
    c = 1 / (min(shares) * FLOOR * told)
    eta = tuning.LOOK_SHARE_OF_ETA * DEFAULTS["eta"]
    tested = noncentrality(outside + UNLUCKY * math.sqrt(2 * outside), outside, eta)
    return math.ceil(OVERSHOOT * c * (tested + float(chdtri(k, eta))) / gamma**2)
