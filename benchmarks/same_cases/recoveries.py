"""Cases of `recover`: every method, its options, the worlds that it meets, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np

import mixsense as ms
from same_cases.case import EQUAL, Lab, case, message_of, recorded, recovery, shown

ANTIPODAL = [[1.5, 0.0, -1.0, 0.0, 0.5, 0.0], [-1.5, 0.0, 1.0, 0.0, -0.5, 0.0]]
ONE = [[1.5, 0.0, -1.0, 0.0, 0.5, 0.0], [1.5, 0.0, -1.0, 0.0, 0.5, 0.0]]
NARROW, WIDE = [(-1.0, 1.0)] * 6, [(0.0, 10.0), (60.0, 95.0), (1.0, 7.0), (0.0, 1.0), (-2.0, 5.0), (0.0, 4.0)]
HALF = [(high - low) / 2 for low, high in WIDE]
SIX = {"n": 6, "k": 2, "gap": 4.0}


def _frugal() -> None:
    for seed in (1, 2, 3):
        for gap in (1.5, 4.0, 8.0):
            recovery(f"frugal-gap-{gap:g}-seed-{seed}", {"gap": gap, "seed": seed})
    recovery("frugal-simulated-oracle", {"kind": "simulated"}, sigma=1.0)
    recovery("frugal-sigma-and-k-given", {}, sigma=1.0, k=2)
    recovery("frugal-eta", {}, eta=0.3, sigma=1.0)
    recovery("frugal-much-noise", {"sigma": 3.0, "gap": 9.0}, gamma=0.9)
    recovery("frugal-dense", {"n": 6, "k": 6, "gap": 4.0})
    recovery("frugal-long", {"n": 60, "k": 4, "gap": 6.0}, sigma=1.0)
    recovery("frugal-shares-given", {"shares": (0.7, 0.3)}, weights=(0.7, 0.3))
    recovery("frugal-shares-estimated", {"shares": (0.7, 0.3)}, weights="estimate")
    recovery("frugal-shares-wrong", {"shares": (0.85, 0.15)}, max_queries=300)
    recovery("frugal-without-noise", {"sigma": 0.0})
    recovery("frugal-sigma-zero", {"sigma": 0.0, "k": 2}, sigma=0.0, k=2)
    recovery("frugal-one-vector", {**SIX, "vectors": ONE})
    recovery("frugal-one-vector-shares-estimated", {**SIX, "vectors": ONE}, weights="estimate")
    recovery("frugal-antipodal", {**SIX, "vectors": ANTIPODAL})
    recovery("frugal-not-steered", {}, steer=False)
    recovery("frugal-not-steered-antipodal", {**SIX, "vectors": ANTIPODAL}, steer=False, sigma=1.0)
    recovery("frugal-names", SIX, features=list("abcdef"), sigma=1.0)
    recovery("frugal-outliers", {"outliers": 0.03}, max_queries=300)
    recovery("frugal-offset", {"constants": (3.0, 3.0)}, max_queries=250)
    for budget in (60, 150, 240):
        recovery(f"frugal-budget-{budget}", {"seed": budget}, gamma=None, max_queries=budget)
    recovery("frugal-gamma-and-budget", {}, gamma=0.05, max_queries=200)
    recovery("frugal-budget-too-small", {}, gamma=None, max_queries=8)
    recovery("frugal-budget-of-one", {}, gamma=None, max_queries=1, sigma=1.0)


def _in_a_box() -> None:
    inside = {**SIX, "unit": np.array(HALF)}  # the effect of half of each range is what has the gap
    recovery("box-middle-0", SIX, box=NARROW)
    recovery("box-middle-0-seed-2", {**SIX, "seed": 2}, box=NARROW, sigma=1.0)
    lifted = {**inside, "constants": (3.0, 5.0)}
    recovery("box-intercept", lifted, box=WIDE, intercept=True)
    recovery("box-intercept-names", lifted, box=WIDE, intercept=True, features=list("abcdef"), sigma=1.0)
    recovery("box-intercept-shares", {**inside, "shares": (0.7, 0.3)}, box=WIDE, intercept=True, weights="estimate")
    recovery("box-no-intercept", inside, box=WIDE)
    recovery("box-no-intercept-but-needed", {**inside, "constants": (6.0, 9.0)}, box=WIDE, max_queries=300)
    recovery("box-gaussian", SIX, box=NARROW, design="gaussian")
    recovery("box-gaussian-intercept", lifted, box=WIDE, intercept=True, design="gaussian")
    recovery("box-not-steered", SIX, box=NARROW, steer=False, max_queries=250)
    recovery("box-budget", lifted, box=WIDE, intercept=True, gamma=None, max_queries=240)
    recovery("box-budget-too-small", SIX, box=NARROW, gamma=None, max_queries=9)
    recovery("box-without-noise", {**SIX, "sigma": 0.0}, box=NARROW, max_queries=250)
    recovery("box-one-vector", {**SIX, "vectors": ONE}, box=NARROW)
    recovery("box-antipodal", {**SIX, "vectors": ANTIPODAL}, box=NARROW)
    rated = {**inside, "gap": 2.5, "sigma": 0.7, "constants": (3.5, 4.5), "ratings": (1.0, 7.0)}
    recovery("box-ratings", rated, box=WIDE, intercept=True, max_queries=300)
    recovery("box-ratings-at-the-ends", {**rated, "gap": 8.0}, box=WIDE, intercept=True, max_queries=300)
    clear = {**SIX, "sigma": 0.1}
    across = [(-2.0, 5.0)] * 6
    recovery("box-paper", clear, box=NARROW, method="paper", m=12, batch=60, sigma=0.1)
    recovery("box-paper-off-centre", clear, box=across, method="paper", m=12, batch=60, sigma=0.1)
    recovery("box-paper-without-0", clear, box=WIDE, method="paper", m=12, batch=60, sigma=0.1)
    recovery("box-single", SIX, box=NARROW, method="single", k=1, gamma=4.0, sigma=1.0, m=10, batch=50)
    recovery("box-noiseless", {**SIX, "sigma": 0.0}, box=across, method="noiseless", k=2)


def _paper() -> None:
    for seed in (1, 2):
        recovery(f"paper-batch-seed-{seed}", {"seed": seed}, method="paper", m=20, batch=60, sigma=1.0)
    for gap in (2.0, 6.0):
        recovery(f"paper-gap-{gap:g}", {"gap": gap, "sigma": 0.5}, method="paper", k=2, gamma=0.5, sigma=0.5)
    recovery("paper-gap-below-gamma", {"gap": 0.3, "sigma": 0.5}, method="paper", k=2, gamma=0.5, sigma=0.5)
    recovery("paper-simulated-oracle", {"kind": "simulated"}, method="paper", m=20, batch=60, sigma=1.0)
    recovery("paper-sigma-measured", {"sigma": 0.5}, method="paper", k=2, gamma=0.5)
    recovery("paper-pairs-all", {"gap": 8.0}, method="paper", m=15, batch=40, pairs="all", sigma=1.0)
    recovery("paper-constants-theory", {}, method="paper", k=2, gamma=0.5, sigma=1.0, constants="theory")
    recovery("paper-constants-theory-batch", {}, method="paper", m=20, batch=60, sigma=1.0, constants="theory")
    recovery("paper-one-vector", {**SIX, "vectors": ONE, "sigma": 0.5}, method="paper", k=3, gamma=0.5, sigma=0.5)
    recovery("paper-antipodal", {**SIX, "vectors": ANTIPODAL}, method="paper", m=20, batch=60, sigma=1.0)
    recovery("paper-without-noise", {"sigma": 0.0}, method="paper", k=2, gamma=0.5)
    recovery("paper-no-pivot", {"gap": 0.5}, method="paper", m=12, batch=8, sigma=1.0)
    recovery("paper-budget", {}, method="paper", k=2, gamma=0.3, sigma=1.0, max_queries=5_000)
    recovery("paper-budget-too-small", {}, method="paper", k=2, gamma=0.3, sigma=1.0, max_queries=50)


def _single_and_noiseless() -> None:
    near = {"gap": 0.4, "sigma": 0.5}
    recovery("single-near", near, method="single", k=2, gamma=0.5, sigma=0.5)
    recovery("single-sigma-measured", near, method="single", k=2, gamma=0.5)
    recovery("single-batch", near, method="single", m=20, batch=40, sigma=0.5)
    recovery("single-far", {"gap": 4.0}, method="single", k=2, gamma=0.5, sigma=1.0)
    recovery("single-theory", near, method="single", m=20, batch=40, sigma=0.5, constants="theory")
    recovery("single-budget", near, method="single", k=2, gamma=0.3, sigma=0.5, max_queries=300)
    still = {"sigma": 0.0, "n": 30, "k": 3}
    for seed in (1, 2):
        recovery(f"noiseless-seed-{seed}", {**still, "seed": seed}, method="noiseless", k=3)
    recovery("noiseless-m", still, method="noiseless", m=25, sigma=0.0)
    recovery("noiseless-too-few-queries", still, method="noiseless", m=5)
    recovery("noiseless-one-vector", {**SIX, "vectors": ONE, "sigma": 0.0}, method="noiseless", k=3)
    recovery("noiseless-antipodal", {**SIX, "vectors": ANTIPODAL, "sigma": 0.0}, method="noiseless", k=3)
    recovery("noiseless-budget", still, method="noiseless", k=3, max_queries=70)
    recovery("noiseless-budget-too-small", still, method="noiseless", k=3, max_queries=20)
    recovery("noiseless-but-noisy", {**still, "sigma": 0.1}, method="noiseless", k=3)


@case
def errors_arguments() -> dict[str, Any]:
    """Show what `recover` says about arguments that cannot be right."""
    wrong: dict[str, dict[str, Any]] = {
        "n 0": {"n": 0},
        "n text": {"n": "ten"},
        "k above n": {"k": 7},
        "gamma 0": {"gamma": 0.0},
        "gamma nan": {"gamma": float("nan")},
        "sigma below 0": {"sigma": -1.0},
        "eta 1": {"eta": 1.0},
        "eta tiny": {"eta": 1e-13},
        "shares three": {"weights": (0.5, 0.3, 0.2)},
        "shares sum": {"weights": (0.5, 0.4)},
        "budget 0": {"max_queries": 0},
        "no gamma, no budget": {"gamma": None},
        "method unknown": {"method": "magic"},
        "option unknown": {"stear": False},
        "option of another method": {"batch": 10},
        "steer": {"steer": "yes"},
        "seed": {"seed": -1},
        "intercept without box": {"intercept": True},
        "design without box": {"design": "corners"},
        "box too short": {"box": NARROW[:3]},
        "box upside down": {"box": [(1.0, -1.0)] * 6},
        "box design": {"box": NARROW, "design": "round"},
        "names too few": {"features": ["a"]},
        "names twice": {"features": ["a"] * 6},
        "paper without k": {"method": "paper"},
        "paper shares": {"method": "paper", "k": 2, "weights": (0.7, 0.3)},
        "paper intercept": {"method": "paper", "k": 2, "box": NARROW, "intercept": True},
        "paper pairs": {"method": "paper", "k": 2, "sigma": 1.0, "pairs": "some"},
        "paper batch": {"method": "paper", "k": 2, "sigma": 1.0, "batch": 2},
        "paper sigma 0": {"method": "paper", "k": 2, "sigma": 0.0},
        "paper no gamma": {"method": "paper", "k": 2, "sigma": 1.0, "gamma": None},
        "noiseless sigma": {"method": "noiseless", "k": 2, "sigma": 1.0},
    }
    usual = {"n": 6, "gamma": 0.4, "weights": EQUAL, "seed": 1}
    return {
        name: message_of(lambda given=given: ms.recover(Lab(ONE), **{**usual, **given}))  # type: ignore[misc]
        for name, given in wrong.items()
    }


@case
def errors_oracle() -> dict[str, Any]:
    """Show what is said about an oracle that is none, raises, or answers what cannot be used."""
    wrong: dict[str, Any] = {
        "not callable": 7,
        "shape": lambda queries, repeats: np.zeros(len(queries)),
        "text": lambda queries, repeats: [["a"] * repeats] * len(queries),
        "nan": lambda queries, repeats: np.full((len(queries), repeats), np.nan),
        "raises": Lab(ONE, fails_after=0),
        "raises later": Lab(ONE, fails_after=60),
    }
    return {
        name: message_of(lambda oracle=oracle: ms.recover(oracle, 6, gamma=0.4, weights=EQUAL, seed=1))  # type: ignore[misc]
        for name, oracle in wrong.items()
    }


@case
def errors_goes_on() -> dict[str, Any]:
    """Go on from the error's record after an oracle has failed half-way."""
    pair = ms.random_pair(8, 2, gap=4.0, seed=5)
    usual: dict[str, Any] = {"n": 8, "gamma": 0.4, "weights": EQUAL}
    oracle = Lab(pair, fails_after=150, seed=6)
    try:
        ms.recover(oracle, **usual, seed=7)
    except ms.OracleError as error:
        r = ms.recover(ms.ReplayOracle(error.record, then=oracle), **usual, seed=error.seed)
        return shown(r, kept=recorded(error.record), message=str(error), count=oracle.count)
    raise AssertionError("the oracle was to fail")


_frugal()
_in_a_box()
_paper()
_single_and_noiseless()
