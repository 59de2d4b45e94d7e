"""What some oracles can do besides answering, declared: whoever needs an ability asks for it by isinstance."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.rounds import Oracle

Keep = Callable[[int, int, float], None]
"""What is done with each answer as it comes: (row, repeat, answer)."""


def keep_none(row: int, repeat: int, answer: float) -> None:
    """Do nothing with an answer: whoever asks gets all of them together."""


@runtime_checkable
class Callers(Protocol):
    """An oracle that can ask its service as callers of different kinds, to see whether the service is sticky."""

    @property
    def fresh(self) -> bool:
        """Whether every request has a connection of its own."""

    @property
    def sets_cookies(self) -> bool:
        """Whether the service set a cookie in an answer so far."""

    def caller(self, fresh: bool, cookies: bool) -> AbstractContextManager[Oracle]:
        """Return an oracle for the same service: with fresh connections or one; keeping cookies and id, or not."""


@runtime_checkable
class OneByOne(Protocol):
    """An oracle whose answers to one call come one after the other, and can be kept as they come."""

    def answer_each(self, queries: ArrayLike, repeats: int, block: int, keep: Keep) -> Array:
        """Answer each query `repeats` times; returns (q, repeats).

        `keep(row, repeat, answer)` is called for each answer before the same thread asks the next question; what it
        raises ends the call. If the oracle knows groups, `block` consecutive queries have one, as in `asked`.
        """


@runtime_checkable
class Stoppable(Protocol):
    """An oracle whose calls can be ended early, from a signal handler too."""

    def stop(self) -> None:
        """Let every call end soon."""


@runtime_checkable
class Watchful(AbstractContextManager[Any], Protocol):
    """An oracle that notices when more comes than it asked for, so that its answers may belong to other questions.

    It is closed at the end of a `with` block, where it looks for the last time.
    """

    @property
    def doubt(self) -> str | None:
        """Why the answers so far cannot be trusted; None if nothing speaks against them. Final once it is closed."""


@runtime_checkable
class Confirming(Watchful, Protocol):
    """An oracle whose answers may turn out to be wrong until it was closed and everything was looked at."""

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer each query `repeats` times; returns (q, repeats)."""

    def close(self) -> None:
        """Look at everything; if this is interrupted, calling it again goes on."""

    @property
    def confirmed(self) -> bool:
        """Whether nothing can come any more that would show an answer so far to be wrong."""
