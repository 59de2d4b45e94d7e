"""Which coefficients of a recovery are worth showing, and how many are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.recovery.fields import CONSTANT

if TYPE_CHECKING:
    from mixsense.recovery.result import Recovery

WORTH_LISTING = 0.01
"""Without standard errors a coefficient is measured in this share of the largest: taste."""
LISTED = 1.0
"""A coefficient is listed if one vector's is this many standard errors from 0: below that its sign is a guess."""
CLEAR = 3.0
"""One that is this many standard errors from 0 is listed however long the table becomes: chance seldom goes so far."""
PRINTED = 0.1
"""A listed coefficient that is closer to 0 than this many standard errors is printed as a dot."""
NOTHING = 1e-6
"""Closer to 0 is what rounding leaves: not counted among what is left out."""


class Choice(NamedTuple):
    """The coefficients that are shown."""

    shown: Index
    """Positions of the coefficients that are shown, ascending."""
    others: str
    """How many others there are, and how far from 0 at most; empty if all of them are 0. Constant columns, which have
    no coefficient, are not counted."""

    @property
    def note(self) -> str:
        """The same as a sentence."""
        return self.others and f"{self.others} {'is' if self.others.startswith('1 ') else 'are'} not shown"


def importance(recovery: Recovery) -> Array:
    """Return how far each coefficient is from 0, (L, n), in standard errors; the rule must not depend on its unit.

    Without standard errors: in hundredths of the largest coefficient, for want of better. Of exact vectors nothing is
    left out but what rounding leaves.
    """
    size = np.abs(recovery.vectors)
    if recovery.stderr is None:
        step = np.full(size.shape, WORTH_LISTING * size.max())
        if recovery.error_bound <= NOTHING * size.max():
            step[size > NOTHING * size.max()] = 0.0
    else:
        step = np.where(recovery.stderr > 0, recovery.stderr, 0.0)  # exact, or not known: never left out
    with np.errstate(over="ignore"):
        found: Array = np.divide(size, step, out=np.where(size > 0, np.inf, 0.0), where=step > 0)
    return found


def choose(recovery: Recovery, most: int | None = None, also: Sequence[int] = ()) -> Choice:
    """Return the coefficients to show: those that stand out for any of the vectors.

    Parameters
    ----------
    recovery : Recovery
        What is shown.
    most : int, optional
        Not more than this many, but for those that are clearly not 0.
    also : sequence of int
        Coefficients that are shown like those that stand out.
    """
    each = importance(recovery).max(axis=0)
    each[list(also)] = np.maximum(each[list(also)], LISTED)
    order = np.lexsort((-np.abs(recovery.vectors).max(axis=0), -each))
    stand_out, clear = int((each >= LISTED).sum()), int((each >= CLEAR).sum())
    count = stand_out if most is None else min(stand_out, max(most, clear))
    others = len(each) - count - len({*recovery.diagnostics.get(CONSTANT, ())})
    hidden = others if int((each > NOTHING).sum()) > count else 0
    within = LISTED if count == stand_out else CLEAR
    return Choice(np.sort(order[:count]), _hidden_text(hidden, within, recovery.stderr is not None))


def _hidden_text(hidden: int, within: float, in_errors: bool) -> str:
    """Say how many coefficients are not listed, and how far from 0 they are at most.

    Examples
    --------
    >>> _hidden_text(12, 3.0, True)
    '12 coefficients within 3 standard errors of 0'
    >>> _hidden_text(1, 1.0, False)
    '1 coefficient below 1 % of the largest'
    """
    if not hidden:
        return ""
    errors = f"within {within:g} standard error{'s' if within > 1 else ''} of 0"
    limit = errors if in_errors else f"below {100 * WORTH_LISTING * within:g} % of the largest"
    return f"{hidden:,} coefficient{'s' if hidden > 1 else ''} {limit}"
