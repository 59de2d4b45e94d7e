"""Makes the figures: all cells in one pool of workers; a figure is written as soon as its cells are done."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import mixsense
from mixsense.checks import as_int, require
from mixsense.errors import InvalidInput
from mixsense.figures.complexity import COMPLEXITY
from mixsense.figures.error_against_answers import ANSWERS
from mixsense.figures.estimators import ESTIMATORS
from mixsense.figures.figure import Cell, Data, Figure, Row, style
from mixsense.figures.many_models import MANY
from mixsense.figures.phase import PHASE
from mixsense.figures.predecessors import PREDECESSORS
from mixsense.figures.recoveries import BATCHES_OF_100, BATCHES_OF_600
from mixsense.progress import Count
from mixsense.sweeps.processes import on_cores
from mixsense.whole_file import write_whole

FIGURES = (ESTIMATORS, BATCHES_OF_100, BATCHES_OF_600, ANSWERS, COMPLEXITY, PHASE, MANY, PREDECESSORS)
Work = tuple[int, int, Cell]
"""Number of a figure, place of a cell in it, and the cell."""
SCALES = ("full", "quick", "tiny")
"""How large a simulation may be: see `Figure.scales`."""
PACKAGES = ("numpy", "scipy", "matplotlib", "pandas", "scikit-learn", "joblib")
"""Packages whose versions are written beside the data."""


def make_figures(
    out: str | os.PathLike[str],
    only: Iterable[int] | None = None,
    scale: str = "full",
    jobs: int | None = None,
    seed: int = 0,
    progress: bool = False,
) -> list[Path]:
    """Simulate and draw the figures; each is written to `out` as CSV, PNG, SVG and JSON.

    Parameters
    ----------
    out : path
        Folder that the files go to; made if it is not there. Files of the same name are replaced.
    only : iterable of int, optional
        Numbers of the figures to make; all by default.
    scale : "full", "quick" or "tiny"
        How many seeds and settings: for the page, for a look, for a test.
    jobs : int, optional
        Worker processes; as many as there are cores by default. The data do not depend on it.
    seed : int
        First seed; each figure counts on from there.
    progress : bool
        Show a bar (quiet lines where there is no terminal).

    Returns
    -------
    list of Path
        The data files that were written.

    Raises
    ------
    InvalidInput
        There is no such figure, `out` is not a folder, or a package is not installed.
    Any other exception, Ctrl-C included, leaves with the data files that are finished as its attribute `written`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in make_figures(folder, only=[2], scale="tiny", jobs=1)]
    ['fig2.csv']
    """
    figures = _chosen(only)
    if scale not in SCALES:
        raise InvalidInput(f"scale is {scale!r}: give one of {', '.join(map(repr, SCALES))}", scale=scale)
    as_int("seed", seed, 0, "the first seed")
    for name in ("joblib", "pandas", "sklearn"):
        require(name, "figures", "figures need")
    import joblib  # type: ignore[import-untyped]

    jobs = joblib.cpu_count() if jobs is None else as_int("jobs", jobs, 1, "the number of worker processes")
    folder = _folder(out)
    work = [item for figure in figures for item in _work(figure, scale, seed)]
    written: list[Path] = []
    try:
        with Count("cells", len(work)) if progress else nullcontext() as bar:
            for figure, rows in _finished(work, jobs, bar):
                written.append(_write(figure, rows, folder, scale, seed))
    except BaseException as error:  # Ctrl-C or a bug: what is finished stays, and is named
        error.written = sorted(written)  # type: ignore[attr-defined]
        raise
    return sorted(written)


def _finished(work: list[Work], jobs: int, bar: Count | None) -> Iterator[tuple[Figure, list[Row]]]:
    """Yield each figure with its rows, in the order of its cells, as soon as the last of them is done."""
    left = Counter(number for number, _, _ in work)
    found: dict[int, dict[int, list[Row]]] = {number: {} for number in left}
    for number, place, rows in on_cores(_run_one, work, jobs):
        found[number][place] = rows
        if bar is not None:
            bar.advance()
        if len(found[number]) == left[number]:
            done = found.pop(number)
            yield _figure(number), [row for place in sorted(done) for row in done[place]]


def _chosen(only: Iterable[int] | None) -> list[Figure]:
    numbers = [figure.number for figure in FIGURES]
    wanted = set(numbers if only is None else only)
    unknown = sorted(wanted - set(numbers))
    if unknown or not wanted:
        given = f"there is no figure {unknown[0]}" if unknown else "no figure is named"
        raise InvalidInput(f"{given}: give numbers from {numbers[0]} to {numbers[-1]}", only=sorted(wanted))
    return [figure for figure in FIGURES if figure.number in wanted]


def _figure(number: int) -> Figure:
    return next(figure for figure in FIGURES if figure.number == number)


def _work(figure: Figure, scale: str, seed: int) -> list[Work]:
    """Return a figure's cells, long and short ones mixed, so that the time left can be estimated."""
    cells = figure.cells(figure.scales[scale], _seeds(figure, scale, seed))
    order = np.random.default_rng(0).permutation(len(cells)).tolist()
    return [(figure.number, place, cells[place]) for place in order]


def _seeds(figure: Figure, scale: str, first: int) -> range:
    return range(first, first + figure.scales[scale]["seeds"])


def _folder(out: str | os.PathLike[str]) -> Path:
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".mixsense"
        probe.touch()  # better now than after minutes of work
        probe.unlink()
    except OSError as error:
        raise InvalidInput(f"figures cannot be written to {folder} ({error.strerror}): give another folder") from None
    return folder


def _run_one(work: Work) -> tuple[int, int, list[Row]]:
    number, place, cell = work
    return number, place, _figure(number).run(**cell)


def _write(figure: Figure, rows: list[Row], folder: Path, scale: str, seed: int) -> Path:
    import pandas as pd

    data = pd.DataFrame(rows)
    if figure.collect is not None:
        data = figure.collect(data).reset_index(drop=True)
    path = folder / f"{figure.stem}.csv"
    _write_file(path, data.to_csv(index=False, lineterminator="\n").encode())  # floats as repr: every bit
    for ending, content in _pictures(figure, data).items():
        _write_file(path.with_suffix(ending), content)
    about = {
        "figure": figure.number,
        "title": figure.title,
        "scale": scale,
        "options": dict(figure.scales[scale]),
        "seeds": list(_seeds(figure, scale, seed)),
        "versions": {"mixsense": mixsense.__version__, "python": platform.python_version()}
        | {p: version(p) for p in PACKAGES},
        "summary": figure.summary(data),
    }
    _write_file(path.with_suffix(".json"), (json.dumps(about, indent=2, ensure_ascii=False) + "\n").encode())
    return path


def _pictures(figure: Figure, data: Data) -> dict[str, bytes]:
    files: dict[str, Any] = {".png": BytesIO(), ".svg": BytesIO()}
    with style():
        picture = figure.draw(data)
        picture.savefig(files[".png"], format="png", dpi=130)
        picture.savefig(files[".svg"], format="svg", metadata={"Date": None})
    return {ending: file.getvalue() for ending, file in files.items()}


def _write_file(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written ({error.strerror}): give another folder, or make room") from None
