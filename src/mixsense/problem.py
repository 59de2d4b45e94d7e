"""What is to be recovered: the vectors, the noise and the promise, validated once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mixsense.checks import as_float, as_int
from mixsense.errors import InvalidInput

Weights = tuple[float, float]

LEAST_ETA = 1e-12
"""A smaller probability of failure is beyond what floats and anyone's patience can check."""


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

        put("n", as_int("n", self.n, 1, "the number of coefficients of each vector"))
        if self.k is not None:
            put("k", as_int("k", self.k, 1, "the number of coefficients of each vector that matter"))
            if self.k > self.n:
                raise InvalidInput(
                    f"k is {self.k}, but the vectors have n = {self.n} coefficients: give k between 1 and {self.n}",
                    k=self.k,
                    n=self.n,
                )
        if self.gamma is not None:
            put("gamma", as_float("gamma", self.gamma, "the precision asked for, e.g. 0.1", 0.0, strict=True))
        if self.sigma is not None:
            put("sigma", as_float("sigma", self.sigma, "the noise's standard deviation, 0 if there is none", 0.0))
        put("eta", as_float("eta", self.eta, "the allowed failure probability, e.g. 0.05", 0.0, strict=True))
        if self.eta < LEAST_ETA:
            raise InvalidInput(f"eta is {self.eta:g}; it must be at least {LEAST_ETA:g}: e.g. 0.05", eta=self.eta)
        if self.eta >= 1:
            raise InvalidInput(f"eta is {self.eta:g}; it must be below 1: e.g. 0.05", eta=self.eta)
        if self.max_queries is not None:
            put("max_queries", as_int("max_queries", self.max_queries, 1, "the most answers that may be used"))
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
    first, second = (as_float("weights", w, hint, 0.0, strict=True) for w in pair)
    if abs(first + second - 1) > 1e-9:
        raise InvalidInput(f"weights sum to {first + second:g}, not 1: {hint}", weights=weights)
    return first, second
