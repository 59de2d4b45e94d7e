"""Worlds that fulfil the assumptions of the default method, but not what it might expect.

Coefficients of every size, models that differ in one feature only, unequal shares, features that are a yes or no.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import mixsense as ms
from mixsense.rounds import Asked, block_groups
from worlds import REACH, SIGMA, Case, Setting, case, effects, noise, of_one, options, world

GAMMA_WITHOUT_BOX = 0.2
"""Precision where there is no box, with σ = 1."""


def without_box(beta: np.ndarray, rng: np.random.Generator, weights: Sequence[float] | None = None) -> Case:
    """Return a case of models with σ = 1 that is asked without a box."""
    oracle = ms.SimulatedOracle(beta, sigma=1.0, weights=weights, seed=int(rng.integers(2**31)))
    return Case(oracle, [beta], beta.shape[1], 1.0, {"gamma": GAMMA_WITHOUT_BOX, "max_queries": 20_000})


def placed(n: int, values: Callable[[], np.ndarray], rng: np.random.Generator, models: int = 2) -> np.ndarray:
    """Return models with such coefficients at random positions, each with a random sign."""
    beta = np.zeros((models, n))
    for row in beta:
        drawn = np.asarray(values(), dtype=np.float64)
        row[rng.choice(n, len(drawn), replace=False)] = drawn * rng.choice([-1.0, 1.0], len(drawn))
    return beta


def apart(beta: np.ndarray, gap: float) -> np.ndarray:
    """Scale two models so that they are a gap apart."""
    return beta * gap / np.linalg.norm(beta[0] - beta[1])


def pair(name: str, n: int, make: Callable[[np.random.Generator], np.ndarray]) -> None:
    """Register two models without a box."""
    world(name, "inside", settings=(Setting(n, False),))(lambda setting, rng: without_box(make(rng), rng))


def gaussian(n: int, k: int, gap: float, models: int = 2) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: ms.random_models(models, n, k, gap, seed=int(rng.integers(2**31)))


def _tail(rng: np.random.Generator, norm: float) -> np.ndarray:
    beta = placed(300, lambda: np.full(3, 2.0), rng)
    return beta + placed(300, lambda: np.full(200, norm / np.sqrt(200)), rng)


def _antipodal(rng: np.random.Generator) -> np.ndarray:
    one = placed(100, lambda: rng.standard_normal(5), rng, 1)[0]
    return np.stack([one, -one]) * 2.5 / np.linalg.norm(one)


for gap in (20.0, 5.0, 2.0, 1.0, 0.5):
    pair(f"Gaussian, gap {gap:g}", 100, gaussian(100, 5, gap))
pair("Gaussian, n = 20", 20, gaussian(20, 5, 5.0))
pair("Gaussian, n = 300, k = 8", 300, gaussian(300, 8, 5.0))
pair("Gaussian, n = 500, k = 15", 500, gaussian(500, 15, 6.0))
pair("three Gaussian models", 100, gaussian(100, 5, 5.0, 3))
pair("four Gaussian models", 50, gaussian(50, 4, 10.0, 4))
pair("antipodal", 100, _antipodal)
pair("one of 100, six of 0.1", 200, lambda rng: placed(200, lambda: np.r_[100.0, np.full(6, 0.1)], rng))
pair("one of 20, four of 0.15", 200, lambda rng: placed(200, lambda: np.r_[20.0, np.full(4, 0.15)], rng))
for part in (1.0, 1.3, 2.0):
    tiny = np.r_[np.full(3, 2.0), np.full(9, part * GAMMA_WITHOUT_BOX / 3)]
    pair(f"three of 2, nine tiny of norm {part:g} γ", 100, lambda rng, tiny=tiny: placed(100, lambda: tiny, rng))
pair("Cauchy", 200, lambda rng: apart(placed(200, lambda: rng.standard_cauchy(10), rng), 5.0))
pair("geometric", 200, lambda rng: apart(placed(200, lambda: 0.65 ** np.arange(12), rng), 5.0))
pair("Laplace", 200, lambda rng: apart(placed(200, lambda: rng.laplace(size=10), rng), 5.0))
pair("a tail of 200, norm 0.1", 300, lambda rng: _tail(rng, 0.1))
pair("a tail of 200, norm 0.3", 300, lambda rng: _tail(rng, 0.3))

SMALL = tuple(Setting(n, True) for n in (4, 6, 12, 30))
DIFFERENT = {(1, False): "one feature", (1, True): "one feature and the level", (0, True): "the level alone"}


def differing(columns: int, level: bool, weights: Sequence[float], size: float | None = None) -> None:
    """Register two models in a box that differ in a few columns only; `size` is the difference in σ."""

    def make(setting: Setting, rng: np.random.Generator) -> Case:
        one = effects(setting, rng, 1)[0]
        other = one.copy()
        here = 1 + rng.choice(setting.n, columns, replace=False)
        places = np.append(here, 0) if level else here
        drawn = 1.5 * rng.standard_normal(len(places))
        if size is not None:
            drawn = size * SIGMA * np.sign(drawn)
        other[places] += np.sign(drawn) * np.maximum(np.abs(drawn), 1.5 * SIGMA)
        beta = np.stack([one, other])
        return case(setting, rng, lambda X, means, number, rng: of_one(means, rng, weights) + noise(len(X), rng), beta)

    by = "" if size is None else f" by {size:g} σ"
    shares = "" if weights[0] == 0.5 else f", shares {weights[0]:g}/{weights[1]:g}"
    name = f"different: {DIFFERENT.get((columns, level), 'two features')}{by}{shares}"
    world(name, "inside", settings=SMALL)(make)


for shares in ((0.5, 0.5), (0.8, 0.2)):
    for columns, level in ((1, False), (1, True), (0, True), (2, False)):
        differing(columns, level, shares)
for size in (1.5, 2.5, 4.0):
    differing(1, False, (0.5, 0.5), size)


def pair_and_third(columns: int) -> None:
    """Register three models in a box, of which two differ in a few features only."""

    def make(setting: Setting, rng: np.random.Generator) -> Case:
        beta = effects(setting, rng, 3)
        beta[1] = beta[0]
        here = 1 + rng.choice(setting.n, columns, replace=False)
        beta[1, here] += rng.choice([-1.0, 1.0], columns) * rng.uniform(2.5, 5.0, columns) * SIGMA
        return case(setting, rng, lambda X, means, number, rng: of_one(means, rng) + noise(len(X), rng), beta)

    name = f"three models, of which two differ in {'one feature' if columns == 1 else 'two features'}"
    world(name, "inside", settings=SMALL[1:3])(make)


pair_and_third(1)
pair_and_third(2)

THREE = (Setting(4, True), Setting(12, True), Setting(20, False))


def of_three(weights: Sequence[float]) -> Callable[..., np.ndarray]:
    """Let three models answer, with these shares."""
    return lambda X, means, number, rng: of_one(means, rng, weights) + noise(len(X), rng)


@world("three models, two of them 2.4 σ apart, shares 0.4/0.4/0.2", "inside", settings=THREE)
def close_to_one(setting: Setting, rng: np.random.Generator) -> Case:
    """Let the third, which answers less often, be the first but for two features."""
    beta = effects(setting, rng, 3)
    beta[2] = beta[0]
    beta[2, setting.box + rng.choice(setting.n, 2, replace=False)] += rng.choice([-1.7, 1.7], 2) * SIGMA
    return case(setting, rng, of_three((0.4, 0.4, 0.2)), beta)


@world("three models, one of them seldom, shares 0.6/0.33/0.07", "inside", settings=THREE)
def seldom_third(setting: Setting, rng: np.random.Generator) -> Case:
    """Let the third answer so seldom that its answers may be taken for nonsense."""
    return case(setting, rng, of_three((0.6, 0.33, 0.07)), effects(setting, rng, 3))


def crowd(weights: Sequence[float]) -> None:
    """Register a crowd: 8 features in a box, answers of about 0 to 100, γ = 5 points."""

    def make(setting: Setting, rng: np.random.Generator) -> Case:
        beta = ms.random_models(2, 8, 4, 40.0, seed=int(rng.integers(2**31)))
        beta = np.column_stack([50 + 5 * rng.standard_normal(2), beta])

        def oracle(X: np.ndarray, repeats: int) -> np.ndarray:
            X = np.repeat(X, repeats, axis=0)
            means = np.column_stack([np.ones(len(X)), X / REACH]) @ beta.T
            return (of_one(means, rng, weights) + 8.0 * rng.standard_normal(len(X))).reshape(-1, repeats)

        given = {"gamma": 5.0, "max_queries": 5000, "box": [(-REACH, REACH)] * 8, "intercept": True}
        return Case(oracle, [beta], 8, REACH, given)

    world(f"a crowd, shares {weights[0]:g}/{weights[1]:g}", "inside", settings=(Setting(8, True),))(make)


for shares in ((0.5, 0.5), (0.8, 0.2), (0.9, 0.1)):
    crowd(shares)


# Features that are a yes or no have no value in between: which of them differs is told by respondents, or by shares.


class Answering:
    """Two models of features that are sent as dicts; `block` consecutive answers come from one of them."""

    def __init__(self, beta: np.ndarray, names: Sequence[str], weights: Sequence[float], rng: np.random.Generator):
        self.beta, self.names, self.weights, self.rng, self.next = beta, names, weights, rng, 0
        self.half = self.middle = np.ones(0)

    def __call__(self, cases: list[dict[str, float]], repeats: int) -> np.ndarray:
        """Answer, each query by another respondent."""
        return self.asked(cases, repeats, 1).table()

    def asked(self, cases: list[dict[str, float]], repeats: int, block: int) -> Asked:
        """Answer, and say who did."""
        X = np.array([[case[name] for name in self.names] for case in cases], dtype=np.float64)
        Z = np.column_stack([np.ones(len(X)), (X - self.middle) / self.half])
        group = block_groups(len(X), repeats, block, self.next)
        number, who = np.unique(group.ravel(), return_inverse=True)
        self.next = int(group.max()) + 1
        own = self.rng.choice(2, len(number), p=self.weights)[who].reshape(group.shape)
        y = np.take_along_axis(Z @ self.beta.T, own, axis=1) + SIGMA * self.rng.standard_normal(own.shape)
        return Asked.of_round(X, y, group)


def yes_or_no(columns: int, part: float, size: float, weights: Sequence[float], block: int = 1) -> None:
    """Register two models that differ by size σ in this many features of those that are a yes or no, a part of all."""

    def make(setting: Setting, rng: np.random.Generator) -> Case:
        n, either = setting.n, max(columns, round(part * setting.n))
        features = [ms.Integer(f"f{j}", 0, 1) if j < either else ms.Number(f"f{j}", -REACH, REACH) for j in range(n)]
        low, high = np.array([(feature.low, feature.high) for feature in features], dtype=np.float64).T
        beta = np.repeat(effects(setting, rng, 1), 2, axis=0)
        here = 1 + rng.choice(either, columns, replace=False)
        beta[1, here] += size * SIGMA * rng.choice([-1.0, 1.0], columns) * (1 + 0.4 * np.arange(columns))
        oracle = Answering(beta, [feature.name for feature in features], weights, rng)
        oracle.half, oracle.middle = (high - low) / 2, (high + low) / 2
        given = options(setting) | {"features": features, "block": block}
        del given["box"]
        return Case(oracle, [beta], n, oracle.half, given, oracle.middle)

    which = f"{'one' if columns == 1 else 'two'} of {'all' if part == 1 else 'half'} features, each a yes or no"
    shares = "" if weights[0] == 0.5 else f", shares {weights[0]:g}/{weights[1]:g}"
    by = "" if block == 1 else f", {block} answers a respondent"
    world(f"different: {which}, by {size:g} σ{shares}{by}", "inside", settings=SMALL[:3])(make)


for size in (1.5, 2.5, 4.0):
    for part in (1.0, 0.5):
        for shares in ((0.5, 0.5), (0.8, 0.2)):
            yes_or_no(1, part, size, shares)
            yes_or_no(2, part, size, shares)
        yes_or_no(1, part, size, (0.5, 0.5), block=2)
