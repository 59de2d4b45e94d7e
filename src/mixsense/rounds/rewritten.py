"""A method whose rounds, answers and result are rewritten on their way; the method itself knows nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mixsense.recovery import Recovery
from mixsense.rounds.round import Asked, Method, Round


def rewritten(
    method: Method[Recovery],
    finish: Callable[[Recovery], Recovery],
    sent: Callable[[Round], Round] | None = None,
    told: Callable[[Asked], Asked] | None = None,
    estimates: bool = True,
) -> Method[Recovery]:
    """Run a method, and rewrite what passes between it and whoever drives it.

    Parameters
    ----------
    method : generator
        The method.
    finish : callable
        Makes the result of the method's result.
    sent : callable, optional
        Makes the round that is asked of the method's round: the same by default.
    told : callable, optional
        Makes what the method is told of what was asked: the same by default.
    estimates : bool
        Whether the estimates of the rounds pass through `finish`, too.
    """
    asked: Any = None
    while True:
        try:
            current = method.send(asked)
        except StopIteration as stop:
            return finish(stop.value)
        current = current if sent is None else sent(current)
        if estimates and current.estimate is not None:
            current = replace(current, estimate=_then(current.estimate, finish))
        asked = yield current
        asked = asked if told is None else told(asked)


def _then(estimate: Callable[[], Recovery], finish: Callable[[Recovery], Recovery]) -> Callable[[], Recovery]:
    return lambda: finish(estimate())
