"""Answers that are kept in a file: the same contract as for every other oracle, new or read again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mixsense as ms
from oracle_contract import check_oracle

# Whole numbers: their products are exact, whether rows are multiplied one by one or together.
PAIR = np.random.default_rng(0).integers(-3, 4, (2, 20))
X = np.random.default_rng(1).integers(-9, 10, (6, 20)).astype(float)
RUN = {"seed": 1}


def test_contract_where_every_answer_is_new(tmp_path):
    numbers = itertools.count()
    check_oracle(lambda: ms.RecordedOracle(simulated(), tmp_path / f"{next(numbers)}.jsonl", RUN), X)


def test_contract_where_every_answer_is_in_the_file(tmp_path):
    path = tmp_path / "answers.jsonl"
    first = ms.RecordedOracle(simulated(), path, RUN)(X, 2)
    check_oracle(lambda: ms.RecordedOracle(nobody, path, RUN), X)
    assert np.array_equal(ms.RecordedOracle(nobody, path, RUN)(X, 2), first)


@pytest.mark.parametrize("known", [1, 5])
def test_contract_where_some_answers_are_in_the_file(tmp_path, known):
    numbers = itertools.count()

    def make():
        path, oracle = tmp_path / f"{next(numbers)}.jsonl", simulated()
        ms.RecordedOracle(oracle, path, RUN)(X[:known], 2)
        return ms.RecordedOracle(oracle, path, RUN)  # the simulation goes on where it was

    check_oracle(make, X)
    assert np.array_equal(make()(X, 2), simulated()(X, 2))


def simulated():
    return ms.SimulatedOracle(PAIR, sigma=0.5, seed=3)


def nobody(queries, repeats):
    raise AssertionError("everything is in the file")
