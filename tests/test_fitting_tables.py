"""ms.fit on tables as they come: answers without spread, exact ones, wrong groups, wrong indexes, too few rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import mixsense as ms

TRUTH = np.array([[3.0, 0, -1, 0], [-2, 1, 0, 0]])


def mixed(N=300, per_group=1, sigma=0.5, seed=1):
    rng = np.random.default_rng(seed)
    X, label = rng.standard_normal((N, 4)), rng.integers(2, size=N)[np.arange(N) // per_group * per_group]
    return X, np.einsum("ij,ij->i", X, TRUTH[label]) + sigma * rng.standard_normal(N)


@pytest.mark.parametrize(("level", "intercept"), [(0.0, False), (0.0, True), (0.1, True), (-1e8, True)])
def test_answers_that_are_all_the_same_are_one_model(level, intercept):
    """0.1 is no sum of powers of 2, so that the mean of many is not 0.1."""
    X, _ = mixed()
    r = ms.fit(X, np.full(300, level), intercept=intercept)
    assert (r.status, r.vectors.tolist()) == ("single", [[0.0] * 4])
    assert r.predict(X[:1]).overall[0] == level
    assert np.isfinite(r.stderr).all()
    model = ms.SparseMixtureRegressor().fit(X, np.full(300, level))
    assert model.predict(X[:3]).tolist() == [level] * 3


def test_two_models_of_answers_that_are_all_the_same_are_one():
    X, _ = mixed()
    r = ms.fit(X, np.zeros(300), models=2, groups=np.arange(300) // 5)
    assert (r.status, r.vectors.shape) == ("single", (2, 4))


@pytest.mark.parametrize("unit", [2.0**-100, 2.0**30, 2.0**100])
def test_answers_in_other_units_give_the_same_to_the_last_bit(unit):
    """Powers of 2 round nothing: whatever is not the same was compared with a number that has a unit."""
    X, y = mixed()
    r, other = (ms.fit(X, each, intercept=True) for each in (y, unit * y))
    for name in ("vectors", "stderr", "intercept", "intercept_stderr", "interval", "sigma"):
        np.testing.assert_array_equal(getattr(other, name), unit * getattr(r, name))
    np.testing.assert_array_equal(other.covariance, unit**2 * r.covariance)
    np.testing.assert_array_equal(other.weights, r.weights)
    assert other.diagnostics["loglik"] == pytest.approx(r.diagnostics["loglik"] - 300 * np.log(unit))
    np.testing.assert_allclose(r.responsibilities(X, y), other.responsibilities(X, unit * y))


def test_lapses_have_the_width_of_the_answers():
    X, y = mixed()
    rng = np.random.default_rng(2)
    y[::10] = rng.uniform(-20, 20, 30)
    r, other = (ms.fit(X, each, models=2, lapses=True) for each in (y, 2.0**20 * y))
    assert r.diagnostics["lapse_width"] == pytest.approx(np.ptp(y))
    np.testing.assert_allclose(other.lapses(X, 2.0**20 * y), r.lapses(X, y))


@pytest.mark.parametrize("models", [1, 2])
def test_exact_answers_have_no_law_that_they_could_break(models):
    X, y = mixed(sigma=0.0)
    r = ms.fit(X, X @ TRUTH[0] if models == 1 else y)
    assert r.status == ("single" if models == 1 else "budget")
    assert ms.match_error(r.vectors, TRUTH[:models]) < 1e-12


def test_answers_of_a_group_that_do_not_share_a_model_are_told():
    """The labels of 300 answers change at random within groups: each by itself is explained by 200 nats more."""
    X, y = mixed()
    for groups in (np.zeros(300), [f"person {i // 5}" for i in range(300)]):
        r = ms.fit(X, y, groups=groups)
        assert r.status == "uncertain"
        assert any("do not share a model" in text for text in r.diagnostics["warnings"])


@pytest.mark.parametrize("per_group", [2, 5, 300])
def test_answers_of_a_group_that_share_a_model_raise_no_alarm(per_group):
    for seed in range(3):
        X, y = mixed(per_group=per_group, seed=seed)
        r = ms.fit(X, y, groups=np.arange(300) // per_group)
        assert r.status == ("single" if per_group == 300 else "budget"), r.diagnostics["warnings"]


def test_fewer_models_than_three_that_were_asked_for_are_told():
    X, y = mixed()
    r = ms.fit(X, y, models=3)
    assert any("3 models were asked for, and fewer explain" in text for text in r.diagnostics["warnings"])
    assert ms.fit(X, y, models=2).status == "budget"


@pytest.mark.parametrize(("sigma", "said"), [(1e9, True), (0.8, True), (0.5, False), (0.35, True)])
def test_a_noise_that_the_residuals_do_not_have_is_told(sigma, said):
    """The spread of 300 residuals has an error of 4 %; five of them are 20 %."""
    X, y = mixed()
    warnings = ms.fit(X, y, sigma=sigma, models="auto" if sigma > 0.5 else 2).diagnostics["warnings"]
    assert any("sigma was given as" in text for text in warnings) == said


def test_a_handful_of_rows_is_no_single_model():
    X, y = mixed()
    assert [ms.fit(X[:rows], y[:rows]).status for rows in range(2, 7)] == ["uncertain"] * 5


def test_a_column_with_another_index_is_one_line():
    X, y = mixed()
    frame, other = pd.DataFrame(X), pd.Series(y).sample(frac=1, random_state=1)
    with pytest.raises(ms.InvalidInput, match=r"y has another index than X: give y\.loc\[X\.index\]"):
        ms.fit(frame, other)
    with pytest.raises(ms.InvalidInput, match="groups has another index"):
        ms.fit(frame, y, groups=pd.Series(np.arange(300) // 5, index=np.arange(300) + 1))
    assert ms.fit(frame, other.loc[frame.index]) == ms.fit(frame, y)


def test_masked_values_are_missing():
    X, y = mixed()
    r = ms.fit(np.ma.masked_where(X > 2.5, X), np.ma.masked_where(y > 8, y))
    gone = int(((X > 2.5).any(axis=1) | (y > 8)).sum())
    assert r.diagnostics["notes"] == [f"{gone} of 300 rows have a missing value and were left out"]


def test_groups_may_be_a_frame_of_one_column():
    X, y = mixed(per_group=5)
    groups = pd.DataFrame({"person": np.arange(300) // 5})
    assert ms.fit(X, y, groups=groups) == ms.fit(X, y, groups=groups.person)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros(300)}, r"X has one dimension.*X\[:, None\]"),
        ({"X": pd.Series(np.zeros(300))}, "X has one dimension"),
        ({"X": scipy.sparse.csr_matrix(np.eye(300))}, r"X is sparse: give X\.toarray\(\)"),
        ({"X": pd.DataFrame({"kind": pd.Categorical([1, 2, 3] * 100)})}, "column 'kind' holds other things"),
        ({"groups": "person"}, "groups is 'person': give one label for each row"),
    ],
)
def test_a_mistake_is_one_line(change, message):
    X, y = mixed()
    with pytest.raises(ms.InvalidInput, match=message) as caught:
        ms.fit(**({"X": X, "y": y} | change))
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [2, 3, 7])
def test_few_rows_warn_of_no_arithmetic(rows):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        r = ms.fit(rng.standard_normal((rows, 4)), rng.standard_normal(rows), models=("auto", 2, 3)[seed % 3])
        assert np.isfinite(r.vectors).all()


def test_one_model_that_was_asked_for_says_nothing_against_the_groups():
    X, y = mixed(per_group=5)
    warnings = ms.fit(X, y, groups=np.arange(300) // 5, models=1).diagnostics["warnings"]
    assert any("support 2 models" in text for text in warnings)
    assert not any("do not share a model" in text for text in warnings)


@pytest.mark.parametrize("values", [["a", "b"] * 20, [1j, 2.0] * 20], ids=["text", "complex"])
def test_masked_values_that_are_no_numbers_are_refused(values):
    with pytest.raises(ms.InvalidInput):
        ms.fit(np.ma.masked_array([values, values]).T, np.arange(40.0))


# -- What looks like a mistake ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("what", "models"), [("y", 1), ("y", 2), ("X", 1), ("X", 2), ("row", 1)])
def test_a_row_in_another_unit_is_named(what, models):
    """One row times 10⁴ was fitted as a model of its own, or made everything else 0, without a word."""
    X, y = mixed(60)
    y = y if models == 2 else X @ TRUTH[0] + 0.5 * np.random.default_rng(2).standard_normal(60)
    X[3, 0] = np.nan  # left out, and counted all the same
    X[7] *= 1.0 if what == "y" else 1e4
    y[7] *= 1.0 if what == "X" else 1e4
    r = ms.fit(X, y)
    assert r.status == "uncertain"
    (text,) = [text for text in r.diagnostics["warnings"] if "far from all others" in text]
    assert text.startswith("row 7 (from 0) is far from all others: its ")
    assert "leave it out" in text
    assert text in r.summary()


def test_numbers_that_stand_for_missing_ones_are_told_of():
    X, y = mixed(200)
    X[::40, 2] = -999.0
    text = " ".join(ms.fit(X, y).diagnostics["warnings"])
    assert "5 rows are far from all others: of row" in text
    assert "column 2 is -999" in text


def test_tables_without_mistakes_raise_no_alarm():
    rng = np.random.default_rng(0)
    X, y = mixed(400)
    X[:, 1] = rng.random(400) < 0.03  # seldom 1
    X[:, 2] = np.exp(rng.standard_normal(400))
    y = np.where(rng.random(400) < 0.5, 3 * X[:, 0], -2 * X[:, 2]) + 0.5 * rng.standard_normal(400)
    r = ms.fit(X, y, intercept=True)
    assert (r.status, r.diagnostics["notes"]) == ("budget", [])


def test_a_model_of_a_few_outliers_is_told():
    X, _ = mixed(60)
    y = X @ TRUTH[0] + 0.5 * np.random.default_rng(2).standard_normal(60)
    y[7] += 60
    r = ms.fit(X, y)
    assert r.status == "uncertain"
    assert "answers for 1 coefficients: outliers? lapses=True allows them" in " ".join(r.diagnostics["warnings"])


def test_rows_that_are_copies_are_told_of():
    X, y = mixed(100)
    notes = ms.fit(np.tile(X, (3, 1)), np.tile(y, 3)).diagnostics["notes"]
    assert notes == ["200 rows are exact copies of others: leave them out if each was seen once"]
    few = ms.fit(np.tile(X[:10], (20, 1)), np.tile(y[:10], 20))
    assert few.status == "uncertain"
    assert "10 different rows for" in few.diagnostics["warnings"][0]


def test_a_column_that_is_the_answer_is_told_of():
    X, y = mixed(100)
    notes = ms.fit(np.column_stack([X, 1000 * y]), y, intercept=True).diagnostics["notes"]
    assert notes == ["column 4 alone has the answers: leave it out if it was made of them"]


def test_whole_numbers_of_any_size_are_numbers():
    X, y = mixed(60)
    large = [int(value * 2**40) * 2**30 for value in y]
    assert np.allclose(ms.fit(X, large).vectors / 2.0**70, ms.fit(X, y).vectors, atol=1e-6)
    with pytest.raises(ms.InvalidInput, match=r"y\[2\] is infinite"):
        ms.fit(X, [*large[:2], 10**400, *large[3:]])
