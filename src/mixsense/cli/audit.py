"""The command `mixsense audit`: a study that asks an HTTP endpoint or a program until both models are known."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixsense.cli.endpoint import headers_of, make_oracle, problem_of, read_config, shares
from mixsense.cli.study import DEFAULT, Db, Json, called_as, write_result
from mixsense.errors import InvalidInput, OracleError

if TYPE_CHECKING:
    from mixsense.oracles.preflight import Preflight
    from mixsense.recovery import Recovery
    from mixsense.studies.study import Study

EXIT_CODES = (
    "Exit codes: 0 certified or single; 1 the endpoint or the database failed (the same command goes on); 2 wrong "
    "input; 3 budget or uncertain; 4 the preflight found a problem, nothing else was asked; 130 Ctrl-C (the same "
    "command goes on)."
)
PROBLEM = 4


def audit_command(
    url: Annotated[str | None, typer.Argument(help="Address of the endpoint; only its host is contacted.")] = None,
    command: Annotated[str | None, typer.Option(help="Ask this program instead: JSON lines in, numbers out.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file as for `study create`, with a table 'endpoint' for body, answer, ….")
    ] = None,
    n: Annotated[int | None, typer.Option(help="Number of inputs.")] = None,
    features: Annotated[str | None, typer.Option(help="Names of the inputs, as a,b,c; instead of --n.")] = None,
    box: Annotated[
        list[str] | None, typer.Option(help="Range of every input as 0:10, or of one as milk=0:10; repeatable.")
    ] = None,
    intercept: Annotated[bool, typer.Option("--intercept", help="Each model has a constant (needs --box).")] = False,
    body: Annotated[
        str | None, typer.Option(help='JSON with "$x", "$x[0]", "$features", "$features.NAME", "$id".')
    ] = None,
    answer: Annotated[str | None, typer.Option(help="Path of the number in the answer, as result.score.")] = None,
    header: Annotated[list[str] | None, typer.Option(help="NAME=env:VARIABLE; secrets only so; repeatable.")] = None,
    rate: Annotated[float | None, typer.Option(help="Most requests a second.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Most requests at a time; 8 if left out.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for one request; 30 if left out.")] = None,
    retries: Annotated[int | None, typer.Option(help="Tries after a 429, 5xx or time-out; 5 if left out.")] = None,
    limit: Annotated[float | None, typer.Option(help="Seconds for a question with all tries; 300 if left out.")] = None,
    allow_host: Annotated[list[str] | None, typer.Option(help="Host that a redirect may lead to; repeatable.")] = None,
    new_connections: Annotated[
        bool, typer.Option("--new-connections", help="One for each request, against sticky routing.")
    ] = False,
    gamma: Annotated[float | None, typer.Option(help="Precision; 0.1, or what --max-queries gives.")] = None,
    k: Annotated[int | None, typer.Option(help="Coefficients of each model that matter, if known.")] = None,
    sigma: Annotated[float | None, typer.Option(help="Noise of the answers; measured if left out.")] = None,
    weights: Annotated[str | None, typer.Option(help="Shares as 0.9,0.1, or 'estimate' (default).")] = None,
    max_queries: Annotated[int | None, typer.Option(help="Most answers, those of the preflight not counted.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the queries; drawn and stored if left out.")] = None,
    db: Db = DEFAULT,
    name: Annotated[str | None, typer.Option(help="Name of the study in the database; audit if left out.")] = None,
    skip_preflight: Annotated[
        bool, typer.Option("--skip-preflight", help="Do not look at the endpoint first.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Go on although the preflight found a problem.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the result as JSON to this file, too.")] = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Find both models behind an endpoint that is split between two linear ones.

    Every answer is stored as it comes: after Ctrl-C, a crash or an outage of the endpoint the same command goes on, and
    asks nothing again that was answered. A preflight of at most 401 requests (329 for a program; retries come on top)
    comes first, once; only if it was interrupted itself is it made again.
    """
    plan = {} if config is None else read_config(config)
    endpoint = plan.pop("endpoint", {})
    given = {
        "url": url,
        "command": command,
        "body": body,
        "answer": answer,
        "headers": headers_of(header),
        "rate": rate,
        "concurrency": concurrency,
        "timeout": timeout,
        "retries": retries,
        "limit": limit,
        "hosts": allow_host or None,
        "fresh": new_connections or None,
    }
    endpoint |= {key: value for key, value in given.items() if value is not None}
    problem = problem_of(plan, n, features, box, intercept)
    wanted = {"gamma": gamma, "k": k, "sigma": sigma, "weights": shares(weights), "max_queries": max_queries}
    problem |= {key: value for key, value in {**wanted, "seed": seed}.items() if value is not None}
    called = called_as(name, problem.pop("name", None), "audit")
    workers = endpoint.get("concurrency", 8)
    _check(called, problem, out)
    with contextlib.closing(make_oracle(endpoint, problem.get("features"))) as oracle:
        study = _resume(db, called, problem, endpoint)
        if study is None:
            report = None if skip_preflight else _look(oracle, problem, as_json)
            if report is not None and report.problems and not force:
                _refuse(report, as_json)
            study = _begin(db, called, problem, endpoint, report)
        elif not as_json:
            _tell_resumed(study)
        with contextlib.closing(study):
            r = _run(study, oracle, 1 if "command" in endpoint else workers, quiet)
            _show(study, r, out, as_json)
    if r.status not in ("certified", "single"):
        raise typer.Exit(3)


def _check(name: Any, problem: dict[str, Any], out: Path | None) -> None:
    """Refuse what is wrong before the first request, and before there is a database."""
    from mixsense.methods.begin import begin
    from mixsense.problem import Problem
    from mixsense.studies.settings import check_titles, checked_lease, checked_name, checked_range, checked_units

    checked_name(name)
    rest = dict(problem)
    checked_range(rest.pop("answer_range", None))
    checked_lease(rest.pop("lease", 1.0))
    units = rest.pop("units", None)
    begin(Problem.from_dict(rest))
    checked_units(units, rest["n"])
    check_titles(rest.get("features"), rest.get("intercept"))
    if out is not None:
        if out.is_dir():
            raise InvalidInput(f"{out} is a folder: give a file for the result")
        if not out.exists():
            _check_folder(out)
        elif not os.access(out, os.W_OK):
            raise InvalidInput(f"{out} cannot be written: give another file")


def _check_folder(file: Path, what: str = "") -> None:
    folder = file.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        reason = "cannot be written to" if folder.is_dir() else "does not exist"
        raise InvalidInput(f"{what}{file} cannot be written: the folder {folder} {reason}; give another file")


def _identity(endpoint: dict[str, Any]) -> dict[str, Any]:
    """Return what tells one endpoint from another; an address without its query, a program as a hash: no secrets."""
    from mixsense.oracles.transport import Target

    if "command" in endpoint:
        address = "program " + hashlib.sha256(str(endpoint["command"]).encode()).hexdigest()[:16]
    else:
        address = str(Target.parse(endpoint["url"]))
    return {"address": address, "body": endpoint.get("body"), "answer": endpoint.get("answer")}


def _resume(db: str, name: str, problem: dict[str, Any], endpoint: dict[str, Any]) -> Study | None:
    """Return the study that an earlier run began; refuse one that asks something else."""
    from mixsense.studies.registry import load_study
    from mixsense.studies.storage.catalogue import study_names
    from mixsense.studies.storage.database import Database
    from mixsense.studies.storage.migrations import upgrade

    database = Database(db, create=True)  # before the preflight: what is wrong with it costs no request
    if database.sqlite and not (file := Path(str(database.url.database))).exists():
        _check_folder(file, "the database ")  # it is made with the study
        return None
    upgrade(database, create=True)
    if name not in study_names(database):
        return None
    study = load_study(db, name)
    before = study.notes.get("endpoint")
    hint = f"give another --name, or the options of {name!r}"
    if before is None:
        raise InvalidInput(f"the study {name!r} was not made by an audit: {hint}")
    now = json.loads(json.dumps(_identity(endpoint)))
    for key in now:
        if now[key] != before.get(key):
            raise InvalidInput(
                f"the study {name!r} asks {before.get(key)!r}, this command {now[key]!r} ({key}): {hint}"
            )
    for key, value in json.loads(json.dumps(problem)).items():
        if key in study.problem and value != study.problem[key]:
            raise InvalidInput(f"the study {name!r} has {key} = {study.problem[key]!r}, now it is {value!r}: {hint}")
    return study


def _look(oracle: Any, problem: dict[str, Any], as_json: bool) -> Preflight:
    from mixsense.oracles.preflight import cost, preflight

    if not as_json:
        typer.echo(f"preflight: up to {cost(oracle)} requests", err=True)
    with _interruptible(oracle):
        report = preflight(oracle, problem["n"], problem.get("box"), seed=problem.get("seed", 0))
    if not as_json and not _is_mute(report):
        typer.echo(report.summary())
    return report


def _is_mute(report: Preflight) -> bool:
    """Return whether the endpoint did not answer at all: then there is an error to show, and no table."""
    return bool(report.problems) and report.problems[0].name == "answers"


def _refuse(report: Preflight, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"preflight": report.to_dict()}))
        raise typer.Exit(1 if _is_mute(report) else PROBLEM)
    names = ", ".join(verdict.name for verdict in report.problems)
    if _is_mute(report):
        raise OracleError(report.problems[0].text)
    typer.echo(f"mixsense: the preflight found a problem ({names}): see above; --force goes on all the same", err=True)
    raise typer.Exit(PROBLEM)


def _begin(db: str, name: str, problem: dict[str, Any], endpoint: dict[str, Any], report: Preflight | None) -> Study:
    from mixsense.studies.registry import create_study

    notes = {"endpoint": _identity(endpoint), "preflight": None if report is None else report.to_dict()}
    return create_study(db, name, notes=notes, **problem)


def _tell_resumed(study: Study) -> None:
    from mixsense.oracles.preflight import Preflight

    if study.notes.get("preflight"):
        typer.echo(Preflight.from_dict(study.notes["preflight"]).summary() + "\n  (made when the study began)")
    typer.echo(f"{study.progress().total:,} answers are there already", err=True)


def _run(study: Study, oracle: Any, workers: int, quiet: bool) -> Recovery:
    from mixsense.studies.run import run_study

    try:
        with _interruptible(oracle):
            return run_study(study, oracle, workers=workers, progress=not quiet)
    except KeyboardInterrupt:
        total = study.progress().total
        typer.echo(f"mixsense: {total:,} answers are stored; the same command goes on from there", err=True)
        raise typer.Exit(130) from None


@contextlib.contextmanager
def _interruptible(oracle: Any) -> Iterator[None]:
    """Let Ctrl-C also end the waits of an oracle that tries again and again."""
    stop = getattr(oracle, "stop", None)
    if stop is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        stop()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _show(study: Study, r: Recovery, out: Path | None, as_json: bool) -> None:
    if as_json:
        found = {"study": study.name, "preflight": study.notes.get("preflight"), "result": json.loads(r.to_json())}
        typer.echo(json.dumps(found))
    else:
        typer.echo(r.summary(study.names))
    if out is not None:
        write_result(r, out)  # at the end: what was paid for is shown in any case
