"""Recover sparse linear models from an oracle that answers each question with one of them, at random.

>>> import mixsense as ms
>>> oracle = ms.SimulatedOracle(ms.random_pair(100, 5, gap=5.0, seed=1), sigma=1.0, seed=2)
>>> ms.recover(oracle, 100, gamma=0.2, seed=3).status
'certified'

Everything public is an attribute of this module; each is imported when it is first used, so that
``import mixsense`` loads nothing heavier than NumPy. The list of public names is ``__init__.pyi``, beside this file:
type checkers read it, and so does this module.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

__version__ = "0.12.0"


def _public() -> dict[str, str]:
    """Return the module or package that each public name is imported from."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lines = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {entry.name: str(line.module) for line in lines for entry in line.names}


_HOMES = _public()
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mixsense' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    if home.__name__ != __name__ and hasattr(home, name):
        value = getattr(home, name)
    else:  # a module of its own
        value = importlib.import_module(f"{home.__name__}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
