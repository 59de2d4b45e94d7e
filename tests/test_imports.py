"""The architecture: which package may import which, and what `import mixsense` loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mixsense
from mixsense.methods.registry import ENTRIES

SOURCE = Path(mixsense.__file__).parent
# The tree is the data flow: a package imports from itself and from packages above it, whether at the top of a file,
# inside a function or for type checkers only.
LAYERS = """
    errors
    arrays
    checks
    threads
    frames
    table_files
    datasets

    sqlite
    toml_file
    whole_file
    metrics
    features
    scales
    problem
    recovery
    rounds
    progress
    mixture
    decode
    regression
    methods.design
    methods.registry
    methods.verification
    methods.paper
    methods.predecessors
    methods.frugal
    methods
    methods.begin
    fitting
    estimator
    api
    oracles
    planning
    studies.storage
    studies
    plots
    sweeps
    figures
    cli
    __main__
""".split()
NUMERICS = {"mixture": {"errors", "arrays", "checks"}, "decode": {"errors", "arrays", "checks"}}
"""Pure numerics, which could be taken out and used by themselves."""


def modules() -> dict[str, Path]:
    """Name of every file below the package, without the package's own."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    del found[""]
    return found


MODULES = modules()


def layer_of(module: str) -> str:
    """The most special package of the table that holds the module."""
    fitting = [layer for layer in LAYERS if f"{module}.".startswith(f"{layer}.")]
    return max(fitting, key=len, default="")


def imports_of(path: Path) -> set[str]:
    """Modules of mixsense that a file imports anywhere, lazily too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {entry.name for entry in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            for entry in node.names:
                within = f"{node.module}.{entry.name}"
                found.add(within if within.removeprefix("mixsense.") in MODULES else str(node.module))
    # `import mixsense` is for its version: the package itself holds nothing else.
    return {name.removeprefix("mixsense.") for name in found if name.startswith("mixsense.")}


def test_every_package_has_its_place():
    assert {layer_of(module) for module in MODULES} == set(LAYERS)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_dependencies_point_one_way(module):
    own = layer_of(module)
    allowed = {own, *NUMERICS.get(own, LAYERS[: LAYERS.index(own)] if own else ())}
    wrong = {name for name in imports_of(MODULES[module]) if layer_of(name) not in allowed}
    assert not wrong, f"{module} ({own}) imports {wrong}"


def test_methods_are_at_home_among_the_methods():
    """The registry names the home of a method by a string, which no import shows."""
    homes = {entry.name: entry.home.partition(":")[0].removeprefix("mixsense.") for entry in ENTRIES.values()}
    assert {homes.pop("fit")} == {"fitting.method"}  # the one above it: a fit of data is no part of the methods
    assert {layer_of(home) for home in homes.values()} == {"methods.paper", "methods.predecessors", "methods.frugal"}
    assert {*homes.values()} <= MODULES.keys()


@pytest.mark.parametrize("module", sorted(MODULES))
def test_the_package_itself_is_imported_for_its_version_only(module):
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "mixsense":
            assert node.attr == "__version__", f"{module} line {node.lineno}: import what is used from its home"


def test_import_is_light_and_everything_public_is_there():
    code = (
        "import sys, mixsense as ms; heavy = {'scipy', 'matplotlib', 'typer', 'rich', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy; [getattr(ms, name) for name in ms.__all__]; assert set(ms.__all__) <= set(dir(ms)); "
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mixsense.nothing


def test_everything_public_has_an_example():
    assert {*dir(mixsense)} == {*mixsense.__all__, "__version__"}
    public = {name: getattr(mixsense, name) for name in mixsense.__all__}
    bare = {name for name, thing in public.items() if callable(thing) and ">>>" not in (thing.__doc__ or "")}
    assert bare == {"BudgetError", "InvalidInput", "ModelError", "OracleError", "StudyError"}
