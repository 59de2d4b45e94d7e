"""Answers that were given before: a record in memory, and an oracle whose answers are kept in a file."""

from __future__ import annotations

import json
import os
from collections import defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_int
from mixsense.errors import InvalidInput, OracleError
from mixsense.rounds import Oracle, checked_answers


class ReplayOracle:
    """Answers from a record, each recorded answer once, in its order.

    Parameters
    ----------
    record : iterable of (queries, answers)
        Pairs of (q, n) queries and (q, repeats) answers: what `run` records, what an error carries.
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

    def __init__(self, record: Iterable[tuple[ArrayLike, ArrayLike]], then: Oracle | None = None) -> None:
        self._answers: dict[bytes, deque[float]] = defaultdict(deque)
        self._then = then
        self.count = 0
        for queries, answers in record:
            X, y = np.asarray(queries, dtype=np.float64), np.asarray(answers, dtype=np.float64)
            if X.ndim != 2 or y.ndim != 2 or len(X) != len(y):
                raise InvalidInput(
                    f"a record holds pairs of queries (q, n) and answers (q, repeats); got {X.shape} and {y.shape}"
                )
            for x, row in zip(X, y, strict=True):
                self._answers[_key(x)].extend(row.tolist())

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer each query `repeats` times from the record."""
        X = np.asarray(queries, dtype=np.float64)
        repeats = as_int("repeats", repeats, 1, "how often each query is asked")
        if X.ndim != 2:
            raise InvalidInput(f"queries have shape {X.shape}; needed is (q, n): one row a query")
        answers = np.empty((len(X), repeats))
        if self._then is not None and not any(self._answers[_key(x)] for x in X):
            self.count += answers.size
            return checked_answers(self._then(X, repeats), len(X), repeats)
        for i, x in enumerate(X):
            known = self._answers[_key(x)]
            missing = max(0, repeats - len(known))
            if missing and self._then is None:
                raise OracleError(
                    f"the record holds {len(known)} more answers to query {i}, {repeats} are asked for: "
                    "run with the seed and the options of the recorded run, or give `then=` an oracle for the rest",
                    query=i,
                    available=len(known),
                    needed=repeats,
                )
            # What is new is asked before anything is taken off the record, so that a failure loses nothing.
            fresh = checked_answers(self._then(x[None], missing), 1, missing)[0] if missing and self._then else []
            answers[i] = [*(known.popleft() for _ in range(repeats - missing)), *fresh]
        self.count += answers.size
        return answers


class RecordedOracle:
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
        self._oracle = oracle
        self._path = Path(path)
        try:
            begun = self._path.exists() and self._path.stat().st_size > 0
            record = self._read(run) if begun else []
            if not begun:
                self._append({"mixsense_record": 1, "run": run})
        except OSError as error:
            raise InvalidInput(
                f"{self._path} cannot be used as a record ({error.strerror}): give another file"
            ) from None
        self.reused = sum(len(row) for _, answers in record for row in answers)
        self._replay = ReplayOracle(record, then=self._ask)

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer from the file as far as it goes, then from the oracle."""
        return self._replay(queries, repeats)

    def _ask(self, queries: Array, repeats: int) -> Array:
        answers = checked_answers(self._oracle(queries, repeats), len(queries), repeats)
        self._append({"queries": queries.tolist(), "answers": answers.tolist()})
        return answers

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())  # an answer that was paid for survives a crash

    def _read(self, run: dict[str, Any]) -> list[tuple[Any, Any]]:
        try:
            whole_lines, _, torn = self._path.read_text(encoding="utf-8").rpartition("\n")
            first, *lines = [json.loads(line) for line in whole_lines.splitlines()]
            known = first["run"]
            record = [(line["queries"], line["answers"]) for line in lines]
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{self._path} is no record of answers ({error}): give another file") from None
        if known != json.loads(json.dumps(run)):
            different = sorted(key for key in {*known, *run} if known.get(key) != run.get(key))
            raise InvalidInput(
                f"{self._path} holds the answers of another run ({', '.join(different)} differ): "
                "use the options of that run, or another file"
            )
        if torn:  # the process was killed while it wrote this line: its answers were never handed on
            self._path.write_text(whole_lines + "\n", encoding="utf-8")
        return record


def _key(x: Array) -> bytes:
    return (x + 0.0).tobytes()  # -0.0 and 0.0 are the same query
