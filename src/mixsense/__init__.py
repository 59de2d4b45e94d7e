"""Recover sparse linear models from an oracle that answers each question with one of two, at random.

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

__version__ = "0.2.0"


def _public() -> dict[str, str]:
    """Return where each public name lives: "mixsense.api:recover", or "mixsense.decode" for a module."""
    homes = {}
    for node in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            homes |= {str(entry.asname): entry.name for entry in node.names}
        elif isinstance(node, ast.ImportFrom):
            homes |= {entry.name: f"{node.module}:{entry.name}" for entry in node.names}
    return homes


_HOMES = _public()
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mixsense' has no attribute {name!r}")
    module, _, original = _HOMES[name].partition(":")
    found = importlib.import_module(module)
    globals()[name] = value = getattr(found, original) if original else found
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
