"""The command `mixsense figures`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from mixsense.checks import shown
from mixsense.cli import options
from mixsense.errors import InvalidInput


def figures_command(
    out: Annotated[Path, typer.Option(help="Folder for pictures (PNG, SVG) and data (CSV, JSON).")] = Path("figs"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and settings: a look in under a minute.")] = False,
    only: Annotated[
        str | None, typer.Option(help="Numbers of the figures to make, as 1,4.", show_default="all")
    ] = None,
    jobs: options.Jobs = None,
    seed: Annotated[int, typer.Option(help="First seed of each figure.")] = 0,
    quiet: options.Quiet = False,
) -> None:
    """Simulate and draw the figures, from nothing but seeds: minutes on two cores.

    The same seeds give the same data to the last bit, whatever the number of processes. A figure is written as soon as
    it is finished, and stays if the command is stopped.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from mixsense.figures import make_figures

    try:
        numbers = None if only is None else [int(part) for part in only.split(",")]
    except ValueError:
        raise InvalidInput(f"--only is {shown(only)}: give numbers such as 1,4") from None
    start = time.monotonic()
    try:
        written = make_figures(out, numbers, "quick" if quick else "full", jobs, seed, progress=not quiet)
    except KeyboardInterrupt as stop:
        kept = ", ".join(path.stem for path in getattr(stop, "written", [])) or "none"
        typer.echo(f"mixsense: finished: {kept}; --only makes the others", err=True)
        raise
    for path in written:
        typer.echo(f"{path.with_suffix('.png')}  (and .svg, .csv, .json)")
    typer.echo(f"{len(written)} figure{'s' if len(written) != 1 else ''} in {time.monotonic() - start:.0f} s")
