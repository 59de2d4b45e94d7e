"""Focus and push of a run that spends a budget: no energy is needed where nothing seems to be.

There is no precision to certify, so that no part of a query has to be an instrument. What counts is the error at the
end: each coordinate is given what it lacks until then, and what all answers so far have told about it is counted.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.steering import Steering, labelled, told, with_block


def spend(chance: Array, X: Array, beta: Array, sigma: float, left: int, block: int = 1) -> Steering:
    """Split the energy of the next queries between focus and push, as if all that are left were asked like them.

    Parameters
    ----------
    chance : (n,) array
        Chance of each coordinate to matter.
    X : (N, n) array
        All queries so far.
    beta : (L, n) array
        The estimated models.
    sigma : float
        Noise of an answer.
    left : int
        How many answers are left in the budget.
    block : int
        This many answers share their model, and label each other.

    Notes
    -----
    Of two models every query is pushed along their difference Δ until its means are `reach` apart. A push changes no
    other direction, so that it costs E[max(|z|, reach)² − z²]/‖Δ‖² with z = ⟨x, Δ⟩; the rest is focus. The reach with
    the largest product of focus and of what an answer tells wins.
    """
    energy = tuning.QUERY_ENERGY * len(chance)
    early, late = tuning.SHARPNESS
    sharpness = early + (late - early) * len(X) / (len(X) + left)
    variance = lacking(chance**sharpness, told_so_far(X, beta, sigma, block), left * energy) / left
    if len(beta) > 2:
        return Steering(np.sqrt(variance), models=beta, sigma=sigma)
    delta = beta[0] - beta[1]
    gap2 = float(delta @ delta)
    natural = np.array(tuning.HALF_NORMAL) ** 2 * float(variance @ delta**2)  # ⟨x, Δ⟩² without a push
    chosen, most = Steering(np.sqrt(variance)), -math.inf
    for part in tuning.REACHES:
        reach = part * tuning.LABELLING_SEPARATION * sigma / math.sqrt(block)
        share = _left_for_focus(natural / gap2, reach**2 / gap2, energy)
        s2 = np.maximum(share * natural, reach**2) / sigma**2
        worth = share * told_of_two(with_block(s2, block))
        if worth > most:
            most, chosen = worth, Steering(np.sqrt(share * variance), delta, reach)
    return chosen


def told_so_far(X: Array, beta: Array, sigma: float, block: int = 1) -> Array:
    """Return the energy that was spent on each coordinate, (n,), that of an answer by the part which it tells."""
    means = X @ beta.T
    if len(beta) > 2:
        part = told(means, sigma).mean(axis=1)
    else:
        s2 = ((means[:, 0] - means[:, 1]) / sigma) ** 2
        part = labelled(with_block(s2, block))
    found: Array = np.einsum("i,ij,ij->j", part, X, X)
    return found


def lacking(wanted: Array, before: Array, energy: float) -> Array:
    """Spread energy so that what each coordinate has in all is in proportion to what is wanted.

    What has more already gets nothing. The expected squared error, the sum of chance/energy, is smallest if the roots
    of the chances are wanted.

    Parameters
    ----------
    wanted : (n,) array
        Positive numbers.
    before : (n,) array
        What each has.
    energy : float
        What is spread.

    Examples
    --------
    >>> lacking(np.array([1.0, 1.0, 0.1]), np.array([6.0, 2.0, 5.0]), 8.0)
    array([2., 6., 0.])
    """
    full = before / wanted  # the level from which on a coordinate gets something
    order = np.argsort(full)
    level = (energy + np.cumsum(before[order])) / np.cumsum(wanted[order])  # if only the first ones get something
    last = int(np.flatnonzero(level >= full[order])[-1])
    spread: Array = np.maximum(level[last] * wanted - before, 0)
    return spread


def told_of_two(s2: Array) -> float:
    """Return which part of the information of tagged answers untagged ones have about each of two models.

    Parameters
    ----------
    s2 : array
        Squared distance of the two means of each answer, in σ².

    Notes
    -----
    With the scores P R of the two models, an answer's information about the two means is (A, B; B, A), A = E[P₁² R₁²]
    and B = E[P₁ P₂ R₁ R₂], and the variance of one of them is A/(A² − B²), which is 2 where the answer is tagged.

    Examples
    --------
    >>> round(told_of_two(np.array([1.0])), 2), round(told_of_two(np.array([25.0])), 2)
    (0.48, 0.94)
    """
    at, own, shared = _two_means()
    s = np.sqrt(s2)
    A, B = float(np.interp(s, at, own).mean()), float(np.interp(s, at, shared).mean())
    return 2 * (A * A - B * B) / A


@cache
def _two_means() -> tuple[Array, Array, Array]:
    """Return distances of two means, with A and B of `told_of_two` at each."""
    s = np.linspace(0, tuning.FARTHEST_MEANS, tuning.MEANS_TRIED)
    e, weight = np.polynomial.hermite_e.hermegauss(tuning.NOISE_POINTS)
    R, other = e[None, :], e[None, :] + s[:, None]  # of an answer of the first model; one of the second is its mirror
    P = 1 / (1 + np.exp((R**2 - other**2) / 2))
    first, second, weight = P * R, (1 - P) * other, weight / weight.sum()
    return s, (first**2 + second**2) @ weight / 2, (first * second) @ weight


def _left_for_focus(natural: Array, reach: float, energy: float) -> float:
    """Return which share of the energy is left for focus beside a push; all are squares along the difference."""
    low, high = 0.0, 1.0
    for _ in range(30):  # bisection to 10⁻⁹
        share = (low + high) / 2
        used = share * energy + float(np.maximum(reach - share * natural, 0).mean())
        low, high = (share, high) if used <= energy else (low, share)
    return low
