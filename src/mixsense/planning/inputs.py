"""What a plan has to be told, and what cannot be planned."""

from __future__ import annotations

from typing import Any

from mixsense.checks import as_float, as_int
from mixsense.errors import InvalidInput
from mixsense.problem import EQUAL, LEAST_SHARE, MOST_MODELS, Problem, Weights

LARGEST_RATIO = 1e6
"""Beyond this ratio of σ and γ, or of gap and σ, there is nothing to plan."""
LARGEST = 10**12
"""No one has this many answers, nor vectors of this length."""


def check_numbers(given: dict[str, Any]) -> None:
    """Refuse truth values, and numbers that are beyond all plans."""
    for name, value in given.items():
        if isinstance(value, bool):
            raise InvalidInput(f"{name} is {value}; it must be a number", **{name: value})
        if isinstance(value, int) and value > LARGEST:
            raise InvalidInput(f"{name} is above {LARGEST:.0e}: there is nothing to plan so far out", **{name: value})


def expected(problem: Problem) -> tuple[int, float, Weights | None]:
    """Return k, σ and the shares, which `recover` could find out, but a plan has to be told."""
    if problem.k is None:
        raise InvalidInput("k is missing: give the number of coefficients of each vector that you expect to matter")
    if problem.sigma is None:
        raise InvalidInput("sigma is missing: give the noise that you expect, or measure it with 30 answers to x = 0")
    if isinstance(problem.weights, str) and problem.weights != EQUAL:
        raise InvalidInput("weights is 'estimate': a plan needs the shares that you expect, such as (0.7, 0.3)")
    if isinstance(problem.weights, tuple) and min(problem.weights) < LEAST_SHARE:
        raise InvalidInput(
            f"weights is {problem.weights}: a share below {LEAST_SHARE:g} cannot be told from outliers; give more"
        )
    return problem.k, problem.sigma, problem.weights if isinstance(problem.weights, tuple) else None


def planned_models(models: Any, weights: Any) -> int:
    """Return how many models are planned for: as many as there are shares, or two, if the number is not given."""
    if models is None:
        models = len(weights) if hasattr(weights, "__len__") and not isinstance(weights, str) else 2
    hint = f"a plan is for 2 to {MOST_MODELS} models; one vector is recovered with method='single'"
    return as_int("models", models, 2, hint, MOST_MODELS)


def checked_gap(gap: float | None) -> float:
    """Return the distance of the vectors, or say what is needed."""
    if gap is None:
        raise InvalidInput("gap is missing: give the distance of the vectors that you expect, or that matters to you")
    gap = as_float("gap", gap, "the distance of the vectors", 0.0)
    if gap == 0:
        raise InvalidInput(
            "gap is 0: the vectors are one, and there is nothing to tell apart; give the smallest distance that "
            "matters to you, or recover one vector with method='single'",
            gap=gap,
        )
    return gap


def check_scales(sigma: float, gap: float, gamma: float | None) -> None:
    """Refuse noise, distance and precision that do not go together."""
    if gap > LARGEST_RATIO * sigma:
        raise InvalidInput(f"gap is {gap:g} and sigma {sigma:g}: such answers are without noise; give sigma 0")
    if sigma > LARGEST_RATIO * gap:
        raise InvalidInput(f"gap is {gap:g} and sigma {sigma:g}: no budget tells these apart; lower the noise")
    if gamma is None:
        return
    if gamma >= gap / 2:
        raise InvalidInput(
            f"gamma is {gamma:g} and gap {gap:g}: from gap/2 on, one vector between two is near enough to both; "
            f"give gamma below {gap / 2:g}, or recover one vector with method='single'",
            gamma=gamma,
            gap=gap,
        )
    if sigma > LARGEST_RATIO * gamma:
        raise InvalidInput(f"gamma is {gamma:g} and sigma {sigma:g}: no one has that many answers; give a larger gamma")
