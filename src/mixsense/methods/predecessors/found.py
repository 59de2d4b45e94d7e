"""What Mixed-Coloring knows so far: layers of bins, the answers to them, and what the decoder makes of these."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.bins import Layers
from mixsense.methods.predecessors.density import Design
from mixsense.methods.predecessors.ending import ended, fewer_models
from mixsense.methods.predecessors.peeling import Code, Colour, Decoded, Measured, decode
from mixsense.problem import Problem
from mixsense.recovery import Recovery


class BinCode(Code, Protocol):
    """How the bins are asked, and how their answers are read."""

    signatures: Array
    """(rows, n), the queries of a bin that holds all positions."""

    def measured(self, answers: Array, first: int) -> list[Measured]:
        """Return what each model makes of each bin, as far as (bins, rows, repeats) answers show it."""

    def left(self, answers: list[Array], colours: list[Colour], layers: Layers) -> Array:
        """Return the answers that are no colour's; with noise the zeros that are read and that no colour makes."""

    def unread(self, layers: Layers) -> int:
        """Return how many positions are in no bin that could be read: a coefficient there would not have shown."""

    def doubts(self) -> list[str]:
        """Return what speaks against what was read, as such."""

    def misfits(self, answers: list[Array], colours: list[Colour], layers: Layers) -> list[str]:
        """Return what speaks against colours that explain everything."""


class Whole(NamedTuple):
    """A query of all positions: parts of one vector that never met in a bin do not have its answer."""

    query: Array
    """(n,)."""
    values: Array
    """(L,), the answers of the models, ascending."""
    tolerance: float
    """How far apart equal values may be."""

    def explained(self, colours: list[Colour]) -> bool:
        """Say whether the colours have these values."""
        found = np.sort([sum(self.query[place] * value for place, value in colour.balls.items()) for colour in colours])
        return len(found) == len(self.values) and bool((np.abs(found - self.values) <= self.tolerance).all())


class Found:
    """The state of a run.

    Parameters
    ----------
    problem : Problem
        All arguments of the run.
    code : BinCode
        How bins are asked and read.
    whole : Whole
        A query of all positions, and the models' values for it: as many as there are models.
    design : Design
        What was planned.
    """

    def __init__(self, problem: Problem, code: BinCode, whole: Whole, design: Design) -> None:
        self.problem, self.code, self.whole, self.design = problem, code, whole, design
        self.models = len(whole.values)
        self.layers = Layers(problem.n)
        self.answers: list[Array] = []
        self.measured: list[Measured] = []
        self._decoded: Decoded | None = None

    def take(self, answers: Array) -> None:
        """Add the answers to the next layer, (bins, rows, repeats)."""
        self.measured += self.code.measured(answers, self.layers.first[len(self.answers)])
        self.answers.append(answers.copy())
        self._decoded = None

    def replace(self, bins: list[int], answers: Array) -> None:
        """Put other answers, (bins, rows, repeats), in the place of those of some bins."""
        for number, new in zip(bins, answers, strict=True):
            layer = self.layers.layer_of(number)
            self.answers[layer][number - self.layers.first[layer]] = new
        self.measured = [each for each in self.measured if each.bin not in set(bins)]
        for number, new in zip(bins, answers, strict=True):
            self.measured += self.code.measured(new[None], number)
        self._decoded = None

    @property
    def decoded(self) -> Decoded:
        """What the decoder makes of all measurements."""
        if self._decoded is None:
            self._decoded = decode(self.measured, self.code, self.layers, self.models)
        return self._decoded

    def alone(self) -> float:
        """Return the share of the last layer's measurements that hold one coefficient only."""
        return self._alone([each for each in self.measured if each.bin >= self.layers.first[-2]])

    @property
    def dense(self) -> bool:
        """Whether the vectors have more coefficients than bins of this width can part."""
        return len(self.measured) >= tuning.TELLING and self._alone(self.measured) < tuning.NONE_ALONE

    def _alone(self, measured: list[Measured]) -> float:
        found = [int(self.code.singletons(each.value[None], each.tolerance)[0][0]) >= 0 for each in measured]
        return sum(found) / max(len(found), 1)

    def rows(self) -> tuple[list[Colour], int]:
        """Return the colours, with an empty one for a vector 0 if answers show it, and the number of answers left."""
        colours = list(self.decoded.colours)
        left = self.code.left(self.answers, colours, self.layers)
        if len(colours) < self.models and left.size and not left.any():
            return [*colours, Colour()], 0
        return colours, left.size

    @property
    def complete(self) -> bool:
        """Whether everything that was heard is explained, and every position was heard of: the certificate."""
        if self.decoded.unexplained or self.code.unread(self.layers):
            return False
        colours, left = self.rows()
        return left == 0 and self.whole.explained(colours)

    @property
    def finished(self) -> bool:
        """Whether to ask more is of no use."""
        return self.complete or self.decoded.glued or self.dense or bool(self.code.doubts())

    def result(self, status: str | None = None) -> Recovery:
        """Return the vectors as far as they are known, with what is known besides."""
        colours, left = self.rows()
        found, warnings = len(colours), self._warnings(left, self.whole.explained(colours))
        if not warnings:
            warnings = self.code.misfits(self.answers, colours, self.layers)
        wanted = self.problem.given_models or self.models
        vectors = np.zeros((max(found, 1), self.problem.n))
        for row, colour in zip(vectors, colours, strict=False):
            support, values = colour.coefficients
            row[support] = values
        if not warnings and found == 1:
            how, vectors = "single", np.tile(vectors, (wanted, 1))
        else:
            if not warnings and found < wanted:
                warnings = [fewer_models(wanted, found)]
            how = "uncertain" if warnings else "certified"
            vectors = np.concatenate([vectors, np.zeros((wanted - len(vectors), self.problem.n))])
        return ended(vectors, status or how, self.problem, self._story(found, warnings))

    def _story(self, found: int, warnings: list[str]) -> dict[str, Any]:
        decoded = self.decoded
        return {
            "method": "coloring",
            "models": found,
            "repeats": self.design.repeats,
            "layers": len(self.layers),
            "bins": self.layers.count,
            "measured": len(self.measured),
            "unexplained": len(decoded.unexplained),
            "unowned": [[position, value] for position, value in decoded.unowned],
            "shared": decoded.shared,
            "warnings": warnings,
        }

    def _warnings(self, left: int, whole: bool) -> list[str]:
        """Return what keeps the vectors from being certain, and what to do."""
        decoded, texts = self.decoded, self.code.doubts()
        if decoded.glued:
            where = f"position {', '.join(map(str, decoded.shared))}" if decoded.shared else "some position"
            texts.append(
                f"two vectors have the same value at {where}, which Mixed-Coloring cannot treat: use "
                "method='noiseless' or 'frugal'"
            )
        elif self.dense:
            texts.append(
                "hardly any bin holds one coefficient only: the vectors are not exactly sparse, or k is too small; "
                "use method='frugal', or give a larger k"
            )
        elif decoded.unexplained or left:
            texts.append(
                f"{len(decoded.unexplained)} of {len(self.measured)} measurements and {left} answers are of no vector "
                f"that was found, and {len(decoded.unowned)} coefficients of an unknown owner: ask more bins "
                "(rateless=True), or give the shares if they differ"
            )
        elif unread := self.code.unread(self.layers):
            texts.append(f"{unread} positions are in no bin that could be read: ask more bins (rateless=True)")
        elif not whole:
            texts.append(
                "the vectors do not have the answers to a query of all positions: coefficients that were in no bin "
                "together may be one vector's, or two vectors have the same value somewhere; ask more bins "
                "(rateless=True), or use method='noiseless' or 'frugal'"
            )
        return texts


def smallest_share(problem: Problem, models: int) -> float:
    """Return the smallest share of the models; equal ones if none are given."""
    return min(problem.weights) if isinstance(problem.weights, tuple) else 1 / models
