"""Drives sub-steps of a method, which return no recovery and so are nothing for `ms.run`."""

from __future__ import annotations

from mixsense.rounds import answered


def drive(method, oracle):
    """Carry the rounds of a sub-step to an oracle; returns its value and the rounds."""
    rounds, asked = [], None
    while True:
        try:
            current = method.send(asked)
        except StopIteration as stop:
            return stop.value, rounds
        rounds.append(current)
        asked = answered(oracle, current.queries, current.repeats)
