"""Density evolution: which part of the coefficients Mixed-Coloring recovers, and the design that follows from it.

Nothing here is taken from the publication's text: the recursions are derived (docs/predecessors.md), and one of two
readings that agree with the table as remembered.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from mixsense.methods.predecessors import tuning


class Design(NamedTuple):
    """How often each query is asked, how many layers there are, and the bins of all layers over K."""

    repeats: int
    layers: int
    bins: float


def heard(share: float, repeats: int) -> float:
    """Return the probability π that a model of this share is heard in all three queries of a bin.

    Examples
    --------
    >>> heard(0.5, 3)
    0.669921875
    """
    return float((1 - (1 - share) ** repeats) ** 3)


def unowned(crowd: float, layers: int, pi: float) -> float:
    """Return the share of a model's coefficients that get no owner: p ← (1 − π (exp(−λp) − exp(−λ)))^(d−1).

    The recursion starts from what the giant component of strong doubletons owns; without one nothing has an owner.

    Parameters
    ----------
    crowd : float
        λ, coefficients of the model in a bin.
    layers : int
        d, bins that each coefficient is in.
    pi : float
        Probability that the model is heard in a bin.
    """
    if degree(crowd, layers, pi) <= 1:
        return 1.0
    p = 1 - giant(crowd, layers, pi)
    for _ in range(tuning.EVOLUTION_STEPS):
        p = (1 - pi * (math.exp(-crowd * p) - math.exp(-crowd))) ** (layers - 1)
    return float((1 - pi * (math.exp(-crowd * p) - math.exp(-crowd))) ** layers)


def degree(crowd: float, layers: int, pi: float) -> float:
    """Return the mean degree of the graph of strong doubletons; there is a giant component if it is above 1."""
    alone = pi * math.exp(-crowd)  # a bin in which a coefficient is the model's only one, and heard
    other, own = 1 - (1 - alone) ** (layers - 1), 1 - (1 - alone) ** layers
    return float(layers * crowd * alone * other**2 / own)


def giant(crowd: float, layers: int, pi: float) -> float:
    """Return the share of a model's coefficients that its giant component of strong doubletons holds.

    Of a Poisson graph: the largest root of g = 1 − exp(−degree · g), of those that are singletons somewhere.
    """
    g, mean = 1.0, degree(crowd, layers, pi)
    for _ in range(tuning.EVOLUTION_STEPS):
        g = 1 - math.exp(-mean * g)
    return float(g * (1 - (1 - pi * math.exp(-crowd)) ** layers))


def design_for(models: int, share: float) -> Design:
    """Return the design for the smallest share: that of the table if all shares are equal, else by density evolution.

    Examples
    --------
    >>> design_for(2, 0.5)
    Design(repeats=3, layers=15, bins=3.71)
    >>> design_for(2, 0.3).repeats, design_for(5, 0.2).repeats
    (6, 10)
    """
    if models in tuning.DESIGNS and share * models > 1 - tuning.FLOOR:
        return Design(*tuning.DESIGNS[models])
    repeats = 1
    while share < 1 and heard(share, repeats) < tuning.HEARD:
        repeats += 1
    pi, layers = heard(share, repeats), 2
    while layers < tuning.MOST_LAYERS and (
        unowned(tuning.CROWD, layers, pi) > tuning.FLOOR or degree(tuning.CROWD, layers, pi) < tuning.DEGREE
    ):
        layers += 1
    return Design(repeats, layers, layers / (tuning.CROWD * models))
