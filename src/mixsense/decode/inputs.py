"""What basis pursuit accepts: a matrix, right-hand sides and radii, all of them real and finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixsense.arrays import Array
from mixsense.errors import InvalidInput


def as_matrix(A: ArrayLike) -> Any:
    """Return A as a float32 or float64 array that BLAS can read without a copy; refuse what is not a matrix."""
    A = np.asarray(A)
    if A.ndim != 2 or A.size == 0:
        raise InvalidInput(f"A has shape {A.shape}: give a matrix (m, n), neither of them 0", shape=A.shape)
    A = _real(A, "A")
    if not (A.flags.c_contiguous or A.flags.f_contiguous):
        A = np.ascontiguousarray(A)
    return A


def as_sides(A: Any, b: ArrayLike, radius: ArrayLike) -> tuple[Array, Array]:
    """Return the right-hand sides as columns (m, r) and their radii (r,)."""
    m, (b, radius) = len(A), (np.asarray(b), np.asarray(radius))
    if b.ndim not in (1, 2) or len(b) != m or b.size == 0:
        raise InvalidInput(
            f"b has shape {b.shape}, but A has {m} rows: give b of shape ({m},) or ({m}, r)", shape=b.shape, rows=m
        )
    B = as_finite(_real(b, "b"), "b").astype(np.float64).reshape(m, -1)
    if radius.shape not in ((), (B.shape[1],)):
        raise InvalidInput(
            f"radius has shape {radius.shape}, but b has {B.shape[1]} columns: give one number, or one for each column",
            shape=radius.shape,
        )
    radii = np.broadcast_to(as_finite(_real(radius, "radius"), "radius").astype(np.float64), B.shape[1])
    if radii.min() < 0:
        raise InvalidInput(f"radius is {radii.min():g}: give a distance, at least 0", radius=radii.min())
    return B, radii


def _real(x: NDArray[Any], name: str) -> NDArray[Any]:
    if x.dtype.kind not in "fiub":
        raise InvalidInput(f"{name} has dtype {x.dtype}: give real numbers", dtype=str(x.dtype))
    return x if x.dtype == np.float32 else x.astype(np.float64, copy=False)


def as_finite(x: NDArray[Any], name: str) -> NDArray[Any]:
    """Return x itself; refuse it if an entry is infinite or not a number."""
    lines = np.atleast_2d(x.T if x.flags.f_contiguous else x)  # in memory order, without one mask as large as A
    step = max(1, 2**16 // lines.shape[1])
    if not all(np.isfinite(lines[i : i + step]).all() for i in range(0, len(lines), step)):
        raise InvalidInput(f"{name} has entries that are infinite or not a number: remove or replace them", name=name)
    return x
