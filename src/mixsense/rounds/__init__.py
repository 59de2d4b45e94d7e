"""How a method asks, and the drivers that carry its rounds to an oracle."""

from mixsense.rounds.drive import (
    CALLS_PER_ROUND,
    LARGEST_ANSWER,
    LARGEST_ROUND,
    Record,
    Steps,
    checked_answers,
    run,
)
from mixsense.rounds.round import Method, Oracle, Progress, ProgressHook, Round

__all__ = [
    "CALLS_PER_ROUND",
    "LARGEST_ANSWER",
    "LARGEST_ROUND",
    "Method",
    "Oracle",
    "Progress",
    "ProgressHook",
    "Record",
    "Round",
    "Steps",
    "checked_answers",
    "run",
]
