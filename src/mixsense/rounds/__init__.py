"""How a method asks, and the drivers that carry its rounds to an oracle."""

from mixsense.rounds.answers import LARGEST_ANSWER, TOO_MANY_AT_AN_END, answered, checked_answers
from mixsense.rounds.drive import CALLS_PER_ROUND, LARGEST_ROUND, Steps, run
from mixsense.rounds.round import (
    Asked,
    GroupedOracle,
    Method,
    Oracle,
    Progress,
    ProgressHook,
    Record,
    Round,
    block_groups,
    knows_groups,
)

__all__ = [
    "CALLS_PER_ROUND",
    "LARGEST_ANSWER",
    "LARGEST_ROUND",
    "TOO_MANY_AT_AN_END",
    "Asked",
    "GroupedOracle",
    "Method",
    "Oracle",
    "Progress",
    "ProgressHook",
    "Record",
    "Round",
    "Steps",
    "answered",
    "block_groups",
    "checked_answers",
    "knows_groups",
    "run",
]
