"""Constants that decide something: each in a file of their own, with its origin, and nowhere else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import mixsense

SOURCE = Path(mixsense.__file__).parent
FOLDERS = [
    SOURCE / "regression",
    SOURCE / "fitting",
    SOURCE / "methods" / "frugal",
    SOURCE / "methods" / "frugal" / "model_checks",
    SOURCE / "methods" / "predecessors",
    SOURCE / "oracles" / "preflight",
]
ORIGINS = ("Derived: ", "Swept: ", "Taste: ", "A numerical guard", "An approximation")
# Signs, halves, powers and moments of formulas; limits that keep exponentials in range, block sizes, percent.
IN_FORMULAS = {0, 1, 2, 0.5, 1.5, 3, 4, 6, 7, 8, 12, 16, 24, 30, 36, 50, 100, 200, 500, 700}
GUARD = 1e-6


def constants(path):
    """Name and docstring of each constant of a file."""
    body = ast.parse(path.read_text()).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign):
            documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            yield ast.unparse(node.targets[0]), after.value.value if documented else ""


TUNED = [(folder.name, *entry) for folder in FOLDERS for entry in constants(folder / "tuning.py")]


@pytest.mark.parametrize(("folder", "name", "text"), TUNED, ids=[f"{entry[0]}-{entry[1]}" for entry in TUNED])
def test_every_constant_has_a_meaning_and_an_origin(folder, name, text):
    assert re.match(r"[A-Z0-9]", text), "a docstring can be read alone"
    assert any(origin in text for origin in ORIGINS)
    assert text.split(next(origin for origin in ORIGINS if origin in text))[0].strip().endswith(".")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_constant_is_used(folder):
    own = (folder / "tuning.py").read_text()
    code = "".join(path.read_text() for path in folder.glob("*.py") if path.name != "tuning.py")
    for name, _ in constants(folder / "tuning.py"):
        assert f"tuning.{name}" in code or len(re.findall(rf"\b{name}\b", own + code)) > 2, name


@pytest.mark.parametrize(
    "path",
    [
        path
        for folder in [*FOLDERS, SOURCE / "methods" / "paper"]
        for path in sorted(folder.glob("*.py"))
        if path.name != "constants.py"  # the paper's own, in a class, each with its comment
    ],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_no_deciding_number_is_bare(path):
    tree = ast.parse(path.read_text())
    tables = [node for node in tree.body if isinstance(node, ast.Assign)]  # test_every_number_with_a_name_is_in_tuning
    known = {id(inner) for node in tables for inner in ast.walk(node)}
    for node in ast.walk(tree):
        number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and id(node) not in known
        if number and not isinstance(node.value, bool):
            assert node.value in IN_FORMULAS or node.value <= GUARD, f"line {node.lineno}: {node.value} needs a name"


@pytest.mark.parametrize(
    "path",
    [path for folder in FOLDERS for path in sorted(folder.glob("*.py")) if path.name != "tuning.py"],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_number_with_a_name_is_in_tuning(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            numbers = [
                inner.value
                for inner in ast.walk(node)
                if isinstance(inner, ast.Constant) and type(inner.value) in (int, float)
            ]
            assert not numbers, f"line {node.lineno}: move {ast.unparse(node)[:60]} into tuning.py, with its origin"
