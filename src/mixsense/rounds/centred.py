"""Answers that are far from 0, and differ by little: a method is told them without what they all share."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mixsense.arrays import Array
from mixsense.recovery import Recovery
from mixsense.rounds.rewritten import rewritten
from mixsense.rounds.round import Asked, Method

FAR = 1000.0
"""Answers whose middle is this many times their spread from 0 are centred.
Derived: squares of the level then have a million times the size of those of the noise, and a fit loses digits."""


def centred(method: Method[Recovery]) -> Method[Recovery]:
    """Run a method whose result has an intercept on answers without most of their level.

    What is taken off follows from the first answers, so that a run that is played back takes off the same.
    """
    level: float | None = None

    def back(r: Recovery) -> Recovery:
        return r if not level or r.intercept is None else replace(r, intercept=r.intercept + level)

    def lowered(asked: Asked) -> Asked:
        nonlocal level
        if level is None:
            level = level_of(asked.answers)
        return asked.lowered(level) if level else asked

    return rewritten(method, back, told=lowered)


def level_of(answers: Array) -> float:
    """Return a round number near answers that are far from 0 and close to each other; 0 for all others.

    Examples
    --------
    >>> level_of(np.array([1234567.8, 1234568.9, 1234566.1])), level_of(np.array([3.0, 5.0]))
    (1234570.0, 0.0)
    """
    middle, spread = float(np.median(answers)), float(np.ptp(answers))
    if not spread or abs(middle) < FAR * spread:
        return 0.0
    unit = 10.0 ** math.ceil(math.log10(spread))  # of a decimal number, the digits that are left stay what they are
    return round(middle / unit) * unit
