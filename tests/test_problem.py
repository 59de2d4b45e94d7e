"""Problem: what is stored is what was validated."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mixsense as ms


def test_numbers_of_any_kind_become_plain_ones():
    problem = ms.Problem(n=np.int64(9), k=np.int32(2), gamma=np.float32(0.5), sigma=1, weights=[0.25, 0.75])
    assert (type(problem.n), type(problem.gamma), type(problem.sigma)) == (int, float, float)
    assert problem.weights == (0.25, 0.75)


def test_a_problem_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ms.Problem(n=9).n = 3
