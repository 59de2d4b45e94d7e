"""README and docs are true: their examples run, their commands exist, every docstring example holds."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import mixsense
from in_process import mixsense as run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def assert_alike(printed, shown, rel=0.15, abs=0.05):
    """Equal but for numbers: another BLAS rounds otherwise, and an adaptive method may then stop a little later.

    Where the number of answers is given, nothing moves by more than a standard error or two (0.02 each in README).
    """
    for ours, theirs in zip(printed.split(), shown.split(), strict=True):
        numbers = [re.sub(r"[,;±]", "", text) for text in (ours, theirs)]
        try:
            a, b = map(float, numbers)
        except ValueError:
            assert ours == theirs
        else:
            assert a == pytest.approx(b, rel=rel, abs=abs)


def test_python_example_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.S).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert_alike(printed.getvalue(), shown, rel=0.01, abs=0.03)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_the_example_of_three_models_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(hidden = .*?)```\n\n```\n(.*?)```", README, re.S).groups()
    printed, scope = io.StringIO(), {"ms": mixsense}
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), scope)
    assert_alike(printed.getvalue(), shown)
    assert scope["r"].vectors.shape == scope["hidden"].shape
    assert mixsense.match_error(scope["r"].vectors, scope["hidden"]) < 0.2


def test_the_plan_is_what_the_readme_shows():
    command, shown = re.search(r"\$ mixsense (plan .*?)\n```\n\n```\n(.*?)```", README, re.S).groups()
    done = run(*shlex.split(command))
    assert_alike(done.stdout, shown)


def test_study_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(study = .*?)```", README, re.S).group(1)
    scope = {"ms": mixsense}
    exec(compile(code, "README.md", "exec"), scope)
    assert scope["study"].progress().answered == 1


def test_console_commands_run(tmp_path):
    commands = re.findall(r"^\$ mixsense (.*)$", README, re.M)
    assert commands
    for command in commands:
        done = run(*shlex.split(command), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "result.json").exists()


def test_everything_that_the_table_names_exists():
    table = README.split("## Where the paper is in the code")[1].split("\n\n")[1]
    names = [name for row in table.splitlines()[2:] for name in re.findall(r"`([\w.]+)`", row.split("|")[2])]
    assert len(names) >= 12
    for name in names:
        pkgutil.resolve_name(f"mixsense.{name}")


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_measured_table_is_there():
    for page in (ROOT / "docs").glob("*.md"):
        for name, body in re.findall(r"<!-- (\w+) -->(.*?)<!-- end -->", page.read_text(encoding="utf-8"), re.S):
            assert body.strip(), f"{page.name}: {name} is empty; run its benchmark with --markdown"


def test_the_saving_that_readme_claims_is_the_measured_one():
    """One claim, with what was held equal: README repeats the table of docs/frugal.md."""
    page = (ROOT / "docs" / "frugal.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- paper -->(.*?)<!-- end -->", page, re.S)[1]
    measured = {}
    for line in table.strip().splitlines()[4:]:
        gap, theirs, _, held, ours, _, limit, kept = (cell.strip() for cell in line.strip("|").split("|"))
        assert kept == "kept"
        measured[gap, held] = (theirs, f"{ours} ({limit.split()[0]})")
    rows = re.findall(r"^\| (\d) σ \| ([\d,]+)(?: answers)? \| (.*?) \| (.*?) \|$", README, re.M)
    claimed = {}
    for gap, theirs, energy, snr in rows:
        claimed |= {(gap, "energy"): (theirs, energy), (gap, "energy and SNR"): (theirs, snr)}
    assert claimed == measured


MODULES = sorted(m.name for m in pkgutil.walk_packages(mixsense.__path__, "mixsense.") if m.name != "mixsense.__main__")


@pytest.mark.parametrize("name", ["mixsense", *MODULES])
def test_docstring_examples_hold(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_every_public_name_is_documented():
    pages = [README, *(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))]
    named = {name for page in pages for name in re.findall(r"\bms\.(\w+)", page)}
    public = {*mixsense.__all__}
    assert public - named == set()
    assert named - public == {"FunctionOracle"}  # what docs/contributing.md adds
    for name in public:
        assert getattr(mixsense, name).__doc__, name


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_the_same_everywhere():
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)[1]
    changed = re.search(r"^## ([\d.]+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]
    assert {mixsense.__version__, cited, changed} == {PROJECT["version"]}


def test_readme_lists_the_extras_and_nobody_names_another():
    extras = PROJECT["optional-dependencies"].keys()
    assert {*re.search(r"pip install 'mixsense\[([\w,]+)\]'", README)[1].split(",")} == extras - {"dev", "benchmark"}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    code = [path for folder in ("src", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    for path in [*pages, *code]:
        text = path.read_text(encoding="utf-8")
        named = {*re.findall(r"mixsense\[(\w+)\]", text), *re.findall(r"require\(\"[\w.]+\", \"(\w+)\"", text)}
        assert named <= extras, path.name
