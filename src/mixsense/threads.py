"""How many threads linear algebra takes: one, since the matrices of a fit are small."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Let linear algebra use one thread for a while, and as many as before afterwards.

    On a busy machine threads that wait for each other take many times as long as one; and with one, sums come in the
    same order everywhere.

    Examples
    --------
    >>> with one_thread():
    ...     pass
    """
    return _libraries().limit(limits=1)  # type: ignore[no-any-return]


@cache
def _libraries() -> Any:
    """Return the libraries that are there once NumPy and SciPy are loaded: to look for them takes milliseconds."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
