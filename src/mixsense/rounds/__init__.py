"""How a method asks, and the drivers that carry its rounds to an oracle."""

from mixsense.rounds.answers import (
    LARGEST_ANSWER,
    TOO_MANY_AT_AN_END,
    answered,
    carry,
    checked_answers,
    handed_over,
    usable,
)
from mixsense.rounds.cases import Cases, in_cases
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
from mixsense.rounds.vectors import as_sparse, dense, for_oracle, is_exact, is_sparse, unlike

__all__ = [
    "CALLS_PER_ROUND",
    "LARGEST_ANSWER",
    "LARGEST_ROUND",
    "TOO_MANY_AT_AN_END",
    "Asked",
    "Cases",
    "GroupedOracle",
    "Method",
    "Oracle",
    "Progress",
    "ProgressHook",
    "Record",
    "Round",
    "Steps",
    "answered",
    "as_sparse",
    "block_groups",
    "carry",
    "checked_answers",
    "dense",
    "for_oracle",
    "handed_over",
    "in_cases",
    "is_exact",
    "is_sparse",
    "knows_groups",
    "run",
    "unlike",
    "usable",
]
