"""Products of columns, kept and updated as columns come and go: what each step of the lasso path is made of."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array, Index

HELD_AT_ONCE = 12
"""Columns that are multiplied with the watched ones at a time: one pass over the watched columns costs as much as a
product with one column. No measurement is recorded."""


class Products:
    """The watched columns, and the products of some of them (those *held*) with all of them."""

    def __init__(self, m: int) -> None:
        self.X = self._X = np.empty((0, m))  # (p, m)
        self.slot, self.held = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        self.rows = self._rows = np.empty((0, 0))  # (h, p)

    def extend(self, X: Array) -> None:
        """Watch more columns."""
        h, p, total = len(self.held), len(self.X), len(self.X) + len(X)
        self._X = _with_room(self._X, total, self.X.shape[1]) if p else X
        if p:
            self._X[p:total] = X
        self.X = self._X[:total]
        self.slot = np.append(self.slot, np.full(len(X), -1))
        self._rows = _with_room(self._rows, h, total)
        self.rows = self._rows[:h, :total]
        self.rows[:, p:] = self.X[self.held] @ X.T

    def hold(self, j: int, paces: Array) -> None:
        """Provide the products with column j, and with those that seem to enter soon after it."""
        if self.slot[j] >= 0:
            return
        soon = paces.max(axis=0)
        soon[self.held] = 0.0
        soon[j] = np.inf
        new = np.argpartition(soon, -HELD_AT_ONCE)[-HELD_AT_ONCE:] if HELD_AT_ONCE < len(soon) else np.arange(len(soon))
        new = new[soon[new] > 0]
        h, total = len(self.held), len(self.held) + len(new)
        self._rows = _with_room(self._rows, total, len(self.X))
        self.rows = self._rows[:total, : len(self.X)]
        self.rows[h:] = self.X[new] @ self.X.T
        self.slot[new] = np.arange(h, total)
        self.held = np.append(self.held, new)

    def combine(self, where: Index, d: Array) -> Array:
        """Return A_Wᵀ A_S d."""
        full = np.zeros(len(self.held))
        full[self.slot[where]] = d
        a: Array = full @ self.rows
        return a


class Gram:
    """G = A_SᵀA_S with its inverse, as columns come and go."""

    def __init__(self) -> None:
        self.size, self._both = 0, np.empty((2, 0, 0))  # G and its inverse

    def renew(self, G: Array) -> None:
        """Start again from the given matrix."""
        self.size = len(G)
        self._both[0, : self.size, : self.size] = G
        self._both[1, : self.size, : self.size] = np.linalg.inv(G)

    def condition(self) -> float:
        """Return the condition number of G."""
        return float(np.prod(np.linalg.norm(self._both[:, : self.size, : self.size], axis=(1, 2))))

    @property
    def inverse(self) -> Array:
        """G⁻¹, up to drift."""
        return self._both[1, : self.size, : self.size]

    def solve(self, rhs: Array) -> Array:
        """Return G⁻¹ rhs with one step of refinement; the inverse is renewed once it has drifted."""
        G, inverse = self._both[0, : self.size, : self.size], self.inverse
        x: Array = inverse @ rhs
        error = rhs - G @ x
        if error @ error > 1e-12 * (rhs @ rhs):
            inverse[:] = np.linalg.inv(G)
            x = inverse @ rhs
            error = rhs - G @ x
        x += inverse @ error
        return x

    def add(self, g: Array, square: float, v: Array, pivot: float) -> None:
        """Append a column: g are its products with the others, v = G⁻¹g, pivot its squared distance to their span."""
        k, self.size = self.size, self.size + 1
        self._both = _with_room(self._both, 2, self.size, self.size)
        G, inverse = self._both[:, : self.size, : self.size]
        G[k, :k] = G[:k, k] = g
        G[k, k] = square
        inverse[k] = inverse[:, k] = 0.0
        v = np.append(v, -1.0)
        inverse += np.multiply.outer(v, v / pivot)

    def drop(self, i: int) -> None:
        """Remove the i-th column."""
        k, self.size = self.size, self.size - 1
        e = self._both[1, :k, i].copy()
        self._both[1, :k, :k] -= np.outer(e, e / e[i])
        for matrix in self._both:
            matrix[i : k - 1, :k] = matrix[i + 1 : k, :k]
            matrix[: k - 1, i : k - 1] = matrix[: k - 1, i + 1 : k]


def _with_room(buffer: Array, *shape: int) -> Array:
    """Return the buffer if it is large enough, else a copy with room to grow."""
    if all(have >= need for have, need in zip(buffer.shape, shape, strict=True)):
        return buffer
    larger = np.empty([have if have >= need else 2 * need for have, need in zip(buffer.shape, shape, strict=True)])
    larger[tuple(slice(have) for have in buffer.shape)] = buffer
    return larger
