"""Worlds in which the respondent of each answer is known, and those who share a model are not alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixsense.rounds import Asked, block_groups
from worlds import REACH, SIGMA, Case, Setting, effects, options, rows, world

BLOCK = 8
"""Answers of each respondent."""
SMALL = (Setting(4, True), Setting(12, True))

Change = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""(means, queries in [−1, 1], place in the block from 0 to 1, number of the respondent, generator) -> means."""
ALL = -1
"""The model whose respondents change: all of them."""


class Respondents:
    """An oracle that asks a block of queries of each respondent, who has one model."""

    def __init__(self, beta: np.ndarray, setting: Setting, change: Change, of: int, rng: np.random.Generator) -> None:
        self.beta, self.setting, self.change, self.of, self.rng, self.next = beta, setting, change, of, rng, 0

    def __call__(self, queries: np.ndarray, repeats: int) -> np.ndarray:
        """Answer, each query by another respondent."""
        return self.asked(queries, repeats, 1).y.reshape(len(queries), repeats)

    def asked(self, queries: np.ndarray, repeats: int, block: int = 1) -> Asked:
        """Answer, and say who did."""
        group = block_groups(len(queries), repeats, block, self.next)
        _, who = np.unique(group.ravel(), return_inverse=True)
        self.next = int(group.max()) + 1
        X = np.repeat(queries, repeats, axis=0)
        model = self.rng.integers(len(self.beta), size=int(who.max()) + 1)[who]
        mean = (rows(X, self.setting) @ self.beta.T)[np.arange(len(X)), model]
        place = np.repeat(np.arange(len(queries)) % block / max(block - 1, 1), repeats)
        changed = self.change(mean, X / REACH, place, who, self.rng)
        y = np.where((self.of == ALL) | (model == self.of), changed, mean) + SIGMA * self.rng.standard_normal(len(X))
        return Asked.of_round(queries, y.reshape(len(queries), repeats), group)


def respondents(name: str, section: str, change: Change, *reasons: str, models: int = 2, of: int = ALL) -> None:
    """Register a world of respondents."""

    def make(setting: Setting, rng: np.random.Generator) -> Case:
        beta = effects(setting, rng, models)
        oracle = Respondents(beta, setting, change, of, rng)
        return Case(oracle, [beta], setting.n, REACH, options(setting, block=BLOCK))

    world(f"respondents known, {name}", section, *reasons, settings=SMALL)(make)


def own_levels(size: float) -> Change:
    return lambda mean, X, place, who, rng: mean + size * SIGMA * rng.standard_normal(who.max() + 1)[who]


def own_coefficients(size: float) -> Change:
    def change(mean, X, place, who, rng):  # type: ignore[no-untyped-def]
        own = rng.standard_normal((who.max() + 1, X.shape[1])) / np.sqrt(X.shape[1])
        return mean + size * SIGMA * np.einsum("ij,ij->i", X, own[who])

    return change


respondents("alike", "inside", lambda mean, X, place, who, rng: mean)
for size in (0.5, 1.0, 2.0):
    respondents(f"levels of their own, {size:g} σ", "outside", own_levels(size), "own levels")
for size in (1.0, 2.0):
    respondents(f"coefficients of their own, {size:g} σ", "outside", own_coefficients(size), "own coefficients")
respondents("answers rise by σ", "outside", lambda mean, X, place, who, rng: mean + SIGMA * place, "order in a group")
respondents(
    "answers shrink by half", "outside", lambda mean, X, place, who, rng: mean * (1 - place / 2), "order in a group"
)
respondents(
    "those of one of three models shrink by half",
    "outside",
    lambda mean, X, place, who, rng: mean * (1 - place / 2),
    "order in a group",
    "uneven noise",
    models=3,
    of=2,
)
