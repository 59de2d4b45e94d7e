"""The command `mixsense fit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixsense.cli import options
from mixsense.cli.exits import BY_STATUS, ExitCode
from mixsense.cli.options import number_of_models, scale_told, shares
from mixsense.cli.output import check_outputs, write_outputs, write_page
from mixsense.cli.wording import spoken
from mixsense.errors import InvalidInput
from mixsense.problem import DEFAULTS

if TYPE_CHECKING:
    from mixsense.fitting.files import FileTable


def fit_command(
    data: Annotated[Path, typer.Argument(help="A .csv or .parquet file, a row an answer; the first line has names.")],
    answer: Annotated[str, typer.Option(help="The column with the answers.")],
    group: Annotated[str | None, typer.Option(help="The column that says who answered: they share a model.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="What the answers may depend on, as a,b,c.", show_default="all other columns")
    ] = None,
    models: options.Models = DEFAULTS["models"],
    sigma: Annotated[float | None, typer.Option(help="Noise of the answers.", show_default="found")] = None,
    weights: Annotated[
        str | None, typer.Option(help="Shares of the models, as 0.5,0.3,0.2, or equal.", show_default="estimated")
    ] = None,
    scale: options.Scale = None,
    intercept: Annotated[bool, typer.Option("--intercept", help="Each model has a constant of its own.")] = False,
    lapses: Annotated[bool, typer.Option("--lapses", help="Some answers may come from anywhere.")] = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    out: options.Out = None,
    html: options.Html = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the vectors to this picture; of one column, the data and the lines.")
    ] = None,
) -> None:
    """Find the models behind data that you already have: mixsense fit data.csv --answer y --group person --intercept.

    Nothing is asked, and nothing is promised: the table has the models that the rows support, with standard errors.
    Cells that are empty or NA are missing, and their rows are left out. The command ends with 7 if one model explains
    everything, and with 8 if a warning says why not to rely on the result.
    """
    from mixsense.api import fit
    from mixsense.fitting.files import read_file
    from mixsense.plots import plot_lines, plot_recovery

    check_outputs(data=data, out=out, html=html, plot=plot)
    table = read_file(data, answer, group, None if columns is None else _names(columns))
    number: Any = number_of_models(models)
    known = number, sigma, shares(weights), scale_told(scale), intercept
    r = fit(table.X, table.y, table.groups, *known, features=table.names, seed=seed, lapses=lapses)
    typer.echo(r.to_json() if as_json else spoken(r.summary()))
    title = f"{answer} in {data.name}"

    def draw() -> Any:
        return plot_lines(r, *_used(table), answer=answer) if len(table.names) == 1 else plot_recovery(r, title=title)

    write_outputs(r, out, plot, draw)
    if html is not None:
        write_page(r, html, title, draw)
    raise typer.Exit(ExitCode.DONE if r.status == "budget" else BY_STATUS[r.status])


def _used(table: FileTable) -> tuple[Any, Any, Any]:
    """Return the rows without a missing value, their answers and groups."""
    there = (table.X == table.X).all(axis=1) & (table.y == table.y)  # NaN is not equal to itself
    groups = None if table.groups is None else [group for group, here in zip(table.groups, there, strict=True) if here]
    return table.X[there], table.y[there], groups


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InvalidInput(f"--columns is {text!r}: give names such as a,b,c")
    return names
