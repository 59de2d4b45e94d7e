"""How a method asks: it yields a `Round`, is sent the answers, and in the end returns its result.

A method never talks to an oracle. It is a generator, and the same one runs against a simulation, a function, a service,
a file of recorded answers, or people who answer next week.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.errors import InvalidInput


class Oracle(Protocol):
    """Anything that answers: ``oracle(queries, repeats)`` with queries (q, n) gives answers (q, repeats)."""

    def __call__(self, queries: Array, repeats: int, /) -> ArrayLike:
        """Answer each query `repeats` times."""


@dataclass(frozen=True, slots=True)
class Round:
    """q query vectors, each to be asked `repeats` times.

    Parameters
    ----------
    queries : (q, n) array
        The query vectors.
    repeats : int
        How often each is asked; the answers have shape (q, repeats).
    label : str
        What these answers are for, shown as progress.
    estimate : callable, optional
        Gives the method's result from the answers so far; what a driver returns when it must stop here.
        The rounds before a first estimate have none.

    Examples
    --------
    >>> Round(np.eye(3), 10, "basis").size
    30
    """

    queries: Array
    repeats: int
    label: str = ""
    estimate: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        queries = np.ascontiguousarray(self.queries, dtype=np.float64).view()
        if queries.ndim != 2 or 0 in queries.shape or not np.isfinite(queries).all():
            raise InvalidInput(f"a round's queries have shape {queries.shape}: give a (q, n) array of finite numbers")
        if self.repeats < 1:
            raise InvalidInput(f"a round repeats each query {self.repeats} times: give at least 1")
        queries.flags.writeable = False
        object.__setattr__(self, "queries", queries)

    @property
    def size(self) -> int:
        """Number of answers that this round costs."""
        return len(self.queries) * self.repeats

    def replay(self, queries: Array) -> None:
        """Put the queries that were really asked in the place of those that were drawn.

        A driver that goes on from a store does this before it sends the answers, so that another random stream cannot
        change what has been asked, nor how much. Methods read a round's queries after its answers have come.
        """
        if queries.ndim != 2 or queries.shape[1] != self.queries.shape[1]:
            raise InvalidInput(f"the round has queries of shape {self.queries.shape}, those replayed {queries.shape}")
        queries = np.ascontiguousarray(queries, dtype=np.float64).view()
        queries.flags.writeable = False
        object.__setattr__(self, "queries", queries)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands; given to the progress hook after every call of the oracle."""

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
Method = Generator[Round, Array, R]
"""What a method is: yields rounds, receives answers, returns its result."""
ProgressHook = Callable[[Progress], None]
