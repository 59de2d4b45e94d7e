"""Basis pursuit denoising: the vector of smallest ℓ₁ norm that explains the measurements.

    minimise ‖z‖₁  subject to  ‖A z − b‖₂ ≤ radius

The lasso solution z(λ) = argmin ½‖A z − b‖² + λ‖z‖₁ is piecewise linear in λ, and its residual shrinks with λ:
follow it exactly from z = 0 until the residual meets the radius. Only a *working set* of columns is watched; when a
column outside it is predicted to matter, one product Aᵀr over all columns verifies the path and renews the set.
What is returned is judged by its duality gap, never by how it was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.decode.inputs import as_finite, as_matrix, as_sides
from mixsense.decode.lasso_path import NEARLY_ZERO, ROUNDING, Path
from mixsense.errors import InvalidInput, ModelError

ACCURACY = 1e-6
"""Relative duality gap, and relative violation of the radius, that a result has at most. A promise, made in
`BasisPursuit`; taste."""
PLAIN_COLUMNS = 300
"""Up to this number all columns are watched: there a pass over A costs no more than a step. No measurement is
recorded."""
JITTERS = (1e-10, 1e-8, 1e-7)
"""Relative differences of the ℓ₁ weights, tried in turn: they separate ties. Derived: the norm that is minimised
changes by as much, so that each is below `ACCURACY`."""
WELL_CONDITIONED = 1e8
"""Condition of A_SᵀA_S up to which its inverse with refinement is as good as QR: the inverse is then accurate to about
1e8 · 2e-16, and one step of refinement squares that. No measurement is recorded."""
SMALLEST_LEVEL = 1e-9
"""λ, relative to where the path starts, below which r/λ is mostly rounding. No measurement is recorded."""
EARLIER_LEVELS = (1e-8, 1e-7, 1e-6)
"""λ, relative to where the path starts, at which a dual vector is looked for if the one at the end is poor. Taste: in
steps of ten, upwards from `SMALLEST_LEVEL`."""


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
    A = as_matrix(A)
    B, radii = as_sides(A, b, radius)  # (m, r), (r,)
    solved = [_solve(A, side, float(rho)) for side, rho in zip(B.T, radii, strict=True)]
    value = np.stack([one.z for one in solved], axis=1)
    residual, gap = np.array([one.residual for one in solved]), np.array([one.gap for one in solved])
    for array in (value, residual, gap):
        array.setflags(write=False)
    steps, passes = sum(one.steps for one in solved), sum(one.passes for one in solved)
    if np.ndim(b) == 1:
        return BasisPursuit(value[:, 0], float(residual[0]), float(gap[0]), steps, passes)
    return BasisPursuit(value, residual, gap, steps, passes)


class _Solved(NamedTuple):
    z: Array
    residual: float
    gap: float
    steps: int
    passes: int


def _solve(A: Any, b: Array, radius: float) -> _Solved:
    """Solve for one right-hand side, again with larger jitter where ties or rounding spoil the certificate."""
    scale = float(np.abs(b).max()) or 1.0  # squares of very small or large answers would leave the float range
    b, size = b / scale, float(np.linalg.norm(b / scale))
    if size * scale <= radius:
        as_finite(A, "A")
        return _Solved(np.zeros(A.shape[1]), size * scale, 0.0, 0, 0)
    radius /= scale
    c = _first(A, b)
    steps, passes, failed = 0, 1, _Solved(b, size, 1.0, 0, 0)  # z = 0
    for jitter in JITTERS:
        try:
            found = _follow(A, b, radius, c, jitter)
        except np.linalg.LinAlgError:  # the path stalled
            continue
        steps, passes = steps + found.steps, passes + found.passes
        if np.isinf(found.gap):
            raise _infeasible(radius * scale, found.residual * scale)
        if found.gap <= ACCURACY and found.residual <= max(radius * (1 + ACCURACY), ROUNDING * size):
            return _Solved(found.z * scale, found.residual * scale, found.gap, steps, passes)
        failed = found
    raise ModelError(
        f"basis pursuit with A of shape {A.shape} stopped at a gap of {failed.gap:.1g} and a residual of "
        f"{failed.residual * scale:g}, but {ACCURACY:g} and {radius * scale:g} are needed: columns of A are nearly "
        "dependent; remove near-copies or allow a larger radius",
        gap=failed.gap,
        residual=failed.residual * scale,
    )


def _infeasible(radius: float, smallest: float) -> InvalidInput:
    return InvalidInput(
        f"radius is {radius:g}, but no vector comes closer to b than {smallest:g}, the least-squares residual: "
        f"give a radius of at least {smallest * (1 + ACCURACY):.9g}",
        radius=radius,
        smallest=smallest,
    )


def _first(A: Any, b: Array) -> Array:
    """Return Aᵀb; refuse A if it is not finite: then Aᵀb is not, and that costs less to see."""
    with np.errstate(all="ignore"):
        c = _correlate(A, b)
    finite = np.isfinite(c).all()
    if not (finite and b.astype(A.dtype).all()):  # a BLAS may skip the rows at which b is 0
        as_finite(A, "A")
    if not finite:
        raise InvalidInput("A has entries so large that Aᵀb overflows: divide A by its largest entry", name="A")
    return c


def _correlate(A: Any, y: Array, path: Path | None = None) -> Array:
    """Return Aᵀy; for float32, the largest entries are what decides, so they are computed again in float64."""
    c: Array = (y.astype(A.dtype) @ A).astype(np.float64)
    if A.dtype == np.float32:
        if path is not None:
            c[path.watched] = path.products.X @ y
        size = np.abs(c)
        norms = np.linalg.norm(A[:, size.argmax()].astype(np.float64)) * np.linalg.norm(y)
        doubt = 1e-3 * size.max() + np.finfo(np.float32).eps * np.sqrt(len(y)) * norms
        close = size >= size.max() - doubt
        if path is not None:
            close[path.watched] = False
        for block in np.array_split(np.flatnonzero(close), 1 + np.count_nonzero(close) // 1000):
            c[block] = A[:, block].T.astype(np.float64) @ y
    return c


def _follow(A: Any, b: Array, radius: float, c: Array, jitter: float) -> _Solved:
    """Follow the path down to the radius, watching more columns after each pass over A; c is Aᵀb.

    A gap of infinity says that the path ended before the radius: the residual is the least-squares one.
    """
    (m, n), size = A.shape, float(np.linalg.norm(b))
    if not c.any():
        return _Solved(np.zeros(n), size, np.inf, 0, 0)
    weights = 1 + jitter * np.random.default_rng(0).random(n)
    more = n if n <= PLAIN_COLUMNS else max(m // 8, 64)  # few: each of them costs in every step
    path, passes = Path(A, b, weights, c, more), 0
    while True:
        ending = path.descend(radius)
        if ending == "pause":
            y, apart = path.residual(path.level) / path.level, False
        else:
            z, y, distance = _on_support(A, b, radius, path)
            apart = distance > max(radius * (1 + ACCURACY), ROUNDING * size)
        c, passes = _correlate(A, y, path), passes + 1
        over = np.abs(c) > weights * (1 + 2 * jitter + 1e-9)
        over[path.watched] = False
        if ending == "pause" or over.any():
            path.watch(more, y, c)
        elif apart:
            if ending != "exhausted" or np.abs(c).max() > 2:  # Aᵀr = 0 makes the distance the smallest
                raise np.linalg.LinAlgError("columns that were taken as dependent are not")
            return _Solved(z, distance, np.inf, path.steps, passes)
        else:
            gap = _gap(z, b, radius, y, c)
            for share in EARLIER_LEVELS if gap > ACCURACY else ():  # at the end, r/λ was mostly rounding
                y = path.residual(share * path.top) / (share * path.top)
                gap, passes = min(gap, _gap(z, b, radius, y, _correlate(A, y, path))), passes + 1
            return _Solved(z, distance, gap, path.steps, passes)


def _gap(z: Array, b: Array, radius: float, y: Array, c: Array) -> float:
    """Return the relative duality gap of z; c is Aᵀy, and y / max |c| is dual feasible."""
    dual = float(b @ y - radius * np.linalg.norm(y)) / float(np.abs(c).max())
    return max(1 - dual / float(np.abs(z).sum()), 0.0)  # in this order NaN stays NaN


def _on_support(A: Any, b: Array, radius: float, path: Path) -> tuple[Array, Array, float]:
    """Solve on the support, free of drift and jitter: z, the dual vector y, and ‖A z − b‖.

    With S the support and s its signs,  z = A_S⁺b − λ (A_SᵀA_S)⁻¹s  and  r = q + λu  where q ⟂ u, so that the
    radius gives λ. The dual vector is r/λ = u + q/λ.
    """
    columns = path.products.X[path.where]  # (k, m)
    R: Array | None = np.linalg.qr(columns.T)[1] if path.gram.condition() > WELL_CONDITIONED else None

    def solve(rhs: Array) -> Array:
        return path.gram.solve(rhs) if R is None else np.linalg.solve(R, np.linalg.solve(R.T, rhs))

    base = solve(columns @ b)
    base += solve(columns @ (b - base @ columns))
    q = b - base @ columns
    q -= solve(columns @ q) @ columns  # what is left of A_Sᵀq would be divided by a small λ
    for penalty in (np.sign(path.pull), path.pull):
        d = solve(penalty)
        d += solve(penalty - columns @ (d @ columns))
        u = d @ columns
        level = max(radius**2 - float(q @ q), 0.0) ** 0.5 / float(np.linalg.norm(u))
        short = base - level * d
        if (short * path.pull >= -NEARLY_ZERO * np.abs(short).max()).all():
            break  # else the support is right for the jittered weights only
    z = np.zeros(A.shape[1])
    z[path.watched[path.where]] = short
    size, rest, distance = (float(np.linalg.norm(x)) for x in (b, q, b - short @ columns))
    if distance > max(radius * (1 + ACCURACY), ROUNDING * size):  # out of reach: then Aᵀq is to be 0, q however small
        return z, q * (size / rest / SMALLEST_LEVEL / path.top), distance
    return z, u if rest <= ROUNDING * size else u + q / max(level, SMALLEST_LEVEL * path.top), distance
