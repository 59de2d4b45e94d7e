"""From means to vectors: the last lines of Algorithms 8 and 9, which decode by basis pursuit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.decode import basis_pursuit
from mixsense.methods.paper.constants import Constants
from mixsense.recovery import Recovery

RADIUS = 0.9
"""Radius of basis pursuit in units of the expected norm of the noise (practical constants)."""


def decode(X: Array, u: Array, stderr: Array, constants: Constants, printed_radius: float) -> Array:
    """Min ‖z‖₁ s.t. ‖A z − u/√m‖₂ ≤ radius, for each row of u, with A = X/√m.

    Parameters
    ----------
    X : (m, n) array
        The queries.
    u : (r, m) array
        Means of each vector.
    stderr : (m,) array
        Standard error of the entries of u.
    constants : Constants
        `theory`: the printed radius. `practical`: each row is divided by its standard error, so that uncertain
        queries count less (erratum 12), and the radius is the norm that the noise is expected to have
        (erratum 6).
    printed_radius : float
        10γ in Algorithm 8, γ in Algorithm 9.

    Returns
    -------
    (r, n) array
    """
    m = len(X)
    if constants.name == "theory":
        return basis_pursuit(X / math.sqrt(m), u.T / math.sqrt(m), printed_radius).value.T
    A = X / (stderr[:, None] * math.sqrt(m))
    b = (u / (stderr * math.sqrt(m))).T
    radius = np.maximum(RADIUS, 1.01 * _least_residual(A, b))
    return basis_pursuit(A, b, radius).value.T


def _least_residual(A: Array, b: Array) -> Array:
    """Smallest residual that any z has: 0 for a wide matrix; a tall one cannot fit all of the noise."""
    if A.shape[0] <= A.shape[1]:
        return np.zeros(b.shape[1])
    z = np.linalg.lstsq(A, b, rcond=None)[0]
    return np.asarray(np.linalg.norm(A @ z - b, axis=0))


def decoding_error(n: int, k: int, stderr: Array, constants: Constants) -> float:
    """Bound on ‖β̂ − β‖₂ of a k-sparse β: decode_factor √(k log(en/k)/m) times the entries' standard error."""
    m = len(stderr)
    typical = 1 / math.sqrt(float(np.mean(stderr**-2.0)))
    return constants.decode_factor * math.sqrt(k * math.log(math.e * n / k) / m) * typical


def supported_sparsity(m: int, n: int, constants: Constants) -> int:
    """Return the k that m = c_s k log n queries are meant for; stands in for a k that the user did not give."""
    return max(1, min(n, int(m / (constants.rows * math.log(max(n, 2))))))


def one_vector(vector: Array, **fields: Any) -> Recovery:
    """Return the recovery that has the same vector in both rows."""
    return Recovery(vectors=np.stack([vector, vector]), **fields)
