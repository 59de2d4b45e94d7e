"""Tables that users have: arrays and data frames become numbers with names, or one line says why not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mixsense as ms
from mixsense.frames import as_column, as_groups, as_rows, in_order


def test_a_data_frame_keeps_its_names_and_its_gaps():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": pd.array([True, None, False], dtype="boolean"), "c": [0.5, None, 1]})
    rows = as_rows("X", frame)
    assert rows.names == ("a", "b", "c")
    assert np.array_equal(rows.values, [[1, 1, 0.5], [2, np.nan, np.nan], [3, 0, 1]], equal_nan=True)


def test_nullable_integers_are_numbers():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})
    assert np.array_equal(as_rows("X", frame).values, [[1], [np.nan]], equal_nan=True)


def test_what_are_floats_already_is_not_copied():
    X = np.eye(2)
    assert np.shares_memory(as_rows("X", X).values, X)
    before = X.copy()
    ms.fit(np.vstack([X, X, X]), np.arange(6.0), intercept=True)
    assert np.array_equal(X, before)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 2, 2)), r"X has shape \(2, 2, 2\): give one row an answer"),
        (np.zeros((2, 0)), "give one row an answer"),
        ([["a", "b"]], "X must be real numbers"),
        ([[1, 2], [3]], "give one row an answer"),
        ([[1.0, np.inf]], r"X\[0, 1\] is infinite"),
        (pd.DataFrame({"a": [1.0, np.inf]}), r"X\[1, 0\] is infinite"),
        (pd.DataFrame({"tea": ["green", "black"]}), "column 'tea' holds other things than numbers"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), "column 'day' holds other things than numbers"),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), "X has two columns 'a'"),
        (pd.DataFrame(index=[0, 1]), "X has no columns"),
    ],
)
def test_what_is_no_table_is_one_line(X, message):
    with pytest.raises(ms.InvalidInput, match=message) as caught:
        as_rows("X", X)
    assert "\n" not in str(caught.value)


def test_a_column_may_be_a_series_a_list_or_a_thin_array():
    for y in (pd.Series([1, 2]), [1, 2], np.array([[1], [2]]), pd.DataFrame({"y": [1, 2]})):
        assert as_column("y", y, 2).tolist() == [1, 2]


def test_groups_are_labels_of_any_kind_and_nobody_shares_a_missing_one():
    labels = ["ann", 3, "ann", None, np.nan, (1, 2), 3, None]
    assert as_groups(labels, 8).tolist() == [0, 1, 0, 2, 3, 4, 1, 5]
    assert as_groups(pd.Series(["b", "a", "b"]), 3).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "label", [None, "", "  ", "NA", "None", b"", np.nan, np.str_("nan"), np.datetime64("NaT"), pd.NA, pd.NaT]
)
def test_what_is_missing_names_no_group(label):
    assert as_groups([label, "ann", label, "ann"], 4).tolist() == [0, 1, 2, 1]
    assert as_groups(np.array([label, "ann", label], dtype=object), 3).tolist() == [0, 1, 2]


def test_what_is_small_names_a_group():
    assert as_groups([0, False, "0", b"0", "x", 0], 6).tolist() == [0, 0, 1, 2, 3, 0]


@pytest.mark.parametrize("groups", [5, [[1], [2]], ["a"]])
def test_what_are_no_groups_is_one_line(groups):
    with pytest.raises(ms.InvalidInput, match="groups"):
        as_groups(groups, 2)


def test_columns_are_found_by_their_names():
    frame = pd.DataFrame({"b": [1.0], "extra": [9.0], "a": [2.0]})
    assert in_order("x", frame, ("a", "b"), 2).tolist() == [[2, 1]]
    with pytest.raises(ms.InvalidInput, match="x has no column 'c'"):
        in_order("x", frame, ("a", "c"), 2)
    with pytest.raises(ms.InvalidInput, match="x has 3 columns, the models have 2"):
        in_order("x", frame, None, 2)
    with pytest.raises(ms.InvalidInput, match=r"x\[0, 1\] is nan"):
        in_order("x", [1.0, np.nan], None, 2)
