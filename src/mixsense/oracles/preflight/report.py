"""What a preflight found: one verdict for each check, as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

OK, NOTE, PROBLEM = "ok", "note", "problem"
"""The levels of a verdict."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check found: its name, "ok", "note" or "problem", and a line that explains it."""

    name: str
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Preflight:
    """What is known of an oracle before it is asked.

    Parameters
    ----------
    verdicts : tuple of Verdict
        One for each check, in the order in which they were made.
    requests : int
        Answers that this took; retries come on top.
    block : int
        How many consecutive questions one caller is to be asked.
    """

    verdicts: tuple[Verdict, ...]
    requests: int
    block: int = 1

    @property
    def problems(self) -> tuple[Verdict, ...]:
        """The verdicts that speak against asking this oracle."""
        return tuple(verdict for verdict in self.verdicts if verdict.level == PROBLEM)

    def __getitem__(self, name: str) -> Verdict:
        """Return a verdict by its name."""
        return next(verdict for verdict in self.verdicts if verdict.name == name)

    def summary(self) -> str:
        """Return the verdicts as text, one on each line."""
        lines = [f"preflight: {self.requests} answers"]
        return "\n".join(lines + [f"  {v.level:<8} {v.name:<9} {v.text}" for v in self.verdicts])

    def to_dict(self) -> dict[str, Any]:
        """Return what can be stored as JSON; `from_dict` reads it."""
        verdicts = [asdict(verdict) for verdict in self.verdicts]
        return {"requests": self.requests, "verdicts": verdicts, "block": self.block}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Preflight:
        """Return a stored preflight."""
        verdicts = tuple(Verdict(**verdict) for verdict in data["verdicts"])
        return cls(verdicts, data["requests"], data.get("block", 1))  # older ones have none
