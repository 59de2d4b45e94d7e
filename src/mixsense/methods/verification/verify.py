"""New queries, whose answers must be the found vectors': what is not linear in x shows itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from mixsense.arrays import Array, Mask
from mixsense.methods.verification import tuning
from mixsense.problem import Problem
from mixsense.recovery import PROMISES, Recovery
from mixsense.rounds import Method, Round, dense

Form = Callable[[Any], Array]
"""Makes of CSR rows what a method asks."""


def verified(result: Recovery, problem: Problem, rng: np.random.Generator, form: Form = dense) -> Method[Recovery]:
    """Return a result as it is if it promises nothing, or if new queries are answered as its vectors say.

    A method sees the answers to queries of its own kind, which have entries of one size, of one sign, or few of them. A
    function that bends, jumps, or changes beyond these would be certified as what it is there.

    Parameters
    ----------
    result : Recovery
        What would be returned.
    problem : Problem
        All arguments of the run; without noise the answers have to be right to rounding.
    rng : Generator
        Draws the queries.
    form : callable
        Makes of CSR rows what is asked: `dense`, `fractions`, or the rows themselves.
    """
    if result.status not in PROMISES:
        return result
    rows = form(new_rows(problem.n, np.flatnonzero(result.vectors.any(axis=0)), rng, whole=bool(problem.sigma)))
    label = "new queries: do the vectors answer them"
    asked = yield Round(rows, label=label, estimate=lambda: replace(result, status="budget", error_bound=math.inf))
    coarse = [] if problem.sigma or form is fractions else hidden_by_rounding(result.vectors, problem.gamma)
    wrong = misses(asked.vectors, asked.answers, result.vectors, problem.sigma or 0.0)
    story = result.diagnostics | {"verified": int((~wrong).sum())}
    if not wrong.any() and not coarse:
        return replace(result, diagnostics=story)
    story["warnings"] = [*story.get("warnings", ()), *([not_linear(wrong)] if wrong.any() else coarse)]
    return replace(result, status="uncertain", error_bound=math.inf, diagnostics=story)


def new_rows(n: int, support: Any, rng: np.random.Generator, whole: bool = False) -> Any:
    """Draw queries whose entries have random signs and sizes from small to large, as SciPy's CSR rows.

    Parameters
    ----------
    n : int
        Number of positions.
    support : array of int
        Positions that are in, however large n is; of the others as many as memory likes.
    rng : Generator
        Draws them.
    whole : bool
        Entries are whole numbers, as those of the methods for a grid; multiples of a quarter otherwise.

    Notes
    -----
    Sizes are log-uniform, and every position has all of them, with both signs, in the rows together (a Latin
    hypercube), so that thresholds of one input are passed, whatever their size; those of two at once may not be. Every
    fourth row has half of the entries: a rule may ask whether an input is there at all.

    Examples
    --------
    >>> rows = new_rows(5, [0], np.random.default_rng(0))
    >>> rows.shape, float(abs(rows).max()) <= 16, bool((rows.data * 4 % 1 == 0).all())
    ((20, 5), True, True)
    """
    from scipy.sparse import csr_array

    unit, largest = (1.0, tuning.LARGEST_WHOLE_ENTRY) if whole else (tuning.LEAST_ENTRY, tuning.LARGEST_ENTRY)
    places, count = np.arange(n), tuning.NEW_ROWS
    if n > (most := tuning.NEW_ENTRIES // count):
        places = np.union1d(rng.integers(0, n, most), np.asarray(support, dtype=np.intp))
    layer = rng.permuted(np.tile(np.arange(count), (len(places), 1)), axis=1).T  # (count, places)
    size = unit * np.rint((largest / unit) ** ((layer // 2 + rng.random(layer.shape)) / (count / 2)))
    entries = np.where(layer % 2, size, -size)
    entries[:: tuning.HALF_EVERY][rng.random(entries[:: tuning.HALF_EVERY].shape) < 0.5] = 0.0
    rows = csr_array(entries)
    return csr_array((rows.data, places[rows.indices], rows.indptr), shape=(count, n))


def fractions(rows: Any) -> Array:
    """Return rows as fractions, for oracles that compute with these."""
    found = np.empty(rows.shape, dtype=object)
    for place, value in np.ndenumerate(dense(rows)):
        found[place] = Fraction(value)
    return found


def misses(queries: Any, answers: Array, vectors: Array, sigma: float = 0.0) -> Mask:
    """Return which answers are none of the vectors'.

    With noise those that are too far for chance; where all together are, those that are further than the others.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [4.0, 0.0]])
    >>> misses(X, np.array([5.0, 4.5]), np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([False,  True])
    """
    X, y = queries, np.asarray(answers, dtype=np.float64)
    if X.dtype == object:
        X = dense(X)
    away = np.abs(np.asarray(X @ vectors.T) - y[:, None]).min(axis=1)
    if not sigma:
        sizes = np.asarray(abs(X) @ np.abs(vectors).T).max(axis=1)  # of what is added up
        least = dense(abs(X).max(axis=1)).reshape(-1) * np.abs(vectors).max()  # a vector's zeros may be rounded
        return np.asarray(away > tuning.SAME * np.maximum(sizes, least))
    square = (away / sigma) ** 2
    chance = 1 + tuning.NOISE_ERRORS * math.sqrt(2 / len(y))  # of a mean of squares
    return np.asarray(square >= (tuning.ODD**2 if square.mean() <= chance else square.mean()))


def hidden_by_rounding(vectors: Array, gamma: float | None) -> list[str]:
    """Return the warning that the largest coefficient is so large that its rounding may hide others of size γ.

    Examples
    --------
    >>> hidden_by_rounding(np.array([[1e7, 1.0]]), 0.1), len(hidden_by_rounding(np.array([[1e10, 1.0]]), 0.1))
    ([], 1)
    """
    lost = tuning.RESOLUTION * float(np.abs(vectors).max(initial=0.0))
    if not gamma or lost <= gamma:
        return []
    return [
        f"the largest coefficient is {lost / tuning.RESOLUTION:.3g}: its rounding hides others of about {lost:.2g}, "
        f"and gamma is {gamma:g}; give a larger gamma, or ask in units in which all coefficients are of similar size"
    ]


def not_linear(wrong: Mask) -> str:
    """Return the warning that some answers are none of the vectors', and what to do."""
    return (
        f"{int(wrong.sum())} of {len(wrong)} answers to new queries are none of the vectors': they are rounded, or not "
        "linear in x (a threshold, a kink, a rule, a product, a constant), or a further model answers seldom; use "
        "method='frugal', with a box in which they are linear"
    )
