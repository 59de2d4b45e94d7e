"""The command line, as a user runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from http_service import Service, two_models
from in_process import mixsense
from mixsense.cli.demo import alone, beside_truth
from mixsense.cli.exits import BY_STATUS, MEANINGS, ExitCode, epilog
from mixsense.cli.main import main
from mixsense.cli.options import named_options, precision
from mixsense.cli.wording import speak_of, spoken
from mixsense.recovery.result import STATUSES

PAGE = (Path(__file__).parent.parent / "docs" / "command-line.md").read_text(encoding="utf-8")
SMALL = ["--method", "paper", "--n", "30", "--k", "2", "--sigma", "1", "--m", "40", "--batch", "60", "--seed", "3"]


def program(*args, cwd=None, **kwargs):
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mixsense", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
        **kwargs,
    )


def test_help_is_complete():
    top = mixsense("--help")
    assert top.returncode == 0
    for command in ("demo", "recover", "plan", "sweep", "figures", "audit"):
        assert command in top.stdout
        page = mixsense(command, "--help", env=os.environ | {"COLUMNS": "200"}).stdout
        options = [line for line in page.splitlines() if line.strip("│ ").startswith("--")]
        assert len(options) > 3
        for line in options:
            assert len(line.strip("│ ").split("  ")) > 1, f"no help for {line}"
    assert program("--version").stdout.strip() == f"mixsense {ms.__version__}"


def test_help_fits_into_80_columns():
    """Paragraphs are as wide as the terminal, whatever lines the source has, and no word of an option is cut."""
    for name in ("", *(name for name in commands() if name)):
        page = mixsense(*name.split(), "--help", env=os.environ | {"COLUMNS": "80"}).stdout
        assert max(map(len, page.splitlines())) <= 80
        assert not re.search(r"\w…", page), name
    page = mixsense("audit", "--help", env=os.environ | {"COLUMNS": "80"}).stdout
    assert " endpoint the same command goes on, and asks nothing again that was answered. A" in page


def commands():
    """Every command by its words, as `study ask`, with its help's last lines."""
    from typer.main import get_command

    from mixsense.cli.app import app

    def walk(command, words):
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*words, name))
        yield " ".join(words), command.epilog

    return dict(walk(get_command(app), ()))


def test_every_exit_code_has_one_meaning():
    """The page is the table, and each command's help is made from it."""
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, re.M)
    assert rows == [(str(code.value), meaning) for code, meaning in MEANINGS.items()]
    assert list(MEANINGS) == list(ExitCode)
    assert set(BY_STATUS) == set(STATUSES)
    assert [BY_STATUS[status].value for status in STATUSES] == [0, 7, 3, 8, 3]
    lines = [f"{code.value} {meaning}" for code, meaning in MEANINGS.items()]
    for name, text in commands().items():
        said = text.removeprefix("Exit codes: ").removesuffix(".").split("; ")
        assert said == [line for line in lines if line in said], name
        assert {"0", "1", "2", "130"} <= {line.split()[0] for line in said}, name
    assert epilog(*ExitCode) == commands()[""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "--n", "5"], "Missing option '--k': see "),
        (["plan", "--nn", "5"], "No such option: --nn"),
        (["plan", "--n", "five"], "Invalid value for '--n'"),
        (["study", "asks"], "No such command 'asks'"),
        (["study", "ask", "tea", "--count"], "Option '--count' requires an argument"),
        (["plan", "--n"], "Option '--n' requires an argument"),
        (["demo", "--gamma"], "Option '--gamma' requires an argument"),
    ],
)
def test_a_wrong_option_is_one_line_and_code_2(arguments, message, tmp_path):
    done = (program if "asks" in arguments else mixsense)(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"mixsense: {message}")
    assert done.stderr.endswith(" --help\n")


def test_without_a_command_there_is_the_help(tmp_path):
    done = mixsense(cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    assert "Usage" in done.stdout


def test_every_command_is_on_the_page():
    for name in commands():
        first, _, rest = name.partition(" ")
        assert f"`mixsense {first}" in PAGE
        assert f"`{rest}`" in PAGE or rest in ("", "answers")


def test_gamma_is_a_number_or_none():
    assert (precision("0.25"), precision("none"), precision(None)) == (0.25, None, None)
    with pytest.raises(ms.InvalidInput, match="--gamma is 'nothing': give a number such as"):
        precision("nothing")
    plan = ["plan", *"--n 50 --k 3 --sigma 1 --gap 2 --budget 2000".split()]
    assert mixsense(*plan, "--gamma", "none").stdout == mixsense(*plan).stdout != ""


@pytest.mark.parametrize("page", ["--version", "--help"])
def test_the_start_is_light(page):
    code = (
        "import sys\nfrom mixsense.cli.main import main\n"
        f"sys.argv = ['mixsense', {page!r}]\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'scipy', 'pandas', 'matplotlib', 'sqlalchemy', 'joblib', 'h11', 'certifi'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_demo_shows_the_table_and_draws_the_picture(tmp_path):
    done = mixsense("demo", cwd=tmp_path)
    assert "sure of the same γ = 0.2 the paper's method takes 683,296 answers" in " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    for words in ("worst ℓ2 error", "44,800", "of 150 queries rightly", "times as many answers"):
        assert words in done.stdout
    assert int(re.search(r"from (\d+)\s+times as many", done.stdout)[1]) >= 20
    assert "2,240 answers: 20 times fewer than the paper's" in " ".join(done.stdout.split())
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_demo_hides_more_than_two_vectors(tmp_path):
    done = mixsense("demo", "--models", "3", "--gap", "10", "--gamma", "0.3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for words in ("three hidden vectors", "10 apart on average", "β³ found", "The frugal method ended certified after"):
        assert words in said
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert mixsense("demo", "--models", "7").stderr.startswith("mixsense: models is 7; it must be at most 6")


def test_the_rows_of_the_demo_and_those_not_shown_are_all():
    """A coefficient that is there and was not found has a row: it is not counted among the others, too."""
    truth = np.eye(3, 10)[[2, 0, 1]] + np.eye(3, 10, 3) * 0.1
    found = ms.Recovery(np.eye(3, 10) + 0.01, "budget", stderr=np.full((3, 10), 0.1))
    table = beside_truth(found, truth, range(3))
    assert table.row_count == 6
    assert table.caption == "4 coefficients within 1 standard error of 0 are not shown"
    true, recovered = (list(table.columns[i].cells) for i in (1, 2))
    assert (true[0], recovered[0]) == ("+1.000", "+1.010")  # β¹ is the first that was found, as in the picture
    assert beside_truth(found, truth, range(2)).row_count == 4  # a table of its own


def test_demo_says_when_another_number_of_vectors_is_found():
    truth = ms.random_models(3, 100, 5, 5.0, seed=1)
    two, one = (ms.Recovery(truth[:rows], "budget", queries=700) for rows in (2, 1))
    assert alone(two, truth) == "The frugal method ended budget after 700 answers with 2 vectors, where there are 3."
    assert ": one vector for all of them" in alone(one, truth)


def test_recover_needs_only_n(tmp_path):
    done = mixsense("recover", "--simulate", "--n", "30", "--gamma", "0.4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("certified")
    assert re.search(r"shares 0\.\d\d ± 0\.\d\d and 0\.\d\d ± ", done.stdout)  # what is not told is estimated
    for options, words in (
        (["--weights", "a,b"], "give shares such as 0.5,0.3,0.2, or equal, or estimate"),
        (["--models", "some"], "--models is 'some': give a number from 1 to 6, or auto"),
        (["--models", "7"], "models is 7; it must be at most 6"),
        (["--models", "0"], "models is 0"),
        (["--models", "3", "--weights", "0.5,0.5"], "weights has 2 entries, models is 3"),
        (["--batch", "9"], "does not go with --method frugal"),
    ):
        done = mixsense("recover", "--simulate", *options)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr


FEW = ["recover", "--simulate", "--n", "12", "--k", "3", "--gap", "10", "--gamma", "0.5", "--quiet"]


@pytest.mark.parametrize(
    ("told", "code", "status", "columns"),
    [
        (["--models", "3", "--weights", "estimate"], 0, "certified", 3),
        (["--weights", "0.5,0.3,0.2"], 0, "certified", 3),  # their number tells that of the models
        (["--weights", "1"], 7, "single", 1),
        (["--models", "3", "--max-queries", "60", "--gamma", "none"], 3, "budget", 3),
    ],
)
def test_recover_tells_how_many_models_there_are(told, code, status, columns, tmp_path):
    done = mixsense(*FEW, *told, "--out", "r.json", "--plot", "r.png", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith(f"{status}: ")
    assert done.stdout.splitlines()[1].split()[1:] == " ".join(f"vector {i + 1}" for i in range(columns)).split()
    assert ("shares" in done.stdout) == (columns > 1)
    assert "worst l2 error against the simulated truth" in done.stdout
    assert len(json.loads((tmp_path / "r.json").read_text())["vectors"]) == columns
    assert (tmp_path / "r.png").exists()


def test_a_simulation_may_have_other_models_than_are_found(tmp_path):
    """Another number is told and drawn after the answers were paid for: it is no mistake of the user's."""
    (tmp_path / "mylab.py").write_text(
        "import numpy as np, mixsense as ms\n"
        "def search(problem, rng):\n"
        "    yield from ()\n"
        "    return ms.Recovery(np.eye(2, problem.n), status='uncertain')\n"
    )
    told = ["--method", "mylab:search", "--models", "3", "--plot", "r.png"]
    done = mixsense(*FEW, *told, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (8, "")
    assert done.stdout.endswith("the simulated truth has 3 vectors, 2 were found\n")
    assert (tmp_path / "r.png").exists()


def test_a_record_of_two_models_goes_on_as_such(tmp_path):
    """Before 0.4.0 a record said nothing of models, and shares that were left out were equal."""
    args = [*FEW, "--record", "r.jsonl"]
    done = mixsense(*args, "--models", "2", "--weights", "equal", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *lines = (tmp_path / "r.jsonl").read_text().splitlines()
    old = json.loads(first)
    del old["run"]["models"]
    old["run"]["weights"] = None
    (tmp_path / "r.jsonl").write_text("\n".join([json.dumps(old), *lines, ""]))
    for told, differ in (([], "models"), (["--models", "2"], "weights"), (["--models", "3"], "models")):
        refused = mixsense(*args, *told, cwd=tmp_path)
        assert (refused.returncode, f"another run ({differ} differ)" in refused.stderr) == (2, True), refused.stderr
    again = mixsense(*args, "--models", "2", "--weights", "equal", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 1 + len(lines)


def test_recover_simulated_writes_the_result(tmp_path):
    done = mixsense("recover", "--simulate", *SMALL, "--gamma", "1", "--out", "r.json", "--plot", "r.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = ms.Recovery.from_json((tmp_path / "r.json").read_text())
    assert result.status == "certified"
    assert result.summary() in done.stdout
    assert (tmp_path / "r.png").exists()


ORACLE = """
import time
import mixsense as ms
ask = ms.SimulatedOracle(ms.random_pair(30, 2, gap=5.0, seed=1), sigma=1.0, seed=2)
def slow(queries, repeats):
    time.sleep(0.03)
    with open("calls", "a") as file:
        file.write("x")
    return ask(queries, repeats)
def broken(queries, repeats):
    raise RuntimeError("the lab is closed")
calls = []
def late(queries, repeats):
    calls.append(repeats)
    return ask(queries, repeats) if len(calls) == 1 else broken(queries, repeats)
number = 3
"""


def test_recover_from_a_python_function_and_its_mistakes(tmp_path):
    (tmp_path / "lab.py").write_text(ORACLE)
    (tmp_path / "badlab.py").write_text("def ask(:")
    done = program("recover", "lab:ask", *SMALL, "--gamma", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cases = [
        (["lab:nothing", *SMALL], 2, "has no callable 'nothing'"),
        (["lab:number", *SMALL], 2, "has no callable 'number'"),
        (["nolab:ask", *SMALL], 2, "'nolab' cannot be imported"),
        (["lab", *SMALL], 2, "give module:function"),
        (["badlab:ask", *SMALL], 2, "SyntaxError"),
        (["lab:ask", *SMALL, "--record", "no/where.jsonl"], 2, "cannot be used as a record"),
        (["lab:ask", *SMALL, "--record", "."], 2, "cannot be used as a record"),
        (["--simulate", *SMALL, "--seed", "-1"], 2, "seed is -1"),
        ([*SMALL], 2, "give an oracle as module:callable, or --simulate"),
        (["lab:ask", "--simulate", *SMALL], 2, "one of them"),
        (["lab:broken", *SMALL], 1, "RuntimeError: the lab is closed"),
        (["lab:ask", *SMALL, "--gamma", "-1"], 2, "gamma is -1"),
        (["lab:ask", *SMALL, "--gamma", "x"], 2, "x"),
        (["lab:ask", "--method", "noiseless", "--batch", "9"], 2, "--batch does not go with --method noiseless"),
        (["lab:ask", "--option", "m=9"], 2, "--option m does not go with --method frugal: it takes steer"),
        (["lab:ask", "--no-steer", "--option", "steer=true"], 2, "--steer and --option steer are the same"),
        (["lab:ask", *SMALL, "--decoder", "magic"], 2, "decoder is 'magic': give 'basis_pursuit'"),
        (["lab:ask", "--n", "9", "--method", "paper"], 2, "k is missing: --method paper asks"),
        (["lab:late", *SMALL], 1, "; the 60 answers received before are lost: --record FILE keeps them"),
        (["lab:late", *SMALL, "--record", "l.jsonl"], 1, "the 60 answers received before are in l.jsonl, the same"),
        (["lab:ask", *SMALL, "--max-queries", "10"], 2, "--max-queries is 10, but the step"),
        (["lab:ask", *SMALL, "--gamma", "1", "--out", "no/where.json"], 2, "the folder no does not exist"),
        (["lab:ask", *SMALL, "--gamma", "1", "--plot", "r.doc"], 2, "r.doc cannot be drawn"),
    ]
    for args, code, words in cases:
        done = mixsense("recover", *args, cwd=tmp_path)
        assert (done.returncode, words in done.stderr) == (code, True), (args, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            "audit http://127.0.0.1:9/ --n 3 --intercept",
            "--intercept needs the range of each feature: give --box LOW:HIGH",
        ),
        ("plan --n 9 --k 2 --sigma 1 --gap 2 --gamma 1.5", "or recover one vector with --method single"),
        (
            "recover --simulate --n 20 --k 3 --method paper --max-queries 1000",
            "(1 query, 2000 times each) and nothing was asked: give --max-queries of at least 2000",
        ),
        (
            "recover --simulate --n 9 --k 2 --sigma 1 --method noiseless",
            "--method noiseless needs answers without noise; use --method frugal",
        ),
        ("study create scale.toml", 'give [answers] with scale = "rating" and range = [1, 7], or with scale = "prob'),
        ("study create level.toml", "intercept = true needs the range of each feature: give range = [low, high]"),
    ],
)
def test_messages_name_options_and_not_arguments(arguments, words, tmp_path):
    (tmp_path / "scale.toml").write_text('n = 3\nscale = "rating=1:7"\n')
    (tmp_path / "level.toml").write_text("n = 3\nintercept = true\n")
    done = mixsense(*arguments.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize(
    ("options", "text", "said"),
    [
        (
            ["--scale"],
            "give scale=ms.Rating(low, high, step), or ms.Probability()",
            "rating=LOW:HIGH:STEP, or --scale pro",
        ),
        (["--scale"], "give scale='probability' (--scale probability), or", "give --scale probability, or"),
        (
            ["--models", "--gamma"],
            "give models=3, or gamma=None and intercept=True",
            "--models 3, or --gamma none and int",
        ),
        (["--fresh"], "a new one each time (fresh=True, --new-connections)", "each time (--new-connections)"),
        (["--block"], "block=8 (--block auto) keeps", "--block auto keeps"),
        (["--force"], "replace it with --force (force=True)", "replace it with --force"),
        (["file"], "replace it with --force (force=True)", "replace it with --force"),
        (["file"], "give models=\"auto\", or method='frugal'", 'give models = "auto", or method = "frugal"'),
        ([], "give max_queries", "give max_queries"),
    ],
)
def test_what_an_argument_is_called_in_a_command(options, text, said):
    speak_of(options)
    try:
        found = spoken(text)
    finally:
        speak_of([])
    assert said in found


def test_options_of_a_method_of_ones_own(tmp_path):
    (tmp_path / "mylab.py").write_text(
        "import numpy as np, mixsense as ms\n"
        "def search(problem, rng, **options):\n"
        "    yield from ()\n"
        "    return ms.Recovery(np.eye(2, problem.n), status='uncertain', diagnostics=options)\n"
    )
    given = ["a=3", "b=0.5", "c=true", "d=word", 'e="3"', "f=[1, 2]", "g=", "h=x=y"]
    flags = [word for part in given for word in ("--option", part)]
    method = ["--method", "mylab:search", "--m", "7", "--out", "r.json", "--record", "r.jsonl"]
    done = mixsense("recover", "--simulate", "--n", "4", *method, *flags, cwd=tmp_path)
    assert done.returncode == 8, done.stderr  # uncertain
    told = {"m": 7, "a": 3, "b": 0.5, "c": True, "d": "word", "e": "3", "f": [1, 2], "g": "", "h": "x=y"}
    assert told.items() <= json.loads((tmp_path / "r.json").read_text())["diagnostics"].items()
    done = mixsense("recover", "--simulate", "--n", "4", *method, *flags, "--option", "z=1", cwd=tmp_path)
    assert "holds the answers of another run (z differ)" in done.stderr


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["steer"], "--option is 'steer': give NAME=VALUE"),
        (["=3"], "--option is '=3': give NAME=VALUE"),
        (["a\x1b[2J=3"], r"--option is 'a\x1b[2J=3': give NAME=VALUE"),
        (["a=" + "[" * 100_000], "--option a is nested too deeply"),
        (["gamma=1"], "--option gamma is not an option of a method"),
        (["a=1", "a=2"], "--option a is given twice"),
    ],
)
def test_an_option_that_cannot_be_read_is_one_line(parts, words):
    with pytest.raises(ms.InvalidInput) as caught:
        named_options(parts)
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_record_is_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "lab.py").write_text(ORACLE)
    cases = [("--simulate", path) for path in ("pipe", "/dev/full", "/dev/null")]
    cases += [("lab:ask", path) for path in ("pipe", "/dev/zero")]
    for oracle, path in cases:
        done = mixsense("recover", oracle, *SMALL, "--record", path, cwd=tmp_path)
        assert done.returncode == 2
        assert (
            done.stderr
            == f"mixsense: {path} cannot be used as a record (it is not a regular file): give another file\n"
        )
    (tmp_path / "deep").write_text("[" * 200_000 + "\n")
    done = mixsense("recover", "lab:ask", *SMALL, "--record", "deep", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "deep is not a record of answers" in done.stderr


@pytest.mark.parametrize("more", ["", "    __enter__ = lambda self: self\n    __exit__ = lambda self, *_: None\n"])
def test_an_oracle_may_have_a_doubt_of_its_own(tmp_path, more):
    own = f"class Own:\n    doubt = 0.3\n{more}    __call__ = lambda self, *given: ask(*given)\nown = Own()\n"
    (tmp_path / "lab.py").write_text(ORACLE + own)
    done = mixsense("recover", "lab:own", *SMALL, "--gamma", "1", "--record", "r.jsonl", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "distrusted" not in (tmp_path / "r.jsonl").read_text()


def test_budget_is_an_exit_code_of_its_own(tmp_path):
    done = mixsense("recover", "--simulate", *SMALL, "--gamma", "1", "--max-queries", "2400", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith("budget: there are no more answers; the best estimate so far; 2,400 answers")


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    (tmp_path / "lab.py").write_text(ORACLE)
    command = ["recover", "lab:slow", *SMALL, "--gamma", "1", "--record", "answers.jsonl"]
    first = subprocess.Popen(
        [sys.executable, "-m", "mixsense", *command],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    calls = tmp_path / "calls"
    deadline = time.monotonic() + 60
    while not (calls.exists() and calls.stat().st_size >= 20) and time.monotonic() < deadline:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = calls.stat().st_size
    done = mixsense(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "answers are there already" in done.stderr
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    kept = sum(len(row) for line in lines[1:] for row in line["answers"])
    assert f"{kept:,} answers" in done.stdout  # every answer of the file was used, none asked twice
    # At most the one call in flight when the process died was made again.
    assert calls.stat().st_size <= len(lines) - 1 + 1
    assert before < calls.stat().st_size


@pytest.mark.parametrize("signal_", [signal.SIGINT])
def test_ctrl_c_says_what_is_lost(tmp_path, signal_):
    (tmp_path / "lab.py").write_text(ORACLE)
    process = subprocess.Popen(
        [sys.executable, "-m", "mixsense", "recover", "lab:slow", *SMALL],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    calls = tmp_path / "calls"
    deadline = time.monotonic() + 60
    while not (calls.exists() and calls.stat().st_size >= 5) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal_)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert re.search(r"the \d+ answers received before are lost: --record FILE keeps them", stderr)


@pytest.mark.parametrize(("module", "words"), [("typer", ["--version"]), ("scipy", ["recover", "--simulate"])])
def test_ctrl_c_while_modules_load_is_one_line(tmp_path, module, words):
    (tmp_path / module).mkdir()
    # In a callback of the import system, which loses exceptions, as everywhere else.
    (tmp_path / module / "__init__.py").write_text(
        "import time, weakref\n"
        "class Thing: pass\n"
        "def late(_):\n    open('loading', 'w').close()\n    time.sleep(60)\n"
        "thing = Thing()\nwatched = weakref.ref(thing, late)\ndel thing\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "mixsense", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "loading").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert (errors.startswith("mixsense: stopped"), errors.count("\n")) == (True, 1), errors


METHOD = """
from mixsense.methods.frugal.method import frugal
def search(problem, rng, steer=True):
    return (yield from frugal(problem, rng, steer=steer))
"""


def test_a_method_of_ones_own_is_found_in_the_current_folder(tmp_path):
    """Also where Python does not look there by itself (-P), as with the installed program."""

    def run(*args):
        command = [sys.executable, "-P", "-m", "mixsense", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    (tmp_path / "mylab.py").write_text(METHOD)
    done = run(*FEW, "--models", "2", "--weights", "equal", "--method", "mylab:search")
    assert (done.returncode, done.stdout[:9]) == (0, "certified"), done.stderr
    (tmp_path / "tea.toml").write_text('n = 3\nsigma = 1.0\nmethod = "mylab:search"\nseed = 1\nmax_queries = 500\n')
    for words in (["create", "tea.toml"], ["ask", "tea"], ["status", "tea"]):
        done = run("study", *words)
        assert done.returncode == 0, done.stderr
    (tmp_path / "grid.toml").write_text('n = 10\nk = 1\ngap = 5.0\nmethod = ["mylab:search"]\nseeds = 1\n')
    done = run("sweep", "grid.toml", "--jobs", "1", "--quiet")
    assert (done.returncode, "1 cells, 0 failed" in done.stdout) == (0, True), done.stderr


def test_the_current_folder_hides_no_module(tmp_path):
    for name in ("scipy", "json", "mixsense"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('the wrong file')")
    command = [sys.executable, "-P", "-m", "mixsense", *FEW, "--models", "2", "--weights", "equal"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_recover_asks_an_address(tmp_path):
    score = two_models(3, [[4.0, 0, 0, 0], [0, 4.0, 0, 0]], 0.3)
    with Service(lambda call: score(call.x)) as service:
        args = ["recover", service.url + "?key=s3cret", "--n", "4", "--gamma", "0.5", "--record", "r.jsonl", "--quiet"]
        done = mixsense(*args, cwd=tmp_path)
        assert (done.returncode, done.stdout[:9]) == (0, "certified"), done.stderr
        count = len(service.calls)
        assert mixsense(*args, cwd=tmp_path).stdout == done.stdout
        assert len(service.calls) == count  # all answers were in the record
    assert "s3cret" not in (tmp_path / "r.jsonl").read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    ("parts", "code"),
    [
        (["study", "list", "--db", "\udcff.db"], 2),
        (["study", "ask", "tea", "--db", "tea.db", "--respondent", "\udcff"], 2),
        (["study", "release", "tea", "--db", "tea.db", "--respondent", "\udcff"], 2),
        (["study", "answers", "export", "tea", "\udcff.csv", "--db", "tea.db"], 0),
        (["audit", "--command", "cat \udcff", "--n", "2", "--body", '{"a": "\\ud800", "x": "$x"}'], 2),
        (["audit", "http://localhost:9/", "--n", "2", "--body", '{"a": "\udcff", "x": "$x"}'], 2),
        (["audit", "--command", "cat \udcff", "--n", "2", "--body", '"$x"', "--skip-preflight"], 1),
        (["fit", "\udcff.parquet", "--answer", "y"], 2),
    ],
)
def test_bytes_that_are_no_text_are_no_traceback(tmp_path, parts, code):
    ms.create_study(tmp_path / "tea.db", "tea", n=2, sigma=1.0)
    (tmp_path / "\udcff.parquet").write_bytes(b"nothing")
    env = os.environ | {"PYTHONIOENCODING": "utf-8:strict", "LAB_PASSWORD": "abcd\udcffefgh"}
    done = (program if {"export", "fit"} & {*parts} else mixsense)(*parts, cwd=tmp_path, env=env)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert done.stderr.count("\n") == (code > 0)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "\x1b[31m", "--answer", "y"],
        ["fit", "a\nb", "--answer", "y"],
        ["study", "create", "\x1b[31m"],
        ["study", "list", "--db", "a\nb.db"],
        ["study", "list", "--db", "x" * 5000],
        ["study", "create", "long.toml"],
        ["study", "create", "answers.toml"],
        ["recover", "--simulate", "--n", "5", "--models", "9" * 5000],
    ],
)
def test_whatever_is_given_a_message_is_one_short_line(tmp_path, arguments, monkeypatch, capsys):
    (tmp_path / "long.toml").write_text(f"sigma = 1.0\nfeatures = '{'x' * 100_000}'\n")
    (tmp_path / "answers.toml").write_text(f"n = 2\nsigma = 1.0\n[answers]\nrange = '{'x' * 100_000}'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["mixsense", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n")) == (2, 1), said
    assert said.rstrip("\n").isprintable()
    assert len(said) < 900
    assert re.search(r": (give|create|see) [^:]*$", said), "what to do is said at the end"


def test_a_full_disk_is_one_line():
    command = [sys.executable, "-m", "mixsense", "plan", *"--n 20 --k 2 --sigma 1 --gap 2 --gamma 0.1".split()]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


def test_a_result_never_replaces_the_answers(tmp_path):
    done = mixsense("recover", "--simulate", *SMALL, "--record", "a.json", "--out", "a.json", cwd=tmp_path)
    assert (done.returncode, "--record and --out are both a.json" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "a.json").exists()
    (tmp_path / "b.json").write_text('{"mixsense_record": 1, "run": {}}\n')
    done = mixsense("recover", "--simulate", *SMALL, "--out", "b.json", cwd=tmp_path)
    assert (done.returncode, "b.json holds answers" in done.stderr) == (2, True), done.stderr


def test_a_record_of_fractions_is_refused_before_anything_is_asked(tmp_path):
    simulated = ("recover", "--simulate", "--n", "20", "--k", "2", "--sigma", "0", "--method", "polynomial")
    done = mixsense(*simulated, "--record", "r.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "needs fractions: leave --record out, or give --option design=steps" in done.stderr
    assert not list(tmp_path.iterdir())
    done = mixsense(*simulated, "--option", "design=steps", "--record", "r.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
