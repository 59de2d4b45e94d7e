"""Untagged answers to Gaussian queries, for tests of what is fitted to them."""

from __future__ import annotations

import numpy as np

import mixsense as ms


def mixed_answers(pair, N, seed, sigma=1.0):
    """Queries (N, n) and answers (N,) of a simulated oracle."""
    X = np.random.default_rng([seed, 1]).standard_normal((N, pair.shape[1]))
    return X, ms.SimulatedOracle(pair, sigma, seed=[seed, 2])(X, 1)[:, 0]
