"""Answers that were given before: a record in memory."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.checks import as_reals, one_line, shown, summed_up
from mixsense.errors import InvalidInput, OracleError
from mixsense.features.kinds import Feature
from mixsense.oracles.queries import NEEDED, as_queries, entries
from mixsense.oracles.record_file import as_asked
from mixsense.rounds import (
    LARGEST_ANSWER,
    Asked,
    Cases,
    Oracle,
    answered,
    as_sparse,
    handed_over,
    in_cases,
    is_sparse,
    knows_groups,
    usable,
)

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
        self._features: Sequence[Feature] | None = None
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
        self._put(asked, group)

    def _put(self, asked: Asked, group: Index) -> None:
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
        self._features = rows.features if isinstance(rows, Cases) else None  # whoever answers the rest wants them, too
        X, repeats = (as_sparse(rows), repeats) if is_sparse(rows) else as_queries(rows, repeats)
        if not X.shape[0]:
            raise InvalidInput(f"queries have shape {X.shape}: {NEEDED}")
        keys = _keys(X)
        if self._then is not None and not any(self._answers.get(key) for key in keys):
            found = self._new(X, repeats, block)
        else:
            self._fill(X, keys, repeats, block)
            rows = [[self._answers[key].popleft() for _ in range(repeats)] for key in keys]
            for key in {*keys}:
                if not self._answers[key]:
                    del self._answers[key]
            y, group = (np.array([[pair[part] for pair in row] for row in rows]) for part in (0, 1))
            found = Asked.of_round(X, y, group.astype(np.intp))
        self.count += len(found)
        return found

    def _fill(self, X: Array, keys: list[bytes], repeats: int, block: int) -> None:
        """Ask for what the record lacks, before anything is taken off it: a failure loses nothing that came."""
        needed, missing = Counter[bytes](), list[int]()
        for i, key in enumerate(keys):
            needed[key] += repeats
            known = len(self._answers.get(key, ()))
            missing.append(min(max(needed[key] - known, 0), repeats))
            if missing[i] and self._then is None:
                raise OracleError(
                    f"the record holds {known} more answers to query {i}, {needed[key]} are asked for: "
                    "run with the seed and the options of the recorded run, or give `then=` an oracle for the rest",
                    query=i,
                    available=known,
                    needed=needed[key],
                )
        for start, end, times in _pieces(missing, repeats, block):
            new = self._new(X[start:end], times, block if times == repeats else 1)
            self._put(new, new.group)

    def _new(self, X: Array, repeats: int, block: int) -> Asked:
        """Ask `then`; what a failed call received answers the next one."""
        assert self._then is not None
        try:
            return self._of_ours(answered(in_cases(self._then, self._features), X, repeats, block, self._groups))
        except BaseException as error:
            self._take(X, usable(handed_over(error), X.shape[0], repeats))
            raise

    def _of_ours(self, found: Asked) -> Asked:
        """Return answers of `then` with groups of ours: its numbers know nothing of the record's."""
        if self._linking:
            numbers, which = np.unique(found.group, return_inverse=True)
            first = self._groups - len(self._renamed)
            new = [self._renamed.setdefault(number, first + len(self._renamed)) for number in numbers.tolist()]
            found = Asked.of_round(found.vectors, found.table(), np.array(new, dtype=np.intp)[which])
        self._groups = max(self._groups, int(found.group.max()) + 1)
        return found

    def _take(self, X: Array, y: Array, group: Index | None = None) -> Asked | None:
        """Keep what came before a failure, (q, repeats) with NaN where nothing came, for the next call."""
        rows, columns = np.nonzero(np.isfinite(y))
        if not len(rows):
            return None
        number = self._groups + np.arange(len(rows)) if group is None else group[rows, columns]
        came = Asked.of_round(X[rows], y[rows, columns][:, None], number)
        self._put(came, came.group)
        return came


def _keys(queries: Array) -> list[bytes]:
    """Return what each query is found by: its entries that are not 0, however the query is held."""
    return [place.tobytes() + value.tobytes() for place, value in entries(queries)]


def _pieces(missing: list[int], repeats: int, block: int) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, times) of rows to ask together: whole blocks of which nothing is known, or one row.

    Examples
    --------
    >>> list(_pieces([2, 0, 1, 2, 2], 2, 1)), list(_pieces([2, 0, 2, 2, 2], 2, 2))
    ([(0, 1, 2), (2, 3, 1), (3, 5, 2)], [(0, 1, 2), (2, 5, 2)])
    """
    start, q = 0, len(missing)
    while start < q:
        end = start
        while end < q and all(count == repeats for count in missing[end : end + block]):
            end = min(end + block, q)
        if end > start:
            yield start, end, repeats
        yield from ((i, i + 1, missing[i]) for i in range(end, min(end + block, q)) if missing[i])
        start = end + block
