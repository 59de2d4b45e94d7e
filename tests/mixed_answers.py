"""Untagged answers to Gaussian queries, for tests of what is fitted to them."""

from __future__ import annotations

import numpy as np

import mixsense as ms
from mixsense.regression.data import Data
from mixsense.regression.fit import climb, finish


def mixed_answers(pair, N, seed, sigma=1.0):
    """Queries (N, n) and answers (N,) of a simulated oracle."""
    X = np.random.default_rng([seed, 1]).standard_normal((N, pair.shape[1]))
    return X, ms.SimulatedOracle(pair, sigma, seed=[seed, 2])(X, 1)[:, 0]


def fit(X, y, *arguments, route="", **options):
    """Return a fit from a start: to the nearest optimum, with the expansion around it."""
    return finish(climb(Data(X, y), *arguments, **options), route)
