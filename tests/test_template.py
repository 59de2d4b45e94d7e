"""What is sent and what is read: bodies with placeholders, and the path of the number in the answer."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mixsense as ms
from mixsense.oracles.template import Answer, Body


@pytest.mark.parametrize(
    ("template", "features", "sent"),
    [
        ('{"x": "$x"}', None, {"x": [1.5, 2.0]}),
        ('"$x"', None, [1.5, 2.0]),
        ({"a": ["$x[1]", {"b": "$x[0]"}], "c": None}, None, {"a": [2.0, {"b": 1.5}], "c": None}),
        ({"in": "$features", "price": "$$5"}, ["milk", "sugar"], {"in": {"milk": 1.5, "sugar": 2.0}, "price": "$5"}),
        ({"m": "$features.milk", "s": "$features.sugar %"}, ["milk", "sugar %"], {"m": 1.5, "s": 2.0}),
    ],
)
def test_body_holds_the_query(template, features, sent):
    assert json.loads(Body(template, features).fill(np.array([1.5, 2.0]))) == sent


def test_negative_zero_and_exact_numbers():
    assert Body('["$x"]').fill(np.array([-0.0, 0.1 + 0.2])) == b"[[0.0, 0.30000000000000004]]"
    first, second = (json.loads(Body('["$x", "$id"]').fill(np.ones(1)))[1] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("template", "features", "words"),
    [
        ("{'x': 1}", None, "is not JSON"),
        ('{"x": NaN}', None, "is not JSON"),
        ('{"x": 1}', None, "no place for the query"),
        ('{"x": "$y"}', None, "is not a placeholder"),
        ('{"x": "$features"}', None, "no feature names"),
        ('{"x": "$features.tea"}', ["milk"], "no feature is named 'tea'"),
        ('{"x": "$x[0]"}', ["milk", "sugar"], "never sends 'sugar'"),
        ({"x": object()}, None, "cannot be written as JSON"),
        ("[" * 100_000, None, "is not JSON"),
    ],
)
def test_wrong_bodies_are_refused(template, features, words):
    with pytest.raises(ms.InvalidInput, match=words):
        Body(template, features)


def test_body_must_fit_the_query():
    for template, words in (('["$x[5]", "$x[0]"]', "count from 0"), ('["$x[0]"]', r"never sends 'x\[1\]'")):
        with pytest.raises(ms.InvalidInput, match=words):
            Body(template).check(2)
    with pytest.raises(ms.InvalidInput, match="there are 1 features"):
        Body('["$features"]', ["milk"]).check(2)


@pytest.mark.parametrize(
    ("path", "raw"),
    [("", "3"), ("a.b", '{"a": {"b": 3.0}}'), ("[1][0].z", '[0, [{"z": 3}]]'), ('["a.b"]', '{"a.b": 3e0}')],
)
def test_path_finds_the_number(path, raw):
    assert Answer(path).read(raw.encode()) == 3.0


@pytest.mark.parametrize("path", [".a", "a..b", "a[", "a[-1]", "[x]", 'a["b]', None])
def test_wrong_paths_are_refused(path):
    with pytest.raises(ms.InvalidInput, match="path of the answer"):
        Answer(path)
