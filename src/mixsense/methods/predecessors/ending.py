"""How the predecessors' methods end: with exact vectors or with no promise, and with as many as the answers show."""

from __future__ import annotations

import math
from typing import Any

from mixsense.arrays import Array
from mixsense.problem import Problem
from mixsense.recovery import PROMISES, Recovery


def ended(vectors: Array, status: str, problem: Problem, story: dict[str, Any]) -> Recovery:
    """Return the result of a method whose vectors are exact wherever it promises anything.

    Parameters
    ----------
    vectors : (L, n) array
        What was found.
    status : str
        How the run ended.
    problem : Problem
        All arguments of the run.
    story : dict
        The diagnostics.
    """
    return Recovery(
        vectors=vectors,
        status=status,
        error_bound=0.0 if status in PROMISES else math.inf,
        sigma=problem.sigma or 0.0,
        diagnostics=story,
    )


def fewer_models(given: int, found: int) -> str:
    """Return the warning that there are fewer models than were given."""
    return f"models is {given}, but the answers show {found}: give models={found}"
