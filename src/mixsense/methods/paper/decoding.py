"""From means to vectors: the last lines of Algorithms 8 and 9, which decode by basis pursuit or as the user says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import shown
from mixsense.decode import basis_pursuit
from mixsense.errors import InvalidInput
from mixsense.methods.paper.constants import Constants
from mixsense.methods.registry import imported
from mixsense.recovery import Recovery

RADIUS = 0.9
"""Radius of basis pursuit in units of the expected norm of the noise, with practical constants (taste)."""
SMALLEST_ERROR = 0.01
"""The smallest standard error of a mean, in units of the largest (taste)."""
FEASIBLE = 1.01
"""At least this many times the smallest residual that any vector has: exactly that one would leave basis pursuit no
room for rounding (taste)."""


Decoder = Callable[[Array, Array, float], Any]
"""A function (A, b, radius) of an (m, n) matrix, an (m,) array and a number, whose result has the vector as `value`."""
DECODERS: dict[str, Decoder] = {"basis_pursuit": basis_pursuit}
"""The decoders that have a name."""


def decoder_of(decoder: str | Decoder) -> Decoder:
    """Return a decoder by its name, as ``module:function``, or as the function itself.

    Examples
    --------
    >>> decoder_of("basis_pursuit") is basis_pursuit
    True
    """
    if callable(decoder):
        return decoder
    if isinstance(decoder, str) and decoder in DECODERS:
        return DECODERS[decoder]
    if isinstance(decoder, str) and ":" in decoder:
        found: Decoder = imported(decoder, "decoder")
        return found
    names = ", ".join(map(repr, DECODERS))
    raise InvalidInput(
        f"decoder is {shown(decoder)}: give {names}, a function (A, b, radius), or one as module:function",
        decoder=decoder,
    )


def sparse_vectors(decoder: Decoder, A: Array, b: Array, radius: Any = 0.0) -> Array:
    """Decode each column of b, and check what comes back.

    Parameters
    ----------
    decoder : callable
        Called once for each column; see `Decoder`.
    A : (m, n) array
        The query vectors as rows.
    b : (m, r) array
        Right-hand sides.
    radius : float or (r,) array
        How far A z may be from each.

    Returns
    -------
    (r, n) array
    """
    radii = np.broadcast_to(radius, b.shape[1:])
    return np.stack([_decoded(decoder, A, side, float(rho)) for side, rho in zip(b.T, radii, strict=True)])


def _decoded(decoder: Decoder, A: Array, b: Array, radius: float) -> Array:
    found = decoder(A, b, radius)
    if not hasattr(found, "value"):
        raise InvalidInput(
            f"the decoder returned {type(found).__name__}: it must return an object with the vector as its "
            "attribute value, as ms.decode.basis_pursuit returns"
        )
    try:
        z = np.asarray(found.value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"the decoder's value is {shown(found.value)}: it must be real numbers") from None
    if z.shape != A.shape[1:] or not np.isfinite(z).all():
        raise InvalidInput(
            f"the decoder's value has shape {z.shape}: it must be {A.shape[1]} finite numbers, one for each column of A"
        )
    return z


def decode(
    X: Array, u: Array, stderr: Array, constants: Constants, printed_radius: float, decoder: Decoder = basis_pursuit
) -> Array:
    """Min ‖z‖₁ s.t. ‖A z − u/√m‖₂ ≤ radius, for each row of u, with A = X/√m; or what another decoder makes of these.

    Parameters
    ----------
    X : (m, n) array
        The queries.
    u : (r, m) array
        Means of each vector.
    stderr : (m,) or (r, m) array
        Standard error of the entries of u.
    constants : Constants
        `theory`: the printed radius. `practical`: each row is divided by its standard error, so that uncertain
        queries count less (erratum 12), and the radius is the norm that the noise is expected to have
        (erratum 6).
    printed_radius : float
        10γ in Algorithm 8, γ in Algorithm 9.
    decoder : callable
        See `Decoder`.

    Returns
    -------
    (r, n) array
    """
    m = len(X)
    if stderr.ndim == 2:
        each = zip(u, stderr, strict=True)
        return np.concatenate([decode(X, row[None], error, constants, printed_radius, decoder) for row, error in each])
    if constants.name == "theory":
        return sparse_vectors(decoder, X / math.sqrt(m), u.T / math.sqrt(m), printed_radius)
    stderr = _above_zero(stderr)
    A = X / (stderr[:, None] * math.sqrt(m))
    b = (u / (stderr * math.sqrt(m))).T
    return sparse_vectors(decoder, A, b, np.maximum(RADIUS, FEASIBLE * _least_residual(A, b)))


def _above_zero(stderr: Array) -> Array:
    """Return standard errors to divide by: those of rounded answers are 0 where all of a batch are the same."""
    return np.maximum(stderr, SMALLEST_ERROR * (float(stderr.max()) or 1.0))


def _least_residual(A: Array, b: Array) -> Array:
    """Smallest residual that any z has: 0 for a wide matrix; a tall one cannot fit all of the noise."""
    if A.shape[0] <= A.shape[1]:
        return np.zeros(b.shape[1])
    z = np.linalg.lstsq(A, b, rcond=None)[0]
    return np.asarray(np.linalg.norm(A @ z - b, axis=0))


def decoding_error(n: int, k: int, stderr: Array, constants: Constants) -> float:
    """Bound on ‖β̂ − β‖₂ of a k-sparse β: decode_factor √(k log(en/k)/m) times the entries' standard error.

    Of (r, m) standard errors, for r vectors, the worst counts.
    """
    m = stderr.shape[-1]
    typical = 1 / math.sqrt(float(np.mean(_above_zero(stderr) ** -2.0, axis=-1).min()))
    return constants.decode_factor * math.sqrt(k * math.log(math.e * n / k) / m) * typical


def supported_sparsity(m: int, n: int, constants: Constants) -> int:
    """Return the k that m = c_s k log n queries are meant for; stands in for a k that the user did not give."""
    return max(1, min(n, int(m / (constants.rows * math.log(max(n, 2))))))


def one_vector(vector: Array, models: int, **fields: Any) -> Recovery:
    """Return the recovery that has the same vector in each of its rows."""
    return Recovery(vectors=np.tile(vector, (models, 1)), **fields)
