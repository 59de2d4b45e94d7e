"""Probabilities: the logit of the answer is the linear value plus noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_int, shown
from mixsense.errors import InvalidInput
from mixsense.scales.interval import interval_terms
from mixsense.scales.scale import Terms

MOST_DIGITS = 6
"""Answers with more digits than this are not taken for rounded.
Derived: half a unit of the seventh digit moves the logit by less than 10⁻³ unless the answer is below 10⁻⁴."""
FLOAT_EDGE = 36.0
"""A logit beyond this is 0 or 1 as a float. Derived: log 2⁵²."""
BEYOND = 0.5
"""An answer of 0 or 1 stands this far beyond the end of its interval where starts need one number (taste)."""
NODES = 31
"""Points of the integral over the noise in a prediction (taste: exact to 10⁻⁶ for σ up to 3)."""


@dataclass(frozen=True, slots=True)
class Probability:
    """Answers that are probabilities: log(p/(1 − p)) is the linear value plus noise.

    An answer of 0 or 1, and one that was rounded to some digits, only says in which interval the value was.

    Parameters
    ----------
    digits : int, optional
        Answers are rounded to this many digits after the point. None: found in the answers, as many as all of them
        have; with more than six they are not rounded.

    Examples
    --------
    >>> Probability(digits=2).answer(np.array([-9.0, 0.0, 1.0]))
    array([0.  , 0.5 , 0.73])
    >>> Probability().predict(np.array([[1.0]]), 0.0).round(3)
    array([[0.731]])
    """

    digits: int | None = None

    def __post_init__(self) -> None:
        if self.digits is not None:
            hint = "how many digits after the point answers have, or None to find it"
            object.__setattr__(self, "digits", as_int("digits of a probability", self.digits, 1, hint, 15))

    @property
    def words(self) -> str:
        """What answers are called."""
        return "probabilities, their logit"

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest answer."""
        return 0.0, 1.0

    @property
    def narrowest(self) -> float:
        """How much the last digit moves the logit where that is least, at 1/2; 0 if it is not known."""
        return 0.0 if self.digits is None else 4.0 * 10.0**-self.digits

    def interval(self, y: Array) -> tuple[Array, Array]:
        """Return where the logit was, noise included: the lower and the upper ends, (N,) each."""
        digits = _digits_of(y) if self.digits is None else self.digits
        if digits is None:
            low = high = logit(y)
            return np.where(y >= 1, FLOAT_EDGE, low), np.where(y <= 0, -FLOAT_EDGE, high)
        half = 0.5 * 10.0**-digits
        return logit(np.maximum(y - half, 0.0)), logit(np.minimum(y + half, 1.0))

    def terms(self, y: Array, mean: Array, sigma: float | Array) -> Terms:
        """Return what answers y (N,) tell about means (N, L)."""
        return interval_terms(*self.interval(y), mean, sigma)

    def anywhere(self, y: Array) -> Array:
        """Return the log-density of answers that have nothing to do with the query, (N,): uniform from 0 to 1."""
        low, high = self.interval(y)
        below, above = np.isneginf(low), np.isposinf(high)
        exact = low == high
        mass = np.where(exact, y * (1 - y), expit(high) - expit(low))  # of a point, the density of the logit
        return np.log(np.maximum(np.where(below | above, np.maximum(mass, 1e-16), mass), 1e-300))

    def value(self, y: Array) -> Array:
        """Return the logits; of 0 and 1 they are a little beyond those of all other answers."""
        low, high = self.interval(y)
        below, above = np.isinf(low), np.isinf(high)
        inner = ~below & ~above
        found = np.zeros(len(y))
        found[inner] = (low[inner] + high[inner]) / 2
        least, most = float(found[inner].min(initial=0.0)), float(found[inner].max(initial=0.0))
        found[below] = np.maximum(high[below], least) - BEYOND
        found[above] = np.minimum(low[above], most) + BEYOND
        return found

    def answer(self, value: Array) -> Array:
        """Return what is answered where the logit, noise included, is this."""
        p = expit(value)
        return p if self.digits is None else np.round(p, self.digits)

    def predict(self, mean: Array, sigma: float | Array) -> Array:
        """Return the mean answer where the logit is `mean` plus noise."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        z = np.asarray(mean)[..., None] + np.asarray(sigma)[..., None] * nodes
        found: Array = expit(z) @ (weights / weights.sum())
        return found

    def check(self, y: Array) -> None:
        """Raise `InvalidInput` in one line if there are answers that this scale does not have."""
        off = (y < 0) | (y > 1)
        if off.any():
            raise InvalidInput(
                f"an answer is {shown(float(y[off][0]))}, and probabilities are between 0 and 1: leave the scale out, "
                "or let the oracle divide"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; `scale_of` reads them."""
        return {"scale": "probability"} | ({} if self.digits is None else {"digits": self.digits})


def _digits_of(y: Array) -> int | None:
    """Return how many digits after the point all answers have; None if there are too many to have been rounded."""
    for digits in range(1, MOST_DIGITS + 1):
        if np.array_equal(np.round(y, digits), y):
            return digits
    return None


def logit(p: Array) -> Array:
    """Return log(p/(1 − p)): −∞ at 0, ∞ at 1.

    Examples
    --------
    >>> logit(np.array([0.0, 0.5, 1.0]))
    array([-inf,   0.,  inf])
    """
    with np.errstate(divide="ignore"):
        found: Array = np.log(p) - np.log1p(-p)
    return found


def expit(value: Array) -> Array:
    """Return 1/(1 + exp(−value)).

    Examples
    --------
    >>> expit(np.array([-1000.0, 0.0]))
    array([0. , 0.5])
    """
    small = np.exp(-np.abs(value))
    found: Array = np.where(value < 0, small, 1.0) / (1 + small)
    return found
