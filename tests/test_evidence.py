"""Evidence: penalised likelihoods of fits with different numbers of models."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mixsense.regression.data import Data
from mixsense.regression.evidence import one_model_score, penalised


@pytest.mark.parametrize("models", [1, 2, 3])
def test_a_model_costs_the_same_whatever_others_there_are(models):
    one = penalised(0.0, 5.0, 400, 100, models=1)
    assert penalised(0.0, 5.0 * models, 400, 100, models) == pytest.approx(models * one)


def test_choosing_costs_about_the_logarithm_of_the_number_of_choices():
    # log C(100, 5) = 18.1; Stirling's leading term, 5 log(100/5 + 1) = 15.2, leaves out terms of order log and k.
    chosen = -penalised(0.0, 5.0, 1, 100, models=1) - 5 * 0.5 * math.log(2)
    assert chosen == pytest.approx(math.log(math.comb(100, 5)), rel=0.2)


def test_less_than_one_coefficient_a_model_is_chosen_among_n():
    for models in (1, 2):
        assert penalised(0.0, 0.5, 1, 100, models) == pytest.approx(-0.5 * (0.5 * math.log(2) + math.log(101)))


def test_one_model_is_scored_by_its_likelihood_and_its_size():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 20)), rng.standard_normal(50)
    beta, inclusion = np.zeros(20), np.zeros(20)
    beta[:2], inclusion[:3] = (1.0, -1.0), (1.0, 0.9, 0.001)  # what is improbable is not counted
    loglik = -0.5 * ((y - X @ beta) ** 2).sum() / 4 - 50 * math.log(2 * math.sqrt(2 * math.pi))
    assert one_model_score(beta, inclusion, Data(X, y), 2.0) == pytest.approx(penalised(loglik, 1.9, 50, 20, models=1))
