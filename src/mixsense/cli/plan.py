"""The command `mixsense plan`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mixsense.cli import options
from mixsense.cli.options import precision, scale_told, shares
from mixsense.cli.wording import spoken
from mixsense.problem import DEFAULTS, NONE


def plan_command(
    n: options.N,
    k: options.K,
    sigma: Annotated[float, typer.Option(help="Noise of the answers that you expect; 0 if there is none.")],
    gap: options.Gap,
    gamma: Annotated[
        str | None, typer.Option(help=f"Precision asked for, below gap/2; {NONE} if --budget is given.")
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Answers that can be had; prints the γ to expect.")] = None,
    per_person: Annotated[int | None, typer.Option(help="Answers of one person; adds the number of people.")] = None,
    weights: Annotated[str | None, typer.Option(help="Shares of the models, as 0.7,0.3.", show_default="equal")] = None,
    models: Annotated[
        int | None, typer.Option(help="How many models you expect, 2 to 6; a rough plan beyond 2.", show_default="2")
    ] = None,
    eta: Annotated[
        float, typer.Option(help="Allowed probability of failure of the paper's method (certified: 0.05).")
    ] = DEFAULTS["eta"],
    step: Annotated[
        float | None, typer.Option(help="What all coefficients are multiples of; adds the methods that need a grid.")
    ] = None,
    scale: options.Scale = None,
    level: Annotated[
        float | None, typer.Option(help="Mean linear value that you expect.", show_default="the middle of the scale")
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(help="Spread of a model's linear values over the queries.", show_default="of focused queries"),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say how many answers each method needs for a precision γ; or, with --budget, which γ to expect."""
    from mixsense.planning.plan import plan

    given: Any = shares(weights)
    told = scale_told(scale)
    table = plan(n, k, sigma, gap, precision(gamma), eta, budget, per_person, given, models, step, told, level, spread)
    typer.echo(table.to_json() if as_json else spoken(str(table)))
