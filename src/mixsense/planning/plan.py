"""How many answers will it take: `plan`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mixsense.checks import as_int, as_size
from mixsense.errors import InvalidInput
from mixsense.methods.paper.constants import PRACTICAL
from mixsense.planning import costs, predecessors
from mixsense.planning.calibration import MOST_OF_GAP, RANGES
from mixsense.planning.information import Lost, scale_expected
from mixsense.planning.inputs import (
    LARGEST_RATIO,
    check_numbers,
    check_scales,
    checked_gap,
    expected,
    planned_models,
)
from mixsense.planning.people import people_if_known, people_of_each_kind
from mixsense.planning.setting import NOTES, Setting
from mixsense.planning.table import Plan, Row, count
from mixsense.problem import DEFAULTS, EQUAL, Problem, Weights, as_shares

ETA: float = DEFAULTS["eta"]
"""The calibration's η, for the rows "certified" and "typical"."""
TOLERANCE = 0.01
"""How exactly a budget's γ is found where a formula has no inverse (taste)."""
NINE_OF_TEN = 1.3
"""Standard deviations above the mean that nine runs of ten do not exceed (derived: the normal quantile, 1.28)."""
FRUGAL_EXACT = (
    "the default method, exact in 9 runs of 10; assumes sparse vectors and answers with all digits of a float"
)
LINKED = "frugal", "certified", "typical"
"""The rows of the method that makes use of which answers are one person's."""


def plan(
    n: int,
    k: int,
    sigma: float | None = None,
    gap: float | None = None,
    gamma: float | None = None,
    eta: float = ETA,
    budget: int | None = None,
    per_person: int | None = None,
    weights: Weights | str | None = None,
    models: int | None = None,
    step: float | None = None,
    scale: Any = None,
    level: float | None = None,
    spread: float | None = None,
) -> Plan:
    """Say how many answers each method needs for a precision γ; or, with a budget, which γ to expect.

    Parameters
    ----------
    n, k : int
        Length of the vectors, and how many coefficients of each matter.
    sigma : float
        Standard deviation of the noise that you expect; 0 if there is none.
    gap : float
        Distance ‖β¹ − β²‖ of the two vectors that you expect; of more, the mean distance of two of them.
    gamma : float, optional
        Precision asked for, below gap/2: the worst ℓ2 error of the vectors. Give this, or `budget`.
    eta : float
        Allowed probability of failure, for the paper's rows; the rows "certified" and "typical" are for 0.05.
    budget : int, optional
        Number of answers that can be had: turns the question round.
    per_person : int, optional
        Answers that one person gives; adds the number of people. For the frugal method they are known to be one's
        (``block``, ``study.ask(respondent=token)``), and there are enough of each kind in nine plans of ten.
    weights : L floats, optional
        Shares of the models, equal if left out.
    models : int, optional
        Number L of models that you expect: as many as there are shares, or 2. Only two are calibrated: for more, the
        rows of the frugal method are rough, scaled by what the limits say, and the paper's rows are empty.
    step : float, optional
        If all coefficients are multiples of a known number: it, for the rows of the methods that make use of it.
    scale : Rating, Probability or dict, optional
        What an answer is, if it is no real number. The rows "frugal", "certified", "typical" and "tagged" then count as
        many answers as tell the same; other methods take real numbers. σ, gap and γ are about the linear value.
    level, spread : float, optional
        Mean and standard deviation of a model's linear values over the queries, which say how many answers are at the
        ends. Left out: the middle of the scale, and 0.75 √(n/k) gap/√2 as for focused queries; in a box the spread is
        the root of the sum of the squared effects.

    Returns
    -------
    Plan
        A table with the rows "theorem", "paper", "frugal", "certified", "typical", "tagged" and, with `step`,
        "coloring" and "lattice"; at σ = 0 "printed", "noiseless", "frugal", "coloring", "polynomial" and "steps". Each
        says what it assumes.

    Examples
    --------
    >>> table = plan(100, 5, sigma=1.0, gap=2.0, gamma=0.1, per_person=12)
    >>> table["frugal"].queries < table["paper"].queries < table["theorem"].queries
    True
    >>> table["frugal"].queries / 12 < table["frugal"].people < table["frugal"].queries / 10
    True
    >>> 0.02 < plan(100, 5, sigma=1.0, gap=2.0, budget=2000)["frugal"].gamma < 0.2
    True
    """
    numbers = {"n": n, "k": k, "sigma": sigma, "gap": gap, "gamma": gamma, "eta": eta, "budget": budget}
    check_numbers(numbers | {"per_person": per_person, "step": step, "level": level, "spread": spread})
    models = planned_models(models, weights)
    problem = Problem(n=n, k=k, sigma=sigma, gamma=gamma, eta=eta, weights=weights, models=models)
    k, sigma, shares = expected(problem)
    gap = checked_gap(gap)
    if budget is not None:
        budget = as_int("budget", budget, 1, "the number of answers that can be had")
    if step is not None:
        step = as_size("step", step, "what all coefficients are multiples of")
    if per_person is not None:
        per_person = as_int("per_person", per_person, 1, "the number of answers that one person gives")
    if (problem.gamma is None) == (budget is None) and sigma:
        both = "are both given" if budget is not None else "are both missing"
        raise InvalidInput(f"gamma and budget {both}: give gamma to get the answers, or budget to get gamma")
    inputs = {
        "n": problem.n,
        "k": k,
        "sigma": sigma,
        "gap": gap,
        "gamma": problem.gamma,
        "eta": problem.eta,
        "budget": budget,
        "per_person": per_person,
        "weights": shares,
        "models": models,
        "step": step,
    }
    scale, level, spread = scale_expected(scale, level, spread)
    if scale is not None:
        inputs |= {"scale": scale.to_dict(), "level": level, "spread": spread}
        if sigma == 0:
            raise InvalidInput("sigma is 0, and answers are on a scale: give the noise that you expect")
    if sigma == 0:
        return Plan(inputs, _without_noise(problem, budget, per_person))
    check_scales(sigma, gap, problem.gamma)
    setting = Setting.of(problem, gap / sigma, as_shares(shares, models))
    if scale is not None:
        setting = setting.on_scale(Lost.of(scale, problem.n, k, sigma, gap, level, spread))
    if problem.gamma is not None:
        rows = _for_precision(setting, sigma, problem.gamma, per_person)
    else:
        rows = _for_budget(setting, sigma, budget or 1, per_person)
    grid = predecessors.rows_with_noise(setting.n, k, sigma, step, setting.shares) if scale is None else []
    more = tuple(predecessors.row(name, needed, note, budget, per_person) for name, needed, note in grid)
    table = Plan(inputs, rows + more)
    return replace(table, extrapolated=_extrapolated(setting, (table["frugal"].gamma or math.nan) / sigma))


def _for_precision(s: Setting, sigma: float, gamma: float, per_person: int | None) -> tuple[Row, ...]:
    """Rows for a precision γ: the number of answers is asked."""
    g = gamma / sigma
    answers = {
        "theorem": None if s.not_for_paper else s.theorem(g),
        "paper": None if s.not_for_paper else s.paper(g),
        "frugal": s.frugal(g),
        "certified": s.certified(g),
        "typical": s.typical(g),
        "tagged": s.tagged(g),
    }
    rows = (
        Row(name, queries, gamma, people_if_known(queries, per_person), s.note(name) if queries else s.not_for_paper)
        for name, queries in answers.items()
    )
    return tuple(_linked(row, per_person, s.shares) for row in rows)


def _linked(row: Row, per_person: int | None, shares: Weights) -> Row:
    """Return the row of a method that makes use of who answered, with people enough of each kind."""
    if row.method not in LINKED or row.queries is None or per_person is None:
        return row
    return replace(row, people=people_of_each_kind(row.queries, per_person, shares))


def _for_budget(s: Setting, sigma: float, budget: int, per_person: int | None) -> tuple[Row, ...]:
    """Rows for a number of answers: the precision is asked."""
    frugal = costs.frugal_precision(s.n, s.k, s.gap, budget, s.growth)
    if frugal >= s.gap / 2:
        least = s.frugal(s.gap / 2)
        raise InvalidInput(
            f"budget is {budget}: too small for the frugal method to tell the vectors apart (γ below gap/2); "
            f"give at least {least + 1}",
            budget=budget,
            needed=least + 1,
        )
    found: dict[str, tuple[float | None, str]] = {"frugal": (frugal, s.note("frugal"))}
    for name, cost in (("theorem", s.theorem), ("paper", s.paper), ("certified", s.certified), ("typical", s.typical)):
        if s.not_for_paper and name not in ("certified", "typical"):
            found[name] = None, s.not_for_paper
        elif (least := cost(s.gap / 2)) > budget:
            found[name] = None, f"needs at least {count(least)} answers"
        else:
            found[name] = _smallest(cost, budget, s.gap / 2), s.note(name)
    lost = math.sqrt(s.lost.plain) if s.lost else 1.0
    found["tagged"] = lost * costs.tagged_precision(s.k, budget, s.shares), s.note("tagged")
    crowd = people_if_known(budget, per_person)
    return tuple(
        Row(name, None, None, None, note) if g is None else Row(name, budget, g * sigma, crowd, note)
        for name, (g, note) in sorted(found.items(), key=lambda row: list(NOTES).index(row[0]))
    )


def _smallest(cost: Callable[[float], int], budget: int, high: float) -> float:
    """Return the smallest γ that costs at most the budget, within `TOLERANCE`; γ = high does."""
    low = high / LARGEST_RATIO
    while high > (1 + TOLERANCE) * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if cost(middle) <= budget else (middle, high)
    return high


def _without_noise(problem: Problem, budget: int | None, per_person: int | None) -> tuple[Row, ...]:
    """Rows for exact vectors: the paper's appendix for two models of equal shares, the predecessors for any."""
    models = problem.given_models or 2
    shares, k = as_shares(problem.weights, models), problem.k or 1
    two = models == 2 and problem.weights in (None, EQUAL, costs.TWO)
    rows = []
    for name in ("printed", "noiseless"):
        needed = enough = costs.noiseless(problem.n, k, PRACTICAL, printed=name == "printed")
        if name == "noiseless":  # about needed/4 queries with 3 ± √2 answers each
            enough += math.ceil(NINE_OF_TEN * math.sqrt(needed / 2))
        if not two:
            rows.append(Row(name, None, None, None, "planned for two models of equal shares"))
        elif budget is None or enough <= budget:
            rows.append(Row(name, needed, 0.0, people_if_known(needed, per_person), NOTES[name]))
        else:
            rows.append(Row(name, None, None, None, f"needs about {needed:,} answers"))
    frugal = costs.frugal_exact(problem.n, k, shares)
    rows.append(predecessors.row("frugal", frugal, FRUGAL_EXACT, budget, per_person))
    before = predecessors.without_noise(problem.n, k, shares)
    rows += [
        predecessors.row(name, needed, predecessors.note(name, models), budget, per_person)
        for name, needed in before.items()
    ]
    if all(row.queries is None for row in rows):
        least = min(frugal, *before.values())
        raise InvalidInput(
            f"budget is {budget}: too small for every method without noise; give at least {least}",
            budget=budget,
            needed=least,
        )
    return tuple(rows)


def _extrapolated(s: Setting, gamma: float) -> tuple[str, ...]:
    """Say which inputs the calibration did not cover."""
    values = {"n": s.n, "k": s.k, "gap/sigma": s.gap, "gamma/sigma": gamma}
    texts = [
        f"{name} = {value:g} is outside the calibrated {RANGES[name][0]:g} … {RANGES[name][1]:g}"
        for name, value in values.items()
        if not RANGES[name][0] * (1 - 1e-9) <= value <= RANGES[name][1] * (1 + 1e-9)
    ]
    if gamma > MOST_OF_GAP * s.gap:
        texts.append(f"gamma = {gamma / s.gap:.3g} gap is above the calibrated {MOST_OF_GAP:g} gap")
    if s.eta != ETA:
        texts.append(f"eta = {s.eta:g}: the rows certified and typical are calibrated for {ETA:g}")
    if s.k > s.n / 4:
        texts.append(f"k = {s.k} is above the calibrated n/4")
    if not s.equal:
        texts.append("the shares: calibrated for equal ones, here scaled by the smallest share")
    if s.lost is not None:
        texts.append("the scale: calibrated for real numbers, here scaled by the information that is lost")
    if s.models != 2:
        texts.append(f"models = {s.models}: calibrated for 2, here scaled by what the limits say")
    return tuple(texts)
