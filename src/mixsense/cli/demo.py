"""The command `mixsense demo`: hidden vectors found before your eyes, frugally and, if two, as the paper does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from mixsense.arrays import Array
from mixsense.checks import as_int
from mixsense.cli import options
from mixsense.cli.output import check_picture, save_picture
from mixsense.metrics import best_order, match_error

if TYPE_CHECKING:
    from mixsense.recovery import Recovery

N, K, M = 100, 5, 150
"""The paper's own simulation: length, coefficients of each vector, Gaussian queries."""
GAMMA = 0.2
"""The precision that is certified (taste: a run of a few seconds)."""
FEWER, PAPER_SNR = 20, 2.0
"""At the signal-to-noise ratio of the paper's sum queries frugal is given the paper's answers divided by this."""
NUMBERS = ("one", "two", "three", "four", "five", "six")
"""How many vectors can be hidden."""
VISIBLE = 0.0005
"""What is nearer to 0 has no digit in the table."""
ABREAST = 3
"""As many vectors stand beside each other in a terminal of 80 columns."""


def demo_command(
    gap: options.Gap = 5.0,
    gamma: Annotated[float, typer.Option(help="Precision that the frugal method stops at.")] = GAMMA,
    batch: Annotated[int, typer.Option(help="The paper's answers to each query; it shows about 100 and 600.")] = 100,
    models: Annotated[int, typer.Option(help="How many vectors are hidden; only two are compared with the paper.")] = 2,
    seed: options.Seed = 1,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("demo.png"),
) -> None:
    """Watch hidden vectors being found, in the setting of the paper's own simulation.

    n = 100, k = 5, noise σ = 1. First the frugal method, which knows none of that but n, and not how many vectors there
    are; then, to compare, the paper's method for two, with 150 Gaussian queries. The table shows the recovered
    coefficients beside the true ones, the picture too.
    """
    check_picture(out)
    models = as_int("models", models, 1, "how many vectors are hidden", len(NUMBERS))
    demo(gap, gamma, batch, seed, lambda r, truth: save_picture(lambda: r.plot(truth), out, told(r)), models)
    typer.echo(f"Picture: {out}")


def told(r: Recovery) -> str:
    """Return what the picture says of itself, so that one of another run can be told from it."""
    return f"{r.status}, {r.queries} answers, error at most {r.error_bound:.3g}"


def demo(
    gap: float, gamma: float, batch: int, seed: int, draw: Callable[[Recovery, Array], None], models: int = 2
) -> None:
    """Recover vectors with the frugal method, two also with the paper's, and print them beside the truth.

    Parameters
    ----------
    gap : float
        Distance of the vectors, on average if there are more than two.
    gamma : float
        Precision that the frugal method stops at.
    batch : int
        The paper's answers to each query.
    seed : int
        Seed of the vectors; the oracle and the queries have the next two.
    draw : callable
        Gets the recovery and the truth as soon as the frugal method is done.
    models : int
        How many vectors are hidden.
    """
    from rich.console import Console
    from rich.table import Table

    from mixsense.api import recover
    from mixsense.oracles import SimulatedOracle, random_models
    from mixsense.planning.plan import plan
    from mixsense.planning.table import count

    console = Console()
    truth = random_models(models, N, K, gap, seed=seed)
    console.print(f"[bold]mixsense demo[/]  {_hidden(models, gap)}\n")
    frugal = recover(SimulatedOracle(truth, seed=seed + 1), N, gamma=gamma, seed=seed + 2, progress=True)
    if len(frugal.vectors) in (1, models):
        for first in range(0, models, ABREAST):
            console.print(beside_truth(frugal, truth, range(models)[first : first + ABREAST]))
    draw(frugal, truth)
    if models != 2 or len(frugal.vectors) > 2:
        console.print(alone(frugal, truth))
        return

    oracle, asked = SimulatedOracle(truth, seed=seed + 1), list[Array]()

    def watched(queries: Array, repeats: int) -> Array:
        asked.append(queries)
        return oracle(queries, repeats)

    fixed: dict[str, Any] = {"k": K, "sigma": 1.0, "m": M, "batch": batch, "seed": seed + 2}
    paper = recover(watched, N, gamma=None, method="paper", progress=True, **fixed)
    fewer = max(paper.queries // FEWER, 1)
    as_loud: dict[str, Any] = {"sigma": 1.0, "snr": PAPER_SNR, "max_queries": fewer, "models": 2, "seed": seed + 2}
    quiet = recover(SimulatedOracle(truth, seed=seed + 1), N, gamma=None, **as_loud)
    errors = {name: match_error(r.vectors, truth) for name, r in (("frugal", frugal), ("paper", paper))}
    table = Table("method", "asks until", "answers", "worst ℓ2 error", "error bound", title="the same two vectors")
    for name, end, r in (
        ("frugal", f"γ = {gamma:g} is certified", frugal),
        ("paper", f"batches of {batch} are full", paper),
    ):
        table.add_row(name, end, f"{r.queries:,}", f"{errors[name]:.3f}", f"{r.error_bound:.3f}")
    console.print(table)
    if "aligned_means" in paper.diagnostics:
        right = _aligned_rightly(paper, np.concatenate(asked)[:M], truth)
        console.print(f"The paper's method aligned {right} of {M} queries rightly.")
    console.print(
        f"The frugal method ended {frugal.status} with an error of {errors['frugal']:.3f}, the paper's has "
        f"{errors['paper']:.3f} from {paper.queries / frugal.queries:.0f} times as many answers. Both keep to the same "
        "energy, a mean squared norm of at most 2n, which frugal puts where the coefficients are."
    )
    console.print(
        f"With queries as loud as the paper's sums (snr={PAPER_SNR:g}: the same signal-to-noise ratio) frugal has an "
        f"error of {match_error(quiet.vectors, truth):.3f} from {quiet.queries:,} answers: "
        f"{paper.queries / quiet.queries:.0f} times fewer than the paper's."
    )
    if gamma < gap / 2:  # beyond, one vector is enough, and there is no plan for two
        same = plan(N, k=K, sigma=1.0, gap=gap, gamma=gamma)["paper"].queries
        console.print(
            f"To be sure of the same γ = {gamma:g} the paper's method takes {count(same)} answers: mixsense plan."
        )


def _hidden(models: int, gap: float) -> str:
    """Say what is hidden."""
    ones = f"{NUMBERS[models - 1]} hidden vector{'s' if models > 1 else ''} of length {N} with {K} coefficients"
    if models == 1:
        return f"{ones}, ‖β‖ = {gap:g}; every answer has noise σ = 1"
    apart = f"‖β¹ − β²‖ = {gap:g}" if models == 2 else f"{gap:g} apart on average"
    return f"{ones} each, {apart}; every answer is one of them at random, with noise σ = 1"


def alone(r: Recovery, truth: Array) -> str:
    """Say how the frugal method ended, where there is nothing to compare it with."""
    ended = f"The frugal method ended {r.status} after {r.queries:,} answers"
    if len(r.vectors) not in (1, len(truth)):
        return f"{ended} with {len(r.vectors)} vectors, where there are {len(truth)}."
    error = f"a worst ℓ2 error of {match_error(r.vectors, truth):.3f}, at most {r.error_bound:.3f} by its own bound"
    single = ": one vector for all of them" if len(r.vectors) < len(truth) else ""
    return f"{ended} with {error}{single}. The comparison with the paper's method is for two vectors."


def _aligned_rightly(r: Recovery, X: Array, truth: Array) -> int:
    u, v = np.array(r.diagnostics["aligned_means"])
    right = int(((u > v) == (X @ (truth[0] - truth[1]) > 0)).sum())
    return max(right, len(X) - right)  # the order of the two vectors is arbitrary


def beside_truth(r: Recovery, truth: Array, models: range) -> Any:
    """Return a table of some of the vectors, numbered as in the picture; its rows, and those it counts, are all."""
    from rich.table import Table

    from mixsense.recovery import Recovery
    from mixsense.recovery.importance import choose

    if len(r.vectors) == 1:
        here, truth = [0] * len(models), truth[models]
    else:
        here, truth = list(models), truth[list(best_order(truth, r.vectors))][models]
    found, support = r.vectors[here], np.flatnonzero(np.abs(truth).max(axis=0))
    part = Recovery(found, r.status, stderr=None if r.stderr is None else r.stderr[here])
    choice = choose(part, also=support.tolist())
    table = Table(title="coefficients: true, and recovered", caption=choice.note)
    table.add_column("position", justify="right")
    for mark in ("¹²³⁴⁵⁶"[i] for i in models):
        table.add_column(f"β{mark} true", justify="right")
        table.add_column(f"β{mark} found", justify="right")
    for j in choice.shown.tolist():
        values = [value for pair in zip(truth[:, j], found[:, j], strict=True) for value in pair]
        table.add_row(str(j), *(f"{value:+.3f}" if abs(value) >= VISIBLE else "·" for value in values))
    return table
