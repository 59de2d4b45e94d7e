"""Problem: what is stored is what was validated."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.begin import begin


def test_numbers_of_any_kind_become_plain_ones():
    problem = ms.Problem(n=np.int64(9), k=np.int32(2), gamma=np.float32(0.5), sigma=1, weights=[0.25, 0.75])
    assert (type(problem.n), type(problem.gamma), type(problem.sigma)) == (int, float, float)
    assert problem.weights == (0.25, 0.75)


def test_a_problem_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ms.Problem(n=9).n = 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "a problem is made of a dict, and this is None"),
        ([("n", 3)], "this is a list of length 1"),
        ("n=3", "this is 'n=3'"),
        ({}, "n is missing"),
        ({"n": 3, 5: 1}, "an option is called 5: give its name as text"),
        ({"n": 3, None: 1}, "an option is called None"),
        ({"n": 3, "\x1b[2J": 1}, "has no option '\\x1b[2J'"),
        ({"n": 3, "gama": 1}, "has no option 'gama': it takes steer, design, snr; did you mean 'gamma'?"),
        ({"n": 3, "options": {}}, "has no option 'options'"),
        ({"n": 3, "limit": 1.0}, "has no option 'limit'"),
    ],
)
def test_what_is_not_a_problem_is_one_line(given, words):
    with pytest.raises(ms.InvalidInput) as caught:
        begin(ms.Problem.from_dict(given))
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_options_are_a_dict_of_their_own():
    options = {"steer": False}
    problem = ms.Problem(3, options=options)
    options["steer"] = True
    assert problem.options == {"steer": False}
    with pytest.raises(ms.InvalidInput, match="an option is called 'gamma', as an argument of every run"):
        ms.Problem(3, options={"gamma": 5.0})  # to_dict would say that it is gamma
    with pytest.raises(ms.InvalidInput, match="options is 5: give a dict"):
        ms.Problem(3, options=5)


def test_a_precision_of_0_is_taken_everywhere_without_noise(tmp_path):
    exact = {"gamma": 0, "sigma": 0}
    pair = ms.random_pair(8, 2, gap=3.0, seed=1)
    assert ms.Problem(8, **exact).gamma == 0.0
    assert ms.Problem.from_dict({"n": 8, **exact}).to_dict()["gamma"] == 0.0
    for method in ("frugal", "noiseless"):
        r = ms.recover(ms.SimulatedOracle(pair, sigma=0.0), 8, k=2, method=method, seed=1, **exact)
        assert (r.status, ms.match_error(r.vectors, pair) < 1e-9) == ("certified", True)
    assert "γ = 0" in str(ms.plan(8, k=2, gap=3.0, **exact))
    study = ms.create_study(tmp_path / "tea.db", "tea", n=8, k=2, seed=1, **exact)
    assert ms.run_study(study, ms.SimulatedOracle(pair, sigma=0.0)).status == "certified"


@pytest.mark.parametrize("name", ["sigma", "gamma"])
@pytest.mark.parametrize(("size", "needed"), [(1e-300, "at least 1e-15"), (1e300, r"at most 1e\+15")])
def test_sizes_that_no_number_can_follow_are_one_line(name, size, needed):
    with pytest.raises(ms.InvalidInput, match=rf"{name} is 1e[-+]300; it must be {needed}"):
        ms.Problem(5, **{name: size})
