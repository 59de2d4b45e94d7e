"""Recover sparse linear models from an oracle that answers each question with one of two, at random.

>>> import mixsense as ms
>>> oracle = ms.SimulatedOracle(ms.random_pair(100, 5, gap=5.0, seed=1), sigma=1.0, seed=2)
>>> ms.recover(oracle, 100, gamma=0.2, seed=3).status
'certified'

Everything public is an attribute of this module; each is imported when it is first used, so that
``import mixsense`` loads nothing heavier than NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixsense import constants, decode, design, estimate, limits, mixture, plots
    from mixsense.api import recover
    from mixsense.errors import BudgetError, InvalidInput, MixsenseError, ModelError, OracleError
    from mixsense.metrics import match_error, random_pair
    from mixsense.oracles import RecordedOracle, ReplayOracle, SimulatedOracle
    from mixsense.problem import Problem
    from mixsense.recovery import Recovery
    from mixsense.rounds import Progress, Round, run

__version__ = "0.1.0"

_HOME = {
    "BudgetError": "errors",
    "InvalidInput": "errors",
    "MixsenseError": "errors",
    "ModelError": "errors",
    "OracleError": "errors",
    "Problem": "problem",
    "Progress": "rounds",
    "Recovery": "recovery",
    "RecordedOracle": "oracles",
    "ReplayOracle": "oracles",
    "Round": "rounds",
    "SimulatedOracle": "oracles",
    "match_error": "metrics",
    "random_pair": "metrics",
    "recover": "api",
    "run": "rounds",
}
_MODULES = ("align", "constants", "decode", "design", "estimate", "limits", "methods", "mixture", "oracles", "plots")

__all__ = [
    "BudgetError",
    "InvalidInput",
    "MixsenseError",
    "ModelError",
    "OracleError",
    "Problem",
    "Progress",
    "RecordedOracle",
    "Recovery",
    "ReplayOracle",
    "Round",
    "SimulatedOracle",
    "constants",
    "decode",
    "design",
    "estimate",
    "limits",
    "match_error",
    "mixture",
    "plots",
    "random_pair",
    "recover",
    "run",
]


if not TYPE_CHECKING:  # a misspelt name is for mypy to find

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            value = getattr(importlib.import_module(f"mixsense.{_HOME[name]}"), name)
        elif name in _MODULES:
            value = importlib.import_module(f"mixsense.{name}")
        else:
            raise AttributeError(f"module 'mixsense' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
