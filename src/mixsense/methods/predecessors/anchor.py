"""How many models there are on a grid: a query of large whole numbers, whose answers fall into one cluster a model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.errors import ModelError
from mixsense.methods.paper.exact_values import answers_to_see_all
from mixsense.methods.predecessors import tuning
from mixsense.problem import MOST_MODELS, Problem
from mixsense.rounds import Method, Round


@dataclass(frozen=True)
class Anchor:
    """A query of large whole numbers, and the values that the models have for it, in steps."""

    query: Array
    means: Index


def find_anchor(problem: Problem, step: float, rng: np.random.Generator) -> Method[Anchor]:
    """Find a query whose answers fall into as many clusters as there are models."""
    noise = (problem.sigma or 0.0) / step
    models = problem.given_models
    L = models or MOST_MODELS
    least = answers_to_see_all(1 / L, tuning.COUNT_RISK * problem.eta) if L > 1 else 2
    times = max(least, math.ceil(L * tuning.ANCHOR_CARE * noise**2))
    best: Anchor | None = None
    for tries in range(1, tuning.ANCHORS + 1):
        query = rng.integers(-tuning.ANCHOR_SIZE, tuning.ANCHOR_SIZE + 1, problem.n).astype(np.float64)
        asked = yield Round(query[None], times, label="anchor: one query of large entries")
        ordered = np.sort(asked.answers) / step
        parts = np.split(ordered, np.flatnonzero(np.diff(ordered) > tuning.APART * noise) + 1)
        found = Anchor(asked.vectors[0], np.array([int(np.rint(part.mean())) for part in parts]))
        tight = all(np.std(part) < tuning.TIGHT * noise for part in parts)
        if tight and (best is None or len(found.means) > len(best.means)):
            best = found
        enough = tries >= tuning.AUTO_ANCHORS if models is None else best is not None and len(best.means) >= models
        if best is not None and enough:
            break
    if best is not None and models is not None and len(best.means) > models:
        raise ModelError(
            f"the answers to one query fall into {len(best.means)} clusters, but models is {models}: give models="
            f"{len(best.means)}, or 'auto'; if shares or noise are not as said, use method='frugal'"
        )
    if best is None:
        raise ModelError(
            f"no query of {tuning.ANCHORS} had answers that fall into clusters of noise {problem.sigma:g}: sigma is "
            "larger than given, or the models are too close; use method='frugal'"
        )
    return best
