"""The in-memory driver: it carries a method's rounds to an oracle.

It guards the budget, checks what the oracle answers, and keeps a record, so that no answer that was paid for is ever
lost.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Generic

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import counted, one_line, passed_through, raised_at
from mixsense.errors import BudgetError, InvalidInput, MixsenseError, OracleError
from mixsense.rounds.answers import answered, usable
from mixsense.rounds.round import Asked, Method, Oracle, Progress, ProgressHook, R, Record, Round
from mixsense.rounds.vectors import is_exact, rows_at_once
from mixsense.threads import one_thread

CALLS_PER_ROUND = 64
"""A round goes to the oracle in about this many calls: progress shows, and a failure loses one call only."""

LARGEST_ROUND = 200_000_000
"""More answers than this in one round do not fit into memory; nobody pays for them either."""


def run(method: Method[R], oracle: Oracle, max_queries: int | None = None, progress: ProgressHook | None = None) -> R:
    """Drive a method against an oracle, in memory.

    Parameters
    ----------
    method : generator
        A method that has not been started, for example ``paper(problem, rng)``.
    oracle : callable
        ``oracle(queries, repeats)`` answers each of the (q, n) queries `repeats` times.
    max_queries : int, optional
        Hard limit: a round that does not fit is not asked, and the method's estimate so far is returned.
    progress : callable, optional
        Called with a `Progress` after every call of the oracle.

    Returns
    -------
    The method's result, with `queries` set to the number of answers that were used.

    Raises
    ------
    OracleError
        The oracle raised or gave an unusable answer. `record` holds all answers received, of the call that failed too.
    BudgetError
        `max_queries` ends before there is any estimate, or a round has more answers than fit into memory.
    Any other exception, Ctrl-C included, leaves with the answers so far as its attribute `record`.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import make_dataclass
    >>> Result = make_dataclass("Result", ["mean", "queries"])
    >>> def ask_zero():
    ...     asked = yield Round(np.zeros((1, 3)), 5, label="zero")
    ...     return Result(asked.answers.mean(), 0)
    >>> run(ask_zero(), lambda queries, repeats: np.ones((len(queries), repeats)))
    Result(mean=np.float64(1.0), queries=5)
    """
    record: Record = []
    try:
        return _drive(method, oracle, max_queries, progress, record)
    except MixsenseError as error:
        error.data.setdefault("record", record)
        raise
    except BaseException as error:  # Ctrl-C or a bug: what was paid for travels with it
        error.record = record  # type: ignore[attr-defined]
        raise


def _drive(
    method: Method[R], oracle: Oracle, max_queries: int | None, progress: ProgressHook | None, record: Record
) -> R:
    steps = Steps(method, max_queries)
    while (current := steps.current) is not None:
        steps.send(_ask(current, oracle, record, steps.asked, max_queries, progress))
    return steps.result  # type: ignore[return-value]  # there is no round only when there is a result


class Steps(Generic[R]):
    """A method, step by step: the round that waits for its answers or, at the end, the result.

    What every driver shares: the count of the answers, and the budget.

    Attributes
    ----------
    current : Round or None
        What is to be asked now.
    result : object or None
        The method's result, as soon as there is nothing more to ask.
    asked : int
        Answers sent so far.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import make_dataclass
    >>> Result = make_dataclass("Result", ["mean", "queries"])
    >>> def ask_zero():
    ...     asked = yield Round(np.zeros((1, 3)), 5, label="zero")
    ...     return Result(float(asked.answers.mean()), 0)
    >>> steps = Steps(ask_zero())
    >>> steps.current.label
    'zero'
    >>> steps.send(Asked.of_round(np.zeros((1, 3)), np.ones((1, 5))))
    >>> steps.result
    Result(mean=1.0, queries=5)
    """

    def __init__(self, method: Method[R], max_queries: int | None = None) -> None:
        self._method = method
        self._max_queries = max_queries
        self.asked = 0
        self.current: Round | None = None
        self.result: R | None = None
        self._step(None)

    def send(self, asked: Asked) -> None:
        """Give what came back from the current round to the method."""
        if self.current is None:
            raise InvalidInput("the method has ended: there is no round to answer")
        self.asked += len(asked)
        self._step(asked)

    def estimate(self) -> R | None:
        """Return the result or, before there is one, the best estimate so far; None if there is not any yet."""
        if self.current is None:
            return self.result
        best = self.current.estimate
        if best is None:
            return None
        with one_thread():
            found = best()
        return _counted(found, self.asked)  # type: ignore[no-any-return]

    def _step(self, asked: Asked | None) -> None:
        try:
            with one_thread():
                current = self._method.send(asked)  # type: ignore[arg-type]  # None starts a generator
        except StopIteration as stop:
            self.current, self.result = None, _counted(stop.value, self.asked)
            return
        if self._max_queries is not None and self.asked + current.size > self._max_queries:
            self._method.close()
            best = _budget_spent(current, self.asked, self._max_queries)
            self.current, self.result = None, _counted(best, self.asked)
            return
        if current.size > LARGEST_ROUND:
            self._method.close()
            raise BudgetError(
                f"the next step ({current.label}) needs {current.size:,} answers, {_queries(current)} asked "
                f"{current.repeats:,} times each: give a larger gamma, or max_queries to stop before",
                needed=self.asked + current.size,
                asked=self.asked,
            )
        self.current = current


def _counted(result: Any, asked: int) -> Any:
    return dataclasses.replace(result, queries=asked)


def _budget_spent(current: Round, asked: int, max_queries: int) -> Any:
    if current.estimate is None:
        spent = f"{asked} answers were used before" if asked else "nothing was asked"
        raise BudgetError(
            f"max_queries is {max_queries}, but the step '{current.label}' needs {current.size} answers "
            f"({_queries(current)}, {current.repeats} times each) and {spent}: give max_queries of at least "
            f"{asked + current.size}, or ask for less",
            max_queries=max_queries,
            needed=asked + current.size,
            asked=asked,
        )
    return current.estimate()


def _queries(current: Round) -> str:
    return counted(current.queries.shape[0], "query", "queries")


def _ask(
    current: Round, oracle: Oracle, record: Record, asked: int, max_queries: int | None, progress: ProgressHook | None
) -> Asked:
    q, parts = current.queries.shape[0], list[Asked]()
    rows = min(-(-q // CALLS_PER_ROUND), rows_at_once(current.queries, oracle))
    rows = -(-rows // current.block) * current.block  # a block is never parted
    for start in range(0, q, rows):
        queries = current.queries[start : start + rows]
        done = start * current.repeats
        try:
            part = answered(oracle, queries, current.repeats, current.block, asked + done, start)
        except BaseException as error:
            record.extend(_came(error, queries, current.repeats, record))
            if isinstance(error, OracleError):
                raise _with_record(f"{error} ({current.label})", record, error.data) from None
            if not isinstance(error, Exception):
                raise  # Ctrl-C
            last, n = start + queries.shape[0] - 1, queries.shape[1]
            where = f"{current.label}, queries {start} to {last}, of {counted(n, 'number', 'numbers')} each"
            what = f"the oracle raised {type(error).__name__}: {one_line(error)}"
            if isinstance(error, TypeError) and not passed_through(error):  # it takes other arguments
                what += f"; it is called as oracle(queries, repeats): give a function that takes both ({where})"
            else:
                what += f" ({raised_at(error)}; {where})"
            raise _with_record(what, record, {}) from error
        parts.append(part)
        record.append(part)
        if progress is not None:
            done += len(part)
            progress(Progress(current.label, done, current.size, asked + done, max_queries))
    return Asked.join(parts)


def _came(error: BaseException, queries: Array, repeats: int, record: Record) -> Record:
    """Return what a call had received when it failed: paid for as well. Nobody is known to be linked."""
    if is_exact(queries):
        return []
    y = usable(getattr(error, "received", None), queries.shape[0], repeats)
    rows, columns = np.nonzero(np.isfinite(y))
    if not len(rows):
        return []
    first = max((int(part.group.max(initial=-1)) for part in record), default=-1) + 1
    return [Asked(queries[rows], y[rows, columns], first + np.arange(len(rows)))]


def _with_record(what: str, record: Record, data: dict[str, Any]) -> OracleError:
    """Return the error that carries the answers so far; `what` is its message without where they are."""
    data = {name: value for name, value in data.items() if name not in ("record", "what")}  # of a run in the oracle
    count = sum(len(part) for part in record)
    kept = f"the {count} answers received before are in the exception's `record`" if count else "no answer came before"
    return OracleError(f"{what}; {kept}", **data, what=what, record=record)
