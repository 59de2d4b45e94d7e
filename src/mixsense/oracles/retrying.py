"""When a request is sent: how fast, what is tried again, and after which wait."""

from __future__ import annotations

import email.utils
import math
import random
import re
import threading
import time

from mixsense.errors import OracleError

FIRST_WAIT, LONGEST_WAIT = 0.25, 30.0
"""Seconds before the first retry; each further one waits twice as long, up to the second number."""
LONGEST_DELAY = 1e6
"""Seconds, eleven days. No clock of the system is asked to wait for longer, whatever a caller or a service says."""
_NUMBER = re.compile(
    r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE | re.ASCII
)
BODY_HINT = "give the body that it expects (--body; in Python body=)"
"""What to do about a service that does not understand what it is sent."""
_YEAR = re.compile(r"\b[A-Z][a-z]{2}[ -]([0-9]{5,})\b", re.ASCII)


class Halted(OracleError):
    """A question was given up because the call that asked it ends."""


class Pace:
    """Lets requests through at a bounded rate; several oracles may share one.

    Parameters
    ----------
    rate : float or None
        At most this many requests a second; None is without a bound.
    """

    def __init__(self, rate: float | None) -> None:
        self._gap = 1.0 / rate if rate else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def take(self, halt: threading.Event) -> None:
        """Wait for the next place, or until the call is halted."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self._gap
        if start > now:
            halt.wait(min(start - now, LONGEST_DELAY))

    def hold(self, seconds: float) -> None:
        """Let nothing through for this many seconds."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


def backoff(attempt: int) -> float:
    """Return the seconds to wait before a retry, the first being number 1."""
    doubled = FIRST_WAIT * 2.0 ** min(attempt - 1, 60)
    return min(doubled, LONGEST_WAIT) * random.uniform(0.5, 1.0)  # not all at once


def retry_after(text: str) -> float:
    """Return the seconds that a Retry-After header asks for, given as seconds or as a date; 0 if it is neither.

    What is longer than anybody waits, a number or a date without end, is infinite: later than every limit. What lies in
    the past, and a number below 0, is now.

    Examples
    --------
    >>> retry_after("120"), retry_after("Fri, 31 Dec 1999 23:59:59 GMT"), retry_after("soon")
    (120.0, 0.0, 0.0)
    >>> retry_after("9" * 400), retry_after("-1"), retry_after("1.5"), retry_after("nan")
    (inf, 0.0, 1.5, inf)
    """
    text = text.strip()
    number = _NUMBER.fullmatch(text)
    if number:
        seconds = float(text)  # however many digits: at most infinite
        return max(0.0, seconds) if seconds < LONGEST_DELAY else math.inf
    found = email.utils.parsedate_tz(text)
    if found is None:
        year = _YEAR.search(text)
        return math.inf if year and int(year[1][:9]) > 9999 else 0.0
    try:
        seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError, TypeError):
        return math.inf if found[0] > 9999 else 0.0
    return max(0.0, seconds) if seconds < LONGEST_DELAY else math.inf


def may_pass(status: int) -> bool:
    """Return whether a request with this status may succeed if it is sent again."""
    return status in (408, 429) or 500 <= status <= 599


def remedy(status: int) -> str:
    """Return what to do about a status that will not pass."""
    if status in (401, 403):
        return "give a header with a valid key, e.g. Authorization=env:TOKEN"
    if status in (404, 405):
        return "give the address that takes a POST"
    return BODY_HINT if 400 <= status <= 499 else "status 200 is needed"
