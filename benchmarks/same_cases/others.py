"""Cases of everything else that is public: mixtures of one batch, basis pursuit, limits, plans, sweeps, simulations."""

from __future__ import annotations

from typing import Any

import numpy as np

import mixsense as ms
from same_cases.case import case, message_of


def batches(seed: int, T: int = 200, gap: float = 3.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    means = gap * rng.integers(0, 2, (5, T)) - np.arange(5.0)[:, None]
    return means + rng.standard_normal((5, T))


@case
def mixture_em() -> dict[str, Any]:
    """Run Algorithm 1 on long and short batches, far and near means."""
    found = {}
    for name, y in {"long": batches(1), "short": batches(2, T=12), "near": batches(3, gap=0.5)}.items():
        means = ms.mixture.em(y, 1.0)
        found[name] = [means.value, means.stderr, means.loglik, means.converged]
    few = ms.mixture.em(batches(4), 1.0, tol=1e-3, max_iter=5)
    return {**found, "few": few.value, "row": ms.mixture.em(batches(1)[0], 1.0).value}


@case
def mixture_moments() -> dict[str, Any]:
    """Run Algorithms 2, 3 and 4."""
    y = batches(5)
    several, one, median = ms.mixture.moments(y, 1.0, batches=5), ms.mixture.moments(y, 1.0), ms.mixture.single(y)
    mean, variance = ms.mixture.median_of_means(y, 7)
    return {
        "several": [several.value, several.stderr],
        "one": [one.value, one.stderr],
        "single": [median.value, median.stderr],
        "mean": mean,
        "variance": variance,
    }


@case
def mixture_errors() -> dict[str, Any]:
    """Show what they say about mistakes."""
    calls = {
        "text": lambda: ms.mixture.em(["a"], 1.0),
        "empty": lambda: ms.mixture.em([], 1.0),
        "nan": lambda: ms.mixture.em([1.0, np.nan], 1.0),
        "sigma": lambda: ms.mixture.em([1.0, 2.0], -1.0),
        "batches": lambda: ms.mixture.median_of_means([1.0, 2.0, 3.0], 0),
        "one sample": lambda: ms.mixture.single([1.0]),
    }
    return {name: message_of(call) for name, call in calls.items()}


@case
def decode_basis_pursuit() -> dict[str, Any]:
    """Solve exactly, within a radius, for several right-hand sides; and show what is refused."""
    rng = np.random.default_rng(6)
    A = rng.standard_normal((30, 80))
    z = np.zeros((80, 3))
    z[[3, 17, 40, 66]] = rng.standard_normal((4, 3))
    b = A @ z
    noisy = b + 0.1 * rng.standard_normal(b.shape)
    exact, within = ms.decode.basis_pursuit(A, b), ms.decode.basis_pursuit(A, noisy, radius=[0.5, 0.6, 0.7])
    single = ms.decode.basis_pursuit(A.astype(np.float32), noisy[:, 0], radius=0.5)
    shown = {
        name: [found.value, found.residual, found.gap, found.steps, found.passes]
        for name, found in {"exact": exact, "within": within, "float32": single}.items()
    }
    tall = rng.standard_normal((20, 5))
    return {
        **shown,
        "infeasible": message_of(lambda: ms.decode.basis_pursuit(tall, noisy[:20, 0])),
        "shape": message_of(lambda: ms.decode.basis_pursuit(A, b[:5])),
        "nan": message_of(lambda: ms.decode.basis_pursuit(A, b[:, 0] * np.nan)),
    }


@case
def limits() -> dict[str, Any]:
    """Compute the limits with and without tags."""
    pair = ms.random_pair(50, 4, gap=3.0, seed=7)
    return {
        "tagged": ms.limits.tagged(pair, 1.0, 500),
        "tagged, shares": ms.limits.tagged(pair, 1.0, 500, (0.7, 0.3)),
        "untagged": ms.limits.untagged(pair, 1.0, 500),
        "untagged, shares": ms.limits.untagged(pair, 2.0, 500, (0.7, 0.3)),
        "untagged, one vector": ms.limits.untagged([pair[0], pair[0]], 1.0, 500),
        "shape": message_of(lambda: ms.limits.tagged(pair[:1], 1.0, 500)),
    }


def _planned(**arguments: Any) -> list[Any]:
    plan = ms.plan(**arguments)
    return [str(plan), [[row.method, row.queries, row.gamma, row.people] for row in plan]]


@case
def plans() -> dict[str, Any]:
    """Plan answers for a precision, the precision for a budget, and without noise."""
    usual: dict[str, Any] = {"n": 100, "k": 5, "sigma": 1.0, "gap": 2.0}
    return {
        "gamma": _planned(**usual, gamma=0.1),
        "people": _planned(**usual, gamma=0.1, per_person=12),
        "budget": _planned(**usual, budget=2000),
        "small budget": message_of(lambda: ms.plan(**usual, budget=50)),
        "shares": _planned(**usual, gamma=0.2, weights=(0.7, 0.3)),
        "eta": _planned(**usual, gamma=0.2, eta=0.01),
        "extrapolated": _planned(n=3000, k=1000, sigma=1.0, gap=40.0, gamma=0.01),
        "no noise": _planned(n=100, k=5, sigma=0.0, gap=2.0),
        "neither": message_of(lambda: ms.plan(**usual)),
        "gamma too large": message_of(lambda: ms.plan(**usual, gamma=1.5)),
        "no gap": message_of(lambda: ms.plan(100, 5, sigma=1.0, gamma=0.1)),
    }


def _rows(frame: Any) -> list[dict[str, Any]]:
    """Return a sweep's rows as plain values, without what depends on the machine."""
    frame = frame.drop(columns="seconds")
    return [
        {name: None if value is not None and value != value else value for name, value in row.items()}
        for row in frame.astype(object).where(frame.notna(), None).to_dict("records")
    ]


@case
def sweep_frugal() -> dict[str, Any]:
    """Sweep two gaps, two budgets and two seeds; and read the same from the file."""
    grid = {"n": 10, "k": 1, "gap": [3.0, 5.0], "gamma": 0.4, "max_queries": [60, 150], "seeds": 2, "success": 0.5}
    frame = ms.sweep(grid, out="frugal.sqlite", jobs=1)
    again = ms.sweep({**grid, "seeds": 3}, out="frugal.sqlite", jobs=1)
    return {"rows": _rows(frame), "again": _rows(again), "read": _rows(ms.read_sweep("frugal.sqlite"))}


@case
def sweep_methods() -> dict[str, Any]:
    """Sweep all methods, some of which fail; nothing is known but k."""
    grid = {
        "n": 10,
        "k": 1,
        "gap": 6.0,
        "gamma": 0.5,
        "sigma": [0.0, 0.5],
        "method": ["frugal", "paper", "single", "noiseless"],
        "known": ["k"],
        "max_queries": 5000,
        "seeds": [4, 7],
        "options": {"paper": {"batch": [30]}},
    }
    return {"rows": _rows(ms.sweep(grid, jobs=1))}


@case
def sweep_errors() -> dict[str, Any]:
    """Show what sweeps say about mistakes."""
    usual = {"n": 10, "k": 1, "gap": 5.0, "gamma": 0.4, "seeds": 1}
    wrong: dict[str, dict[str, Any]] = {
        "key unknown": {"gaps": 5.0},
        "empty list": {"k": []},
        "method unknown": {"method": "magic"},
        "option unknown": {"options": {"frugal": {"steered": False}}},
        "true": {"n": True},
        "known": {"known": ["gap"]},
        "shares": {"weights": "estimate"},
    }
    calls = {name: message_of(lambda more=more: ms.sweep({**usual, **more}, jobs=1)) for name, more in wrong.items()}
    return {**calls, "no gap": message_of(lambda: ms.sweep({"n": 10, "k": 1}, jobs=1))}


@case
def simulations() -> dict[str, Any]:
    """Draw random pairs, a simulated oracle's stream, a replayed record, and the error of an estimate."""
    pair = ms.random_pair(20, 3, gap=2.0, seed=11, overlap=1)
    oracle = ms.SimulatedOracle(pair, sigma=0.5, weights=(0.7, 0.3), seed=12)
    X = np.random.default_rng(13).standard_normal((4, 20))
    y = oracle(X, 3)
    oracle.skip(7)
    replay = ms.ReplayOracle([(X, y)])
    return {
        "pair": pair,
        "independent": ms.random_pair(20, 3, gap=2.0, seed=11),
        "answers": y,
        "after": oracle(X[:1], 2),
        "replayed": replay(X[1:3], 2),
        "used up": message_of(lambda: replay(X[1:2], 2)),
        "error": ms.match_error(pair[::-1] + 0.1, pair),
        "overlap": message_of(lambda: ms.random_pair(5, 3, gap=1.0, overlap=0)),
    }


@case
def result_as_text() -> dict[str, Any]:
    """Write a result as JSON and read it back."""
    oracle = ms.SimulatedOracle(ms.random_pair(10, 2, gap=5.0, seed=14), seed=15)
    r = ms.recover(oracle, 10, gamma=0.4, sigma=1.0, weights=(0.5, 0.5), seed=16)
    back = ms.Recovery.from_json(r.to_json())
    return {"same": back == r, "vectors": back.vectors, "bad": message_of(lambda: ms.Recovery.from_json("{}"))}
