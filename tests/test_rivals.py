"""Rivals: pairs of models that differ elsewhere and answer alike at the corners of a box."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import mixsense as ms
from mixsense.features.units import Coded
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.duels import duels
from mixsense.regression.data import Data
from mixsense.regression.fit import climb, finish
from mixsense.regression.rivals import Rival, distance, moves, rivals
from trials import decided


def pair_that_differs(n, seed, where=1, size=1.3):
    """Two models (2, 1 + n), level first, that differ in so many features, four to six σ of 0.3 apart."""
    rng = np.random.default_rng(seed)
    beta = np.repeat(rng.standard_normal((1, n + 1)), 2, axis=0)
    beta[1, 1 + rng.choice(n, where, replace=False)] += size * rng.choice([-1, 1], where)
    return beta


def answers_of(beta, Z, seed, sigma=0.3):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(len(Z)), Z])
    own = beta[rng.integers(2, size=len(Z))]
    return X, np.einsum("ij,ij->i", X, own) + sigma * rng.standard_normal(len(Z))


def fitted(X, y, beta):
    return finish(climb(Data(X, y), beta, 0.3, np.ones(2) / 2, 0.5, 0.5, free_sigma=True, free_weights=True))


def test_corners_leave_as_many_rivals_as_there_are_columns_and_middles_rule_them_out():
    beta = pair_that_differs(5, 1)
    rng = np.random.default_rng(2)
    Z = rng.choice([-1.0, 1.0], (400, 5))
    X, y = answers_of(beta, Z, 3)
    alike = rivals(Data(X, y), fitted(X, y, beta))
    assert len(alike) >= 6  # five features and the level
    assert alike[0].score - alike[5].score < 5
    Z[np.arange(200), rng.integers(5, size=200)] = 0.0
    X, y = answers_of(beta, Z, 3)
    alive = rivals(Data(X, y), fitted(X, y, beta))
    assert distance(alive[0].beta, beta) < 0.3
    assert len(alive) == 1 or alive[0].score - alive[1].score > 5


def test_a_duel_asks_where_the_rivals_differ():
    box = Box(Coded(4, True, np.zeros(4)), "corners")
    mean = np.zeros(5)
    first, second = (Rival(mean, 2.0 * np.eye(5)[j], np.ones(2) / 2, 0.3, 0.0) for j in (1, 3))
    Z = duels(30, box, [first, second], np.random.default_rng(0))
    # With feature 1 in the middle the first pair answers 0, the second ±1; and the other way round.
    assert ((Z[:, 0] == 0) != (Z[:, 2] == 0)).all()


def test_moves_change_where_the_models_differ():
    rival = Rival(np.zeros(3), np.array([0.0, 2.0, 0.0]), np.ones(2) / 2, 1.0, 0.0)
    found = {tuple(delta) for delta in moves(rival)}
    assert {(2.0, 0.0, 0.0), (0.0, 0.0, -2.0), (0.0, -2.0, 0.0), (1.0, 2.0, 0.0)} <= found
    assert (0.0, 0.0, 0.0) not in found


@pytest.mark.slow
@pytest.mark.parametrize(("n", "where"), [(4, 1), (12, 1), (6, 2)])
def test_what_differs_in_one_or_two_features_is_blamed_on_these(n, where):
    runs, certain, right, most = 8, [], [], binom.ppf(0.99, 8, 0.05)
    for seed in range(runs):
        if decided(right, runs - most, runs) and decided(certain, 6, runs):
            break
        beta, rng = pair_that_differs(n, [seed, where], where), np.random.default_rng([seed, 9])

        def oracle(queries, repeats, beta=beta, rng=rng):
            X = np.column_stack([np.ones(len(queries)), queries])
            own = beta[rng.integers(2, size=len(X))]
            return (np.einsum("ij,ij->i", X, own) + 0.3 * rng.standard_normal(len(X)))[:, None]

        r = ms.recover(oracle, n, gamma=0.3, box=[(-1, 1)] * n, intercept=True, seed=seed, max_queries=1000)
        certified = r.status in ("certified", "single")
        certain.append(certified)
        far = len(r.vectors) != 2 or ms.match_error(np.column_stack([r.intercept, r.vectors]), beta) > 0.3
        right.append(not (certified and far))
    # Each certificate is wrong with probability η = 0.05 at most: more than this many happen in 1 % of the cases.
    # Without rivals about half of them are wrong.
    assert sum(right) >= runs - most
    assert sum(certain) >= 6  # all were when it was measured
