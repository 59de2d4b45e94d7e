"""Which values answers take: a few only, or many the same at the ends."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.views import View


def rounding_step(y: Array) -> float:
    """Return the step that all distances of answers are multiples of; 0 if there is none.

    Examples
    --------
    >>> rounding_step(np.array([4.0, 5.0, 4.0, 7.5])), rounding_step(np.array([4.1, 5.2, 7.7]))
    (0.0, 0.0)
    >>> rounding_step(np.array([4.0, 5.0, 4.0, 7.0, 5.0, 2.0]))
    1.0
    """
    gaps = np.diff(np.unique(y))
    gaps = gaps[gaps > 1e-12 * float(np.ptp(y))]  # less is what floats make of equal answers
    if len(gaps) < tuning.LEAST_GAPS:
        return 0.0
    steps = gaps / gaps.min()
    on_steps = np.abs(steps - np.round(steps)) < tuning.OFF_STEP * steps
    return float(gaps.min()) if on_steps.all() else 0.0


def left_over(view: View) -> float:
    """Return the root mean square of what the models leave of the answers."""
    return float(np.sqrt((view.P * view.square).sum(axis=1).mean()))


def at_the_ends(y: Array, view: View) -> tuple[int, float]:
    """Return how many answers are at the fuller one of both ends, and the p-value of that many if the model holds.

    Notes
    -----
    Of the answers that share the largest value, or the smallest, one had to be there. That of the others is compared
    with the number that the fit expects within half a step of it, which is a Poisson number.
    """
    from scipy.special import gammainc, ndtr

    values = np.unique(y)
    if len(values) < 2:
        return 0, 1.0
    half = float(np.diff(values).min()) / 2
    most, p_value = 0, 1.0
    for end in (values[0], values[-1]):
        there = int((y == end).sum())
        upper, lower = ((end + side - view.mean) / view.sigma for side in (half, -half))
        expected = float(((ndtr(upper) - ndtr(lower)) @ view.weights).sum())
        others = there - 1
        p = float(gammainc(others, expected)) if others > 0 else 1.0  # of this many or more
        if p <= p_value:
            most, p_value = there, p
    return most, min(1.0, 2 * p_value)
