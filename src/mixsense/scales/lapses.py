"""Lapses: a small share of the answers that come from anywhere, whatever was asked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.scales.scale import Scale, Terms, terms_of


@dataclass(frozen=True, slots=True)
class Lapses:
    """A scale on which a share of the answers is not about the question: it is uniform over the range of all answers.

    Parameters
    ----------
    share : float
        How many.
    width : float
        The range of the answers, where they are real numbers.
    inner : Scale, optional
        The scale of all others.

    Examples
    --------
    >>> found = Lapses(0.1, 10.0).terms(np.array([0.5, 9.0]), np.zeros((2, 1)), 1.0)
    >>> found.residual.round(2)  # an answer that is far away hardly counts
    array([[0.48],
           [0.  ]])
    """

    share: float
    width: float
    inner: Scale | None = None

    @property
    def narrowest(self) -> float:
        """How wide the interval of an answer is at its narrowest."""
        return 0.0 if self.inner is None else self.inner.narrowest

    def interval(self, y: Array) -> tuple[Array, Array]:
        """Return where the linear value was if the answer is no lapse: the lower and the upper ends, (N,) each."""
        return (y, y) if self.inner is None else self.inner.interval(y)

    def anywhere(self, y: Array) -> Array:
        """Return the log-density of answers that come from anywhere, (N,)."""
        return np.full(len(y), -math.log(self.width)) if self.inner is None else self.inner.anywhere(y)

    def terms(self, y: Array, mean: Array, sigma: float | Array) -> Terms:
        """Return what answers y (N,) tell about means (N, L): nothing, as far as they may be lapses."""
        found, own, lapsed = self._parts(y, mean, sigma)
        kept = np.exp(-np.logaddexp(0.0, lapsed - own))
        R, square = found.residual, found.square
        return Terms(
            np.logaddexp(own, lapsed),
            kept * R,
            kept * found.curvature - kept * (1 - kept) * (R / sigma) ** 2,
            kept * square + (1 - kept) * np.square(sigma),
        )

    def lapsed(self, y: Array, mean: Array, sigma: float | Array) -> Array:
        """Return the probability of each answer to be a lapse, if it came from each model, (N, L)."""
        _, own, lapsed = self._parts(y, mean, sigma)
        return np.asarray(np.exp(-np.logaddexp(0.0, own - lapsed)))

    def _parts(self, y: Array, mean: Array, sigma: float | Array) -> tuple[Terms, Array, Array]:
        found = terms_of(self.inner, y, mean, sigma)
        return found, found.loglik + math.log1p(-self.share), (self.anywhere(y) + math.log(self.share))[:, None]

    def with_share(self, share: float) -> Lapses:
        """Return the same with another share."""
        return replace(self, share=share)

    def value(self, y: Array) -> Array:
        """Return answers as if they were real numbers on the linear scale."""
        return y if self.inner is None else self.inner.value(y)

    def answer(self, value: Array) -> Array:
        """Return what is answered where the linear value, noise included, is this, and nobody lapses."""
        return value if self.inner is None else self.inner.answer(value)

    def predict(self, mean: Array, sigma: float | Array) -> Array:
        """Return the mean answer of those who do not lapse."""
        return mean if self.inner is None else self.inner.predict(mean, sigma)

    def check(self, y: Array) -> None:
        """Raise `InvalidInput` in one line if there are answers that the scale does not have."""
        if self.inner is not None:
            self.inner.check(y)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        inner = {"scale": "real"} if self.inner is None else self.inner.to_dict()
        return {**inner, "lapses": self.share}


def without_lapses(scale: Scale | None) -> Scale | None:
    """Return the scale of the answers that are no lapses; None for real numbers.

    Examples
    --------
    >>> without_lapses(Lapses(0.1, 10.0)) is None
    True
    """
    return scale.inner if isinstance(scale, Lapses) else scale


def share_of_lapses(scale: Scale | None) -> float:
    """Return the share of the answers that come from anywhere: 0 on a scale without lapses.

    Examples
    --------
    >>> share_of_lapses(Lapses(0.1, 10.0)), share_of_lapses(None)
    (0.1, 0.0)
    """
    return scale.share if isinstance(scale, Lapses) else 0.0
