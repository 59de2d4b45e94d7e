"""The paper's numbers."""

from __future__ import annotations

import dataclasses
import inspect
import math

import pytest

from mixsense.methods.paper.constants import PRACTICAL, THEORY, Constants, preset


def test_printed_numbers_are_the_same_in_both_presets():
    printed = [f.name for f in dataclasses.fields(Constants) if f.default is not dataclasses.MISSING]
    assert len(printed) == 9
    for name in printed:
        assert getattr(PRACTICAL, name) == getattr(THEORY, name)


def test_every_constant_has_a_docstring():
    body = inspect.getsource(Constants)
    for field in dataclasses.fields(Constants):
        after = body.split(f"    {field.name}: ", 1)[1].splitlines()[1].strip()
        assert after.startswith('"""'), field.name


def test_pivot_ratio_is_the_number_of_lemma_6():
    assert PRACTICAL.pivot_ratio == pytest.approx(0.0964, abs=5e-5)


@pytest.mark.parametrize("ratio", [0.001, 0.05, 0.0964, 0.3, 0.9])
def test_candidates_are_as_few_as_possible(ratio):
    log_inside = math.log1p(-math.erfc(13 * ratio / math.sqrt(2)))  # of 2Φ(13γ/‖Δ‖) − 1
    count = PRACTICAL.candidates(ratio, 1.0, 0.05)
    assert count * log_inside <= math.log(0.05) <= (count - 1) * log_inside


def test_presets_by_name():
    assert preset("practical") is PRACTICAL
    assert preset(THEORY) is THEORY


def test_theory_is_out_of_reach_and_says_how_far():
    # Erratum 5: the test alone needs millions of answers a query.
    assert THEORY.test_samples * math.log(9000) > 1e8
