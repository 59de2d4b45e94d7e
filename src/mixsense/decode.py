"""Basis pursuit denoising: the vector of smallest ℓ₁ norm that explains the measurements.

    minimise ‖z‖₁  subject to  ‖A z − b‖₂ ≤ radius

The lasso solution z(λ) = argmin ½‖A z − b‖² + λ‖z‖₁ is piecewise linear in λ, and its residual shrinks with λ:
follow it exactly from z = 0 until the residual meets the radius. Only a *working set* of columns is watched; when a
column outside of it is predicted to matter, one product Aᵀr over all columns verifies the path and renews the set.
What is returned is judged by its duality gap, never by how it was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixsense.errors import InvalidInput, ModelError

Array = NDArray[np.float64]
Index = NDArray[np.intp]

accuracy = 1e-6  # promised: relative duality gap, and relative violation of the radius
rounding = 1e-11  # a residual below this fraction of ‖b‖ counts as zero
plain_columns = 300  # up to here all columns are watched: a pass over A costs no more than a step
caution = 4.0  # standard deviations by which unwatched correlations may outrun their forecast
jitters = (1e-10, 1e-8, 1e-7)  # relative differences of the ℓ₁ weights: they separate ties, below `accuracy`
dependent = 1e-12  # squared relative distance at which a column counts as in the span of the active ones
nearly_zero = 1e-12  # λ and coefficients relative to their largest: below is rounding
smallest_level = 1e-9  # λ, relative to where the path starts, below which r/λ is mostly rounding


@dataclass(frozen=True, slots=True)
class BasisPursuit:
    """A solution of basis pursuit denoising with its certificate; all arrays are read-only.

    Attributes
    ----------
    value : ndarray, shape (n,) or (n, r)
        The minimiser z, one column for each right-hand side.
    residual : float or ndarray, shape (r,)
        ‖A z − b‖₂, at most ``radius`` (1 + 1e-6); where that is below rounding, at most 1e-11 ‖b‖₂.
    gap : float or ndarray, shape (r,)
        (‖z‖₁ − dual)/‖z‖₁, at most 1e-6: no feasible vector has an ℓ₁ norm smaller by more than this fraction.
    steps, passes : int
        Breakpoints met on all paths, and products of Aᵀ with one vector.
    """

    value: Array
    residual: float | Array
    gap: float | Array
    steps: int
    passes: int


def basis_pursuit(A: ArrayLike, b: ArrayLike, radius: ArrayLike = 0.0) -> BasisPursuit:
    """Minimise ‖z‖₁ subject to ‖A z − b‖₂ ≤ radius.

    Parameters
    ----------
    A : array_like, shape (m, n)
        The query vectors as rows. A float32 array is used as it is; everything else becomes float64.
    b : array_like, shape (m,) or (m, r)
        One right-hand side, or r of them as columns.
    radius : float or array_like, shape (r,)
        How far A z may be from b, in ℓ₂ norm. 0 asks for A z = b.

    Returns
    -------
    BasisPursuit
        ``value``, and as its certificate ``residual`` and ``gap``.

    Raises
    ------
    InvalidInput
        If a shape or a value is wrong, or if no vector comes within ``radius`` of b: ``error.smallest`` is then
        the smallest radius that can be met.
    ModelError
        If rounding keeps the gap above 1e-6, because A is numerically singular on the support.

    Notes
    -----
    The homotopy of Osborne, Presnell and Turlach (2000), *A new approach to variable selection in least squares
    problems*. Differs in that (1) only a working set of columns is watched, because a pass over A costs more than
    all the steps between two passes; (2) the ℓ₁ weights differ by 1e-10, because exact ties (duplicate columns,
    ±1 matrices) make the order of events ambiguous. The last solve, on the support, removes the effect of (2).

    Examples
    --------
    >>> A = np.random.default_rng(0).standard_normal((20, 50))
    >>> truth = np.zeros(50)
    >>> truth[[3, 30]] = 1.0, -2.0
    >>> found = basis_pursuit(A, A @ truth)
    >>> bool(np.allclose(found.value, truth)), found.gap < 1e-6
    (True, True)
    """
    A = _matrix(A)
    B, radii = _sides(A, b, radius)  # (m, r), (r,)
    solved = [_solve(A, side, float(rho)) for side, rho in zip(B.T, radii, strict=True)]
    value = np.stack([one.z for one in solved], axis=1)
    residual, gap = np.array([one.residual for one in solved]), np.array([one.gap for one in solved])
    for array in (value, residual, gap):
        array.setflags(write=False)
    steps, passes = sum(one.steps for one in solved), sum(one.passes for one in solved)
    if np.ndim(b) == 1:
        return BasisPursuit(value[:, 0], float(residual[0]), float(gap[0]), steps, passes)
    return BasisPursuit(value, residual, gap, steps, passes)


def _matrix(A: ArrayLike) -> Any:
    """Return A as a float32 or float64 array that BLAS can read without a copy; refuse what is not a matrix."""
    A = np.asarray(A)
    if A.ndim != 2 or A.size == 0:
        raise InvalidInput(f"A has shape {A.shape}: give a matrix (m, n), neither of them 0", shape=A.shape)
    A = _real(A, "A")
    if not (A.flags.c_contiguous or A.flags.f_contiguous):
        A = np.ascontiguousarray(A)
    return A


def _sides(A: Any, b: ArrayLike, radius: ArrayLike) -> tuple[Array, Array]:
    """Return the right-hand sides as columns (m, r) and their radii (r,)."""
    m, (b, radius) = len(A), (np.asarray(b), np.asarray(radius))
    if b.ndim not in (1, 2) or len(b) != m or b.size == 0:
        raise InvalidInput(
            f"b has shape {b.shape}, but A has {m} rows: give b of shape ({m},) or ({m}, r)", shape=b.shape, rows=m
        )
    B = _real(b, "b").astype(np.float64).reshape(m, -1)
    if radius.shape not in ((), (B.shape[1],)):
        raise InvalidInput(
            f"radius has shape {radius.shape}, but b has {B.shape[1]} columns: give one number, or one for each column",
            shape=radius.shape,
        )
    radii = np.broadcast_to(_real(radius, "radius").astype(np.float64), B.shape[1])
    if radii.min() < 0:
        raise InvalidInput(f"radius is {radii.min():g}: give a distance, at least 0", radius=radii.min())
    return B, radii


def _real(x: NDArray[Any], name: str) -> NDArray[Any]:
    if x.dtype.kind not in "fiub":
        raise InvalidInput(f"{name} has dtype {x.dtype}: give real numbers", dtype=str(x.dtype))
    x = x if x.dtype == np.float32 else x.astype(np.float64, copy=False)
    lines = np.atleast_2d(x.T if x.flags.f_contiguous else x)  # in memory order, without one mask as large as A
    step = max(1, 2**16 // lines.shape[1])
    if not all(np.isfinite(lines[i : i + step]).all() for i in range(0, len(lines), step)):
        raise InvalidInput(f"{name} has entries that are infinite or not a number: remove or replace them", name=name)
    return x


class _Solved(NamedTuple):
    z: Array
    residual: float
    gap: float
    steps: int
    passes: int


class _Breakpoint(NamedTuple):
    level: float  # λ
    where: Index  # (k,) active columns, as rows of X
    signs: Array  # (k,)
    z: Array  # (k,)


def _solve(A: Any, b: Array, radius: float) -> _Solved:
    """Solve for one right-hand side, again with larger jitter where ties or rounding spoil the certificate."""
    scale = float(np.abs(b).max()) or 1.0  # squares of very small or large answers would leave the float range
    b, size = b / scale, float(np.linalg.norm(b / scale))
    if size * scale <= radius:
        return _Solved(np.zeros(A.shape[1]), size * scale, 0.0, 0, 0)
    radius /= scale
    c = _correlate(A, b)
    steps, passes, failed = 0, 1, _Solved(b, np.nan, np.nan, 0, 0)
    for jitter in jitters:
        try:
            found = _follow(A, b, radius, c, jitter)
        except np.linalg.LinAlgError:  # the path stalled
            continue
        steps, passes = steps + found.steps, passes + found.passes
        if np.isinf(found.gap) and found.residual > radius * (1 + accuracy):
            raise _infeasible(radius * scale, found.residual * scale)
        if found.gap <= accuracy and found.residual <= max(radius * (1 + accuracy), rounding * size):
            return _Solved(found.z * scale, found.residual * scale, found.gap, steps, passes)
        failed = found
    raise ModelError(
        f"basis pursuit with A of shape {A.shape} stopped at a gap of {failed.gap:.1g} and a residual of "
        f"{failed.residual * scale:g}, but {accuracy:g} and {radius * scale:g} are needed: columns of A are nearly "
        "dependent; remove near-copies or allow a larger radius",
        gap=failed.gap,
        residual=failed.residual * scale,
    )


def _infeasible(radius: float, smallest: float) -> InvalidInput:
    return InvalidInput(
        f"radius is {radius:g}, but no vector comes closer to b than {smallest:g}, the least-squares residual: "
        f"give a radius of at least {smallest * (1 + accuracy):.9g}",
        radius=radius,
        smallest=smallest,
    )


def _correlate(A: Any, y: Array) -> Array:
    """Return Aᵀy; for float32, the largest entries are what decides, so they are computed again in float64."""
    c: Array = (y.astype(A.dtype) @ A).astype(np.float64)
    if A.dtype == np.float32:
        size = np.abs(c)
        norms = np.linalg.norm(A[:, size.argmax()].astype(np.float64)) * np.linalg.norm(y)
        doubt = 1e-3 * size.max() + np.finfo(np.float32).eps * np.sqrt(len(y)) * norms
        close = np.flatnonzero(size >= size.max() - doubt)
        for block in np.array_split(close, 1 + len(close) // 1000):
            c[block] = A.T[block].astype(np.float64) @ y
    return c


def _follow(A: Any, b: Array, radius: float, c: Array, jitter: float) -> _Solved:
    """Follow the path down to the radius, watching more columns after each pass over A; c is Aᵀb.

    A gap of infinity says that the path ended before the radius: the residual is the least-squares one.
    """
    m, n = A.shape
    weights = 1 + jitter * np.random.default_rng(0).random(n)
    height = np.abs(c) / weights  # the λ at which a column enters if its correlation stays as it is
    top = float(height.max())
    if top == 0:
        return _Solved(np.zeros(n), float(np.linalg.norm(b)), np.inf, 0, 0)
    more = n if n <= plain_columns else max(m // 8, 64)  # few: each of them costs in every step
    path, passes = _Path(A, b, weights, _largest(height, more), height), 0
    while True:
        ending = path.descend(radius)
        if ending == "pause":
            y = path.residual() / path.level
        else:
            z, y, distance = _on_support(A, b, radius, path, smallest_level * top)
        c, passes = np.abs(_correlate(A, y)), passes + 1
        over = c > weights * (1 + 2 * jitter + 1e-9)
        over[path.watched] = False
        if ending == "pause" or over.any():
            height = c / weights
            rest = np.delete(np.arange(n), path.watched)
            path.watch(rest[_largest(height[rest], more)], y, height)
        elif ending == "exhausted":
            return _Solved(z, distance, np.inf, path.steps, passes)
        else:
            norm1 = float(np.abs(z).sum())
            dual = float(b @ y - radius * np.linalg.norm(y)) / float(c.max())  # y / c.max() is dual feasible
            return _Solved(z, distance, max(0.0, 1 - dual / norm1), path.steps, passes)


def _largest(x: Array, count: int) -> Index:
    """Return the indices of the largest entries."""
    return np.argpartition(x, -count)[-count:] if count < len(x) else np.arange(len(x))


def _on_support(A: Any, b: Array, radius: float, path: _Path, least: float) -> tuple[Array, Array, float]:
    """Solve on the support by QR, free of drift and jitter: z, the dual vector y, and ‖A z − b‖.

    With S the support and s its signs,  z = A_S⁺b − λ (A_SᵀA_S)⁻¹s  and  r = q + λu  where q ⟂ u, so that the
    radius gives λ. The dual vector is r/λ = u + q/λ.
    """
    support = path.watched[path.where]
    columns = A.T[support].astype(np.float64).T  # (m, k)
    Q, R = np.linalg.qr(columns)
    base = np.linalg.solve(R, Q.T @ b)
    base += np.linalg.solve(R, Q.T @ (b - columns @ base))
    q = b - columns @ base
    q -= Q @ (Q.T @ q)  # what is left of A_Sᵀq would be divided by a small λ
    for penalty in (path.signs, path.pull):
        v = np.linalg.solve(R.T, penalty)
        u, d = Q @ v, np.linalg.solve(R, v)
        level = np.sqrt(max(radius**2 - q @ q, 0.0)) / np.linalg.norm(u)
        short = base - level * d
        if (short * path.signs >= -nearly_zero * np.abs(short).max()).all():
            break  # else the support is right for the jittered weights only
    z = np.zeros(A.shape[1])
    z[support] = short
    zero = np.linalg.norm(q) <= rounding * np.linalg.norm(b)
    return z, u if zero else u + q / max(level, least), float(np.linalg.norm(b - columns @ short))


class _Path:
    """The path on the watched columns, from λ = max |Aᵀb|/w downwards."""

    def __init__(self, A: Any, b: Array, weights: Array, new: Index, height: Array) -> None:
        self.A, self.b, self.bb, self.all_weights = A, b, float(b @ b), weights
        self.watched: Index = np.empty(0, dtype=np.intp)
        self.X, self.cb = np.empty((0, len(b))), np.empty(0)  # (p, m) the watched columns, and X b
        self.where, self.signs, self.z = np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)  # (k,) active rows of X
        self.level = self.top = float(height.max())  # λ
        self.steps = 0
        self.trail = [_Breakpoint(self.level, self.where, self.signs, self.z)]
        self.watch(new, b, height)

    @property
    def pull(self) -> Array:
        return self.weights[self.where] * self.signs  # (k,) = A_Sᵀr / λ

    def residual(self) -> Array:
        r: Array = self.b - self.z @ self.X[self.where]
        return r

    def square(self) -> float:
        """Return ‖r‖² = ⟨b, r⟩ − ⟨z, A_Sᵀr⟩."""
        return self.bb - float(self.z @ (self.cb[self.where] + self.level * self.pull))

    def watch(self, new: Index, y: Array, height: Array) -> None:
        """Watch more columns, going back to where none of them was due; height is |Aᵀy|/w, with y along r."""
        # Gathered row by row of A, which is several times faster than column by column.
        X = self.A.T if len(new) == self.A.shape[1] else np.ascontiguousarray(self.A[:, new].T)
        X = X.astype(np.float64, copy=False)
        self._rewind(X, self.all_weights[new])
        self.watched = np.append(self.watched, new)
        self.X = np.concatenate([self.X, X]) if len(self.X) else X
        self.weights = self.all_weights[self.watched]
        self.cb = np.append(self.cb, X @ self.b)
        self.active = _Active(self.X, self.where)
        self.c = self.cb - self.z @ self.active.rows
        self.closed = np.zeros(len(self.X), dtype=bool)  # active, or in the span of the active ones
        self.closed[self.where] = True
        norm, rest = float(np.linalg.norm(y)), np.delete(height, self.watched)
        self.known = self.X @ y / norm, float(self.b @ y) / norm
        self.rest_top = float(rest.max(initial=0.0)) / norm
        self.rest_spread = float(np.sqrt(rest @ rest / max(1, len(rest)))) / norm

    def _rewind(self, X: Array, weights: Array) -> None:
        def due(point: _Breakpoint) -> bool:
            r = self.b - point.z @ self.X[point.where]
            return bool((np.abs(X @ r) > point.level * weights * (1 + 1e-12)).any())

        if due(_Breakpoint(self.level, self.where, self.signs, self.z)):
            low, high = 0, len(self.trail)  # not due at low, due at high
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if due(self.trail[middle]) else (middle, high)
            del self.trail[low + 1 :]
            self.level, self.where, self.signs, self.z = self.trail[low]

    def forecast(self) -> float:
        """Predict the largest unwatched |c|/w: the part of r along the last known one scales, the rest is noise."""
        products, of_b = self.known
        along = of_b - float(self.z @ products[self.where])
        across = float(np.sqrt(max(0.0, self.square() - along**2)))
        return along * self.rest_top + caution * self.rest_spread * across

    def descend(self, radius: float) -> str:
        """Lower λ from breakpoint to breakpoint; say why it ended: "radius", "exhausted" (λ = 0) or "pause"."""
        for _ in range(100 + 20 * min(self.X.shape) + len(self.X)):
            self.steps += 1
            pull = self.pull
            d = self.active.solve(pull)  # as λ falls by δ: z + δd, r − δu, c − δa
            a = d @ self.active.rows
            uu = float(d @ pull)
            distance = self.square() - self.level**2 * uu  # squared, at λ = 0
            if max(distance, radius**2) < 1e-5 * self.bb:  # the difference above is mostly rounding
                q = self.b - (self.z + self.level * d) @ self.X[self.where]
                distance = float(q @ q)
            met = distance <= (radius * (1 + 1e-9) + rounding * np.sqrt(self.bb)) ** 2
            target = np.sqrt(max(radius**2 - distance, 0.0) / uu) if met and uu else 0.0
            enter, j, sign = self.next_entry(a)
            leave, i = self.next_exit(d)
            step = min(enter, leave, self.level - target)
            if step >= self.level - target - nearly_zero * self.top:  # coefficients that end at 0 leave here: no event
                step = self.level - target
            last = step >= self.level - target
            self.z, self.c, self.level = self.z + step * d, self.c - step * a, self.level - step
            if last:
                return "radius" if met else "exhausted"
            if leave <= enter:
                self.exit(i)
            else:
                self.enter(j, sign)
            self.trail.append(_Breakpoint(self.level, self.where, self.signs, self.z))
            if self.level < self.forecast():
                return "pause"
        raise np.linalg.LinAlgError("the path repeats itself")

    def next_entry(self, a: Array) -> tuple[float, int, float]:
        """Return the fall of λ at which |c_j| = λ w_j for a column that is not active, the column and its sign."""
        sides = np.array([[1.0], [-1.0]])
        room, rate = self.level * self.weights - sides * self.c, self.weights - sides * a  # (2, p)
        fall = np.where(rate > 1e-13, np.maximum(room, 0.0) / np.maximum(rate, 1e-13), np.inf)
        fall[:, self.closed] = np.inf
        side, j = divmod(int(fall.argmin()), len(a))
        return float(fall[side, j]), j, float(sides[side, 0])

    def next_exit(self, d: Array) -> tuple[float, int]:
        """Return the fall of λ at which an active coefficient vanishes, and which one."""
        rate = -d * self.signs
        fall = np.full(len(d), np.inf)
        np.divide(np.maximum(self.z * self.signs, 0.0), rate, out=fall, where=rate > 0)
        i = int(fall.argmin()) if len(fall) else -1
        return (float(fall[i]), i) if len(fall) else (np.inf, -1)

    def enter(self, j: int, sign: float) -> None:
        self.closed[j] = True
        if self.active.add(j, self.where):
            self.where, self.z = np.append(self.where, j), np.append(self.z, 0.0)
            self.signs = np.append(self.signs, sign)
        if self.active.size == len(self.b):  # now every column is in the span
            self.closed[:] = True

    def exit(self, i: int) -> None:
        self.active.drop(i)
        self.where, self.signs, self.z = np.delete(self.where, i), np.delete(self.signs, i), np.delete(self.z, i)
        self.closed[:] = False  # columns that were in the span need not be so any more
        self.closed[self.where] = True


class _Active:
    """The active columns: their products with all watched ones, and the inverse of their Gram matrix."""

    def __init__(self, X: Array, where: Index) -> None:
        k, capacity = len(where), min(X.shape)
        self.X, self.size = X, k
        self._rows = np.empty((capacity, len(X)))
        self._gram, self._inverse = np.empty((2, capacity, capacity))
        self._rows[:k] = X[where] @ X.T
        self._gram[:k, :k] = self.rows[:, where]
        self._inverse[:k, :k] = np.linalg.inv(self._gram[:k, :k])

    @property
    def rows(self) -> Array:
        return self._rows[: self.size]  # (k, p) = A_SᵀA_W

    def solve(self, rhs: Array) -> Array:
        """Return G⁻¹ rhs with one step of refinement; the inverse is renewed once it has drifted."""
        gram, inverse = self._gram[: self.size, : self.size], self._inverse[: self.size, : self.size]
        x: Array = inverse @ rhs
        error = rhs - gram @ x
        if error @ error > 1e-12 * (rhs @ rhs):
            inverse[:] = np.linalg.inv(gram)
            x = inverse @ rhs
            error = rhs - gram @ x
        x += inverse @ error
        return x

    def add(self, j: int, where: Index) -> bool:
        """Append a column, unless it lies in the span of the others, where G would be singular."""
        k, row = self.size, self.X @ self.X[j]
        g, norm2 = row[where], float(row[j])
        v = self.solve(g)
        pivot = norm2 - float(g @ v)
        if pivot < 1e-6 * norm2:  # mostly rounding
            off = self.X[j] - v @ self.X[where]
            pivot = float(off @ off)
        if k == len(self._rows) or pivot <= dependent * norm2:
            return False
        self._rows[k], self._gram[k, k] = row, norm2
        self._gram[k, :k] = self._gram[:k, k] = g
        self._inverse[:k, :k] += np.outer(v, v / pivot)
        self._inverse[k, :k] = self._inverse[:k, k] = -v / pivot
        self._inverse[k, k] = 1 / pivot
        self.size = k + 1
        return True

    def drop(self, i: int) -> None:
        k, e = self.size, self._inverse[: self.size, i].copy()
        self._inverse[:k, :k] -= np.outer(e, e / e[i])
        for matrix in (self._gram, self._inverse):
            matrix[i : k - 1, :k] = matrix[i + 1 : k, :k]
            matrix[: k - 1, i : k - 1] = matrix[: k - 1, i + 1 : k]
        self._rows[i : k - 1] = self._rows[i + 1 : k]
        self.size = k - 1
