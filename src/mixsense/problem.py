"""What is to be recovered: the vectors, the noise and the promise, validated once."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.errors import InvalidInput

Weights = tuple[float, float]

LEAST_ETA = 1e-12
"""A smaller probability of failure is beyond what floats and anyone's patience can check."""


def whole(name: str, value: Any, low: int, hint: str) -> int:
    """Return `value` as an int of at least `low`, or say what is needed."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} is {value!r}; it must be a whole number: {hint}", **{name: value}) from None
    if number < low:
        raise InvalidInput(f"{name} is {number}; it must be at least {low}: {hint}", **{name: value})
    return number


def real(name: str, value: Any, hint: str, low: float = -math.inf, *, strict: bool = False) -> float:
    """Return `value` as a finite float of at least (or, if strict, above) `low`, or say what is needed."""
    try:
        if isinstance(value, (str, bytes, complex)):
            raise TypeError
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} is {value!r}; it must be a real number: {hint}", **{name: value}) from None
    if not math.isfinite(number):
        raise InvalidInput(f"{name} is {number}; it must be finite: {hint}", **{name: value})
    if number < low or (strict and number == low):
        bound = "above" if strict else "at least"
        raise InvalidInput(f"{name} is {number:g}; it must be {bound} {low:g}: {hint}", **{name: value})
    return number


def generator(seed: Any) -> np.random.Generator:
    """Return a random generator for a seed, or say what a seed is."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"seed is {seed!r}: give a whole number of at least 0 ({error})", seed=seed) from None


def as_vectors(vectors: ArrayLike, name: str = "vectors") -> Array:
    """Return a pair of vectors as a finite (2, n) array, or say what is wrong with them."""
    try:
        found = np.asarray(vectors)
        if found.dtype.kind not in "biuf":
            raise TypeError
    except (ValueError, TypeError):
        raise InvalidInput(f"{name} must be real numbers of shape (2, n): two vectors of equal length") from None
    if found.ndim != 2 or found.shape[0] != 2 or found.shape[1] == 0:
        raise InvalidInput(f"{name} has shape {found.shape}; needed is (2, n): one row a vector", shape=found.shape)
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0]
        raise InvalidInput(f"{name}[{row}, {column}] is {found[row, column]}; needed are finite numbers")
    return found.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Problem:
    """Two hidden vectors of length n, the noise of the answers, and the precision that is promised.

    Parameters
    ----------
    n : int
        Length of the vectors, and so of each query.
    gamma : float or None
        Precision γ asked for. None: spend `max_queries` and report the precision reached.
    k : int or None
        Sparsity: how many coefficients of each vector matter. None where the method can do without.
    sigma : float or None
        Standard deviation σ of the noise. None: it is measured with queries x = 0.
    eta : float
        Probability η with which the promise may be broken.
    weights : pair of float, "estimate" or None
        Shares of the two vectors. None means equal.
    max_queries : int or None
        Hard limit on the number of answers.
    limit : float or None
        Largest entry of a Gaussian query; where queries have to fit into a box.

    Examples
    --------
    >>> Problem(n=100, gamma=0.1, k=5, sigma=1.0).eta
    0.05
    >>> Problem(n=5, gamma=0.1, k=7)
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: k is 7, but the vectors have n = 5 coefficients: give k between 1 and 5
    """

    n: int
    gamma: float | None = 0.1
    k: int | None = None
    sigma: float | None = None
    eta: float = 0.05
    weights: Weights | str | None = None
    max_queries: int | None = None
    limit: float | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("n", whole("n", self.n, 1, "the number of coefficients of each vector"))
        if self.k is not None:
            put("k", whole("k", self.k, 1, "the number of coefficients of each vector that matter"))
            if self.k > self.n:
                raise InvalidInput(
                    f"k is {self.k}, but the vectors have n = {self.n} coefficients: give k between 1 and {self.n}",
                    k=self.k,
                    n=self.n,
                )
        if self.gamma is not None:
            put("gamma", real("gamma", self.gamma, "the precision asked for, e.g. 0.1", 0.0, strict=True))
        if self.sigma is not None:
            put("sigma", real("sigma", self.sigma, "the noise's standard deviation, 0 if there is none", 0.0))
        put("eta", real("eta", self.eta, "the allowed failure probability, e.g. 0.05", 0.0, strict=True))
        if self.eta < LEAST_ETA:
            raise InvalidInput(f"eta is {self.eta:g}; it must be at least {LEAST_ETA:g}: e.g. 0.05", eta=self.eta)
        if self.eta >= 1:
            raise InvalidInput(f"eta is {self.eta:g}; it must be below 1: e.g. 0.05", eta=self.eta)
        if self.max_queries is not None:
            put("max_queries", whole("max_queries", self.max_queries, 1, "the most answers that may be used"))
        put("weights", _weights(self.weights))


def _weights(weights: Any) -> Weights | str | None:
    if weights is None or (isinstance(weights, str) and weights == "estimate"):
        return weights
    hint = 'give two shares such as (0.7, 0.3), or None for equal ones, or "estimate"'
    if isinstance(weights, str):
        raise InvalidInput(f"weights is {weights!r}: {hint}", weights=weights)
    try:
        pair = tuple(weights)
    except TypeError:
        raise InvalidInput(f"weights is {weights!r}: {hint}", weights=weights) from None
    if len(pair) != 2:
        raise InvalidInput(f"weights has {len(pair)} entries, there are two vectors: {hint}", weights=weights)
    first, second = (real("weights", w, hint, 0.0, strict=True) for w in pair)
    if abs(first + second - 1) > 1e-9:
        raise InvalidInput(f"weights sum to {first + second:g}, not 1: {hint}", weights=weights)
    return first, second
