"""The fits that are alive: one model, and two models from several starts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.regression import tuning
from mixsense.regression.evidence import one_model_score
from mixsense.regression.fit import Fit, fit
from mixsense.regression.likelihood import explain
from mixsense.regression.starts import anneal, second_moments


class Data(NamedTuple):
    """The answers that the fits are for."""

    X: Array
    """(N, n), the rows that the answers are linear in."""
    y: Array
    """(N,), the answers."""
    zeros: int = 0
    """How many of them, the first, answer x = 0, and so tell nothing but the noise."""

    @property
    def without_zeros(self) -> tuple[Array, Array]:
        """Rows and answers, but those of x = 0."""
        return self.X[self.zeros :], self.y[self.zeros :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is known of the models before they are fitted."""

    sigma: float
    """Noise of an answer, as far as it is known."""
    weights: Array
    """Shares of the models, as far as they are known."""
    rate: float
    """Expected share of non-zero coefficients."""
    free_sigma: bool
    """The fit finds the noise."""
    free_weights: bool
    """The fit finds the shares."""
    least_sigma: float = 0.0
    """The noise is at least this much."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The fits that are alive, and how much the answers speak for two models."""

    one: Fit
    """The fit of one model."""
    pairs: list[Fit]
    """Different fits of two models, that with the highest score first."""
    evidence_for_two: float
    """How much better two models explain the answers than one, in nats; what their coefficients cost is in it."""
    held_out: dict[str, list[float]] = field(default_factory=dict)
    """Route of a fit -> mean log-likelihood of the answers of each stage, before it had seen them."""

    pair: Fit = field(init=False)
    """The best fit of two models."""
    delta: Array = field(init=False)
    """The difference of the two models of the best pair."""
    two_established: bool = field(init=False)
    """There are two models."""
    winner: Fit = field(init=False)
    """The fit that explains the answers best, of one model or of two."""

    def __post_init__(self) -> None:
        pair, evidence = self.pairs[0], self.evidence_for_two
        object.__setattr__(self, "pair", pair)
        object.__setattr__(self, "delta", pair.beta[0] - pair.beta[1])
        object.__setattr__(self, "two_established", evidence > tuning.TWO_ESTABLISHED)
        object.__setattr__(self, "winner", self.one if evidence < 0 else pair)

    def settled(self, N: int, enough: int) -> bool:
        """Say whether N answers decide between one model and two; `enough` is the size of a first batch."""
        one_established = self.evidence_for_two < -tuning.ONE_ESTABLISHED and N >= tuning.ONE_NEEDS_STARTS * enough
        return N >= enough and (self.two_established or one_established)

    def new_starts(self, doubt: bool) -> int:
        """Return how many random starts are worth trying; `doubt` says that the last answers were a surprise."""
        if doubt or not self.two_established:
            return tuning.NEW_STARTS
        return tuning.FEW_NEW_STARTS if self.evidence_for_two < tuning.NO_NEW_STARTS else 0

    def scored(self, X: Array, y: Array) -> Candidates:
        """Return the same fits with their mean log-likelihood of these answers, which they have not seen."""
        scores = {route: list(values) for route, values in self.held_out.items()}
        best_of_route: dict[str, Fit] = {}
        for f in (self.one, *self.pairs):
            best_of_route.setdefault(f.route, f)
        for route, f in best_of_route.items():
            loglik = explain(X, y, f.beta, f.weights, f.sigma).loglik
            scores.setdefault(route, []).append(float(loglik.mean()))
        return replace(self, held_out=scores)


def renew(
    old: Candidates | None, data: Data, expected: Expected, rng: np.random.Generator, new_starts: int
) -> Candidates:
    """Renew every fit on all answers.

    Parameters
    ----------
    old : Candidates or None
        The fits so far.
    data : Data
        All answers.
    expected : Expected
        Noise, shares and sparsity to expect.
    rng : Generator
        Draws the random starts.
    new_starts : int
        How many new annealed starts are tried; if any, one from the second moments is, too.
    """
    one = old.one if old and old.two_established and not new_starts else _one_model(old, data, expected)
    sigma, weights = (old.pair.sigma, old.pair.weights) if old else (expected.sigma, expected.weights)
    alive = [f for f in old.pairs if f.score > old.pair.score - tuning.DROPPED_BEHIND] if old else []
    pairs = [_two_models(f.beta, f.sigma, f.weights, f.rate, f.route, data, expected) for f in alive]
    if new_starts:
        for start, route in _starts(one, data, sigma, weights, rng, new_starts):
            pairs.append(_two_models(start, sigma, weights, expected.rate, route, data, expected))
    pairs = _distinct(sorted(pairs, key=lambda f: -f.score), sigma)[: tuning.KEPT_PAIRS]
    return Candidates(one, pairs, _evidence_for_two(one, pairs[0], data, expected), old.held_out if old else {})


def _one_model(old: Candidates | None, data: Data, expected: Expected) -> Fit:
    """Fit one model, from the one before if there is."""
    if old is None:
        start, rate = np.zeros((1, data.X.shape[1])), expected.rate
        spread = float(np.std(data.y)) or expected.sigma
    else:
        start, rate, spread = old.one.beta, old.one.rate, old.one.sigma
    return fit(
        data.X,
        data.y,
        start,
        spread,
        np.ones(1),
        rate,
        expected.rate,
        free_sigma=True,
        selections=tuning.ONE_MODEL_SELECTIONS,
        route="one vector",
    )


def _two_models(
    start: Array, sigma: float, weights: Array, rate: float, route: str, data: Data, expected: Expected
) -> Fit:
    """Fit two models from a start."""
    return fit(
        data.X,
        data.y,
        start,
        sigma,
        weights,
        rate,
        expected.rate,
        free_sigma=expected.free_sigma,
        free_weights=expected.free_weights,
        zeros=data.zeros,
        least_sigma=expected.least_sigma,
        route=route,
    )


def _starts(
    one: Fit, data: Data, sigma: float, weights: Array, rng: np.random.Generator, number: int
) -> list[tuple[Array, str]]:
    """Return where two models may be, each with its route: the best annealed starts, and that of the second moments."""
    X, y = data.without_zeros
    room = min(tuning.MOST_MOMENT_COLUMNS, len(data.y) // tuning.ANSWERS_PER_MOMENT_COLUMN)
    size = min(X.shape[1], max(tuning.LEAST_MOMENT_COLUMNS, room))
    t, difference = second_moments(X, y, one.beta[0], size)
    seed = np.stack([one.beta[0] + difference / 2, one.beta[0] - difference / 2])
    starts, value = anneal(X, y, sigma, weights, rng, number, [seed], promise=t)
    chosen = {*np.argsort(-value, kind="stable")[: tuning.REFINED_STARTS].tolist(), number}  # the seed is the last
    return [(starts[i], "second moments" if i == number else "annealed") for i in sorted(chosen)]


def _distinct(fits: list[Fit], sigma: float) -> list[Fit]:
    """Leave out the fits that are equal to an earlier one, whatever the order of their two models."""
    kept: list[Fit] = []
    for f in fits:
        apart = (min(np.abs(f.beta - g.beta).max(), np.abs(f.beta[::-1] - g.beta).max()) for g in kept)
        if all(distance > tuning.DISTINCT * sigma for distance in apart):
            kept.append(f)
    return kept


def _evidence_for_two(one: Fit, pair: Fit, data: Data, expected: Expected) -> float:
    """Return the difference of the penalised log-likelihoods of two models and of one, in nats.

    At a known σ one model has to explain the answers with that σ; at an unknown one it may take the one it needs.
    """
    X, y = data.X, data.y
    spread = float(np.sqrt(np.mean((y - X @ one.beta[0]) ** 2))) if expected.free_sigma else pair.sigma
    spread = max(spread, pair.sigma * tuning.LEAST_SPREAD_OF_ONE)
    evidence = pair.score - one_model_score(one.beta[0], one.inclusion[0], X, y, spread)
    nothing = not pair.support[0].size and len(data.y) >= tuning.ANSWERS_FOR_NOTHING  # one model, zero, says it all
    return min(evidence, tuning.NOTHING_EVIDENCE) if nothing else evidence
