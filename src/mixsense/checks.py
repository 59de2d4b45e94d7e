"""What is needed of a value, said once: numbers, seeds, vectors, optional packages; and values in messages."""

from __future__ import annotations

import importlib
import math
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.errors import InvalidInput


def as_int(name: str, value: Any, low: int, hint: str) -> int:
    """Return `value` as an int of at least `low`, or say what is needed."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} is {value!r}; it must be a whole number: {hint}", **{name: value}) from None
    if number < low:
        raise InvalidInput(f"{name} is {number}; it must be at least {low}: {hint}", **{name: value})
    return number


def as_float(name: str, value: Any, hint: str, low: float = -math.inf, *, strict: bool = False) -> float:
    """Return `value` as a finite float of at least (or, if strict, above) `low`, or say what is needed."""
    try:
        if isinstance(value, (str, bytes, complex)):
            raise TypeError
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} is {value!r}; it must be a real number: {hint}", **{name: value}) from None
    if not math.isfinite(number):
        raise InvalidInput(f"{name} is {number}; it must be finite: {hint}", **{name: value})
    if number < low or (strict and number == low):
        bound = "above" if strict else "at least"
        raise InvalidInput(f"{name} is {number:g}; it must be {bound} {low:g}: {hint}", **{name: value})
    return number


def as_vectors(vectors: ArrayLike, name: str = "vectors") -> Array:
    """Return a pair of vectors as a finite (2, n) array, or say what is wrong with them."""
    try:
        found = np.asarray(vectors)
        if found.dtype.kind not in "biuf":
            raise TypeError
    except (ValueError, TypeError):
        raise InvalidInput(f"{name} must be real numbers of shape (2, n): two vectors of equal length") from None
    if found.ndim != 2 or found.shape[0] != 2 or found.shape[1] == 0:
        raise InvalidInput(f"{name} has shape {found.shape}; needed is (2, n): one row a vector", shape=found.shape)
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0]
        raise InvalidInput(f"{name}[{row}, {column}] is {found[row, column]}; needed are finite numbers")
    return found.astype(np.float64)


def generator(seed: Any) -> np.random.Generator:
    """Return a random generator for a seed, or say what a seed is."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"seed is {seed!r}: give a whole number of at least 0 ({error})", seed=seed) from None


def require(package: str, extra: str, purpose: str) -> Any:
    """Import an optional package, or say which extra brings it.

    Parameters
    ----------
    package : str
        The module to import.
    extra : str
        The extra of mixsense that it comes with.
    purpose : str
        What needs it, as in "studies need".

    Examples
    --------
    >>> require("math", "study", "studies need").pi > 3
    True
    >>> require("no_such_package", "study", "studies need")
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: studies need no_such_package, which is not installed: pip install 'mixsense[study]'
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError:
        raise InvalidInput(
            f"{purpose} {package}, which is not installed: pip install 'mixsense[{extra}]'", package=package
        ) from None


def one_line(text: Any, most: int = 500) -> str:
    """Return a text or bytes on one line, printable, and short enough for a message.

    Examples
    --------
    >>> one_line(b"<html>" + 500 * b"-", 20)
    '<html>-------------…'
    """
    if isinstance(text, bytes):
        text = text[: 4 * most].decode("utf-8", "replace")
    line = "".join(c if c.isprintable() else " " for c in " ".join(str(text)[: 4 * most].split()))
    return line if len(line) < most else line[: most - 1] + "…"


def shown(value: Any, most: int = 60) -> str:
    """Return a value as Python writes it, cut to a readable length.

    Examples
    --------
    >>> shown("tea"), shown("x" * 100, 10)
    ("'tea'", "'xxxxxxxxx…")
    """
    text = repr(value[: 2 * most]) if isinstance(value, (str, bytes)) else repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
