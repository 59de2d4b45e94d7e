"""The decoder of Mixed-Coloring: from measurements of bins, each of one hidden model, to coefficients and owners.

A *ball* is a coefficient: a position and a value. A *measurement* is the vector of P numbers that one model makes of
one bin, the sum of its balls' signatures. Whose it is, is not known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.bins import Layers


class Measured(NamedTuple):
    """What one unknown model makes of a bin."""

    bin: int
    value: Array  # (P,)
    tolerance: float
    """Entries that differ by at most this are equal."""


class Code(Protocol):
    """What the rows of a bin tell about a single ball."""

    def column(self, position: int) -> Array:
        """Return the signature of a position, (P,): a ball of value v adds v times it."""

    def singletons(self, values: Array, tolerance: float) -> tuple[Index, Array]:
        """Return the position and the value of the ball that alone makes each row of (r, P) values; −1 if none does."""


Ball = tuple[int, float]


@dataclass
class Colour:
    """A model as far as it is known: its balls, and what they sum up to in each bin that they touch."""

    balls: dict[int, float] = field(default_factory=dict)
    sums: dict[int, Array] = field(default_factory=dict)
    explained: set[int] = field(default_factory=set)
    """Numbers of the measurements that are exactly this model's."""

    @property
    def coefficients(self) -> tuple[Index, Array]:
        """The positions and the values of its balls."""
        return np.fromiter(self.balls, dtype=np.intp), np.fromiter(self.balls.values(), dtype=np.float64)

    def add(self, position: int, value: float, code: Code, layers: Layers) -> list[int]:
        """Take a ball, and return the bins that it is in."""
        self.balls[position] = value
        bins, part = layers.bins_of(position), value * code.column(position)
        for number in bins:
            self.sums[number] = self.sums[number] + part if number in self.sums else part
        return bins


class Graph:
    """Balls found as singletons, joined where two of them are one measurement: these two have one owner."""

    def __init__(self) -> None:
        self.balls: list[Ball] = []
        self.edges: dict[int, set[int]] = defaultdict(set)
        self.apart: set[tuple[int, int]] = set()
        """Pairs of balls of one bin that were measured one without the other: they have different owners."""
        self._at: dict[int, list[int]] = defaultdict(list)

    def find(self, position: int, value: float) -> int | None:
        """Return the number of a ball that is known."""
        for ball in self._at.get(position, ()):
            if np.isclose(self.balls[ball][1], value, rtol=tuning.SAME_VALUE, atol=0):
                return ball
        return None

    def ball(self, position: int, value: float) -> int:
        """Return the number of a ball; a new one if it is not known."""
        found = self.find(position, value)
        if found is None:
            found = len(self.balls)
            self.balls.append((position, value))
            self._at[position].append(found)
        return found

    def components(self, without: Iterable[int] = ()) -> list[list[int]]:
        """Return the connected components, the largest first."""
        seen, found = set(without), []
        for start in range(len(self.balls)):
            if start in seen:
                continue
            part, stack = [], [start]
            seen.add(start)
            while stack:
                part.append(stack.pop())
                for other in self.edges.get(part[-1], ()):
                    if other not in seen:
                        seen.add(other)
                        stack.append(other)
            found.append(part)
        return sorted(found, key=len, reverse=True)

    def glued(self, without: Iterable[int] = ()) -> int:
        """Return how many pairs with different owners are in one component nevertheless."""
        home = {ball: number for number, part in enumerate(self.components(without)) for ball in part}
        return sum(a in home and b in home and home[a] == home[b] for a, b in self.apart)


def graph_of(measured: list[Measured], code: Code, layers: Layers) -> Graph:
    """Find singletons and strong doubletons: steps 2 and 3."""
    graph, rest = Graph(), []
    alone: dict[int, list[int]] = defaultdict(list)
    for each in measured:
        ball = _single(each.value[None], each, code, layers)[0]
        if ball is None:
            rest.append(each)
        else:
            alone[each.bin].append(graph.ball(*ball))
    graph.apart = {(a, b) for balls in alone.values() for a in balls for b in balls if a < b}
    inside: dict[int, list[int]] = defaultdict(list)
    for number, (position, _) in enumerate(graph.balls):
        for bin_ in layers.bins_of(position):
            inside[bin_].append(number)
    for each in rest:
        known = inside[each.bin]
        if not known:
            continue
        parts = np.stack([graph.balls[ball][1] * code.column(graph.balls[ball][0]) for ball in known])
        for one, other in zip(known, _single(each.value - parts, each, code, layers), strict=True):
            second = None if other is None else graph.find(*other)
            if second is not None and second != one:
                graph.edges[one].add(second)
                graph.edges[second].add(one)
    return graph


def peel(
    seed: Iterable[Ball], measured: list[Measured], at: dict[int, list[int]], code: Code, layers: Layers
) -> Colour:
    """Guess and check (step 5): a bin holds nothing besides a colour's balls, or one more, or the guess was wrong.

    Parameters
    ----------
    seed : balls
        The first of the colour.
    measured, at
        The measurements, and the numbers of those of each bin.
    """
    colour, waiting = Colour(), []
    for position, value in seed:
        waiting += colour.add(position, value, code, layers)
    while waiting:
        bin_ = waiting.pop()
        for number in at.get(bin_, ()):
            each = measured[number]
            left = each.value - colour.sums[bin_]
            if np.abs(left).max() <= each.tolerance:
                continue
            ball = _single(left[None], each, code, layers)[0]
            if ball is not None and ball[0] not in colour.balls:
                waiting += colour.add(*ball, code, layers)
    for bin_, total in colour.sums.items():
        for number in at.get(bin_, ()):
            if np.abs(measured[number].value - total).max() <= measured[number].tolerance:
                colour.explained.add(number)
    return colour


def confirmed(colour: Colour, measured: list[Measured], layers: Layers) -> bool:
    """Return whether enough measurements that are the colour's hold each of its balls."""
    bins = {measured[number].bin for number in colour.explained}
    return all(sum(bin_ in bins for bin_ in layers.bins_of(position)) >= tuning.CONFIRMED for position in colour.balls)


def _single(values: Array, each: Measured, code: Code, layers: Layers) -> list[Ball | None]:
    positions, amounts = code.singletons(values, each.tolerance)
    inside = layers.holds(each.bin, positions)
    return [(int(p), float(v)) if ok else None for p, v, ok in zip(positions, amounts, inside, strict=True)]


class Decoded(NamedTuple):
    """What the measurements show."""

    colours: list[Colour]
    unowned: list[Ball]
    """Found, but of an unknown owner."""
    unexplained: list[int]
    """Numbers of the measurements that are no colour's."""
    shared: list[int]
    """Positions at which two models have the same value, as far as they could be located."""
    glued: bool
    """Whether some ball has two owners."""


def decode(measured: list[Measured], code: Code, layers: Layers, models: int) -> Decoded:
    """Find at most this many colours: steps 2 to 5. No owner is ever guessed."""
    graph = graph_of(measured, code, layers)
    at: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(measured):
        at[each.bin].append(number)
    colours: list[Colour] = []
    tried = 0
    for part in graph.components():
        if len(colours) == models or tried == models + tuning.MORE_SEEDS:
            break
        seed = [graph.balls[ball] for ball in part]
        if len({position for position, _ in seed}) < len(seed) or _owned(seed, colours):
            continue
        tried += 1
        colour = peel(seed, measured, at, code, layers)
        if confirmed(colour, measured, layers):
            colours.append(colour)
    explained = set().union(*(colour.explained for colour in colours)) if colours else set()
    glued = graph.glued() > 0
    return Decoded(
        colours,
        [ball for ball in graph.balls if not _owned([ball], colours)],
        [number for number in range(len(measured)) if number not in explained],
        _shared(graph) if glued else [],
        glued,
    )


def _owned(balls: list[Ball], colours: list[Colour]) -> bool:
    """Return whether some colour has one of these balls."""
    return any(
        position in colour.balls and np.isclose(colour.balls[position], value, rtol=tuning.SAME_VALUE, atol=0)
        for position, value in balls
        for colour in colours
    )


def _shared(graph: Graph) -> list[int]:
    """Return the positions of the balls without which no component has two owners; none if others would do as well."""
    if len(graph.balls) > tuning.LOCATED:
        return []
    removed: list[int] = []
    while (left := graph.glued(removed)) and len(removed) < tuning.SHARED:
        candidates = [ball for ball, others in graph.edges.items() if len(others) > 1 and ball not in removed]
        counts = {ball: graph.glued([*removed, ball]) for ball in candidates}
        fewest = min(counts.values(), default=left)
        best = [ball for ball, count in counts.items() if count == fewest]
        if fewest == left or len(best) > 1:
            return []
        removed += best
    return sorted(graph.balls[ball][0] for ball in removed) if not graph.glued(removed) else []
