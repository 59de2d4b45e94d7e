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
from mixsense.cli import main as cli
from mixsense.rounds import Steps
from mixsense.studies.files import export_answers, export_open, import_answers, same_value
from mixsense.studies.storage.database import as_url
from mixsense.studies.tablefile import harmless

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
        ({"gamma": np.nan}, "must be finite"),
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
        ("text.db", "is not an SQLite file", False),
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
    "comma.csv": (b'id,answer\nID,"6,5"\n', "with a decimal point"),
    "thousands.csv": (b"id;answer\nOK;1\nID;1.006,5\n", "line 3: the answer is '1.006,5': give a number"),
    "commas.csv": (b"id;answer\nID;1,006,5\n", "line 2: the answer is '1,006,5'"),
    "underscore.csv": (b"id,answer\nID,1_0\n", "line 2: the answer is '1_0'"),
    "id.csv": (b"id,answer\nOK,1\nnobody,1\n", "line 3: the question's id is 'nobody'"),
    "other.csv": (b"id,answer\nbbbb-1,1\n", "line 2: question bbbb-1 belongs to another study"),
    "never.csv": (b"id,answer\nOK,1\nKEY-99,1\n", "line 3: question KEY-99 was never handed out"),
    "never2.csv": (b"Id,x0,Answer\nOK,,1\nKEY-99,1,1\n", "line 3: question KEY-99 was never handed out"),
    "sorted.csv": (b"id,x1,answer\nOK,SECOND,1\nID,SECOND,1\n", "line 2: question OK asks x1 = "),
    "upper.csv": (b"Id;X1;ANSWER\nOK;;1\nID;SECOND;1\n", "line 3: question ID asks x1 = "),
    "date.csv": (b"id,x1,answer\nID,04. Mai,1\n", "the file says '04. Mai': keep each row as it was exported"),
    "titles.csv": (b"id,x1,x1,answer\nID,1,1,1\n", "line 1: there is more than one column 'x1'"),
    "sorted.parquet": ({"id": ["OK", "ID"], "answer": [1.0, 2.0], "x2": [None, 99.0]}, "row 2: question ID asks x2"),
    "twice.csv": (b"id,answer\nID,1\nID,2\n", "line 3: question ID has the answer 2 here and 1 in line 2"),
    "before.csv": (b"id,answer\nOK,1\nKNOWN,5\n", "line 3: question KNOWN was answered with 4 before, now with 5"),
    "short.csv": (b"id,answer\nOK,1\nID\n", "line 3: 1 cells under 2 columns"),
    "long.csv": (b"id,answer\nID,1,2\n", "line 2: 3 cells under 2 columns"),
    "columns.csv": (b"name,value\nID,1\n", "no column 'id'"),
    "double.csv": (b"id,answer,answer\nID,1,1\n", "more than one column 'answer'"),
    "empty.csv": (b"", "no column 'id'"),
    "nul.csv": (b"id,answer\nID,\0\n", "line 2"),
    "nuls.csv": (b"\0" * 1000, "line 1"),
    "latin.csv": ("id,answer\nOK,1\nÄ,1\n".encode("latin-1"), "line 3: not UTF-8"),
    "utf16.csv": ("id,answer\nID,1\n".encode("utf-16"), "line 1: not UTF-8"),
    "line.csv": (b"id,answer\nOK,1\n" + b"9" * 10_000_000 + b",1\n", "line 3: not CSV (field larger"),
    "quote.csv": (b'id,answer\nOK,1\n"ID,1\n', "not CSV (unexpected end of data)"),
    "folder.csv": (None, "cannot be read"),
    "missing.csv": (..., "cannot be read"),
    "answers.xls": (b"id,answer\nID,1\n", "neither .csv nor .parquet"),
    "text.parquet": (b"id,answer\nID,1\n", "is not a Parquet file"),
    "missing.parquet": (..., "cannot be read"),
    "cut.parquet": ("cut", "is not a Parquet file"),
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
    ids = {"KNOWN": known.id, "OK": ok.id, "ID": fresh.id, "KEY": study._row.key, "SECOND": repr(float(known.x[1]))}

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


def test_a_spreadsheet_of_many_languages_comes_back(tmp_path):
    box = [(0.1, 0.7), (-1e6, 1e6), (0, 1 / 3)]
    study = ms.create_study(tmp_path / "tea.db", "tea", **SMALL, features=["Stärke", "ID", "a,b;c"], box=box)
    path = tmp_path / "questions.csv"
    assert export_open(study, path, 3) == 3
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    assert head == 'id,Stärke,feature ID,"a,b;c",answer'
    rows = [line.split(",") for line in lines]
    german = [
        [id_, *(f"{float(x):.4f}".replace(".", ",") for x in xs), f"{i},5"] for i, (id_, *xs, _) in enumerate(rows)
    ]
    lines = ['ID;STÄRKE;Feature id;"A,B;C";Answer', *(";".join(row) for row in german)]
    path.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    assert import_answers(study, path)["taken"] == 3
    assert [row["answer"] for row in study.answers()] == [0.5, 1.5, 2.5]
    # Two rows change places in one column only.
    first, *others = study.ask_many(20)
    other = next(q for q in others if q.x[1] != first.x[1])
    path.write_text(f"id;feature ID;answer\n{first.id};{other.x[1]:.3f};1\n", encoding="utf-8")
    with pytest.raises(ms.InvalidInput, match=r"line 2: question .* asks ID = .*sorted by itself\?\); nothing"):
        import_answers(study, path)
    assert study.progress().total == 3


@pytest.mark.parametrize(
    ("cell", "x", "same"),
    [
        ("16", 16.0, True),
        ("16.000001", 16.0, True),
        ("16.001", 16.0, False),
        ("0.3", 0.3333, True),
        ("0.4", 0.3333, False),
        ("1.23E+05", 123_456.0, True),
        ("1.24E+05", 123_456.0, False),
        (np.float32(0.1).item(), 0.1, True),
        (0.11, 0.1, False),
        ("-0", 0.0, True),
        ("nan", 0.0, False),
        ("1e999", 0.0, False),
        ("1e999999999", 0.0, False),
        ("strong", 1.0, False),
        (b"1", 1.0, False),
    ],
)
def test_values_are_the_same_up_to_their_digits(cell, x, same):
    assert same_value(cell, x) is same


def test_a_file_with_answers_is_not_replaced(study, command, tmp_path):
    path = tmp_path / "monday.csv"
    assert command("answers", "export", "tea", "monday.csv", "--open", "--count", "2", "--db", "tea.db")[0] == 0
    path.write_text(path.read_text() + "typed in,by hand\n")
    before = path.read_text()
    for args in (("--open",), ()):
        code, out, err = command("answers", "export", "tea", "monday.csv", *args, "--db", "tea.db")
        assert (code, out) == (2, "")
        assert "monday.csv is there already" in one_line(err.strip())
        assert "--force" in err
    assert (path.read_text(), study.progress().out) == (before, 2)
    with pytest.raises(ms.InvalidInput, match="is there already"):
        export_answers(study, path)
    assert command("answers", "export", "tea", "monday.csv", "--open", "--force", "--db", "tea.db")[0] == 0
    assert "typed in" not in path.read_text()
    filled = path.read_text()
    # Nothing is left to hand out: the exit code of `ask`, and no file is touched.
    for name, more in (("tuesday.csv", ()), ("monday.csv", ("--force",))):
        code, out, err = command("answers", "export", "tea", name, "--open", *more, "--db", "tea.db")
        assert (code, out) == (5, "")
        assert f"{name} was not written" in one_line(err.strip())
        assert "waiting: all questions of this round are out" in err
    assert (path.read_text(), (tmp_path / "tuesday.csv").exists()) == (filled, False)
    released = json.loads(command("release", "tea", "--json", "--db", "tea.db")[1])
    assert released == {"released": study.progress().size}
    assert (study.progress().out, study.progress().state) == (0, "asking")
    assert command("release", "tea", "--db", "tea.db")[1] == "0 questions released\n"


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
        assert float(first[1]) == study._storage.round(0)[0].queries[0, 0]
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
        ("gamma = 0.4", "gamma = = 0.4", "is not a TOML file"),
        ("gamma = 0.4", "gamma = 'a'", "gamma is 'a'"),
        ("gamma = 0.4", "gama = 0.4", "has no option 'gama'"),
        ("gamma = 0.4", "url = 'x.db'", "'url' does not belong here"),
        ("gamma = 0.4", "\0", "is not a TOML file"),
        ('name = "tea"', "name = 7", "name is 7"),
        ("range = [0, 10]", "", "'strength' has no range"),
        ("range = [0, 10]", "range = [10, 0]", "strength"),
        ("range = [0, 10]", "ranges = [0, 10]", "a feature is"),
        ("range = [0, 10]", "range = 'wide'", "strength"),
        ('unit = "g/l"', "unit = 7", "units is"),
        ("[[features]]", "[features]", "is not a TOML file"),
        ("gamma = 0.4", "n = 4", "n is 4, and there are 2 [[features]]"),
        ('name = "strength"', 'name = "(intercept)"', "a feature is called '(intercept)'"),
        ('name = "tea"', 'name = ""', "name is ''"),
        (PLAN, "gamma = 0.4", "says nothing about the features"),
        (PLAN, "features = []", "features is []"),
        (PLAN, "n = 3\ngamma = nan", "must be finite"),
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
    (tmp_path / "good.toml").write_text("n = 3")
    (tmp_path / "bad.toml").write_bytes(b"name = '\xff'")
    cases = [
        (("create", "none.toml"), "cannot be read"),
        (("create", "bad.toml"), "is not a TOML file"),
        (("create", "good.toml", "--name", ""), "name is ''"),
        (("release", "coffee"), "has no study"),
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
    assert "until: gamma is 0.4, no budget (max_queries)" in out
    assert "default" not in out
    made = json.loads(command("create", "plan.toml", "--name", "coffee", "--json")[1])
    assert made == {"name": "coffee", "seed": 1, "gamma": 0.4, "max_queries": None}
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
    now = json.loads(command("status", "tea", "--json")[1])
    assert (now["answered"], now["gamma"], now["max_queries"]) == (1, 0.4, None)

    code, out, err = command("result", "tea")
    assert (code, out, "no estimate yet" in err) == (3, "", True)
    code, out, _ = command("answers", "export", "tea", "open.csv", "--open", "--json")
    count = json.loads(out)["questions"]
    assert command("ask", "tea")[0] == 5  # all questions are out
    assert command("answers", "export", "tea", "open2.csv", "--open", "--count", "3")[:2] == (5, "")

    study = ms.load_study("mixsense.db", "tea")
    ms.run_study(study, rate, workers=1, batch=50)
    code, out, _ = command("result", "tea", "--out", "r.json")
    assert (code, out.splitlines()[0].split(":")[0]) == (0, "certified")
    assert "[bold]milk" in out
    result = ms.Recovery.from_json((tmp_path / "r.json").read_text())
    assert ms.Recovery.from_json(command("result", "tea", "--json")[1]) == result
    assert command("ask", "tea")[0] == 6
    code, out, err = command("answers", "export", "tea", "open2.csv", "--open")
    assert (code, out, "ended: there is a result" in err) == (6, "", True)
    assert not (tmp_path / "open2.csv").exists()
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
        verbs = ("create", "ask", "tell", "status", "result", "release", "delete", "list")
        for name in ("import", "export") if page else verbs:
            assert name in out
            code, text, _ = command(*page, name, "--help")
            assert "Exit codes: 0 done" in " ".join(text.split())


def test_the_help_shows_brackets(command):
    text = " ".join(command("create", "--help")[1].replace("│", " ").split())
    assert "answer_range = [1, 7]" in text
    assert "range = [low, high]" in text
    assert text.count("[[features]]") == 2
    assert "\\" not in text


def test_a_plan_without_gamma_says_which_it_is(command, tmp_path):
    (tmp_path / "plan.toml").write_text("n = 3\nsigma = 1.0\nmax_queries = 500\n")
    out = command("create", "plan.toml")[1]
    assert "until: gamma is 0.1, at most 500 answers" in out
    assert "plan.toml gives no gamma: it is 0.1 by default" in out
    now = json.loads(command("status", "plan", "--json")[1])
    assert (now["gamma"], now["max_queries"]) == (0.1, 500)


def test_a_method_that_breaks_loses_no_answer(study, command, monkeypatch):
    def broken(self, answers):
        raise np.linalg.LinAlgError("Singular\nmatrix")

    size = study.progress().size
    rng = np.random.default_rng(1)
    study.tell_many([(q.id, float(q.x[0] + rng.standard_normal())) for q in study.ask_many(size)])
    with monkeypatch.context() as patch:
        patch.setattr(Steps, "send", broken)
        for verb in ("ask", "result"):
            code, out, err = command(verb, "tea", "--db", "tea.db")
            assert (code, out) == (1, "")
            assert "(LinAlgError: Singular matrix); no answer is lost" in one_line(err.strip())
        with pytest.raises(ms.StudyError, match="LinAlgError") as caught:
            study.ask()
        assert isinstance(caught.value.__cause__, np.linalg.LinAlgError)
        assert (study.progress().state, study.progress().total) == ("ready", size)
    assert study.ask() is not None  # the same object, and any other, goes on
    assert study.progress().round == 2
