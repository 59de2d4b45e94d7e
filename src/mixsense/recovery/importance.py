"""Which coefficients of a recovery are worth showing, and how many are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixsense.arrays import Array, Index

if TYPE_CHECKING:
    from mixsense.recovery.result import Recovery

WORTH_LISTING = 0.01
"""Without standard errors a coefficient is measured in this share of the largest: taste."""
LISTED = 1.0
"""A coefficient is listed if one vector's is this many standard errors from 0: below that its sign is a guess."""
PRINTED = 0.1
"""A listed coefficient that is closer to 0 than this many standard errors is printed as a dot."""
NOTHING = 1e-6
"""Closer to 0 is what rounding leaves: not counted among what is left out."""


class Choice(NamedTuple):
    """The coefficients that are shown, and how many are not."""

    shown: Index
    """Their positions, ascending."""
    hidden: int
    """How many others are not 0."""


def importance(recovery: Recovery) -> Array:
    """Return how far each coefficient is from 0, (L, n), in standard errors; the rule must not depend on its unit.

    Without standard errors: in hundredths of the largest coefficient, for want of better.
    """
    size = np.abs(recovery.vectors)
    if recovery.stderr is None:
        step = np.full(size.shape, WORTH_LISTING * size.max())
    else:
        step = np.where(recovery.stderr > 0, recovery.stderr, 0.0)  # exact, or not known: never left out
    with np.errstate(over="ignore"):
        found: Array = np.divide(size, step, out=np.where(size > 0, np.inf, 0.0), where=step > 0)
    return found


def choose(recovery: Recovery, most: int | None = None) -> Choice:
    """Return the coefficients to show: those that stand out for any of the vectors, at most this many."""
    each = importance(recovery).max(axis=0)
    order = np.lexsort((-np.abs(recovery.vectors).max(axis=0), -each))
    listed = order[each[order] >= LISTED][:most]
    return Choice(np.sort(listed), int((each > NOTHING).sum()) - len(listed))


def hidden_text(hidden: int) -> str:
    """Say how many coefficients are not shown.

    Examples
    --------
    >>> hidden_text(12), hidden_text(1)
    ('12 smaller coefficients are not shown', '1 smaller coefficient is not shown')
    """
    return f"{hidden:,} smaller coefficient{'s are' if hidden > 1 else ' is'} not shown"
