"""Worlds in which a certificate is tried: what answers, what is true of it, and how it is asked.

A `World` makes a `Case` from a `Setting` and a generator. `WORLDS` names all of them; those of the section "inside"
fulfil the assumptions of the default method, those of the section "outside" break one each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

import mixsense as ms
from mixsense.metrics import best_order

SIGMA, GAMMA, REACH, EFFECT = 0.3, 0.3, 1.5, 1.5
"""Noise, precision, half of each feature's range, and the standard deviation of an effect, where nothing else is said.
"""


class Setting(NamedTuple):
    """How many features there are, and whether queries stay in a box."""

    n: int
    box: bool

    def __str__(self) -> str:
        return f"{self.n}" if self.box else f"{self.n}, no box"


BOXES = (Setting(4, True), Setting(12, True), Setting(30, True))
EVERYWHERE = (*BOXES, Setting(20, False))


@dataclass(frozen=True)
class Case:
    """One oracle with what is true of it."""

    oracle: Callable[[np.ndarray, int], np.ndarray]
    truths: Sequence[np.ndarray]
    """Each (L, n) or, where models have a level, (L, n + 1) with the level first; in effects of half of a range.
    All of them hold at some time: the error is the largest of all."""
    n: int
    half: float | np.ndarray = 1.0
    """Half of each feature's range."""
    options: dict[str, Any] = field(default_factory=dict)
    """What `ms.recover` is given besides the oracle, n and the seed."""
    middle: float | np.ndarray = 0.0
    """The middle of each feature's range, where the level is that of the truths."""

    def recover(self, seed: Any) -> ms.Recovery:
        """Run the default method."""
        return ms.recover(self.oracle, self.n, seed=seed, **self.options)

    def error(self, r: ms.Recovery) -> float:
        """Return the worst error of a result, that of the level included."""
        found = np.asarray(r.vectors) * self.half
        if self.truths[0].shape[1] > self.n:
            level = r.intercept + np.asarray(r.vectors) @ np.broadcast_to(self.middle, self.n)
            found = np.column_stack([level, found])
        return max(_distance(found, truth) for truth in self.truths)

    def covered(self, r: ms.Recovery) -> tuple[int, int]:
        """Return how many of the true coefficients that are not zero lie in their intervals, and how many there are.

        None where there are not as many models as were found, or where the truth changes.
        """
        truth = self.truths[0][:, -self.n :] / self.half
        if len(self.truths) > 1 or r.interval is None or len(r.vectors) != len(truth):
            return 0, 0
        ends = r.interval[list(best_order(r.vectors, truth))]
        inside = (ends[..., 0] <= truth) & (truth <= ends[..., 1])
        return int(inside[truth != 0].sum()), int((truth != 0).sum())


def _distance(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the worst ℓ2 distance; between different numbers of models, of each from the nearest on the other side."""
    if len(found) in (1, len(truth)):
        return ms.match_error(found, truth)
    apart = np.linalg.norm(found[:, None] - truth, axis=2)
    return float(max(apart.min(axis=0).max(), apart.min(axis=1).max()))


@dataclass(frozen=True)
class World:
    """A way in which answers are made."""

    name: str
    section: str
    """"inside" or "outside" of what the method assumes."""
    make: Callable[[Setting, np.random.Generator], Case]
    settings: Sequence[Setting] = EVERYWHERE
    reasons: tuple[str, ...] = ()
    """The checks of which one should fail; none where nothing is wrong, or the model covers it."""


WORLDS: dict[str, World] = {}
"""All worlds by their names."""


def world(
    name: str, section: str, *reasons: str, settings: Sequence[Setting] = EVERYWHERE
) -> Callable[[Callable[[Setting, np.random.Generator], Case]], Callable[[Setting, np.random.Generator], Case]]:
    """Register the function below as a world."""

    def register(
        make: Callable[[Setting, np.random.Generator], Case],
    ) -> Callable[[Setting, np.random.Generator], Case]:
        WORLDS[name] = World(name, section, make, settings, reasons)
        return make

    return register


# What ordinary answers are made of: two models with effects on half of the features each, and equal shares.


def effects(setting: Setting, rng: np.random.Generator, models: int = 2) -> np.ndarray:
    """Draw models: effects of N(0, 1.5²) on half of the features; in a box a level of the same size, which is first."""
    n = setting.n
    k = max(2, n // 2)
    drawn = np.zeros((models, n + setting.box))
    for row in drawn:
        row[setting.box + rng.choice(n, k, replace=False)] = EFFECT * rng.standard_normal(k)
        if setting.box:
            row[0] = EFFECT * rng.standard_normal()
    return drawn


def rows(X: np.ndarray, setting: Setting) -> np.ndarray:
    """Return what the answers are linear in."""
    return np.column_stack([np.ones(len(X)), X / REACH]) if setting.box else X


def options(setting: Setting, **more: Any) -> dict[str, Any]:
    """Return the arguments of `ms.recover`; a run that finds no end is ended."""
    box = {"box": [(-REACH, REACH)] * setting.n, "intercept": True} if setting.box else {}
    return {"gamma": GAMMA, "max_queries": 3000, **box, **more}


Answering = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""(queries, means (q, L), numbers of the answers so far, generator) -> answers."""


def case(
    setting: Setting,
    rng: np.random.Generator,
    answering: Answering,
    beta: np.ndarray | None = None,
    truths: Sequence[np.ndarray] | None = None,
    **more: Any,
) -> Case:
    """Return a case whose answers come from a function of the queries and of each model's mean."""
    beta = effects(setting, rng) if beta is None else beta
    asked = 0

    def oracle(X: np.ndarray, repeats: int) -> np.ndarray:
        nonlocal asked
        X = np.repeat(X, repeats, axis=0)
        number = asked + np.arange(len(X))
        asked += len(X)
        return answering(X, rows(X, setting) @ beta.T, number, rng).reshape(-1, repeats)

    return Case(oracle, truths or [beta], setting.n, REACH if setting.box else 1.0, options(setting, **more))


def of_one(means: np.ndarray, rng: np.random.Generator, weights: Sequence[float] | None = None) -> np.ndarray:
    """Return the mean of a model that is drawn for each answer."""
    return means[np.arange(len(means)), rng.choice(means.shape[1], len(means), p=weights)]


def noise(q: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the noise of q answers."""
    return SIGMA * rng.standard_normal(q)


@world("two models", "inside")
def two_models(setting: Setting, rng: np.random.Generator) -> Case:
    return case(setting, rng, lambda X, means, number, rng: of_one(means, rng) + noise(len(X), rng))


@world("one model", "inside")
def one_model(setting: Setting, rng: np.random.Generator) -> Case:
    beta = effects(setting, rng, 1)
    return case(setting, rng, lambda X, means, number, rng: means[:, 0] + noise(len(X), rng), beta)


# Outside: another number of models than the user insists on.


@world("three models, models=2", "outside", "models")
def three_models(setting: Setting, rng: np.random.Generator) -> Case:
    beta = effects(setting, rng, 3)
    return case(setting, rng, lambda X, means, number, rng: of_one(means, rng) + noise(len(X), rng), beta, models=2)


# Outside: answers that are not the linear value.

BENDS = ("link", "levels", "bend", "squares", "interactions", "ends", "rounding")


@world("clipped at ±2, then noise", "outside", *BENDS)
def clipped(setting: Setting, rng: np.random.Generator) -> Case:
    return case(setting, rng, lambda X, means, number, rng: of_one(np.clip(means, -2, 2), rng) + noise(len(X), rng))


@world("rounded to integers", "outside", "rounding")
def rounded(setting: Setting, rng: np.random.Generator) -> Case:
    return case(setting, rng, lambda X, means, number, rng: np.round(of_one(means, rng) + noise(len(X), rng)))


@world("sigmoid from −2 to 2, then noise", "outside", *BENDS)
def sigmoid(setting: Setting, rng: np.random.Generator) -> Case:
    # 4/(1 + exp(−m)) − 2: its slope is 1 in the middle.
    return case(setting, rng, lambda X, means, number, rng: of_one(2 * np.tanh(means / 2), rng) + noise(len(X), rng))


@world("ratings 1 to 7 taken for real numbers", "outside", *BENDS, settings=BOXES)
def ratings(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.clip(np.round(4 + of_one(means, rng) + noise(len(X), rng)), 1, 7)

    beta = effects(setting, rng)
    truth = beta.copy()
    truth[:, 0] += 4
    return case(setting, rng, answering, beta, [truth])


@world("ratings 1 to 7, with their scale", "outside", settings=BOXES)
def rated(setting: Setting, rng: np.random.Generator) -> Case:
    found = ratings(setting, rng)
    return replace(found, options={**found.options, "scale": ms.Rating(1, 7)})


@world("probabilities, with their scale", "outside", settings=BOXES)
def probabilities(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return 1 / (1 + np.exp(-of_one(means, rng) - noise(len(X), rng)))

    return case(setting, rng, answering, scale=ms.Probability())


# Outside: models that are not chosen at random.

ROUTED = ("gate", "interactions", "repeats", "squares")


@world("the sign of an input routes", "outside", *ROUTED)
def sign_routes(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.where(X[:, 0] > 0, means[:, 0], means[:, 1]) + noise(len(X), rng)

    return case(setting, rng, answering)


@world("a hash of x routes", "outside", *ROUTED)
def hash_routes(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        model = np.array([hashlib.sha256(row.tobytes()).digest()[0] % 2 for row in X + 0.0])
        return means[np.arange(len(X)), model] + noise(len(X), rng)

    return case(setting, rng, answering)


@world("a rule lets a third model of 8 % answer on one side of an input only", "outside", *ROUTED)
def seldom_on_one_side(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        third = (rng.random(len(X)) < 0.16) & (X[:, 0] > 0)
        return np.where(third, means[:, 2], of_one(means[:, :2], rng)) + noise(len(X), rng)

    return case(setting, rng, answering, effects(setting, rng, 3))


@world("one of two models is clipped at ±1.5, then noise", "outside", *BENDS, "cubes", "gate", "uneven noise")
def one_clipped(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        bent = np.column_stack([means[:, 0], np.clip(means[:, 1], -1.5, 1.5)])
        return of_one(bent, rng) + noise(len(X), rng)

    return case(setting, rng, answering)


@world("one of three models, with 20 %, is a sigmoid from −2 to 2", "outside", *BENDS, "cubes", "gate", "uneven noise")
def one_sigmoid(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        bent = np.column_stack([means[:, :2], 2 * np.tanh(means[:, 2] / 2)])
        return of_one(bent, rng, (0.4, 0.4, 0.2)) + noise(len(X), rng)

    return case(setting, rng, answering, effects(setting, rng, 3))


# Outside: a world that changes half-way.


def half_way(setting: Setting) -> int:
    """Return how many answers come before the change: about half of what a certificate takes."""
    return 60 if not setting.box else 125 if setting.n < 12 else 75


@world("drift of the level", "outside", "drift of the level", "drift of the coefficients", "drift of the shares")
def level_drift(setting: Setting, rng: np.random.Generator) -> Case:
    beta, at = effects(setting, rng), half_way(setting)

    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return of_one(means, rng) + 1.0 * (number >= at) + noise(len(X), rng)

    later = beta.copy()
    later[:, 0] += 1.0
    return case(setting, rng, answering, beta, [beta, later] if setting.box else None)


@world("drift of the coefficients", "outside", "drift of the level", "drift of the coefficients", "drift of the shares")
def coefficient_drift(setting: Setting, rng: np.random.Generator) -> Case:
    beta, at = effects(setting, rng), half_way(setting)
    later = beta + 0.5 * rng.standard_normal(beta.shape) * (beta != 0)

    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        means = np.where((number >= at)[:, None], rows(X, setting) @ later.T, means)
        return of_one(means, rng) + noise(len(X), rng)

    return case(setting, rng, answering, beta, [beta, later])


@world("drift of the shares", "outside", "drift of the level", "drift of the coefficients", "drift of the shares")
def share_drift(setting: Setting, rng: np.random.Generator) -> Case:
    at = half_way(setting)

    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        second = rng.random(len(X)) < np.where(number >= at, 0.9, 0.1)
        return np.where(second, means[:, 1], means[:, 0]) + noise(len(X), rng)

    return case(setting, rng, answering)


# Outside: another noise.


@world("σ by model, 0.5 and 1.5 times", "outside")
def two_sigmas(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        model = rng.integers(0, 2, len(X))
        return means[np.arange(len(X)), model] + np.array([0.5, 1.5])[model] * noise(len(X), rng)

    return case(setting, rng, answering)


@world("noise of t₃", "outside")
def heavy_tails(setting: Setting, rng: np.random.Generator) -> Case:
    return case(setting, rng, lambda X, means, number, rng: of_one(means, rng) + SIGMA * rng.standard_t(3, len(X)))


@world("2 % outliers", "outside")
def outliers(setting: Setting, rng: np.random.Generator) -> Case:
    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        wide = np.where(rng.random(len(X)) < 0.02, 10.0, 1.0)
        return of_one(means, rng) + wide * noise(len(X), rng)

    return case(setting, rng, answering)


@world("noise with memory, AR(0.7)", "outside", "linked")
def autoregressive(setting: Setting, rng: np.random.Generator) -> Case:
    last = SIGMA * rng.standard_normal()

    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        nonlocal last
        added = np.empty(len(X))
        for i, fresh in enumerate(noise(len(X), rng)):
            last = added[i] = 0.7 * last + np.sqrt(1 - 0.7**2) * fresh
        return of_one(means, rng) + added

    return case(setting, rng, answering)


@world("ten answers a person, with a level of their own", "outside", "linked")
def person_effects(setting: Setting, rng: np.random.Generator) -> Case:
    levels = 2 * SIGMA * rng.standard_normal(1000)

    def answering(X: np.ndarray, means: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return of_one(means, rng) + levels[number // 10] + noise(len(X), rng)

    return case(setting, rng, answering)
