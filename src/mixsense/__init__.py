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
    from mixsense.errors import BudgetError, InvalidInput, MixsenseError, ModelError, OracleError, StudyError
    from mixsense.metrics import match_error, random_pair
    from mixsense.oracles import RecordedOracle, ReplayOracle, SimulatedOracle
    from mixsense.planner import plan
    from mixsense.problem import Problem
    from mixsense.recovery import Recovery
    from mixsense.remote.command import CommandOracle
    from mixsense.remote.http import HTTPOracle
    from mixsense.rounds import Progress, Round, run
    from mixsense.study.drive import run_study
    from mixsense.study.question import Question
    from mixsense.study.shelf import create_study, load_study
    from mixsense.study.study import Study
    from mixsense.sweeps import read_sweep, sweep

__version__ = "0.2.0"

_HOME = {
    "BudgetError": "errors",
    "CommandOracle": "remote.command",
    "HTTPOracle": "remote.http",
    "InvalidInput": "errors",
    "MixsenseError": "errors",
    "ModelError": "errors",
    "OracleError": "errors",
    "Problem": "problem",
    "Progress": "rounds",
    "Question": "study.question",
    "Recovery": "recovery",
    "RecordedOracle": "oracles",
    "ReplayOracle": "oracles",
    "Round": "rounds",
    "SimulatedOracle": "oracles",
    "Study": "study.study",
    "StudyError": "errors",
    "create_study": "study.shelf",
    "load_study": "study.shelf",
    "match_error": "metrics",
    "plan": "planner",
    "random_pair": "metrics",
    "read_sweep": "sweeps",
    "recover": "api",
    "run": "rounds",
    "run_study": "study.drive",
    "sweep": "sweeps",
}
_MODULES = ("align", "constants", "decode", "design", "estimate", "limits", "methods", "mixture", "oracles", "plots")

__all__ = [
    "BudgetError",
    "CommandOracle",
    "HTTPOracle",
    "InvalidInput",
    "MixsenseError",
    "ModelError",
    "OracleError",
    "Problem",
    "Progress",
    "Question",
    "RecordedOracle",
    "Recovery",
    "ReplayOracle",
    "Round",
    "SimulatedOracle",
    "Study",
    "StudyError",
    "constants",
    "create_study",
    "decode",
    "design",
    "estimate",
    "limits",
    "load_study",
    "match_error",
    "mixture",
    "plan",
    "plots",
    "random_pair",
    "read_sweep",
    "recover",
    "run",
    "run_study",
    "sweep",
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
