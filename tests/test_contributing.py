"""docs/contributing.md and docs/methods.md are true: what they say is done here, in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mixsense

ROOT = Path(__file__).parent.parent
TESTS = Path(__file__).parent


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def blocks(text, language="python"):
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def run(code, folder, *paths):
    """Run a program in a folder, with other folders to import from before all others."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, paths), os.getenv("PYTHONPATH", "")])}
    return subprocess.run(
        [sys.executable, *code], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )


# -- contributing.md ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of the package to which the page's oracle and method are added: one file and one line each."""
    root = tmp_path_factory.mktemp("copy")
    source = root / "src" / "mixsense"
    shutil.copytree(Path(mixsense.__file__).parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    text = page("contributing.md")
    for kind, place in (("oracle type", "__init__.pyi"), ("method", "methods/registry.py")):
        section = re.search(rf"## A new {kind}: one file and one line\n(.*?)(?=\n## |\Z)", text, re.S).group(1)
        file, line = blocks(section)
        target = root / re.search(r"`(src/mixsense/\w+/\w+\.py)`:\n", section).group(1)
        assert not target.exists()
        target.write_text(file, encoding="utf-8")
        assert line.count("\n") == 1
        assert f"`src/mixsense/{place}`" in section
        listed = source / place
        before = listed.read_text(encoding="utf-8")
        if place.endswith(".pyi"):
            listed.write_text(before + line, encoding="utf-8")
        else:
            first = "    for entry in (\n"
            assert before.count(first) == 1
            listed.write_text(before.replace(first, first + "        " + line), encoding="utf-8")
    return root


def in_copy(extended, code, *paths):
    done = run(["-W", "error", "-c", code], extended, extended / "src", *paths)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_new_oracle_type_is_public_and_keeps_the_contract(extended):
    code = (
        "import numpy as np, mixsense as ms; from oracle_contract import check_oracle\n"
        "assert 'FunctionOracle' in dir(ms)\n"
        "check_oracle(lambda: ms.FunctionOracle(lambda x: x.sum()), np.eye(4))\n"
        "rng, pair = np.random.default_rng(1), ms.random_pair(10, 2, 5.0, seed=1)\n"
        "one = lambda x: pair[rng.integers(2)] @ x + 0.1 * rng.standard_normal()\n"
        "r = ms.recover(ms.FunctionOracle(one), 10, gamma=0.1, seed=2)\n"
        "print(r.status, ms.match_error(r.vectors, pair) < 0.1)\n"
    )
    assert in_copy(extended, code, TESTS) == "certified True\n"


def test_the_new_method_is_reachable_by_its_name(extended):
    code = (
        "import mixsense as ms\n"
        "pair = ms.random_pair(10, 2, 5.0, seed=1)\n"
        "given = {'method': 'passive', 'answers': 50, 'seed': 3}\n"
        "r = ms.recover(ms.SimulatedOracle(pair, seed=2), 10, **given, box=[(-1, 1)] * 10)\n"
        "study = ms.create_study('passive.db', 'passive', n=10, **given)\n"
        "grid = {'n': 10, 'k': 2, 'gap': 5.0, 'method': 'passive', 'seeds': 2}\n"
        "print(r.status, r.queries, r.diagnostics['method'], study.progress().size)\n"
        "print(*ms.sweep({**grid, 'options': {'passive': {'answers': 50}}}, jobs=1).queries)\n"
    )
    assert in_copy(extended, code) == "uncertain 50 passive 50\n50 50\n"
    command = ["-m", "mixsense", "recover", "--simulate", "--n", "10", "--method", "passive", "--quiet"]
    done = run(command, extended, extended / "src")
    assert (done.returncode, "200 answers" in done.stdout) == (8, True), done.stderr  # 8: uncertain
    assert "passive" in run(["-m", "mixsense", "recover", "--help"], extended, extended / "src").stdout


def test_the_new_files_are_as_clean_as_the_others(extended, tmp_path):
    in_copy(extended, "import doctest, mixsense.oracles.function as m; assert doctest.testmod(m).failed == 0")
    files = [extended / "src/mixsense/oracles/function.py", extended / "src/mixsense/methods/passive.py"]
    done = run(["-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), *files], extended)
    assert done.returncode == 0, done.stdout + done.stderr
    # As modules of their own in the folder of the package, whose types `make types` has left in the cache.
    for file in files:
        shutil.copy(file, tmp_path)
    env = {**os.environ, "MYPYPATH": "src"}
    command = [sys.executable, "-m", "mypy", *(str(tmp_path / file.name) for file in files)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_packages_of_the_page_are_those_of_the_tree():
    table = page("contributing.md").split("## The tree is the data flow")[1].split("\n\n")[2]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    tree = {path.stem for path in Path(mixsense.__file__).parent.iterdir() if not path.name.startswith(("_", "py."))}
    assert named == tree


# -- methods.md --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A folder with the page's mylab.py."""
    folder = tmp_path_factory.mktemp("lab")
    example = blocks(page("methods.md"))[0]
    body = example.split("def search")[1].splitlines()
    assert len(body) <= 25
    (folder / "mylab.py").write_text(example, encoding="utf-8")
    return folder


def test_the_method_of_the_page_runs_as_the_page_says(lab):
    _, recovered, studied, decoded = blocks(page("methods.md"))
    shown = re.search(r"```\n\n```\n(.*?)```", page("methods.md"), re.S).group(1)
    check = "assert study.progress().size == 300\nassert sorted(set(frame.method)) == ['frugal', 'mylab:search']\n"
    check += "assert (frame.status != 'failed').all(), frame.message\nassert len(frame) == 12\n"
    done = run(["-W", "error", "-c", recovered + studied + check + decoded + "assert r.status == 'uncertain'\n"], lab)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


def test_the_commands_of_the_page_run(lab):
    for name, text in zip(("crowd.toml", "lab.toml"), blocks(page("methods.md"), "toml"), strict=True):
        (lab / name).write_text(text, encoding="utf-8")
    (console,) = blocks(page("methods.md"), "console")
    for line in console.splitlines():
        command = line.removeprefix("$ mixsense ").split()
        done = run(["-m", "mixsense", *command], lab)
        assert done.returncode == (8 if command[0] == "recover" else 0), done.stderr  # 8: uncertain
        assert "Traceback" not in done.stderr
        if command[:2] == ["study", "status"]:
            assert "300" in done.stdout, done.stdout
    assert "18 cells, 0 failed" in done.stdout


def test_the_error_that_the_page_names(lab):
    """About 0.3 after 600 answers: 20 coefficients by regression from 300 answers each."""
    code = (
        "import numpy as np, mixsense as ms, mylab\n"
        "errors = []\n"
        "for seed in range(8):\n"
        "    pair = ms.random_pair(20, 3, 5.0, seed=seed)\n"
        "    oracle = ms.SimulatedOracle(pair, 1.0, seed=[seed, 1])\n"
        "    errors.append(ms.match_error(ms.recover(oracle, 20, method=mylab.search, seed=[seed, 2]).vectors, pair))\n"
        "print(np.median(errors))\n"
    )
    # σ √(20/300) = 0.26 for one vector alone, 10 to 30 % more for the worse of two that are not tagged.
    assert 0.25 < float(run(["-c", code], lab).stdout) < 0.4
