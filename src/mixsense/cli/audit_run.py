"""How an audit runs: until the study has ended, and the oracle was closed without a doubt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from mixsense.cli.exits import ExitCode
from mixsense.cli.oracle import closed, interruptible
from mixsense.errors import OracleError

if TYPE_CHECKING:
    from mixsense.recovery import Recovery
    from mixsense.studies.study import Study


def run_audit(study: Study, oracle: Any, workers: int, quiet: bool) -> Recovery:
    """Ask until the study has ended; nothing is shown before the oracle was closed: it may say that all was wrong."""
    from mixsense.studies.run import run_study

    try:
        try:
            with interruptible(oracle), _noted(study, oracle) as ask:
                run_study(study, ask, workers=workers, progress=not quiet)
        finally:
            _refuse_doubtful(study, oracle)
    except KeyboardInterrupt:
        total = study.progress().total
        typer.echo(f"mixsense: {total:,} answers are stored; the same command goes on from there", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    return study.result()  # now that it is confirmed


@contextlib.contextmanager
def _noted(study: Study, oracle: Any) -> Iterator[Any]:
    """Note in the study that its answers are not confirmed, until the oracle was closed.

    Until then the study certifies nothing: not here, not to other processes, and not to later runs if this one is
    killed.
    """
    from mixsense.oracles.abilities import Confirming

    if not isinstance(oracle, Confirming):
        with oracle:
            yield oracle
        return
    runs: list[int] = []

    def ask(queries: Any, repeats: int) -> Any:
        answers = oracle(queries, repeats)
        if not oracle.confirmed and not runs:
            runs.append(study.confirmation.begin())  # before these answers are stored
        return answers

    def confirm() -> None:
        for run in runs:
            study.confirmation.confirm(run)

    with closed(oracle, confirm):
        yield ask


def _refuse_doubtful(study: Study, oracle: Any) -> None:
    """End a study for good if its answers may belong to other questions: neither this run nor a later one shows it."""
    from mixsense.oracles.abilities import Watchful

    if not isinstance(oracle, Watchful) or oracle.doubt is None or not study.progress().total:
        return
    why = f"{oracle.doubt}; the study {study.name!r} cannot go on: mend that, and begin another one with --name"
    study.distrust(why)
    raise OracleError(why)
