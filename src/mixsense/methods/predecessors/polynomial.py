"""The noiseless scheme of Krishnamurthy, Mazumdar, McGregor and Pal (2019): sparse polynomials, aligned by order."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np

from mixsense.checks import as_int
from mixsense.errors import InvalidInput, ModelError
from mixsense.methods.paper.exact_values import FOREVER, answers_to_see_all
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.ending import ended, fewer_models
from mixsense.methods.predecessors.prony import bits_lost, sparse_vector
from mixsense.methods.predecessors.steps import steps
from mixsense.methods.verification.verify import fractions, verified
from mixsense.problem import MOST_MODELS, Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Asked, Method, Round, is_exact

DESIGNS = ("powers", "steps")

Vector = dict[int, Fraction]


def polynomial(
    problem: Problem,
    rng: np.random.Generator,
    design: str = "powers",
    printed: bool = False,
    m: int | None = None,
) -> Method[Recovery]:
    """Recover sparse vectors from answers without noise, as polynomials of which the oracle gives values.

    Parameters
    ----------
    problem : Problem
        n and k, the most non-zero coefficients that a vector has; σ is 0 or None. Models "auto" are as many as the
        different answers to the first query.
    rng : Generator
        Draws the cell, or the steps.
    design : "powers" or "steps"
        "powers" asks (1, a, a², …) at 2k points a and needs an oracle that computes with fractions, such as
        ``SimulatedOracle(vectors, sigma=0, exact=True)``; others are refused. "steps" is its cousin for floats: an
        anchor u, and u + s v with small s, whose answers tell by their neighbourhood whose they are.
    printed : bool
        Ask each point L log(L k²) times, as the theorem does, in place of until L values have been seen.
    m : int, optional
        For "steps": measurements of each vector to begin with.

    Returns
    -------
    Recovery
        "certified" if exact vectors of at most k coefficients have all the values (for "steps": predict new answers).
        With fractions ``diagnostics["exact"]`` has the coefficients as text, position to numerator/denominator.

    Notes
    -----
    READ (abstract): any number of models without restrictions, by a property of sparse polynomials. REMEMBERED, not
    checked against the text: the cell, one of k² L² of (0, 1], drawn at random; 2k points in it; L log(L k²) answers to
    each; sorting in place of alignment, since f_i − f_j has fewer than 2k positive roots; the theorem, all vectors with
    probability at least 1 − 3/k from 2 k L log(L k²) answers. Differs: (1) the points of the cell are in geometric
    progression, so that Prony's method decodes, and the scheme needs exact arithmetic: floats lose tens to hundreds of
    bits; (2) a point is asked until L values have been seen, unless `printed`; (3) another cell is drawn if no vectors
    have all the values. "steps" is derived here: (4) the answers to u + s v lie around those to u, one cluster a
    model, so that every answer is a measurement of a known vector, and no query need be asked twice.

    Examples
    --------
    >>> import mixsense as ms
    >>> pair = ms.random_pair(40, 3, gap=3.0, seed=1)
    >>> oracle = ms.SimulatedOracle(pair, sigma=0.0, seed=2, exact=True)
    >>> r = ms.recover(oracle, 40, k=3, sigma=0.0, method="polynomial", seed=3)
    >>> r.status, ms.match_error(r.vectors, pair)
    ('certified', 0.0)
    """
    if problem.sigma:
        raise InvalidInput(
            f"sigma is {problem.sigma:g}: method='polynomial' needs answers without noise; use method='frugal'",
            sigma=problem.sigma,
        )
    if design not in DESIGNS:
        raise InvalidInput(f"design is {design!r}: give one of {', '.join(map(repr, DESIGNS))}", design=design)
    if design == "steps":
        return (yield from steps(problem, rng, m))
    if m is not None:
        raise InvalidInput("m is for design='steps': the powers of a point need 2k points; leave m out")
    k = as_int("k", problem.k, 1, "the most non-zero coefficients that a vector has")
    models = problem.given_models
    cells, found, L = 0, None, models or MOST_MODELS
    while found is None and cells < (1 if printed else tuning.CELLS):
        cell = _Cell(problem.n, k, L, rng)
        values, L = yield from _values(cell, problem, models, printed)
        found, cells = None if values is None else cell.decode(values), cells + 1
    result = _result(found, L, problem, {"method": "polynomial", "cells": cells, "points": 2 * k})
    return (yield from verified(result, problem, rng, fractions))


class _Cell:
    """2k points a gⁱ in one random cell of (0, 1], and the queries that are their powers."""

    def __init__(self, n: int, k: int, models: int, rng: np.random.Generator) -> None:
        cells = k**2 * models**2
        t = int(rng.integers(cells))
        self.n, self.k = n, k
        self.start, self.ratio = Fraction(2 * k * t + 1, 2 * k * cells), 1 + Fraction(1, 2 * k * (t + 1))
        self.lost = bits_lost(self.start, self.ratio, n, k, rng)
        self.queries = np.empty((2 * k, n), dtype=object)
        for i in range(2 * k):
            point = self.start * self.ratio**i
            self.queries[i] = [point**j for j in range(n)]  # a power of a fraction has nothing to cancel

    def decode(self, values: list[list[Fraction]]) -> list[Vector] | None:
        """Return the vector of each column of the sorted values, if all have one."""
        found = []
        for column in zip(*map(sorted, values), strict=True):
            vector = sparse_vector(column, self.start, self.ratio, self.n)
            if vector is None:
                return None
            found.append(vector)
        return found


def _values(
    cell: _Cell, problem: Problem, models: int | None, printed: bool
) -> Method[tuple[list[list[Fraction]] | None, int]]:
    """Ask each point until L values have been seen; None if some have shown fewer."""
    L, k = models or MOST_MODELS, cell.k
    if printed and models is None:
        raise InvalidInput("models is 'auto': printed=True needs the number of models; give models")
    if printed:
        times = math.ceil(L * math.log(L * k**2))
    else:
        times = 1 if models else answers_to_see_all(1 / MOST_MODELS, tuning.COUNT_RISK * problem.eta)
    asked = yield Round(cell.queries[:1], 1, label="first point: one answer")
    _check_exact(asked, cell)
    seen: list[set[Fraction]] = [set(asked.answers.tolist()), *(set() for _ in range(2 * k - 1))]
    if times > 1:
        again = yield Round(cell.queries[:1], times - 1, label="first point: all of its values")
        _check_exact(again, cell)
        seen[0] |= set(again.answers.tolist())
    if printed:
        asked = yield Round(cell.queries[1:], times, label=f"{2 * k - 1} other points")
        _check_exact(asked, cell)
        for values, batch in zip(seen[1:], asked.batches(), strict=True):
            values |= set(batch.tolist())
    L = len(seen[0]) if models is None else L
    for _ in range(0 if printed else FOREVER):
        open_ = [i for i, values in enumerate(seen) if len(values) < L]
        if not open_:
            break
        again = yield Round(cell.queries[open_], label=f"{len(open_)} points have shown too few values")
        _check_exact(again, cell)
        for i, answer in zip(open_, again.answers.tolist(), strict=True):
            seen[i].add(answer)
        L = max(L, *map(len, seen)) if models is None else L
    most, least = max(map(len, seen)), min(map(len, seen))
    if models is not None and most > models:
        raise ModelError(
            f"a point has shown {most} different answers, but models is {models}: give models='auto' if there are "
            "more, or use method='frugal' if the answers are noisy"
        )
    wanted = L if printed else most
    return (None if least < wanted else [list(values) for values in seen]), wanted


def _check_exact(asked: Asked, cell: _Cell) -> None:
    if not is_exact(asked.answers):
        raise ModelError(
            f"the oracle answers with floats, of {sys.float_info.mant_dig} bits: of these the scheme is predicted to "
            f"lose {cell.lost:.0f} for n = {cell.n} and k = {cell.k}. It needs exact arithmetic: an oracle whose "
            "attribute `exact` is True and which answers with fractions.Fraction "
            "(ms.SimulatedOracle(..., exact=True)); or give design='steps', or use method='noiseless'",
            bits_lost=cell.lost,
        )


def _result(found: list[Vector] | None, models: int, problem: Problem, story: dict[str, Any]) -> Recovery:
    wanted = problem.given_models or models
    warnings = []
    if found is None:
        warnings.append(
            f"no {models} vectors of at most {problem.k} coefficients have the values: a model was not heard, the "
            "vectors are not exactly sparse, or k is too small; give a larger k, or use method='noiseless' or 'frugal'"
        )
    elif 1 < len(found) < wanted:
        warnings.append(fewer_models(wanted, len(found)))
    vectors = np.zeros((max(len(found or ()), 1), problem.n))
    for row, vector in zip(vectors, found or (), strict=False):
        for position, value in vector.items():
            row[position] = float(value)
    single = found is not None and len(found) == 1
    vectors = np.tile(vectors, (wanted, 1)) if single or found is None else vectors
    status = "uncertain" if warnings else "single" if single else "certified"
    exact = [{str(s): str(value) for s, value in vector.items()} for vector in found or ()]
    return ended(vectors, status, problem, story | {"models": models, "exact": exact, "warnings": warnings})
