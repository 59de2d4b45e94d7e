"""The command `mixsense recover`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixsense.cli import options
from mixsense.cli.exits import BY_STATUS
from mixsense.cli.options import named_options, number_of_models, precision, scale_told, shares
from mixsense.cli.oracle import Choice, choose, closed, interruptible
from mixsense.cli.output import check_outputs, write_outputs, write_page
from mixsense.cli.wording import spoken
from mixsense.errors import InvalidInput, OracleError
from mixsense.methods.registry import ENTRIES, Entry, entry_of
from mixsense.problem import DEFAULTS, EQUAL, ESTIMATE

if TYPE_CHECKING:
    from mixsense.oracles import RecordedOracle
    from mixsense.recovery import Recovery
    from mixsense.rounds import Oracle

LONGEST_FIRST_LINE = 1_000_000
"""More bytes are not read to find out what a record calls its oracle; such a line has some hundreds."""
SIMULATED_N = 100
"""Length of the vectors of a simulation, if it is left out."""
UNCONFIRMED = (
    "an earlier run with this record was ended by force: whether its program wrote a line too many, or its service "
    "sent a reply too many, which shifts all answers, was not seen; begin another file to be sure"
)
"""Said of a result with answers of such a run."""


def recover_command(
    oracle: Annotated[
        str | None,
        typer.Argument(
            help="The oracle, as module:callable; called as callable(queries, repeats). Or the address of an endpoint."
        ),
    ] = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Ask a simulated oracle with random vectors.")] = False,
    command: options.Command = None,
    n: options.NUnlessSimulated = None,
    k: options.OptionalK = None,
    gamma: options.Gamma = options.DEFAULT_GAMMA,
    sigma: options.Sigma = None,
    eta: options.Eta = DEFAULTS["eta"],
    method: Annotated[
        str, typer.Option(help=f"How to recover: {', '.join(ENTRIES)}, or a function of yours as module:function.")
    ] = DEFAULTS["method"],
    m: Annotated[int | None, typer.Option(help="Number of Gaussian queries.", show_default="c_s k log n")] = None,
    batch: Annotated[int | None, typer.Option(help="Fixed number of answers to each query.")] = None,
    steer: Annotated[bool | None, typer.Option(help="Frugal: focus and steer the queries (default), or not.")] = None,
    models: options.Models = DEFAULTS["models"],
    weights: options.Weights = None,
    promise: options.Promise = DEFAULTS["promise"],
    scale: options.Scale = None,
    pairs: Annotated[str | None, typer.Option(help="Alignment with the 'pivot' (default) or with 'all'.")] = None,
    constants: Annotated[str | None, typer.Option(help="'practical' (default) or 'theory'.")] = None,
    decoder: Annotated[
        str | None, typer.Option(help="'basis_pursuit' (default), or a function of yours as module:function.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the method's own; VALUE is JSON or text. Repeatable."),
    ] = None,
    max_queries: options.MaxQueries = None,
    gap: options.Gap = 5.0,
    seed: options.Seed = 0,
    out: options.Out = None,
    html: options.Html = None,
    plot: options.Plot = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Keep every answer in this file; the same command goes on from there after a stop."),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Recover the vectors behind an oracle; print them as a table, and write them as JSON.

    The oracle is a Python function, found like an import from the current folder: mixsense recover mylab:ask --n 60. It
    takes queries, a (q, n) array, and repeats, and returns the (q, repeats) array of answers. With --simulate there are
    as many random vectors as --models says (2 if auto), with --k coefficients (5 if left out) at the distance --gap,
    with the shares that --weights gives (equal if it gives no numbers) and noise --sigma (1 if left out).
    """
    chosen = choose(oracle, simulate=simulate, command=command)
    entry = entry_of(method)
    problem: dict[str, Any] = {"n": n, "k": k, "gamma": precision(gamma), "sigma": sigma, "eta": eta, "method": method}
    problem |= {"models": number_of_models(models), "weights": shares(weights), "seed": seed, "promise": promise}
    if scale is not None:
        problem["scale"] = scale_told(scale)
    usual = {"m": m, "batch": batch, "pairs": pairs, "constants": constants, "steer": steer, "decoder": decoder}
    problem |= _options_of(entry, usual, named_options(option or []))
    if n is None:
        if not simulate:
            raise InvalidInput("say how many inputs the oracle has: give --n")
        problem["n"] = n = SIMULATED_N
    check_outputs(out=out, html=html, plot=plot, record=record)
    fractions = "exact" in entry.needs and problem.get("design") != "steps"
    if record is not None and fractions:
        raise InvalidInput(
            f"--record keeps floats, and --method {entry.name} needs fractions: leave --record out, or give --option "
            "design=steps, which does with floats"
        )
    simulation: dict[str, Any] = {"n": n, "k": k, "gap": gap, "sigma": sigma, "seed": seed, "exact": entry.exact}
    simulation |= {"models": problem["models"], "weights": problem["weights"], "fractions": fractions}
    simulation["scale"] = problem.get("scale")
    with chosen.opened(**(simulation if simulate else {})) as asked:
        kept = _recorded(asked, record, chosen, gap, problem)
        with _telling(record, kept, asked):
            r = _recover(kept or asked, asked, kept, problem, max_queries, quiet)
        truth = asked.vectors if simulate else None
    _show(r, truth)
    write_outputs(r, out, plot, lambda: r.plot(truth))
    if html is not None:
        write_page(r, html, "Recovered models", r.plot)
    raise typer.Exit(BY_STATUS[r.status])


def _options_of(entry: Entry, usual: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given; refuse those that the method does not take."""
    given = {name: value for name, value in usual.items() if value is not None}
    takes = [name for name in entry.options if name not in entry.box_options]  # there is no box here
    for flag, name in [(f"--{name}", name) for name in given] + [(f"--option {name}", name) for name in named]:
        if name not in takes and not entry.any_options:
            hint = f"it takes {', '.join(takes)}" if takes else "it takes none"
            raise InvalidInput(f"{flag} does not go with --method {entry.name}: {hint}", option=name)
        if name in given and name in named:
            raise InvalidInput(f"--{name} and --option {name} are the same: give one of them", option=name)
    return given | named


def _recorded(
    asked: Any, record: Path | None, chosen: Choice, gap: float, problem: dict[str, Any]
) -> RecordedOracle | None:
    """Return the oracle with its answers kept in the file, if there is one."""
    if record is None:
        return None
    from mixsense.oracles import RecordedOracle

    simulated = chosen.name == "simulate"
    before = _run_of(record)
    label = f"simulated, gap {gap:g}" if simulated else _label(chosen, before)
    recorded = RecordedOracle(asked, record, {"oracle": label, **_as_before(problem, before)})
    if recorded.reused:
        typer.echo(f"{record}: {recorded.reused:,} answers are there already", err=True)
        if simulated:
            asked.skip(recorded.reused)
    return recorded


@contextlib.contextmanager
def _telling(record: Path | None, kept: RecordedOracle | None, asked: Any) -> Iterator[None]:
    """Say where the answers are that came before a failure, and whether they can be used: not where Python has them."""
    spoilt = f"the answers in {record} are not to be trusted: begin another file"
    try:
        yield
    except KeyboardInterrupt as stop:  # which promises that a record goes on
        if record is None and (lost := sum(map(len, getattr(stop, "record", [])))):
            typer.echo(f"mixsense: the {lost:,} answers received before are lost: --record FILE keeps them", err=True)
        if (doubt := _doubt(asked)) is None or kept is None or not kept.kept:
            raise
        raise OracleError(f"{doubt}; {spoilt}") from None
    except OracleError as error:
        what, count, then = error.data.get("what"), sum(map(len, error.data.get("record", []))), ""
        if _doubt(asked) is not None:
            what = what or str(error)
            then = f"; {spoilt}" if kept is not None and kept.kept else ""
        elif what is None:
            raise
        elif count := count if kept is None else kept.kept:
            where = "lost: --record FILE keeps them" if record is None else f"in {record}, the same command goes on"
            then = f"; the {count:,} answers received before are {where}"
        raise OracleError(what + then, **error.data) from None


def _doubt(asked: Any) -> str | None:
    """Return why an oracle's answers cannot be trusted; None if nothing speaks against them, or it cannot tell."""
    from mixsense.oracles.abilities import Watchful

    doubt: Any = asked.doubt if isinstance(asked, Watchful) else None
    return doubt if isinstance(doubt, str) else None  # an object of the user's may mean something else by it


def _run_of(record: Path) -> dict[str, Any]:
    """Return which run a record is of; nothing if there is no record, or none that can be read."""
    unreadable = OSError, ValueError, LookupError, TypeError, RecursionError  # RecordedOracle says what is wrong
    with contextlib.suppress(*unreadable):
        if record.is_file():  # a pipe would be waited for, a device has no end
            with record.open("rb") as file:
                return dict(json.loads(file.readline(LONGEST_FIRST_LINE))["run"])
    return {}


def _label(chosen: Choice, before: dict[str, Any]) -> str:
    """Return what the record calls the oracle: no command, which may hold a key, unless it does so since 0.2.0."""
    return str(chosen.value) if before.get("oracle") == chosen.value else chosen.identity


def _as_before(problem: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return a run in the words of its record: before 0.4.0 there were two models, with equal shares if left out."""
    if not before or "models" in before or problem["models"] != 2:
        return problem
    told = problem["weights"]
    weights = ESTIMATE if told is None else None if told == EQUAL else told
    return {name: value for name, value in problem.items() if name != "models"} | {"weights": weights}


def _recover(
    ask: Oracle, asked: Any, kept: RecordedOracle | None, problem: dict[str, Any], max_queries: int | None, quiet: bool
) -> Recovery:
    from mixsense.api import recover
    from mixsense.oracles.abilities import Confirming, Watchful

    end: Any = asked if isinstance(asked, Watchful) else contextlib.nullcontext()
    if isinstance(asked, Confirming) and kept is not None:
        end = closed(asked, kept.confirm)
    try:
        with interruptible(asked), end:  # closed before anything is shown
            r = recover(ask, max_queries=max_queries, progress=not quiet, **problem)
        return _unsure(r) if kept is not None and kept.unconfirmed else r
    finally:
        if kept is not None and kept.kept and (doubt := _doubt(asked)) is not None:
            kept.distrust(doubt)


def _unsure(r: Recovery) -> Recovery:
    """Promise nothing: an earlier run with this record was ended by force."""
    from mixsense.recovery import PROMISES, with_warnings

    return with_warnings(r, [UNCONFIRMED], status="uncertain" if r.status in PROMISES else r.status)


def _show(r: Recovery, truth: Any) -> None:
    from mixsense.metrics import match_error

    typer.echo(spoken(r.summary()))
    if truth is not None and len(r.vectors) in (1, len(truth)):
        typer.echo(f"worst l2 error against the simulated truth: {match_error(r.vectors, truth):.3g}")
    elif truth is not None:
        typer.echo(f"the simulated truth has {len(truth)} vectors, {len(r.vectors)} were found")
