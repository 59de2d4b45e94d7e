"""Studies whose answers are on a scale."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms
from mixsense.cli.study_file import read_study_file

SMALL = {"n": 3, "sigma": 1.0, "seed": 1, "box": [(0, 1)] * 3, "intercept": True}


def test_a_range_of_answers_is_a_rating(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "tea", **SMALL, answer_range=(1, 7))
    assert study.problem["scale"] == {"scale": "rating", "range": [1.0, 7.0], "step": None}
    plain = ms.create_study(tmp_path / "a.db", "numbers", **SMALL, answer_range=(1, 7), scale="real")
    assert plain.problem["scale"] is None
    paper = ms.create_study(tmp_path / "a.db", "paper", n=3, k=1, sigma=1.0, method="paper", answer_range=(1, 7))
    assert paper.problem["scale"] is None


@pytest.mark.parametrize(
    ("scale", "ends"), [(ms.Rating(1, 7), (50, 100)), (ms.Rating(1, 7), (0, 10)), (ms.Probability(), (0, 100))]
)
def test_a_range_that_is_not_that_of_the_scale_is_refused(tmp_path, scale, ends):
    with pytest.raises(ms.InvalidInput, match=r"answer_range is from .*, and answers on the scale are from") as caught:
        ms.create_study(tmp_path / "a.db", "tea", **SMALL, scale=scale, answer_range=ends)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "a.db").exists()
    study = ms.create_study(tmp_path / "a.db", "tea", **SMALL, scale=scale, answer_range=scale.ends)
    assert study.answer_range == scale.ends


def test_answers_that_the_scale_does_not_have_are_refused_before_they_are_stored(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "tea", **SMALL, scale=ms.Rating(1, 7))
    assert study.answer_range == (1.0, 7.0)
    question = study.ask()
    for value in (8, 0.5, 3.5):
        with pytest.raises(ms.InvalidInput):
            study.tell(question.id, value)
    assert study.tell(question.id, 3) == "taken"


def test_a_study_file_has_a_table_for_the_answers(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('n = 3\n[answers]\nscale = "rating"\nrange = [1, 7]\nstep = 1\n')
    assert ms.Problem.from_dict(read_study_file(file)).scale == ms.Rating(1, 7)
    file.write_text("n = 3\n[answers]\nrange = [1, 7]\n")
    with pytest.raises(ms.InvalidInput, match="answers is"):
        read_study_file(file)


def test_a_study_of_ratings_finds_the_segments(tmp_path):
    beta = np.array([[4.0, 2.0, 0.0, -1.5], [4.0, -2.0, 1.0, 0.0]])  # level first, in half ranges
    box = [(-1.0, 1.0)] * 3
    study = ms.create_study(
        tmp_path / "a.db", "tea", n=3, gamma=0.5, seed=1, box=box, intercept=True, answer_range=(1, 7), max_queries=260
    )
    rng = np.random.default_rng(2)
    while (question := study.ask()) is not None:
        x = np.append(1.0, question.x)
        study.tell(question.id, float(np.clip(np.round(x @ beta[rng.integers(2)] + 0.5 * rng.normal()), 1, 7)))
    r = study.result()
    found = np.column_stack([r.intercept, r.vectors])
    # About 130 answers for each model: a standard error of 0.6/√130 = 0.05 for each of four coefficients; those at the
    # ends tell less.
    assert ms.match_error(found, beta) < 0.35
    assert r.scale == ms.Rating(1, 7, None)
