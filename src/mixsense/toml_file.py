"""TOML files, read in one place: a byte order mark and any line ends are fine, a mistake is one line."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from mixsense.checks import one_line
from mixsense.errors import InvalidInput

MOST_BYTES = 10**7
"""A file of settings is never longer, and a device has no end."""
LINE_END = re.compile(r"\r\n?")
"""Line ends that TOML knows nothing of, or has no need of."""
DEEPEST = 30
"""Settings nest no deeper; the body of an endpoint's requests is JSON text."""


def read_toml(path: str | os.PathLike[str], example: str) -> dict[str, Any]:
    """Return what a TOML file says.

    Parameters
    ----------
    path : path
        The file.
    example : str
        The page that shows such a file.

    Raises
    ------
    InvalidInput
        The file cannot be read, or is not TOML; the message is one line that names the file.

    Examples
    --------
    >>> read_toml("nothing.toml", "docs/sweeps.md")
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: nothing.toml cannot be read (No such file or directory): give a TOML file
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}): give a TOML file") from None
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"{path} has more than {MOST_BYTES:,} bytes: give a TOML file; see {example}")
    try:
        found = tomllib.loads(LINE_END.sub("\n", content.decode("utf-8-sig")))
        if _is_deep(found):  # dotted keys go as deep as they like, and what is made of it would not end well
            raise RecursionError
        return found
    except ValueError as error:  # no TOML, no UTF-8, or a number of more digits than Python reads
        why = one_line(error, 200)
    except RecursionError:
        why = "it is nested too deeply"
    raise InvalidInput(f"{path} is not a TOML file ({why}): see {example} for an example")


def _is_deep(found: Any) -> bool:
    level = [found]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
