"""What is sent and what is read: bodies with placeholders, and the path of the number in the answer."""

from __future__ import annotations

import json
import re

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
        ({"in": "$nonzero"}, None, {"in": [[0, 1.5], [1, 2.0]]}),
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


@pytest.mark.parametrize(
    "body",
    [
        {"x": "$x", "api_key": "abc"},
        {"x": "$x", "apiKey": "abc"},
        {"x": "$x", "auth": {"password": "abc"}},
        {"x": "$x", "access-token": ["abc"]},
        {"x": "$x", "jwt": "abc"},
        {"x": "$x", "note": "Bearer abc"},
        {"x": "$x", "key": "abcf3a9c1d27b604e58a1b2c3d4e5f60718"},
        ["$x", "env:HOME abcf3a9c1d27b604e58a1b2c3d4e5f60718"],
        {"x": "$x", "token": "$$abc"},
        {"x": "$x", "passwort": "abc"},
        {"x": "$x", "db_pw": "abc"},
        {"x": "$x", "password": 123456},
        {"x": "$x", "login": {"userPin": [1234]}},
        {"x": "$x", "api_key": 12.5},
        {"x": "$x", "callers": {"sk_live_abc12345": 1}},
        {"x": "$x", "token": {"value": "abc"}},
        {"x": "$x", "credentials": {"user": "bob", "value": "abc"}},
        {"x": "$x", "credentials": [{"user": {"parts": ["abc"]}}]},
        {"x": "$x", "user_pin": {"value": 1234}},
        {"x": "$x", "password": "env:HOME abc"},
        {"x": "$x", "authorization": "abc env:HOME"},
        {"x": "$x", "note": "password=abcd"},
        {"x": "$x", "abcf3a9c1d27b604e58a1b2c3d4e5f60718": True},
    ],
)
def test_a_secret_in_the_body_comes_from_the_environment(body):
    for given in (body, json.dumps(body)):
        with pytest.raises(ms.InvalidInput, match=r"looks like a secret.*env:NAME") as caught:
            Body(given)
        assert not re.search(r"abc|123|12\.5", str(caught.value))


def test_numbers_about_a_secret_and_small_ones_are_sent_in_plain():
    body = {"x": "$x", "token_count": 12345, "auth_failures": 10000, "session": 7, "pin": True, "password": None}
    body |= {"token": {"type": "session", "length": 4096}, "credentials": {"user": "bob", "admin": False}}
    assert json.loads(Body(body).fill(np.ones(1))) == {**body, "x": [1.0]}


@pytest.mark.parametrize("body", ['{"x": "$x", "a": "\\ud800"}', {"x": "$x", "\udcff": 1}, {"a": ["$x", "\udfff"]}])
def test_half_a_character_in_the_body_is_one_line(body):
    with pytest.raises(ms.InvalidInput, match="the body holds half a character") as caught:
        Body(body)
    str(caught.value).encode()


def test_a_body_takes_secrets_from_the_environment_and_keeps_them(monkeypatch):
    monkeypatch.setenv("KEY", 'a "b"')
    body = Body({"x": "$x", "api_key": "env:KEY", "password": "", "key": "income", "max_tokens": 5})
    sent = json.loads(body.fill(np.ones(1)))
    assert (sent["api_key"], sent["key"], body.private) == ('a "b"', "income", True)
    assert not Body('"$x"').private
    # What tells bodies apart does not depend on the secret, and does not hold it.
    first = body.fingerprint
    monkeypatch.setenv("KEY", "other")
    assert (
        Body({"key": "income", "api_key": "env:KEY", "x": "$x", "password": "", "max_tokens": 5}).fingerprint == first
    )
    assert Body('"$x"').fingerprint != first
    with pytest.raises(ms.InvalidInput, match="NOT_THERE is not set"):
        Body({"x": "$x", "api_key": "env:NOT_THERE"})
    monkeypatch.setenv("KEY", "a\nb")
    with pytest.raises(ms.InvalidInput, match="KEY holds what is not printable"):
        Body({"x": "$x", "api_key": "env:KEY"})


def test_a_body_that_cannot_be_read_is_not_shown():
    with pytest.raises(ms.InvalidInput, match="is not JSON") as caught:
        Body("{'api_key': 'abc', 'x': '$x'}")
    assert "abc" not in str(caught.value)
    assert caught.value.__context__ is None  # the parser's error holds all of it


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


def test_a_name_that_is_there_twice_is_refused():
    with pytest.raises(ms.OracleError, match="it has 'y' twice"):
        Answer("y").read(b'{"y": 1, "y": 2}')


@pytest.mark.parametrize("depth", [500, 900, 950, 980, 990, 995, 1000, 100_000])
def test_an_answer_that_is_nested_deeply_is_refused(depth):
    for raw in (b"[" * depth + b"]" * depth, b'{"y": ' * depth + b"1" + b"}" * depth):
        with pytest.raises(ms.OracleError, match="answer"):
            Answer("y").read(raw)


@pytest.mark.parametrize("path", [".a", "a..b", "a[", "a[-1]", "[x]", 'a["b]', None])
def test_wrong_paths_are_refused(path):
    with pytest.raises(ms.InvalidInput, match="path of the answer"):
        Answer(path)


def test_a_long_path_is_not_repeated_whole():
    with pytest.raises(ms.InvalidInput) as caught:
        Answer("a[" + 5_000 * "9" + "]")
    assert len(str(caught.value)) < 300


def test_a_sparse_query_is_sent_without_its_zeros():
    x = np.zeros(1000)
    x[[3, 500]] = 0.5, -2.0
    assert Body({"x": "$nonzero"}).fill(x) == b'{"x": [[3, 0.5], [500, -2.0]]}'
    Body({"x": "$nonzero"}).check(1000)
