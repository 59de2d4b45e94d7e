"""The architecture: who may import whom, and what `import mixsense` loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mixsense

SOURCE = Path(mixsense.__file__).parent
# A file imports only from files before it. The order is that of the data: from errors to the command line.
ORDER = (
    "errors problem constants rounds design likelihood mixture estimate align homotopy decode limits "
    "sparsity refine starts certify recovery units "
    "methods.settings methods.finish methods.noiseless methods.single methods.paper "
    "methods.pool methods.noise methods.frugal "
    "oracles remote.template remote.wire remote.http remote.command remote.checks remote.preflight "
    "progress api calibration costs plantable planner metrics plots grid sweepstore workers sweeps peers "
    "study.tables study.database study.checks study.migrations study.storage study.playback study.question "
    "study.standing study.study study.shelf study.tablefile study.answers study.drive study.commands "
    "study.endpoint study.audit "
    "figures.figure figures.estimators figures.recoveries figures.answers figures.complexity figures.phase "
    "figures.make demo cli"
).split()
NUMERICS = {
    "likelihood": set(),
    "mixture": {"errors", "likelihood"},
    "homotopy": set(),
    "decode": {"errors", "homotopy"},
}


def imports_of(path: Path) -> set[str]:
    """Modules of mixsense that a file imports when it is loaded (not inside functions)."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mixsense"):
            names = [node.module] if node.module != "mixsense" else [f"mixsense.{a.name}" for a in node.names]
            found |= {name.removeprefix("mixsense.") for name in names}
    return found


def test_every_file_has_its_place():
    names = {".".join(p.relative_to(SOURCE).with_suffix("").parts) for p in SOURCE.rglob("*.py")}
    assert {n for n in names if not n.endswith("__init__")} == set(ORDER)


@pytest.mark.parametrize("name", ORDER)
def test_dependencies_point_one_way(name):
    used = imports_of(SOURCE / (name.replace(".", "/") + ".py"))
    allowed = NUMERICS.get(name, set(ORDER[: ORDER.index(name)]))
    assert used <= allowed


def test_import_is_light_and_everything_public_is_there():
    code = (
        "import sys, mixsense as ms; heavy = {'scipy', 'matplotlib', 'typer', 'rich', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy; [getattr(ms, name) for name in ms.__all__]; assert set(ms.__all__) <= set(dir(ms)); "
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mixsense.nothing
