"""What a sweep runs: a grid of settings, read from TOML and checked."""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from mixsense.checks import as_float, as_int, shown
from mixsense.errors import InvalidInput
from mixsense.methods.registry import entry_of, stored_name
from mixsense.problem import DEFAULTS, MOST_MODELS, NONE, Problem, Weights, as_eta, as_shares
from mixsense.sweeps.cell import RESULTS, Cell, check_setting
from mixsense.toml_file import read_toml

DEFAULT_SEEDS = 10
"""Seeds of each setting, if the file does not say."""
LARGEST_GRID = 1_000_000
"""More cells than this are a mistake in the file."""
LARGEST_SEED = 2**32 - 1
"""What NumPy takes as one part of a seed."""
LONGEST = 10**7
"""Longer vectors do not fit into memory."""
KNOWABLE = ("k", "models", "sigma", "weights")
"""What a method may be told about the hidden vectors, or not."""

LARGEST = 1e50
"""Squares of larger distances, and of their sums, leave the range of floats."""

Reader = Callable[[str, Any], Any]


def _whole(low: int, hint: str, most: int = 10**15) -> Reader:
    return lambda name, value: as_int(name, value, low, hint, most)


def _real(hint: str, *, strict: bool = True) -> Reader:
    return lambda name, value: as_float(name, value, hint, 0.0, LARGEST, strict=strict)


def _shares(name: str, value: Any) -> Weights:
    shares = Problem(n=1, weights=value).weights
    if not isinstance(shares, tuple):
        raise InvalidInput(f"{name} is {value!r}: give the true shares, such as [0.7, 0.3]; see the key known")
    return shares


def _gamma(name: str, value: Any) -> float | None:
    if value is None or (isinstance(value, str) and value == NONE):
        return None
    hint = f'the precision to stop at, e.g. 0.1, or "{NONE}" to spend max_queries'
    return as_float(name, value, hint, 0.0, LARGEST)  # 0 is one where there is no noise: the whole setting tells


def _method(name: str, value: Any) -> str:
    if not isinstance(value, str) and not callable(value):
        raise InvalidInput(f"{name} is {shown(value)}: give the name of a method, or a list of them", method=value)
    entry_of(value)
    return stored_name(value)


AXES: dict[str, Reader] = {
    "n": _whole(1, "the length of the vectors", LONGEST),
    "k": _whole(1, "the number of non-zero coefficients of each vector"),
    "gap": _real("the distance between the vectors"),
    "models": _whole(1, "how many hidden models there are", MOST_MODELS),
    "overlap": _whole(0, "how many positions the two supports share"),
    "sigma": _real("the noise's standard deviation, 0 for none", strict=False),
    "weights": _shares,
    "gamma": _gamma,
    "eta": as_eta,
    "max_queries": _whole(1, "the most answers that may be used"),
    "method": _method,
}
"""What may be one value or a list of values, and how a value is checked. The grid is over all lists."""
NEEDED = ("n", "k", "gap")
"""The axes that have no default."""
ABSENT: dict[str, Any] = {"models": 2, "overlap": None, "sigma": 1.0} | {
    name: DEFAULTS[name] for name in ("gamma", "eta", "max_queries", "method")
}
"""What stands for an axis that is not given; shares are equal then, and of given ones there are as many as models."""
PLAIN_KEYS = ("seeds", "known", "success", "options")
"""The keys that are not axes."""
COLUMNS = (*AXES, "known", "seed", *RESULTS, "success")
"""The columns of the table that is made of the cells; options add more."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a sweep, and the error that counts as a success (None: not asked)."""

    cells: list[Cell]
    success: float | None


def read_grid(settings: Mapping[str, Any] | str | os.PathLike[str]) -> Grid:
    """Read a grid from a TOML file, or from a dictionary of the same form.

    Examples
    --------
    >>> grid = read_grid({"n": 10, "k": [1, 2], "gap": 5.0, "gamma": 0.5, "seeds": 3})
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
    given = read_toml(settings, "docs/sweeps.md")
    try:
        return _grid(given)
    except InvalidInput as error:
        raise InvalidInput(f"{Path(settings)}: {error}", **error.data) from None


def _grid(settings: Mapping[str, Any]) -> Grid:
    for name in settings:
        _refuse_unknown("key", name, (*AXES, *PLAIN_KEYS))
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


def _refuse_unknown(what: str, name: Any, allowed: tuple[str, ...]) -> None:
    if name not in allowed:
        near = difflib.get_close_matches(name, allowed, 1) if isinstance(name, str) else []
        hint = f"did you mean {near[0]!r}?" if near else f"it can be {', '.join(allowed)}"
        raise InvalidInput(f"unknown {what} {shown(name)}: {hint}", key=name)


def _values(name: str, given: Any, read: Reader) -> list[Any]:
    given = _plain(given)
    many = isinstance(given, (list, tuple))
    if name == "weights" and many and given and not isinstance(given[0], (list, tuple)):
        many = False  # the shares of one setting, not a list of them
    if many and not given:
        raise InvalidInput(f"{name} is an empty list: the grid would have no cell; give at least one value", key=name)
    values = [read(name, value) for value in (given if many else [given])]
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise InvalidInput(f"{name} lists {shown(value)} twice: give each value once", key=name)
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
        raise InvalidInput(f"known is {shown(given)}: list what the methods are told, among {', '.join(KNOWABLE)}")
    for name in given:
        _refuse_unknown("entry of known:", name, KNOWABLE)
    return sorted(set(given))


def _options(given: Any, methods: list[str]) -> dict[str, dict[str, list[Any]]]:
    def table(name: str, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{name} is {shown(value)}: give a table such as [options.paper]", key=name)
        return value

    def plain(name: str, value: Any) -> Any:
        if not isinstance(value, (bool, int, float, str)):
            raise InvalidInput(f"{name} is {shown(value)}: give a number, a word, true or false, or a list of them")
        return value

    found: dict[str, dict[str, list[Any]]] = {}
    for key, options in table("options", given).items():
        method = _method("options", key)
        _check_option_names(method, table(f"options.{method}", options))
        found[method] = {name: _values(f"options.{method}.{name}", value, plain) for name, value in options.items()}
        if method not in methods:
            raise InvalidInput(
                f"options.{method} is given, but method is {', '.join(methods)}: add {method!r} to method, or leave "
                f"the table out",
                method=method,
            )
    return found


def _check_option_names(method: str, options: Mapping[str, Any]) -> None:
    entry = entry_of(method)
    for name in options:
        if name in entry.box_options:
            raise InvalidInput(f"options.{method}.{name} is for queries in a box, a sweep has none: leave it out")
        if name in COLUMNS:
            raise InvalidInput(f"options.{method}.{name} is called as a column of the table: give it another name")
        if not entry.any_options:
            allowed = tuple(option for option in entry.options if option not in entry.box_options)
            _refuse_unknown(f"key in options.{method}:", name, allowed)


def _keys(axes: dict[str, list[Any]], known: list[str], options: dict[str, dict[str, list[Any]]]) -> Iterator[str]:
    """Yield every setting of the grid as canonical JSON, after a check that a run of it can start."""
    for values in product(*axes.values()):
        given = dict(zip(axes, values, strict=True))
        if "weights" in given:
            given = {"models": len(given["weights"])} | given
        setting = ABSENT | given | {"known": known}
        setting.setdefault("weights", as_shares(None, setting["models"]))
        own = options.get(setting["method"], {})
        for chosen in product(*own.values()):
            setting["options"] = dict(zip(own, chosen, strict=True))
            check_setting(setting)
            yield json.dumps(setting, sort_keys=True)
