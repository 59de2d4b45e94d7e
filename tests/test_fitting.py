"""ms.fit: data that one already has, whatever state they are in."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import mixsense as ms
from mixsense.fitting import tuning
from mixsense.fitting.columns import columns_of, dependent

TRUTH = np.array([[3.0, 0, 0, -2, 0, 0], [0, 2.0, 0, 2, 0, 1]])


def mixed(N, truth=TRUTH, sigma=0.5, shares=(0.6, 0.4), seed=0, per_group=1, level=(0.0, 0.0)):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, truth.shape[1]))
    z = np.repeat(rng.choice(len(truth), -(-N // per_group), p=shares), per_group)[:N]
    noise = np.broadcast_to(sigma, len(truth))[z] * rng.standard_normal(N)
    return X, np.einsum("ij,ij->i", X, truth[z]) + np.array(level)[z] + noise, z


def within(r, truth, errors=5.0):
    """Every coefficient is within so many standard errors of the truth (chance: 6·10⁻⁷ each), and at most 0.3 off."""
    return (np.abs(r.vectors - truth) <= np.minimum(errors * r.stderr, 0.3) + 1e-9).all()


def test_models_shares_noise_and_errors_are_found():
    X, y, _ = mixed(600)
    r = ms.fit(X, y)
    assert (r.status, r.queries, r.vectors.shape) == ("budget", 600, (2, 6))
    assert within(r, TRUTH)
    # Shares of 600 answers that nearly all label themselves: standard error √(0.24/600) = 0.02.
    assert r.weights[0] == pytest.approx(0.6, abs=0.08)
    assert 0.015 < r.weights_stderr[0] < 0.035
    assert r.sigma == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(2 * 600) + 0.01)
    assert math.isinf(r.error_bound)
    assert r.names is None


def test_nothing_is_certified_and_equal_data_give_equal_results():
    X, y, _ = mixed(300)
    assert ms.fit(X, y) == ms.fit(X, y)
    assert ms.fit(X, y).status != "certified"


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_no_unit_matters(unit):
    X, y, _ = mixed(300, level=(50.0, 52.0))
    units = np.array([unit, 1, 1, 1 / unit, 1, 1])
    plain, scaled = ms.fit(X, y, intercept=True), ms.fit(X * units, y * unit, intercept=True)
    assert np.allclose(scaled.vectors * units / unit, plain.vectors, rtol=1e-3, atol=1e-4)
    assert np.allclose(scaled.intercept / unit, plain.intercept, rtol=1e-4)


def test_an_intercept_is_found_wherever_the_columns_lie():
    X, y, _ = mixed(500, level=(50.0, 40.0))
    shift = np.array([100.0, -7, 0, 3, 0, 1000])
    r = ms.fit(X + shift, y + 0.0, intercept=True)
    expected = np.array([50.0, 40.0]) - TRUTH @ shift
    assert within(r, TRUTH)
    assert (np.abs(r.intercept - expected) < 5 * r.intercept_stderr + 1e-6).all()
    # The intercept is far from the data, so that the slopes' errors dominate; at the data it is well known.
    at_centre = r.predict(shift).interval[0]
    assert (np.ptp(at_centre, axis=1) < 0.3).all()


def test_a_missing_intercept_is_told():
    X, y, _ = mixed(400, level=(5.0, 5.0))
    r = ms.fit(X, y, models=2)
    assert r.status == "uncertain"
    assert any("give intercept=True" in text for text in r.diagnostics["warnings"])


def test_a_missing_intercept_is_told_where_a_column_is_far_from_zero():
    # The column takes the constants up: the residuals are 0 on average, and its coefficient is wrong.
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(50, 10, 400), rng.standard_normal((400, 3))])
    model = rng.integers(0, 2, 400)
    slopes, constants = np.array([[0.0, 1.0, 0.0, 2.0], [0.1, 0.0, -1.0, 0.0]]), np.array([-1.0, 2.0])
    y = (X * slopes[model]).sum(axis=1) + constants[model] + 0.3 * rng.standard_normal(400)
    without, with_it = ms.fit(X, y, seed=0), ms.fit(X, y, intercept=True, seed=0)
    assert without.status == "uncertain"
    assert any("give intercept=True" in text for text in without.diagnostics["warnings"])
    assert not with_it.diagnostics["warnings"]
    no_constant = (X * slopes[model]).sum(axis=1) + 0.3 * rng.standard_normal(400)
    assert not ms.fit(X, no_constant, seed=0).diagnostics["warnings"]


def along_a_chain(seed, models, N, rho=0.99):
    """Six columns, of which each is nearly the one before; answers of models with all of them."""
    rng = np.random.default_rng([seed, 55])
    X = rng.standard_normal((N, 6))
    for j in range(1, 6):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta, own = 1.5 * rng.standard_normal((models, 6)), rng.integers(models, size=N)
    return X, (X * beta[own]).sum(axis=1) + 0.3 * rng.standard_normal(N), beta, own


def test_columns_that_are_nearly_the_same_are_one_model_and_as_right_as_least_squares():
    """3 of these 6 were two or three models, and all others off by up to 4: one of two such columns took both."""
    for seed in range(6):
        X, y, beta, _ = along_a_chain(seed, 1, 300)
        r = ms.fit(X, y, seed=seed)
        least = np.linalg.norm(np.linalg.lstsq(X, y, rcond=None)[0] - beta)
        assert r.status == "single"
        assert ms.match_error(r.vectors, beta) < 1.2 * least + 0.05


def test_two_models_of_columns_that_are_nearly_the_same_are_found():
    """Of these, with 0.99, 3 of 6 were three models, and one was off by 2.6."""
    right = 0
    for seed in range(6):
        X, y, beta, own = along_a_chain(seed, 2, 600)
        r = ms.fit(X, y, seed=seed)
        least = [np.linalg.norm(np.linalg.lstsq(X[own == a], y[own == a], rcond=None)[0] - beta[a]) for a in (0, 1)]
        right += len(r.vectors) == 2 and ms.match_error(r.vectors, beta) < 1.5 * max(least) + 0.05
    assert right >= 4


def test_one_model_is_single():
    X, y, _ = mixed(300, shares=(1.0, 0.0))
    r = ms.fit(X, y)
    assert (r.status, r.vectors.shape) == ("single", (1, 6))
    assert within(r, TRUTH[:1])
    pair = ms.fit(X, y, models=2)
    assert pair.status == "single"
    assert np.array_equal(pair.vectors[0], pair.vectors[1])


def test_answers_of_a_group_label_each_other():
    """At a distance of 1 σ single answers hardly label themselves; ten of a group do."""
    truth = np.array([[1.0, 0, 0, 0, 0], [0.0, 0.7, 0, 0, 0]])
    X, y, z = mixed(800, truth, sigma=1.0, shares=(0.5, 0.5), seed=3, per_group=10)
    people = np.arange(800) // 10
    r = ms.fit(X, y, groups=people)
    assert len(r.vectors) == 2
    assert r.diagnostics["groups"] == 80
    # 400 answers each: standard errors of 0.05, and five of them for the worst of ten.
    assert np.abs(r.vectors[np.argsort(-r.vectors[:, 0])] - truth).max() < 0.25
    # The share's error counts people: √(0.25/80) = 0.056.
    assert 0.05 < r.weights_stderr[0] < 0.075
    own = r.responsibilities(X, y, groups=people).argmax(axis=1)
    agree = (own == z).mean()
    assert max(agree, 1 - agree) > 0.9


def test_a_number_of_models_insists():
    """At 0.5 σ one model is cheaper; but two were asked for, and come nearer to the truth than one can: 0.25."""
    truth = ms.random_models(2, 30, 4, 0.5, seed=[2, 0])
    X, y, _ = mixed(1000, truth, sigma=1.0, shares=(0.5, 0.5), seed=2, per_group=20)
    people = np.arange(1000) // 20
    r = ms.fit(X, y, groups=people, models=2)
    assert r.diagnostics["evidence"] < 0
    assert ms.match_error(r.vectors, truth) < 0.25
    assert r.status == "uncertain"
    assert any("2 models were asked for" in text for text in r.diagnostics["warnings"])


@pytest.mark.parametrize("size", [1e38, 1e-38])
def test_numbers_of_any_usable_size_are_fitted(size):
    """Nothing warns, which would be an error here."""
    X, y, _ = mixed(120)
    assert np.abs(ms.fit(X, size * y, intercept=True).vectors / size).max() == pytest.approx(3, abs=0.3)
    X[-1, 0], y[-1] = 1e38, 1e39  # as a broken sensor writes them
    assert ms.fit(X, y, intercept=True).queries == 120


@pytest.mark.parametrize("size", [1e41, 1e100, 1e308, 1e-41, 1e-300])
def test_numbers_beyond_all_use_are_one_line(size):
    X, y, _ = mixed(120)
    for column in (0, 1):
        wrong = X.copy()
        wrong[:, column] *= size / np.abs(X[:, column]).max()
        with pytest.raises(ms.InvalidInput, match=f"column {column} of X has .*, and its largest number must be"):
            ms.fit(wrong, y)
    with pytest.raises(ms.InvalidInput, match=r"y has .*: give it in other units"):
        ms.fit(X, y / np.abs(y).max() * size)


@pytest.mark.parametrize("label", ["", " ", None, np.nan])
def test_strangers_without_a_label_are_not_one_group(label):
    X, y, _ = mixed(120)
    r, alone = ms.fit(X, y, groups=[label] * 120), ms.fit(X, y)
    assert len(alone.vectors) == 2
    assert np.array_equal(r.vectors, alone.vectors)


def test_each_model_has_its_own_noise_if_the_answers_ask_for_it():
    X, y, _ = mixed(800, sigma=(0.2, 1.0))
    r = ms.fit(X, y)
    assert np.shape(r.sigma) == (2,)
    assert r.sigma == pytest.approx([0.2, 1.0], rel=0.25)
    alike = ms.fit(*mixed(800)[:2])
    assert np.ndim(alike.sigma) == 0
    assert r.diagnostics["own_noise"] > tuning.OWN_NOISE_ESTABLISHED > alike.diagnostics["own_noise"]


def test_a_given_noise_and_given_shares_are_kept():
    X, y, _ = mixed(300)
    r = ms.fit(X, y, sigma=0.5, weights=(0.6, 0.4))
    assert r.sigma == 0.5
    assert r.weights.tolist() == [0.6, 0.4]
    assert r.weights_stderr is None


# The state that data are in


def test_names_of_a_data_frame_are_kept():
    X, y, _ = mixed(200)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    r = ms.fit(frame, pd.Series(y), groups=pd.Series(range(200)))
    assert r.names == tuple("abcdef")
    assert "a " in r.summary()
    assert ms.fit(frame, y, features=list("uvwxyz")).names == tuple("uvwxyz")
    assert np.allclose(r.vectors, ms.fit(X, y).vectors)


def test_rows_with_a_missing_value_are_left_out_and_counted():
    X, y, _ = mixed(300)
    rest = ms.fit(X[20:], y[20:])
    X[:10, 2], y[10:20] = np.nan, np.nan
    r = ms.fit(X, y)
    assert np.array_equal(r.vectors, rest.vectors)
    assert r.queries == 280
    note = "20 of 300 rows have a missing value and were left out"
    assert r.diagnostics["notes"] == [note]
    assert f"note: {note}" in r.summary()
    assert r.status == "budget"


def test_too_many_missing_values_are_one_line():
    X, y, _ = mixed(300)
    X[:200, 2] = np.nan
    with pytest.raises(ms.InvalidInput, match="200 of 300 rows have a missing value"):
        ms.fit(X, y)


def test_constant_columns_have_no_coefficient_beside_an_intercept():
    X, y, _ = mixed(300, level=(4.0, 4.0))
    X[:, 2] = 7.0
    r = ms.fit(X, y, intercept=True)
    assert (r.vectors[:, 2] == 0).all()
    assert np.isnan(r.stderr[:, 2]).all()
    assert r.diagnostics["notes"] == ["columns that are constant have no coefficient of their own: 2"]
    assert r.status == "budget"
    assert np.isfinite(r.predict(X[0]).interval).all()


def test_constant_columns_have_no_place_in_pictures_and_counts():
    import matplotlib.pyplot as plt

    X, y, _ = mixed(300, level=(4.0, 4.0))
    X[:, 2] = 7.0
    r = ms.fit(X, y, intercept=True, features=list("abcdef"))
    assert r.diagnostics["constant_columns"] == [2]
    listed = len(r.summary().split("(intercept)")[0].splitlines()) - 2
    assert f"({5 - listed} coefficient" in r.summary()
    axes = r.plot(np.ones((len(r.vectors), 6)))  # no warning: all of them are errors here
    assert [label.get_text() for label in axes.get_xticklabels()] == list("abdef")
    assert len(ms.Recovery.from_json(r.to_json()).plot().get_xticklabels()) == 5
    assert ms.fit(X, y, intercept=True).plot().get_xlim() == (-1, 6)  # positions stay what they are
    nothing = ms.Recovery([[0.0]], "single", names=["a"], diagnostics={"constant_columns": [0], "half_ranges": [0.0]})
    assert nothing.plot().get_xlim() == (-1, 1)
    plt.close("all")


def test_a_constant_column_is_an_intercept_where_there_is_none():
    X, y, _ = mixed(300, level=(14.0, 14.0))
    X[:, 2] = 7.0
    r = ms.fit(X, y)
    assert r.vectors[:, 2] * 7 == pytest.approx([14, 14], abs=0.3)


def test_nothing_to_depend_on_is_one_line():
    with pytest.raises(ms.InvalidInput, match="every column of X is 0"):
        ms.fit(np.zeros((5, 2)), np.arange(5.0))


@pytest.mark.parametrize("intercept", [False, True])
def test_columns_that_depend_on_each_other_are_named(intercept):
    X, y, _ = mixed(400)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["twice"] = 2 * frame["a"]
    r = ms.fit(frame, y, intercept=intercept)
    assert r.status == "uncertain"
    (warning,) = r.diagnostics["warnings"]
    assert "the columns 'a', 'twice' depend on each other" in warning
    # What cannot be told is which of them: the predictions are right.
    own = r.vectors[:, 0] + 2 * r.vectors[:, 6]
    assert own == pytest.approx(TRUTH[:, 0], abs=0.3)


def test_fewer_rows_than_columns_are_enough_for_sparse_models():
    truth = np.zeros((2, 200))
    truth[0, [3, 50]], truth[1, [7, 120]] = [5.0, -4.0], [4.0, 5.0]
    X, y, _ = mixed(150, truth, sigma=0.3, shares=(0.5, 0.5), seed=4)
    r = ms.fit(X, y)
    assert ms.match_error(r.vectors, truth) < 0.3


def test_a_handful_of_rows_decides_nothing():
    X, y, _ = mixed(12)
    r = ms.fit(X, y)
    assert r.status == "uncertain"
    assert any("the answers do not decide" in text or "hardly better" in text for text in r.diagnostics["warnings"])


def test_answers_that_bend_are_uncertain():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((2000, 3))
    y = X[:, 0] + 0.8 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(2000)
    r = ms.fit(X, y, models=1)
    assert r.status == "uncertain"
    assert any("misfit" in text for text in r.diagnostics["warnings"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1.0, 2.0]}, "y has shape"),
        ({"models": 9}, "models is 9"),
        ({"sigma": 0.0}, "sigma is 0; it must be above 0"),
        ({"weights": [0.5, 0.6]}, "weights sum to"),
        ({"intercept": "yes"}, "intercept is 'yes'"),
        ({"features": ["a"]}, "1 features for n = 6"),
        ({"groups": [1, 2]}, "groups has 2 labels for 50 rows"),
        ({"seed": -1}, "seed is -1"),
        ({"X": np.zeros((1, 6)), "y": [1.0]}, "there is 1 sample"),
    ],
)
def test_a_mistake_is_one_line(change, message):
    X, y, _ = mixed(50)
    with pytest.raises(ms.InvalidInput, match=message) as caught:
        ms.fit(**({"X": X, "y": y} | change))
    assert "\n" not in str(caught.value)


def test_a_large_table_is_sampled_first_and_then_used_up(monkeypatch):
    monkeypatch.setattr(tuning, "SAMPLE_ENTRIES", 3_000)
    monkeypatch.setattr(tuning, "LEAST_SAMPLE", 300)
    X, y, _ = mixed(4000)
    r = ms.fit(X, y)
    assert r.diagnostics["notes"] == ["how many models there are was decided on 500 rows, drawn at random"]
    # About 2,000 answers each: errors of 0.5/√2000 = 0.011, as all rows give and a sample of 500 does not.
    assert np.median(r.stderr) < 0.02
    assert within(r, TRUTH)
    by_person = ms.fit(X, y, groups=np.arange(4000) // 4)
    assert by_person.queries == 4000


def test_intervals_are_in_the_users_units_and_hold_the_truth():
    X, y, _ = mixed(600, level=(3.0, 3.0))
    units = np.array([100.0, 1, 0.01, 1, 5, 1])
    r = ms.fit(X * units, y, intercept=True)
    low, high = np.moveaxis(r.interval, -1, 0)
    inside = (low <= TRUTH / units) & (TRUTH / units <= high)
    assert inside.sum() >= 9  # of 12; chance has fewer once in 10,000
    assert np.allclose((high - low)[:, 0] / (high - low)[:, 1], 0.01, rtol=0.5)
    frame = r.to_frame()
    assert frame.low[0] == pytest.approx(low[0, 0])
    X[:, 2] = 1.0
    assert np.isinf(ms.fit(X, y, intercept=True).interval[:, 2]).all()


def test_ratings_are_fitted_on_their_scale():
    truth = np.array([[1.5, 0, 0], [0, -1.5, 0]])
    X, y, _ = mixed(900, truth, sigma=0.7, shares=(0.5, 0.5), seed=2, level=(4.0, 4.0))
    rated = np.clip(np.round(y), 1, 7)
    r = ms.fit(X, rated, scale=ms.Rating(1, 7), intercept=True, models=2)
    assert ms.match_error(r.vectors, truth) < 0.25  # standard errors of 0.7/√450 = 0.033 and what rounding adds
    assert r.scale == ms.Rating(1, 7)
    with pytest.raises(ms.InvalidInput):
        ms.fit(X, y, scale=ms.Rating(1, 7))


def test_dense_models_are_not_shrunk():
    """Where nearly all coefficients are in, each model is least squares of its own answers: these label themselves."""
    truth = np.array([[30.0, 20, -30, 20], [-30.0, 20, 30, -20]])
    X, y, z = mixed(400, truth, sigma=0.5)
    r = ms.fit(X, y)
    # Few answers lie where the models meet: hundredths of a standard error, 0.5/√160 = 0.04.
    for a in range(2):
        tagged = np.linalg.lstsq(X[z == a], y[z == a], rcond=None)[0]
        assert np.abs(r.vectors[a] - tagged).max() < 0.01


def test_columns_are_scaled_and_brought_back():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3)) * [1, 100, 0.01] + [0, 5, -1]
    columns, constant = columns_of(X, None, True)
    rows = columns.rows(X)
    assert np.allclose(rows[:, 1:].mean(axis=0), 0)
    assert np.allclose(rows[:, 1:].std(axis=0), 1)
    assert not constant.any()
    beta = rng.standard_normal((2, 4))
    vectors, intercept = columns.vectors(beta)
    assert np.allclose(rows @ beta.T, X @ vectors.T + intercept)
    C = columns.covariance(np.eye(4))
    x = np.append(X[0], 1.0)
    assert x @ C @ x == pytest.approx(rows[0] @ rows[0])


def test_dependence_needs_as_many_rows_as_columns():
    assert dependent(np.ones((2, 3))) == []
    assert dependent(np.random.default_rng(0).standard_normal((50, 3))) == []


def answers_of_people(seed, own_level=0.0, own_slope=0.0):
    """800 answers of 100 people of two kinds, who may have a level or a slope of their own."""
    rng = np.random.default_rng([seed, 5])
    person = np.repeat(np.arange(100), 8)
    kind = rng.integers(2, size=100)[person]
    X = rng.uniform(-1, 1, (800, 5))
    beta = np.array([[2.0, 0.5, 0.0, -0.3, 0.0], [0.0, 1.7, 0.0, 0.5, 1.0]])
    y = 1 + (X * beta[kind]).sum(axis=1) + 0.7 * rng.standard_normal(800) + own_level * rng.standard_normal(100)[person]
    return X, y + own_slope * X[:, 2] * rng.standard_normal(100)[person], person


def test_people_who_share_a_model_and_differ_are_seen():
    """A level of 0.7, as large as the noise, is 28 pairs of answers a person with a correlation of 1/2: 26 errors."""
    for given, name in (({"own_level": 0.7}, "own levels"), ({"own_slope": 1.4}, "own coefficients")):
        X, y, person = answers_of_people(1, **given)
        r = ms.fit(X, y, groups=person, intercept=True, models=2)
        assert r.status == "uncertain"
        assert any(name in each for each in r.diagnostics["warnings"]), r.diagnostics["warnings"]


def test_people_who_are_alike_raise_no_alarm():
    """Two checks at 0.0015: of six tables one fails with probability 2 %."""
    for seed in range(6):
        X, y, person = answers_of_people(seed)
        assert ms.fit(X, y, groups=person, intercept=True).status == "budget"


def test_four_models_with_unequal_shares_are_counted():
    """Two models that stand for four are a place from which three are not found: each number has its own search."""
    rng = np.random.default_rng(0)
    truth = ms.random_models(4, 50, 5, 5.0, seed=0)
    X, own = rng.standard_normal((1200, 50)), rng.choice(4, 1200, p=(0.4, 0.3, 0.2, 0.1))
    r = ms.fit(X, np.einsum("ij,ij->i", X, truth[own]) + 0.01 * rng.standard_normal(1200))
    assert len(r.vectors) == 4
    assert ms.match_error(r.vectors, truth) < 0.01


def test_ratings_taken_for_numbers_are_told_of():
    rng, truth = np.random.default_rng(3), ms.random_pair(4, 3, 3.0, seed=3)
    X = rng.uniform(-1, 1, (500, 4))
    y = np.rint(4 + (X * truth[rng.integers(2, size=500)]).sum(axis=1) + 0.8 * rng.standard_normal(500))
    given = {"intercept": True, "models": 2, "seed": 1}
    told = "of the answers are at one end: if they are ratings, give scale=ms.Rating(2, 6, 1)"
    assert told in " ".join(ms.fit(X, np.clip(y, 2, 6), **given).diagnostics["notes"])
    for other in (ms.fit(X, np.clip(y, 2, 6), scale=ms.Rating(2, 6), **given), ms.fit(X, y, **given)):
        assert "at one end" not in " ".join(other.diagnostics["notes"])


def with_lapses(seed=1, share=0.1, rows=300):
    """Two models with a tenth of their answers from anywhere; returns which ones."""
    rng, truth = np.random.default_rng(seed), ms.random_pair(6, 3, 4.0, seed=seed)
    X = rng.standard_normal((rows, 6))
    y = (X * truth[rng.integers(2, size=rows)]).sum(axis=1) + 0.5 * rng.standard_normal(rows)
    bad = rng.random(rows) < share
    return truth, X, np.where(bad, rng.uniform(y.min(), y.max(), rows), y), bad


def test_lapses_are_estimated_and_each_answer_has_its_probability():
    truth, X, y, bad = with_lapses()
    r = ms.fit(X, y, models=2, lapses=True, seed=1)
    assert ms.match_error(r.vectors, truth) < 0.3
    assert abs(r.diagnostics["lapses"] - bad.mean()) < 3 * np.sqrt(0.1 * 0.9 / 300)  # three standard errors of a share
    probability = r.lapses(X, y)
    assert probability.mean() == pytest.approx(r.diagnostics["lapses"], abs=0.01)  # EM has settled
    assert probability[bad].mean() > 10 * probability[~bad].mean()
    far = r.responsibilities(X[:1], [1e3])
    np.testing.assert_allclose(far, r.weights[None])  # a lapse tells nothing of its model
    again = ms.Recovery.from_json(r.to_json())
    np.testing.assert_array_equal(again.lapses(X, y), probability)


def test_lapses_do_not_speak_against_the_models():
    """Held against Gaussian noise alone, a quarter of a thousand lapses do: p = 6e-4, "skewed"."""
    truth, X, y, _ = with_lapses(rows=2500)
    r = ms.fit(X, y, models=2, lapses=True, seed=1)
    assert (r.status, r.diagnostics["warnings"]) == ("budget", [])
    assert ms.match_error(r.vectors, truth) < 0.15


def test_lapses_that_were_not_asked_for_are_told_of():
    _, X, y, _ = with_lapses(seed=2)
    r = ms.fit(X, y, models=2, seed=1)
    assert not r.lapses(X, y).any()
    assert any("may come from anywhere" in note and "give lapses=True" in note for note in r.diagnostics["notes"])


def test_lapses_are_not_found_where_there_are_none():
    truth, X, y, _ = with_lapses(share=0.0)
    r = ms.fit(X, y, lapses=True, seed=1)
    assert "lapses" not in r.diagnostics
    assert not r.diagnostics["notes"]
    assert ms.match_error(r.vectors, truth) < 0.3
    with pytest.raises(ms.InvalidInput, match=r"lapses is 0\.1: give True"):
        ms.fit(X, y, lapses=0.1)


@pytest.mark.parametrize(("X", "y"), [([[1, 2], [3, 4]], [1, 2]), (np.eye(2), [1, 5])])
def test_too_few_rows_are_said(X, y):
    r = ms.fit(X, y)
    assert r.status == "uncertain"
    assert any(f"{len(y)} rows for" in text for text in r.diagnostics["warnings"])


@pytest.mark.parametrize("sigma", [1e-300, 1e300])
def test_a_noise_far_from_the_answers_is_one_line(sigma):
    X, y, _ = mixed(120)
    with pytest.raises(ms.InvalidInput, match=r"sigma is 1e[-+]300, and the answers are of the size of .*same unit"):
        ms.fit(X, y, sigma=sigma)
