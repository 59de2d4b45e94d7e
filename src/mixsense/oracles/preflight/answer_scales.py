"""What a preflight makes of answers that are no real numbers: the value behind them, and which scale they look like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.oracles.preflight import tuning
from mixsense.rounds import TOO_MANY_AT_AN_END
from mixsense.scales.scale import Scale


class OnTheLine(NamedTuple):
    """The values behind answers, which are linear in the query if the models are."""

    values: Array
    """As many as there are answers, in their shape."""
    blur: float
    """Mean square of what rounding moves them by."""
    cut: float
    """Share of the answers that are at an end of their scale, and may stand for more."""


def on_the_line(answers: Array, scale: Scale | None, quantum: float) -> OnTheLine:
    """Return the values behind answers; `quantum` is the step of real numbers, 0 if they have none.

    Examples
    --------
    >>> from mixsense.scales import Probability, Rating
    >>> on_the_line(np.array([0.5, 0.25]), Probability(2), 0.0).values.round(3)
    array([ 0.   , -1.099])
    >>> on_the_line(np.array([1.0, 4.0]), Rating(1, 7), 0.0).cut
    0.5
    """
    if scale is None:
        return OnTheLine(answers, quantum**2 / 12, 0.0)
    low, high = scale.interval(answers.ravel())
    cut = np.isinf(low) | np.isinf(high)
    blur = float(np.mean((high - low)[~cut] ** 2)) / 12 if not cut.all() else 0.0
    return OnTheLine(scale.value(answers.ravel()).reshape(answers.shape), blur, float(cut.mean()))


def looks_like(answers: Array) -> str:
    """Return which scale answers may have that bend nowhere, to be said behind a semicolon; nothing if none is seen.

    Examples
    --------
    >>> looks_like(np.array([0.2, 0.9]))
    '; all are between 0 and 1: if they are probabilities, --scale probability takes their logits'
    """
    if _probable(answers):
        return "; all are between 0 and 1: if they are probabilities, --scale probability takes their logits"
    return f"; {_rated(answers)}" if _on_steps(answers) else ""


def straighten(answers: Array) -> str:
    """Return what to do about answers that are not linear in the inputs.

    Examples
    --------
    >>> straighten(np.array([0.2, 0.9]))
    "they look like probabilities: give scale='probability' (--scale probability), or a smaller box"
    >>> straighten(np.array([1.0, 7.0, 3.0]))
    'if they are ratings, give their ends (--scale rating=1:7), or a smaller box'
    >>> straighten(np.linspace(-1.5, 7.0, 50))
    'give a smaller box, or transform the answer or the inputs'
    """
    low, high = float(answers.min()), float(answers.max())
    if _probable(answers):
        return "they look like probabilities: give scale='probability' (--scale probability), or a smaller box"
    if _on_steps(answers):
        return f"{_rated(answers)}, or a smaller box"
    if max(float(np.mean(answers == low)), float(np.mean(answers == high))) > TOO_MANY_AT_AN_END:
        return f"give its ends (--scale rating=LOW:HIGH:0; {low:g} and {high:g} were seen), or a smaller box"
    return "give a smaller box, or transform the answer or the inputs"


def _probable(answers: Array) -> bool:
    return bool(answers.min() >= 0 and answers.max() <= 1)


def _on_steps(answers: Array) -> bool:
    return bool((answers == np.round(answers)).all()) and len(np.unique(answers)) <= tuning.MOST_STEPS


def _rated(answers: Array) -> str:
    return f"if they are ratings, give their ends (--scale rating={answers.min():g}:{answers.max():g})"
