"""The answers so far."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixsense.arrays import Array
from mixsense.recovery import Recovery
from mixsense.regression.candidates import Data
from mixsense.rounds import Asked, Method, Round


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

    Attributes
    ----------
    N : int
        How many there are.
    zeros : int
        How many of them answer x = 0, and so tell nothing but the noise.
    largest_norm : float
        Largest ℓ2 norm of a row.
    """

    def __init__(self, columns: int, room: int, rows: Callable[[Array], Array] = lambda X: X) -> None:
        self.rows = rows
        self._X, self._y = np.empty((room, columns)), np.empty(room)
        self.N = self.zeros = 0
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
    def data(self) -> Data:
        """What the models are fitted to."""
        return Data(self.X, self.y, self.zeros)

    def ask(self, queries: Array, label: str, estimate: Callable[[], Recovery] | None) -> Method[tuple[Array, Array]]:
        """Ask each query once, and keep what comes back; returns its rows and answers.

        `estimate` gives a result, should the run have to end here.
        """
        asked = yield Round(queries, label=label, estimate=estimate)
        return self._keep(asked)

    def _keep(self, asked: Asked) -> tuple[Array, Array]:
        X, y = self.rows(asked.queries), asked.answers
        old, new = self.N, self.N + len(X)
        if new > len(self._y):
            more = max(len(X), len(self._y))
            self._X = np.concatenate([self._X[:old], np.empty((more, X.shape[1]))])
            self._y = np.concatenate([self._y[:old], np.empty(more)])
        self._X[old:new], self._y[old:new] = X, y
        self.N = new
        self.largest_norm = max(self.largest_norm, float(np.linalg.norm(X, axis=1).max()))
        return X, y
