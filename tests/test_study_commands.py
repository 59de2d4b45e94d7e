"""`mixsense study …`: a study from plan to result on the command line, and what is wrong in one line."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest

import mixsense as ms
from mixsense.rounds import Steps
from mixsense.studies.registry import delete_study
from study_cases import one_line

pytest_plugins = ["study_storages"]


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
        *(("range = [0, 10]", f"range = {none}", "strength") for none in ("[]", "''", "{}")),
        *(("range = [0, 10]", f"range = {none}", "give (low, high) for each feature") for none in ("0", "false")),
        ('range = [0, 10]\n[[features]]\nname = "[bold]milk"\nrange = [0.0, 50.0]', "range = []", "strength"),
        ('unit = "g/l"', "unit = 7", "units is"),
        ("[[features]]", "[features]", "is not a TOML file"),
        ("gamma = 0.4", "n = 4", "n is 4, and there are 2 [[features]]"),
        ('name = "strength"', 'name = "(intercept)"', "a feature is called '(intercept)'"),
        ('name = "tea"', 'name = ""', "name is ''"),
        ("gamma = 0.4", "lease = 1e300", "lease is 1e+300; it must be at most"),
        ("gamma = 0.4", "notes = 5", "notes is 5"),
        ("gamma = 0.4", "models = 7", "models is 7; it must be at most 6"),
        ("gamma = 0.4", 'models = "many"', "models is 'many': give a number from 1 to 6"),
        ("gamma = 0.4", "models = 3\nweights = [0.5, 0.5]", "weights has 2 entries, models is 3"),
        ('unit = "g/l"', 'unit = "\\u001b[31m"', "a unit is '\\x1b[31m'"),
        (PLAN, "gamma = 0.4", "says nothing about the features"),
        (PLAN, "features = []", "features is []"),
        (PLAN, "n = 3\ngamma = nan", "must be finite"),
        (PLAN, 'n = 3\nmethod = "paper"\nk = 2\nsigma = 1\nconstants = [1]', "constants is [1]"),
    ],
)
def test_a_plan_that_is_wrong(command, tmp_path, old, new, words):
    (tmp_path / "plan.toml").write_text(PLAN.replace(old, new))
    code, out, err = command("create", "plan.toml")
    assert (code, out) == (2, "")
    assert words in one_line(err.strip())
    assert not (tmp_path / "mixsense.db").exists()


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1e400", "9" * 5000])
def test_a_wait_that_never_ends_is_refused(command, study, seconds):
    code, out, err = command("advance", "tea", "--watch", seconds, "--db", "tea.db")
    assert (code, out) == (2, "")
    assert "--watch is" in one_line(err.strip())


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


@pytest.mark.parametrize(
    ("line", "models", "weights"),
    [
        ("", "auto", None),
        ('models = "auto"', "auto", None),
        ("models = 3", 3, None),
        ('models = 3\nweights = "equal"', 3, "equal"),
        ("weights = [0.5, 0.3, 0.2]", 3, [0.5, 0.3, 0.2]),
    ],
)
def test_a_plan_says_how_many_models_there_are(command, tmp_path, line, models, weights):
    (tmp_path / "plan.toml").write_text(f"n = 3\nsigma = 1.0\n{line}\n")
    assert command("create", "plan.toml")[0] == 0
    with contextlib.closing(ms.load_study("mixsense.db", "plan")) as study:
        found = study.problem["weights"]
        assert (study.problem["models"], list(found) if isinstance(weights, list) else found) == (models, weights)


def test_the_result_of_one_model_has_an_exit_code_of_its_own(command, tmp_path):
    rng = np.random.default_rng(1)
    (tmp_path / "plan.toml").write_text("n = 3\nsigma = 0.1\ngamma = 0.3\nseed = 1\n")
    assert command("create", "plan.toml")[0] == 0
    with contextlib.closing(ms.load_study("mixsense.db", "plan")) as study:
        ms.run_study(study, lambda X, repeats: X[:, :1] + 0.1 * rng.standard_normal((len(X), repeats)), workers=1)
    code, out, _ = command("result", "plan", "--out", "r.json", "--html", "r.html", "--plot", "r.png")
    first, titles, *_ = out.splitlines()
    assert (code, first.split(":")[0], titles.split()) == (7, "single", ["coefficient", "vector", "1"])
    assert ms.Recovery.from_json((tmp_path / "r.json").read_text()).status == "single"
    assert "<table" in (tmp_path / "r.html").read_text()
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    assert command("result", "plan", "--plot", "r.doc")[::2] == (
        2,
        "mixsense: r.doc cannot be drawn: give a picture's file, such as r.png\n",
    )
    assert command("result", "plan", "--out", "r.x", "--html", "r.x")[0] == 2


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


def test_delete_removes_the_study_that_it_asked_about(command, tmp_path, monkeypatch):
    """Somebody else removes it and creates another one of its name while the question stands there."""
    ms.create_study("mixsense.db", "tea", 3, sigma=1.0, seed=1).close()

    def confirm(_):
        delete_study("mixsense.db", "tea")
        other = ms.create_study("mixsense.db", "tea", 3, sigma=1.0, seed=2)
        other.tell(other.ask().id, 1.0)
        return True

    monkeypatch.setattr("typer.confirm", confirm)
    code, out, err = command("delete", "tea")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "has been deleted" in err
    assert ms.load_study("mixsense.db", "tea").progress().total == 1
