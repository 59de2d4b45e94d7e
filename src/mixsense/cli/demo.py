"""The command `mixsense demo`: two hidden vectors found before your eyes, frugally and as the paper does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from mixsense.arrays import Array
from mixsense.cli import options
from mixsense.cli.output import check_picture, save_picture
from mixsense.metrics import best_order, match_error
from mixsense.problem import DEFAULTS

if TYPE_CHECKING:
    from mixsense.recovery import Recovery

N, K, M = 100, 5, 150
"""The paper's own simulation: length, coefficients of each vector, Gaussian queries."""


def demo_command(
    gap: options.Gap = 5.0,
    gamma: Annotated[float, typer.Option(help="Precision that the frugal method stops at.")] = DEFAULTS["gamma"],
    batch: Annotated[int, typer.Option(help="The paper's answers to each query; it shows about 100 and 600.")] = 100,
    seed: options.Seed = 1,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("demo.png"),
) -> None:
    """Watch two hidden vectors being found, in the setting of the paper's own simulation.

    n = 100, k = 5, noise σ = 1. First the frugal method, which knows none of that but n; then, to compare, the paper's
    method with 150 Gaussian queries. The table shows the recovered coefficients beside the true ones, the picture too.
    """
    check_picture(out)
    demo(gap, gamma, batch, seed, lambda r, truth: save_picture(lambda: r.plot(truth), out, told(r)))
    typer.echo(f"Picture: {out}")


def told(r: Recovery) -> str:
    """Return what the picture says of itself, so that one of another run can be told from it."""
    return f"{r.status}, {r.queries} answers, error at most {r.error_bound:.3g}"


def demo(gap: float, gamma: float, batch: int, seed: int, draw: Callable[[Recovery, Array], None]) -> None:
    """Recover one pair with both methods, and print what comes out beside the truth.

    Parameters
    ----------
    gap : float
        Distance of the two vectors.
    gamma : float
        Precision that the frugal method stops at.
    batch : int
        The paper's answers to each query.
    seed : int
        Seed of the vectors; the oracle and the queries have the next two.
    draw : callable
        Gets the recovery and the truth as soon as the frugal method is done.
    """
    from rich.console import Console
    from rich.table import Table

    from mixsense.api import recover
    from mixsense.oracles import SimulatedOracle, random_pair
    from mixsense.planning.plan import plan
    from mixsense.planning.table import count

    console = Console()
    truth = random_pair(N, K, gap, seed=seed)
    console.print(
        f"[bold]mixsense demo[/]  two hidden vectors of length {N} with {K} coefficients each, ‖β¹ − β²‖ = {gap:g}; "
        "every answer is one of them at random, with noise σ = 1\n"
    )
    frugal = recover(SimulatedOracle(truth, seed=seed + 1), N, gamma=gamma, seed=seed + 2, progress=True)
    console.print(_beside_truth(frugal, truth))
    draw(frugal, truth)

    oracle, asked = SimulatedOracle(truth, seed=seed + 1), list[Array]()

    def watched(queries: Array, repeats: int) -> Array:
        asked.append(queries)
        return oracle(queries, repeats)

    fixed: dict[str, Any] = {"k": K, "sigma": 1.0, "m": M, "batch": batch, "seed": seed + 2}
    paper = recover(watched, N, gamma=None, method="paper", progress=True, **fixed)
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
        "energy, a mean squared norm of at most 2n; docs/frugal.md compares them at equal signal-to-noise ratio, too."
    )
    if gamma < gap / 2:  # beyond, one vector is enough, and there is no plan for two
        same = plan(N, k=K, sigma=1.0, gap=gap, gamma=gamma)["paper"].queries
        console.print(
            f"To be sure of the same γ = {gamma:g} the paper's method takes {count(same)} answers: mixsense plan."
        )


def _aligned_rightly(r: Recovery, X: Array, truth: Array) -> int:
    u, v = np.array(r.diagnostics["aligned_means"])
    right = int(((u > v) == (X @ (truth[0] - truth[1]) > 0)).sum())
    return max(right, len(X) - right)  # the order of the two vectors is arbitrary


def _beside_truth(r: Recovery, truth: Array) -> Any:
    from rich.table import Table

    from mixsense.recovery.importance import choose

    found = r.vectors[list(best_order(r.vectors, truth))]
    choice = choose(r)
    table = Table(title="coefficients: true, and recovered", caption=choice.note)
    for title in ("position", "β¹ true", "β¹ recovered", "β² true", "β² recovered"):
        table.add_column(title, justify="right")
    support = np.flatnonzero(np.abs(truth).max(axis=0))
    for j in sorted({*support.tolist(), *choice.shown.tolist()}):
        cells = [
            f"{value:+.3f}" if abs(value) >= 0.0005 else "·" for i in (0, 1) for value in (truth[i, j], found[i, j])
        ]
        table.add_row(str(j), *cells)
    return table
