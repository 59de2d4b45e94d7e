"""Which of a round's questions somebody is handed: at random, no query twice, and a block for one respondent."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_random = secrets.SystemRandom()


class Layout(NamedTuple):
    """How the slots of a round are arranged: slot = query × repeats + repeat, `block` queries for one respondent."""

    repeats: int
    block: int

    def query(self, slot: int) -> int:
        """Return the query that a slot asks."""
        return slot // self.repeats

    def unit(self, slot: int) -> int:
        """Return the number of the respondent that a slot is meant for, counted from 0 in each round.

        Examples
        --------
        >>> [Layout(repeats=2, block=2).unit(slot) for slot in range(8)]
        [0, 1, 0, 1, 2, 3, 2, 3]
        """
        query, repeat = divmod(slot, self.repeats)
        return query // self.block * self.repeats + repeat


def drawn(slots: Sequence[int], count: int, in_order: bool = False) -> list[int]:
    """Return up to `count` of some slots, at random if they need not be in order."""
    return list(slots[:count]) if in_order else _random.sample(slots, min(count, len(slots)))


def for_one(
    free: Sequence[int],
    count: int,
    mine: Sequence[int],
    begun: set[int],
    layout: Layout,
    asks: Mapping[int, bytes] | None = None,
    given: set[Any] | None = None,
) -> list[int]:
    """Return up to `count` free slots for one respondent: the rest of its block, then blocks that nobody began.

    No two of them ask the same.

    Parameters
    ----------
    free : sequence of int
        Slots that nobody was handed, ascending.
    count : int
        How many are wanted.
    mine : sequence of int
        Slots of the same round that this respondent was handed before.
    begun : set of int
        Units of which somebody was handed a slot.
    layout : Layout
        How the slots are arranged.
    asks : mapping, optional
        What the queries ask: two that ask the same are one. All different by default.
    given : set, optional
        What this respondent was asked before, which does not come again; what is chosen is added.

    Examples
    --------
    >>> for_one([1, 2, 3, 4, 5], 2, mine=[0], begun={0}, layout=Layout(repeats=1, block=3))
    [1, 2]
    """
    asks, asked = asks or {}, set[Any]() if given is None else given
    own = {layout.unit(slot) for slot in mine}
    units: dict[int, list[int]] = {}
    for slot in free:
        units.setdefault(layout.unit(slot), []).append(slot)
    order = _random.sample(list(units), len(units))
    order.sort(key=lambda unit: (unit not in own, unit in begun))  # stable: at random among equals
    found: list[int] = []
    for unit in order:
        for slot in units[unit]:
            if len(found) == count:
                return found
            query = layout.query(slot)
            if (what := asks.get(query, query)) not in asked:
                asked.add(what)
                found.append(slot)
    return found
