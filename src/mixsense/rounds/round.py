"""How a method asks: it yields a `Round`, is sent what was `Asked`, and in the end returns its result.

A method never talks to an oracle. It is a generator, and the same one runs against a simulation, a function, a service,
a file of recorded answers, or people who answer next week.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.errors import InvalidInput
from mixsense.rounds.vectors import as_answers, as_held, as_rows, stacked

LARGEST = 2**62
"""No round repeats a query more often than this, which a database can still hold."""


@dataclass(frozen=True, slots=True)
class Round:
    """q query vectors, each to be asked `repeats` times.

    Parameters
    ----------
    queries : (q, n) array
        The query vectors: floats, SciPy's CSR rows where most entries are 0, or an array of `fractions.Fraction` where
        answers have to be exact. An oracle that does not say that it takes such rows is sent floats.
    repeats : int
        How often each is asked.
    block : int
        This many consecutive queries want one respondent, so that their answers share a hidden model. 1: nobody is
        linked.
    label : str
        What these answers are for, shown as progress.
    estimate : callable, optional
        Gives the method's result from the answers so far; what a driver returns when it must stop here.
        The rounds before a first estimate have none.
    least : int, optional
        The method can go on with this many answers, to these queries or to any that it asked before; the others may
        come with any later round. None: all are needed. A study makes use of it where somebody asks, and all questions
        of the round are out; other drivers wait for all answers.

    Examples
    --------
    >>> Round(np.eye(3), 10, label="basis").size
    30
    """

    queries: Array
    repeats: int = 1
    block: int = 1
    label: str = ""
    estimate: Callable[[], Any] | None = None
    least: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", as_held(self.queries))
        for name in ("repeats", "block", "least"):
            value = getattr(self, name)
            if value is None and name == "least":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= LARGEST:
                raise InvalidInput(f"{name} of a round is {value!r}; it must be a whole number of at least 1")
            object.__setattr__(self, name, int(value))  # NumPy's own would overflow
        if not isinstance(self.label, str) or not self.label.isprintable():
            raise InvalidInput(f"the label of a round is {self.label!r}: give printable text")
        if self.estimate is not None and not callable(self.estimate):
            raise InvalidInput(f"the estimate of a round is {self.estimate!r}: give a function, or None")
        if self.least is not None and self.least > self.size:
            raise InvalidInput(f"least is {self.least}, but the round has {self.size} answers: give at most that")

    @property
    def size(self) -> int:
        """Number of answers that this round costs."""
        return int(self.queries.shape[0]) * self.repeats


class Asked:
    """What came back: one row an answer.

    Parameters
    ----------
    queries : (N, n) array_like
        The queries that were really asked, which a store or a box may have changed: a method uses these, never those
        that it sent.
    answers : (N,) array_like
        The answers to them.
    group : (N,) array_like of int, optional
        Answers with the same number are known to share a hidden model. All different by default.

    Examples
    --------
    >>> asked = Asked.of_round(np.eye(2), np.array([[1.0, 1.1, 0.9], [5.0, 5.1, 4.9]]))
    >>> asked
    Asked(6 answers to 2 queries)
    >>> asked.queries.shape, asked.answers, asked.group
    ((6, 2), array([1. , 1.1, 0.9, 5. , 5.1, 4.9]), array([0, 1, 2, 3, 4, 5]))
    >>> asked.table().mean(axis=1)
    array([1., 5.])
    """

    # A query that was asked a thousand times is held once: `vectors` are the different ones, `place` says which of them
    # each answer belongs to.
    __slots__ = ("alone", "answers", "group", "place", "vectors")

    vectors: Array
    """(q, n), the query vectors in the order of the round, each once."""
    place: Index
    """(N,), the row of `vectors` that an answer belongs to, ascending."""
    answers: Array
    group: Index
    alone: bool
    """Nobody has said that answers belong together: the numbers of their groups begin at 0, whatever came before."""

    def __init__(self, queries: ArrayLike, answers: ArrayLike, group: ArrayLike | None = None) -> None:
        X, y = as_rows(queries), as_answers(answers)
        if X.ndim != 2 or y.shape != X.shape[:1]:
            raise InvalidInput(f"queries {X.shape} and answers {y.shape} do not match: give (N, n) and (N,)")
        self._set(X, np.arange(len(y)), y, group)

    def _set(self, vectors: Array, place: Index, answers: Array, group: ArrayLike | None) -> None:
        self.alone = group is None
        group = np.arange(len(answers)) if group is None else np.asarray(group, dtype=np.intp)
        if group.shape != answers.shape:
            raise InvalidInput(f"group has shape {group.shape}: give one number for each of {len(answers)} answers")
        self.vectors, self.place, self.answers, self.group = vectors, place, answers, group

    @classmethod
    def of_round(cls, vectors: ArrayLike, answers: ArrayLike, group: ArrayLike | None = None) -> Asked:
        """Make it of q queries (q, n) and their answers (q, repeats), with groups of the same shape."""
        X, y = as_rows(vectors), as_answers(answers)
        if X.ndim != 2 or y.ndim != 2 or X.shape[0] != len(y):
            raise InvalidInput(f"queries {X.shape} and answers {y.shape} do not match: give (q, n) and (q, repeats)")
        self = cls.__new__(cls)
        flat = None if group is None else np.asarray(group).reshape(-1)
        self._set(X, np.repeat(np.arange(len(y)), y.shape[1]), y.reshape(-1), flat)
        return self

    @classmethod
    def join(cls, parts: Sequence[Asked]) -> Asked:
        """Put several into one, in their order."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(part.vectors.shape[0] for part in parts[:-1])])
        place = np.concatenate([part.place + start for part, start in zip(parts, starts, strict=True)])
        self = cls.__new__(cls)
        answers, group = (np.concatenate([getattr(part, name) for part in parts]) for name in ("answers", "group"))
        self._set(stacked([part.vectors for part in parts]), place, answers, group)
        return self

    @property
    def queries(self) -> Array:
        """(N, n), the query of each answer."""
        alone = np.array_equal(self.place, np.arange(self.vectors.shape[0]))
        return self.vectors if alone else self.vectors[self.place]

    def batches(self) -> list[Array]:
        """Return the answers to each of the q queries."""
        ends = np.searchsorted(self.place, np.arange(1, self.vectors.shape[0]))
        return np.split(self.answers, ends)

    def table(self) -> Array:
        """Return the answers as (q, repeats); every query must have equally many."""
        q = self.vectors.shape[0]
        repeats, rest = divmod(len(self.answers), q)
        if rest or not np.array_equal(self.place, np.repeat(np.arange(q), repeats)):
            raise InvalidInput("some answers of the round are missing: use batches() instead of table()")
        return self.answers.reshape(q, repeats)

    def moved(self, change: Callable[[Array], Array]) -> Asked:
        """Return the same answers with changed query vectors."""
        return self._with(change(self.vectors), self.answers)

    def lowered(self, level: float) -> Asked:
        """Return the same queries with this much less as each answer."""
        return self._with(self.vectors, self.answers - level)

    def _with(self, vectors: Array, answers: Array) -> Asked:
        other = Asked.__new__(Asked)
        other._set(vectors, self.place, answers, self.group)
        return other

    def __len__(self) -> int:
        return len(self.answers)

    def __repr__(self) -> str:
        return f"Asked({len(self.answers):,} answers to {self.vectors.shape[0]:,} queries)"


Record = list[Asked]
"""What was asked and answered so far."""


def block_groups(q: int, repeats: int, block: int, first: int = 0) -> Index:
    """Return the group of each answer, (q, repeats), if `block` consecutive queries go to one respondent.

    Examples
    --------
    >>> block_groups(4, 2, 2)
    array([[0, 1],
           [0, 1],
           [2, 3],
           [2, 3]])
    """
    return first + (np.arange(q) // block)[:, None] * repeats + np.arange(repeats)


class Oracle(Protocol):
    """Anything that answers: ``oracle(queries, repeats)`` with queries (q, n) gives answers (q, repeats).

    The queries are an array of floats. One whose attribute `takes_sparse` is True is given SciPy's CSR rows where a
    method has such; one whose attribute `exact` is True may be given fractions, and then answers with fractions.
    """

    def __call__(self, queries: Array, repeats: int, /) -> ArrayLike:
        """Answer each query `repeats` times."""


@runtime_checkable
class GroupedOracle(Protocol):
    """An oracle that also knows which of its answers share a hidden model."""

    def asked(self, queries: Array, repeats: int, block: int) -> Asked:
        """Answer each query `repeats` times; equal groups mean one hidden model, over all calls."""


def knows_groups(oracle: Any) -> TypeGuard[GroupedOracle]:
    """Return whether an oracle says itself which of its answers share a hidden model."""
    return isinstance(oracle, GroupedOracle) and callable(oracle.asked)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands; given to the progress hook after every call of the oracle.

    Examples
    --------
    >>> import mixsense as ms
    >>> seen, pair = [], ms.random_pair(20, 2, gap=3.0, seed=1)
    >>> r = ms.recover(ms.SimulatedOracle(pair, 0.0), 20, sigma=0.0, gamma=0.0, seed=2, progress=seen.append)
    >>> seen[-1].asked == r.queries, seen[-1].max_queries
    (True, None)
    """

    label: str
    """What the current round is for."""
    done: int
    """Answers received in this round."""
    total: int
    """Answers that this round takes."""
    asked: int
    """Answers received in the whole run."""
    max_queries: int | None
    """The budget, if there is one."""


R = TypeVar("R")
Method = Generator[Round, Asked, R]
"""What a method is: yields rounds, receives what was asked, returns its result."""
ProgressHook = Callable[[Progress], None]
