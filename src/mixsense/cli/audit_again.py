"""An audit that is run once more: it goes on, has ended, or begins again under another name."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mixsense.cli.output import check_folder
from mixsense.cli.wording import spoken

if TYPE_CHECKING:
    from mixsense.studies.study import Study


def names_in(db: str) -> list[str]:
    """Return the studies of a database; none if its file is not there yet, and can be made."""
    from mixsense.studies.storage.catalogue import study_names
    from mixsense.studies.storage.database import Database
    from mixsense.studies.storage.migrations import upgrade

    database = Database(db, create=True)
    if database.sqlite and not (file := Path(str(database.url.database))).exists():
        check_folder(file, "the database ")  # it is made with the study
        return []
    upgrade(database, create=True)
    return study_names(database)


def unused_name(db: str, name: str) -> str:
    """Return the name or, where there is a study of that name, the first of NAME-2, NAME-3, … that is free."""
    taken = names_in(db)
    return next(new for new in itertools.chain([name], (f"{name}-{i}" for i in itertools.count(2))) if new not in taken)


def tell_resumed(study: Study, silent: bool) -> None:
    """Say what is there already; that nothing will be asked is said in any case: a green light in CI would be old."""
    from mixsense.oracles.preflight.report import Preflight

    now = study.progress()
    if not silent:
        if study.notes.get("preflight"):
            before = Preflight.from_dict(study.notes["preflight"]).summary()
            typer.echo(f"{spoken(before)}\n  (made when the study began)")
        typer.echo(f"{now.total:,} answers are there already", err=True)
    if now.state == "ended":
        text = f"mixsense: the study {study.name!r} has ended, nothing was asked: give --fresh, another --name or --db"
        typer.echo(text, err=True)
