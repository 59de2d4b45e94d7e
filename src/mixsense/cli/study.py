"""The commands `mixsense study …`: each for a person, and with --json for a script."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixsense.errors import InvalidInput, StudyError

if TYPE_CHECKING:
    from mixsense.recovery import Recovery
    from mixsense.studies.study import Study

EXIT_CODES = (
    "Exit codes: 0 done; 1 the database or the method failed; 2 wrong input, nothing was stored; 3 not yet: all "
    "questions are out (ask, export --open), no certified result (result); 4 the study has ended (ask, export --open)."
)
DEFAULT = "mixsense.db"

app = typer.Typer(
    help="Durable studies: hand out questions, take answers, from any number of processes.",
    no_args_is_help=True,
    epilog=EXIT_CODES,
)
answers_app = typer.Typer(help="Answers as files, CSV or Parquet.", no_args_is_help=True, epilog=EXIT_CODES)
app.add_typer(answers_app, name="answers")

Db = Annotated[
    str,
    typer.Option("--db", envvar="MIXSENSE_DB", help="sqlite:///tea.db, a file's name, or postgresql://user@host/db."),
]
Name = Annotated[str, typer.Argument(help="Name of the study.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


@app.command(epilog=EXIT_CODES)
def create(
    plan: Annotated[Path, typer.Argument(help=r"TOML file: name, gamma, …, and [\[features]] with name, unit, range.")],
    db: Db = DEFAULT,
    name: Annotated[str | None, typer.Option(help="Name of the study, instead of the file's.")] = None,
    as_json: Json = False,
) -> None:
    r"""Create a study from a TOML file.

    The file has name, and what `recover` takes: gamma, sigma, k, eta, method, weights, max_queries, seed, intercept;
    answer_range = \[1, 7] and lease = 600 (seconds) if wanted; and for each feature a table [\[features]] with name,
    unit and range = \[low, high]; or n without features.
    """
    from mixsense.studies.registry import create_study

    settings = read_plan(plan)
    called = called_as(name, settings.pop("name", None), plan.stem)
    study = create_study(db, called, **settings)
    problem = study.problem
    if as_json:
        typer.echo(json.dumps({"name": study.name, **{key: problem[key] for key in ("seed", "gamma", "max_queries")}}))
    else:
        typer.echo(f"created {study.name!r}; its seed is {problem['seed']}")
        typer.echo(str(study.progress()))
        if "gamma" not in settings:
            typer.echo(f"{plan} gives no gamma: it is {problem['gamma']:g} by default")


def called_as(option: str | None, in_file: Any, otherwise: str) -> Any:
    """Return the name of a study: that of the option, else that of the file; an empty one is for others to refuse."""
    return next(name for name in (option, in_file, otherwise) if name is not None)


def read_plan(path: Path) -> dict[str, Any]:
    """Return the arguments of `create_study` that a TOML file gives."""
    try:
        plan = tomllib.loads(path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}): give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is no TOML file ({error})") from None
    for own in ("url", "box", "units"):
        if own in plan:
            raise InvalidInput(f"{path}: {own!r} does not belong here: give ranges and units in [[features]]")
    features = plan.pop("features", None)
    if features is not None:
        found = _features(features, path)
        if plan.get("n", found["n"]) != found["n"]:
            raise InvalidInput(
                f"{path}: n is {plan['n']!r}, and there are {found['n']} [[features]]: leave n out, or list them all"
            )
        plan.update(found)
    if "n" not in plan:
        raise InvalidInput(f"{path} says nothing about the features: give [[features]] with name and range, or n")
    return plan


def _features(features: Any, path: Path) -> dict[str, Any]:
    hint = "give each feature as [[features]] with name, and unit and range = [low, high] if wanted"
    if not isinstance(features, list) or not features:
        raise InvalidInput(f"{path}: features is {features!r}: {hint}")
    for feature in features:
        if not isinstance(feature, dict) or "name" not in feature or not {*feature} <= {"name", "unit", "range"}:
            raise InvalidInput(f"{path}: a feature is {feature!r}: {hint}")
    ranges = [feature.get("range") for feature in features]
    if None in ranges and any(ranges):
        missing = features[ranges.index(None)]["name"]
        raise InvalidInput(f"{path}: feature {missing!r} has no range, others have: give each one, or none")
    return {
        "n": len(features),
        "features": [feature["name"] for feature in features],
        "units": [feature.get("unit", "") for feature in features],
        "box": ranges if any(ranges) else None,
    }


@app.command("list", epilog=EXIT_CODES)
def list_(db: Db = DEFAULT, as_json: Json = False) -> None:
    """List the studies of a database."""
    from mixsense.studies.registry import list_studies, load_study

    found = [load_study(db, name).progress() for name in list_studies(db)]
    if as_json:
        typer.echo(json.dumps([progress.to_dict() for progress in found]))
        return
    rows = [(p.name, p.status or p.state, str(p.round), f"{p.answered:,} of {p.size:,}", f"{p.total:,}") for p in found]
    _print_table(("study", "state", "round", "answered", "answers in all"), rows)


@app.command(epilog=EXIT_CODES)
def ask(
    name: Name,
    db: Db = DEFAULT,
    count: Annotated[int, typer.Option(help="How many questions to take.")] = 1,
    as_json: Json = False,
) -> None:
    """Take questions; each is handed out again if its answer does not come within the lease.

    With --json each question is one line: {"id": …, "x": {feature: value}}.
    """
    study = _load(db, name)
    questions = study.ask_many(count)
    for question in questions:
        if as_json:
            typer.echo(json.dumps(question.to_dict()))
        else:
            typer.echo(f"question {question.id}")
            entries = zip(question.names, question.x, question.units, strict=True)
            _print_table(("feature", "value", "unit"), [(label, f"{x:.6g}", unit) for label, x, unit in entries])
    if not questions:
        _no_question(study)


def _no_question(study: Study, then: str = "") -> None:
    from mixsense.studies.records import STATES

    state = study.progress().state
    typer.echo(f"mixsense: no question now ({state}: {STATES[state]}){then}", err=True)
    raise typer.Exit(4 if state in ("ended", "failed") else 3)


@app.command(epilog=EXIT_CODES, context_settings={"ignore_unknown_options": True})
def tell(
    name: Name,
    id: Annotated[str, typer.Argument(help="Id of the question.")],
    value: Annotated[str, typer.Argument(help="The answer, a number.")],
    db: Db = DEFAULT,
    as_json: Json = False,
) -> None:
    """Give the answer to a question; the same again does no harm."""
    from mixsense.studies.tablefile import as_number

    outcome = _load(db, name).tell(id, as_number(value))
    typer.echo(json.dumps({"id": id, "outcome": outcome}) if as_json else outcome)


@app.command(epilog=EXIT_CODES)
def status(name: Name, db: Db = DEFAULT, as_json: Json = False) -> None:
    """Show where a study stands."""
    now = _load(db, name).progress()
    typer.echo(json.dumps(now.to_dict()) if as_json else str(now))


@app.command(epilog=EXIT_CODES)
def result(
    name: Name,
    db: Db = DEFAULT,
    out: Annotated[Path | None, typer.Option(help="Write the result as JSON to this file, too.")] = None,
    as_json: Json = False,
) -> None:
    """Show the result or, while the study goes on, the best estimate so far."""
    try:
        r = _load(db, name).result()
    except StudyError as error:
        if "needed" not in error.data:  # the database or the method failed
            raise
        typer.echo(f"mixsense: {error}", err=True)
        raise typer.Exit(3) from None
    typer.echo(r.to_json() if as_json else r.summary())
    if out is not None:
        write_result(r, out)
    if r.status not in ("certified", "single"):
        raise typer.Exit(3)


def write_result(r: Recovery, out: Path) -> None:
    """Write a result as JSON."""
    try:
        out.write_text(r.to_json() + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"{out} cannot be written ({error.strerror}); the result is in the study: give another file"
        ) from None


@app.command(epilog=EXIT_CODES)
def release(name: Name, db: Db = DEFAULT, as_json: Json = False) -> None:
    """Hand out again, from now on, every question that is out and not answered: nobody is waited for any more.

    Answers that come all the same are taken if they are still useful, and kept as surplus if not.
    """
    study = _load(db, name)
    before = study.progress().out
    study.release()
    typer.echo(json.dumps({"released": before}) if as_json else f"{before:,} questions released")


@app.command(epilog=EXIT_CODES)
def delete(
    name: Name,
    db: Db = DEFAULT,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether you are sure.")] = False,
) -> None:
    """Remove a study and all its answers, for good."""
    from mixsense.studies.registry import delete_study

    now = _load(db, name).progress()
    if not yes and not typer.confirm(f"Remove {name!r} and its {now.total + now.surplus:,} answers for good?"):
        raise typer.Exit(1)
    delete_study(db, name)
    typer.echo(f"removed {name!r}")


@answers_app.command("import", epilog=EXIT_CODES)
def import_(
    name: Name,
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file with the columns id and answer.")],
    db: Db = DEFAULT,
    as_json: Json = False,
) -> None:
    """Store the answers of a file: all of them, or none if a single one is wrong.

    CSV may be separated by commas, or by semicolons or tabs with a decimal point or a decimal comma. Rows without an
    answer are passed over. Columns of features, if there are any, must be those of the questions.
    """
    from mixsense.studies.files import import_answers

    found = import_answers(_load(db, name), file)
    words = f"{found['taken']:,} answers taken, {found['surplus']:,} surplus, {found['known']:,} known before"
    typer.echo(json.dumps(found) if as_json else words)


@answers_app.command("export", epilog=EXIT_CODES)
def export(
    name: Name,
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file to write.")],
    db: Db = DEFAULT,
    open_: Annotated[
        bool, typer.Option("--open", help="Take open questions instead, with an empty column for their answers.")
    ] = False,
    count: Annotated[int | None, typer.Option(help="With --open: at most so many questions.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there already.")] = False,
    as_json: Json = False,
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
    what = "questions" if open_ else "answers"
    typer.echo(json.dumps({what: written}) if as_json else f"{written:,} {what} in {file}")


def _load(db: str, name: str) -> Study:
    from mixsense.studies.registry import load_study

    return load_study(db, name)


def _print_table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*titles)
    for row in rows:
        table.add_row(*map(Text, row))  # as it is: a name may look like markup
    Console().print(table)
