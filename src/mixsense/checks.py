"""What is needed of a value, said once: numbers, seeds, vectors, optional packages; and values in messages."""

from __future__ import annotations

import importlib
import importlib.util
import math
import operator
import os
import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.errors import InvalidInput

LARGEST_SIZE = 1e15
"""Answers, noise and precision are at most this, and those that must not be 0 at least 1 over this. Derived: starts are
searched with squares in single precision, which ends at 1e±38, and no unit in use is as far from its numbers."""
MOST_SIGMAS = 1e15
"""Answers are at most this many times the noise that is given. Derived: floats have no more digits."""


def as_int(name: str, value: Any, low: int, hint: str, most: int | None = None) -> int:
    """Return `value` as an int of at least `low` (and at most `most`), or say what is needed; True is not a number."""
    try:
        if _is_bool(value):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} is {shown(value)}; it must be a whole number: {hint}", **{name: value}) from None
    if number < low:
        raise InvalidInput(f"{name} is {shown(number)}; it must be at least {low}: {hint}", **{name: value})
    if most is not None and number > most:
        raise InvalidInput(f"{name} is {shown(number)}; it must be at most {most:g}: {hint}", **{name: value})
    return number


def as_float(
    name: str, value: Any, hint: str, low: float = -math.inf, most: float = math.inf, *, strict: bool = False
) -> float:
    """Return `value` as a finite float of at least (or, if strict, above) `low`, or say what is needed."""
    try:
        if isinstance(value, (str, bytes, complex)) or _is_bool(value) or getattr(value, "ndim", 0) > 0:
            raise TypeError
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} is {shown(value)}; it must be a real number: {hint}", **{name: value}) from None
    if not math.isfinite(number):
        raise InvalidInput(f"{name} is {number}; it must be finite: {hint}", **{name: value})
    if number < low or (strict and number == low):
        bound = "above" if strict else "at least"
        raise InvalidInput(f"{name} is {number:g}; it must be {bound} {low:g}: {hint}", **{name: value})
    if number > most:
        raise InvalidInput(f"{name} is {number:g}; it must be at most {most:g}: {hint}", **{name: value})
    return number


def as_size(name: str, value: Any, hint: str, *, zero: bool = False) -> float:
    """Return a positive number that can be computed with, or 0 where that means something, or say what is needed.

    Examples
    --------
    >>> as_size("sigma", 1e-300, "the noise", zero=True)
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: sigma is 1e-300; it must be at least 1e-15, or 0: the noise
    """
    number = as_float(name, value, hint, 0.0, LARGEST_SIZE, strict=not zero)
    if 0 < number < 1 / LARGEST_SIZE:
        or_zero = ", or 0" if zero else ""
        raise InvalidInput(
            f"{name} is {number:g}; it must be at least {1 / LARGEST_SIZE:g}{or_zero}: {hint}", **{name: value}
        )
    return number


def _is_bool(value: Any) -> bool:
    """Whether a value is True or False, which Python and NumPy would take for 1 and 0."""
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_


def as_reals(name: str, values: Any, needed: str, *, finite: bool = True, kinds: str = "iuf") -> Array:
    """Return real numbers as a new float array of whatever shape, or say what is wrong with them.

    `kinds` are those of NumPy's dtypes that are taken; "biuf" takes True and False for 1 and 0, too.

    Examples
    --------
    >>> as_reals("answers", [[1, 2.5]], "one row a query")
    array([[1. , 2.5]])
    >>> as_reals("answers", [1, "2"], "one row a query")
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: answers must be real numbers: one row a query
    """
    try:
        found = np.asarray(values)
        if found.dtype.kind not in kinds and found.size:
            raise TypeError
    except (ValueError, TypeError, OverflowError, RecursionError):  # unequal rows, text, dates, numbers without end
        raise InvalidInput(f"{name} must be real numbers: {needed}") from None
    if finite and not np.isfinite(found).all():
        place = np.argwhere(~np.isfinite(found))[0]
        where = ", ".join(map(str, place.tolist()))
        raise InvalidInput(f"{name}[{where}] is {found[tuple(place)]}; it must be finite")
    return found.astype(np.float64)


def as_vectors(vectors: ArrayLike, name: str = "vectors") -> Array:
    """Return vectors as a finite (L, n) array, or say what is wrong with them."""
    found = as_reals(name, vectors, "give (L, n), vectors of equal length")
    if found.ndim != 2 or 0 in found.shape:
        raise InvalidInput(f"{name} has shape {found.shape}; it must be (L, n): one row a vector", shape=found.shape)
    return found


def generator(seed: Any) -> np.random.Generator:
    """Return a random generator for a seed, or say what a seed is."""
    try:
        if _is_bool(seed):
            raise TypeError("it is neither True nor False")
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        why = one_line(error, 120)
        raise InvalidInput(f"seed is {shown(seed)}: give a whole number of at least 0 ({why})", seed=seed) from None


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


def require_all(extras: Mapping[str, str], purpose: str) -> None:
    """Refuse to go on if optional packages are missing, and name all of them at once.

    Parameters
    ----------
    extras : mapping
        Package → the extra of mixsense that it comes with.
    purpose : str
        What needs them, as in "an audit needs".

    Examples
    --------
    >>> require_all({"math": "study", "no_such": "http", "nor_this": "study"}, "an audit needs")
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: an audit needs no_such and nor_this, not installed: pip install 'mixsense[http,study]'
    """
    missing = [package for package in extras if importlib.util.find_spec(package) is None]
    if missing:
        wanted = ",".join(dict.fromkeys(extras[package] for package in missing))
        names = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
        raise InvalidInput(f"{purpose} {names}, not installed: pip install 'mixsense[{wanted}]'", packages=missing)


def for_owner(path: str, flags: int) -> int:
    """Open a file as `open` does (give it as its `opener`); a new one can be read by its owner only."""
    return os.open(path, flags, 0o600)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with what it counts.

    Examples
    --------
    >>> counted(1, "answer"), counted(1200, "answer"), counted(2, "query", "queries")
    ('1 answer', '1,200 answers', '2 queries')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


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


def raised_at(error: BaseException) -> str:
    """Return the file and the line that an error came from, in the file of the user that it passed through.

    Examples
    --------
    >>> try: int("x")
    ... except ValueError as error: raised_at(error)
    '<doctest mixsense.checks.raised_at[0]>, line 1'
    """
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    theirs = [frame for frame in frames if not _is_ours(frame[0])]
    if not frames:
        return "nowhere"
    file = theirs[0][0] if theirs else frames[-1][0]  # what is called from there, such as NumPy, is not theirs
    line = [number for name, number in frames if name == file][-1]
    return f"{visible(os.path.basename(file))}, line {line}"


def passed_through(error: BaseException) -> bool:
    """Return whether an error passed through a file of the user; one of the call itself did not.

    Examples
    --------
    >>> try: int("x")
    ... except ValueError as error: passed_through(error)
    True
    """
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return not all(map(_is_ours, files))


def _is_ours(file: str) -> bool:
    return file.startswith(os.path.dirname(__file__))


def is_unicode(text: str) -> bool:
    r"""Return whether a text can be written as UTF-8: half a character, as Python makes of other bytes, cannot.

    Examples
    --------
    >>> is_unicode("tea"), is_unicode("\udcff")
    (True, False)
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def visible(text: str) -> str:
    r"""Return a text with its control characters written out, so that it can neither move nor colour a terminal.

    Examples
    --------
    >>> print(visible("tea\x1b[31m"))
    tea\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: Any, most: int = 60) -> str:
    """Return a value as Python writes it, on one line and cut to a readable length.

    Examples
    --------
    >>> shown("tea"), shown("x" * 100, 10), shown(np.eye(2))
    ("'tea'", "'xxxxxxxxx…", 'array([[1., 0.], [0., 1.]])')
    """
    try:
        text = repr(value[: 2 * most]) if isinstance(value, (str, bytes)) else repr(value)
    except Exception:  # a number of many thousand digits, a list in itself: whatever a user's class does
        text = f"<{type(value).__name__}>"
    text = visible(" ".join(line.strip() for line in text[: 8 * most].splitlines()))
    return text if len(text) <= most else f"{text[:most]}…"


def summed_up(value: Any) -> str:
    """Return what a value is without what it holds: its type, and its shape or length.

    Examples
    --------
    >>> summed_up((np.eye(2), [1, 2, 3])), summed_up(np.eye(2)), summed_up(None)
    ('a tuple of length 2', 'an array of shape (2, 2)', 'None')
    """
    if value is None or isinstance(value, (str, bytes, int, float, complex)):
        return shown(value)
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    name = type(value).__name__
    what = f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
    return f"{what} of length {len(value)}" if isinstance(value, (list, tuple, dict, set)) else what
