"""What the frugal method holds: the answers so far, and the fits that explain them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.recovery import Recovery
from mixsense.regression.evidence import one_model_score
from mixsense.regression.fit import Fit, fit
from mixsense.regression.likelihood import explain
from mixsense.regression.starts import anneal, second_moments
from mixsense.rounds import Method, Round

SURE = 10.0
"""Lead in log-likelihood at which two vectors count as established …"""
ONE = 3.0
"""… and lag at which one vector does; the penalty for the second vector's coefficients is in it already."""
DROP = 40.0
"""A fit this far behind the best is given up."""
MANY = 100
"""Fewer answers than this do not show that nothing is there."""


class Answers:
    """All answers so far, one row each; those to x = 0 come first."""

    def __init__(self, n: int, capacity: int, rows: Callable[[Array], Array] = lambda X: X) -> None:
        self.rows = rows  # what the answers to a query are linear in
        self._X, self._y = np.empty((capacity, n)), np.empty(capacity)
        self.N = self.zeros = 0
        self.largest_norm = 0.0

    @property
    def X(self) -> Array:
        """The queries, (N, n)."""
        return self._X[: self.N]

    @property
    def y(self) -> Array:
        """The answers, (N,)."""
        return self._y[: self.N]

    @property
    def fresh(self) -> tuple[Array, Array]:
        """Queries and answers without x = 0."""
        return self.X[self.zeros :], self.y[self.zeros :]

    def ask(self, X: Array, label: str, best: Callable[[], Recovery] | None) -> Method[tuple[Array, Array]]:
        """Ask each query once; returns the rows of the queries and their answers."""
        asked = yield Round(X, label=label, estimate=best)
        X, y = self.rows(asked.queries), asked.answers
        q = len(X)
        if self.N + q > len(self._y):
            more = max(q, len(self._y))
            self._X = np.concatenate([self._X[: self.N], np.empty((more, X.shape[1]))])
            self._y = np.concatenate([self._y[: self.N], np.empty(more)])
        self._X[self.N : self.N + q], self._y[self.N : self.N + q] = X, y
        self.N += q
        self.largest_norm = max(self.largest_norm, float(np.linalg.norm(X, axis=1).max()))
        return X, y


@dataclass(frozen=True, slots=True)
class Setup:
    """What is known before the first answer."""

    n: int
    eta: float
    sigma: float
    weights: Array
    rate: float  # expected share of non-zero coefficients
    free_sigma: bool
    free_weights: bool
    least: float = 0.0  # noise that there is at least


@dataclass(frozen=True, slots=True)
class Pool:
    """The fits that are alive: one vector, and two vectors from several routes, best first."""

    one: Fit
    two: list[Fit]
    lead: float  # how much better two vectors explain the answers than one
    held_out: dict[str, list[float]] = field(default_factory=dict)  # route -> log-likelihood of an unseen answer

    @property
    def best(self) -> Fit:
        """The best fit of two vectors."""
        return self.two[0]

    @property
    def winner(self) -> Fit:
        """The fit that explains the answers best, of one vector or of two."""
        return self.one if self.lead < 0 else self.best


def refit(answers: Answers, old: Pool | None, setup: Setup, rng: np.random.Generator, fresh: int) -> Pool:
    """Renew every fit on all answers, with `fresh` new annealed starts and one from the second moments."""
    X, y, n = answers.X, answers.y, setup.n
    sigma = old.best.sigma if old else setup.sigma
    weights = old.best.weights if old else setup.weights

    def two_from(beta: Array, sigma: float, weights: Array, rate: float, route: str) -> Fit:
        free: dict[str, Any] = {"free_sigma": setup.free_sigma, "free_weights": setup.free_weights}
        fixed: dict[str, Any] = {"zeros": answers.zeros, "least_sigma": setup.least, "route": route}
        return fit(X, y, beta, sigma, weights, rate, setup.rate, **free, **fixed)

    if old is None or fresh or old.lead < SURE:
        start, spread = (old.one.beta, old.one.sigma) if old else (np.zeros((1, n)), float(np.std(y)) or setup.sigma)
        rate = old.one.rate if old else setup.rate
        one = fit(X, y, start, spread, np.ones(1), rate, setup.rate, free_sigma=True, selections=3, route="one vector")
    else:
        one = old.one
    alive = [f for f in old.two if f.score > old.best.score - DROP] if old else []
    two = [two_from(f.beta, f.sigma, f.weights, f.rate, f.route) for f in alive]
    if fresh:
        X1, y1 = answers.fresh
        t, difference = second_moments(X1, y1, one.beta[0], min(n, max(10, min(40, len(y) // 10))))
        seed = np.stack([one.beta[0] + difference / 2, one.beta[0] - difference / 2])
        starts, value = anneal(X1, y1, sigma, weights, rng, fresh, [seed], promise=t)
        for i in sorted({*np.argsort(-value, kind="stable")[:3].tolist(), fresh}):
            route = "second moments" if i == fresh else "annealed"
            two.append(two_from(starts[i], sigma, weights, setup.rate, route))
    two = _distinct(sorted(two, key=lambda f: -f.score), sigma)[:3]
    # At a known σ one vector has to explain the answers with that σ; at an unknown one it may take the one it needs.
    spread = float(np.sqrt(np.mean((y - X @ one.beta[0]) ** 2))) if setup.free_sigma else two[0].sigma
    lead = two[0].score - one_model_score(one.beta[0], one.inclusion[0], X, y, max(spread, two[0].sigma * 1e-3))
    if not two[0].support[0].size and answers.N >= 2 * MANY:  # nothing is there: one vector, zero, says it all
        lead = min(lead, -2 * ONE)
    return Pool(one, two, lead, old.held_out if old else {})


def _distinct(fits: list[Fit], sigma: float) -> list[Fit]:
    kept: list[Fit] = []
    for f in fits:
        if all(min(np.abs(f.beta - g.beta).max(), np.abs(f.beta[::-1] - g.beta).max()) > 0.02 * sigma for g in kept):
            kept.append(f)
    return kept


def held_out(pool: Pool, X: Array, y: Array) -> dict[str, list[float]]:
    """Add the mean log-likelihood of these unseen answers under each fit."""
    scores = {route: list(values) for route, values in pool.held_out.items()}
    seen: set[str] = set()
    for f in (pool.one, *pool.two):
        if f.route not in seen:
            seen.add(f.route)
            scores.setdefault(f.route, []).append(float(explain(X, y, f.beta, f.weights, f.sigma).loglik.mean()))
    return scores
