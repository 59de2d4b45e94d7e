"""`--scale`: one option with the same words in `recover`, `fit`, `audit` and `plan`."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import mixsense as ms
from http_service import Service, two_models
from mixsense.cli.main import main
from mixsense.cli.options import scale_told

FAR = np.zeros((2, 6))
FAR[0, [0, 3]], FAR[1, [0, 4]] = (2.5, 1.0), (-1.5, 1.0)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process; returns its exit code, and what it wrote."""

    def command(*args):
        monkeypatch.setattr(sys, "argv", ["mixsense", *map(str, args)])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code or 0, *capsys.readouterr()

    return command


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rating=1:7", {"scale": "rating", "range": [1.0, 7.0], "step": 1.0}),
        ("rating=-5:5:0.5", {"scale": "rating", "range": [-5.0, 5.0], "step": 0.5}),
        ("rating=0:10:0", {"scale": "rating", "range": [0.0, 10.0], "step": 0.0}),
        ("probability", {"scale": "probability"}),
        ("probability=2", {"scale": "probability", "digits": 2}),
        ("real", {"scale": "real"}),
        (None, None),
    ],
)
def test_a_scale_is_told_in_the_words_of_a_study(text, told):
    assert scale_told(text) == told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stars", "--scale is 'stars': give rating=1:7"),
        ("rating", "--scale is 'rating': give rating=1:7"),
        ("rating=1:b", "--scale is 'rating=1:b': give rating=1:7"),
        ("rating=7:1", "give the lower end first"),
        ("rating=1:7:4", "a whole number of steps"),
        ("probability=1.5", "must be a whole number"),
        ("real=3", "--scale is 'real=3'"),
    ],
)
def test_what_is_no_scale_is_one_line(text, words, run):
    code, _, errors = run("plan", "--n", 20, "--k", 3, "--sigma", 1, "--gap", 2, "--gamma", 0.2, "--scale", text)
    assert code == 2
    assert words in errors
    assert len(errors.splitlines()) == 1


def test_recover_simulates_and_recovers_on_a_scale(run, tmp_path):
    out = tmp_path / "r.json"
    common = ("recover", "--simulate", "--n", 6, "--k", 4, "--gap", 3, "--sigma", 0.5, "--quiet", "--out", out)
    code, text, errors = run(*common, "--gamma", "none", "--max-queries", 300, "--models", 2, "--scale", "rating=-3:3")
    assert code == 3, errors  # a budget was spent, nothing was promised
    assert "worst l2 error against the simulated truth: 0." in text
    r = ms.Recovery.from_json(out.read_text())
    assert r.scale == ms.Rating(-3, 3)
    assert np.abs(r.predict(np.eye(6) * 100).mean).max() <= 3
    code, _, errors = run(*common, "--method", "paper", "--scale", "probability")
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "scale" in errors


def test_data_are_fitted_on_a_scale(run, tmp_path):
    rng, pair = np.random.default_rng(1), ms.random_pair(3, 2, 4.0, seed=1)
    X = rng.standard_normal((200, 3))
    y = ms.Rating(1, 7).answer(4 + (X * pair[rng.integers(2, size=200)]).sum(axis=1) + 0.4 * rng.standard_normal(200))
    file = tmp_path / "data.csv"
    np.savetxt(file, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    code, text, errors = run(
        "fit", file, "--answer", "y", "--intercept", "--models", 2, "--scale", "rating=1:7", "--json"
    )
    assert code == 0, errors
    found = json.loads(text)
    assert found["diagnostics"]["scale"] == {"scale": "rating", "range": [1.0, 7.0], "step": 1.0}
    assert ms.match_error(np.array(found["vectors"]), pair) < 0.5
    code, _, errors = run("fit", file, "--answer", "y", "--scale", "probability")
    assert code == 2
    assert "probabilities are between 0 and 1" in errors


def test_an_audit_of_probabilities_names_the_scale_and_works_with_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    score = two_models(3, FAR, 0.05)

    def behave(call):
        return float(1 / (1 + np.exp(-score(call.x))))

    with Service(behave) as service:
        args = ("audit", service.url, "--n", 6, "--box", "-1:1", "--intercept", "--gamma", 0.3, "--seed", 1)
        code, text, errors = run(*args)
        assert code == 4, (text, errors)  # the preflight found a problem
        assert "--scale probability" in text
        code, text, errors = run(*args, "--scale", "probability", "--out", "r.json")
        assert code == 0, (text, errors)
        assert "problem" not in text
        again, _, errors = run(*args, "--scale", "rating=0:1:0")
        assert again == 2
        assert "has scale = " in errors
    r = ms.Recovery.from_json((tmp_path / "r.json").read_text())
    assert r.status == "certified"
    assert ms.match_error(r.vectors, FAR) < 0.3
    assert ((r.predict(np.eye(6)).mean > 0) & (r.predict(np.eye(6)).mean < 1)).all()
