"""The command `mixsense audit`: a study that asks an HTTP endpoint or a program until its models are known."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixsense.checks import require_all
from mixsense.cli import options
from mixsense.cli.audit_again import names_in, tell_resumed, unused_name
from mixsense.cli.audit_run import run_audit
from mixsense.cli.endpoint import headers_of, problem_of, read_audit_file
from mixsense.cli.exits import BY_STATUS, ExitCode
from mixsense.cli.options import number_of_models, precision, scale_told, shares, whole_number
from mixsense.cli.oracle import Choice, choose, interruptible
from mixsense.cli.output import check_file, write_result
from mixsense.cli.study_file import study_name
from mixsense.cli.wording import spoken
from mixsense.errors import InvalidInput, MixsenseError, OracleError
from mixsense.problem import AUTO

if TYPE_CHECKING:
    from mixsense.oracles.preflight.report import Preflight
    from mixsense.recovery import Recovery
    from mixsense.studies.study import Study

WORKERS = 8
"""Requests at a time, if `concurrency` is left out: as `HTTPOracle` has it."""


def audit_command(
    url: Annotated[
        str | None, typer.Argument(help="Address of the endpoint; env:VARIABLE in its path or query.")
    ] = None,
    command: options.Command = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file as for `study create`, with a table 'endpoint' for body, answer, ….")
    ] = None,
    n: options.OptionalN = None,
    features: Annotated[str | None, typer.Option(help="Names of the inputs, as a,b,c; instead of --n.")] = None,
    box: Annotated[
        list[str] | None,
        typer.Option(metavar="<range>", help="Range of every input as 0:10, or of one as milk=0:10; repeatable."),
    ] = None,
    intercept: Annotated[bool, typer.Option("--intercept", help="Each model has a constant (needs --box).")] = False,
    body: Annotated[
        str | None,
        typer.Option(help='JSON with "$x", "$x[0]", "$features", "$features.NAME", "$id"; env:VARIABLE for a secret.'),
    ] = None,
    answer: Annotated[str | None, typer.Option(help="Path of the number in the answer, as result.score.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="<str>",
            help="NAME=env:VARIABLE, as Authorization=Bearer env:TOKEN; harmless ones in plain; repeatable.",
        ),
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Most requests a second.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Most requests at a time.", show_default="8")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for one request.", show_default="30")] = None,
    retries: Annotated[int | None, typer.Option(help="Tries after a 429, 5xx or time-out.", show_default="5")] = None,
    limit: Annotated[
        float | None, typer.Option(help="Seconds for a question with all tries.", show_default="300")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="<str>", help="Host that a redirect may lead to; repeatable.")
    ] = None,
    new_connections: Annotated[
        bool,
        typer.Option("--new-connections", help="A connection for each request: the default, unless a file keeps them."),
    ] = False,
    keep_connections: Annotated[
        bool,
        typer.Option(
            "--keep-connections",
            help="A few connections for all requests: what a service routes by connection is not seen then.",
        ),
    ] = False,
    block: Annotated[
        str | None,
        typer.Option(help="Questions that one caller of a sticky endpoint is asked, or auto.", show_default="1"),
    ] = None,
    gamma: options.GammaOverFile = None,
    k: options.OptionalK = None,
    sigma: options.Sigma = None,
    models: options.ModelsOverFile = None,
    weights: options.WeightsOverFile = None,
    promise: options.PromiseOverFile = None,
    scale: options.ScaleOverFile = None,
    max_queries: options.MaxQueries = None,
    seed: options.SeedOverFile = None,
    db: options.Db = options.DEFAULT_DB,
    name: Annotated[
        str | None, typer.Option(help="Name of the study in the database.", show_default="audit, or what the file says")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin again, as NAME-2, NAME-3, …, although a study NAME is there: for CI.")
    ] = False,
    skip_preflight: Annotated[
        bool, typer.Option("--skip-preflight", help="Do not look at the endpoint first.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Go on although the preflight found a problem.")] = False,
    out: options.Out = None,
    as_json: options.Json = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing but errors; --out, --json and the exit code tell the rest.")
    ] = False,
) -> None:
    """Find the models behind an endpoint that is split between two or more linear ones; or that there is one only.

    Every answer is stored as it comes: after Ctrl-C, a crash or an outage of the endpoint the same command goes on, and
    asks nothing again that was answered. A preflight of at most 485 requests (341 for a program; retries come on top)
    comes first, once; only if it was interrupted itself is it made again. Its answers do not count for --max-queries.
    The audit stops as soon as --gamma is reached, whether there is a --max-queries or not.

    A secret stands in an environment variable, and env:VARIABLE in its place: in a header, the body, the address's path
    or its query. It is neither shown nor stored; what looks like a secret in plain is refused.
    """
    from mixsense.oracles.abilities import Callers

    chosen = choose(url, audited=True, command=command)
    _check_extras(chosen, db)
    given = {} if config is None else read_audit_file(config)
    endpoint: dict[str, Any] = given.pop("endpoint", {})
    endpoint |= _stated(body=body, answer=answer, headers=headers_of(header), rate=rate, concurrency=concurrency)
    endpoint |= _stated(timeout=timeout, retries=retries, limit=limit, hosts=allow_host or None)
    if new_connections and keep_connections:
        raise InvalidInput("--new-connections and --keep-connections exclude each other: give one of them")
    endpoint |= _stated(fresh=True if new_connections else False if keep_connections else None)
    problem = problem_of(given, n, features, box, intercept)
    problem |= _stated(k=k, sigma=sigma, models=number_of_models(models), weights=shares(weights))
    problem |= _stated(max_queries=max_queries, seed=seed, promise=promise, scale=scale_told(scale))
    if gamma is not None:
        problem["gamma"] = precision(gamma)
    called = study_name(name, problem.pop("name", None), "audit")
    wanted = _block(block, problem, skip_preflight)
    checked = _checked(called, problem, out)
    silent = quiet or as_json
    with chosen.opened(problem.get("features"), **endpoint) as oracle:
        if wanted != 1 and not isinstance(oracle, Callers):
            raise InvalidInput("--block is for an address, whose callers can be told apart: leave it out for a program")
        identity = _identity(chosen, problem.get("features"), endpoint)
        called = unused_name(db, called) if fresh else called
        study = _resume(db, called, checked, identity)
        if study is None:
            report = None if skip_preflight else _look(oracle, problem, silent, wanted)
            if report is not None and report.problems and not force:
                _refuse(report, as_json, quiet)
            if report is not None and wanted == AUTO:
                problem["block"] = report.block
            study = _begin(db, called, problem, identity, report)
        else:
            tell_resumed(study, silent)
        with contextlib.closing(study):
            r = run_audit(study, oracle, endpoint.get("concurrency", WORKERS) if chosen.kind.parallel else 1, quiet)
            _show(study, r, out, as_json, quiet)
    raise typer.Exit(BY_STATUS[r.status])


def _stated(**options: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _block(option: str | None, problem: dict[str, Any], skip_preflight: bool) -> Any:
    """Return how many questions one caller is asked, or auto; a number stays in the problem, which checks it."""
    if option is not None:
        problem["block"] = AUTO if option == AUTO else whole_number("--block", option, f"a number from 1 on, or {AUTO}")
    if problem.get("block") != AUTO:
        return problem.get("block", 1)
    if skip_preflight:
        raise InvalidInput(
            "--block auto needs the preflight, which is skipped: give a number, or leave one of them out"
        )
    return problem.pop("block")


def _check_extras(chosen: Choice, db: str) -> None:
    """Name all optional packages that are missing at once."""
    extras = {**chosen.kind.extras, "sqlalchemy": "study"}
    if db.startswith("postgres"):
        extras["psycopg"] = "postgres"
    require_all(extras, "an audit needs")


def _checked(name: Any, problem: dict[str, Any], out: Path | None) -> dict[str, Any]:
    """Return the problem as a study stores it; refuse what is wrong before the first request, and any database."""
    from mixsense.studies.registry import draft_study

    draft = draft_study(name, **problem)
    check_file(out)
    return {key: value for key, value in draft.problem.to_dict().items() if key in problem}


def _identity(chosen: Choice, features: list[str] | None, endpoint: dict[str, Any]) -> dict[str, Any]:
    """Return what tells who is asked, and what for, from another audit: without anything secret."""
    from mixsense.oracles.template import Body

    body = endpoint.get("body")
    sent = None if body is None else Body(body, features).fingerprint
    return {"address": chosen.identity, "body": sent, "answer": endpoint.get("answer")}


def _resume(db: str, name: str, problem: dict[str, Any], identity: dict[str, Any]) -> Study | None:
    """Return the study that an earlier run began; refuse one that asks something else."""
    from mixsense.studies.registry import load_study

    if name not in names_in(db):  # before the preflight: what is wrong with the database costs no request
        return None
    study = load_study(db, name)
    hint = f"give another --name, or the options of {name!r}"
    if "endpoint" not in study.notes:
        raise InvalidInput(f"the study {name!r} was not made by an audit: {hint}")
    before = _stored_identity(study)
    if before["body"] != identity["body"]:
        raise InvalidInput(f"the study {name!r} sends another body than this command: {hint}")
    for key, now in identity.items():
        if now != before[key]:
            raise InvalidInput(
                f"the study {name!r} has {_default_or(before[key])} as its {key}, this command has "
                f"{_default_or(now)}: {hint}"
            )
    for key, now in json.loads(json.dumps(problem)).items():
        if key in study.problem and now != study.problem[key]:
            raise InvalidInput(
                f"the study {name!r} has {key} = {_default_or(study.problem[key])}, now it is {_default_or(now)}: "
                f"{hint}"
            )
    if study.progress().state == "failed":
        study.result()  # raises what it failed with
    return study


def _default_or(value: Any) -> str:
    """Return a setting for a message: what was left out is the default."""
    return "the default" if value is None else repr(value)


def _stored_identity(study: Study) -> dict[str, Any]:
    """Return what the study noted; before 0.3.0 an audit noted the body itself."""
    from mixsense.oracles.template import Body

    noted: dict[str, Any] = {"address": None, "body": None, "answer": None, **study.notes["endpoint"]}
    body = noted["body"]
    with contextlib.suppress(InvalidInput):  # a fingerprint is no body
        noted["body"] = None if body is None else Body(body, study.problem["features"]).fingerprint
    return noted


def _look(oracle: Any, problem: dict[str, Any], silent: bool, block: Any) -> Preflight:
    from mixsense.oracles.preflight import cost, preflight

    if not silent:
        typer.echo(f"preflight: up to {cost(oracle)} requests", err=True)
    with interruptible(oracle):
        given = {"seed": problem.get("seed", 0), "block": block}
        given |= {"scale": problem.get("scale"), "features": problem.get("features")}
        given["intercept"] = problem.get("intercept", False)
        report = preflight(oracle, problem["n"], problem.get("box"), **given)
    if not silent and not _is_mute(report):
        typer.echo(spoken(report.summary()))
    return report


def _is_mute(report: Preflight) -> bool:
    """Return whether the endpoint did not answer at all: then there is an error to show, and no table."""
    return bool(report.problems) and report.problems[0].name == "answers"


def _refuse(report: Preflight, as_json: bool, quiet: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"preflight": report.to_dict()}))
        raise typer.Exit(ExitCode.FAILED if _is_mute(report) else ExitCode.PREFLIGHT)
    names = ", ".join(verdict.name for verdict in report.problems)
    if _is_mute(report):
        raise OracleError(report.problems[0].text)
    what = "; ".join(verdict.text for verdict in report.problems) if quiet else "see above"
    text = f"mixsense: the preflight found a problem ({names}): {spoken(what)}; --force goes on all the same"
    typer.echo(text, err=True)
    raise typer.Exit(ExitCode.PREFLIGHT)


def _begin(db: str, name: str, problem: dict[str, Any], identity: dict[str, Any], report: Preflight | None) -> Study:
    from mixsense.studies.registry import create_study

    notes = {"endpoint": identity, "preflight": None if report is None else report.to_dict()}
    return create_study(db, name, notes=notes, **problem)


def _show(study: Study, r: Recovery, out: Path | None, as_json: bool, quiet: bool) -> None:
    from mixsense.recovery.tables import as_table, as_text

    text = spoken(as_text(as_table(r, study.names, difference=True)))
    if as_json:
        found = {"study": study.name, "preflight": study.notes.get("preflight"), "result": json.loads(r.to_json())}
        text = json.dumps(found)
    if as_json or not quiet:
        typer.echo(text)
    if out is None:
        return
    try:
        write_result(r, out)
    except MixsenseError:
        if quiet and not as_json:
            typer.echo(text)  # what was paid for is seen in any case
        raise
