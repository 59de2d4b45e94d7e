"""The noiseless scheme of the appendix: σ = 0, exact recovery."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.errors import InvalidInput, ModelError
from mixsense.methods.design import gaussian
from mixsense.methods.paper.constants import Constants, preset
from mixsense.methods.paper.decoding import Decoder, decoder_of, one_vector, sparse_vectors, supported_sparsity
from mixsense.methods.paper.options import number_of_queries
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Asked, Method, Round

Solved = Callable[..., Array]
"""A function (b, radius=0.0) that decodes the columns of b."""
EQUAL = 1e-9
"""Answers that differ by less than this share of the largest answer are equal (erratum 22)."""
ROUNDINGS = 10
"""A sum may miss its two values by this many times as much: all three are rounded, and it may be larger
than any of them (taste)."""
FOREVER = 100
"""A query that has shown one value in this many answers has two that are equal within rounding."""


def noiseless(
    problem: Problem,
    rng: np.random.Generator,
    m: int | None = None,
    constants: str | Constants = "practical",
    decoder: str | Decoder = "basis_pursuit",
) -> Method[Recovery]:
    """Recover both vectors exactly from answers without noise.

    Parameters
    ----------
    problem : Problem
        n, and k (or give m); σ must be 0 or None; γ is not used.
    rng : Generator
        Draws the queries.
    m : int, optional
        Number of Gaussian queries; c_s k log n, at most n, by default.
    constants : "practical", "theory" or Constants
        For c_s.
    decoder : "basis_pursuit", callable or str
        What makes a vector of its measurements: a function (A, b, radius) whose result has the vector as `value`, as
        `mixsense.decode.basis_pursuit`, called once for each vector; or its name as ``module:function``.

    Returns
    -------
    Recovery

    Notes
    -----
    Appendix "Discussion on Noiseless Setting". Differs from the print: (1) a query is asked only until both of its
    values have been seen, three answers on average instead of 2 log₂ m; (2) one answer to the sum query aligns a
    query (erratum 22), and the difference is asked only where that answer fits both orders.
    """
    c, find = preset(constants), decoder_of(decoder)
    if problem.sigma:
        raise InvalidInput(
            f"sigma is {problem.sigma:g}: method='noiseless' needs answers without noise; use method='frugal'",
            sigma=problem.sigma,
        )
    wanted = number_of_queries(problem, "noiseless", m, c)
    m = wanted if m is not None else min(wanted, max(problem.n, 2))  # n exact equations determine any vector
    X = gaussian(m, problem.n, rng, problem.limit)

    def solved(b: Array, radius: float = 0.0) -> Array:
        return sparse_vectors(find, X / math.sqrt(m), b / math.sqrt(m), radius)

    values = yield from both_values(X, problem.eta / 2, solved)
    if (values[:, 0] == values[:, 1]).all():
        vector = solved(values[:, :1])[0]
        return one_vector(vector, status="single", error_bound=0.0, sigma=0.0, diagnostics=_story(m, c, problem, []))
    u, v = yield from align_exactly(X, values, solved)
    vectors = solved(np.stack([u, v], axis=1))
    exact = (vectors != 0).sum(axis=1) < m
    warnings = (
        [] if exact.all() or m >= problem.n else ["m queries do not determine vectors this dense: give a larger k or m"]
    )
    return Recovery(
        vectors=vectors,
        status="uncertain" if warnings else "certified",
        error_bound=math.inf if warnings else 0.0,
        sigma=0.0,
        diagnostics=_story(m, c, problem, warnings) | {"aligned_means": [u.tolist(), v.tolist()]},
    )


def both_values(X: Array, eta: float, solved: Solved) -> Method[Array]:
    """Step 1: ask each query until both of its values have been seen; returns (m, 2), ascending.

    For two different vectors every query has two values, so that a query is asked as long as it takes, once another
    has shown two. If none has in log₂(1/η) answers beyond the first of each, there is one vector only, but for
    probability η.
    """
    m = len(X)
    asked = yield Round(X, 2, label="base queries: two answers each")
    X[:], y = asked.vectors, asked.table()
    low, high = y.min(axis=1), y.max(axis=1)
    times = 2

    def unseen() -> Index:
        scale = max(np.abs(low).max(), np.abs(high).max())
        return np.flatnonzero(high - low <= EQUAL * scale)

    def best() -> Recovery:
        # The mean model is within half the distance of the two values; where only one was seen, that of the others.
        half = (high - low) / 2
        half[unseen()] = np.median(half)
        middle, radius = (low + high) / 2, float(np.linalg.norm(half)) / math.sqrt(m)
        vector = solved(middle[:, None], max(radius, float(np.linalg.norm(middle / math.sqrt(m))) / 2))[0]
        return one_vector(vector, status="budget", sigma=0.0, diagnostics={"method": "noiseless", "m": m})

    while len(open_ := unseen()):
        if (len(open_) == m and m * (times - 1) >= math.log2(1 / eta)) or times > FOREVER:
            break
        label = f"base queries: {len(open_)} have shown one value only"
        again = yield Round(X[open_], label=label, estimate=best)
        check_unchanged(again, X[open_])
        low[open_] = np.minimum(low[open_], again.answers)
        high[open_] = np.maximum(high[open_], again.answers)
        times += 1
    equal = unseen()
    high[equal] = low[equal]
    return np.stack([low, high], axis=1)


def align_exactly(X: Array, values: Array, solved: Solved) -> Method[tuple[Array, Array]]:
    """Step 2: one answer to x₁ + xᵢ tells which values of xᵢ and of x₁ belong to the same vector.

    The first query's part is played by the one whose values are furthest apart, which ties least.
    """
    m = len(X)
    pivot = int(np.ptp(values, axis=1).argmax())
    others = np.flatnonzero(np.arange(m) != pivot)
    same = np.ones(m, dtype=np.bool_)
    scale = ROUNDINGS * EQUAL * np.abs(values).max()
    a, b = values[others], values[pivot]  # (m − 1, 2), (2,)

    def best() -> Recovery:
        vector = solved(values.mean(axis=1)[:, None])[0]
        return one_vector(vector, status="budget", sigma=0.0, diagnostics={"method": "noiseless", "m": m})

    undecided = np.arange(len(others))
    for sign, label in ((1, "sums"), (-1, "differences")):
        pairs = X[others[undecided]] + sign * X[pivot]
        asked = yield Round(pairs, label=f"alignment: {label}", estimate=best)
        check_unchanged(asked, pairs)
        z, left = asked.answers[:, None], a[undecided]
        together = np.abs(left + sign * b - z).min(axis=1)  # same order: a₁ + b₁ or a₂ + b₂
        crossed = np.abs(left + sign * b[::-1] - z).min(axis=1)
        if (np.minimum(together, crossed) > scale).any():
            i = int(np.argmax(np.minimum(together, crossed)))
            raise ModelError(
                f"the answer {z[i, 0]:g} to a {label[:-1]} query is not a {label[:-1]} of the values {left[i]} and {b} "
                "seen before: the answers are noisy or not linear in x; use method='frugal' if they are noisy",
            )
        same[others[undecided]] = together <= crossed
        undecided = undecided[np.maximum(together, crossed) <= scale]
        if not len(undecided):
            break
    u = np.where(same, values[:, 0], values[:, 1])
    v = np.where(same, values[:, 1], values[:, 0])
    return u, v


def check_unchanged(asked: Asked, sent: Array) -> None:
    """Refuse answers to other queries than those sent, but for rounding: they would be compared with exact values."""
    if asked.queries.shape != sent.shape or np.abs(asked.queries - sent).max() > EQUAL * np.abs(sent).max():
        raise ModelError(
            "the queries were changed on their way (rounded, or cut to a range): exact answers need exact queries; "
            "use method='frugal'"
        )


def _story(m: int, c: Constants, problem: Problem, warnings: list[str]) -> dict[str, object]:
    printed = math.ceil(c.noiseless_repeats * math.log2(m)) * (3 * m - 2)
    return {
        "method": "noiseless",
        "constants": c.name,
        "m": m,
        "k": problem.k or supported_sparsity(m, problem.n, c),
        "printed_queries": printed,
        "warnings": warnings,
    }
