"""What a sweep runs: a grid of settings, read from TOML and checked, and how one cell of it is run."""

from __future__ import annotations

import difflib
import json
import math
import os
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import mixsense
from mixsense.api import recover
from mixsense.checks import as_float, as_int, one_line
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.methods.begin import begin
from mixsense.methods.registry import entry_of, stored_name
from mixsense.metrics import match_error
from mixsense.oracles import SimulatedOracle, random_pair
from mixsense.problem import DEFAULTS, NONE, Problem, as_eta

DEFAULT_SEEDS = 10
LARGEST_GRID = 1_000_000
"""More cells than this are a mistake in the file."""
LARGEST_SEED = 2**32 - 1
KNOWABLE = ("k", "sigma", "weights")
FAILED = "failed"
"""Status of a cell whose run raised; its `message` says what."""

LONGEST = 10**7
"""Longer vectors do not fit into memory."""

Reader = Callable[[str, Any], Any]
Number = TypeVar("Number", int, float)


def _whole(low: int, hint: str, most: int = 10**15) -> Reader:
    def read(name: str, value: Any) -> int:
        return _at_most(name, as_int(name, _no_bool(name, value, "a whole number"), low, hint), most)

    return read


def _real(hint: str, *, strict: bool = True) -> Reader:
    def read(name: str, value: Any) -> float:
        return _at_most(name, as_float(name, _no_bool(name, value, "a real number"), hint, 0.0, strict=strict), 1e50)

    return read


def _at_most(name: str, value: Number, most: float) -> Number:
    if value > most:
        raise InvalidInput(f"{name} is {value:g}; a sweep takes at most {most:g}", **{name: value})
    return value


def _no_bool(name: str, value: Any, needed: str) -> Any:
    if isinstance(value, bool):
        raise InvalidInput(f"{name} is {str(value).lower()}; it must be {needed}, or a list of them", **{name: value})
    return value


def _shares(name: str, value: Any) -> tuple[float, float]:
    pair = Problem(n=1, weights=value).weights
    if not isinstance(pair, tuple):
        raise InvalidInput(f"{name} is {value!r}: give the true shares, such as [0.7, 0.3]; see the key known")
    return pair


def _eta(name: str, value: Any) -> float:
    return as_eta(name, _no_bool(name, value, "a real number"))


def _gamma(name: str, value: Any) -> float | None:
    if isinstance(value, str) and value == NONE:
        return None
    found: float = _real(f'the precision to stop at, e.g. 0.1, or "{NONE}" to spend max_queries')(name, value)
    return found


def _method(name: str, value: Any) -> str:
    if not isinstance(value, str) and not callable(value):
        raise InvalidInput(f"{name} is {value!r}: give the name of a method, or a list of them", method=value)
    entry_of(value)
    return stored_name(value)


AXES: dict[str, Reader] = {
    "n": _whole(1, "the length of the vectors", LONGEST),
    "k": _whole(1, "the number of non-zero coefficients of each vector"),
    "gap": _real("the distance between the two vectors"),
    "overlap": _whole(0, "how many positions the two supports share"),
    "sigma": _real("the noise's standard deviation, 0 for none", strict=False),
    "weights": _shares,
    "gamma": _gamma,
    "eta": _eta,
    "max_queries": _whole(1, "the most answers that may be used"),
    "method": _method,
}
"""What may be one value or a list of values, and how a value is checked. The grid is over all lists."""
NEEDED = ("n", "k", "gap")
ABSENT: dict[str, Any] = {"overlap": None, "sigma": 1.0, "weights": (0.5, 0.5)} | {
    name: DEFAULTS[name] for name in ("gamma", "eta", "max_queries", "method")
}
"""What stands for an axis that is not given."""
OTHERS = ("seeds", "known", "success", "options")


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


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a sweep, and the error that counts as a success (None: not asked)."""

    cells: list[Cell]
    success: float | None


def read_grid(settings: Mapping[str, Any] | str | os.PathLike[str]) -> Grid:
    """Read a grid from a TOML file, or from a dictionary of the same form.

    Examples
    --------
    >>> grid = read_grid({"n": 10, "k": [1, 2], "gap": 5.0, "max_queries": 60, "seeds": 3})
    >>> len(grid.cells)
    6
    >>> read_grid({"n": 10, "k": [], "gap": 5.0})
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: k is an empty list: the grid would have no cell; give at least one value
    """
    if isinstance(settings, Mapping):
        return _grid(settings)
    if not isinstance(settings, (str, os.PathLike)):
        kind = type(settings).__name__
        raise InvalidInput(f"settings is of type {kind}: give a TOML file, or a dictionary of the same form")
    path = Path(settings)
    try:
        return _grid(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}): give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is no TOML file ({error}): see docs/sweeps.md for an example") from None
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}", **error.data) from None


def _grid(settings: Mapping[str, Any]) -> Grid:
    for name in settings:
        _refuse_unknown("key", name, (*AXES, *OTHERS))
    for name in NEEDED:
        if name not in settings:
            raise InvalidInput(f"{name} is missing: give a number or a list of numbers")
    axes = {name: _values(name, settings[name], read) for name, read in AXES.items() if name in settings}
    seeds = _seeds(settings.get("seeds", DEFAULT_SEEDS))
    known = _known(settings.get("known", list(KNOWABLE)))
    options = _options(settings.get("options", {}), axes.get("method", [ABSENT["method"]]))
    success = settings.get("success")
    if success is not None:
        success = _real("the error that counts as a success")("success", success)
    size = math.prod(map(len, axes.values())) * len(seeds)
    if size > LARGEST_GRID:
        lists = (axes | {"seeds": seeds}).items()
        sizes = ", ".join(f"{name}: {len(values):,}" for name, values in lists if len(values) > 1)
        raise InvalidInput(f"the grid has {size:,} cells ({sizes}): the most is {LARGEST_GRID:,}")
    keys = list(_keys(axes, known, options))
    return Grid([Cell(key, seed) for key in keys for seed in seeds], success)


def _refuse_unknown(what: str, name: str, allowed: tuple[str, ...]) -> None:
    if name not in allowed:
        near = difflib.get_close_matches(name, allowed, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it can be {', '.join(allowed)}"
        raise InvalidInput(f"unknown {what} {name!r}: {hint}", key=name)


def _values(name: str, given: Any, read: Reader) -> list[Any]:
    given = _plain(given)
    many = isinstance(given, (list, tuple))
    if name == "weights" and many and given and not isinstance(given[0], (list, tuple)):
        many = False  # one pair, not a list of pairs
    if many and not given:
        raise InvalidInput(f"{name} is an empty list: the grid would have no cell; give at least one value", key=name)
    values = [read(name, value) for value in (given if many else [given])]
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise InvalidInput(f"{name} lists {value!r} twice: give each value once", key=name)
        seen.add(value)
    return values


def _plain(given: Any) -> Any:
    """Return what Python code may give as a list (a range, a NumPy array) as one."""
    return given.tolist() if hasattr(given, "tolist") else list(given) if isinstance(given, range) else given


def _seeds(given: Any) -> list[int]:
    given = _plain(given)
    if not isinstance(given, (list, tuple)):
        count = _whole(1, "how many seeds, or a list of them")("seeds", given)
        if count > LARGEST_GRID:
            raise InvalidInput(f"seeds is {count:,}: a grid has at most {LARGEST_GRID:,} cells", seeds=count)
        given = range(count)
    seeds = _values("seeds", list(given), _whole(0, "how many seeds, or a list of them"))
    if max(seeds) > LARGEST_SEED:
        raise InvalidInput(f"seeds lists {max(seeds)}: the largest is {LARGEST_SEED}", key="seeds")
    return seeds


def _known(given: Any) -> list[str]:
    if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
        raise InvalidInput(f"known is {given!r}: list what the methods are told, among {', '.join(KNOWABLE)}")
    for name in given:
        _refuse_unknown("entry of known:", name, KNOWABLE)
    return sorted(set(given))


def _options(given: Any, methods: list[str]) -> dict[str, dict[str, list[Any]]]:
    def table(name: str, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{name} is {value!r}: give a table such as [options.paper]", key=name)
        return value

    def plain(name: str, value: Any) -> Any:
        if not isinstance(value, (bool, int, float, str)):
            raise InvalidInput(f"{name} is {value!r}: give a number, a word, true or false, or a list of them")
        return value

    found: dict[str, dict[str, list[Any]]] = {}
    for method, options in table("options", given).items():
        entry = entry_of(method)
        for name in table(f"options.{method}", options):
            if name in entry.box_options:
                raise InvalidInput(f"options.{method}.{name} is for queries in a box, a sweep has none: leave it out")
            allowed = tuple(option for option in entry.options if option not in entry.box_options)
            _refuse_unknown(f"key in options.{method}:", name, allowed)
        found[method] = {name: _values(f"options.{method}.{name}", value, plain) for name, value in options.items()}
        if method not in methods:
            raise InvalidInput(
                f"options.{method} is given, but method is {', '.join(methods)}: add {method!r} to method, or leave "
                f"the table out",
                method=method,
            )
    return found


def _keys(axes: dict[str, list[Any]], known: list[str], options: dict[str, dict[str, list[Any]]]) -> Iterator[str]:
    """Yield every setting of the grid as canonical JSON, after a check that a run of it can start."""
    for values in product(*axes.values()):
        setting = ABSENT | dict(zip(axes, values, strict=True)) | {"known": known}
        own = options.get(setting["method"], {})
        for chosen in product(*own.values()):
            setting["options"] = dict(zip(own, chosen, strict=True))
            _check(setting)
            yield json.dumps(setting, sort_keys=True)


def _told(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the method is told about the problem."""
    known = setting["known"]
    weights: Any = tuple(setting["weights"])
    if weights == (0.5, 0.5) and "weights" in known:
        weights = None
    elif "weights" not in known:
        weights = "estimate" if entry_of(setting["method"]).estimates_weights else None
    told: dict[str, Any] = {name: setting[name] if name in known else None for name in ("k", "sigma")}
    always = {name: setting[name] for name in ("n", "gamma", "eta", "max_queries", "method")}
    return {**told, **always, "weights": weights, **setting["options"]}


def _check(setting: Mapping[str, Any]) -> None:
    """Refuse a setting that no run can start with, before anything is run."""
    random_pair(setting["n"], setting["k"], setting["gap"], 0, setting["overlap"])
    method = begin(Problem.from_dict({**_told(setting), "seed": 0}))
    try:
        next(method)
    except InvalidInput:
        raise
    except Exception:  # depends on more than the input: the cell's own affair
        pass
    finally:
        method.close()


def run_cell(cell: Cell, version: str = mixsense.__version__) -> tuple[Cell, Result]:
    """Run one cell; what goes wrong in it is its result.

    Examples
    --------
    >>> grid = read_grid({"n": 10, "k": 1, "gap": 5.0, "max_queries": 60, "seeds": [3]})
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
    try:
        pair = random_pair(setting["n"], setting["k"], setting["gap"], [cell.seed, 1], setting["overlap"])
        oracle = SimulatedOracle(pair, setting["sigma"], tuple(setting["weights"]), [cell.seed, 2])
        r = recover(oracle, seed=[cell.seed, 3], **_told(setting))
        found = r.status, match_error(r.vectors, pair), float(r.error_bound), r.queries, ""
    except MemoryError:  # says nothing about the cell: on another machine it may run
        raise MixsenseError(
            f"no memory is left for n = {setting['n']}: the finished cells are kept; give fewer jobs"
        ) from None
    except Exception as error:
        what = str(error) if isinstance(error, MixsenseError) else f"{type(error).__name__}: {error}"
        message = one_line(what)
        found = FAILED, math.nan, math.nan, oracle.count if oracle else 0, message
    return cell, Result(*found, time.perf_counter() - start)
