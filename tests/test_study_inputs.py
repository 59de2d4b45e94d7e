"""What is wrong is one clear line, through Python, the command line and files, and nothing is stored in part."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mixsense as ms
from mixsense import cli
from mixsense.study.answers import export_answers, export_open, harmless, import_answers
from mixsense.study.database import as_url

SMALL = {"n": 3, "sigma": 1.0, "seed": 1}


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """A file with a new study: copied for each test, which is quicker than to make it."""
    path = tmp_path_factory.mktemp("new") / "tea.db"
    ms.create_study(path, "tea", **SMALL)
    return path


@pytest.fixture
def study(new, tmp_path):
    shutil.copy(new, tmp_path / "tea.db")
    return ms.load_study(tmp_path / "tea.db", "tea")


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run `mixsense study …` in this process; gives the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*args):
        monkeypatch.setattr(sys, "argv", ["mixsense", "study", *args])
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return run


def one_line(error):
    text = str(error)
    assert "\n" not in text
    assert "Traceback" not in text
    assert len(text) < 400
    return text


class Odd:
    """Something that is neither a number nor a text."""

    def __repr__(self):
        return "odd"


NO_NUMBERS = [np.nan, np.inf, -np.inf, 1e101, -1e101, 10**400, "6.5", "", b"6", None, True, 1j, [6.5], (1,), {}, Odd()]
NO_NUMBERS += [np.array([1.0]), np.float32("nan"), np.bool_(True), "x" * 10_000_000]
NO_IDS = ["", "x", "17", "KEY-", "KEY-0", "KEY-01", "KEY--1", "KEY-1 ", "KEY-1\n", "KEY-1.0", "KEY-\0", "\0", "KEY-١"]
NO_IDS += ["KEY-2", "KEY-999999999999999999", "KEY-9999999999999999999", "KEY-1; DROP TABLE mixsense_answers"]
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
        ({"gamma": np.nan}, "not finite"),
        ({"gamma": None}, "gamma and max_queries are both None"),
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
        ({"name": ""}, "name is ''"),
        ({"name": "a\0b"}, "printable text"),
        ({"name": 7}, "name is 7"),
        ({"name": "x" * 10_000_000}, "up to 100 letters"),
        ({"name": "tea"}, "has a study 'tea' already"),
        ({"url": "mysql://localhost/a"}, "of the kind 'mysql'"),
        ({"url": "sqlite://"}, "in memory"),
        ({"url": ""}, "the database is ''"),
        ({"url": 7}, "the database is 7"),
        ({"url": "postgresql://x:secret@[::1"}, "cannot be read"),
        ({"url": "no/such/folder/a.db"}, "does not exist"),
        ({"url": "."}, "is a folder"),
    ],
)
def test_a_study_that_cannot_be(study, tmp_path, monkeypatch, change, words):
    monkeypatch.chdir(tmp_path)
    settings = {"url": "tea.db", "name": "other", **SMALL, **change}
    with pytest.raises(ms.InvalidInput) as caught:
        ms.create_study(settings.pop("url"), settings.pop("name"), **settings)
    assert words in one_line(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tea.db"]
    with closing(sqlite3.connect(tmp_path / "tea.db")) as connection:
        assert connection.execute("SELECT name FROM mixsense_studies").fetchall() == [("tea",)]


def test_files_that_are_no_studies(tmp_path):
    (tmp_path / "text.db").write_text("not a database at all, but long enough to be looked at " * 40)
    (tmp_path / "empty.db").touch()
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE songs (title)")
    for name, words, creates in (
        ("text.db", "is no SQLite file", False),
        ("other.db", "is a database of another program", False),
        ("empty.db", "has no studies", True),
        ("none.db", "there is no database", True),
    ):
        with pytest.raises(ms.InvalidInput, match=words) as caught:
            ms.load_study(tmp_path / name, "tea")
        one_line(caught.value)
        if creates:
            ms.create_study(tmp_path / name, "tea", **SMALL)
        else:
            with pytest.raises(ms.InvalidInput, match=words):
                ms.create_study(tmp_path / name, "tea", **SMALL)


def test_a_server_that_is_not_there_is_one_line_without_the_password():
    with pytest.raises(ms.StudyError, match="cannot be used") as caught:
        ms.load_study("postgresql://lab:secret@127.0.0.1:1/tea", "tea")
    assert "secret" not in one_line(caught.value)
    assert as_url("postgres.db").database == "postgres.db"
    assert as_url("postgres://lab@host/tea") == as_url("postgresql+psycopg://lab@host/tea")


FILES = {
    "text.csv": (b"id,answer\nID,good\n", "line 2: the answer is 'good'"),
    "nan.csv": (b"id,answer\nID,nan\n", "line 2: the answer is nan"),
    "comma.csv": (b"id;answer\nID;6,5\n", "with a decimal point"),
    "underscore.csv": (b"id,answer\nID,1_0\n", "line 2: the answer is '1_0'"),
    "id.csv": (b"id,answer\nOK,1\nnobody,1\n", "line 3: the question's id is 'nobody'"),
    "other.csv": (b"id,answer\nbbbb-1,1\n", "line 2: question bbbb-1 belongs to another study"),
    "never.csv": (b"id,answer\nOK,1\nKEY-99,1\n", "KEY-99 was never handed out"),
    "twice.csv": (b"id,answer\nID,1\nID,2\n", "line 3: question ID has the answer 2 here and 1 in line 2"),
    "before.csv": (b"id,answer\nOK,1\nKNOWN,5\n", "answered with 4 before, now with 5"),
    "short.csv": (b"id,answer\nOK,1\nID\n", "line 3: 1 cells under 2 columns"),
    "long.csv": (b"id,answer\nID,1,2\n", "line 2: 3 cells under 2 columns"),
    "columns.csv": (b"name,value\nID,1\n", "no column 'id'"),
    "double.csv": (b"id,answer,answer\nID,1,1\n", "more than one column 'answer'"),
    "empty.csv": (b"", "no column 'id'"),
    "nul.csv": (b"id,answer\nID,\0\n", "line 2"),
    "nuls.csv": (b"\0" * 1000, "line 1"),
    "latin.csv": ("id,answer\nOK,1\nÄ,1\n".encode("latin-1"), "line 3: not UTF-8"),
    "utf16.csv": ("id,answer\nID,1\n".encode("utf-16"), "line 1: not UTF-8"),
    "line.csv": (b"id,answer\nOK,1\n" + b"9" * 10_000_000 + b",1\n", "line 3: no CSV (field larger"),
    "quote.csv": (b'id,answer\nOK,1\n"ID,1\n', "no CSV (unexpected end of data)"),
    "folder.csv": (None, "cannot be read"),
    "missing.csv": (..., "cannot be read"),
    "answers.xls": (b"id,answer\nID,1\n", "neither .csv nor .parquet"),
    "text.parquet": (b"id,answer\nID,1\n", "is no Parquet file"),
    "missing.parquet": (..., "cannot be read"),
    "cut.parquet": ("cut", "is no Parquet file"),
    "nan.parquet": ({"id": ["ID"], "answer": [np.nan]}, "row 1: the answer is nan"),
    "text2.parquet": ({"id": ["OK", "ID"], "answer": ["1", "good"]}, "row 2: the answer is 'good'"),
    "ids.parquet": ({"id": [1, 2], "answer": [1.0, 2.0]}, "row 1: the question's id is 1"),
    "columns.parquet": ({"name": ["ID"]}, "no column 'id'"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("through", ["python", "command"])
def test_a_file_that_is_wrong_stores_nothing(study, command, tmp_path, name, through):
    known, ok, fresh = study.ask_many(3)
    study.tell(known.id, 4.0)
    content, words = FILES[name]
    ids = {"KNOWN": known.id, "OK": ok.id, "ID": fresh.id, "KEY": study._row.key}

    def filled(text):
        for short, id_ in ids.items():
            text = text.replace(short, id_)
        return text

    path = tmp_path / name
    if content is None:
        path.mkdir()
    elif content == "cut":
        pq.write_table(pa.table({"id": [fresh.id], "answer": [1.0]}), path)
        path.write_bytes(path.read_bytes()[:-20])
    elif isinstance(content, dict):
        pq.write_table(
            pa.table({k: [filled(v) if isinstance(v, str) else v for v in c] for k, c in content.items()}), path
        )
    elif content is not ...:
        path.write_bytes(filled(content.decode("latin-1")).encode("latin-1"))
    if through == "python":
        with pytest.raises(ms.InvalidInput) as caught:
            import_answers(study, path)
        text = one_line(caught.value)
    else:
        code, out, text = command("answers", "import", "tea", name, "--db", "tea.db")
        assert (code, out) == (2, "")
        one_line(text.strip())
    assert filled(words) in text
    assert study.progress().total == 1
    assert import_answers(study, _csv(tmp_path, f"id,answer\n{ok.id},1\n")) == {"taken": 1, "surplus": 0, "known": 0}


def _csv(folder, text, encoding="utf-8"):
    (folder / "good.csv").write_bytes(text.encode(encoding))
    return folder / "good.csv"


def test_files_as_programs_write_them(study, tmp_path):
    a, b, c, d = (q.id for q in study.ask_many(4))
    text = f"\ufeffid;strength;answer\r\n{a};1,5; 6 \r\n{b};2;\r\n;;\r\n\r\n{c};;-1e1\r\n{c};;-10\r\n"
    assert import_answers(study, _csv(tmp_path, text)) == {"taken": 2, "surplus": 0, "known": 0}
    assert import_answers(study, _csv(tmp_path, f'answer,"id"\n+2.5,"{b}"\n6,{a}')) == {
        "taken": 1,
        "surplus": 0,
        "known": 1,
    }
    assert import_answers(study, _csv(tmp_path, f"id\tanswer\n{d}\t0\n"))["taken"] == 1
    assert import_answers(study, _csv(tmp_path, "id,answer\n")) == {"taken": 0, "surplus": 0, "known": 0}
    assert [row["answer"] for row in study.answers()] == [6.0, 2.5, -10.0, 0.0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_open_questions_go_out_and_come_back(tmp_path, kind):
    names = ["=1+1", "id", "@cmd"]
    study = ms.create_study(tmp_path / "tea.db", "tea", **SMALL, features=names)
    path = tmp_path / f"questions.{kind}"
    assert export_open(study, path, 5) == 5
    assert study.progress().out == 5
    if kind == "csv":
        head, *lines = path.read_text().splitlines()
        assert head == "id,'=1+1,feature id,'@cmd,answer"
        first = lines[0].split(",")
        path.write_text("\n".join([head, *(f"{line}{i}" for i, line in enumerate(lines))]))
        assert float(first[1]) == study._storage.asked(0)[0][0, 0]
    else:
        table = pq.read_table(path)
        assert table.column_names == ["id", "=1+1", "feature id", "@cmd", "answer"]
        pq.write_table(table.set_column(4, "answer", pa.array([0, 1, 2, None, 4])), path)
    taken = import_answers(study, path)["taken"]
    assert taken == (5 if kind == "csv" else 4)
    study.release()
    q = study.ask_many(100)[-1]
    study.tell(q.id, 9.0)
    out = tmp_path / f"answers.{kind}"
    assert export_answers(study, out) == taken + 1
    if kind == "parquet":
        assert pq.read_table(out).column("answer").to_pylist()[:3] == [0.0, 1.0, 2.0]
    else:
        assert out.read_text().splitlines()[0] == "id,round,'=1+1,feature id,'@cmd,surplus,answer"
    assert import_answers(study, out) == {"taken": 0, "surplus": 0, "known": taken + 1}
    with pytest.raises(ms.InvalidInput, match="cannot be written"):
        export_open(study, tmp_path / "no" / f"x.{kind}")
    with pytest.raises(ms.InvalidInput, match="cannot be written"):
        export_answers(study, tmp_path / "no" / f"x.{kind}")


def test_every_formula_is_made_harmless():
    for cell in ("=1", "+1", "-1", "@a", "\ta", "\ra"):
        assert harmless(cell) == f"'{cell}"


PLAN = """\
name = "tea"
gamma = 0.4
sigma = 1.0
seed = 1
intercept = true
answer_range = [0, 100]
[[features]]
name = "strength"
unit = "g/l"
range = [0, 10]
[[features]]
name = "[bold]milk"
range = [0.0, 50.0]
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("gamma = 0.4", "gamma = = 0.4", "is no TOML file"),
        ("gamma = 0.4", "gamma = 'a'", "gamma is 'a'"),
        ("gamma = 0.4", "gama = 0.4", "has no option 'gama'"),
        ("gamma = 0.4", "url = 'x.db'", "'url' does not belong here"),
        ("gamma = 0.4", "\0", "is no TOML file"),
        ('name = "tea"', "name = 7", "name is 7"),
        ("range = [0, 10]", "", "'strength' has no range"),
        ("range = [0, 10]", "range = [10, 0]", "strength"),
        ("range = [0, 10]", "ranges = [0, 10]", "a feature is"),
        ("range = [0, 10]", "range = 'wide'", "strength"),
        ('unit = "g/l"', "unit = 7", "units is"),
        ("[[features]]", "[features]", "is no TOML file"),
        (PLAN, "gamma = 0.4", "says nothing about the features"),
        (PLAN, "features = []", "features is []"),
        (PLAN, "n = 3\ngamma = nan", "not finite"),
    ],
)
def test_a_plan_that_is_wrong(command, tmp_path, old, new, words):
    (tmp_path / "plan.toml").write_text(PLAN.replace(old, new))
    code, out, err = command("create", "plan.toml")
    assert (code, out) == (2, "")
    assert words in one_line(err.strip())
    assert not (tmp_path / "mixsense.db").exists()


def test_commands_that_are_wrong(command, study, tmp_path):
    q = study.ask()
    (tmp_path / "bad.toml").write_bytes(b"name = '\xff'")
    cases = [
        (("create", "none.toml"), "cannot be read"),
        (("create", "bad.toml"), "is no TOML file"),
        (("ask", "coffee"), "has no study 'coffee' (it has 'tea')"),
        (("ask", "tea", "--count", "0"), "count is 0"),
        (("ask", "tea", "--count", "x"), "x"),
        (("tell", "tea", q.id, "good"), "the answer is 'good': give a number"),
        (("tell", "tea", q.id, "nan"), "the answer is nan"),
        (("tell", "tea", q.id, "6,5"), "with a decimal point"),
        (("tell", "tea", "17", "1"), "the question's id is '17'"),
        (("tell", "tea", "bbbb-17", "1"), "belongs to another study"),
        (("tell", "tea", "\udcff", "1"), "the question's id is"),
        (("answers", "export", "tea", "a.txt"), "neither .csv nor .parquet"),
        (("answers", "export", "tea", "a.csv", "--count", "3"), "--count goes with --open"),
        (("result", "coffee"), "has no study"),
        (("delete", "coffee", "--yes"), "has no study"),
    ]
    for args, words in cases:
        code, _, err = command(*args, "--db", "tea.db")
        assert (code, words in err) == (2, True), (args, err)
        assert "Traceback" not in err
    assert command("list", "--db", "none.db")[0] == 2
    assert not (tmp_path / "none.db").exists()
    assert study.progress().total == 0


def test_a_study_on_the_command_line(command, tmp_path):
    rng = np.random.default_rng(2)

    def rate(queries, repeats):
        second = rng.integers(2, size=(len(queries), 1))
        means = np.where(second, 20 + queries @ [[3.0], [0.4]], 30 + queries @ [[-1.0], [1.0]])
        return means + rng.standard_normal(means.shape)

    (tmp_path / "plan.toml").write_text(PLAN)
    code, out, _ = command("create", "plan.toml")
    assert (code, "created 'tea'; its seed is 1" in out) == (0, True)
    assert command("create", "plan.toml", "--name", "coffee", "--json")[1] == '{"name": "coffee", "seed": 1}\n'
    code, out, _ = command("list")
    assert code == 0
    assert [line.split("│")[1].strip() for line in out.splitlines() if "asking" in line] == ["coffee", "tea"]
    assert [row["name"] for row in json.loads(command("list", "--json")[1])] == ["coffee", "tea"]

    question = json.loads(command("ask", "tea", "--json")[1])
    assert set(question["x"]) == {"strength", "[bold]milk"}
    assert all(0 <= x <= 50 for x in question["x"].values())
    value = f"{rate(np.array([[*question['x'].values()]]), 1)[0, 0]:.1f}"
    assert command("tell", "tea", question["id"], value)[:2] == (0, "taken\n")
    told = command("tell", "tea", question["id"], value, "--json")[1]
    assert json.loads(told) == {"id": question["id"], "outcome": "known"}
    code, out, err = command("tell", "tea", question["id"], "-6.5")  # a negative number is no option
    assert (code, "give a number from 0 to 100" in err) == (2, True)
    code, out, _ = command("ask", "tea", "--count", "2")
    assert out.count("question ") == 2
    assert "[bold]milk" in out
    assert "\x1b" not in out  # colours are for terminals
    assert "1 of" in command("status", "tea")[1]
    assert json.loads(command("status", "tea", "--json")[1])["answered"] == 1

    code, out, err = command("result", "tea")
    assert (code, out, "no estimate yet" in err) == (3, "", True)
    code, out, _ = command("answers", "export", "tea", "open.csv", "--open", "--json")
    count = json.loads(out)["questions"]
    assert command("ask", "tea")[0] == 3  # all questions are out
    assert command("answers", "export", "tea", "open2.csv", "--open", "--count", "3")[1] == "0 questions in open2.csv\n"

    study = ms.load_study("mixsense.db", "tea")
    ms.run_study(study, rate, workers=1, batch=50)
    code, out, _ = command("result", "tea", "--out", "r.json")
    assert (code, out.splitlines()[0].split(":")[0]) == (0, "certified")
    assert "[bold]milk" in out
    result = ms.Recovery.from_json((tmp_path / "r.json").read_text())
    assert ms.Recovery.from_json(command("result", "tea", "--json")[1]) == result
    assert command("ask", "tea")[0] == 4
    code, out, _ = command("answers", "export", "tea", "answers.parquet")
    assert out == f"{result.queries:,} answers in answers.parquet\n"
    assert command("answers", "import", "tea", "answers.parquet")[1].endswith(f"{result.queries:,} known before\n")
    assert count < result.queries
    assert command("result", "tea", "--out", "no/where.json")[0] == 2
    assert command("delete", "tea", "--yes")[1] == "removed 'tea'\n"
    assert [row["name"] for row in json.loads(command("list", "--json")[1])] == ["coffee"]


def test_every_command_is_explained(command):
    for page in ((), ("answers",)):
        code, out, _ = command(*page, "--help")
        assert code == 0
        for name in (
            ("create", "ask", "tell", "status", "result", "delete", "list") if not page else ("import", "export")
        ):
            assert name in out
            code, text, _ = command(*page, name, "--help")
            assert "Exit codes: 0 done" in " ".join(text.split())
