"""Rows that are not as they were written: one line that names the file and the study."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import mixsense as ms
from mixsense.studies.files import export_answers
from mixsense.studies.registry import list_studies
from study_cases import TINY, one_line


def uses(path):
    """Everything that reads a study, each by itself."""
    yield lambda: ms.load_study(path, "tea").progress()
    yield lambda: ms.load_study(path, "tea").ask_many(5)
    yield lambda: ms.load_study(path, "tea").result()
    yield lambda: ms.load_study(path, "tea").answers()
    yield lambda: ms.load_study(path, "tea").record()
    yield lambda: export_answers(ms.load_study(path, "tea"), path.with_suffix(".csv"), force=True)


DAMAGE = [
    "UPDATE mixsense_studies SET problem = 'not JSON'",
    "UPDATE mixsense_studies SET problem = '[1]'",
    "UPDATE mixsense_studies SET problem = '{}'",
    "UPDATE mixsense_studies SET problem = 'null'",
    "UPDATE mixsense_studies SET problem = x'ff00'",
    'UPDATE mixsense_studies SET problem = replace(problem, \'"n": 3\', \'"n": "x"\')',
    "UPDATE mixsense_studies SET asking = '{'",
    "UPDATE mixsense_studies SET asking = '{}'",
    "UPDATE mixsense_studies SET asking = '7'",
    "UPDATE mixsense_studies SET asking = replace(asking, '600.0', '\"long\"')",
    "UPDATE mixsense_studies SET asking = replace(asking, '600.0', 'NaN')",
    "UPDATE mixsense_studies SET asking = replace(asking, '\"range\": null', '\"range\": [5]')",
    "UPDATE mixsense_studies SET asking = replace(asking, '\"units\": null', '\"units\": [5]')",
    "UPDATE mixsense_queries SET x = x'0011'",
    "UPDATE mixsense_queries SET x = x''",
    "UPDATE mixsense_queries SET x = 'text'",
    "UPDATE mixsense_queries SET x = x'000000000000f87f000000000000f87f000000000000f87f'",
    "UPDATE mixsense_queries SET x = 7",
    "DELETE FROM mixsense_queries",
    "UPDATE mixsense_rounds SET size = 7",
    "UPDATE mixsense_rounds SET size = 'many'",
    "UPDATE mixsense_rounds SET repeats = 0",
    "UPDATE mixsense_rounds SET label = x'1b00'",
    "UPDATE mixsense_answers SET value = 'high'",
    "UPDATE mixsense_answers SET round = 'first'",
    *(
        f"INSERT INTO mixsense_ends SELECT study, '{status}', '{text}' FROM mixsense_studies"
        for status, text in [
            ("failed", '{"error": "__class__", "message": "a"}'),
            ("failed", '{"error": "MixsenseError", "message": "a"}'),
            ("failed", '{"error": ["ModelError"], "message": "a"}'),
            ("failed", '{"error": "ModelError"}'),
            ("failed", "[]"),
            ("failed", "nothing"),
            ("certified", "nothing"),
            ("certified", "{}"),
        ]
    ),
]


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A file with a study whose first round is answered."""
    path = tmp_path_factory.mktemp("answered") / "tea.db"
    study = ms.create_study(path, "tea", **TINY)
    rng = np.random.default_rng(1)
    study.tell_many([(q.id, float(q.x[0] + rng.standard_normal())) for q in study.ask_many(100)])
    return path


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_rows_are_one_line(answered, tmp_path, damage):
    path = tmp_path / "tea.db"
    shutil.copy(answered, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    errors = []
    for use in uses(path):
        try:
            use()
        except ms.StudyError as error:
            if "no estimate yet" not in str(error):  # what is damaged may not be needed
                errors.append(error)
    assert errors
    for error in errors:
        text = one_line(error)
        assert "study 'tea' in sqlite:///" in text
        assert "is damaged" in text


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE mixsense_schema SET version = 0",
        "UPDATE mixsense_schema SET version = -5",
        "UPDATE mixsense_schema SET version = 'two'",
        "UPDATE mixsense_schema SET version = 1.5",
        "DELETE FROM mixsense_schema",
        "INSERT INTO mixsense_schema VALUES (1)",
    ],
)
def test_a_version_that_nobody_wrote_is_refused(answered, tmp_path, damage):
    path = tmp_path / "tea.db"
    shutil.copy(answered, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    before = path.read_bytes()
    for use in (lambda: ms.load_study(path, "tea"), lambda: list_studies(path), lambda: ms.create_study(path, "b", 3)):
        with pytest.raises(ms.StudyError, match=r"tea\.db is damaged: the version of its tables is") as caught:
            use()
        one_line(caught.value)
    assert path.read_bytes() == before
