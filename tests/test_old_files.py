"""Files that version 0.2.0 wrote: its studies go on where they were, its sweeps are refused by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
import postgres_server
from study_0_2_0 import STUDIES, answer, go_on

DATA = Path(__file__).parent / "data"
EXPECTED = json.loads((DATA / "expected-0.2.0.json").read_text(encoding="utf-8"))
HALF_ANSWERED = ("tea", "paper")
STOOD = ("round", "answered", "total")
CLOSE = 1e-9
"""What the order of sums may change: the answers are fixed, and the smallest standard error is 4e-3."""


@pytest.fixture(scope="module")
def in_postgres():
    """The dump, loaded into a server of its own."""
    psycopg = pytest.importorskip("psycopg")
    try:
        with postgres_server.running() as url:
            with psycopg.connect(url) as connection:
                connection.execute((DATA / "study-0.2.0-postgres.sql").read_text(encoding="utf-8"))
            yield url
    except postgres_server.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    """The URL of the studies. On PostgreSQL all tests share them: each goes on with a study that no other touches."""
    if request.param == "postgres":
        return request.getfixturevalue("in_postgres")
    return f"sqlite:///{shutil.copy(DATA / 'study-0.2.0.sqlite', tmp_path)}"


def assert_alike(r, expected):
    """The frugal method may ask other questions than 0.2.0 did: its result is the same within standard errors."""
    assert r.status == expected["status"]
    # Since 0.5.0 a certificate is for any vectors, and takes more answers: 2.1 times as many here.
    assert 0.75 * expected["queries"] <= r.queries <= 3 * expected["queries"]
    stderr = np.array(expected["stderr"])
    # More answers on top of the same ones move an estimate by less than one standard error of before, as a rule:
    # of 10 coefficients none is beyond 4.
    assert (np.abs(r.vectors - expected["vectors"]) < 4 * stderr).all()


def assert_as_expected(r, expected):
    assert (r.status, r.queries) == (expected["status"], expected["queries"])
    for name in ("vectors", "stderr", "weights", "sigma", "error_bound", "intercept"):
        found = getattr(r, name)
        if expected[name] is None:
            assert found is None
        else:
            np.testing.assert_allclose(found, expected[name], rtol=CLOSE, atol=CLOSE, err_msg=name)


@pytest.mark.parametrize("name", HALF_ANSWERED)
def test_a_study_goes_on_where_it_was(url, name):
    study, expected = ms.load_study(url, name), EXPECTED[name]
    before = study.progress()
    assert (before.round, before.answered, before.total) == tuple(
        expected[key] for key in ("round", "answered", "total")
    )
    assert before.round > 1
    assert 0 < before.answered < before.size  # in the middle of a later round: going on needs playback
    go_on(study)
    check = assert_alike if name == "tea" else assert_as_expected
    check(study.result(), expected["recovery"])
    assert study.progress().total == study.result().queries
    study.close()


def test_an_ended_study_gives_its_result(url):
    study = ms.load_study(url, "ended")
    assert study.progress().state == "ended"
    assert study.ask() is None
    assert_as_expected(study.result(), EXPECTED["ended"]["recovery"])
    study.close()


def test_the_answers_in_the_file_are_those_of_the_function(tmp_path):
    copy = shutil.copy(DATA / "study-0.2.0.sqlite", tmp_path)
    for name, settings in STUDIES.items():
        study = ms.load_study(f"sqlite:///{copy}", name)
        rows = study.answers()
        assert len(rows) == EXPECTED[name]["total"]
        assert rows[0]["answer"] == answer(rows[0]["x"])
        assert study.problem["seed"] == settings["seed"]
        study.close()


@pytest.mark.skipif(ms.__version__ == "0.2.0", reason="this is 0.2.0 itself, whose sweeps go on")
def test_a_sweep_is_refused_and_the_version_named(tmp_path):
    copy = shutil.copy(DATA / "sweep-0.2.0.sqlite", tmp_path)
    grid = {"n": 10, "k": 1, "gap": [3.0, 6.0], "gamma": 0.5, "max_queries": 80, "seeds": 2}
    with pytest.raises(ms.InvalidInput, match=r"0\.2\.0"):
        ms.sweep(grid, out=copy, jobs=1)
