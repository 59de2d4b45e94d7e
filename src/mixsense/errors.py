"""What can go wrong: each error says what was given, what is needed and what to do.

Every class here is also a `ValueError` (the caller's input) or a `RuntimeError` (what happened while
asking), so that code which knows nothing of mixsense can catch it too. The facts behind the message are
attributes of the exception: nobody has to parse text.
"""

from __future__ import annotations

from typing import Any


class MixsenseError(Exception):
    """Base of every error that mixsense raises on purpose.

    Parameters
    ----------
    message : str
        What was given, what is needed, what to do.
    **data
        The facts behind the message. Each becomes an attribute, and all stand in `data`.

    Examples
    --------
    >>> error = InvalidInput("k is 7, but n is 5: give k between 1 and 5", k=7, n=5)
    >>> error.k, isinstance(error, ValueError)
    (7, True)
    """

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data = data

    def __getattr__(self, name: str) -> Any:
        data = self.__dict__.get("data", {})
        if name in data:
            return data[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross process borders in sweeps; the default would drop the data.
        return _rebuild, (type(self), str(self), self.data)


def _rebuild(kind: type[MixsenseError], message: str, data: dict[str, Any]) -> MixsenseError:
    return kind(message, **data)


class InvalidInput(MixsenseError, ValueError):
    """An argument has the wrong type, shape or value. Nothing was asked, nothing was spent."""


class OracleError(MixsenseError, RuntimeError):
    """The oracle raised, or what it answered cannot be used.

    `record` holds every answer that was received, those of the call that failed included, so that nothing paid for is
    lost: ``ms.ReplayOracle(error.record, then=oracle)`` goes on from there. `received` are the answers of the call that
    failed, (q, repeats) with NaN where none came; an oracle of your own may raise it with them. `reply` is what came
    and is no answer. What each error has is in `data`.
    """


class Surplus(OracleError):
    """The oracle sent more than it was asked for: which answer belongs to which question is not known any more."""


class BudgetError(MixsenseError, RuntimeError):
    """The budget ends before there is any estimate, or a step needs more answers than anyone can hold.

    `record` holds the answers that were received until then, if any, and `asked` their number: 0 where the budget or
    the precision was wrong from the first step on.
    """


class ModelError(MixsenseError, RuntimeError):
    """The answers do not fit the model that the method assumes (for example noise where none may be).

    Like `OracleError`, it carries the `record` of every answer received.
    """


class StudyError(MixsenseError, RuntimeError):
    """A study cannot say or store what is asked of it now: its database fails, or there is no estimate yet."""
