"""The command line within the process of the tests: Python is not started and nothing is loaded again for each command.

Signals, kills, what is loaded at the start, and files as stdout need a process of their own: `subprocess` as ever.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import mixsense as mixsense_
from mixsense.cli.main import main


def mixsense(
    *args: object, cwd: str | os.PathLike[str] = ".", env: Mapping[str, str] | None = None, installed: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command as ``python -m mixsense`` does in a folder; what a user would see as a traceback is raised.

    The installed program does not have the current folder among those that it imports from, ``python -m`` has it.
    """
    argv = ["mixsense", *map(str, args)]
    out, err, nothing = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(3))
    err.reconfigure(errors="backslashreplace")  # as Python does
    streams = {"argv": argv, "stdin": nothing, "stdout": out, "stderr": err}
    environment = mock.patch.dict(os.environ, dict(os.environ if env is None else env), clear=True)
    with environment, mock.patch.multiple(sys, **streams), mock.patch.object(os, "_exit", _exit), _inside(cwd):
        if not installed:
            sys.path.insert(0, os.getcwd())
        try:
            main()
            code: Any = 0
        except SystemExit as stop:
            code = stop.code
    said = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(argv, int(code or 0), *said)


def _exit(code: int) -> NoReturn:
    sys.exit(code)


@contextlib.contextmanager
def _inside(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Be in a folder, and forget afterwards what was imported from there, and the pictures."""
    before, path, known = os.getcwd(), list(sys.path), set(sys.modules)
    os.chdir(folder)
    here = Path.cwd()
    importlib.invalidate_caches()
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        stays = {Path(sys.prefix), Path(mixsense_.__file__).parent}  # they may be in this folder, as in a checkout
        for name, module in list(sys.modules.items()):
            above = set(Path(file).parents) if (file := getattr(module, "__file__", None)) else set()
            if name not in known and here in above and not stays & above:
                del sys.modules[name]
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")
