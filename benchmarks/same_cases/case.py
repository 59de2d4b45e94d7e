"""What every case of `same.py` is made of: an oracle, a list of cases by name, and what is shown of a result."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import mixsense as ms

Case = Callable[[], dict[str, Any]]
EQUAL = (0.5, 0.5)
FIELDS = ("status", "queries", "vectors", "stderr", "weights", "sigma", "error_bound", "intercept", "intercept_stderr")
CASES: dict[str, Case] = {}


class Lab:
    """Answers ⟨x, β⟩ + constant + noise of two models; rounded to ratings, or failing once, if that is wanted.

    A row's answer does not depend on how the rows are divided into calls, not even in its last bit.
    """

    def __init__(
        self,
        vectors: Any,
        sigma: float = 1.0,
        shares: tuple[float, float] = EQUAL,
        constants: tuple[float, float] = (0.0, 0.0),
        ratings: tuple[float, float] | None = None,
        outliers: float = 0.0,
        fails_after: int | None = None,
        seed: int = 0,
    ) -> None:
        self.vectors, self.constants = np.asarray(vectors, dtype=float), np.asarray(constants)
        self.sigma, self.share, self.ratings, self.outliers = sigma, shares[0], ratings, outliers
        self.fails_after, self.count = fails_after, 0
        self._coin, self._noise, self._stray = (np.random.default_rng([seed, part]) for part in range(3))

    def __call__(self, queries: np.ndarray, repeats: int) -> np.ndarray:
        """Answer each query `repeats` times."""
        if self.fails_after is not None and self.count >= self.fails_after:
            self.fails_after = None
            raise ConnectionError("the line is down")
        means = (queries[:, None, :] * self.vectors).sum(axis=-1) + self.constants  # (q, 2)
        shape = (len(queries), repeats)
        second = self._coin.random(shape) >= self.share
        answers = np.where(second, means[:, 1:], means[:, :1]) + self.sigma * self._noise.standard_normal(shape)
        answers += 50.0 * (self._stray.random(shape) < self.outliers)
        self.count += answers.size
        return answers if self.ratings is None else np.clip(np.round(answers), *self.ratings)


def shown(r: Any, **more: Any) -> dict[str, Any]:
    """Return everything about a recovery that two versions should agree on."""
    fields = {name: getattr(r, name) for name in FIELDS}
    return {**fields, "names": r.names, "diagnostics": r.diagnostics, **more}


def recovery(name: str, lab: dict[str, Any], **arguments: Any) -> None:
    """Add a case: one run of `recover`, with a lab or (kind="simulated") with mixsense's own simulation."""
    lab = {"n": 12, "k": 2, "gap": 5.0, "sigma": 1.0, "seed": 1, **lab}

    def run() -> dict[str, Any]:
        settings = dict(lab)
        n, k, gap, seed = (settings.pop(key) for key in ("n", "k", "gap", "seed"))
        kind = settings.pop("kind", "lab")
        pair = settings.pop("vectors", None)
        if pair is None:
            pair = ms.random_pair(n, k, gap=gap, seed=seed)
        make = ms.SimulatedOracle if kind == "simulated" else Lab
        oracle = make(np.asarray(pair) / settings.pop("unit", 1.0), seed=seed + 100, **settings)
        r = ms.recover(oracle, n, **{"gamma": 0.4, "weights": EQUAL, "seed": seed + 200, **arguments})
        return shown(r, count=oracle.count)

    CASES[name] = run


def case(function: Case) -> Case:
    """Add a function as a case, named after it."""
    CASES[function.__name__.replace("_", "-")] = function
    return function


def message_of(call: Callable[[], Any]) -> str:
    """Return what a call that must fail says."""
    try:
        call()
    except ms.MixsenseError as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def recorded(record: Any) -> int:
    """Return how many answers a record holds: of pairs (queries, answers), or of objects that have `answers`."""
    return sum(np.size(entry[1] if isinstance(entry, tuple) else entry.answers) for entry in record)


class Crowd:
    """Answers by x and by how often it was asked before, coin and noise included: any order of asking will do."""

    def __init__(self) -> None:
        self._asked: Counter[bytes] = Counter()

    def answer(self, x: np.ndarray) -> float:
        """Answer one question."""
        key = (x + 0.0).tobytes()
        self._asked[key] += 1
        rng = np.random.default_rng([self._asked[key], *hashlib.sha256(key).digest()])
        pair = ms.random_pair(len(x), 2, gap=4.0, seed=1)
        return float(sum(a * b for a, b in zip(x, pair[rng.integers(2)], strict=True)) + rng.standard_normal())

    def __call__(self, queries: np.ndarray, repeats: int) -> np.ndarray:
        """Answer each query `repeats` times."""
        return np.array([[self.answer(x) for _ in range(repeats)] for x in queries])


def plain(value: Any) -> Any:
    """Return arrays and tuples as lists, numbers as Python's own, for JSON."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def outcome(run: Case) -> dict[str, Any]:
    """Run a case. A mistake of the user's, too, is a result; anything else is a crash."""
    try:
        return run()
    except ms.MixsenseError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except Exception as error:
        return {"crash": f"{type(error).__name__}: {error}"}
