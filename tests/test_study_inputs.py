"""What is wrong is one clear line, and nothing is stored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from mixsense.studies.registry import list_studies
from mixsense.studies.storage.database import as_url
from study_cases import TINY, one_line

pytest_plugins = ["study_storages"]


class Odd:
    """Something that is neither a number nor a text."""

    def __repr__(self):
        return "odd"


NO_NUMBERS = [np.nan, np.inf, -np.inf, 1e101, -1e101, 10**400, "6.5", "", b"6", None, True, 1j, [6.5], (1,), {}, Odd()]
NO_NUMBERS += [np.array([1.0]), np.float32("nan"), np.bool_(True), "x" * 10_000_000]
NO_IDS = ["", "x", "17", "KEY-", "KEY-0", "KEY-01", "KEY--1", "KEY-1 ", "KEY-1\n", "KEY-1.0", "KEY-\0", "\0", "KEY-١"]
NO_IDS += [
    "KEY-2",
    "KEY-999999999999999999",
    "KEY-bbbbbbbbbbbbbbbbbbb",
    "KEY-zzzzzzzzzzzzzzzzzzz",
    "KEY-bbbb",
    "KEY-9999999999999999999",
    "KEY-1; DROP TABLE mixsense_answers",
]
NO_IDS += ["key-1", "bbbb-1", None, 1, 1.0, b"KEY-1", ["KEY-1"], "\ud800", "x" * 10_000_000]


def named(value):
    return f"{type(value).__name__} {value!r:.24}".encode("ascii", "backslashreplace").decode()


@pytest.mark.parametrize("value", NO_NUMBERS, ids=named)
def test_an_answer_that_is_no_number(study, value):
    q = study.ask()
    with pytest.raises(ms.InvalidInput, match=r"the answer is .*: give a number from") as caught:
        study.tell(q.id, value)
    one_line(caught.value)
    with pytest.raises(ms.InvalidInput):
        study.tell_many([(q.id, 1.0), (q.id, value)])
    assert (study.progress().total, study.progress().out) == (0, 1)
    assert study.tell(q.id, 1.0) == "taken"


@pytest.mark.parametrize("groups", [[1], [1, 2, 3], 7, "one"], ids=named)
def test_groups_that_are_not_one_for_each_answer(study, groups):
    told = [(q.id, 1.0) for q in study.ask_many(2)]
    with pytest.raises(ms.InvalidInput, match=r"groups is .*: give a number or None for each of 2 answers") as caught:
        study.tell_many(told, groups)
    one_line(caught.value)
    assert study.progress().total == 0
    assert study.tell_many(told, np.array([3, 3])) == ["taken", "taken"]


@pytest.mark.parametrize("id_", NO_IDS, ids=named)
def test_an_id_that_was_never_given(study, id_):
    study.ask()
    wrong = id_.replace("KEY", study._row.key) if isinstance(id_, str) else id_
    with pytest.raises(ms.InvalidInput, match=r"id is|never handed out|another study") as caught:
        study.tell(wrong, 1.0)
    one_line(caught.value)
    assert study.progress().total == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": "three"}, "n is 'three'"),
        ({"gamma": -1}, "gamma is -1"),
        ({"gamma": np.nan}, "must be finite"),
        ({"gamma": None}, "gamma and max_queries are both missing"),
        ({"method": "magic"}, "method is 'magic'"),
        ({"method": "paper", "k": 2, "constants": Odd()}, "odd has none: give plain values"),
        ({"colour": "red"}, "has no option 'colour'"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"weights": (0.5, 0.6)}, "weights sum to 1.1"),
        ({"max_queries": 0}, "max_queries is 0"),
        ({"features": ["a", "b"]}, "2 features for n = 3"),
        ({"features": ["a", "a", "b"]}, "two features are called 'a'"),
        ({"box": [(0, 1), (0, 1), (2, 1)]}, "x2"),
        ({"units": ["g"]}, "1 units for n = 3"),
        ({"units": "ggg"}, "give a list of 3 texts"),
        ({"answer_range": (7, 1)}, "answer_range is from 7 to 1"),
        ({"answer_range": (1, np.inf)}, "answer_range is inf"),
        ({"answer_range": 7}, "answer_range is 7"),
        ({"answer_range": "17"}, "answer_range is '17'"),
        ({"lease": 0}, "lease is 0"),
        ({"lease": "long"}, "lease is 'long'"),
        ({"lease": -600}, "lease is -600"),
        ({"lease": np.nan}, "lease is nan"),
        ({"lease": 1e25}, "lease is 1e+25; it must be at most"),
        ({"lease": 1e300}, "lease is 1e+300; it must be at most"),
        ({"notes": 5}, "notes is 5: give a dict"),
        ({"notes": ["a"]}, "notes is ['a']: give a dict"),
        ({"units": ["g", "\x1b[31mml", ""]}, "a unit is '\\x1b[31mml': give printable text"),
        ({"units": ["g", "a\nb", ""]}, "a unit is 'a\\nb'"),
        ({"method": "paper", "k": 2, "constants": [1]}, "constants is [1]"),
        ({"method": "paper", "k": 2, "constants": {"a": 1}}, "constants is {'a': 1}"),
        ({"name": ""}, "name is ''"),
        ({"name": "a\0b"}, "printable text"),
        ({"name": 7}, "name is 7"),
        ({"name": "x" * 10_000_000}, "up to 100 letters"),
        ({"name": "tea"}, "has a study 'tea' already"),
        ({"url": "mysql://localhost/a"}, "of the kind 'mysql'"),
        ({"url": "sqlite://"}, "in memory"),
        ({"url": ""}, "the database is ''"),
        ({"url": 7}, "the database is 7"),
        ({"url": "tea\udcff.db"}, "the database is 'tea\\udcff.db'"),
        ({"url": Path("tea\udcff.db")}, "the database is 'tea\\udcff.db'"),
        ({"url": "postgresql://x:secret\udcff@host/a"}, "the database's URL cannot be read"),
        ({"url": "postgresql://x:secret\0@host/a"}, "the database's URL cannot be read"),
        ({"url": "postgresql://x:secret@[::1"}, "cannot be read"),
        ({"url": "no/such/folder/a.db"}, "does not exist"),
        ({"url": "."}, "is a folder"),
    ],
)
def test_a_study_that_cannot_be(study, tmp_path, monkeypatch, change, words):
    monkeypatch.chdir(tmp_path)
    settings = {"url": "tea.db", "name": "other", **TINY, **change}
    with pytest.raises(ms.InvalidInput) as caught:
        ms.create_study(settings.pop("url"), settings.pop("name"), **settings)
    assert words in one_line(caught.value)
    assert "secret" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tea.db"]
    with closing(sqlite3.connect(tmp_path / "tea.db")) as connection:
        assert connection.execute("SELECT name FROM mixsense_studies").fetchall() == [("tea",)]


def test_files_that_are_no_studies(tmp_path):
    (tmp_path / "text.db").write_text("not a database at all, but long enough to be looked at " * 40)
    (tmp_path / "empty.db").touch()
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE songs (title)")
    for name, words, creates in (
        ("text.db", "is not an SQLite file", False),
        ("other.db", "is a database of another program", False),
        ("empty.db", "has no studies", True),
        ("none.db", "there is no database", True),
    ):
        with pytest.raises(ms.InvalidInput, match=words) as caught:
            ms.load_study(tmp_path / name, "tea")
        one_line(caught.value)
        if creates:
            ms.create_study(tmp_path / name, "tea", **TINY)
        else:
            with pytest.raises(ms.InvalidInput, match=words):
                ms.create_study(tmp_path / name, "tea", **TINY)


def test_a_server_that_is_not_there_is_one_line_without_the_password():
    with pytest.raises(ms.StudyError, match="cannot be used") as caught:
        ms.load_study("postgresql://lab:secret@127.0.0.1:1/tea", "tea")
    assert "secret" not in one_line(caught.value)
    assert caught.value.__context__ is None  # the driver's error knows the password
    assert as_url("postgres.db").database == "postgres.db"
    assert as_url("postgres://lab@host/tea") == as_url("postgresql+psycopg://lab@host/tea")


@pytest.mark.parametrize(
    "options", ["password=hunter2", "sslpassword=hunter2&sslmode=disable", "application_name=hunter2"]
)
def test_no_option_of_a_database_is_shown(options):
    url = f"postgresql://lab:hunter2@127.0.0.1:1/tea?{options}"
    with pytest.raises(ms.StudyError, match=r"postgresql\+psycopg://lab:\*\*\*@127.0.0.1:1/tea\?… cannot") as caught:
        ms.load_study(url, "tea")
    assert "hunter2" not in one_line(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        *(
            f"sqlite:///t.db?{option}=x"
            for option in ("timeout", "detect_types", "cached_statements", "check_same_thread", "mode", "foo", "uri")
        ),
        "sqlite://host/t.db",
        "sqlite://lab:hunter2@/t.db",
        "postgresql://localhost/tea?plugin=hunter2",
        "postgresql://localhost/tea?row_factory=hunter2",
        "postgresql://localhost/tea?host=a,b&host=c&port=1,2,3,hunter2",
        "postgresql:/lab:hunter2@localhost/tea",
        "host=localhost password=hunter2",
    ],
)
def test_an_address_that_cannot_be_is_one_line_and_not_shown(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for use in (list_studies, lambda url: ms.create_study(url, "tea", **TINY)):
        with pytest.raises(ms.InvalidInput, match=r"the (database's )?URL ") as caught:
            use(url)
        assert "hunter2" not in one_line(caught.value)
    assert not list(tmp_path.iterdir())
