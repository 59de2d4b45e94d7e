"""Answers that were given before: a record in memory, and an oracle whose answers are kept in a file."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_reals, one_line, shown, summed_up
from mixsense.errors import InvalidInput, OracleError
from mixsense.oracles.abilities import Confirming
from mixsense.oracles.queries import NEEDED, as_queries, entries
from mixsense.oracles.record_file import RecordFile, as_asked, as_line, as_run
from mixsense.rounds import LARGEST_ANSWER, Asked, Oracle, answered, as_sparse, is_sparse, knows_groups

RECORD_HINT = "give a list of pairs, [(queries, answers)], of shapes (q, n) and (q, repeats), or what an error carries"
"""What a record is."""


class ReplayOracle:
    """Answers from a record, each recorded answer once, in its order.

    Parameters
    ----------
    record : iterable of Asked, or of (queries, answers)
        What `run` records and what an error carries; or pairs of (q, n) queries and (q, repeats) answers.
    then : callable, optional
        Oracle for what the record does not hold. Without it such a query is refused.

    Attributes
    ----------
    count : int
        Answers given so far, recorded ones and others.

    Examples
    --------
    >>> replay = ReplayOracle([(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]))])
    >>> replay(np.eye(2)[1:], 1)
    array([[3.]])
    """

    takes_sparse = True

    def __init__(self, record: Iterable[Asked | tuple[ArrayLike, ArrayLike]], then: Oracle | None = None) -> None:
        if then is not None and not callable(then):
            raise InvalidInput(f"then is {shown(then)}: give an oracle, or None", then=then)
        if not isinstance(record, Iterable) or isinstance(record, (str, bytes, Mapping)) or hasattr(record, "ndim"):
            raise InvalidInput(f"the record is {summed_up(record)}: {RECORD_HINT}")
        self._answers: dict[bytes, deque[tuple[float, int]]] = {}
        self._then = then
        self._linking = knows_groups(then)
        self._groups = 0  # numbers from here on have not been given
        self._renamed: dict[int, int] = {}  # groups of `then`: its numbers know nothing of the record's
        self.count = 0
        for part in record:
            self._add(part)

    def _add(self, part: Asked | tuple[ArrayLike, ArrayLike]) -> None:
        try:
            if not isinstance(part, Asked) and (hasattr(part, "ndim") or len(part) != 2):
                raise InvalidInput(f"a part of it is {summed_up(part)}, which is not a pair")
            asked = part if isinstance(part, Asked) else as_asked(*part)
            largest = np.abs(as_reals("answers", asked.answers, "numbers")).max(initial=0.0)
            if not is_sparse(asked.vectors):
                as_reals("queries", asked.vectors, "numbers")
            if largest > LARGEST_ANSWER:
                raise InvalidInput(f"an answer is {largest:g}, beyond {LARGEST_ANSWER:g}")
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the record cannot be read ({one_line(error, 120)}): {RECORD_HINT}") from None
        group = asked.group if isinstance(part, Asked) else asked.group + self._groups  # nobody is known to be linked
        keys = _keys(asked.vectors)
        for place, answer, number in zip(asked.place.tolist(), asked.answers.tolist(), group.tolist(), strict=True):
            self._answers.setdefault(keys[place], deque()).append((answer, number))
        self._groups = max(self._groups, int(group.max(initial=-1)) + 1)

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer each query `repeats` times from the record; returns (q, repeats)."""
        return self.asked(queries, repeats).table()

    def asked(self, queries: ArrayLike, repeats: int, block: int = 1) -> Asked:
        """Answer each query `repeats` times, with the groups that the record has."""
        rows: Any = queries
        X, repeats = (as_sparse(rows), repeats) if is_sparse(rows) else as_queries(rows, repeats)
        if not X.shape[0]:
            raise InvalidInput(f"queries have shape {X.shape}: {NEEDED}")
        keys = _keys(X)
        if self._then is not None and not any(self._answers.get(key) for key in keys):
            found = self._new(X, repeats, block)
        else:
            needed = Counter[bytes]()
            for i, key in enumerate(keys):
                needed[key] += repeats
                self._fill(i, X[i : i + 1], key, needed[key])
            rows = [[self._answers[key].popleft() for _ in range(repeats)] for key in keys]
            for key in needed:
                if not self._answers[key]:
                    del self._answers[key]
            y, group = (np.array([[pair[part] for pair in row] for row in rows]) for part in (0, 1))
            found = Asked.of_round(X, y, group.astype(np.intp))
        self.count += len(found)
        return found

    def _fill(self, i: int, x: Array, key: bytes, needed: int) -> None:
        """Ask for what the record lacks, before anything is taken off it: a failure loses nothing that came."""
        known = self._answers.get(key, deque())
        missing = needed - len(known)
        if missing <= 0:
            return
        if self._then is None:
            raise OracleError(
                f"the record holds {len(known)} more answers to query {i}, {needed} are asked for: "
                "run with the seed and the options of the recorded run, or give `then=` an oracle for the rest",
                query=i,
                available=len(known),
                needed=needed,
            )
        new = self._new(x, missing, block=1)
        known.extend(zip(new.answers.tolist(), new.group.tolist(), strict=True))
        self._answers[key] = known

    def _new(self, X: Array, repeats: int, block: int) -> Asked:
        assert self._then is not None
        found = answered(self._then, X, repeats, block, self._groups)
        if self._linking:
            numbers, which = np.unique(found.group, return_inverse=True)
            first = self._groups - len(self._renamed)
            new = [self._renamed.setdefault(number, first + len(self._renamed)) for number in numbers.tolist()]
            found = Asked.of_round(found.vectors, found.table(), np.array(new, dtype=np.intp)[which])
        self._groups = max(self._groups, int(found.group.max()) + 1)
        return found


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
        self.unconfirmed, self._noted = bool(self._file.unconfirmed), False
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
        found = super()._new(X, repeats, block)
        self.kept += len(found)
        notes: list[dict[str, Any]] = []
        if isinstance(self._then, Confirming) and not self._then.confirmed and not self._noted:
            notes, self._noted = [{"unconfirmed": True}], True
        try:
            self._file.append(*notes, as_line(found))
        except BaseException as error:  # Ctrl-C too: what was paid for answers the next call
            self._add(found)
            if isinstance(error, OSError):
                raise self._unwritten(f"{len(found)} answers came and", error, received=found.table()) from None
            raise
        return found

    def _unwritten(self, what: str, error: OSError, **data: Any) -> OracleError:
        return OracleError(
            f"{what} cannot be written to {self._file.path} ({error.strerror}): "
            "mend that, and go on with the same command",
            **data,
        )

    def distrust(self, why: str) -> None:
        """Note in the file that its answers cannot be trusted: no later run takes them."""
        try:
            self._file.append({"distrusted": why})
        except OSError as error:
            raise OracleError(
                f"{why}; and this cannot be noted in {self._file.path} ({error.strerror}): remove that file, its "
                "answers are not to be trusted"
            ) from None

    def confirm(self) -> None:
        """Note in the file that the oracle of this run was closed, and that nothing speaks against its answers."""
        if not self._noted:
            return
        try:
            self._file.append({"confirmed": True})
        except OSError as error:
            raise self._unwritten("that the answers are sure", error) from None
        self._noted = False


def _keys(queries: Array) -> list[bytes]:
    """Return what each query is found by: its entries that are not 0, however the query is held."""
    return [place.tobytes() + value.tobytes() for place, value in entries(queries)]
