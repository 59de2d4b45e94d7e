"""One cell of a sweep: a setting and a seed, and how it is run."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import mixsense
from mixsense.api import recover
from mixsense.checks import one_line
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.methods.begin import begin
from mixsense.methods.registry import entry_of
from mixsense.metrics import match_error
from mixsense.oracles import SimulatedOracle, random_pair
from mixsense.problem import Problem

FAILED = "failed"
"""Status of a cell whose run raised; its `message` says what."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: a setting, as canonical JSON, and a seed.

    Everything random in it comes from the seed alone, so that a cell's result depends on nothing else in the grid, and
    different methods and budgets meet the same vectors.
    """

    key: str
    seed: int

    @property
    def setting(self) -> dict[str, Any]:
        """All parameters of the run."""
        return json.loads(self.key)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Result:
    """What a cell gave."""

    status: str
    error: float
    """Worst ℓ2 error against the true vectors; nan if the run failed."""
    error_bound: float
    queries: int
    message: str
    """Why the run failed, in one line; empty if it did not."""
    seconds: float


RESULTS = tuple(entry.name for entry in fields(Result))
"""What a cell gave, by name: the last columns of the table."""


def arguments_of(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `recover`: what the method is told about the problem."""
    known = setting["known"]
    weights: Any = tuple(setting["weights"])
    if weights == (0.5, 0.5) and "weights" in known:
        weights = None
    elif "weights" not in known:
        weights = "estimate" if entry_of(setting["method"]).estimates_weights else None
    told: dict[str, Any] = {name: setting[name] if name in known else None for name in ("k", "sigma")}
    always = {name: setting[name] for name in ("n", "gamma", "eta", "max_queries", "method")}
    return {**told, **always, "weights": weights, **setting["options"]}


def check_setting(setting: Mapping[str, Any]) -> None:
    """Refuse a setting that no run can start with, before anything is run."""
    random_pair(setting["n"], setting["k"], setting["gap"], 0, setting["overlap"])
    method = begin(Problem.from_dict({**arguments_of(setting), "seed": 0}))
    try:
        next(method)
    except InvalidInput:
        raise
    except (Exception, SystemExit):  # depends on more than the input: the cell's own affair
        pass
    finally:
        method.close()


def run_cell(cell: Cell, version: str = mixsense.__version__) -> tuple[Cell, Result]:
    """Run one cell; what goes wrong in it is its result.

    Examples
    --------
    >>> from mixsense.sweeps.grid import read_grid
    >>> grid = read_grid({"n": 10, "k": 1, "gap": 5.0, "gamma": "none", "max_queries": 60, "seeds": [3]})
    >>> _, result = run_cell(grid.cells[0])
    >>> result.status, result.queries <= 60, result.error < 1
    ('budget', True, True)
    """
    if version != mixsense.__version__:
        raise InvalidInput(
            f"a worker has mixsense {mixsense.__version__}, the sweep started with {version}: install the same there"
        )
    start = time.perf_counter()
    setting, oracle = cell.setting, None
    entry_of(setting["method"])  # a worker that does not find the user's module says nothing about the cell
    try:
        pair = random_pair(setting["n"], setting["k"], setting["gap"], [cell.seed, 1], setting["overlap"])
        oracle = SimulatedOracle(pair, setting["sigma"], tuple(setting["weights"]), [cell.seed, 2])
        r = recover(oracle, seed=[cell.seed, 3], **arguments_of(setting))
        found = r.status, match_error(r.vectors, pair), float(r.error_bound), r.queries, ""
    except MemoryError:  # says nothing about the cell: on another machine it may run
        raise MixsenseError(
            f"no memory is left for n = {setting['n']}: the finished cells are kept; give fewer jobs"
        ) from None
    except (Exception, SystemExit) as error:  # whatever a method of the user's does
        what = str(error) if isinstance(error, MixsenseError) else f"{type(error).__name__}: {error}"
        message = one_line(what)
        found = FAILED, math.nan, math.nan, oracle.count if oracle else 0, message
    return cell, Result(*found, time.perf_counter() - start)
