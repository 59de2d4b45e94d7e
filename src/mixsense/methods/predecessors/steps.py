"""An anchor and small steps from it: floats in place of fractions, and every answer a measurement of a known vector."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_int
from mixsense.decode import basis_pursuit
from mixsense.errors import ModelError
from mixsense.methods.design import gaussian
from mixsense.methods.paper.exact_values import EQUAL, FOREVER, answers_to_see_all
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.ending import ended, fewer_models
from mixsense.methods.predecessors.grid import rows_to_begin
from mixsense.methods.predecessors.triples import distinct
from mixsense.methods.verification.verify import misses, not_linear, verified
from mixsense.problem import MOST_MODELS, Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Round


def steps(problem: Problem, rng: np.random.Generator, m: int | None) -> Method[Recovery]:
    """Recover sparse vectors without noise from u, asked until all models have answered, and from u + s v.

    The answers to u + s v are so near to those to u that each tells its model: y = ⟨u, β⟩ + s ⟨v, β⟩. See `polynomial`.
    """
    n, k = problem.n, problem.k or tuning.GUESSED_K
    u = gaussian(1, n, rng)
    base = yield from _base(u, problem)
    L = len(base)
    first = rows_to_begin(n, k) if m is None else as_int("m", m, 1, "the measurements of each vector to begin with")
    first = min(first, n)
    rows = [np.empty((0, n)) for _ in range(L)]
    sides = [np.empty(0) for _ in range(L)]
    vectors = np.zeros((L, n))

    def result(status: str, warnings: list[str]) -> Recovery:
        told = problem.given_models or L
        if status == "certified" and L < told and L > 1:
            status, warnings = "uncertain", [fewer_models(told, L)]
        status = "single" if L == 1 and status == "certified" else status
        story: dict[str, Any] = {"method": "polynomial", "design": "steps", "models": L, "warnings": warnings}
        known = np.tile(vectors, (told, 1)) if L == 1 else vectors.copy()
        return ended(known, status, problem, story | {"m": [len(b) for b in sides]})

    wanted, fitted = np.full(L, first), np.zeros(L, np.intp)  # measurements before the next fit, and at the last one
    while True:
        while (missing := int(max(wanted[a] - len(sides[a]) for a in range(L)))) > 0:
            V = gaussian(max(missing, math.ceil(L * missing * tuning.EAGER)), n, rng)
            asked = yield Round(u + tuning.STEP * V, label="small steps", estimate=lambda: result("budget", []))
            owner, value = _tagged(asked.answers, base)
            V = (asked.queries - u) / tuning.STEP  # as they were asked: the sum was rounded
            for a in range(L):
                rows[a] = np.concatenate([rows[a], V[owner == a]])
                sides[a] = np.concatenate([sides[a], value[owner == a]])
        wrong = [a for a in range(L) if not _explains(vectors[a], rows[a], sides[a])]
        if not wrong:
            away = misses(np.repeat(u, L, axis=0), base, vectors)
            if away.any():  # around u the answers are linear, and at u they are not
                return result("uncertain", [not_linear(away)])
            return (yield from verified(result("certified", []), problem, rng))
        if max(fitted[a] for a in wrong) >= n:
            return result("uncertain", ["n measurements of a vector do not fit one: the answers are not linear in x"])
        for a in wrong:
            vectors[a], fitted[a] = _solved(rows[a], sides[a]), len(sides[a])
            known = fitted[a] >= n or tuning.DETERMINED * np.count_nonzero(vectors[a]) < fitted[a]
            wanted[a] = fitted[a] + (tuning.CHECKED if known else math.ceil(tuning.MORE * fitted[a]))


def _base(u: Array, problem: Problem) -> Method[Array]:
    """Return the values of the anchor, ascending: ask it until all models have answered."""
    models = problem.given_models
    L = models or MOST_MODELS
    times = answers_to_see_all(1 / L, tuning.COUNT_RISK * problem.eta) if L > 1 else 1
    if models is None:
        asked = yield Round(u, times, label="how many models: the anchor")
        answers = asked.answers
    else:
        answers = np.empty(0)
        for _ in range(min(times, FOREVER)):
            asked = yield Round(u, label="anchor: until all models have answered")
            answers = np.concatenate([answers, asked.answers])
            if len(distinct(answers, EQUAL * float(np.abs(answers).max()))) >= models:
                break
    found = distinct(answers, EQUAL * float(np.abs(answers).max()))
    if len(found) > L:
        raise ModelError(
            f"the anchor has shown {len(found)} different answers, but models is {L}: give models='auto' if there are "
            "more, or use method='frugal' if the answers are noisy"
        )
    return found


def _tagged(answers: Array, base: Array) -> tuple[Array, Array]:
    """Return whose each answer is, and its measurement ⟨v, β⟩."""
    distance = np.abs(answers[:, None] - base)
    owner = distance.argmin(axis=1)
    gap = float(np.diff(base).min()) if len(base) > 1 else math.inf
    far = tuning.STEP * tuning.FAR * float(np.abs(base).max())
    if float(distance.min(axis=1).max()) > min(tuning.NEAR * gap, far):
        raise ModelError(
            "an answer lies between those of the anchor: a model was not heard before, or the answers are noisy or not "
            "linear in x; use method='noiseless', or 'frugal' if they are noisy"
        )
    return owner, (answers - base[owner]) / tuning.STEP


def _solved(rows: Array, side: Array) -> Array:
    if len(side) >= rows.shape[1]:
        return np.asarray(np.linalg.lstsq(rows, side, rcond=None)[0])
    scale = 1 / math.sqrt(len(side))
    try:
        return basis_pursuit(rows * scale, side * scale).value
    except ModelError:  # it stands still: more measurements will tell
        return np.asarray(np.linalg.lstsq(rows, side, rcond=None)[0])


def _explains(vector: Array, rows: Array, side: Array) -> bool:
    """Whether a vector predicts the last measurements, which it was not made of."""
    last = slice(-tuning.CHECKED, None)
    away = np.abs(rows[last] @ vector - side[last])
    return bool(away.max() <= tuning.PREDICTED * np.abs(side).max())
