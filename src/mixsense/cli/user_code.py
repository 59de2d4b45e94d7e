"""Functions of the user's own, which the command line names as module:function."""

from __future__ import annotations

import os
import sys
from typing import Any


def is_own(name: Any) -> bool:
    """Return whether a name stands for a user's function."""
    return isinstance(name, str) and ":" in name


def find_in_current_folder(*names: Any) -> None:
    """Let modules of the current folder be imported, if one of the names is module:function.

    Only then: a file of the user's that happens to be called as a module of Python's must not take its place.
    """
    folder = os.getcwd()
    if any(map(is_own, names)) and folder not in sys.path:
        sys.path.insert(0, folder)
