"""Algorithm 5 as a program: regimes, growth of the batches, the distance between the vectors, the noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mixsense as ms
from driving import drive
from mixsense.methods.paper import estimate
from mixsense.methods.paper.constants import PRACTICAL
from mixsense.methods.paper.estimate import Batches
from mixsense.methods.paper.stopping import Accuracy, Gap, alignment_accuracy, gap_known, next_batch, one_is_enough


def line(separations):
    """Queries on one coordinate whose two means are 0 and the separation."""
    return np.array(separations)[:, None], ms.SimulatedOracle([[0.0], [1.0]], sigma=1.0, seed=1)


def test_regimes_follow_algorithm_5():
    X, oracle = line([0.0, 0.0, 3.0, 8.0])
    noisy = Accuracy(1.0, 0.4, math.log(100), PRACTICAL)
    means, _ = drive(estimate.test_and_estimate(X, noisy), oracle)
    assert means.regimes()["em"] >= 2
    assert means.regimes()["single"] == 0
    coarse = Accuracy(1.0, 2.0, math.log(100), PRACTICAL)
    means, _ = drive(estimate.test_and_estimate(X, coarse), oracle)
    assert means.regimes()["moments"] == 0  # σ ≤ γ
    assert means.regimes()["single"] >= 1


def test_answers_are_reused_and_far_means_stay_cheap():
    X, oracle = line([0.0, 8.0])
    accuracy = Accuracy(1.0, 0.3, math.log(100), PRACTICAL)
    batches = Batches(2)
    means, rounds = drive(estimate.test_and_estimate(X, accuracy, batches), oracle)
    close, far = batches.sizes
    assert close + far == oracle.count == sum(r.size for r in rounds)
    assert close == accuracy.close_samples
    assert far < close / 4
    assert np.abs(means.mu - [[0, 0], [0, 8]]).max() < 0.3


def test_a_fixed_batch_asks_once():
    X, oracle = line([0.0, 1.0, 8.0])
    accuracy = Accuracy(1.0, 0.1, math.log(100), PRACTICAL, batch=50)
    _, rounds = drive(estimate.test_and_estimate(X, accuracy), oracle)
    assert [(r.size, r.repeats) for r in rounds] == [(150, 50)]


@pytest.mark.parametrize("gap", [0.5, 2.0, 10.0])
def test_the_distance_is_inside_its_limits(gap):
    # 95 % limits, 40 seeds: at most 7 misses but for probability Pr(Bin(40, 0.05) > 7) = 0.001.
    misses = 0
    for seed in range(40):
        pair = ms.random_pair(40, 3, gap=gap, seed=seed)
        X = np.random.default_rng(seed).standard_normal((80, 40))
        batches = Batches(80)
        drive(batches.top_up(X, 100, "", None), ms.SimulatedOracle(pair, seed=seed))
        found = estimate.measure_gap(batches, Accuracy(1.0, 0.1, 5.0, PRACTICAL), 0.05)
        misses += not found.low <= gap <= found.high
    assert misses <= 7


def test_the_noise_is_measured_at_x_zero():
    oracle = ms.SimulatedOracle(np.ones((2, 3)), sigma=2.0, seed=1)
    (sigma, variance_error), rounds = drive(estimate.measure_sigma(3, 5000), oracle)
    assert not rounds[0].queries.any()
    assert abs(sigma**2 - 4.0) < 5 * variance_error
    assert variance_error == pytest.approx(4 * math.sqrt(2 / 5000), rel=0.1)


def test_the_smallest_batches_are_doubled_first_and_none_beyond_what_is_needed():
    sizes, asked = np.array([8, 8, 16, 16]), []
    needed = np.array([8.0, 11.0, 16.0, 100.0])
    while following := next_batch(sizes, needed):
        index, more = following
        sizes[index] += more
        asked.append((index.tolist(), more))
    assert asked == [([1], 3), ([3], 16), ([3], 32), ([3], 36)]
    assert sizes.tolist() == [8, 11, 16, 100]


def test_a_tiny_precision_needs_more_answers_than_integers_can_count():
    # γ = 1e-7 σ: 6 (σ/γ)⁴ L = 2.8e29 answers where no separation is seen, never a negative number of them.
    accuracy = Accuracy(1.0, 1e-7, math.log(100), PRACTICAL)
    needed = estimate.needed_samples(np.array([1.0]), np.array([100]), accuracy)
    assert needed[0] == pytest.approx(6e28 * math.log(100))
    index, more = next_batch(np.array([100]), needed)
    assert (index.tolist(), more) == ([0], 100)


def test_what_the_distance_decides():
    def accuracy(gamma, batch=None):
        return Accuracy(1.0, gamma, math.log(100), PRACTICAL, batch)

    sure, vague, none = Gap(5.0, 4.0, 6.0), Gap(5.0, 1.0, 9.0), Gap(0.3, 0.0, 2.0)
    assert gap_known(sure, 50, accuracy(1.0))  # the limits are within a factor of two: γ' can be set
    assert not gap_known(vague, 50, accuracy(1.0))
    assert gap_known(vague, 50, accuracy(0.09))  # below 0.096 gap, whatever it is
    assert gap_known(vague, 50, accuracy(7.3))  # above 0.8 gap, whatever it is
    assert gap_known(vague, 10**6, accuracy(1.0))  # nothing more to learn
    assert gap_known(vague, 50, accuracy(1.0), sigma2_error=11.0)  # σ itself is not known better
    assert gap_known(vague, 50, accuracy(1.0, batch=50))  # nothing more is asked
    assert not gap_known(none, 50, accuracy(1.0))

    assert alignment_accuracy(sure, accuracy(0.4)).gamma == 0.4
    assert alignment_accuracy(sure, accuracy(1.0)).gamma == PRACTICAL.pivot_ratio * 5.0
    assert alignment_accuracy(sure, accuracy(1.0, batch=50)).gamma == 1.0
    assert alignment_accuracy(sure, accuracy(4.1)).gamma == 4.1

    assert one_is_enough(none, accuracy(0.1))
    assert one_is_enough(sure, accuracy(4.1))
    assert not one_is_enough(sure, accuracy(4.1, batch=50))
    assert not one_is_enough(sure, accuracy(1.0))


# -- more than two vectors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("L", [3, 5])
def test_the_distance_of_several_vectors_is_inside_its_limits(L):
    # The root mean square over all pairs; as for two, at most 7 of 40 misses of 95 % limits.
    misses = 0
    for seed in range(40):
        vectors = ms.random_models(L, 40, 3, gap=3.0, seed=seed)
        true = math.sqrt(np.mean([np.sum((a - b) ** 2) for i, a in enumerate(vectors) for b in vectors[:i]]))
        X = np.random.default_rng(seed).standard_normal((80, 40))
        batches = Batches(80)
        drive(batches.top_up(X, 100, "", None), ms.SimulatedOracle(vectors, seed=seed))
        found = estimate.measure_gap(batches, Accuracy(1.0, 0.1, 5.0, PRACTICAL, models=L), 0.05)
        misses += not found.low <= true <= found.high
    assert misses <= 7


def test_several_means_are_within_gamma_and_close_ones_stop_at_the_limit():
    # 200 queries with means 0, 5, 12 and one with means that coincide; each may fail with probability 1 %.
    X = np.concatenate([np.ones((200, 1)), np.zeros((1, 1))])
    oracle = ms.SimulatedOracle([[0.0], [5.0], [12.0]], sigma=1.0, seed=4)
    accuracy = Accuracy(1.0, 0.3, math.log(100), PRACTICAL, models=3)
    batches = Batches(len(X))
    means, _ = drive(estimate.test_and_estimate(X, accuracy, batches), oracle)
    assert means.regimes() == {"moments": 0, "single": 0, "em": 201}
    assert np.sum(np.abs(means.mu[:200] - [0, 5, 12]).max(axis=1) > 0.3) <= 8  # Pr(Bin(200, 0.01) > 8) = 2e-4
    assert batches.sizes[-1] == math.ceil(accuracy.most_samples)
    assert batches.sizes[:200].max() < batches.sizes[-1] / 2


def test_one_gaussian_where_gamma_is_coarse():
    oracle = ms.SimulatedOracle([[0.0], [0.1], [0.2]], sigma=0.5, seed=5)
    accuracy = Accuracy(0.5, 2.0, math.log(100), PRACTICAL, models=3)
    means, _ = drive(estimate.test_and_estimate(np.ones((20, 1)), accuracy), oracle)
    assert means.regimes()["single"] == 20
    np.testing.assert_array_equal(means.mu[:, 0], means.mu[:, 2])


def test_numbers_of_samples_for_two_are_those_of_the_constants():
    two, three = (Accuracy(1.0, 0.3, 5.0, PRACTICAL, models=models) for models in (2, 3))
    assert two.test_samples == 20
    assert three.test_samples == 30
    assert two.pivot_ratio == PRACTICAL.pivot_ratio > three.pivot_ratio
    assert two.single_fraction == PRACTICAL.single_fraction < three.single_fraction


def test_a_constant_in_all_answers_is_an_error_that_says_what_to_do():
    oracle = ms.SimulatedOracle(np.ones((2, 3)), sigma=1.0, seed=1)
    # Half of σ is 22 standard errors of the mean of 2,000 answers.
    with pytest.raises(ms.ModelError, match=r"answers to x = 0 are 0\.\d+ in the mean, not 0.*intercept=True"):
        ms.recover(lambda queries, repeats: oracle(queries, repeats) + 0.5, 3, k=3, gamma=0.3, method="paper", seed=2)
