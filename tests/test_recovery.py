"""The result object: text, HTML, JSON, picture."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixsense as ms
from mixsense.recovery.digits import in_digits
from mixsense.recovery.tables import MOST_COEFFICIENTS, as_table, as_text

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
        "uncertain: finished, but not to be relied on; a warning says why; 1,234 answers, error at most 0.25"
    )
    assert "sugar  " in text
    assert "+1.50 ± 0.12" in text
    assert text.splitlines()[-1] == "warning: <odd> answers"
    assert str(FULL) == FULL.summary()


# What is listed, and with how many digits


def test_what_is_far_from_0_is_listed_whatever_its_unit():
    # A price in cents beside a rating: 21 standard errors from 0, and a thousandth of the largest coefficient.
    vectors = np.array([[0.021, 20.0, 0.5], [0.0, -15.0, 0.1]])
    stderr = np.array([[0.001, 2.0, 1.0], [0.001, 2.0, 1.0]])
    r = ms.Recovery(vectors, "certified", stderr=stderr, names=("price", "taste", "time"))
    assert "+0.0210 ± 0.0010" in r.summary()
    assert "+0.0210 ± 0.0010" in r._repr_html_()
    assert "time" not in r.summary()
    for page in (r.summary(), r._repr_html_()):
        assert "(1 coefficient within 1 standard error of 0 is not shown)" in page


@given(st.integers(0, 10_000))
def test_nothing_three_standard_errors_from_0_is_hidden(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3 * MOST_COEFFICIENTS))
    units = 10.0 ** rng.uniform(-9, 9, n)
    z = rng.standard_normal((2, n)) * 10.0 ** rng.uniform(-3, 3, n)
    names = [f"<{j}>" for j in range(n)]
    text = ms.Recovery(z * units, "open", stderr=np.tile(units, (2, 1))).summary(names)
    for name, far in zip(names, np.abs(z).max(axis=0) >= 3, strict=True):
        assert name in text or not far
    listed = sum(name in text for name in names)
    assert listed == n or f"({n - listed} coefficient" in text


def test_the_least_certain_ones_are_left_out_and_counted():
    vectors = np.linspace(1, 2, 80).reshape(2, 40)
    stderr = np.ones((2, 40))
    stderr[:, :5] = 0.01  # small ones, and the most certain
    text = ms.Recovery(vectors, "certified", stderr=stderr).summary()
    listed = [line.split()[0] for line in text.splitlines()[2:-1]]
    assert listed == [*map(str, range(5)), *map(str, range(20, 40))]
    assert text.splitlines()[-1] == "(15 coefficients within 3 standard errors of 0 are not shown)"


@pytest.mark.parametrize("stderr", [None, np.full((2, 40), 0.1)], ids=["without errors", "with errors"])
def test_no_table_is_too_short_for_what_is_clearly_not_0(stderr):
    vectors = np.linspace(1, 2, 80).reshape(2, 40)
    text = ms.Recovery(vectors, "certified", stderr=stderr).summary()
    assert [line.split()[0] for line in text.splitlines()[2:42]] == [*map(str, range(40))]
    assert "not shown" not in text


def test_without_standard_errors_what_is_hidden_is_counted():
    text = ms.Recovery(np.array([[100.0, 0.5, 0.2, 0.0, 1e-12], [0.0, 0.0, 0.0, 0.0, 0.0]]), "certified").summary()
    assert "(4 coefficients below 1 % of the largest are not shown)" in text
    exact = ms.Recovery(np.array([[100.0, 0.0, 1e-12], [0.0, 0.0, 0.0]]), "certified").summary()
    assert "not shown" not in exact  # all others are 0, but for what rounding leaves
    small = ms.Recovery(np.array([[100.0, 0.5, 1e-12, 0.0]]), "certified", error_bound=0.0).summary()
    assert "+0.5" in small  # where vectors are exact nothing is too small to be one
    assert "not shown" not in small


def test_a_method_without_standard_errors_says_so():
    note = "(no ±: this method gives no standard errors)"
    assert note in ms.Recovery(VECTORS, "budget", sigma=1.0).summary()
    assert note in ms.Recovery(VECTORS, "budget").summary()  # of a method of one's own that does not tell the noise
    assert note not in ms.Recovery(VECTORS, "budget", sigma=1.0, stderr=np.ones((2, 3))).summary()
    assert note not in ms.Recovery(VECTORS, "certified", sigma=0.0).summary()


def test_a_fit_has_used_all_data_where_others_have_spent_a_budget():
    spent, fitted = (ms.Recovery(VECTORS, "budget", 9, diagnostics={"method": name}) for name in ("frugal", "fit"))
    assert spent.summary().startswith("budget: there are no more answers; the best estimate so far; 9 answers")
    assert fitted.summary().startswith("budget: all data were used; the best estimate; 9 answers")


def test_a_column_says_what_the_second_model_has_more():
    vectors, stderr = np.array([[1.0, 2.0, 0.0], [1.0, 5.0, 0.0]]), np.full((2, 3), 0.3)
    r = ms.Recovery(vectors, "certified", stderr=stderr, intercept=[1.0, 0.5], intercept_stderr=[0.3, 0.4])
    _, title, first, second, level = as_text(as_table(r, difference=True)).splitlines()
    assert title.endswith("difference, 2 − 1")
    assert first.split()[-1] == "·"
    assert second.endswith("+3.00 ± 0.42")  # √2 · 0.3
    assert level.endswith("-0.50 ± 0.50")
    assert "difference" not in r.summary()
    assert "difference" not in as_text(as_table(replace(r, status="single"), difference=True))


def test_collinear_columns_are_listed_and_say_so():
    vectors, stderr = np.array([[1.0, 2.0, 7.0], [1.0, 2.0, 8.0]]), np.array([[1e4, 2e4, 0.1]] * 2)
    r = ms.Recovery(vectors, "uncertain", stderr=stderr, diagnostics={"collinear": [0, 1]}, names=("a", "b", "c"))
    lines = as_text(as_table(r, difference=True)).splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [["a", "(collinear)"], ["b", "(collinear)"]]
    assert lines[2].split()[2:] == ["?", "?", "?"]
    assert len(lines) == 5


DIGITS = [
    (-2.60971, 0.01894, "-2.610 ± 0.019"),
    (0.0203, 0.0000412, "+0.020300 ± 0.000041"),
    (0.02, 0.000961, "+0.02000 ± 0.00096"),
    (3.0, 0.0996, "+3.00 ± 0.10"),
    (0.99, 9.96, "+1 ± 10"),
    (12345.6, 137.0, "+12350 ± 140"),
    (250_000.0, 3000.0, "+250000 ± 3000"),
    (1.23456789e9, 1.2e5, "+1.23457e+09 ± 0.00012e+09"),
    (-2.13e-9, 1e-10, "-2.13e-09 ± 0.10e-09"),
    (-0.0001, 0.12, "+0.00 ± 0.12"),
    (1e9, 3.0, "+1.0000000e+09 ± 3.0e+00"),
    (1.0, 1e-150, "+1.0000000 ± 1.0e-150"),
    (5e-324, 5e-324, "+4.9e-324 ± 4.9e-324"),
    (1e308, 1e307, "+1.00e+308 ± 0.10e+308"),
    (1.0, 0.0, "+1.000 ± 0"),
    (1.0, math.inf, "+1.000 ± inf"),
    (0.25, math.nan, "+0.2500"),
    (1234.0, math.nan, "+1234"),
    (1.5e-7, math.nan, "+1.500e-07"),
]


@pytest.mark.parametrize(("value", "error", "text"), DIGITS, ids=[text for *_, text in DIGITS])
def test_digits_follow_the_standard_error(value, error, text):
    assert str(in_digits(value, error)) == text


@given(st.floats(-9e3, 9e3), st.floats(1e-2, 1e3))  # up to eight digits
def test_what_is_printed_is_the_number_to_a_tenth_of_its_error(value, error):
    number = in_digits(value, error)
    assert float(number.value) == pytest.approx(value, abs=0.051 * error)
    assert float(number.error) == pytest.approx(error, rel=0.051)


def test_columns_are_aligned_for_wide_letters_too():
    r = ms.Recovery(
        np.array([[1.0, 20.0, -0.003]] * 2),
        "open",
        stderr=np.array([[0.1, 2.0, 0.0001]] * 2),
        names=("価格", "e\u0301", "b"),
    )
    _, head, wide, accent, plain = r.summary().splitlines()
    assert wide.index("±") + 2 == accent.index("±") - 1 == plain.index("±")  # two letters of two columns; one of none
    assert wide.index(".") + 2 == plain.index(".")
    assert head.endswith("vector 2")


def test_as_many_columns_as_vectors():
    three = ms.Recovery(np.eye(3), "budget", weights=[0.5, 0.3, 0.2])
    assert three.summary().splitlines()[0].endswith("shares 0.50, 0.30 and 0.20")
    assert three.summary().splitlines()[1].split() == "coefficient vector 1 vector 2 vector 3".split()
    assert three.plot().figure.axes[2].get_title() == "recovered: vector 3, share 0.20"
    assert three._repr_html_().count("<th>") == 4
    assert ms.Recovery(np.ones((1, 2)), "single").summary().splitlines()[1].split() == ["coefficient", "vector", "1"]


@pytest.mark.parametrize(
    ("stderr", "text"),
    [
        ([0.02, 0.02, 0.012], "shares 0.52 ± 0.02, 0.30 ± 0.02 and 0.18 ± 0.01"),
        ([0.002, 0.0021, 0.0016], "shares 0.520 ± 0.002, 0.300 ± 0.002 and 0.180 ± 0.002"),
        ([1e-9, 0.0, 0.2], "shares 0.5200 ± 0.0000, 0.3000 ± 0.0000 and 0.1800 ± 0.2000"),
        ([math.nan, math.inf, 0.03], "shares 0.52, 0.30 and 0.18 ± 0.03"),
        (None, "shares 0.52, 0.30 and 0.18"),
    ],
)
def test_shares_are_told_with_their_errors(stderr, text):
    r = ms.Recovery(np.eye(3), "certified", weights=[0.52, 0.3, 0.18], weights_stderr=stderr)
    assert r.summary().splitlines()[0].endswith(f"no error bound, {text}")
    assert text in r._repr_html_()
    assert ms.Recovery.from_json(r.to_json()) == r


def test_shares_that_tell_nothing_are_not_shown():
    one = ms.Recovery(np.ones((1, 3)), "single", weights_stderr=[0.0])
    rows = ms.Recovery(np.ones((3, 3)), "single")  # as many as were asked for, all equal
    known = ms.Recovery(np.eye(3), "certified")  # equal, and not estimated
    for r in (one, rows, known):
        assert "share" not in r.summary()
    found = ms.Recovery(np.eye(2), "certified", weights=[0.5, 0.5], weights_stderr=[0.01, 0.01])
    assert "shares 0.50 ± 0.01 and 0.50 ± 0.01" in found.summary()
    for r in (one, rows):
        assert "one vector only" in r.summary()


def test_a_table_without_rows_says_why():
    assert ms.Recovery(np.zeros((1, 3)), "single").summary().splitlines()[-1] == "(all coefficients are 0)"


def test_html_is_escaped():
    page = FULL._repr_html_()
    assert "&lt;odd&gt;" in page
    assert page.count("<tr>") == 4


def test_arrays_are_read_only_in_copies_too():
    full = ms.Recovery(VECTORS, "open", stderr=VECTORS**2, intercept=[1.0, 2.0], intercept_stderr=[1.0, 1.0])
    for r in (full, copy.deepcopy(full), pickle.loads(pickle.dumps(full)), ms.Recovery.from_json(full.to_json())):
        assert r == full
        for name in ("vectors", "weights", "stderr", "intercept", "intercept_stderr"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(r, name)[0] = 1.0


def test_repr_is_one_line():
    r = ms.Recovery(np.ones((2, 100)), "certified", 687, 0.1361)
    assert repr(r) == "<Recovery certified, 2 vectors of 100, 687 answers, error at most 0.136>"
    assert repr(ms.Recovery(np.ones((1, 3)), "open")) == "<Recovery open, 1 vector of 3, 0 answers, no error bound>"


# What a file may hold


def test_what_is_no_number_is_stored_as_null():
    odd = {"numpy": np.arange(2), "nan": math.nan, "pair": (np.float64(0.5), math.inf)}
    r = ms.Recovery(VECTORS, "open", error_bound=math.nan, stderr=np.full((2, 3), np.nan), diagnostics=odd)
    back = ms.Recovery.from_json(r.to_json())
    assert back == r
    assert back.error_bound == math.inf
    assert np.isnan(back.stderr).all()
    assert back.diagnostics == {"numpy": [0, 1], "nan": None, "pair": [0.5, None]}


def test_diagnostics_that_have_no_text_are_named():
    endless = {}
    endless["again"] = endless
    for diagnostics in ({"a": object()}, {"a": {(1, 2): 3}}, endless):
        with pytest.raises(ms.InvalidInput, match="cannot be stored as JSON") as caught:
            ms.Recovery(VECTORS, "open", diagnostics=diagnostics).to_json()
        assert str(caught.value).isprintable()


def test_control_characters_are_written_out():
    escape = "\x1b[31mred\x07\n\u202e\ud800"
    r = ms.Recovery(VECTORS, "open", names=(escape, "b", "c"), diagnostics={"warnings": [escape]})
    for page in (r.summary(), r.summary([escape, "b", "c"]), r._repr_html_()):
        assert page.replace("\n", "").isprintable()
        assert page.count(r"\x1b[31mred\x07\n\u202e\ud800") == 2
    assert ms.Recovery.from_json(r.to_json()).names[0] == escape
    assert list(ms.Recovery(np.eye(2), "open", names=("a\n", "\ud800")).to_frame().coefficient[:2]) == [
        "a\n",
        r"\ud800",
    ]


DEEP = "[" * 100_000
WRONG = [
    ({"vectors": [1, 2]}, "vectors holds 1 in the place of a list"),
    ({"vectors": [[[1]]]}, "vectors is [1]"),
    ({"vectors": [[1], [1, 2]]}, "vectors of equal length"),
    ({"vectors": []}, "it must be (L, n)"),
    ({"vectors": [[], []]}, "it must be (L, n)"),
    ({"vectors": [["1", 2, 3], [4, 5, 6]]}, "vectors is '1'"),
    ({"vectors": [[True, 2, 3], [4, 5, 6]]}, "vectors is True"),
    ({"vectors": [[None, 2, 3], [4, 5, 6]]}, "vectors is None"),
    ({"vectors": [[math.nan, 2, 3], [4, 5, 6]]}, "NaN is not a number"),
    ({"vectors": [[-math.inf, 2, 3], [4, 5, 6]]}, "-Infinity is not a number"),
    ({"vectors": [[10**400, 2, 3], [4, 5, 6]]}, "vectors is inf; it must be finite"),
    ({"weights": [0.2, 0.3, 0.5]}, "weights has shape (3,); it must be (2,)"),
    ({"weights": [-1, 2]}, "shares that sum to 1"),
    ({"weights": [0.5, 0.6]}, "shares that sum to 1"),
    ({"weights": None}, "weights holds None"),
    ({"stderr": [[1, 2, 3]]}, "stderr has shape (1, 3); it must be (2, 3)"),
    ({"stderr": [[-1, 2, 3], [4, 5, 6]]}, "stderr has a value below 0"),
    ({"stderr": "x"}, "stderr holds 'x'"),
    ({"status": 5}, "status is 5"),
    ({"status": ["open"]}, "status is ['open']"),
    ({"status": "\x1b[2J"}, r"status is '\x1b[2J'"),
    ({"queries": 1.5}, "queries is 1.5; it must be a whole number"),
    ({"queries": -1}, "queries is -1"),
    ({"queries": True}, "queries is True"),
    ({"queries": 10**400}, "it must be at most 1e+18"),
    ({"sigma": -1}, "sigma is -1"),
    ({"sigma": "\x1b"}, "it must be a real number"),
    ({"error_bound": -1}, "error_bound is -1"),
    ({"error_bound": "inf"}, "it must be a real number"),
    ({"diagnostics": [1]}, "diagnostics is [1]"),
    ({"diagnostics": None}, "diagnostics is None"),
    ({"diagnostics": {"a": math.nan}}, "NaN is not a number"),
    ({"diagnostics": {"warnings": "x"}}, "give a list of texts"),
    ({"diagnostics": {"warnings": [5]}}, "give a list of texts"),
    *(
        ({"diagnostics": {"collinear": value}}, f"diagnostics['collinear'] is {value!r}: give a list of positions")
        for value in ([99], [-1], "abc", 5, None, [[0]], [True], [1.0], {"0": 1}, [10**30])
    ),
    ({"names": ["a"]}, "1 names for 3 coefficients"),
    ({"names": "abc"}, "names is 'abc'"),
    ({"names": [1, 2, 3]}, "names is [1, 2, 3]"),
    ({"intercept": [1]}, "intercept has shape (1,); it must be (2,)"),
    ({"intercept": [None, 1]}, "intercept is None"),
    ({"intercept_stderr": 3}, "intercept_stderr holds 3"),
    ({"mixsense": True}, "its format is True"),
    ({"mixsense": "\x1b"}, r"its format is '\x1b'"),
    ({"mixsense": 2}, "this program reads format 1"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[f"{[*change]}-{text}" for change, text in WRONG])
def test_a_crooked_result_is_one_line(change, message):
    check_refused(json.dumps(json.loads(FULL.to_json()) | change), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DEEP, "maximum recursion depth"),
        (FULL.to_json().replace("[]", DEEP).replace("{", '{"a": ' + DEEP, 1), "maximum recursion depth"),
        (FULL.to_json().replace("1.5", "1e999"), "'1e999' is beyond all numbers"),
        (FULL.to_json().replace("1.5", "1" * 5000), "Exceeds the limit"),
        ("[]", "it is []"),
        (None, "not NoneType"),
        (b"\xff\xfe\x00", "codec can't decode"),
    ],
    ids=["deep", "deep inside", "1e999", "digits", "list", "None", "bytes"],
)
def test_what_is_no_result_is_one_line(text, message):
    check_refused(text, message)


def check_refused(text, message):
    with pytest.raises(ms.InvalidInput) as caught:
        ms.Recovery.from_json(text)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vectors": np.full((2, 3), np.nan)}, "vectors[0, 0] is nan"),
        ({"vectors": np.ones((3, 3)), "weights": [0.5, 0.5]}, "weights has shape (2,); it must be (3,)"),
        ({"stderr": np.ones(3)}, "stderr has shape (3,); it must be (2, 3)"),
        ({"names": ("a",)}, "1 names for 3 coefficients"),
        ({"sigma": math.inf}, "it must be finite"),
        ({"diagnostics": {1: 2}}, "give a dict with texts as keys"),
    ],
)
def test_a_method_of_the_users_own_is_told_what_is_wrong(change, message):
    with pytest.raises(ms.InvalidInput) as caught:
        ms.Recovery(**{"vectors": VECTORS, "status": "open"} | change)
    assert message in str(caught.value)


def test_shares_are_equal_if_left_out():
    assert ms.Recovery(np.eye(3), "open").weights.tolist() == [1 / 3] * 3


@pytest.mark.parametrize("names", ["abc", 3, ["a"]])
def test_names_for_a_summary_are_checked(names):
    with pytest.raises(ms.InvalidInput, match="names"):
        FULL.summary(names)


def test_pictures_show_truth_left_and_recovered_right():
    import matplotlib.pyplot as plt

    axes = FULL.plot(VECTORS[::-1])
    titles = [a.get_title() for a in axes.figure.axes]
    # Numbered as in the table, and the truth like what stands for it, whatever its order was.
    assert titles == ["truth: vector 1", "recovered: vector 1", "truth: vector 2", "recovered: vector 2"]
    assert len(FULL.plot().figure.axes) == 2
    three = ms.Recovery(np.eye(3), "budget")
    axes = three.plot(np.eye(3)[[1, 2, 0]])
    assert len(axes.figure.axes) == 6
    first = axes.figure.axes[:2]
    assert [a.get_title() for a in first] == ["truth: vector 1", "recovered: vector 1"]
    assert [a.lines[0].get_xdata().tolist() for a in first] == [[0], [0]]  # the third true vector is the first found
    with pytest.raises(ms.InvalidInput, match="they must be equal in length"):
        three.plot(np.ones((3, 2)))
    plt.close("all")


@pytest.mark.parametrize(
    ("found", "true", "titles"),
    [
        (1, 3, ["truth: vector 1", "truth: vector 2", "truth: vector 3", *["recovered: vector 1"] * 3]),
        (3, 2, ["truth: vector 1", "truth: vector 2", *(f"recovered: vector {i}" for i in (1, 2, 3))]),
        (2, 3, ["truth: vector 1", "truth: vector 2", "truth: vector 3", *(f"recovered: vector {i}" for i in (1, 2))]),
        (5, 5, [f"{name}: vector {i}" for name in ("truth", "recovered") for i in range(1, 6)]),
    ],
)
def test_a_picture_of_other_numbers_of_vectors(found, true, titles):
    import matplotlib.pyplot as plt

    last = ms.Recovery(np.eye(found, 6), "uncertain", stderr=np.ones((found, 6))).plot(np.eye(true, 6))
    shown = [axes.get_title() for axes in last.figure.axes if axes.get_visible()]
    assert sorted(shown) == sorted(titles)
    assert last.get_visible()
    assert last.get_xlabel() == "coefficient"
    plt.close("all")


def test_a_picture_says_what_it_does_not_show():
    import matplotlib.pyplot as plt

    vectors, stderr = np.array([[0.02, 30.0, 0.1, 0.0], [0.0] * 4]), np.array([[0.001, 2.0, 0.5, 1.0]] * 2)
    axes = ms.Recovery(vectors, "budget", 7, stderr=stderr, names=("a", "b", "c\x1b", "d")).plot().figure.axes[0]
    assert axes.lines[0].get_xdata().tolist() == [0, 1]
    title = axes.figure.get_suptitle()
    first, *rest = title.splitlines()
    assert first == "budget, 7 answers, no error bound; grey: 95 % intervals"
    assert rest == [
        "no stem: 2 coefficients within 1 standard error of 0",
        "1 too small to see on this scale: see the table",
    ]
    label = axes.figure.axes[1].get_xticklabels()[2]
    assert (label.get_text(), label.get_rotation()) == ("c\\x1b", 0)
    long = ms.Recovery(vectors, "budget", names=("a", "b", "c", "a name that is long")).plot()
    assert long.get_xticklabels()[0].get_rotation() == 90
    assert long.figure.get_suptitle().splitlines()[0] == "budget, 0 answers, no error bound"  # it has no intervals
    plt.close("all")


def test_features_of_all_units_compare_in_the_picture():
    half, middle = [5.0, 1000.0], [5.0, 3000.0]
    r = ms.Recovery(
        [[2.0, 0.001], [-1.0, 0.002]],
        "budget",
        stderr=np.full((2, 2), 1e-4),
        intercept=[1.0, 2.0],
        intercept_stderr=[0.1, 0.1],
        covariance=np.zeros((2, 3, 3)),
        diagnostics={"half_ranges": half, "middles": middle},
    )
    first = r.plot(r.vectors).figure.axes[1]
    assert any(list(line.get_ydata()) == [10.0, 1.0] for line in first.lines)
    assert first.get_title().endswith("level 14.00 ± 0")
    known = replace(r, covariance=np.full((2, 3, 3), 1e-9))
    assert known.plot(r.vectors).figure.axes[1].get_title().endswith("level 14.000 ± 0.095")
    assert r.plot().get_ylabel() == "effect of half\nof the range"
    assert ms.Recovery([[2.0, 0.001]], "budget").plot().get_ylabel() == "value"
