"""TOML files, read in one place: a byte order mark and any line ends are fine, a mistake is one line."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from mixsense.checks import one_line
from mixsense.errors import InvalidInput


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
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}): give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        why = one_line(error, 200)
    except RecursionError:
        why = "it is nested too deeply"
    raise InvalidInput(f"{path} is not a TOML file ({why}): see {example} for an example")
