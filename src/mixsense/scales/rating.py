"""Ratings: the linear value plus noise, rounded to a step and cut at the ends of a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_float, shown
from mixsense.errors import InvalidInput
from mixsense.scales.interval import interval_terms
from mixsense.scales.scale import Terms

MOST_STEPS = 10**6
"""A range has at most this many steps: more are real numbers."""
OFF_STEP = 1e-6
"""Answers may be this share of a step beside it: what text and floats make of them."""


@dataclass(frozen=True, slots=True)
class Rating:
    """Answers on a scale with ends: the linear value plus noise, rounded to the nearest step, cut at the ends.

    An answer at an end only says that the value was there or beyond, one in between that it was within half a step.

    Parameters
    ----------
    low, high : float
        The ends of the scale.
    step : float or None
        Distance of two neighbouring answers; 0 for answers that are cut at the ends, but not rounded. None: found in
        the answers, 1 if all of them are whole numbers away from the ends, else 0.

    Examples
    --------
    >>> Rating(1, 7).answer(np.array([-2.0, 3.4, 9.0]))
    array([1., 3., 7.])
    >>> Rating(1, 7).predict(np.array([[4.0], [9.0]]), 1.0).round(2)
    array([[4.  ],
           [6.99]])
    """

    low: float
    high: float
    step: float | None = 1.0

    def __post_init__(self) -> None:
        hint = "give the ends of the scale and its step, e.g. Rating(1, 7)"
        for name in ("low", "high") if self.step is None else ("low", "high", "step"):
            object.__setattr__(self, name, as_float(f"{name} of a rating", getattr(self, name), hint))
        if not self.low < self.high:
            raise InvalidInput(f"a rating goes from {self.low:g} to {self.high:g}: give the lower end first")
        if self.step is None:
            return
        steps = (self.high - self.low) / self.step if self.step else 1.0
        if self.step < 0 or steps > MOST_STEPS or abs(steps - round(steps)) > OFF_STEP * max(steps, 1):
            raise InvalidInput(
                f"the step of a rating from {self.low:g} to {self.high:g} is {self.step:g}: the range has to be a "
                "whole number of steps; give 0 if answers are not rounded"
            )

    @property
    def words(self) -> str:
        """What answers are called."""
        return f"ratings from {self.low:g} to {self.high:g}"

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest answer."""
        return self.low, self.high

    @property
    def narrowest(self) -> float:
        """The step; 0 if there is none, or it is not known."""
        return self.step or 0.0

    def interval(self, y: Array) -> tuple[Array, Array]:
        """Return where the linear value was, noise included: the lower and the upper ends, (N,) each."""
        step = self._step_of(y)
        slack = OFF_STEP * (step or self.high - self.low)
        low = np.where(y <= self.low + slack, -np.inf, y - step / 2)
        return low, np.where(y >= self.high - slack, np.inf, y + step / 2)

    def _step_of(self, y: Array) -> float:
        """Return the step, of answers that are here if it was not given."""
        if self.step is not None:
            return self.step
        ends = float(self.high - self.low).is_integer()
        return 1.0 if ends and bool((np.round(y - self.low) == y - self.low).all()) else 0.0

    def terms(self, y: Array, mean: Array, sigma: float | Array) -> Terms:
        """Return what answers y (N,) tell about means (N, L)."""
        return interval_terms(*self.interval(y), mean, sigma)

    def anywhere(self, y: Array) -> Array:
        """Return the log-density of answers that have nothing to do with the query, (N,): uniform over the range."""
        step = self._step_of(y)
        return np.full(len(y), -np.log((self.high - self.low) / step + 1 if step else self.high - self.low))

    def value(self, y: Array) -> Array:
        """Return answers as if they were real numbers."""
        return y

    def answer(self, value: Array) -> Array:
        """Return what is answered where the linear value, noise included, is this."""
        if self.step:
            value = self.low + self.step * np.round((value - self.low) / self.step)
        return np.clip(value, self.low, self.high)

    def predict(self, mean: Array, sigma: float | Array) -> Array:
        """Return the mean answer where the linear value is `mean` plus noise."""
        from scipy.special import ndtr

        z = (np.asarray(mean)[..., None] - self._borders) / np.asarray(sigma)[..., None]
        if self.step:
            rated: Array = self.low + self.step * ndtr(z).sum(axis=-1)
            return rated
        # E[min(max(v, low), high)] with v = mean + σ z: the integral of P(v > t) over the range
        body = z * ndtr(z) + np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
        cut: Array = self.low + np.asarray(sigma) * (body[..., 0] - body[..., 1])
        return cut

    @property
    def _borders(self) -> Array:
        """Where the answer changes; of answers that are not rounded, the ends."""
        if not self.step:  # a step that is not known is taken for none
            return np.array([self.low, self.high])
        places = np.arange(0.5, round((self.high - self.low) / self.step), dtype=np.float64)
        return self.low + self.step * places

    def check(self, y: Array) -> None:
        """Raise `InvalidInput` in one line if there are answers that this scale does not have."""
        slack = OFF_STEP * (self.step or self.high - self.low)
        off = (y < self.low - slack) | (y > self.high + slack)
        if self.step:
            place = (y - self.low) / self.step
            off = off | (np.abs(place - np.round(place)) > OFF_STEP * np.maximum(1.0, np.abs(place)))
        if off.any():
            steps = f" in steps of {self.step:g}" if self.step else ""
            raise InvalidInput(
                f"an answer is {shown(float(y[off][0]))}, and the rating goes from {self.low:g} to {self.high:g}{steps}"
                ": give one of these, or another range and step if the answers have others"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; `scale_of` reads them."""
        return {"scale": "rating", "range": [self.low, self.high], "step": self.step}
