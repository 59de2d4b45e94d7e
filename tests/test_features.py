"""Features that say what their values may be: numbers, whole numbers, a yes or no."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from http_service import Service
from in_process import mixsense
from mixsense.features.kinds import case_of, features_of
from mixsense.features.units import Units
from mixsense.oracles.preflight import preflight
from mixsense.rounds import Cases

TEA = [
    ms.Number("strength", 4, 16, "g/l"),
    ms.Integer("pieces", 0, 3),
    ms.Integer("milk", 0, 1),
    ms.Integer("minutes", -3, 9, "min"),
    ms.Integer("lemon", 0, 1),
]
HALF = np.array([(feature.high - feature.low) / 2 for feature in TEA])
MIDDLE = np.array([(feature.high + feature.low) / 2 for feature in TEA])
EFFECTS = np.array([[2.0, 0.0, 1.0, 0.0, 1.5], [-1.0, 1.0, 0.0, 0.5, -1.0]])
LEVELS = np.array([50.0, 48.0])


class Drinkers:
    """Two kinds of drinkers, asked with dicts; every query is checked to be one that may be asked."""

    def __init__(self, seed, sigma=0.3):
        self.rng, self.sigma, self.cases = np.random.default_rng(seed), sigma, []

    def __call__(self, cases, repeats):
        self.cases += cases
        return np.array([[self.one(case) for _ in range(repeats)] for case in cases])

    def one(self, case):
        assert list(case) == [feature.name for feature in TEA]
        for feature, value in zip(TEA, case.values(), strict=True):
            assert type(value) is (float if feature.kind == "number" else int)
            assert feature.low <= value <= feature.high
        z = (np.array([*case.values()]) - MIDDLE) / HALF
        kind = self.rng.integers(2)
        return LEVELS[kind] + EFFECTS[kind] @ z + self.sigma * self.rng.standard_normal()


def assert_found(r, error=0.3):
    assert r.status == "certified"
    assert r.names == tuple(feature.name for feature in TEA)
    assert ms.match_error(r.vectors * HALF, EFFECTS) <= error


def test_features_are_read_back_from_plain_values_and_keep_what_they_are():
    plain = json.loads(json.dumps([feature.to_dict() for feature in TEA]))
    assert features_of(plain) == tuple(TEA)
    problem = ms.Problem(5, features=TEA, seed=1)
    assert problem.box == tuple((feature.low, feature.high) for feature in TEA)
    again = ms.Problem.from_dict(json.loads(json.dumps(problem.to_dict())))
    assert again == problem
    assert again.names == tuple(feature.name for feature in TEA)
    assert ms.Problem(2, features=["a", "b"]).kinds is None


def test_coding_there_and_back():
    units = Units.of(5, TEA)
    rng = np.random.default_rng(0)
    Z = units.coded().allowed(rng.uniform(-1, 1, (500, 5)), rng)
    X = units.decode(Z)
    assert (X[:, 1:] == np.round(X[:, 1:])).all()
    assert [sorted(set(column)) for column in X[:, [1, 2, 4]].T] == [[0, 1, 2, 3], [0, 1], [0, 1]]
    assert len(set(X[:, 3])) == 13
    np.testing.assert_allclose((X - units.middle) / units.half, Z, atol=1e-12)
    assert json.dumps(case_of(TEA, X[0].tolist())).count(".") == 1  # one number, four whole ones


def test_cases_are_dicts_and_an_array():
    cases = Cases(TEA, np.array([[6.5, 3.0, 1.0, -3.0, 0.0]]))
    assert json.dumps(cases) == '[{"strength": 6.5, "pieces": 3, "milk": 1, "minutes": -3, "lemon": 0}]'
    np.testing.assert_array_equal(np.asarray(cases, dtype=np.float64), [[6.5, 3, 1, -3, 0]])
    oracle = ms.SimulatedOracle(np.eye(2, 5), sigma=0.0, seed=1)  # it takes an array, and so may others
    assert set(oracle(cases, 20).ravel()) == {6.5, 3.0}


def test_recover_end_to_end():
    drinkers = Drinkers(1)
    r = ms.recover(drinkers, 5, gamma=0.3, features=TEA, intercept=True, seed=2, max_queries=3000)
    assert_found(r)
    assert ms.Recovery.from_json(r.to_json()) == r
    case = drinkers.cases[-1]
    expected = LEVELS + EFFECTS @ ((np.array([*case.values()]) - MIDDLE) / HALF)
    found = r.predict(case).mean[0]
    # Six coefficients and a level, each known to about 0.03: the expected answers to 0.1, five standard errors to 0.4.
    assert np.abs(np.sort(found) - np.sort(expected)).max() < 0.4
    np.testing.assert_array_equal(r.predict([case, case]).mean, [found, found])
    with pytest.raises(ms.InvalidInput, match="x has a query without 'lemon'"):
        r.predict({**{name: 1 for name in r.names[:-1]}})


def test_a_study_of_features_is_stored_and_goes_on(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "tea", 5, gamma=0.3, features=TEA, intercept=True, seed=2)
    question = study.ask()
    assert question.units == ("g/l", "", "", "min", "")
    assert [type(value) for value in question.to_dict()["x"].values()] == [float, int, int, int, int]
    study.release()
    study.close()
    study = ms.load_study(tmp_path / "a.db", "tea")
    drinkers = Drinkers(1)
    r = ms.run_study(study, drinkers, workers=1, batch=100)
    assert_found(r)
    assert r == ms.recover(ms.ReplayOracle(study.record()), **study.problem)
    study.close()


def test_a_file_of_features_has_their_kinds(tmp_path):
    from mixsense.cli.study_file import read_study_file

    plan = "gamma = 0.5\n" + "".join(
        f'[[features]]\nname = "{f.name}"\nrange = [{f.low}, {f.high}]\nkind = "{f.kind}"\n' for f in TEA
    )
    (tmp_path / "tea.toml").write_text(plan)
    problem = ms.Problem.from_dict(read_study_file(tmp_path / "tea.toml"))
    assert [feature.to_dict()["range"] for feature in problem.kinds] == [[f.low, f.high] for f in TEA]
    (tmp_path / "tea.toml").write_text('[[features]]\nname = "milk"\nkind = "integer"\n')
    with pytest.raises(ms.InvalidInput, match=r"give range = \[low, high\] of each"):
        read_study_file(tmp_path / "tea.toml")


def test_a_yes_or_no_needs_no_range_and_is_asked_in_words(tmp_path):
    file = tmp_path / "tea.toml"
    file.write_text(
        'sigma = 1.0\n[[features]]\nname = "strength"\nrange = [4, 16]\n[[features]]\nname = "milk"\nkind = "yesno"\n'
    )
    assert mixsense("study", "create", file, cwd=tmp_path).returncode == 0
    study = ms.load_study(tmp_path / "mixsense.db", "tea")
    assert study.features == (ms.Number("strength", 4, 16), ms.Integer("milk", 0, 1))
    study.close()
    said = " ".join(mixsense("study", "ask", "tea", "--count", "20", cwd=tmp_path).stdout.split())
    assert "│ milk │ 0 (no) │" in said
    assert "│ milk │ 1 (yes) │" in said


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('kind = "binary"', 'the kind of feature \'milk\' is \'binary\': give kind = "number", "integer" or "yesno"'),
        ('kind = "yesno"\nrange = [0, 2]', r"feature 'milk' is a yes or no, and its range [0, 2]: leave it out"),
    ],
)
def test_a_wrong_kind_names_those_there_are(given, words, tmp_path):
    (tmp_path / "tea.toml").write_text(f'[[features]]\nname = "milk"\n{given}\n')
    done = mixsense("study", "create", "tea.toml", cwd=tmp_path)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_a_service_is_sent_whole_numbers():
    drinkers = Drinkers(1)
    with Service(lambda call: drinkers.one(call.body["tea"])) as service:
        with ms.HTTPOracle(service.url, {"tea": "$features"}, features=TEA, concurrency=1) as oracle:
            report = preflight(oracle, 5, seed=1, features=TEA)
            r = ms.recover(oracle, 5, gamma=0.3, features=TEA, intercept=True, seed=2, max_queries=3000)
        assert type(service.calls[-1].body["tea"]["milk"]) is int
    assert not report.problems
    assert_found(r)


def test_answers_that_were_kept_go_on_with_dicts():
    drinkers, given = Drinkers(1), {"features": TEA, "gamma": 0.3, "intercept": True, "seed": 2}
    calls = 0

    def failing(cases, repeats):
        nonlocal calls
        calls += 1
        if calls > 30:
            raise TimeoutError
        return drinkers(cases, repeats)

    with pytest.raises(ms.OracleError) as caught:
        ms.recover(failing, 5, **given)
    assert_found(ms.recover(ms.ReplayOracle(caught.value.record, then=drinkers), 5, **given))


def test_the_entries_of_whole_numbers_have_mean_0_whatever_was_asked_before():
    """An instrument is an entry itself: rounding has to leave its law symmetric, so that no side is preferred."""
    from mixsense.methods.frugal.corners import Box

    box, rng, q = Box(Units.of(5, TEA).coded(), "corners"), np.random.default_rng(5), 20_000
    for Z in (
        box.with_inner_points(box.draw(q, rng), rng),
        box.with_holes(box.draw(q, rng), rng),
        Box(box.coded, "gaussian").draw(q, rng),
        box.anywhere(q, rng),
    ):
        # Entries of at most 1: the mean of q of them has a standard deviation of at most 1/√q.
        assert np.abs(Z.mean(axis=0)).max() < 4.5 / np.sqrt(q)
        assert set(np.unique(Z[:, 2])) == {-1.0, 1.0}
        np.testing.assert_allclose(np.unique(Z[:, 1]), [-1, -1 / 3, 1 / 3, 1])
        np.testing.assert_array_equal(box.coded.allowed(Z, rng), Z)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sigma", [0.0, None])
def test_exact_answers_are_recovered_exactly(seed, sigma):
    rng = np.random.default_rng([seed, 5])
    kinds = [ms.Number, ms.Number, ms.Integer, ms.Integer]
    ends = [(0, 10), (-1, 2), (0, 1), (0, 7)]
    features = [kinds[j % 4](f"f{j}", *ends[j % 4]) for j in range(12)]
    models = np.zeros((2, 12))
    for row in models:
        row[rng.choice(12, 6, replace=False)] = rng.standard_normal(6)

    def oracle(cases, repeats):
        means = np.asarray(cases) @ models.T + [5.0, 6.0]
        return np.take_along_axis(means, rng.integers(2, size=(len(cases), repeats)), axis=1)

    r = ms.recover(oracle, 12, sigma=sigma, gamma=0.1, features=features, intercept=True, seed=seed, max_queries=1000)
    assert r.status == "certified"
    assert r.queries <= 250
    found = np.column_stack([r.vectors, r.intercept])
    assert ms.match_error(found, np.column_stack([models, [5.0, 6.0]])) < 1e-6


BAD = [
    (lambda: ms.Integer("milk", 0, 0), r"range of feature 'milk' is \(0, 0\): low must be below high"),
    (lambda: ms.Integer("milk", 0, 0.5), "high is 0.5; it must be a whole number"),
    (lambda: ms.Integer("milk", False, True), "low is False; it must be a whole number"),
    (lambda: ms.Number("", 0, 1), "a feature's name is ''"),
    (lambda: ms.Number("milk", 0, 1, 7), "unit of feature 'milk' is 7"),
    (lambda: ms.Number("milk", "a", 1), "low is 'a'; it must be a real number"),
    (lambda: ms.Problem(2, features=[TEA[0], "milk"]), "a feature is 'milk', others say their range"),
    (lambda: ms.Problem(2, features=TEA[:3]), "3 features for n = 2"),
    (lambda: ms.Problem(2, features=[TEA[0], TEA[0]]), "two features are called 'strength'"),
    (lambda: ms.Problem(1, features=TEA[:1], box=[(0, 1)]), "the features say other ranges: leave box out"),
    (lambda: ms.Problem(1, features=[{"name": "a", "range": [0]}]), "a feature is {'name': 'a', 'range': \\[0\\]}"),
    (lambda: ms.Problem(1, features=[{"name": "a", "range": [0, 1], "kind": "b"}]), "kind of feature 'a' is 'b'"),
    (lambda: ms.recover(print, 5, features=TEA, method="paper", k=2, sigma=1.0), "'pieces' has whole numbers only"),
    (lambda: ms.create_study("a.db", "a", 5, features=TEA, units=[""] * 5), "units are given, and features that say"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_mistakes_are_named(call, words):
    with pytest.raises(ms.InvalidInput, match=words) as caught:
        call()
    assert str(caught.value).isprintable()


def test_the_example_of_the_page_prints_what_it_shows():
    page = (Path(__file__).parent.parent / "docs" / "features.md").read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", page, re.S).groups()
    printed, scope = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "features.md", "exec"), scope)
    assert printed.getvalue() == shown
