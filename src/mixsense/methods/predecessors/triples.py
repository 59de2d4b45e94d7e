"""Bins without noise: ratio and summation check, and what the answers to a bin's three queries show."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.errors import ModelError
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.bins import Layers
from mixsense.methods.predecessors.peeling import Colour, Measured

ROWS = tuning.BIN_ROWS


class Ratio:
    """The code of a position j: (r_j, r_j w_j), with r_j random in ±[½, 3/2] and w_j = (j + 1)/n."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n, self.models = n, 0
        self.signatures = np.empty((ROWS, n))
        self.signatures[0] = rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 1.5, n)
        self.signatures[1] = self.signatures[0] * (np.arange(1, n + 1) / n)
        self.signatures[2] = self.signatures[0] + self.signatures[1]

    def column(self, position: int) -> Array:
        """Return the signature of a position, (2,)."""
        return np.asarray(self.signatures[:2, position])

    def singletons(self, values: Array, tolerance: float) -> tuple[Index, Array]:
        """Return the ball that alone makes each row: the ratio tells the position, if it is one."""
        a, e = values.T
        some = (
            np.abs(a) > 2 * self.n * tolerance
        )  # of anything smaller the ratio cannot tell one position from the next
        first = np.where(some, a, 1.0)
        position = np.clip(np.rint(e / first * self.n), 0, self.n + 1).astype(np.intp) - 1
        inside = some & (position >= 0) & (position < self.n)
        position[~inside] = 0
        value = first / self.signatures[0, position]
        right = inside & (np.abs(value * self.signatures[1, position] - e) <= tolerance)
        return np.where(right, position, -1), value

    def measured(self, answers: Array, first: int = 0) -> list[Measured]:
        """Return the consistent triples of bins, without (0, 0): step 1.

        Parameters
        ----------
        answers : (bins, 3, R) array
            The answers to the three queries of each bin.
        first : int
            Number of the first bin.
        """
        found = []
        for number, three in enumerate(answers, first):
            tolerance = tuning.EXACT * float(np.abs(three).max())
            values = [distinct(each, tolerance) for each in three]
            self._check(max(map(len, values)))
            sums = values[0][:, None] + values[1]
            there = np.abs(sums[..., None] - values[2]).min(axis=2) <= 2 * tolerance
            for i, j in np.argwhere(there):
                pair = np.array([values[0][i], values[1][j]])
                if np.abs(pair).max() > tolerance:
                    found.append(Measured(number, pair, 4 * tolerance))
        return found

    def _check(self, seen: int) -> None:
        if seen > self.models:
            raise ModelError(
                f"one query got {seen} different answers, and at most {self.models} models can be told: the answers "
                "are noisy (give sigma, and step if all coefficients are multiples of one), or there are more models; "
                "method='frugal' takes noise of any size"
            )

    def unread(self, layers: Layers) -> int:
        """Return 0: a model is heard in some of a position's bins, but for a probability far below rounding."""
        return 0

    def doubts(self) -> list[str]:
        """Return nothing: answers without noise are read exactly."""
        return []

    def misfits(self, answers: list[Array], colours: list[Colour], layers: Layers) -> list[str]:
        """Return nothing: every answer is exactly a colour's."""
        return []

    def left(self, answers: list[Array], colours: list[Colour], layers: Layers) -> Array:
        """Return the answers that are none of the colours' values; those that are 0 but for rounding as 0."""
        found = [self._left_in(part, number, colours, layers) for number, part in enumerate(answers)]
        return np.concatenate([*found, np.empty(0)])

    def _left_in(self, answers: Array, layer: int, colours: list[Colour], layers: Layers) -> Array:
        values = np.full((len(colours), *answers.shape[:2]), np.nan)  # (L, bins, 3)
        for value, colour in zip(values, colours, strict=True):
            support, beta = colour.coefficients
            for p in range(ROWS):
                value[:, p] = layers.sums(layer, support, beta * self.signatures[p, support])
        tolerance = 8 * tuning.EXACT * np.abs(answers).max(axis=(1, 2), keepdims=True)  # (bins, 1, 1)
        near = (np.abs(answers - values[..., None]) <= tolerance).any(axis=0)
        return np.asarray(np.where(np.abs(answers) <= tolerance, 0.0, answers)[~near])


def distinct(answers: Array, tolerance: float) -> Array:
    """Return the different ones among some answers, ascending."""
    ordered = np.sort(answers)
    return np.asarray(ordered[np.concatenate([[True], np.diff(ordered) > tolerance])])
