"""Files of answers: as programs and people write them, and wrong in every way; then nothing is stored."""

from __future__ import annotations

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mixsense as ms
from mixsense.fitting import tuning
from mixsense.fitting.files import read_file
from mixsense.studies.files import export_answers, export_open, import_answers, same_value
from mixsense.studies.tablefile import harmless
from study_cases import TINY, one_line

pytest_plugins = ["study_storages"]


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
    "sorted.csv": (b"id,x1,answer\nOK,99.5,1\nID,99.5,1\n", "line 2: question OK asks x1 = "),
    "upper.csv": (b"Id;X1;ANSWER\nOK;;1\nID;99.5;1\n", "line 3: question ID asks x1 = "),
    "date.csv": (b"id,x1,answer\nID,04. Mai,1\n", "the file says '04. Mai': keep each row as it was exported"),
    "titles.csv": (b"id,x1,x1,answer\nID,1,1,1\n", "line 1: there is more than one column 'x1'"),
    "sorted.parquet": ({"id": ["OK", "ID"], "answer": [1.0, 2.0], "x2": [None, 99.0]}, "row 2: question ID asks x2"),
    "twice.csv": (b"id,answer\nID,1\nID,2\n", "line 3: question ID has another answer in line 2: give one"),
    "before.csv": (b"id,answer\nOK,1\nKNOWN,5\n", "line 3: question KNOWN has another answer already"),
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
    "cr.csv": (b"id,answer\rOK,1\rID,good\r", "line 3: the answer is 'good'"),
    "cr-latin.csv": ("id,answer\rOK,1\rÄ,1\r".encode("latin-1"), "line 3: not UTF-8"),
    "long.parquet": ("rows", "long.parquet has 2,000,000 rows or more, and this study takes 10,1"),
    "rows.csv": (b"id,answer\n" + b"ID,1\n" * 20_000, "rows or more, and this study takes 10,1"),
    "huge.csv": ("huge", "has 10,000,000,000 bytes, and may have"),
    "pipe.csv": ("pipe", "cannot be read (it is not a regular file)"),
    "pipe.parquet": ("pipe", "cannot be read (it is not a regular file)"),
    "folder.parquet": (None, "cannot be read"),
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
    elif content == "rows":
        with pq.ParquetWriter(path, schema=pa.schema([("id", pa.string()), ("answer", pa.float64())])) as writer:
            part = pa.table({"id": pa.array([fresh.id] * 10**6), "answer": pa.array(np.ones(10**6))})
            for _ in range(2):
                writer.write_table(part)
    elif content == "huge":
        with path.open("wb") as file:
            file.truncate(10**10)
    elif content == "pipe":
        os.mkfifo(path)
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
    assert import_answers(study, _csv(tmp_path, f"id,answer\n{a},6\n" + 20_000 * ",\n"))["known"] == 1
    assert import_answers(study, _csv(tmp_path, f'answer,"id"\n+2.5,"{b}"\n6,{a}')) == {
        "taken": 1,
        "surplus": 0,
        "known": 1,
    }
    assert import_answers(study, _csv(tmp_path, f"id\tanswer\n{d}\t0\n"))["taken"] == 1
    assert import_answers(study, _csv(tmp_path, f"id;x0;answer\r{a};;6\r{b};;2,5")) == {
        "taken": 0,
        "surplus": 0,
        "known": 2,
    }
    assert import_answers(study, _csv(tmp_path, "id,answer\n")) == {"taken": 0, "surplus": 0, "known": 0}
    assert {row["id"]: row["answer"] for row in study.answers()} == {a: 6.0, b: 2.5, c: -10.0, d: 0.0}


def test_features_that_are_called_like_columns_come_back(tmp_path):
    names = ["group", "feature group", "Answer", "feature feature group"]
    study = ms.create_study(tmp_path / "tea.db", "tea", n=4, sigma=1.0, seed=1, features=names)
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        assert export_open(study, path, 3) == 3
    head, *lines = (tmp_path / "a.csv").read_text().splitlines()
    own = "feature feature feature group,feature group,feature Answer,feature feature group"
    assert head == f"id,{own},group,answer"
    (tmp_path / "a.csv").write_text("\n".join([head, *(f"{line}1" for line in lines)]))
    assert import_answers(study, tmp_path / "a.csv")["taken"] == 3
    assert pq.read_table(tmp_path / "a.parquet").column_names == head.split(",")


def test_a_spreadsheet_of_many_languages_comes_back(tmp_path):
    box = [(0.1, 0.7), (-1e6, 1e6), (0, 1 / 3)]
    study = ms.create_study(tmp_path / "tea.db", "tea", **TINY, features=["Stärke", "ID", "a,b;c"], box=box)
    path = tmp_path / "questions.csv"
    assert export_open(study, path, 3) == 3
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    assert head == 'id,Stärke,feature ID,"a,b;c",group,answer'
    rows = [line.split(",") for line in lines]
    german = [
        [id_, *(f"{float(x):.4f}".replace(".", ",") for x in xs), f"{i},5"] for i, (id_, *xs, _, _) in enumerate(rows)
    ]
    lines = ['ID;STÄRKE;Feature id;"A,B;C";Answer', *(";".join(row) for row in german)]
    path.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    assert import_answers(study, path)["taken"] == 3
    assert {row["id"]: row["answer"] for row in study.answers()} == {row[0]: i + 0.5 for i, row in enumerate(rows)}
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
    study = ms.create_study(tmp_path / "tea.db", "tea", **TINY, features=names)
    path = tmp_path / f"questions.{kind}"
    assert export_open(study, path, 5) == 5
    assert study.progress().out == 5
    if kind == "csv":
        head, *lines = path.read_text().splitlines()
        assert head == "id,'=1+1,feature id,'@cmd,group,answer"
        first = lines[0].split(",")
        path.write_text("\n".join([head, *(f"{line}{i}" for i, line in enumerate(lines))]))
        assert float(first[1]) in study._storage.round(0)[0].queries[:, 0]
    else:
        table = pq.read_table(path)
        assert table.column_names == ["id", "=1+1", "feature id", "@cmd", "group", "answer"]
        pq.write_table(table.set_column(5, "answer", pa.array([0, 1, 2, None, 4])), path)
    taken = import_answers(study, path)["taken"]
    assert taken == (5 if kind == "csv" else 4)
    study.release()
    q = study.ask_many(100)[-1]
    study.tell(q.id, 9.0)
    out = tmp_path / f"answers.{kind}"
    assert export_answers(study, out) == taken + 1
    if kind == "parquet":
        assert sorted(pq.read_table(out).column("answer").to_pylist()) == [0.0, 1.0, 2.0, 4.0, 9.0]
    else:
        assert out.read_text().splitlines()[0] == "id,round,'=1+1,feature id,'@cmd,group,surplus,answer"
    assert import_answers(study, out) == {"taken": 0, "surplus": 0, "known": taken + 1}
    with pytest.raises(ms.InvalidInput, match="cannot be written"):
        export_open(study, tmp_path / "no" / f"x.{kind}")
    with pytest.raises(ms.InvalidInput, match="cannot be written"):
        export_answers(study, tmp_path / "no" / f"x.{kind}")


def test_every_formula_is_made_harmless():
    for cell in ("=1", "+1", "-1", "@a", "\ta", "\ra"):
        assert harmless(cell) == f"'{cell}"


def strange_columns():
    """Columns that Parquet can hold and Python cannot."""
    at = pa.py_buffer(np.array([0, 2], dtype=np.int32).tobytes())
    yield "text that is not UTF-8", pa.Array.from_buffers(pa.string(), 1, [None, at, pa.py_buffer(b"\xff\xfe")])
    late = pa.array([2**61], pa.int64())
    for kind in (pa.timestamp("ms"), pa.timestamp("us"), pa.date64(), pa.duration("s")):
        yield str(kind), late.cast(kind, safe=False)
    yield "fields of one name", pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])


@pytest.mark.parametrize("column", [pytest.param(column, id=name) for name, column in strange_columns()])
def test_columns_that_python_cannot_hold_are_one_line(tmp_path, column):
    study = ms.create_study(tmp_path / "a.db", "tea", **TINY)
    question = study.ask()
    tables = [{"id": [question.id], "answer": column}, {"id": [question.id], "answer": [1.0], "x0": column}]
    if column.type == pa.string():
        tables.append({"id": column, "answer": [1.0]})
    for table in tables:
        pq.write_table(pa.table(table), tmp_path / "t.parquet")
        with pytest.raises(ms.InvalidInput, match=r"t\.parquet, column '\w+': it cannot be read") as caught:
            import_answers(study, tmp_path / "t.parquet")
        assert "nothing was stored" in one_line(caught.value)
    assert study.progress().total == 0


def long_cells():
    """Columns whose cells take far more room in memory than in a file."""
    long, first = pa.array(["x" * 2_000_000]), pa.array(np.zeros(1000, dtype=np.int32))
    yield "in a dictionary", pa.DictionaryArray.from_arrays(first, long)
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.string_view()):
        yield str(kind), pa.array([b"x" * 2_000_000 if kind == pa.binary() else "x" * 2_000_000] * 100, kind)
    yield "of fixed length", pa.array([b"x" * 200_000] * 100, pa.binary(200_000))
    yield "lists", pa.array([[0] * 100_000] * 100)


@pytest.mark.parametrize("column", [pytest.param(column, id=name) for name, column in long_cells()])
def test_cells_that_are_packed_are_never_unpacked(tmp_path, column):
    study = ms.create_study(tmp_path / "a.db", "tea", **TINY)
    path, numbers = tmp_path / "t.parquet", np.ones(len(column))
    for titles in (("id", "answer"), ("answer", "id"), ("group", "id", "answer")):
        columns = dict(zip(titles, (column, numbers, numbers), strict=False))
        pq.write_table(pa.table(columns), path, compression="zstd", store_schema=titles[0] != "answer")
        assert path.stat().st_size < 100_000
        group = "group" if "group" in columns else None
        for use in (lambda: import_answers(study, path), lambda: read_file(path, "answer", group)):  # noqa: B023
            with pytest.raises(
                ms.InvalidInput, match=r"it cannot be read \((a cell has 2,000,000 bytes|it holds)"
            ) as caught:
                use()
            one_line(caught.value)


@pytest.mark.parametrize("packed", [True, False])
def test_texts_of_a_parquet_file_come_as_they_are(tmp_path, packed):
    who = [None if i % 7 == 0 else " ann " if i % 2 else f"{'b' * 990}{i}" for i in range(2500)]
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        columns = {"who": pa.array(who, kind), "y": np.ones(2500), "x": pa.array(list(map(str, range(2500))), kind)}
        pq.write_table(pa.table(columns), tmp_path / "t.parquet", use_dictionary=packed, row_group_size=1200)
        found = read_file(tmp_path / "t.parquet", "y", "who")
        assert found.groups == [name and name.strip() for name in who]
        assert found.X[:, 0].tolist() == list(range(2500))


def test_columns_that_are_large_when_unpacked_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "MOST_BYTES", 100_000)
    table = pa.table({"x": np.arange(20_000.0), "y": np.ones(20_000), "unused": np.arange(20_000.0)})
    pq.write_table(table, tmp_path / "t.parquet", use_dictionary=False, compression="zstd")
    with pytest.raises(
        ms.InvalidInput, match=r"has 3[0-9]{2},[0-9]{3} bytes in the columns .* 100,000 at most"
    ) as caught:
        read_file(tmp_path / "t.parquet", "y", columns=["x"])
    one_line(caught.value)


@pytest.mark.parametrize("path", ["a\0.csv", "a\0.parquet"])
def test_a_path_with_a_nul_is_one_line(tmp_path, path):
    study = ms.create_study(tmp_path / "a.db", "tea", **TINY)
    for use in (import_answers, export_answers, export_open):
        with pytest.raises(ms.InvalidInput, match=r"the file 'a\\x00\.") as caught:
            use(study, path)
        one_line(caught.value)
