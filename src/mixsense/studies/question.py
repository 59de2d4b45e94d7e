"""What a study hands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mixsense.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question that was handed out: give its answer to `Study.tell` with its id.

    Attributes
    ----------
    id : str
        Of this hand-out. The same question handed out again has another one.
    x : (n,) array
        What to ask, in the user's units.
    names, units : tuple of str
        What the entries of x are, and their units.
    """

    id: str
    x: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return id and entries as plain values, for JSON."""
        return {"id": self.id, "x": dict(zip(self.names, self.x.tolist(), strict=True))}

    def __str__(self) -> str:
        parts = [
            f"{name} {x:.6g} {unit}".rstrip() for name, x, unit in zip(self.names, self.x, self.units, strict=True)
        ]
        return f"{self.id}: {', '.join(parts)}"
