"""Answers that count more than once, and levels that are not shrunk: in the likelihood, the starts and EM."""

from __future__ import annotations

import numpy as np
import pytest

from mixsense.regression.candidates import Expected
from mixsense.regression.data import Data
from mixsense.regression.fit import climb, finish
from mixsense.regression.likelihood import observed_information, weighted_squares
from mixsense.regression.renewal import renew
from mixsense.regression.spike_slab import Prior, joint
from mixsense.regression.tuning import ROWS_AT_ONCE

RNG = np.random.default_rng(5)
N, n = 150, 6
X = RNG.standard_normal((N, n))
B = np.array([[2.0, 0, 0, -1, 0, 0], [-2.0, 1, 0, 0, 0, 0.5]])
GROUP = np.arange(N) // 3
Y = np.einsum("ij,ij->i", X, B[RNG.integers(2, size=N // 3)[GROUP]]) + 0.3 * RNG.standard_normal(N)
TIMES = RNG.integers(1, 4, size=N)


@pytest.mark.parametrize("group", [None, GROUP])
def test_an_answer_that_counts_three_times_is_three_answers(group):
    repeated = Data(X.repeat(TIMES, 0), Y.repeat(TIMES), 0, None if group is None else group.repeat(TIMES))
    counted = Data(X, Y, 0, group, counts=TIMES.astype(float))
    assert counted.N == repeated.N == TIMES.sum()
    expected = Expected(sigma=0.5, models=2, weights=None, rate=0.3, free_sigma=True, free_weights=True)
    one, two = (renew(None, data, expected, np.random.default_rng(1), 3, more=True) for data in (repeated, counted))
    assert one.score.keys() == two.score.keys()
    assert one.winner.L == two.winner.L == 2
    # The same sums in another order: rounding, and where EM ends, to a hundredth of a standard error of 0.03.
    first, second = (np.argsort(fits.winner.beta[:, 0]) for fits in (one, two))
    for name in ("beta", "stderr", "weights"):
        assert np.allclose(getattr(one.winner, name)[first], getattr(two.winner, name)[second], atol=3e-4), name
    assert one.winner.sigma == pytest.approx(two.winner.sigma, rel=1e-3)
    assert one.winner.score == pytest.approx(two.winner.score, abs=0.05)


@pytest.mark.parametrize("group", [None, GROUP])
def test_information_counts_answers_as_often_as_they_do(group):
    repeated = Data(X.repeat(TIMES, 0), Y.repeat(TIMES), 0, None if group is None else group.repeat(TIMES))
    counted = Data(X, Y, 0, group, counts=TIMES.astype(float))
    J = [
        observed_information(data.X, data.explained(B, np.array([0.6, 0.4]), 0.3), 0.3, data.group, data.counts)
        for data in (repeated, counted)
    ]
    assert np.allclose(*J)


def test_squares_are_the_same_in_parts():
    rows = np.random.default_rng(0).standard_normal((2 * ROWS_AT_ONCE + 7, 2))
    weight = np.linspace(0, 1, len(rows))
    assert np.allclose(weighted_squares(rows, weight), (rows * weight[:, None]).T @ rows)


@pytest.mark.parametrize("counts", [False, True])
def test_many_answers_are_explained_in_parts(counts, monkeypatch):
    data = Data(X, Y, counts=TIMES.astype(float) if counts else None)
    whole = data.explained(B, np.array([0.6, 0.4]), np.array([0.3, 0.5]))
    monkeypatch.setattr("mixsense.regression.tuning.ROWS_AT_ONCE", 40)
    parts = data.explained(B, np.array([0.6, 0.4]), np.array([0.3, 0.5]))
    for one, other in zip(whole, parts, strict=True):
        assert np.allclose(one, other)


def test_a_sure_coefficient_is_least_squares_whatever_the_prior():
    G, b = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([0.02, 0.01])  # far too small to be chosen
    narrow = Prior((1e-4,), (-5.0,))
    found = joint(G, b, narrow, np.zeros(2), sweeps=200, tol=0.0, sure=np.array([True, True]))
    assert np.allclose(found.mean, np.linalg.solve(G, b), rtol=1e-3)
    assert (joint(G, b, narrow, np.zeros(2)).inclusion < 0.1).all()


def test_levels_are_found_however_large_and_not_shrunk():
    rows = np.column_stack([np.ones(N), X])
    z = np.arange(N) % 2
    clean = np.einsum("ij,ij->i", X, B[z]) + np.where(z, 500.0, -500.0) + 0.3 * RNG.standard_normal(N)
    start = np.column_stack([[-490.0, 490.0], np.zeros((2, n))])
    em = climb(Data(rows, clean, sure=1), start, 30.0, np.full(2, 0.5), 0.3, 0.3, free_sigma=True, free_weights=True)
    f = finish(em)
    for a in range(2):
        tagged = np.linalg.lstsq(rows[z == a], clean[z == a], rcond=None)[0]
        assert f.beta[a, 0] == pytest.approx(tagged[0], abs=0.1)  # two standard errors, 0.3/√75 each
    # Slabs are as wide as slopes are, not as levels: mean square about 2, not 10⁵.
    assert em.slab < 10
