"""The noiseless scheme of the appendix: σ = 0, exact recovery."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput, ModelError
from mixsense.methods.design import gaussian
from mixsense.methods.paper.align import narrowest
from mixsense.methods.paper.constants import Constants, preset
from mixsense.methods.paper.decoding import Decoder, decoder_of, one_vector, sparse_vectors, supported_sparsity
from mixsense.methods.paper.exact_values import EQUAL, FOREVER, Seen, all_values, check_unchanged
from mixsense.methods.paper.options import number_of_queries
from mixsense.methods.verification.tuning import NEW_ROWS
from mixsense.methods.verification.verify import hidden_by_rounding, misses, new_rows
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Round, dense

ROUNDINGS = 10
"""A sum may miss its two values by this many times as much: all three are rounded, and it may be larger
than any of them (taste)."""


def noiseless(
    problem: Problem,
    rng: np.random.Generator,
    m: int | None = None,
    constants: str | Constants = "practical",
    decoder: str | Decoder = "basis_pursuit",
) -> Method[Recovery]:
    """Recover all vectors exactly from answers without noise.

    Parameters
    ----------
    problem : Problem
        n, and k (or give m); σ must be 0 or None; γ is not used. Models "auto" are as many as the answers show, up to
        six.
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
        ``diagnostics["missed"]`` bounds the probability that a model was missed. If there are fewer models than
        `problem.models` says, those that there are, "uncertain".

    Notes
    -----
    Appendix "Discussion on Noiseless Setting". Differs from the print: (1) a query is asked only until all of its
    values have been seen, three answers on average for two vectors instead of 2 log₂ m; (2) one answer to the sum query
    aligns a query of two (erratum 22), and the difference is asked only where that answer leaves more than one order;
    (3) any number of vectors: all orders that the answers to sums and differences with the pivot allow are kept until
    one is left; (4) new queries verify the vectors in the end: some vectors fit any few answers, linear or not. With
    "auto" one query is asked until all of up to six models with equal shares have answered, but for probability η/20.
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
    models = problem.given_models

    def solved(b: Array, radius: float = 0.0) -> Array:
        return sparse_vectors(find, X / math.sqrt(len(X)), b / math.sqrt(len(X)), radius)

    def best_of(seen: Seen) -> Recovery:
        # The middle is within half the distance of the values; where only one was seen, that of the others.
        half = np.where(seen.counts > 1, seen.half, np.median(seen.half))
        radius, size = (float(np.linalg.norm(v)) / math.sqrt(m) for v in (half, seen.middle))
        return so_far(solved(seen.middle[:, None], max(radius, size / 2))[0])

    def so_far(vector: Array) -> Recovery:
        story = {"method": "noiseless", "m": m}
        return one_vector(vector, models or 1, status="budget", sigma=0.0, diagnostics=story)

    seen, L, missed = yield from all_values(X, models, problem.eta / 2, best_of)
    story = _story(m, c, problem, missed)
    if L == 1:
        vector = solved(seen.middle[:, None])[0]
        warnings = _doubts(vector[None], X, None, L)
        if not warnings:  # any answers are those of some vector, as long as there are no more of them
            warnings += yield from verify(vector[None], problem, rng, lambda: so_far(vector))
        return one_vector(
            vector,
            models or 1,
            status="uncertain" if warnings else "single",
            error_bound=math.inf if warnings else 0.0,
            sigma=0.0,
            diagnostics=story | {"warnings": warnings},
        )
    whole = seen.counts == L
    X, values = X[whole], np.sort(seen.values[whole, :L], axis=1)
    u, clear = yield from align_exactly(X, values, lambda: so_far(solved(values.mean(axis=1)[:, None])[0]))
    X, u = X[clear], u[:, clear]
    vectors = solved(u.T)
    warnings = _doubts(vectors, X, models, L)
    if not warnings:
        unverified = Recovery(vectors=vectors, status="budget", sigma=0.0, diagnostics=story | {"models": L})
        warnings += yield from verify(vectors, problem, rng, lambda: unverified)
    return Recovery(
        vectors=vectors,
        status="uncertain" if warnings else "certified",
        error_bound=math.inf if warnings else 0.0,
        sigma=0.0,
        diagnostics=story | {"models": L, "left_out": m - len(X), "aligned_means": u.tolist(), "warnings": warnings},
    )


def align_exactly(X: Array, values: Array, best: Callable[[], Recovery]) -> Method[tuple[Array, Array]]:
    """Step 2: answers to xᵢ + x₁ and xᵢ − x₁ tell which values of xᵢ and of x₁ belong to the same vector.

    The first query's part is played by the one whose values are furthest apart, which ties least. An answer leaves the
    orders in which it is a sum of two values that belong together: of two orders one, of L! those that agree in it.

    Returns
    -------
    u : (L, m) array
        The values of each vector.
    clear : (m,) mask
        Which queries have one order; others have values that are equal within rounding.
    """
    m, L = values.shape
    pivot = int(narrowest(values).argmax())
    orders = np.array(list(permutations(range(L))), dtype=np.intp)  # (L!, L): value j belongs to the pivot's order[j]
    possible = np.ones((m, len(orders)), dtype=np.bool_)
    possible[pivot] = np.arange(len(orders)) == 0  # ascending
    scale = ROUNDINGS * EQUAL * np.abs(values).max()
    paired = values[pivot][orders]  # (L!, L)
    for times in range(FOREVER):
        left = np.flatnonzero(possible.sum(axis=1) > 1)
        if not left.size:
            break
        sign, label = ((1, "sums"), (-1, "differences"))[times % 2]
        pairs = X[left] + sign * X[pivot]
        asked = yield Round(pairs, label=f"alignment: {label}", estimate=best)
        check_unchanged(asked, pairs)
        for i, z in zip(left, asked.answers, strict=True):
            fits = (np.abs(values[i] + sign * paired - z) <= scale).any(axis=1)
            possible[i] &= fits
            if not possible[i].any():
                raise ModelError(
                    f"the answer {z:g} to a {label[:-1]} query is not a {label[:-1]} of the values {values[i]} and "
                    f"{values[pivot]} seen before: the answers are noisy or not linear in x, or there are more than "
                    f"{L} models; use method='frugal' if they are noisy"
                )
    place = np.argsort(orders, axis=1)[possible.argmax(axis=1)]  # (m, L)
    return np.take_along_axis(values, place, axis=1).T, possible.sum(axis=1) == 1


def verify(
    vectors: Array, problem: Problem, rng: np.random.Generator, best: Callable[[], Recovery]
) -> Method[list[str]]:
    """Ask new queries, whose answers must be the vectors': a missed model, a kink or a rule shows itself."""
    if problem.limit is None:
        fresh = dense(new_rows(problem.n, np.flatnonzero(vectors.any(axis=0)), rng))
    else:
        fresh = gaussian(NEW_ROWS, problem.n, rng, problem.limit)
    asked = yield Round(fresh, label="new queries: do the vectors answer them", estimate=best)
    wrong = misses(asked.queries, asked.answers, vectors)
    if not wrong.any():
        return hidden_by_rounding(vectors, problem.gamma)
    found = f"the {len(vectors)} vectors" if len(vectors) > 1 else "the vector"
    return [
        f"{int(wrong.sum())} of {len(wrong)} answers to new queries do not fit {found}: there are more models, or some "
        "are rarer than equal shares would make them, or answers are not linear in x; use method='frugal'"
    ]


def _doubts(vectors: Array, X: Array, models: int | None, L: int) -> list[str]:
    """Return what keeps the vectors from being certain."""
    warnings: list[str] = []
    rows, n = X.shape
    if rows < n and not ((vectors != 0).sum(axis=1) < rows).all():
        warnings.append("m queries do not determine vectors this dense: give a larger k or m")
    if models is not None and L < models:
        warnings.append(f"models is {models}, but no query has shown more than {L} different answers: give models={L}")
    return warnings


def _story(m: int, c: Constants, problem: Problem, missed: float) -> dict[str, object]:
    printed = math.ceil(c.noiseless_repeats * math.log2(m)) * (3 * m - 2)
    return {
        "method": "noiseless",
        "models": 1,
        "constants": c.name,
        "m": m,
        "k": problem.k or supported_sparsity(m, problem.n, c),
        "missed": missed,
        "printed_queries": printed,
        "warnings": [],
    }
