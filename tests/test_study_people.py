"""Several answers from one respondent: they share a group, and nothing that is stored leads back to the token."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mixsense as ms
from mixsense.studies.files import export_answers, export_open, import_answers
from mixsense.studies.storage.choosing import Layout, for_one
from mixsense.studies.storage.tables import TABLES_OF_A_STUDY, sa
from study_cases import SMALL, one_line

pytest_plugins = ["study_storages"]

TOKENS = ["anna.berg@example.org", "+49 170 5550123", "Zq7-öä-c00kie"]


def asked(study, token, count):
    return [study.ask(respondent=token) for _ in range(count)]


def salts(study):
    with study._database.reading() as connection:
        return connection.execute(sa.text(f"SELECT salt FROM mixsense_salts WHERE study = {study._row.study}")).all()


def test_answers_to_one_token_share_a_group(make, url):
    study = make()
    questions = [q for token in TOKENS[:2] for q in asked(study, token, 4)] + asked(study, None, 3)
    again = ms.load_study(url, study.name).ask(respondent=TOKENS[0])  # another process, another day
    study.tell_many([(q.id, 1.0) for q in [*questions, again]])
    groups = [q.group for q in questions]
    assert groups[:4] == [again.group] * 4
    assert groups[4:8] == [groups[4]] * 4
    assert (len({*groups[:8]}), groups[8:]) == (2, [None] * 3)
    rows = {row["id"]: row["group"] for row in study.answers()}
    assert rows == {q.id: q.group for q in [*questions, again]}
    assert study.progress().groups == 2
    assert str(study.progress()).splitlines()[2].endswith("from 2 respondents; 3 came without a token")


def test_one_respondent_is_told_as_one(make):
    study = make()
    study.tell_many([(q.id, 1.0) for q in asked(study, TOKENS[0], 2)])
    assert (study.progress().groups, study.progress().alone) == (1, 0)
    assert str(study.progress()).splitlines()[2].endswith("from 1 respondent")


def test_the_method_is_told_who_answered_what(make):
    study = make(method="paper", k=2, m=4, batch=4)
    questions = asked(study, TOKENS[0], 3) + asked(study, TOKENS[1], 3) + asked(study, None, 10)
    study.tell_many([(q.id, 1.0) for q in questions])
    (asked_,) = study.record()
    sizes = np.sort(np.unique(asked_.group, return_counts=True)[1])
    assert sizes.tolist() == [1] * 10 + [3, 3]
    of = dict(zip([q.id for q in questions], [q.group for q in questions], strict=True))
    stored = [of[row["id"]] for row in study.answers()]
    for a, one in enumerate(stored):
        for b, other in enumerate(stored):
            together = a == b or (one is not None and one == other)
            assert (asked_.group[a] == asked_.group[b]) == together


def test_nobody_is_asked_one_query_twice(make):
    study = make(method="paper", k=2, m=6, batch=5)
    x = [tuple(q.x) for q in asked(study, TOKENS[0], 6)]
    assert len({*x}) == 6
    assert study.ask(respondent=TOKENS[0]) is not None  # there is no other query: nobody waits all the same


def test_a_token_is_found_nowhere(make, url, tmp_path, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    study = make(max_queries=60, gamma=None)
    told = []
    while (q := study.ask(respondent=TOKENS[len(told) % 3])) is not None:
        told.append(q)
        study.tell(q.id, float(len(told) % 5))
        if len(told) == 30:
            seen = everything(study, url, tmp_path / "half")
    seen += everything(study, url, tmp_path / "end")
    with pytest.raises(ms.InvalidInput, match="token is no text") as caught:
        study.ask(respondent=TOKENS[0] * 100)
    seen += [one_line(caught.value).encode(), caplog.text.encode(), "".join(capsys.readouterr()).encode()]
    for token in TOKENS:
        raw = token.encode()
        for trace in (raw, base64.b64encode(raw), *(f(raw).digest() for f in (hashlib.md5, hashlib.sha256))):
            for form in (trace, trace.hex().encode()):
                assert not [text for text in seen if form in text]
    assert salts(study) == []  # from here on nobody can try whether a token makes one of the groups
    assert study.ask(respondent=TOKENS[0]) is None
    assert study.release(respondent=TOKENS[0]) == 0


def everything(study, url, folder):
    """Return all that can be seen of a study: every row, its file, its exports, what it says."""
    folder.mkdir()
    for name in ("answers.csv", "answers.parquet"):
        export_answers(study, folder / name)
    found = [path.read_bytes() for path in folder.iterdir()]
    with study._database.reading() as connection:
        for table in TABLES_OF_A_STUDY:
            found.append(repr(connection.execute(sa.select(table)).all()).encode())
    if not url.startswith("postgresql"):
        path = Path(url.removeprefix("sqlite:///"))
        found += [file.read_bytes() for file in path.parent.glob(f"{path.name}*")]
    return [*found, repr((study, study.progress(), study.answers())).encode(), str(study.progress()).encode()]


def test_the_salt_is_gone_from_the_file_when_the_study_has_ended(make, url):
    study = make(max_queries=60, gamma=None)
    study.ask(respondent=TOKENS[0])
    ((salt,),) = salts(study)
    salt = bytes(salt)
    if not url.startswith("postgresql"):
        path = Path(url.removeprefix("sqlite:///"))
        assert salt in b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    study.release()
    while q := study.ask():
        study.tell(q.id, float(np.sin(1e6 * q.x[0])))
    assert salts(study) == []
    if not url.startswith("postgresql"):  # a server reuses the room in its own time
        assert salt not in b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


def test_a_token_makes_another_group_in_another_study(make):
    first, second = make(), make("coffee")
    groups = {study.ask(respondent=TOKENS[0]).group for study in (first, second)}
    assert len(groups) == 2
    assert len(salts(first)) == 1


def test_the_salt_and_the_groups_of_a_deleted_study_are_gone(make, url):
    study = make()
    asked(study, TOKENS[0], 2)
    study.delete()
    other = make("coffee")
    with other._database.reading() as connection:
        for table in ("mixsense_salts", "mixsense_loose", "mixsense_closed", "mixsense_computing"):
            gone = sa.text(f"SELECT count(*) FROM {table} WHERE study = {study._row.study}")
            assert connection.execute(gone).scalar_one() == 0


@pytest.mark.parametrize("token", ["", 7, b"x", "x" * 1001, "anna\udcff", "\ud800"])
def test_a_token_that_is_none_is_refused_and_not_shown(make, token):
    study = make()
    for use in (lambda: study.ask(respondent=token), lambda: study.release(respondent=token)):
        with pytest.raises(ms.InvalidInput, match="token is no text of 1 to 1000 letters") as caught:
            use()
        one_line(caught.value)
        assert (caught.value.__context__, "anna" in repr(caught.value.data)) == (None, False)
    assert study.progress().out == 0


def test_who_leaves_gives_the_questions_back(make):
    study = make(lease=31_000_000.0)  # a year
    size = study.progress().size
    left, stays = asked(study, TOKENS[0], 3), asked(study, TOKENS[1], 3)
    study.tell(left[0].id, 1.0)
    assert (study.progress().out, study.progress().open) == (5, size - 6)
    assert study.release(left[0].group) == 2
    assert (study.progress().out, study.progress().open) == (3, size - 4)
    assert study.release(respondent=TOKENS[1]) == 3
    assert study.release(respondent=TOKENS[1]) == 0
    assert study.tell(stays[0].id, 1.0) == "taken"  # an answer that comes all the same
    with pytest.raises(ms.InvalidInput, match="give one of them"):
        study.release(left[0].group, respondent=TOKENS[0])
    study.ask_many(3)
    assert study.release() == 3


def test_files_have_a_column_of_groups(study, tmp_path):
    mine = [study.ask(respondent="a") for _ in range(2)]
    study.tell_many([(q.id, 2.0) for q in [*mine, study.ask()]])
    export_open(study, tmp_path / "open.csv", 4)
    lines = (tmp_path / "open.csv").read_text().splitlines()
    assert lines[0] == "id,x0,x1,x2,group,answer"
    persons = ["anna", "anna", "", "bert"]
    filled = [f"{line[:-1]}{who},5" for line, who in zip(lines[1:], persons, strict=True)]
    (tmp_path / "open.csv").write_text("\n".join([lines[0], *filled]))
    assert import_answers(study, tmp_path / "open.csv")["taken"] == 4
    ids = [line.split(",")[0] for line in lines[1:]]
    group = {row["id"]: row["group"] for row in study.answers()}
    assert group[ids[0]] == group[ids[1]] is not None
    assert (group[ids[2]], group[ids[3]] in (None, group[ids[0]])) == (None, False)
    assert export_answers(study, tmp_path / "all.csv") == export_answers(study, tmp_path / "all.parquet") == 7
    header, *rows = (line.split(",") for line in (tmp_path / "all.csv").read_text().splitlines())
    assert header == ["id", "round", "x0", "x1", "x2", "group", "surplus", "answer"]
    found = pq.read_table(tmp_path / "all.parquet").to_pydict()
    assert [row[5] for row in rows] == ["" if g is None else str(g) for g in found["group"]]
    numbers = [g for g in found["group"] if g is not None]
    assert list(dict.fromkeys(numbers)) == [1, 2, 3]  # in the order of the design
    assert sorted(numbers.count(g) for g in (1, 2, 3)) == [1, 2, 2]
    assert import_answers(study, tmp_path / "all.parquet")["known"] == 7
    assert "anna" not in repr(study.answers())


TWINS = (
    "import numpy as np, mixsense as ms\n"
    "def search(problem, rng):\n"
    "    rows = np.repeat(np.eye(3), 2, axis=0)\n"
    "    yield ms.Round(rows)\n"
    "    yield ms.Round(np.concatenate([rows, [[1.0, 1.0, 1.0]]]))\n"
    "    return ms.Recovery(np.ones((2, 3)), status='uncertain')\n"
)
"""A method that asks each of three questions twice, and all of them again with another one."""


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_respondent_is_asked_something_else_as_long_as_there_is_something(make, tmp_path, monkeypatch, at_once):
    (tmp_path / "twinlab.py").write_text(TWINS)
    monkeypatch.syspath_prepend(tmp_path)
    study = make(**{**SMALL, "n": 3, "method": "twinlab:search"})
    seen, told = {"ann": [], "bob": []}, []
    while len(told) < 6:
        who = "ann" if len(seen["ann"]) <= len(seen["bob"]) else "bob"
        found = study.ask_many(at_once, respondent=who)
        seen[who] += [tuple(q.x) for q in found]
        told += [(q.id, 1.0) for q in found]
    assert [sorted(asked) for asked in seen.values()] == [sorted(map(tuple, np.eye(3).tolist()))] * 2
    study.tell_many(told)
    again = study.ask(respondent="ann")
    assert again.x.tolist() == [1.0, 1.0, 1.0]  # of the next round the only one that is new
    assert study.ask(respondent="ann").x.sum() == 1  # nobody else is there: the round needs an answer


REPEATS = (
    "import numpy as np, mixsense as ms\n"
    "def search(problem, rng):\n"
    "    rows = np.eye(3)[[0, 0, 0, 0, 0, 0, 1, 2]]\n"
    "    asked = yield ms.Round(rows, least={least})\n"
    "    told = {{'answers': asked.answers.tolist(), 'x': asked.queries.argmax(axis=1).tolist()}}\n"
    "    return ms.Recovery(np.ones((2, 3)), status='uncertain', queries=len(asked), diagnostics=told)\n"
)
"""A method that asks one question six times, and two others once."""


@pytest.mark.parametrize(
    ("least", "more", "seen"),
    [("7", {}, [0, None, 0, None, 0, 0, 0]), ("None", {}, [0] * 5), ("7", {"max_queries": 9}, [0, None, 0, 0, 0, 0])],
    ids=["extra ones", "exactly its own", "a budget"],
)
def test_what_comes_again_comes_after_an_extra_question(make, url, tmp_path, monkeypatch, least, more, seen):
    (tmp_path / "repeatlab.py").write_text(REPEATS.format(least=least))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "repeatlab", raising=False)
    study = make(**{**SMALL, "n": 3, "method": "repeatlab:search", **more})
    bob = [study.ask(respondent="bob") for _ in range(3)]
    assert sorted(q.x.argmax() for q in bob) == [0, 1, 2]
    told = {q.id: float(i) for i, q in enumerate(bob)}
    ann = [study.ask(respondent="ann") for _ in seen]  # what nobody has been asked is one question, five times
    found = [int(q.x.argmax()) for q in ann]
    assert [0 if x == 0 else None for x in found] == seen
    others = [x for x in found if x]
    assert len(others) == len({*others})
    told |= {q.id: 10.0 + i for i, q in enumerate(ann)}
    assert study.tell_many(told.items()) == ["taken"] * len(told)
    assert study.ask(respondent="ann") is None  # nobody waits, and there is a question until the end
    r = study.result()
    assert r.queries == len(told)
    assert sorted(r.diagnostics["answers"]) == sorted(told.values())
    (asked_,) = ms.load_study(url, study.name).record()
    assert asked_.answers.tolist() == r.diagnostics["answers"]  # to the last bit, and in the same order
    assert asked_.queries.argmax(axis=1).tolist() == r.diagnostics["x"]


def test_one_respondent_brings_a_study_alone_through_the_round_that_measures_the_noise(make):
    study = make(**{**SMALL, "sigma": None})
    size = study.progress().size
    assert len(study.ask_many(size, respondent="ann")) == 1  # all ask the same
    study.release()
    for i in range(size):
        study.tell(study.ask(respondent="ann").id, 0.1 * (i % 7 - 3))
    study.ask(respondent="ann")
    assert study.progress().round == 2


NOBODY = ["", "  ", "NA", "nan", None]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("label", NOBODY)
def test_a_group_that_is_empty_is_no_group(study, tmp_path, kind, label):
    ids = [q.id for q in study.ask_many(3)]
    path = tmp_path / f"answers.{kind}"
    if kind == "csv":
        path.write_text("id,group,answer\n" + "".join(f"{id_},{label or ''},1\n" for id_ in ids))
    else:
        pq.write_table(pa.table({"id": ids, "group": pa.array([label] * 3, pa.string()), "answer": [1.0] * 3}), path)
    assert import_answers(study, path)["taken"] == 3
    assert [row["group"] for row in study.answers()] == [None] * 3


def test_a_group_that_is_no_number_is_no_group(study, tmp_path):
    ids = [q.id for q in study.ask_many(3)]
    pq.write_table(
        pa.table({"id": ids, "group": [float("nan"), 2.0, 2.0], "answer": [1.0] * 3}), tmp_path / "a.parquet"
    )
    import_answers(study, tmp_path / "a.parquet")
    group = {row["id"]: row["group"] for row in study.answers()}
    assert group[ids[0]] is None
    assert group[ids[1]] == group[ids[2]] is not None


@pytest.mark.parametrize("groups", [[["a"], ["a"]], [{"a": 1}, {"a": 1}]])
def test_a_group_of_lists_or_objects_is_one_line(study, tmp_path, groups):
    ids = [q.id for q in study.ask_many(2)]
    pq.write_table(pa.table({"id": ids, "group": groups, "answer": [1.0, 2.0]}), tmp_path / "a.parquet")
    with pytest.raises(
        ms.InvalidInput, match=r"column 'group': it cannot be read \(it holds .*: give text and numbers; nothing was"
    ) as caught:
        import_answers(study, tmp_path / "a.parquet")
    one_line(caught.value)
    assert study.progress().total == 0


def grouped(folder, *rows):
    """Return a file with rows of id and group, each with the answer 1."""
    path = folder / "grouped.csv"
    path.write_text("id,group,answer\n" + "".join(f"{q.id},{label},1\n" for q, label in rows))
    return path


def test_groups_that_cannot_be_are_refused(study, tmp_path):
    a, again = (study.ask(respondent="a") for _ in range(2))
    b, free = study.ask(respondent="b"), study.ask()
    for rows, words in [
        (
            [(free, "x"), (free, "y")],
            f"line 3: question {free.id} has another group in line 2: give one group, or none",
        ),
        ([(a, "x"), (b, "x")], f"line 3: question {b.id} has another respondent than that in line 2, and the same"),
        ([(a, "x"), (again, "y")], f"line 3: question {again.id} has another group than the same respondent's in li"),
    ]:
        with pytest.raises(ms.InvalidInput, match=re.escape(words)) as caught:
            import_answers(study, grouped(tmp_path, *rows))
        assert one_line(caught.value).endswith("nothing was stored")
        assert study.progress().total == 0
    study.tell(free.id, 1.0)
    with pytest.raises(
        ms.InvalidInput, match=r"line 2: .* was answered before without a group.*: leave its group empty"
    ):
        import_answers(study, grouped(tmp_path, (free, "x")))
    for group in (5, b.group):
        with pytest.raises(ms.InvalidInput, match="has another respondent than its group says"):
            study.tell_many([(a.id, 1.0)], [group])
    assert study.tell_many([(a.id, 1.0), (a.id, 1.0)], [None, a.group]) == ["taken", "known"]
    with pytest.raises(ms.InvalidInput, match="has another respondent than its group says"):
        study.tell_many([(a.id, 1.0)], [5])


def test_a_group_with_a_token_in_it_is_that_of_the_token(study, tmp_path):
    mine, free, late = study.ask(respondent="a"), study.ask(), study.ask()
    assert import_answers(study, grouped(tmp_path, (free, "x"), (mine, "x"), (free, "")))["taken"] == 2
    # The file grows: what was stored of it says who "x" is.
    path = grouped(tmp_path, (mine, "x"), (free, "x"), (late, "x"))
    assert import_answers(study, path) == {"taken": 1, "surplus": 0, "known": 2}
    assert {row["group"] for row in study.answers()} == {mine.group}


def test_the_command_line_keeps_a_respondent(study, command):
    code, out, _ = command("ask", "tea", "--db", "tea.db", "--respondent", "walrus-token", "--count", "2", "--json")
    assert code == 0
    ids = [json.loads(line)["id"] for line in out.splitlines()]
    assert command("tell", "tea", ids[0], "3", "--db", "tea.db")[0] == 0
    assert command("release", "tea", "--db", "tea.db", "--respondent", "walrus-token")[1] == "1 question released\n"
    assert "walrus-token" not in repr(study.answers()) + str(study.progress())
    assert command("advance", "tea", "--db", "tea.db")[1] == "nothing: asking\n"


class TestBlocks:
    """Which questions of a round that wants blocks somebody gets."""

    def test_a_block_stays_with_one_respondent(self):
        layout = Layout(repeats=1, block=4)
        free, handed = list(range(12)), {"a": [], "b": []}
        for who in "abab" * 2:
            begun = {layout.unit(slot) for slots in handed.values() for slot in slots}
            (slot,) = for_one(free, 1, handed[who], begun, layout)
            handed[who].append(slot)
            free.remove(slot)
        units = [{layout.unit(slot) for slot in slots} for slots in handed.values()]
        assert [len(u) for u in units] == [1, 1]
        assert units[0] != units[1]

    def test_the_rest_of_a_block_that_was_left_is_given_to_another(self):
        layout = Layout(repeats=1, block=4)
        assert for_one([2, 3], 2, [], {0}, layout) == [2, 3]

    def test_repeats_of_a_query_go_to_different_respondents(self):
        layout = Layout(repeats=3, block=1)
        assert len(for_one(list(range(6)), 6, [], set(), layout)) == 2

    def test_a_study_hands_blocks_out(self, make, tmp_path, monkeypatch):
        (tmp_path / "blocklab.py").write_text(
            "import numpy as np, mixsense as ms\n"
            "def search(problem, rng):\n"
            "    asked = yield ms.Round(rng.standard_normal((40, problem.n)), block=5)\n"
            "    sizes = np.unique(asked.group, return_counts=True)[1].tolist()\n"
            "    return ms.Recovery(np.ones((2, problem.n)), status='uncertain', diagnostics={'sizes': sizes})\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        study = make(**{**SMALL, "method": "blocklab:search"})
        tokens = [f"token {i}" for i in range(8)]
        taken = [study.ask(respondent=token) for _ in range(5) for token in tokens]
        assert len({(q.unit, q.group) for q in taken}) == 8
        study.tell_many([(q.id, 1.0) for q in taken])
        assert study.result().diagnostics["sizes"] == [5] * 8
