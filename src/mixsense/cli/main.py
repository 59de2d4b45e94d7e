"""The command line: thin verbs over the library."""

from __future__ import annotations

import os

# The matrices are small: on a busy machine two BLAS threads that wait for each other are many times slower than one.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mixsense
from mixsense.api import recover
from mixsense.checks import as_int
from mixsense.cli.audit import EXIT_CODES as AUDIT_CODES
from mixsense.cli.audit import audit_command
from mixsense.cli.endpoint import shares
from mixsense.cli.study import app as study_app
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.methods.registry import ENTRIES, entry_of, imported
from mixsense.metrics import match_error
from mixsense.oracles import RecordedOracle, SimulatedOracle, random_pair
from mixsense.problem import DEFAULTS, NONE
from mixsense.recovery import Recovery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mixsense.rounds import Oracle

app = typer.Typer(
    name="mixsense",
    help="Recover sparse linear models from an oracle that answers each question with one of two, at random.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(study_app, name="study")
app.command("audit", epilog=AUDIT_CODES)(audit_command)

EXIT_CODES = (
    "Exit codes: 0 certified or single, 1 the run failed (oracle, budget, model), 2 wrong input, "
    "3 budget or uncertain, 130 Ctrl-C."
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mixsense {mixsense.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command("demo")
def demo_command(
    gap: Annotated[float, typer.Option(help="Distance ‖β¹ − β²‖ of the two hidden vectors.")] = 5.0,
    gamma: Annotated[float, typer.Option(help="Precision that the frugal method stops at.")] = 0.1,
    batch: Annotated[int, typer.Option(help="The paper's answers to each query; it shows about 100 and 600.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the vectors, the oracle and the queries.")] = 1,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("demo.png"),
) -> None:
    """Watch two hidden vectors being found, in the setting of the paper's own simulation.

    n = 100, k = 5, noise σ = 1. First the frugal method, which knows none of that but n; then, to compare, the paper's
    method with 150 Gaussian queries. The table shows the recovered coefficients beside the true ones, the picture too.
    """
    from mixsense.cli.demo import demo

    demo(gap, gamma, batch, seed, lambda r, truth: _save_picture(r, truth, out))
    typer.echo(f"Picture: {out}")


def _save_picture(r: Recovery, truth: NDArray[Any] | None, out: Path) -> None:
    _save_axes(lambda: r.plot(truth), out)


def _save_axes(draw: Callable[[], Any], out: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    try:
        draw().figure.savefig(out, dpi=130)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the picture cannot be written to {out} ({error}): give another file") from None


@app.command("recover", epilog=EXIT_CODES)
def recover_command(
    oracle: Annotated[
        str | None,
        typer.Argument(help="The oracle, as module:callable; called as callable(queries, repeats). Or use --simulate."),
    ] = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Ask a simulated oracle with a random pair.")] = False,
    command: Annotated[
        str | None, typer.Option(help='Ask this program: a JSON query {"x": […]} a line in, a number a line out.')
    ] = None,
    n: Annotated[int, typer.Option(help="Length of the vectors.")] = 100,
    k: Annotated[int | None, typer.Option(help="Coefficients of each vector that matter (or give --m).")] = None,
    gamma: Annotated[str, typer.Option(help="Precision asked for; none spends --max-queries.")] = str(
        DEFAULTS["gamma"]
    ),
    sigma: Annotated[float | None, typer.Option(help="Noise of the answers; measured if left out.")] = None,
    eta: Annotated[float, typer.Option(help="Allowed probability of failure.")] = 0.05,
    method: Annotated[
        str, typer.Option(help=f"How to recover: {', '.join(ENTRIES)}, or a function of yours as module:function.")
    ] = DEFAULTS["method"],
    m: Annotated[int | None, typer.Option(help="Number of Gaussian queries; c_s k log n by default.")] = None,
    batch: Annotated[int | None, typer.Option(help="Fixed number of answers to each query.")] = None,
    steer: Annotated[bool | None, typer.Option(help="Frugal: focus and steer the queries (default), or not.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="Frugal: shares as 0.7,0.3, or 'estimate'; equal if left out.")
    ] = None,
    pairs: Annotated[str | None, typer.Option(help="Alignment with the 'pivot' (default) or with 'all'.")] = None,
    constants: Annotated[str | None, typer.Option(help="'practical' (default) or 'theory'.")] = None,
    max_queries: Annotated[int | None, typer.Option(help="Hard limit on the number of answers.")] = None,
    gap: Annotated[float, typer.Option(help="With --simulate: distance of the two vectors.")] = 5.0,
    seed: Annotated[int, typer.Option(help="Seed of the queries (and of the simulation).")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result as JSON to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the recovered vectors to this picture.")] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Keep every answer in this file; the same command goes on from there after a stop."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Recover both vectors behind an oracle; print them as a table, and write them as JSON.

    The oracle is a Python function, found like an import from the current folder: mixsense recover mylab:ask. It takes
    queries, a (q, n) array, and repeats, and returns the (q, repeats) array of answers.
    """
    if simulate + (oracle is not None) + (command is not None) != 1:
        raise InvalidInput("give an oracle as module:callable, or --simulate, or --command: one of them")
    options = {"m": m, "batch": batch, "pairs": pairs, "constants": constants, "steer": steer}
    given = {name: value for name, value in options.items() if value is not None}
    sys.path.insert(0, os.getcwd())
    entry = entry_of(method)
    for name in given:
        if name not in entry.options:
            raise InvalidInput(f"--{name} does not go with --method {method}: leave it out", option=name)
    truth, simulated = None, None
    ask: Oracle
    if simulate:
        # NumPy's seed [s, 0] is its seed s, which draws the queries.
        truth = random_pair(n, min(k or 5, n), gap, seed=[as_int("seed", seed, 0, "a seed"), 1])
        # Without --sigma the simulated noise is 1, and the method has to find that out.
        noise = 1.0 if sigma is None and not entry.exact else sigma or 0.0
        ask = simulated = SimulatedOracle(truth, noise, seed=[seed, 2])
    elif command is not None:
        from mixsense.oracles.command import CommandOracle

        ask = CommandOracle(command)
    else:
        ask = imported(str(oracle), "oracle")
    settings: dict[str, Any] = {
        "n": n,
        "k": k,
        "gamma": precision(gamma),
        "sigma": sigma,
        "eta": eta,
        "method": method,
        "weights": shares(weights),
        "seed": seed,
        **given,
    }
    if record is not None:
        ask = RecordedOracle(ask, record, {"oracle": oracle or command or f"simulated, gap {gap:g}", **settings})
        if ask.reused:
            typer.echo(f"{record}: {ask.reused:,} answers are there already", err=True)
            if simulated is not None:
                simulated.skip(ask.reused)
    r = recover(ask, max_queries=max_queries, progress=not quiet, **settings)
    if out is not None:
        try:
            out.write_text(r.to_json() + "\n", encoding="utf-8")
        except OSError as error:
            typer.echo(r.summary())
            raise InvalidInput(
                f"the result cannot be written to {out} ({error.strerror}): give another --out"
            ) from None
    typer.echo(r.summary())
    if truth is not None:
        typer.echo(f"worst l2 error against the simulated truth: {match_error(r.vectors, truth):.3g}")
    if plot is not None:
        _save_picture(r, truth, plot)
    if r.status in ("budget", "uncertain"):
        raise typer.Exit(3)


def precision(text: str) -> float | None:
    """Return the precision that --gamma gives."""
    if text == NONE:
        return None
    try:
        return float(text)
    except ValueError:
        hint = f"give a number such as 0.1, or {NONE} to spend --max-queries"
        raise InvalidInput(f"--gamma is {text!r}: {hint}") from None


@app.command("plan")
def plan_command(
    n: Annotated[int, typer.Option(help="Length of the vectors.")],
    k: Annotated[int, typer.Option(help="Coefficients of each vector that matter.")],
    sigma: Annotated[float, typer.Option(help="Noise of the answers that you expect; 0 if there is none.")],
    gap: Annotated[float, typer.Option(help="Distance of the two vectors that you expect.")],
    gamma: Annotated[float | None, typer.Option(help="Precision asked for, below gap/2 (or give --budget).")] = None,
    budget: Annotated[int | None, typer.Option(help="Answers that can be had; prints the γ to expect.")] = None,
    per_person: Annotated[int | None, typer.Option(help="Answers of one person; adds the number of people.")] = None,
    weights: Annotated[str | None, typer.Option(help="Shares as 0.7,0.3; equal if left out.")] = None,
    eta: Annotated[
        float, typer.Option(help="Allowed probability of failure of the paper's method (certified: 0.05).")
    ] = 0.05,
    json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Say how many answers each method needs for a precision γ; or, with --budget, which γ to expect."""
    from mixsense.planning.plan import plan

    given: Any = shares(weights)
    table = plan(n, k, sigma, gap, gamma, eta, budget, per_person, given)
    typer.echo(table.to_json() if json else str(table))


@app.command("sweep")
def sweep_command(
    settings: Annotated[Path, typer.Argument(help="TOML file that says which settings, seeds and methods.")],
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores if left out.")] = None,
    dask: Annotated[str | None, typer.Option(help="Run on the Dask cluster with this scheduler address.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="SQLite file with the finished cells; beside the TOML file if left out.")
    ] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw the result, as PNG beside the SQLite file.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write the table to this .csv or .parquet file too.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Run a grid of settings × seeds × methods on simulated oracles.

    Every finished cell is kept at once: after Ctrl-C or a crash the same command goes on where it was.
    """
    from mixsense.sweeps.sweep import check_table_path, commonest_failure, save_table, summarise, sweep

    if not settings.name:
        raise InvalidInput(f"{settings} is no file: give a TOML file; see docs/sweeps.md for an example")
    if export is not None:
        check_table_path(export)
    store = out or settings.with_suffix(".sqlite")
    frame = sweep(settings, store, jobs, dask, progress=not quiet)
    typer.echo(summarise(frame))
    if (why := commonest_failure(frame)) is not None:
        typer.echo(why)
    if export is not None:
        save_table(frame, export)
    if plot:
        from mixsense.plots import plot_sweep

        _save_axes(lambda: plot_sweep(frame), store.with_suffix(".png"))
    failed = int((frame["status"] == "failed").sum())
    typer.echo(f"{len(frame):,} cells, {failed:,} failed: {store}")


@app.command("figures")
def figures_command(
    out: Annotated[Path, typer.Option(help="Folder for pictures (PNG, SVG) and data (CSV, JSON).")] = Path("figs"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and settings: a look in under a minute.")] = False,
    only: Annotated[str | None, typer.Option(help="Numbers of the figures to make, as 1,4; all if left out.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores if left out.")] = None,
    seed: Annotated[int, typer.Option(help="First seed of each figure.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Simulate and draw the figures, from nothing but seeds: minutes on two cores.

    The same seeds give the same data to the last bit, whatever the number of processes. A figure is written as soon as
    it is finished, and stays if the command is stopped.
    """
    import time

    import matplotlib as mpl

    mpl.use("Agg")
    from mixsense.figures import make_figures

    try:
        numbers = None if only is None else [int(part) for part in only.split(",")]
    except ValueError:
        raise InvalidInput(f"--only is {only!r}: give numbers such as 1,4") from None
    start = time.monotonic()
    try:
        written = make_figures(out, numbers, "quick" if quick else "full", jobs, seed, progress=not quiet)
    except KeyboardInterrupt as stop:
        kept = ", ".join(path.stem for path in getattr(stop, "written", [])) or "none"
        typer.echo(f"mixsense: finished: {kept}; --only makes the others", err=True)
        raise
    for path in written:
        typer.echo(f"{path.with_suffix('.png')}  (and .svg, .csv, .json)")
    typer.echo(f"{len(written)} figures in {time.monotonic() - start:.0f} s")


def main() -> None:
    """Run the command line; a user's mistake is one line, not a traceback."""
    try:
        app()
    except InvalidInput as error:
        typer.echo(f"mixsense: {error}", err=True)
        sys.exit(2)
    except MixsenseError as error:
        typer.echo(f"mixsense: {error}", err=True)
        sys.exit(1)
    except MemoryError:
        typer.echo("mixsense: not enough memory: give smaller numbers, or fewer jobs", err=True)
        sys.exit(1)
    except OSError as error:  # a full disk, a closed terminal
        typer.echo(f"mixsense: {error}; what was stored before is kept", err=True)
        os._exit(1)  # what could not be written cannot be flushed either
    except SystemExit as stop:
        if stop.code == 130:  # Ctrl-C
            typer.echo("mixsense: stopped; sweep, audit and recover --record go on with the same command", err=True)
        raise


if __name__ == "__main__":
    main()
