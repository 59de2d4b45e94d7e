"""Many runs: a grid of settings × seeds × methods, on all cores or on a Dask cluster; what is done stays done."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixsense.checks import require
from mixsense.errors import InvalidInput
from mixsense.plots.statistics import quantile
from mixsense.plots.sweep import failed_last, swept
from mixsense.progress import Count
from mixsense.sweeps.cell import FAILED, RESULTS, Cell, Result
from mixsense.sweeps.grid import ABSENT, AXES, COLUMNS, read_grid
from mixsense.sweeps.store import Store, read_store
from mixsense.sweeps.workers import runner
from mixsense.whole_file import write_whole

if TYPE_CHECKING:
    import pandas as pd

LONGEST_SUMMARY = 60
"""The most lines of a summary."""


def sweep(
    settings: Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Run a grid of settings × seeds × methods on simulated oracles.

    Parameters
    ----------
    settings : path or dict
        A TOML file, or a dictionary of the same form. Keys: n, k, gap (needed); models, overlap, sigma, weights, gamma,
        eta, max_queries, method: one value or a list, and the grid is over all lists; seeds: a number or a list; known:
        what the methods are told, among "k", "models", "sigma", "weights" (default: all); success: the error that
        counts as one; options: a table of options for each method. As in `recover`, gamma is 0.1 if it is left out, and
        a run stops there even if max_queries would allow more; gamma "none" spends max_queries. A method is a name, a
        generator function, or one as ``module:function``.
    out : path, optional
        SQLite file that keeps every finished cell; what it holds already is not run again. Beside the TOML file by
        default; a dictionary is kept in memory only.
    jobs : int, optional
        Processes; all cores by default. The results do not depend on it.
    dask : str, optional
        Address of a Dask scheduler: the cells run on its workers instead.
    progress : bool
        Show a progress bar (quiet lines where there is no terminal).

    Returns
    -------
    pandas DataFrame
        One row a cell, in the order of the settings: parameters, seed, status ("failed" with a `message` if the run
        raised), error (inf if the number of models found is not the true one), error_bound, queries, message, seconds;
        with `success` if that was asked.

    Raises
    ------
    InvalidInput
        The settings or the file cannot be right; nothing was run.
    MixsenseError
        Workers died or the disk is full; the finished cells are kept.

    Examples
    --------
    >>> import mixsense as ms
    >>> grid = {"n": 20, "k": 1, "gap": [2.0, 5.0], "method": "paper", "options": {"paper": {"m": 20, "batch": 40}}}
    >>> frame = ms.sweep({**grid, "seeds": 4, "success": 1.0}, jobs=1)
    >>> frame.groupby("gap")["success"].mean()[5.0]
    np.float64(1.0)
    """
    grid = read_grid(settings)
    if out is None and not isinstance(settings, Mapping):
        out = Path(settings).with_suffix(".sqlite")
    results = runner(jobs, dask)
    with Store(out) as store:
        done = {cell for cell, _ in store.rows()}
        # All settings with the first seed, then the next: what is there after half of the time is a smaller sweep.
        todo = sorted((cell for cell in grid.cells if cell not in done), key=lambda cell: cell.seed)
        reused = len(grid.cells) - len(todo)
        count = Count("cells", len(grid.cells), reused, f"{reused:,} reused") if progress else contextlib.nullcontext()
        with count as bar, contextlib.closing(results(todo)) as finished:
            for cell, result in finished:
                store.put(cell, result)
                if bar is not None:
                    bar.advance()
        wanted = set(grid.cells)
        frame = _frame([row for row in store.rows() if row[0] in wanted])
    if grid.success is not None:
        frame["success"] = frame["error"] <= grid.success  # nan, a failed run, is none
    return frame


def read_sweep(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read every cell of a sweep's file, in the order of the settings; also while the sweep runs.

    Parameters
    ----------
    path : path
        The SQLite file that `sweep` wrote.

    Returns
    -------
    pandas DataFrame
        As from `sweep`, with all cells that the file ever got. There is no column `success`: the file keeps errors,
        and ``frame["error"] <= 0.5`` says the same.

    Examples
    --------
    >>> import mixsense as ms, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     grid = {"n": 10, "k": 1, "gap": 5.0, "gamma": "none", "max_queries": 60, "seeds": 2}
    ...     frame = ms.sweep(grid, out=f"{folder}/grid.sqlite", jobs=1)
    ...     ms.read_sweep(f"{folder}/grid.sqlite").equals(frame)
    True
    """
    require("pandas", "sweep", "a sweep needs")
    return _frame(read_store(path))


def _frame(rows: Iterable[tuple[Cell, Result]]) -> pd.DataFrame:
    import pandas as pd

    records: list[dict[str, Any]] = []
    for cell, result in rows:
        setting = ABSENT | cell.setting  # a file of 0.2.0 knows of two models only
        shown = {name: setting[name] for name in AXES}
        shown |= {"weights": tuple(setting["weights"]), "known": ", ".join(setting["known"])}
        records.append(
            {**shown, **setting["options"], "seed": cell.seed} | {name: getattr(result, name) for name in RESULTS}
        )
    options = sorted({name for record in records for name in record} - {*COLUMNS})
    parameters = [*AXES, *options, "known", "seed"]

    def place(record: dict[str, Any]) -> list[Any]:
        values = (record.get(name) for name in parameters)
        return [(value is not None, isinstance(value, str), value if value is not None else 0) for value in values]

    records.sort(key=place)
    frame = pd.DataFrame(records, columns=[*parameters, *RESULTS])
    whole_numbers = dict.fromkeys(("overlap", "max_queries"), "Int64")
    return frame.astype({**whole_numbers, "gamma": "float64"}).astype(
        {name: frame[name].convert_dtypes().dtype for name in options}
    )


def summarise(frame: pd.DataFrame) -> str:
    """Return a table of text with a line for each setting: what varies, and the medians over the seeds.

    A failed run counts as infinitely bad.
    """
    groups = frame.groupby(swept(frame) or ["method"], dropna=False)
    table = groups.agg(cells=("seed", "size"))
    medians = {what: [quantile(failed_last(cells, what), 0.5) for _, cells in groups] for what in ("error", "queries")}
    table["error"] = medians["error"]  # what the picture shows
    table["answers"] = [f"{median:,.0f}" for median in medians["queries"]]
    table["failed"] = groups["status"].agg(lambda status: int((status == FAILED).sum()))
    if "success" in frame:
        table["success"] = groups["success"].mean()
    shown = table.reset_index(allow_duplicates=True)  # an option may be called "answers", too
    return shown.to_string(index=False, max_rows=LONGEST_SUMMARY, float_format="{:.4g}".format)


def commonest_failure(frame: pd.DataFrame) -> str | None:
    """Return one line about why most of the failed cells failed; None if none did."""
    messages = frame.loc[frame["status"] == FAILED, "message"]
    if messages.empty:
        return None
    counts = messages.value_counts()
    return f"commonest failure, {counts.iloc[0]:,} of {len(messages):,}: {counts.index[0]}"


def check_table_path(path: Path) -> None:
    """Refuse a file that the table cannot be written to, before the sweep runs."""
    if path.suffix not in (".csv", ".parquet"):
        raise InvalidInput(f"--export is {path}: give a file that ends in .csv or .parquet")
    if path.suffix == ".parquet":
        require("pyarrow", "sweep", "a sweep needs")
    if path.is_dir():
        raise InvalidInput(f"--export is {path}, a folder: give a file")
    if not path.parent.is_dir():
        raise InvalidInput(f"--export is {path}, but there is no folder {path.parent}: make it, or give another file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InvalidInput(f"--export is {path}, which may not be written: give another file")


def save_table(frame: pd.DataFrame, path: Path) -> None:
    """Write the frame as CSV or Parquet, by the name's ending."""
    try:
        parquet = path.suffix == ".parquet"
        write_whole(path, frame.to_parquet(index=False) if parquet else frame.to_csv(index=False).encode())
    except OSError as error:
        why = error.strerror or error
        raise InvalidInput(f"the table cannot be written to {path} ({why}): give another file") from None
