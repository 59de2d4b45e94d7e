"""Answers that were given before: a record in memory, and an oracle whose answers are kept in a file."""

from __future__ import annotations

import errno
import json
import os
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_reals, one_line, shown, summed_up, visible
from mixsense.errors import InvalidInput, OracleError
from mixsense.oracles.queries import as_queries
from mixsense.rounds import LARGEST_ANSWER, Asked, Oracle, answered, knows_groups

HEADER = b'{"mixsense_record": 1'
"""How a file of answers begins."""
RECORD_HINT = "give a list of pairs, [(queries, answers)], of shapes (q, n) and (q, repeats), or what an error carries"
"""What a record is."""
LARGEST_GROUP = 2**53
"""Whole numbers up to here are exact as floats."""


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

    def __init__(self, record: Iterable[Asked | tuple[ArrayLike, ArrayLike]], then: Oracle | None = None) -> None:
        if then is not None and not callable(then):
            raise InvalidInput(f"then is {shown(then)}: give an oracle, or None", then=then)
        if not isinstance(record, Iterable) or isinstance(record, (str, bytes, Mapping)) or hasattr(record, "ndim"):
            raise InvalidInput(f"the record is {summed_up(record)}: {RECORD_HINT}")
        self._answers: dict[bytes, deque[tuple[float, int]]] = defaultdict(deque)
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
            asked = part if isinstance(part, Asked) else _asked(*part)
            largest = np.abs(as_reals("answers", asked.answers, "numbers")).max(initial=0.0)
            as_reals("queries", asked.vectors, "numbers")
            if largest > LARGEST_ANSWER:
                raise InvalidInput(f"an answer is {largest:g}, beyond {LARGEST_ANSWER:g}")
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the record cannot be read ({one_line(error, 120)}): {RECORD_HINT}") from None
        group = asked.group if isinstance(part, Asked) else asked.group + self._groups  # nobody is known to be linked
        keys = [_key(x) for x in asked.vectors]
        for place, answer, number in zip(asked.place.tolist(), asked.answers.tolist(), group.tolist(), strict=True):
            self._answers[keys[place]].append((answer, number))
        self._groups = max(self._groups, int(group.max(initial=-1)) + 1)

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer each query `repeats` times from the record; returns (q, repeats)."""
        return self.asked(queries, repeats).table()

    def asked(self, queries: ArrayLike, repeats: int, block: int = 1) -> Asked:
        """Answer each query `repeats` times, with the groups that the record has."""
        X, repeats = as_queries(queries, repeats)
        if self._then is not None and not any(self._answers[_key(x)] for x in X):
            found = self._new(X, repeats, block)
        else:
            for i, x in enumerate(X):
                self._fill(i, x, repeats * sum(_key(x) == _key(other) for other in X[: i + 1]))
            rows = [[self._answers[_key(x)].popleft() for _ in range(repeats)] for x in X]
            y, group = (np.array([[pair[part] for pair in row] for row in rows]) for part in (0, 1))
            found = Asked.of_round(X, y, group.astype(np.intp))
        self.count += len(found)
        return found

    def _fill(self, i: int, x: Array, needed: int) -> None:
        """Ask for what the record lacks, before anything is taken off it: a failure loses nothing that came."""
        known = self._answers[_key(x)]
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
        new = self._new(x[None], missing, block=1)
        known.extend(zip(new.answers.tolist(), new.group.tolist(), strict=True))

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
    """

    def __init__(self, oracle: Oracle, path: str | os.PathLike[str], run: dict[str, Any]) -> None:
        self._path = Path(path)
        self._end = 0, b""  # what is surely in the file, in bytes, and what has to follow: set together
        run = _plain(run)
        try:
            record = self._read(run)
            if record is None:
                self._append({"mixsense_record": 1, "run": run})
        except OSError as error:
            raise InvalidInput(
                f"{self._path} cannot be used as a record ({error.strerror}): give another file"
            ) from None
        super().__init__(record or [], then=oracle)
        self.reused = sum(len(queue) for queue in self._answers.values())

    def asked(self, queries: ArrayLike, repeats: int, block: int = 1) -> Asked:
        """Answer each query `repeats` times; what was not in the file is in it when this returns."""
        if self._end[1]:  # an interruption or a full disk kept it out of the file
            try:
                self._write()
            except OSError as error:
                raise self._unwritten("answers that came before", error) from None
        return super().asked(queries, repeats, block)

    def _new(self, X: Array, repeats: int, block: int) -> Asked:
        found = super()._new(X, repeats, block)
        y, group = found.table(), found.group.reshape(len(X), repeats)
        try:
            self._append({"queries": X.tolist(), "answers": y.tolist(), "group": group.tolist()})
        except BaseException as error:  # Ctrl-C too: what was paid for answers the next call
            self._add(found)
            if isinstance(error, OSError):
                raise self._unwritten(f"{len(found)} answers came and", error, received=y) from None
            raise
        return found

    def _unwritten(self, what: str, error: OSError, **data: Any) -> OracleError:
        return OracleError(
            f"{what} cannot be written to {self._path} ({error.strerror}): mend that, and go on with the same command",
            **data,
        )

    def distrust(self, why: str) -> None:
        """Note in the file that its answers cannot be trusted: no later run takes them."""
        self._append({"distrusted": why})

    def _append(self, line: dict[str, Any]) -> None:
        size, waiting = self._end
        self._end = size, waiting + json.dumps(line).encode() + b"\n"
        self._write(len(waiting))

    def _write(self, begun: int | None = None) -> None:
        """Bring into the file what has to follow; only so many bytes of it may be there already, from another try."""
        size, text = self._end
        with self._path.open("ab+") as file:
            found = os.fstat(file.fileno()).st_size
            file.seek(size)
            there = file.read(len(text) + 1)
            if found < size or not text[:begun].startswith(there):
                raise OSError(errno.EBUSY, f"it has {found} bytes and had {size}: another program has changed it")
            file.write(text[len(there) :])
            file.flush()
            os.fsync(file.fileno())  # an answer that was paid for survives a crash
        self._end = size + len(text), b""

    def _read(self, run: dict[str, Any]) -> list[Asked | tuple[Any, Any]] | None:
        """Return what the file holds; None if there is nothing yet."""
        if self._path.exists() and not self._path.is_file():  # a pipe would be waited for, a device has no end
            raise InvalidInput(f"{self._path} cannot be used as a record (it is not a regular file): give another file")
        content = self._path.read_bytes() if self._path.exists() else b""
        size = content.rfind(b"\n") + 1
        if not size and HEADER.startswith(content[: len(HEADER)]):  # killed before its first line was whole
            record = None
        else:
            record = self._lines(content[:size], run)
        if len(content) > size:  # killed while it wrote this line: its answers were never handed on
            with self._path.open("rb+") as file:
                file.truncate(size)  # in place: no other line is written again
                os.fsync(file.fileno())
        self._end = size, b""
        return record

    def _lines(self, content: bytes, run: dict[str, Any]) -> list[Asked | tuple[Any, Any]]:
        try:
            first, *lines = [json.loads(line) for line in content.splitlines()]
            if first["mixsense_record"] != 1:
                raise ValueError(f"it has format {shown(first['mixsense_record'])}, this program reads format 1")
            known = dict(first["run"])
            doubts = [line["distrusted"] for line in lines if "distrusted" in line]
            lines = [line for line in lines if "distrusted" not in line]
            record = [_asked(**line) if line.get("group") is not None else _pair(**line) for line in lines]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput(
                f"{self._path} is not a record of answers ({one_line(error, 120)}): give another file"
            ) from None
        if known != run:
            different = sorted(visible(key) for key in {*known, *run} if known.get(key) != run.get(key))
            raise InvalidInput(
                f"{self._path} holds the answers of another run ({', '.join(different)} differ): "
                "use the options of that run, or another file"
            )
        if doubts:
            raise InvalidInput(
                f"the answers in {self._path} are not to be trusted ({one_line(doubts[0])}): begin another file"
            )
        return record


def _asked(queries: Any, answers: Any, group: Any = None) -> Asked:
    """Return one call of an oracle, with nothing but numbers in it."""
    X = as_reals("queries", queries, "give (q, n), one row a query")
    y = as_reals("answers", answers, "give (q, repeats), one row a query", kinds="biuf")  # yes and no are answers
    if group is not None:
        group = as_reals("group", group, "give a whole number for each answer")
        if (group != np.floor(group)).any() or np.abs(group).max(initial=0.0) > LARGEST_GROUP:
            raise InvalidInput("a group is not a whole number, or too large for one")
        group = group.astype(np.intp)
    return Asked.of_round(X, y, group)


def _plain(run: Any) -> dict[str, Any]:
    """Return what identifies a run as the file will have it."""
    try:
        if not isinstance(run, dict):
            raise TypeError("it is not a dict")
        found: dict[str, Any] = json.loads(json.dumps(run, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        why = one_line(error, 120)
        raise InvalidInput(f"run cannot be stored as JSON ({why}): give a dict of plain values") from None
    return found


def _pair(queries: Any, answers: Any, group: None = None) -> tuple[Any, Any]:
    """Return one line of a file from before version 0.3.0, when there were no groups."""
    return queries, answers


def _key(x: Array) -> bytes:
    return (x + 0.0).tobytes()  # -0.0 and 0.0 are the same query
