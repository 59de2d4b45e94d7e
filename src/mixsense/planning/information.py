"""How much less answers on a scale tell than real numbers: ratings are rounded and cut, probabilities rounded."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_float
from mixsense.errors import InvalidInput
from mixsense.scales import Probability, Rating, scale_of
from mixsense.scales.scale import Scale

VALUES, NOISES = 61, 201
"""Linear values, and draws of the noise at each of them, that the information is a mean over (taste: within 1 %)."""
LOUDER = 0.75
"""Spread of a model's values at focused queries over that at Gaussian ones, in units of √(n/k).
Swept: 0.84 at n = 20 and 0.73 at n = 50 with k = 4, seeds [0, 0] to [2, 0], 600 answers."""
LARGEST_LOSS = 1000.0
"""Where answers tell less than 1/1000 of a real number, nothing is planned (taste)."""


def answers_for_one(scale: Scale, k: int, sigma: float, level: float, spread: float) -> float:
    """Return how many answers on a scale tell as much as one real number.

    Parameters
    ----------
    scale : Scale
        What an answer is.
    k : int
        How many coefficients of each vector matter.
    sigma : float
        Noise of the linear value.
    level, spread : float
        Mean and standard deviation of a model's linear values over the queries.

    Notes
    -----
    With h(v) the information of an answer at the value v, relative to that of a real number, and v normal: of k
    directions one is that of the vector itself, in which queries tell E[h (v − level)²]/spread² of what they would; in
    the others they tell E[h]. The mean of the squared errors over all directions grows as the mean of the inverses.

    Examples
    --------
    >>> from mixsense.scales import Probability, Rating
    >>> answers_for_one(Probability(), 5, 0.5, 0.0, 1.0)
    1.0
    >>> step = answers_for_one(Rating(-50, 50), 5, 0.6, 0.0, 2.0)  # rounding adds 1/12 to a variance of 0.36
    >>> round(step, 2), answers_for_one(Rating(-3, 3), 5, 0.6, 0.0, 3.0) > 1.5 * step
    (1.23, True)
    """
    z = _normal(VALUES)
    h = information(scale, level + spread * z, sigma)
    aside, along = float(h.mean()), float((h * z * z).mean() / (z * z).mean())
    if min(aside, along) * LARGEST_LOSS < 1:
        raise InvalidInput(
            f"answers with values around {level:.3g} ± {spread:.3g} are nearly all at the ends of the scale: give the "
            "level and the spread of the values that you expect, or a wider scale"
        )
    return max(1.0, ((k - 1) / aside + 1 / along) / k)


def information(scale: Scale, values: Array, sigma: float) -> Array:
    """Return how much an answer at each linear value tells about it, (q,), relative to a real number: 0 to 1.

    Examples
    --------
    >>> from mixsense.scales import Rating
    >>> information(Rating(1, 7, step=0), np.array([4.0, 7.0]), 0.5).round(2)
    array([1.  , 0.82])
    """
    noisy = values[:, None] + sigma * _normal(NOISES)
    mean = np.repeat(values, NOISES)
    curvature = scale.terms(scale.answer(noisy.ravel()), mean[:, None], sigma).curvature
    found: Array = curvature.reshape(noisy.shape).mean(axis=1)
    return found


class Lost(NamedTuple):
    """How many answers on a scale tell as much as one real number."""

    plain: float
    """To Gaussian queries, as at the start."""
    focused: float
    """To focused ones, whose values are more often at the ends."""

    @classmethod
    def of(cls, scale: Scale, n: int, k: int, sigma: float, gap: float, level: float, spread: float | None) -> Lost:
        """Return what a scale loses; the spread is the same for all queries if it is given.

        Else it is that of vectors of one length that have nothing in common.
        """
        plain = gap / math.sqrt(2) if spread is None else spread
        louder = max(1.0, LOUDER * math.sqrt(n / k)) * plain if spread is None else spread
        return cls(*(answers_for_one(scale, k, sigma, level, each) for each in (plain, louder)))


def scale_expected(
    scale: Any, level: float | None, spread: float | None
) -> tuple[Rating | Probability | None, float, float | None]:
    """Return the scale, the level, which is its middle if left out, and the spread if it was given: all checked."""
    scale = scale_of(scale)
    if scale is None:
        if level is not None or spread is not None:
            raise InvalidInput("level and spread are for answers on a scale: give scale, or leave them out")
        return None, 0.0, None
    middle = 0.0 if isinstance(scale, Probability) else sum(scale.ends) / 2
    level = middle if level is None else as_float("level", level, "the mean linear value that you expect")
    hint = "the standard deviation of a model's linear values over the queries"
    return scale, level, None if spread is None else as_float("spread", spread, hint, 0.0, strict=True)


def _normal(count: int) -> Array:
    """Return the midpoints of equally probable parts of N(0, 1)."""
    from scipy.special import ndtri

    found: Array = ndtri((np.arange(count) + 0.5) / count)
    return found
