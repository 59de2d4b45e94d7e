"""Numbers for people: as many digits as the standard error supports."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NamedTuple

PLAIN_DIGITS = 4
"""Significant digits of a number without a standard error: taste."""
MOST_DIGITS = 8
"""More digits than this are not printed, however small the error is."""
SMALLEST_PLACE, LARGEST_PLACE = -6, 6
"""Numbers with digits beyond these places are written with an exponent."""


class Number(NamedTuple):
    """A value and its error as text; no error is an empty one."""

    value: str
    error: str = ""

    def __str__(self) -> str:
        return f"{self.value} ± {self.error}" if self.error else self.value


DOT = Number("·")
"""What is printed for a coefficient that is close to 0."""
UNKNOWN = Number("?")
"""What is printed for a coefficient that cannot be told."""


def in_digits(value: float, error: float = math.nan) -> Number:
    """Return a value to the place of the second significant digit of its standard error.

    Parameters
    ----------
    value : float
        A finite number.
    error : float
        Its standard error; NaN if there is none.

    Examples
    --------
    >>> print(in_digits(-2.60971, 0.01894), in_digits(12345.6, 137.0), in_digits(2.13e-9, 1e-10), in_digits(0.25))
    -2.610 ± 0.019 +12350 ± 140 +2.13e-09 ± 0.10e-09 +0.2500
    """
    if not 0 < error < math.inf:
        return Number(_plain(value), "" if math.isnan(error) else f"{error:g}")
    place, top = _exponent(error) - 1, _exponent(max(abs(value), error))
    if top - place + 1 > MOST_DIGITS:
        return Number(_plain(value, MOST_DIGITS), f"{error:.1e}")
    shift = 0 if place >= SMALLEST_PLACE and top <= LARGEST_PLACE else top
    after = shift - place  # digits after the point
    exponent = f"e{shift:+03d}" if shift else ""
    texts = [
        f"{round(Decimal(x).scaleb(-shift), after):{sign}.{max(after, 0)}f}" for x, sign in ((value, "+"), (error, ""))
    ]
    return Number(_unsigned_zero(texts[0]) + exponent, texts[1] + exponent)


def _exponent(number: float) -> int:
    """Return the place of the first digit, after rounding to two."""
    return int(f"{number:.1e}".partition("e")[2])


def _plain(value: float, digits: int = PLAIN_DIGITS) -> str:
    return _unsigned_zero(f"{value:+#.{digits}g}".removesuffix("."))


def _unsigned_zero(text: str) -> str:
    """Return +0.00 for -0.00."""
    return text if text.strip("+-0.") else text.replace("-", "+")
