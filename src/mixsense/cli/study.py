"""The commands `mixsense study …`: each for a person, and with --json for a script."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixsense.checks import as_float, counted
from mixsense.cli import options
from mixsense.cli.exits import BY_STATUS, OF_RESULTS, ExitCode, epilog
from mixsense.cli.output import check_outputs, print_table, write_outputs, write_page
from mixsense.cli.study_file import read_study_file, study_name
from mixsense.cli.wording import spoken
from mixsense.errors import InvalidInput, StudyError

if TYPE_CHECKING:
    from mixsense.studies.records import Question
    from mixsense.studies.study import Study

NO_QUESTION = epilog(ExitCode.ALL_OUT, ExitCode.ENDED)
ANY = epilog()
WATCH = 0.01, 86_400.0
"""Seconds between two looks at a study: a day at most, as nobody would notice a longer wait. Taste."""

app = typer.Typer(
    help="Durable studies: hand out questions, take answers, from any number of processes.",
    no_args_is_help=True,
    epilog=epilog(*OF_RESULTS, ExitCode.ALL_OUT, ExitCode.ENDED),
)
answers_app = typer.Typer(help="Answers as files, CSV or Parquet.", no_args_is_help=True, epilog=NO_QUESTION)
app.add_typer(answers_app, name="answers")


@app.command(epilog=ANY)
def create(
    file: Annotated[Path, typer.Argument(help=r"TOML file: name, gamma, …, and [\[features]] with name, unit, range.")],
    db: options.Db = options.DEFAULT_DB,
    name: Annotated[str | None, typer.Option(help="Name of the study, instead of the file's.")] = None,
    as_json: options.Json = False,
) -> None:
    r"""Create a study from a TOML file.

    The file has name, and what `recover` takes: gamma, sigma, k, eta, method, models, weights, max_queries, seed,
    intercept; answer_range = \[1, 7] (or a table \[answers] with scale, range and step) and lease = 600 (seconds) if
    wanted; and for each feature a table [\[features]] with name, unit, range = \[low, high] and, for whole numbers,
    kind = "integer" or, without a range, kind = "yesno"; or n without features.
    """
    from mixsense.studies.registry import create_study

    given = read_study_file(file)
    called = study_name(name, given.pop("name", None), file.stem)
    study = create_study(db, called, **given)
    problem = study.problem
    if as_json:
        typer.echo(json.dumps({"name": study.name, **{key: problem[key] for key in ("seed", "gamma", "max_queries")}}))
    else:
        typer.echo(f"created {study.name!r}; its seed is {problem['seed']}")
        typer.echo(str(study.progress()))
        if "gamma" not in given:
            typer.echo(f"{file} gives no gamma: it is {problem['gamma']:g} by default")


@app.command("list", epilog=ANY)
def list_(db: options.Db = options.DEFAULT_DB, as_json: options.Json = False) -> None:
    """List the studies of a database."""
    from mixsense.studies.registry import list_studies, load_study

    found = [load_study(db, name).progress() for name in list_studies(db)]
    if as_json:
        typer.echo(json.dumps([progress.to_dict() for progress in found]))
        return
    rows = [(p.name, p.status or p.state, str(p.round), f"{p.answered:,} of {p.size:,}", f"{p.total:,}") for p in found]
    print_table(("study", "state", "round", "answered", "answers in all"), rows)


@app.command(epilog=NO_QUESTION)
def ask(
    name: options.StudyName,
    db: options.Db = options.DEFAULT_DB,
    count: Annotated[int, typer.Option(help="How many questions to take.")] = 1,
    respondent: Annotated[
        str | None,
        typer.Option(help="A token of who will answer, the same for all questions of one person. It is not stored."),
    ] = None,
    advance: Annotated[
        bool, typer.Option("--advance/--no-advance", help="Compute the next round here if it is due.")
    ] = True,
    as_json: options.Json = False,
) -> None:
    """Take questions; each is handed out again if its answer does not come within the lease.

    There is one until the study has ended: where all are out it is an extra one. With --json each question is one line:
    {"id": …, "x": {feature: value}}. Of a method with sparse queries only the values that are not 0 are shown.
    """
    study = _load(db, name)
    questions = study.ask_many(count, respondent=respondent, advance=advance)
    for question in questions:
        if as_json:
            typer.echo(json.dumps(question.to_dict()))
        else:
            typer.echo(f"question {question.id}")
            print_table(("feature", "value", "unit"), _entries(question))
    if not questions:
        _no_question(study)


def _entries(question: Question) -> list[tuple[str, str, str]]:
    """Return name, value and unit of what a question asks; a yes or no in words, too, as its answer has no number."""
    from mixsense.features.kinds import is_yes_no

    words = {feature.name: (" (no)", " (yes)") for feature in question.features or () if is_yes_no(feature)}
    return [
        (label, f"{x:.6g}{words[label][round(x)] if label in words else ''}", unit)
        for label, x, unit in question.entries()
    ]


def _no_question(study: Study, then: str = "") -> None:
    from mixsense.studies.records import STATES

    state = study.progress().state
    typer.echo(f"mixsense: no question now ({state}: {STATES[state]}){then}", err=True)
    raise typer.Exit(ExitCode.ENDED if state in ("ended", "failed") else ExitCode.ALL_OUT)


@app.command(epilog=ANY, context_settings={"ignore_unknown_options": True})
def tell(
    name: options.StudyName,
    id: Annotated[str, typer.Argument(help="Id of the question.")],
    value: Annotated[str, typer.Argument(help="The answer, a number.")],
    db: options.Db = options.DEFAULT_DB,
    as_json: options.Json = False,
) -> None:
    """Give the answer to a question; the same again does no harm."""
    from mixsense.studies.tablefile import as_number

    outcome = _load(db, name).tell(id, as_number(value))
    typer.echo(json.dumps({"id": id, "outcome": outcome}) if as_json else outcome)


@app.command(epilog=ANY)
def status(name: options.StudyName, db: options.Db = options.DEFAULT_DB, as_json: options.Json = False) -> None:
    """Show where a study stands."""
    now = _load(db, name).progress()
    typer.echo(json.dumps(now.to_dict()) if as_json else str(now))


@app.command(epilog=epilog(*OF_RESULTS))
def result(
    name: options.StudyName,
    db: options.Db = options.DEFAULT_DB,
    out: options.Out = None,
    html: options.Html = None,
    plot: options.Plot = None,
    as_json: options.Json = False,
) -> None:
    """Show the result or, while the study goes on, the best estimate so far."""
    from mixsense.recovery.picture import plot_recovery
    from mixsense.recovery.tables import as_table, as_text

    check_outputs(out=out, html=html, plot=plot)
    try:
        study = _load(db, name)
        r = study.result()
    except StudyError as error:
        if "needed" not in error.data:  # the database or the method failed
            raise
        typer.echo(f"mixsense: {spoken(str(error))}", err=True)
        raise typer.Exit(ExitCode.NOT_CERTIFIED) from None
    difference = "endpoint" in study.notes
    table = as_table(r, study.names, difference=difference)
    typer.echo(r.to_json() if as_json else spoken(as_text(table)))
    draw = partial(plot_recovery, r, title=study.name, units=study.units)
    write_outputs(r, out, plot, draw)
    if html is not None:
        write_page(r, html, study.name, draw, units=study.units, names=study.names, difference=difference)
    raise typer.Exit(BY_STATUS[r.status])


@app.command(epilog=ANY)
def advance(
    name: options.StudyName,
    db: options.Db = options.DEFAULT_DB,
    watch: Annotated[
        float | None, typer.Option(help="Look again after this many seconds, until the study has ended.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compute the next round if it is due: the work of one process beside those that ask with --no-advance."""
    if watch is not None:
        as_float("--watch", watch, "give seconds, such as 60", *WATCH)
    study = _load(db, name)
    new = study.advance()
    while watch is not None and study.progress().state not in ("ended", "failed"):
        time.sleep(0 if new else watch)
        new = study.advance()
    state = study.progress().state
    typer.echo(json.dumps({"new": new, "state": state}) if as_json else f"{'advanced' if new else 'nothing'}: {state}")


@app.command(epilog=ANY)
def release(
    name: options.StudyName,
    db: options.Db = options.DEFAULT_DB,
    respondent: Annotated[str | None, typer.Option(help="Only the questions of who has this token.")] = None,
    as_json: options.Json = False,
) -> None:
    """Hand out again, from now on, every question that is out and not answered: nobody is waited for any more.

    Answers that come all the same are taken if they are still useful, and kept as surplus if not.
    """
    before = _load(db, name).release(respondent=respondent)
    typer.echo(json.dumps({"released": before}) if as_json else f"{counted(before, 'question')} released")


@app.command(epilog=ANY)
def delete(
    name: options.StudyName,
    db: options.Db = options.DEFAULT_DB,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether you are sure.")] = False,
) -> None:
    """Remove a study and all its answers, for good."""
    study = _load(db, name)
    now = study.progress()
    if not yes and not typer.confirm(f"Remove {name!r} and its {counted(now.total + now.surplus, 'answer')} for good?"):
        raise typer.Exit(ExitCode.FAILED)
    study.delete()  # the one that was asked about, and no other that got its name meanwhile
    typer.echo(f"removed {name!r}")


@answers_app.command("import", epilog=ANY)
def import_(
    name: options.StudyName,
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file with the columns id and answer.")],
    db: options.Db = options.DEFAULT_DB,
    as_json: options.Json = False,
) -> None:
    """Store the answers of a file: all of them, or none if a single one is wrong.

    CSV may be separated by commas, or by semicolons or tabs with a decimal point or a decimal comma. Rows without an
    answer are passed over. Columns of features, if there are any, must be those of the questions.
    """
    from mixsense.studies.files import import_answers

    found = import_answers(_load(db, name), file)
    words = f"{counted(found['taken'], 'answer')} taken, {found['surplus']:,} surplus, {found['known']:,} known before"
    typer.echo(json.dumps(found) if as_json else words)


@answers_app.command("export", epilog=NO_QUESTION)
def export(
    name: options.StudyName,
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file to write.")],
    db: options.Db = options.DEFAULT_DB,
    open_: Annotated[
        bool, typer.Option("--open", help="Take open questions instead, with an empty column for their answers.")
    ] = False,
    count: Annotated[int | None, typer.Option(help="With --open: at most this many questions.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there already.")] = False,
    as_json: options.Json = False,
) -> None:
    """Write all answers to a file or, with --open, questions for a field team to fill in."""
    from mixsense.studies.files import export_answers, export_open
    from mixsense.studies.study import MOST_AT_ONCE

    study = _load(db, name)
    if not open_:
        if count is not None:
            raise InvalidInput("--count goes with --open: all answers are exported without it")
        written = export_answers(study, file, force)
    else:
        written = export_open(study, file, MOST_AT_ONCE if count is None else count, force)
        if not written:
            _no_question(study, f"; {file} was not written")
    what = "question" if open_ else "answer"
    typer.echo(json.dumps({f"{what}s": written}) if as_json else f"{counted(written, what)} in {file}")


def _load(db: str, name: str) -> Study:
    from mixsense.studies.registry import load_study

    return load_study(db, name)
