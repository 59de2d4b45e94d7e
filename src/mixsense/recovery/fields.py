"""The fields of a recovery, checked: what they must be is said here, once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_float, as_reals, shown
from mixsense.errors import InvalidInput

ROUNDED = 1e-6
"""Shares may miss the sum of 1 by this much."""
INTERCEPT = "(intercept)"
"""What tables call the constant of a model."""
COLLINEAR = "collinear"
"""Where the diagnostics list columns that depend on each other: their coefficients cannot be told."""
CONSTANT = "constant_columns"
"""Where the diagnostics list columns that never change: they have no coefficient, and nothing is shown of them."""


def known_or(name: str, value: Any, unknown: float) -> float:
    """Return a number of at least 0, or what says that it is not known."""
    if isinstance(value, (float, np.floating)) and (math.isnan(value) or value == unknown):
        return unknown
    return as_float(name, value, f"a number, or {unknown} if it is not known", 0.0)


def noise_of(sigma: Any, L: int) -> float | Array:
    """Return the noise of all models, or of each."""
    if np.ndim(sigma) == 0:
        return known_or("sigma", sigma, math.nan)
    found = of_shape("sigma", sigma, (L,))
    if (found < 0).any():
        raise InvalidInput(f"sigma has a value below 0: {found.min():g}")
    return found


def shares_of(weights: Any, L: int) -> Array:
    """Return shares that sum to 1; equal ones if none are given."""
    if weights is None:
        return np.full(L, 1 / L)
    found = of_shape("weights", weights, (L,))
    if (found < 0).any() or abs(float(found.sum()) - 1) > ROUNDED:
        raise InvalidInput(f"weights is {shown(found.tolist())}: give shares that sum to 1")
    return found


def of_shape(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return an array of this shape, or say what is wrong with it; standard errors may be NaN, and never below 0."""
    error = name.endswith("stderr")
    found = as_reals(name, value, f"give an array of shape {shape}", finite=not error)
    if found.shape != shape:
        raise InvalidInput(
            f"{name} has shape {found.shape}; it must be {shape}, to go with the vectors", shape=found.shape
        )
    if error and (found < 0).any():
        raise InvalidInput(f"{name} has a value below 0: {found.min():g}")
    return found


def interval_of(value: Any, shape: tuple[int, ...]) -> Array:
    """Return intervals, (low, high) each; ends that are not known are infinite."""
    found = as_reals("interval", value, f"give an array of shape {shape}", finite=False)
    if found.shape != shape:
        raise InvalidInput(f"interval has shape {found.shape}; it must be {shape}, to go with the vectors")
    if not (found[..., 0] <= found[..., 1]).all():
        raise InvalidInput("an interval ends before it begins: give (low, high) for each coefficient")
    return found


def story_of(diagnostics: Any, n: int) -> dict[str, Any]:
    """Return the diagnostics, with texts as keys; what tables read of them is checked: warnings, lists of columns."""
    if not isinstance(diagnostics, dict) or not all(isinstance(key, str) for key in diagnostics):
        raise InvalidInput(f"diagnostics is {shown(diagnostics)}: give a dict with texts as keys")
    warnings = diagnostics.get("warnings", [])
    if not isinstance(warnings, (list, tuple)) or not all(isinstance(text, str) for text in warnings):
        raise InvalidInput(f"diagnostics['warnings'] is {shown(warnings)}: give a list of texts")
    for key in (COLLINEAR, CONSTANT):
        columns = diagnostics.get(key, [])
        if not isinstance(columns, (list, tuple)) or not all(type(j) is int and 0 <= j < n for j in columns):
            raise InvalidInput(f"diagnostics['{key}'] is {shown(columns)}: give a list of positions below {n}")
    return dict(diagnostics)


def names_of(names: Any, n: int) -> tuple[str, ...]:
    """Return a name for each coefficient."""
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"names is {shown(names)}: give a list of {n} texts")
    if len(names) != n:
        raise InvalidInput(f"{len(names)} names for {n} coefficients: give one name for each", names=names)
    return tuple(names)
