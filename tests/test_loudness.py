"""How loud the difference of the models is in the queries."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.frugal.loudness import quieter
from mixsense.methods.frugal.steering import Queries


@pytest.mark.parametrize("L", [2, 3])
def test_only_the_differences_are_made_quieter(L):
    rng = np.random.default_rng(L)
    beta = ms.random_models(L, 30, 4, 5.0, seed=1)
    sent = Queries(4 * rng.standard_normal((400, 30)), np.ones(30))
    X = quieter(sent, beta, 2.0).X
    for i in range(L):
        for j in range(i):
            delta = beta[i] - beta[j]
            assert np.mean((X @ delta) ** 2) / (delta @ delta) <= 2.0 + 1e-9
    U = np.linalg.svd(beta[1:] - beta[0], full_matrices=False)[2]
    across = np.eye(30) - U.T @ U
    np.testing.assert_allclose(X @ across, sent.X @ across, atol=1e-9)
    assert quieter(sent, beta, 100.0) is sent
    assert quieter(sent, beta, None) is sent


@pytest.mark.parametrize("snr", [1.0, 2.0])
def test_a_run_is_as_loud_as_it_may_be_and_learns_more_than_plain_queries(snr):
    pair = ms.random_pair(60, 4, 5.0, seed=2)
    delta, asked = pair[0] - pair[1], []
    oracle = ms.SimulatedOracle(pair, seed=2)

    def listening(queries, repeats):
        asked.append(queries)
        return oracle(queries, repeats)

    given = {"sigma": 1.0, "gamma": None, "max_queries": 900, "seed": 2, "models": 2}
    r = ms.recover(listening, 60, snr=snr, **given)
    X = np.concatenate(asked)
    # The estimated difference is not quite the true one; of 900 squares the mean has a standard error of 5 %.
    assert np.mean((X @ delta) ** 2) / (delta @ delta) <= 1.25 * snr
    assert np.mean((X**2).sum(axis=1)) <= 2 * 60 * 1.1
    plain = ms.recover(ms.SimulatedOracle(pair, seed=2), 60, steer=False, **given)
    assert ms.match_error(r.vectors, pair) < ms.match_error(plain.vectors, pair)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"snr": 2.0}, "snr does not go with a precision to certify: give gamma=None"),
        ({"snr": 2.0, "gamma": None, "box": [(-1, 1)] * 5}, "snr does not go with a box"),
        ({"snr": 0.0, "gamma": None}, "snr is 0; it must be above 0"),
        ({"snr": "loud", "gamma": None}, "it must be a real number"),
    ],
)
def test_what_snr_does_not_go_with_is_said(given, message):
    with pytest.raises(ms.InvalidInput) as caught:
        ms.recover(ms.SimulatedOracle(np.eye(2, 5)), 5, max_queries=50, **given)
    assert message in str(caught.value)
