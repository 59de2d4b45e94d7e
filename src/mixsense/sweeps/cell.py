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
from mixsense.arrays import Array
from mixsense.checks import one_line, raised_at
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.methods.begin import begin
from mixsense.methods.registry import entry_of
from mixsense.metrics import match_error
from mixsense.oracles import SimulatedOracle, random_models, random_pair
from mixsense.problem import AUTO, EQUAL, Problem, as_shares

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
    """Worst ℓ2 error against the true vectors; inf if their number is not what was found, nan if the run failed."""
    error_bound: float
    queries: int
    message: str
    """Why the run failed, in one line, or how many models it found if that is not their number; else empty."""
    seconds: float


RESULTS = tuple(entry.name for entry in fields(Result))
"""What a cell gave, by name: the last columns of the table."""


def arguments_of(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `recover`: what the method is told about the problem."""
    known = setting["known"]
    weights: Any = tuple(setting["weights"])
    if "weights" not in known:
        weights = None  # the method finds the shares, or takes them for equal
    elif len(set(weights)) == 1:
        weights = EQUAL  # does not tell the number of models
    models = setting["models"] if "models" in known else AUTO
    told: dict[str, Any] = {name: setting[name] if name in known else None for name in ("k", "sigma")}
    always = {name: setting[name] for name in ("n", "gamma", "eta", "max_queries", "method")}
    return {**told, **always, "weights": weights, "models": models, **setting["options"]}


def vectors_of(setting: Mapping[str, Any], seed: Any) -> Array:
    """Return the hidden models of a setting."""
    n, k, gap = (setting[name] for name in ("n", "k", "gap"))
    if setting["overlap"] is None:
        return random_models(setting["models"], n, k, gap, seed)
    if setting["models"] != 2:
        raise InvalidInput(f"overlap is for two models, models is {setting['models']}: leave overlap out")
    return random_pair(n, k, gap, seed, setting["overlap"])


def check_setting(setting: Mapping[str, Any]) -> None:
    """Refuse a setting that no run can start with, before anything is run."""
    as_shares(setting["weights"], setting["models"])
    vectors_of(setting, 0)
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
    entry = entry_of(setting["method"])  # a worker that does not find the user's module says nothing about the cell
    try:
        truth = vectors_of(setting, [cell.seed, 1])
        exact = "exact" in entry.needs and not setting["sigma"]
        oracle = SimulatedOracle(truth, setting["sigma"], tuple(setting["weights"]), [cell.seed, 2], exact=exact)
        r = recover(oracle, seed=[cell.seed, 3], **arguments_of(setting))
        right = len(r.vectors) in (1, len(truth))
        message = "" if len(r.vectors) == len(truth) else f"models found: {len(r.vectors)}; there are {len(truth)}"
        error = match_error(r.vectors, truth) if right else math.inf
        found = r.status, error, float(r.error_bound), r.queries, message
    except MemoryError:  # says nothing about the cell: on another machine it may run
        raise MixsenseError(
            f"no memory is left for n = {setting['n']}: the finished cells are kept; give fewer jobs"
        ) from None
    except (Exception, SystemExit) as error:  # whatever a method of the user's does
        if isinstance(error, MixsenseError):
            message = one_line(error)
        else:
            message = f"{one_line(f'{type(error).__name__}: {error}')} ({raised_at(error)})"
        found = FAILED, math.nan, math.nan, oracle.count if oracle else 0, message
    return cell, Result(*found, time.perf_counter() - start)
