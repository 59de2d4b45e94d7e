"""SparseMixtureRegressor keeps scikit-learn's conventions to the letter."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mixsense as ms

RNG = np.random.default_rng(3)
PEOPLE = np.repeat(np.arange(80), 5)
KIND = (PEOPLE % 4 == 0).astype(int)
X = RNG.standard_normal((400, 6))
B = np.array([[2.0, 0, 1, 0, 0, 0], [-2.0, 0, 0, 0, 1, 0]])
Y = np.einsum("ij,ij->i", X, B[KIND]) + 10 + 0.5 * RNG.standard_normal(400)


@parametrize_with_checks([ms.SparseMixtureRegressor()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def fitted():
    return ms.SparseMixtureRegressor().fit(X, Y, groups=PEOPLE)


def test_models_are_attributes(fitted):
    assert fitted.n_models_ == 2
    assert np.allclose(fitted.coef_, B, atol=0.25)
    assert fitted.intercept_ == pytest.approx([10, 10], abs=0.25)
    assert fitted.weights_ == pytest.approx([0.75, 0.25], abs=0.02)  # every fourth person, and each labels itself
    assert fitted.n_features_in_ == 6
    assert fitted.recovery_.status == "budget"


def test_whoever_comes_is_expected_to_answer_with_the_mean_over_the_shares(fitted):
    x = np.eye(6)
    assert np.allclose(fitted.predict(x), fitted.recovery_.predict(x).overall)


def test_of_somebody_known_the_responsible_model_answers(fitted):
    own = fitted.predict(X, groups=PEOPLE)
    alone = np.einsum("ij,ij->i", X, fitted.coef_[KIND]) + fitted.intercept_[KIND]
    assert np.allclose(own, alone, atol=0.02)
    assert np.mean((own - Y) ** 2) < 0.35  # noise: 0.25
    assert np.mean((fitted.predict(X) - Y) ** 2) > 1
    with pytest.warns(UserWarning, match="^1 group without an answer in the fit: the mean over the shares") as told:
        nobody = fitted.predict(X[:3], groups=["unknown"] * 3)
    assert (len(told), told[0].filename) == (1, __file__)
    with pytest.warns(UserWarning, match="^2 groups without an answer in the fit"):
        fitted.predict(X[:3], groups=["unknown", PEOPLE[0], "strange"])
    assert np.allclose(nobody, fitted.predict(X[:3]))


def test_other_answers_may_come_later(fitted):
    x = RNG.standard_normal((4, 6))
    y = x @ B[1] + 10
    asked = np.eye(6)[:2]
    found = fitted.predict(asked, groups=["new", "new"], given=(x, y, ["new"] * 4))
    assert np.allclose(found, asked @ fitted.coef_[1] + fitted.intercept_[1], atol=1e-3)
    with pytest.raises(ms.InvalidInput, match="given is for groups"):
        fitted.predict(asked, given=(x, y, ["new"] * 4))


def test_probabilities_are_there_after_a_fit_with_groups_only(fitted):
    P = fitted.predict_proba(X, groups=PEOPLE)
    assert np.allclose(P.sum(axis=1), 1)
    assert (P.argmax(axis=1) == KIND).mean() > 0.99
    assert np.allclose(fitted.predict_proba(X[:2]), fitted.weights_)
    without = ms.SparseMixtureRegressor().fit(X, Y)
    assert not hasattr(without, "predict_proba")
    assert without.responsibilities(X, Y).shape == (400, 2)


@pytest.mark.parametrize("label", [None, "", "NA", np.nan])
def test_nothing_is_known_of_whoever_has_no_label(label):
    labels = [label if person % 2 else person for person in PEOPLE.tolist()]
    model = ms.SparseMixtureRegressor().fit(X, Y, groups=labels)
    assert [*model.groups_] == [*range(0, 80, 2)]
    assert np.allclose(model.predict_proba(X[:2], groups=[label] * 2), model.weights_)
    assert np.allclose(model.predict_proba(X[:1], groups=[label], given=(X[:1], Y[:1], [label])), model.weights_)


def test_weights_are_how_often_a_row_counts():
    times = RNG.integers(0, 3, 400)
    repeated = ms.SparseMixtureRegressor().fit(X.repeat(times, 0), Y.repeat(times))
    counted = ms.SparseMixtureRegressor().fit(X, Y, sample_weight=times)
    assert np.allclose(repeated.coef_, counted.coef_, atol=1e-6)
    halves = ms.SparseMixtureRegressor().fit(X, Y, sample_weight=0.5 * times)
    assert np.allclose(halves.coef_, counted.coef_, atol=0.1)  # the same information but for the prior
    assert (halves.recovery_.stderr[0, 0] > 1.2 * counted.recovery_.stderr[0, 0]).all()  # √2 as large
    with pytest.raises(ValueError, match="sample_weight"):
        ms.SparseMixtureRegressor().fit(X, Y, sample_weight=-np.ones(400))


@pytest.mark.parametrize(("weight", "told"), [(1 / 300, True), (1.0, False), (1e8, True)])
def test_weights_that_are_no_counts_are_told_of(weight, told):
    """Weights that sum to 1 make one answer of a table."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    model = ms.SparseMixtureRegressor(models=1).fit(X, X[:, 0], sample_weight=np.full(300, weight))
    assert any("sample_weight is how often" in note for note in model.recovery_.diagnostics["notes"]) == told


def test_it_works_in_a_pipeline_a_grid_and_a_clone():
    pipeline = make_pipeline(StandardScaler(), ms.SparseMixtureRegressor(models=2))
    grid = GridSearchCV(pipeline, {"sparsemixtureregressor__models": [1, 2]}, cv=2).fit(X, Y)
    assert set(grid.best_params_.values()) <= {1, 2}
    assert len(cross_val_score(pipeline, X, Y, cv=2)) == 2
    assert clone(pipeline[-1]).get_params()["models"] == 2


def test_names_of_columns_are_kept():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = ms.SparseMixtureRegressor().fit(frame, Y)
    assert [*model.feature_names_in_] == list("abcdef")
    assert model.recovery_.names == tuple("abcdef")


def test_pickled_it_predicts_the_same(fitted):
    back = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(back.predict(X, groups=PEOPLE), fitted.predict(X, groups=PEOPLE))


def test_without_scikit_learn_one_line_says_what_to_install():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import mixsense as ms\n"
        "try:\n    ms.SparseMixtureRegressor(models=2)\n"
        "except ms.InvalidInput as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "SparseMixtureRegressor needs sklearn, which is not installed: pip install 'mixsense[sklearn]'\n"
    )
