"""Rows that are not as they were written: one line that names the file and the study."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from mixsense.studies.files import export_answers
from mixsense.studies.registry import list_studies
from study_cases import TINY, one_line

USES = {
    "progress": lambda study: study.progress(),
    "ask": lambda study: study.ask_many(5),
    "result": lambda study: study.result(),
    "answers": lambda study: study.answers(),
    "record": lambda study: study.record(),
    "export": lambda study: export_answers(study, Path(study._database.url.database).with_suffix(".csv"), force=True),
}
"""Everything that reads a study."""


ALL = set(USES)
DAMAGE = {
    **dict.fromkeys(
        [
            "UPDATE mixsense_studies SET problem = 'not JSON'",
            "UPDATE mixsense_studies SET problem = '[1]'",
            "UPDATE mixsense_studies SET problem = '{}'",
            "UPDATE mixsense_studies SET problem = 'null'",
            "UPDATE mixsense_studies SET problem = x'ff00'",
            'UPDATE mixsense_studies SET problem = replace(problem, \'"n": 3\', \'"n": "x"\')',
            "UPDATE mixsense_studies SET problem = replace(hex(zeroblob(50000)), '0', '[')",
            "UPDATE mixsense_studies SET asking = replace(hex(zeroblob(50000)), '0', '[')",
            "UPDATE mixsense_studies SET asking = '{'",
            "UPDATE mixsense_studies SET asking = '{}'",
            "UPDATE mixsense_studies SET asking = '7'",
            "UPDATE mixsense_studies SET asking = replace(asking, '600.0', '\"long\"')",
            "UPDATE mixsense_studies SET asking = replace(asking, '600.0', 'NaN')",
            "UPDATE mixsense_studies SET asking = replace(asking, '\"range\": null', '\"range\": [5]')",
            "UPDATE mixsense_studies SET asking = replace(asking, '\"units\": null', '\"units\": [5]')",
        ],
        ALL,
    ),
    **dict.fromkeys(
        [
            "UPDATE mixsense_queries SET x = x'0011'",
            "UPDATE mixsense_queries SET x = x''",
            "UPDATE mixsense_queries SET x = 'text'",
            "UPDATE mixsense_queries SET x = x'000000000000f87f000000000000f87f000000000000f87f'",
            "UPDATE mixsense_queries SET x = 7",
            "DELETE FROM mixsense_queries",
        ],
        ALL - {"progress"},
    ),
    "UPDATE mixsense_rounds SET size = 7": {"ask", "record", "result"},
    "UPDATE mixsense_rounds SET size = 'many'": {"ask", "progress", "record", "result"},
    "UPDATE mixsense_rounds SET repeats = 0": ALL - {"progress"},
    "UPDATE mixsense_rounds SET label = x'1b00'": {"ask", "progress", "record", "result"},
    "UPDATE mixsense_rounds SET size = -1": {"ask", "record", "result"},
    "UPDATE mixsense_studies SET key = char(27) || '[31m'": ALL,
    "UPDATE mixsense_studies SET key = 'b'": ALL,
    "UPDATE mixsense_tickets SET ticket = 'x' WHERE ticket = (SELECT max(ticket) FROM mixsense_tickets)": {"ask"},
    "UPDATE mixsense_tickets SET slot = 'first'": {"ask"},
    "UPDATE mixsense_answers SET value = 'high'": ALL - {"progress"},
    "UPDATE mixsense_answers SET round = 'first'": {"answers", "export"},
    "INSERT INTO mixsense_ends SELECT study, 'failed', replace(hex(zeroblob(50000)), '0', '[') FROM mixsense_studies": {
        "result"
    },
    "UPDATE mixsense_tickets SET secret = 'x'": {"answers", "export"},
    **{
        f"INSERT INTO mixsense_ends SELECT study, '{status}', '{text}' FROM mixsense_studies": {"result"}
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
    },
}
"""Changes of a file, and who must notice: whoever needs what is damaged."""


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A file with a study whose first round is answered."""
    path = tmp_path_factory.mktemp("answered") / "tea.db"
    study = ms.create_study(path, "tea", **TINY)
    rng = np.random.default_rng(1)
    study.tell_many([(q.id, float(q.x[0] + rng.standard_normal())) for q in study.ask_many(100)])
    return path


@pytest.mark.parametrize(("damage", "noticed"), DAMAGE.items(), ids=DAMAGE)
def test_damaged_rows_are_one_line(answered, tmp_path, damage, noticed):
    path = damaged(answered, tmp_path, damage)
    errors = {}
    for name, use in USES.items():
        try:
            use(ms.load_study(path, "tea"))
        except ms.StudyError as error:
            if "no estimate yet" not in str(error):  # what is damaged may not be needed
                errors[name] = error
    assert set(errors) == noticed
    for error in errors.values():
        text = one_line(error)
        assert "study 'tea' in sqlite:///" in text
        assert "is damaged" in text
        assert "high" not in text  # nothing of what is stored


@pytest.fixture(scope="module")
def second_round(tmp_path_factory):
    """A file with a study whose second round has begun although answers to the first are missing."""
    path = tmp_path_factory.mktemp("second") / "tea.db"
    study = ms.create_study(path, "tea", **TINY)
    rng = np.random.default_rng(1)
    questions = [study.ask(respondent="ann" if i % 2 else "bob") for i in range(study.progress().size)]
    questions.append(study.ask())  # an extra one, since all others are taken
    study.tell_many([(q.id, float(q.x[0] + rng.standard_normal())) for q in questions[3:]])
    study.advance()
    study.ask_many(2, respondent="ann")
    assert study.progress().round == 2
    return path


LATER = {
    "DELETE FROM mixsense_closed": {"result", "record"},
    "UPDATE mixsense_tickets SET slot = 'x' WHERE round = 1": {"ask", "ask again"},
    "UPDATE mixsense_loose SET slot = 'x' WHERE slot = (SELECT max(slot) FROM mixsense_loose)": ALL
    - {"progress", "ask"},
    "UPDATE mixsense_salts SET salt = 'x'": {"ask again"},
    f"UPDATE mixsense_queries SET x = {2**62}": ALL - {"progress"} | {"ask again"},  # bytes of it: as many zeros
}
"""What is only there, or only read, in a later round."""


@pytest.mark.parametrize(("damage", "noticed"), LATER.items(), ids=LATER)
def test_damaged_rows_of_a_later_round_are_one_line(second_round, tmp_path, damage, noticed):
    path = damaged(second_round, tmp_path, damage)
    errors = {}
    for name, use in {**USES, "ask again": lambda study: study.ask_many(3, respondent="ann")}.items():
        try:
            use(ms.load_study(path, "tea"))
        except ms.StudyError as error:
            errors[name] = one_line(error)
    assert set(errors) == noticed
    assert all("is damaged" in text for text in errors.values())


def damaged(source, tmp_path, damage):
    """Return a copy of a database after a statement that did something to it."""
    path = tmp_path / "tea.db"
    shutil.copy(source, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(damage).rowcount > 0
    return path


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE mixsense_rounds SET label = char(27) || '[31m'",
        "INSERT INTO mixsense_ends SELECT study, char(27) || '[31m', '{}' FROM mixsense_studies",
        "UPDATE mixsense_studies SET name = 'tea' || char(27) || '[31m'",
        "UPDATE mixsense_studies SET name = x'1b5b'",
    ],
)
def test_what_is_stored_moves_and_colours_no_terminal(answered, tmp_path, damage):
    path = damaged(answered, tmp_path, damage)
    (name,) = list_studies(path)
    assert name.isprintable()
    if name != "tea":
        return
    now = ms.load_study(path, "tea").progress()
    assert "\x1b" not in str(now) + now._repr_html_()
    assert "\\x1b[31m" in f"{now.label} {now.status}"


def test_a_round_with_an_impossible_number_is_one_line(answered, tmp_path):
    path = damaged(answered, tmp_path, "UPDATE mixsense_rounds SET round = 1e300")
    with pytest.raises(ms.StudyError, match="is damaged") as caught:
        ms.load_study(path, "tea").ask()
    one_line(caught.value)


def test_a_damaged_answer_that_is_written_again_is_one_line(tmp_path):
    study = ms.create_study(tmp_path / "tea.db", "tea", **TINY)
    first, second = study.ask_many(2)
    study.tell(first.id, 1.0)
    with closing(sqlite3.connect(tmp_path / "tea.db")) as connection, connection:
        connection.execute("UPDATE mixsense_answers SET value = 'high'")
    with pytest.raises(ms.StudyError, match=r"is damaged, .*\(ValueError\)") as caught:
        study.tell(second.id, 2.0)
    assert "high" not in one_line(caught.value)
    assert (caught.value.__cause__, caught.value.__suppress_context__) == (None, True)


@pytest.mark.parametrize("broken", ["drawn", "insert_scattered"])
def test_an_error_of_our_own_is_not_called_damage(answered, tmp_path, monkeypatch, broken):
    def failing(*_):
        raise TypeError("a bug")

    shutil.copy(answered, tmp_path / "tea.db")
    study = ms.load_study(tmp_path / "tea.db", "tea")
    monkeypatch.setattr(f"mixsense.studies.storage.questions.{broken}", failing)
    with pytest.raises(TypeError, match="a bug"):
        study.ask_many(5)


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
    path = damaged(answered, tmp_path, damage)
    before = path.read_bytes()
    for use in (lambda: ms.load_study(path, "tea"), lambda: list_studies(path), lambda: ms.create_study(path, "b", 3)):
        with pytest.raises(ms.StudyError, match=r"tea\.db is damaged: the version of its tables is") as caught:
            use()
        one_line(caught.value)
    assert path.read_bytes() == before
