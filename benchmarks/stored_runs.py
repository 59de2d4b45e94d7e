"""Runs that a benchmark keeps in a CSV file, a line each as it ends: the same command goes on where it was."""

from __future__ import annotations

import csv
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

R = TypeVar("R")
READ = {"int": int, "float": float, "bool": "True".__eq__, "str": str}


def stored(path: Path, kind: type[R]) -> list[R]:
    """Return the runs that a file has, each a dataclass of plain values; a torn last line is left out."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    types = {each.name: READ[str(each.type)] for each in fields(kind)}  # type: ignore[arg-type]
    lines = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
    return [kind(**{name: read(line[name]) for name, read in types.items()}) for line in lines]


def keep(path: Path, run: Any) -> None:
    """Add a run to a file."""
    new = not path.exists() or not path.stat().st_size
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(run)], lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(asdict(run))


def drop_torn_line(path: Path) -> None:
    """Cut a last line off that was not written to its end: it is run again."""
    if path.exists():
        with path.open("r+b") as file:
            file.truncate(file.read().rfind(b"\n") + 1)
