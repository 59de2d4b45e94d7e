"""The lasso path, followed exactly on the columns that are watched.

z(λ) = argmin ½‖A z − b‖² + λ Σ w_j|z_j| is piecewise linear in λ. Between two breakpoints the active columns S keep
A_Sᵀr = λ p, where r = b − A z and p_j = ±w_j is the *pull*, so that dz/dλ = −(A_SᵀA_S)⁻¹p. A breakpoint is where a
coefficient vanishes (its column leaves) or where |a_jᵀr| = λ w_j (column j enters).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.decode.columns import Gram, Products

ROUNDING = 1e-11
"""A residual below this fraction of ‖b‖ counts as zero. A promise, made in `BasisPursuit.residual`; taste, between
double precision, 2e-16, and the accuracy that is promised, 1e-6."""
CAUTION = 3.0
"""Standard deviations by which unwatched correlations may outrun their forecast. Too few cost passes over A, too many
watched columns; the result is verified in any case. 4 at first, lowered to 3 when the path was made faster."""
DEPENDENT = 1e-12
"""Squared relative distance at which a column counts as in the span of the active ones: a distance of 1e-6. No
measurement is recorded."""
NEARLY_ZERO = 1e-12
"""Relative to the largest λ, or to the largest coefficient, what is below this is rounding. Taste: some thousand times
double precision."""
SMALLEST_DIVISOR = 1e-200
"""Keeps quotients finite. Derived: far below all that occurs, and its inverse is far from overflow."""


class Breakpoint(NamedTuple):
    """A point of the path."""

    level: float  # λ
    where: Index  # (k,) active columns, as positions among the watched ones
    pull: Array  # (k,) = A_Sᵀr / λ
    z: Array  # (k,)


class Path:
    """The path on the watched columns, from λ = max |Aᵀb|/w downwards; c is Aᵀb."""

    def __init__(self, A: Any, b: Array, weights: Array, c: Array, count: int) -> None:
        self.A, self.b, self.bb, self.all_weights = A, b, float(b @ b), weights
        self.watched: Index = np.empty(0, dtype=np.intp)
        self.cb = np.empty(0)  # (p,) = A_Wᵀb
        self.level = self.top = float((np.abs(c) / weights).max())
        self.where, self.pull, self.z = self.watched, np.empty(0), np.empty(0)
        self.trail = [Breakpoint(self.level, self.where, self.pull, self.z)]
        self.products, self.gram, self.steps = Products(len(b)), Gram(), 0
        self.watch(count, b, c)

    def residual(self, level: float) -> Array:
        """Return r = b − A z at a λ that was passed."""
        after = next((i for i, point in enumerate(self.trail) if point.level < level), len(self.trail) - 1)
        high, low = self.trail[max(after - 1, 0)], self.trail[after]
        share = (level - low.level) / (high.level - low.level) if high.level > low.level else 0.0
        z = np.zeros(len(self.watched))
        z[low.where] = (1 - share) * low.z
        z[high.where] += share * high.z
        r: Array = self.b - z @ self.products.X
        return r

    def square(self) -> float:
        """Return ‖r‖² = ⟨b, r⟩ − ⟨z, A_Sᵀr⟩."""
        return self.bb - float(self.z @ (self.cb[self.where] + self.level * self.pull))

    def watch(self, count: int, y: Array, c: Array) -> None:
        """Watch more columns, those of largest |c|/w, where c = Aᵀy and y is along r."""
        rest = np.delete(np.arange(len(c)), self.watched)
        height = np.abs(c[rest]) / self.all_weights[rest]
        order = np.argpartition(height, -count) if count < len(rest) else np.arange(len(rest))
        new = np.sort(rest[order[-count:]])  # sorted, and row by row of A: gathered several times faster
        X = self.A.T if len(new) == len(c) else np.ascontiguousarray(self.A[:, new].T)
        X = X.astype(np.float64, copy=False)
        if self._rewind(X, self.all_weights[new]):
            self.gram.renew(self.products.rows[np.ix_(self.products.slot[self.where], self.where)])
        self.products.extend(X)
        self.watched = np.append(self.watched, new)
        self.weights = self.all_weights[self.watched]
        self.cb = np.append(self.cb, X @ self.b)
        self.c = self.cb - self.products.combine(self.where, self.z)
        self.closed = np.zeros(len(self.watched), dtype=bool)  # active, or in the span of the active ones
        self.closed[self.where] = True
        norm, height = float(np.linalg.norm(y)), height[order[:-count]]
        self.known, self.known_b = c[self.watched] / norm, float(self.b @ y) / norm
        self.rest_top = float(height.max(initial=0.0)) / norm
        self.rest_spread = float(np.sqrt(height @ height / max(1, len(height)))) / norm

    def _rewind(self, X: Array, weights: Array) -> bool:
        """Go back to the last breakpoint at which none of the new columns was due; say whether that was needed."""

        def due(point: Breakpoint) -> bool:
            r = self.b - point.z @ self.products.X[point.where]
            return bool((np.abs(X @ r) > point.level * weights * (1 + 1e-12)).any())

        low, high = 0, len(self.trail) - 1  # not due at low, due at high
        if not due(self.trail[high]):
            return False
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if due(self.trail[middle]) else (middle, high)
        del self.trail[low + 1 :]
        self.level, self.where, self.pull, self.z = self.trail[low]
        return True

    def forecast(self, square: float) -> float:
        """Predict the largest unwatched |c|/w: the part of r along the last known one scales, the rest is noise."""
        along = self.known_b - float(self.z @ self.known[self.where])
        return along * self.rest_top + CAUTION * self.rest_spread * float(np.sqrt(max(0.0, square - along**2)))

    def descend(self, radius: float) -> str:
        """Lower λ from breakpoint to breakpoint; say why it ended: "radius", "exhausted" (λ = 0) or "pause"."""
        (p, m), square = self.products.X.shape, self.square()
        for _ in range(100 + 20 * min(p, m) + p):
            self.steps += 1
            d = self.gram.solve(self.pull)  # as λ falls by δ: z + δd, r − δu, c − δa
            a = self.products.combine(self.where, d)
            uu = float(d @ self.pull)
            distance = square - self.level**2 * uu  # squared, at λ = 0
            if max(distance, radius**2) < 1e-5 * self.bb:  # the difference above is mostly rounding
                q = self.b - (self.z + self.level * d) @ self.products.X[self.where]
                distance = float(q @ q)
            met = distance <= (radius * (1 + 1e-9) + ROUNDING * self.bb**0.5) ** 2
            target = (max(radius**2 - distance, 0.0) / uu) ** 0.5 if met and uu else 0.0
            paces = self.paces(a)  # (2, p)
            enter, j, sign = self.next_entry(a, paces)
            leave, i = self.next_exit(d)
            step, rest = min(enter, leave), self.level - target
            last = step >= rest - NEARLY_ZERO * self.top  # coefficients that end at 0 leave here: no event
            step = rest if last else step
            self.z, self.c, self.level = self.z + step * d, self.c - step * a, self.level - step
            if leave <= enter and not last:
                self.exit(i)
            elif not last:
                self.products.hold(j, paces)
                self.enter(j, sign)
            self.trail.append(Breakpoint(self.level, self.where, self.pull, self.z))
            if last:
                return "radius" if met else "exhausted"
            square = self.square()
            if self.rest_top and self.level < self.forecast(square):
                return "pause"
        raise np.linalg.LinAlgError("the path repeats itself")

    def paces(self, a: Array) -> Array:
        """Return how fast c_j and −c_j come closer to λ w_j, as a share of their distance; 0 for closed columns."""
        share, w = self.c / max(self.level, SMALLEST_DIVISOR), self.weights
        room, paces = np.empty((2, 2, len(a)))
        for operation, side in ((np.subtract, 0), (np.add, 1)):
            operation(w, share, out=room[side])
            operation(w, a, out=paces[side])
        paces -= 1e-13  # rounding does not count as an approach
        paces /= np.maximum(room, SMALLEST_DIVISOR, out=room)
        paces[:, self.closed] = 0.0
        return paces

    def next_entry(self, a: Array, paces: Array) -> tuple[float, int, float]:
        """Return the fall of λ at which |c_j| = λ w_j for a column that is not active, the column and its sign."""
        side, j = divmod(int(paces.argmax()), len(a))
        if paces[side, j] <= 0:
            return np.inf, -1, 0.0
        sign, w = 1.0 - 2.0 * side, float(self.weights[j])
        return max(0.0, self.level * w - sign * float(self.c[j])) / (w - sign * float(a[j])), j, sign

    def next_exit(self, d: Array) -> tuple[float, int]:
        """Return the fall of λ at which an active coefficient vanishes, and which one."""
        if not len(d):
            return np.inf, -1
        rate, left = -d * self.pull, np.maximum(self.z * self.pull, 0.0)
        i = int((rate / np.maximum(left, SMALLEST_DIVISOR)).argmax())
        return (float(left[i] / rate[i]), i) if rate[i] > 0 else (np.inf, -1)

    def enter(self, j: int, sign: float) -> None:
        """Make column j active, unless it lies in the span of the others, where the Gram matrix would be singular."""
        self.closed[j] = True
        X, row = self.products.X, self.products.rows[self.products.slot[j]]
        g, square = row[self.where], float(row[j])
        v = self.gram.inverse @ g
        pivot = square - float(g @ v)
        if pivot < 1e-3 * square:  # rounding counts
            v = self.gram.solve(g)
            off = X[j] - v @ X[self.where]
            pivot = float(off @ off)
        if pivot > DEPENDENT * square:
            self.gram.add(g, square, v, pivot)
            self.where, self.z = np.append(self.where, j), np.append(self.z, 0.0)
            self.pull = np.append(self.pull, sign * self.weights[j])
        if len(self.where) == len(self.b):  # now every column is in the span
            self.closed[:] = True

    def exit(self, i: int) -> None:
        """Make the i-th active column inactive."""
        self.gram.drop(i)
        self.where, self.pull, self.z = np.delete(self.where, i), np.delete(self.pull, i), np.delete(self.z, i)
        self.closed[:] = False  # columns that were in the span need not be so any more
        self.closed[self.where] = True
