"""The result object: text, HTML, JSON, picture."""

from __future__ import annotations

import math

import matplotlib as mpl
import numpy as np
import pytest

import mixsense as ms

mpl.use("Agg")

VECTORS = np.array([[0.0, 1.5, 0.0], [0.25, 0.0, -2.0]])
FULL = ms.Recovery(
    VECTORS, "uncertain", 1234, 0.25, 1.0, stderr=np.full((2, 3), 0.125), diagnostics={"warnings": ["<odd> answers"]}
)


def test_json_is_lossless():
    awkward = ms.Recovery(VECTORS / 3, "budget", 7, math.inf, math.nan, np.array([0.1, 0.9]))
    for recovery in (FULL, awkward):
        back = ms.Recovery.from_json(recovery.to_json())
        assert back == recovery
        assert np.array_equal(back.vectors, recovery.vectors)
    assert math.isinf(ms.Recovery.from_json(awkward.to_json()).error_bound)


def test_summary_names_what_matters():
    text = FULL.summary(["milk", "sugar", "time"])
    assert text.splitlines()[0] == (
        "uncertain: finished, but a check failed; diagnostics['warnings'] says which; 1,234 answers, error at most 0.25"
    )
    assert "sugar  " in text
    assert "+1.500 ± 0.125" in text
    assert text.splitlines()[-1] == "warning: <odd> answers"
    assert str(FULL) == FULL.summary()


def test_summary_hides_the_small_ones_and_says_so():
    vectors = np.linspace(1, 2, 80).reshape(2, 40)
    assert "(15 smaller coefficients are not shown)" in ms.Recovery(vectors, "certified").summary()


def test_html_is_escaped():
    page = FULL._repr_html_()
    assert "&lt;odd&gt;" in page
    assert page.count("<tr>") == 4


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        FULL.vectors[0, 0] = 1.0


def test_pictures_show_truth_left_and_recovered_right():
    import matplotlib.pyplot as plt

    axes = FULL.plot(VECTORS[::-1])
    titles = [a.get_title() for a in axes.figure.axes]
    assert titles == ["truth: vector 1", "recovered: vector 1", "truth: vector 2", "recovered: vector 2"]
    assert len(FULL.plot().figure.axes) == 2
    plt.close("all")
