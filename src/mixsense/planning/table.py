"""What `plan` returns: a table, one row a method."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mixsense.errors import InvalidInput

PEOPLE_NOTE = (
    "frugal, certified, typical: enough of each kind in 9 of 10, if it is known which answers are one person's (block, "
    "respondent); the others as if each answer came from somebody else"
)
"""What has to be said beside every number of people."""
BOX_NOTE = "planned for queries of any size; where features stay within ranges, a certificate takes 150 to 250 at least"
"""What has to be said to those who have a box."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one method needs, or reaches.

    Attributes
    ----------
    method : str
        "theorem", "paper", "frugal", "certified", "typical", "tagged", with a grid "coloring" and "lattice";
        "printed", "noiseless", "frugal", "coloring", "polynomial" and "steps" where σ = 0.
    queries : int or None
        Number of answers; None if the method cannot do it with the budget, or at all.
    gamma : float or None
        The precision: as asked for, or what the budget gives.
    people : int or None
        Number of people, with `per_person` answers each.
    note : str
        What the number means.
    """

    method: str
    queries: int | None
    gamma: float | None
    people: int | None
    note: str


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """A table: one row a method.

    Attributes
    ----------
    inputs : dict
        What was asked.
    rows : tuple of Row
        ``plan["frugal"]`` is one of them by name.
    extrapolated : tuple of str
        Which inputs lie outside what the formula for the frugal method was calibrated on.
    """

    inputs: dict[str, Any]
    rows: tuple[Row, ...]
    extrapolated: tuple[str, ...] = ()

    def __getitem__(self, method: str) -> Row:
        for row in self.rows:
            if row.method == method:
                return row
        raise InvalidInput(f"the plan has no row {method!r}: it has {', '.join(r.method for r in self.rows)}")

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _headline(self) -> str:
        symbols = {"sigma": "σ", "gamma": "γ", "eta": "η", "per_person": "answers a person"}
        return ", ".join(f"{symbols.get(name, name)} = {_brief(v)}" for name, v in self.inputs.items() if v is not None)

    def _table(self) -> list[tuple[str, ...]]:
        """Cells, the head first; the column that was asked for comes first."""
        budget = self.inputs["budget"] is not None
        cells: dict[str, list[str]] = {"method": [r.method for r in self.rows]}
        if budget:
            cells["γ to expect"] = ["–" if r.gamma is None else f"{r.gamma:.3g}" for r in self.rows]
        else:
            cells["answers"] = [count(r.queries) for r in self.rows]
        if self.inputs["per_person"]:
            cells["people"] = [count(r.people) for r in self.rows]
        cells["note"] = [r.note for r in self.rows]
        return [tuple(cells), *zip(*cells.values(), strict=True)]

    def __str__(self) -> str:
        table = self._table()
        first, *others = (max(len(row[i]) for row in table) for i in range(len(table[0]) - 1))
        lines = [
            "  ".join([row[0].ljust(first), *(c.rjust(w) for c, w in zip(row[1:-1], others, strict=True)), row[-1]])
            for row in table
        ]
        return "\n".join([self._headline(), *lines, *self._remarks()])

    def _remarks(self) -> list[str]:
        notes = [f"people: {PEOPLE_NOTE}"] if (self.inputs["per_person"] or 1) > 1 else []
        if self.inputs["sigma"]:
            notes.append(f"box: {BOX_NOTE}")
        return notes + [f"extrapolated: {text}" for text in self.extrapolated]

    __repr__ = __str__  # what a prompt shows

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        top = "".join(f"<th>{html.escape(c)}</th>" for c in head)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in row)}</tr>" for row in rows)
        more = "".join(f"<p>{html.escape(text)}</p>" for text in self._remarks())
        return (
            f"<p><b>plan</b> {html.escape(self._headline())}</p>"
            f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{more}"
        )

    def to_json(self) -> str:
        """Return the plan as JSON; "remarks" are the lines below the table.

        Examples
        --------
        >>> import mixsense as ms
        >>> json.loads(ms.plan(100, 5, sigma=1.0, gap=2.0, gamma=0.1).to_json())["rows"][2]["method"]
        'frugal'
        """
        return json.dumps({**asdict(self), "remarks": self._remarks()}, indent=2, ensure_ascii=False)


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        return _scale_text(**value)
    return f"{value:g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _scale_text(scale: str, range: Sequence[float] = (), step: float | None = 1.0, digits: int | None = None) -> str:
    """Return a scale in words.

    Examples
    --------
    >>> _scale_text("rating", [1.0, 7.0]), _scale_text("rating", [0.0, 10.0], 0.5), _scale_text("probability", digits=2)
    ('rating from 1 to 7', 'rating from 0 to 10 in steps of 0.5', 'probability with 2 digits')
    """
    if scale == "rating":
        low, high = range
        steps = "" if step == 1 or step is None else f" in steps of {step:g}" if step else ", not rounded"
        return f"rating from {low:g} to {high:g}{steps}"
    return scale if digits is None else f"{scale} with {digits} digits"


def count(number: int | None) -> str:
    """Return a number of answers for people to read.

    Examples
    --------
    >>> count(12345), count(5 * 10**11), count(None)
    ('12,345', '5.0e+11', '–')
    """
    return "–" if number is None else f"{number:,}" if number < 10**9 else f"{number:.1e}"
