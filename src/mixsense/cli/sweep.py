"""The command `mixsense sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixsense.cli import options
from mixsense.cli.exits import ExitCode
from mixsense.cli.output import save_picture
from mixsense.errors import InvalidInput

PAGE = "docs/sweeps.md"


def sweep_command(
    file: Annotated[Path, typer.Argument(help="TOML file that says which settings, seeds and methods.")],
    jobs: options.Jobs = None,
    dask: Annotated[str | None, typer.Option(help="Run on the Dask cluster with this scheduler address.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="SQLite file with the finished cells.", show_default="beside the TOML file")
    ] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw the result, as PNG beside the SQLite file.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write the table to this .csv or .parquet file too.")] = None,
    quiet: options.Quiet = False,
) -> None:
    """Run a grid of settings × seeds × methods on simulated oracles.

    Every finished cell is kept at once: after Ctrl-C or a crash the same command goes on where it was.
    """
    from mixsense.sweeps.sweep import check_table_path, commonest_failure, save_table, summarise, sweep

    if not file.name:
        raise InvalidInput(f"{file} is not a file: give a TOML file; see {PAGE} for an example")
    if export is not None:
        check_table_path(export)
    store = out or file.with_suffix(".sqlite")
    frame = sweep(file, store, jobs, dask, progress=not quiet)
    typer.echo(summarise(frame))
    if (why := commonest_failure(frame)) is not None:
        typer.echo(why)
    if export is not None:
        save_table(frame, export)
    if plot:
        from mixsense.plots import plot_sweep

        save_picture(lambda: plot_sweep(frame), store.with_suffix(".png"))
    failed = int((frame["status"] == "failed").sum())
    typer.echo(f"{len(frame):,} cells, {failed:,} failed: {store}")
    if failed == len(frame):
        raise typer.Exit(ExitCode.FAILED)
