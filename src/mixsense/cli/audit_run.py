"""How an audit runs: until the study has ended, and the oracle was closed without a doubt."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from mixsense.cli.exits import ExitCode
from mixsense.cli.oracle import closed, interruptible

if TYPE_CHECKING:
    from mixsense.recovery import Recovery
    from mixsense.studies.study import Study


def run_audit(study: Study, oracle: Any, workers: int, quiet: bool) -> Recovery:
    """Ask until the study has ended; nothing is shown before the oracle was closed: it may say that all was wrong."""
    from mixsense.studies.run import refuse_doubtful, run_study

    try:
        try:
            with interruptible(oracle), _noted(study, oracle) as ask:
                run_study(study, ask, workers=workers, progress=not quiet)
        finally:
            refuse_doubtful(study, oracle, "begin another one with --name")
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
    from mixsense.rounds import knows_groups

    if not isinstance(oracle, Confirming):
        with oracle:
            yield oracle
        return
    noting = (_NotingGroups if knows_groups(oracle) else _Noting)(study, oracle)
    with closed(oracle, noting.confirm):
        yield noting


class _Noting:
    """Asks an oracle; before its first answer that is not sure is stored, the study has a note of this run."""

    def __init__(self, study: Study, oracle: Any) -> None:
        self._study, self._oracle = study, oracle
        self._lock, self._runs = threading.Lock(), list[int]()

    def __call__(self, queries: Any, repeats: int) -> Any:
        with self.noted():
            return self._oracle(queries, repeats)

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note the run after the block, also if that fails: what came before a failure is stored, too."""
        try:
            yield
        finally:
            with self._lock:
                if not self._oracle.confirmed and not self._runs:
                    self._runs.append(self._study.confirmation.begin())

    def confirm(self) -> None:
        """Take the note away: the oracle was closed, and nothing speaks against its answers."""
        for run in self._runs:
            self._study.confirmation.confirm(run)


class _NotingGroups(_Noting):
    """Asks an oracle that knows which of its answers share a model, and notes the run as `_Noting` does."""

    def asked(self, queries: Any, repeats: int, block: int) -> Any:
        with self.noted():
            return self._oracle.asked(queries, repeats, block)
