"""A recovery as a table, in text and in HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixsense.errors import InvalidInput
from mixsense.recovery.statuses import STATUSES

if TYPE_CHECKING:
    from mixsense.recovery.result import Recovery

MOST_COEFFICIENTS = 25
"""A table lists at most this many coefficients, the largest."""
WORTH_LISTING = 0.01
"""Coefficients below this share of the largest are not listed."""
WORTH_PRINTING = 0.0005
"""A listed coefficient below this share of the largest is printed as a dot."""
TITLES = ("coefficient", "vector 1", "vector 2")
"""The head of the table."""


class Table(NamedTuple):
    """What a table of a recovery says."""

    headline: str
    rows: list[tuple[str, ...]]
    notes: list[str]
    """What stands below the rows."""
    warnings: list[str]


def as_table(recovery: Recovery, names: Sequence[str] | None = None) -> Table:
    """Return the largest coefficients of a recovery, with their errors, by name or by position."""
    rows, hidden = _rows(recovery, names)
    notes = [f"({hidden} smaller coefficients are not shown)"] if hidden else []
    return Table(_headline(recovery), rows, notes, recovery.diagnostics.get("warnings", []))


def as_text(table: Table) -> str:
    """Return a table as lines of text, with aligned columns."""
    every = [TITLES, *table.rows]
    first, *others = (max(len(row[column]) for row in every) for column in range(len(TITLES)))
    lines = [
        "  ".join([row[0].ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], others, strict=True))])
        for row in every
    ]
    return "\n".join([table.headline, *lines, *table.notes, *(f"warning: {text}" for text in table.warnings)])


def as_html(table: Table) -> str:
    """Return a table as HTML, as a notebook shows it."""
    head = "".join(f"<th>{title}</th>" for title in TITLES)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    notes = "".join(f"<p>{note}</p>" for note in table.notes)
    warnings = "".join(f"<p>⚠ {html.escape(text)}</p>" for text in table.warnings)
    return (
        f"<p><b>mixsense</b> {html.escape(table.headline)}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{notes}{warnings}"
    )


def _headline(recovery: Recovery) -> str:
    bound, weights = recovery.error_bound, recovery.weights
    error = f"error at most {bound:.3g}" if math.isfinite(bound) else "no error bound"
    shares = "" if weights[0] == weights[1] else f", shares {weights[0]:.2f} and {weights[1]:.2f}"
    return f"{recovery.status}: {STATUSES[recovery.status]}; {recovery.queries:,} answers, {error}{shares}"


def _rows(recovery: Recovery, names: Sequence[str] | None) -> tuple[list[tuple[str, ...]], int]:
    """Return the rows, and how many coefficients worth listing have no place in them."""
    vectors, stderr = recovery.vectors, recovery.stderr
    n = vectors.shape[1]
    names = recovery.names if names is None else list(names)
    if names is not None and len(names) != n:
        raise InvalidInput(f"{len(names)} names for {n} coefficients: give one name for each", names=names)
    size = np.abs(vectors).max(axis=0)
    worth = np.flatnonzero(size > WORTH_LISTING * size.max(initial=0.0))
    listed = worth[np.argsort(-size[worth], kind="stable")][:MOST_COEFFICIENTS]

    def cell(i: int, j: int) -> str:
        error = "" if stderr is None else f" ± {stderr[i, j]:.3f}"
        return f"{vectors[i, j]:+.3f}{error}" if abs(vectors[i, j]) >= WORTH_PRINTING * size.max() else "·"

    labels = range(n) if names is None else names
    rows: list[tuple[str, ...]] = [(str(labels[j]), cell(0, j), cell(1, j)) for j in sorted(listed)]
    hidden = len(worth) - len(rows)
    if recovery.intercept is not None:
        errors = np.full(2, np.nan) if recovery.intercept_stderr is None else recovery.intercept_stderr
        cells = [f"{a:+.3f} ± {e:.3f}" for a, e in zip(recovery.intercept, errors, strict=True)]
        rows.append(("(intercept)", *cells))
    return rows, hidden
