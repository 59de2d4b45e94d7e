"""How many models there are on a grid: a query of large whole numbers, whose answers fall into one cluster a model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.errors import ModelError
from mixsense.methods.paper.checks import NOISE_OFF
from mixsense.methods.paper.exact_values import answers_to_see_all
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.grid import misfits
from mixsense.problem import MOST_MODELS, Problem
from mixsense.rounds import Method, Round


@dataclass(frozen=True)
class Anchor:
    """A query of large whole numbers, and the values that the models have for it, in steps."""

    query: Array
    means: Index
    tried: Array
    """(a, n), every query that was tried, this one among them."""
    answers: Array
    """(a, T), the answers to them."""

    def doubts(self, vectors: Array, sigma: float, step: float) -> list[str]:
        """Say if the answers to the anchors, tight clusters or not, are not those of the vectors.

        Entries of up to `ANCHOR_SIZE` show a coefficient that is off by a tenth of a step, and a second model that
        answers seldom, where rows of ±1 do not.
        """
        chance = tuning.SPREAD_ERRORS * math.sqrt(2 / self.answers.size)
        more = sigma**2 * (NOISE_OFF + chance)
        return misfits(self.tried, self.answers, vectors, sigma, step, more)


def find_anchor(problem: Problem, step: float, rng: np.random.Generator) -> Method[Anchor]:
    """Find a query whose answers fall into as many clusters as there are models."""
    noise = (problem.sigma or 0.0) / step
    models = problem.given_models
    L = models or MOST_MODELS
    least = answers_to_see_all(1 / L, tuning.COUNT_RISK * problem.eta) if L > 1 else 2
    times = max(least, math.ceil(L * tuning.ANCHOR_CARE * noise**2))
    best: tuple[Array, Index] | None = None
    tried, answers = list[Array](), list[Array]()
    for tries in range(1, tuning.ANCHORS + 1):
        query = rng.integers(-tuning.ANCHOR_SIZE, tuning.ANCHOR_SIZE + 1, problem.n).astype(np.float64)
        asked = yield Round(query[None], times, label="anchor: one query of large entries")
        tried.append(asked.vectors[0])
        answers.append(asked.table()[0])
        ordered = np.sort(asked.answers) / step
        parts = np.split(ordered, np.flatnonzero(np.diff(ordered) > tuning.APART * noise) + 1)
        means = np.array([int(np.rint(part.mean())) for part in parts])
        tight = all(np.std(part) < tuning.TIGHT * noise for part in parts)
        if tight and (best is None or len(means) > len(best[1])):
            best = asked.vectors[0], means
        enough = tries >= tuning.AUTO_ANCHORS if models is None else best is not None and len(best[1]) >= models
        if best is not None and enough:
            break
    if best is None:
        raise ModelError(
            f"no query of {tuning.ANCHORS} had answers that fall into clusters of noise {problem.sigma:g}: sigma is "
            "larger than given, or the models are too close; use method='frugal'"
        )
    found = Anchor(*best, np.stack(tried), np.stack(answers))
    if models is not None and len(found.means) > models:
        raise ModelError(
            f"the answers to one query fall into {len(found.means)} clusters, but models is {models}: give models="
            f"{len(found.means)}, or 'auto'; if shares or noise are not as said, use method='frugal'"
        )
    return found
