"""The answers so far."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.steering import Queries
from mixsense.recovery import Recovery
from mixsense.regression.data import Data
from mixsense.rounds import Asked, Method, Round
from mixsense.scales.scale import Scale


class Answers:
    """All answers so far, one row each; those to x = 0 come first.

    Parameters
    ----------
    columns : int
        Number of columns that the answers are linear in.
    room : int
        Number of answers that are expected; more make it grow.
    rows : callable
        Gives the rows that the answers to queries are linear in; the queries themselves by default.
    scale : Scale, optional
        How answers are made of the linear value; real numbers by default.
    block : int
        This many consecutive queries want one respondent.

    Attributes
    ----------
    N : int
        How many there are.
    zeros : int
        How many of them answer x = 0, and so tell nothing but the noise.
    asked : int
        How many were asked for: some may come later, and others besides.
    largest_norm : float
        Largest ℓ2 norm of a row.
    instruments : list of (columns,) arrays
        Of each round, from 1 on, what makes an instrument of each entry of its queries; first zeros, for queries which
        were not asked for.
    """

    def __init__(
        self,
        columns: int,
        room: int,
        rows: Callable[[Array], Array] = lambda X: X,
        scale: Scale | None = None,
        block: int = 1,
    ) -> None:
        self.rows, self.scale, self.block = rows, scale, block
        self._X, self._y, self._stage = np.empty((room, columns)), np.empty(room), np.empty(room, dtype=np.intp)
        self.instruments = [np.zeros(columns)]  # that of queries which were not asked for: none
        self._round_of: dict[bytes, int] = {}
        self._group: list[int] = []
        self._numbers: dict[int, int] = {}
        self.N = self.zeros = self.asked = 0
        self.largest_norm = 0.0

    @property
    def X(self) -> Array:
        """The rows that the answers are linear in, (N, columns)."""
        return self._X[: self.N]

    @property
    def y(self) -> Array:
        """The answers, (N,)."""
        return self._y[: self.N]

    @property
    def stage(self) -> Index:
        """The round that each answer belongs to, (N,)."""
        return self._stage[: self.N]

    @property
    def data(self) -> Data:
        """What the models are fitted to."""
        alone = len(self._numbers) == self.N
        return Data(self.X, self.y, self.zeros, None if alone else np.array(self._group), self.scale)

    @property
    def spent(self) -> int:
        """How much of a budget is gone: an answer that was asked for may still come."""
        return max(self.N, self.asked)

    def ask(
        self, queries: Queries, label: str, estimate: Callable[[], Recovery] | None, share: float = 1.0
    ) -> Method[Data]:
        """Ask each query once, and keep what comes back; returns it.

        `estimate` gives a result, should the run have to end here. If `share` is below 1, that part of the answers is
        enough: the others, and answers to other queries, may come with a later round.
        """
        least = None if share == 1 else math.ceil(share * len(queries.X))
        self._plan(queries)
        asked = yield Round(queries.X, block=self.block, label=label, estimate=estimate, least=least)
        self.asked += len(queries.X)
        return self._keep(asked)

    def _plan(self, queries: Queries) -> None:
        """Remember what makes an instrument of each query; its answer may come with a later round."""
        level = len(self.instruments[0]) - len(queries.instruments)
        self.instruments.append(np.concatenate([np.zeros(level), queries.instruments]))  # a level has no instrument
        self._round_of.update(dict.fromkeys(_keys(queries.X), len(self.instruments) - 1))

    def _keep(self, asked: Asked) -> Data:
        X, y = self.rows(asked.queries), asked.answers
        old, new = self.N, self.N + len(X)
        if new > len(self._y):
            more = max(len(X), len(self._y))
            self._X = np.concatenate([self._X[:old], np.empty((more, X.shape[1]))])
            self._y = np.concatenate([self._y[:old], np.empty(more)])
            self._stage = np.concatenate([self._stage[:old], np.empty(more, dtype=np.intp)])
        if self.scale is not None:
            self.scale.check(y)
        self._X[old:new], self._y[old:new] = X, y
        self._stage[old:new] = [self._round_of.get(key, 0) for key in _keys(asked.queries)]
        self._group += [self._numbers.setdefault(number, len(self._numbers)) for number in asked.group.tolist()]
        self.N = new
        self.largest_norm = max(self.largest_norm, float(np.linalg.norm(X, axis=1).max()))
        group = np.unique(self._group[old:], return_inverse=True)[1]
        return Data(X, y, 0, None if int(group.max()) + 1 == len(y) else group, self.scale)


def _keys(queries: Array) -> list[bytes]:
    """Return by what queries are found again, although a box rounds them into the user's units and back."""
    return [row.tobytes() for row in queries.round(tuning.SAME_PLACES) + 0.0]  # no negative zeros
