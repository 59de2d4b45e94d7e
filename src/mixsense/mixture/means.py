"""What the estimators return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixsense.arrays import Array, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Estimated means of each batch; the arrays are read-only.

    Attributes
    ----------
    value : array of shape (..., L)
        The means, ascending.
    stderr : array of shape (..., L)
        Their standard errors, finite also where means coincide.
    iterations, converged, loglik : arrays of shape (...), or None
        `em` only: passes over the batch, whether the tolerance was reached, log likelihood at `value`.
    """

    value: Array
    stderr: Array
    iterations: NDArray[np.int64] | None = None
    converged: Mask | None = None
    loglik: Array | None = None

    def __post_init__(self) -> None:
        for array in (self.value, self.stderr, self.iterations, self.converged, self.loglik):
            if array is not None:
                array.flags.writeable = False


class Moments(NamedTuple):
    """Mean and variance of each batch, arrays of shape (...)."""

    mean: Array
    variance: Array
