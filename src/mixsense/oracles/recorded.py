"""An oracle whose answers are kept in a file, from which a later run goes on."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.errors import InvalidInput, OracleError
from mixsense.oracles.abilities import Confirming, OneByOne, Watchful
from mixsense.oracles.record_file import RecordFile, as_line, as_run, asking, to_row
from mixsense.oracles.replay import ReplayOracle
from mixsense.rounds import Asked, Oracle, block_groups, checked_answers, for_oracle, handed_over


class RecordedOracle(ReplayOracle):
    """Asks another oracle and appends every answer to a file, from which a later run goes on.

    Parameters
    ----------
    oracle : callable
        The oracle that is asked.
    path : path
        File of JSON lines. If it exists, its answers are given before any new one is asked for.
    run : dict
        What identifies the run (seed, method, options). A file of another run is refused, since its answers belong to
        other queries.

    Attributes
    ----------
    reused : int
        Answers that were in the file.
    kept : int
        Answers that are in the file now, or will be with the next call.
    unconfirmed : bool
        Whether an earlier run was ended by force, before its oracle was closed and its answers were sure.

    Examples
    --------
    >>> import mixsense as ms, tempfile
    >>> folder, pair = tempfile.TemporaryDirectory(), ms.random_pair(20, 2, gap=3.0, seed=1)
    >>> for _ in range(2):
    ...     asked = ms.SimulatedOracle(pair, 0.0, seed=2)
    ...     oracle = ms.RecordedOracle(asked, f"{folder.name}/answers.jsonl", {"seed": 3})
    ...     r = ms.recover(oracle, 20, sigma=0.0, gamma=0.0, seed=3)
    ...     r.status, asked.count == (0 if oracle.reused else r.queries)
    ('certified', True)
    ('certified', True)
    >>> folder.cleanup()
    """

    def __init__(self, oracle: Oracle, path: str | os.PathLike[str], run: dict[str, Any]) -> None:
        self._file = RecordFile(path)
        try:
            record = self._file.read(as_run(run))
        except OSError as error:
            raise InvalidInput(
                f"{self._file.path} cannot be used as a record ({error.strerror}): give another file"
            ) from None
        super().__init__(record, then=oracle)
        self.unconfirmed, self._noted, self._distrusted = bool(self._file.unconfirmed), False, False
        self.reused = self.kept = sum(len(queue) for queue in self._answers.values())

    def asked(self, queries: ArrayLike, repeats: int, block: int = 1) -> Asked:
        """Answer each query `repeats` times; what was not in the file is in it when this returns."""
        if self._file.waits:
            try:
                self._file.write()
            except OSError as error:
                raise self._unwritten("answers that came before", error) from None
        return super().asked(queries, repeats, block)

    def _new(self, X: Array, repeats: int, block: int) -> Asked:
        if isinstance(self._then, OneByOne):
            return self._each(self._then, X, repeats, block)
        found = super()._new(X, repeats, block)
        self.kept += len(found)
        try:
            self._file.append(*self._notes(), as_line(found))
        except BaseException as error:  # Ctrl-C too: what was paid for answers the next call
            self._put(found, found.group)
            if isinstance(error, OSError):
                raise self._unwritten(f"{len(found)} answers came and", error, unwritten=found.table()) from None
            raise
        return found

    def _take(self, X: Array, y: Array, group: Index | None = None) -> Asked | None:
        came = super()._take(X, y, group)
        if came is not None and group is None:
            self.kept += len(came)
            with contextlib.suppress(OSError):  # a failure is on its way already; the next call writes them
                self._file.append(*self._notes(), as_line(came))
        return came

    def _each(self, oracle: OneByOne, X: Array, repeats: int, block: int) -> Asked:
        """Ask an oracle that answers one by one: each answer is in the file before the next question is out."""
        y = np.full((X.shape[0], repeats), np.nan)
        group = block_groups(*y.shape, block if self._linking else 1, self._groups)
        sent, lock, first = for_oracle(X, oracle), threading.Lock(), [asking(X)]

        def keep(row: int, repeat: int, answer: float) -> None:
            number = checked_answers([[answer]], 1, 1, row).item()
            with lock:
                y[row, repeat], lines = number, [*self._notes(), *first, to_row(row, number, int(group[row, repeat]))]
                first.clear()
                self.kept += 1
                try:
                    self._file.append(*lines, more=True)
                except OSError as error:
                    raise self._unwritten("answers that came", error) from None

        try:
            oracle.answer_each(sent, repeats, block, keep)
            self._file.write()
        except BaseException as error:
            handed_over(error)  # it is kept here
            self._take(X, y, group)
            with contextlib.suppress(OSError):
                self._file.write()
            doubt = oracle.doubt if isinstance(oracle, Watchful) else None
            if isinstance(doubt, str) and self.kept:
                self.distrust(doubt)
            if isinstance(error, OSError):
                raise self._unwritten("answers that came", error) from None
            raise
        self._groups = int(group.max()) + 1
        return Asked.of_round(X, checked_answers(y, *y.shape), group)

    def _notes(self) -> list[dict[str, Any]]:
        """Return what has to be in the file before the answers that came now."""
        if self._noted or not isinstance(self._then, Confirming) or self._then.confirmed:
            return []
        self._noted = True
        return [{"unconfirmed": True}]

    def _unwritten(self, what: str, error: OSError, **data: Any) -> OracleError:
        return OracleError(
            f"{what} cannot be written to {self._file.path} ({error.strerror}): "
            "mend that, and go on with the same command",
            **data,
        )

    def distrust(self, why: str) -> None:
        """Note in the file that its answers cannot be trusted: no later run takes them."""
        if self._distrusted:
            return
        try:
            self._file.append({"distrusted": why})
        except OSError as error:
            raise OracleError(
                f"{why}; and this cannot be noted in {self._file.path} ({error.strerror}): remove that file, its "
                "answers are not to be trusted"
            ) from None
        self._distrusted = True

    def confirm(self) -> None:
        """Note in the file that the oracle of this run was closed, and that nothing speaks against its answers."""
        if not self._noted:
            return
        try:
            self._file.append({"confirmed": True})
        except OSError as error:
            raise self._unwritten("that the answers are sure", error) from None
        self._noted = False
