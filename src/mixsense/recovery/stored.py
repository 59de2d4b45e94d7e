"""A recovery as JSON text, and back to the last bit."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsense.checks import as_float, one_line, shown
from mixsense.errors import InvalidInput

if TYPE_CHECKING:
    from mixsense.recovery.result import Recovery

FORMAT = 1
"""The number of the format; a file with another one is refused."""
STORED = (
    *("status", "queries", "error_bound", "sigma", "weights", "weights_stderr", "vectors", "stderr", "diagnostics"),
    *("intercept", "intercept_stderr", "names", "covariance", "interval"),
)
"""The fields, in their order in the file."""
LATER = {"intercept": 1, "intercept_stderr": 1, "weights_stderr": 1, "covariance": 3, "interval": 3}
"""Arrays that an older file may not have, and how many axes each has."""


def as_json(recovery: Recovery) -> str:
    """Return a recovery as JSON text; NaN and infinity as null."""
    try:
        return json.dumps({"mixsense": FORMAT} | {name: _plain(getattr(recovery, name)) for name in STORED})
    except (TypeError, ValueError, RecursionError) as error:
        why = one_line(error, 120)
        raise InvalidInput(f"the diagnostics cannot be stored as JSON ({why}): give plain values") from None


def read(text: str) -> dict[str, Any]:
    """Return the JSON object that a text holds, if it is a result in a format that this program reads."""
    try:
        data = json.loads(text, parse_constant=_refuse, parse_float=_parse)
        if not isinstance(data, dict):
            raise ValueError(f"it is {shown(data, 20)}")
        found = data["mixsense"]
        if type(found) is not int:
            raise ValueError(f"its format is {shown(found)}")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise no_result(error) from None
    if found != FORMAT:
        raise InvalidInput(f"this result has format {shown(found)}; this program reads format {FORMAT}: update it")
    return data


def no_result(error: Exception) -> InvalidInput:
    """Return the error that says why a text is not a result."""
    why = f"{error} is missing" if isinstance(error, KeyError) else one_line(error, 150)
    return InvalidInput(f"not a mixsense result ({why}): give the text that to_json() returned")


def fields_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the recovery that a JSON object holds, as plain values of the right types."""
    return {
        "vectors": _numbers("vectors", data["vectors"], 2),
        "status": data["status"],
        "queries": data["queries"],
        "error_bound": math.inf if data["error_bound"] is None else _number("error_bound", data["error_bound"]),
        "sigma": _noise(data["sigma"]),
        "weights": _numbers("weights", data["weights"], 1),
        "stderr": _numbers_or_none("stderr", data["stderr"], 2),
        "diagnostics": data["diagnostics"],
        "names": data.get("names"),
        **{name: _numbers_or_none(name, data.get(name), depth) for name, depth in LATER.items()},
    }


def _noise(sigma: Any) -> Any:
    if isinstance(sigma, list):
        return _numbers("sigma", sigma, 1)
    return math.nan if sigma is None else _number("sigma", sigma)


def _plain(value: Any) -> Any:
    """Return what JSON has a form for: no NumPy, no tuples, and null for what is not a finite number."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind == "f" and np.isfinite(value).all():  # as it is: an array may be large
            return value.tolist()
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _refuse(literal: str) -> float:
    raise ValueError(f"{literal} is not a number")


def _parse(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{shown(digits, 20)} is beyond all numbers")
    return number


def _number(name: str, value: Any) -> float:
    return as_float(name, value, "a number, or null")


def _numbers(name: str, value: Any, depth: int, null: bool = False) -> Any:
    """Return nested lists of numbers; NumPy would take text and True for numbers, too."""
    if depth:
        if not isinstance(value, list):
            raise ValueError(f"{name} holds {shown(value)} in the place of a list")
        return [_numbers(name, part, depth - 1, null) for part in value]
    if null and value is None:
        return math.nan
    if type(value) is float:
        return value
    return as_float(name, value, "give lists of numbers")


def _numbers_or_none(name: str, value: Any, depth: int) -> Any:
    if value is None:
        return None
    found = _numbers(name, value, depth, null=name.endswith("stderr") or name == "interval")
    return _ends(found) if name == "interval" else found


def _ends(value: Any) -> Any:
    """Return intervals whose ends that are not known are infinite again."""
    found = np.array(value, dtype=np.float64)
    if found.ndim != 3 or found.shape[2] != 2:
        raise ValueError(f"interval has shape {found.shape}")
    return np.where(np.isnan(found), [-math.inf, math.inf], found)
