"""A recovery as a table, in text and in HTML."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import shown, visible
from mixsense.errors import InvalidInput
from mixsense.recovery.digits import DOT, UNKNOWN, Number, in_digits
from mixsense.recovery.fields import COLLINEAR, INTERCEPT
from mixsense.recovery.importance import PRINTED, choose, importance
from mixsense.recovery.statuses import ALL_DATA, STATUSES
from mixsense.recovery.uses import scale_or_none

if TYPE_CHECKING:
    from mixsense.recovery.result import Recovery

MOST_COEFFICIENTS = 25
"""A table lists at most this many coefficients, those furthest from 0 in standard errors; those that are clearly not 0
are all listed."""
SHARE_PLACES, MOST_SHARE_PLACES = 2, 4
"""Places after the point of a share: as many as show a digit of each standard error, within these limits: taste."""


class Row(NamedTuple):
    """A coefficient: what it is called, and its value in each vector."""

    name: str
    numbers: list[Number]


class Table(NamedTuple):
    """What a table of a recovery says."""

    headline: str
    titles: list[str]
    rows: list[Row]
    notes: list[str]
    """What stands below the rows."""
    warnings: list[str]


def as_table(recovery: Recovery, names: Sequence[str] | None = None, difference: bool = False) -> Table:
    """Return the coefficients of a recovery that stand out, with their errors, by name or by position.

    Parameters
    ----------
    recovery : Recovery
        What is shown.
    names : sequence of str, optional
        What the coefficients are called; the recovery's own names by default.
    difference : bool
        Of two models, a column says what the second one has more than the first.
    """
    choice = choose(recovery, MOST_COEFFICIENTS, recovery.diagnostics.get(COLLINEAR, ()))
    titles = ["coefficient", *(f"vector {i + 1}" for i in range(len(recovery.vectors)))]
    rows = _rows(recovery, choice.shown.tolist(), names)
    if difference and len(recovery.vectors) == 2 and recovery.status != "single":
        titles.append("difference, 2 − 1")
        rows = _with_differences(recovery, choice.shown.tolist(), rows)
    shrunk = "" if recovery.interval is None else ": estimates are shrunk towards 0, r.interval is not"
    notes = [f"({choice.note}{shrunk})"] if choice.note else [] if len(choice.shown) else ["(all coefficients are 0)"]
    if recovery.stderr is None and len(choice.shown) and np.any(np.asarray(recovery.sigma) != 0):  # 0: exact
        notes.append("(no ±: this method gives no standard errors)")
    notes += _scale_note(recovery)
    notes += [f"note: {text}" for text in told_notes(recovery)]
    warnings = [visible(text) for text in recovery.diagnostics.get("warnings", [])]
    return Table(_headline(recovery), titles, rows, notes, warnings)


def told_notes(recovery: Recovery) -> list[str]:
    """Return what the method noted."""
    told = recovery.diagnostics.get("notes", [])  # of a method of one's own it may be anything
    return [visible(str(text)) for text in (told if isinstance(told, (list, tuple)) else [told])]


def _scale_note(recovery: Recovery) -> list[str]:
    """Say what coefficients are about, where answers are no real numbers."""
    scale = scale_or_none(recovery)
    return [] if scale is None else [f"(of the linear value behind {scale.words}; predict() tells answers)"]


def as_text(table: Table) -> str:
    """Return a table as lines of text, with aligned columns."""
    names = [table.titles[0], *(row.name for row in table.rows)]
    widest = max(map(_width, names))
    columns = [[name + " " * (widest - _width(name)) for name in names]]
    for i, title in enumerate(table.titles[1:]):
        cells = aligned([row.numbers[i] for row in table.rows])
        width = max(map(len, (title, *cells)))
        columns.append([cell.rjust(width) for cell in (title, *cells)])
    lines = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
    return "\n".join([table.headline, *lines, *table.notes, *(f"warning: {text}" for text in table.warnings)])


def as_html(table: Table) -> str:
    """Return a table as HTML, as a notebook shows it."""
    head = "".join(f"<th>{title}</th>" for title in table.titles)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in (row.name, *row.numbers))}</tr>"
        for row in table.rows
    )
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    warnings = "".join(f"<p>⚠ {html.escape(text)}</p>" for text in table.warnings)
    return (
        f"<p><b>mixsense</b> {html.escape(table.headline)}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{notes}{warnings}"
    )


def aligned(numbers: list[Number]) -> list[str]:
    r"""Return the numbers of a column as texts of equal length, with the points below each other, and the errors.

    Examples
    --------
    >>> print(*aligned([Number("-2.61", "0.19"), Number("+12350", "1400")]), sep="\n")
        -2.61 ± 0.19
    +12350    ± 1400
    """
    points = [len(re.match("[^.e]*", number.value)[0]) for number in numbers]  # type: ignore[index]  # matches always
    first = max(points, default=0)
    texts = [" " * (first - point) + number.value for number, point in zip(numbers, points, strict=True)]
    last = max(map(len, texts), default=0)
    if any(number.error for number in numbers):
        error = max(len(number.error) for number in numbers)
        ends = [f" ± {number.error.ljust(error)}" if number.error else " " * (3 + error) for number in numbers]
        texts = [text.ljust(last) + end for text, end in zip(texts, ends, strict=True)]
    return [text.ljust(last) for text in texts]


def error_text(bound: float) -> str:
    """Say what the error bound is."""
    return f"error at most {bound:.3g}" if math.isfinite(bound) else "no error bound"


def share_texts(recovery: Recovery) -> list[str]:
    """Return the shares as texts, with their standard errors if they were estimated; none if they tell nothing.

    An error of 1 or more says that a share is anything: it belongs to two models that cannot be told apart.

    Examples
    --------
    >>> from mixsense.recovery import Recovery
    >>> share_texts(Recovery(np.eye(2), "open", weights=[0.6, 0.4], weights_stderr=[0.03, 0.03]))
    ['0.60 ± 0.03', '0.40 ± 0.03']
    """
    weights, stderr = recovery.weights, recovery.weights_stderr
    if len(weights) == 1 or (stderr is None and not np.ptp(weights)):
        return []
    errors = np.full(len(weights), np.nan) if stderr is None else stderr
    least = min((e for e in errors if 0 < e < 1), default=1.0)
    places = min(max(SHARE_PLACES, -math.floor(math.log10(least))), MOST_SHARE_PLACES)
    return [
        f"{share:.{places}f}" + (f" ± {error:.{places}f}" if error < 1 else "")
        for share, error in zip(weights, errors, strict=True)
    ]


def _headline(recovery: Recovery) -> str:
    error, shares = error_text(recovery.error_bound), share_texts(recovery)
    *first, last = shares or [""]
    told = f", shares {', '.join(first)} and {last}" if shares else ""
    given = recovery.status == "budget" and recovery.diagnostics.get("method") == "fit"  # nothing ran out
    meaning = ALL_DATA if given else STATUSES[recovery.status]
    return f"{recovery.status}: {meaning}; {recovery.queries:,} answers, {error}{told}"


def _rows(recovery: Recovery, listed: list[int], names: Sequence[str] | None) -> list[Row]:
    vectors, stderr, weight = recovery.vectors, recovery.stderr, importance(recovery)
    L, n = vectors.shape
    names = recovery.names if names is None else _checked(names, n)

    collinear = {*recovery.diagnostics.get(COLLINEAR, ())}

    def name(j: int) -> str:
        known = str(j) if names is None else visible(str(names[j]))
        return f"{known} (collinear)" if j in collinear else known

    def number(i: int, j: int) -> Number:
        if j in collinear:
            return UNKNOWN
        error = math.nan if stderr is None else stderr[i, j]
        return in_digits(vectors[i, j], error) if weight[i, j] >= PRINTED else DOT

    rows = [Row(name(j), [number(i, j) for i in range(L)]) for j in listed]
    if recovery.intercept is not None:
        errors = np.full(L, np.nan) if recovery.intercept_stderr is None else recovery.intercept_stderr
        rows.append(Row(INTERCEPT, [in_digits(a, e) for a, e in zip(recovery.intercept, errors, strict=True)]))
    return rows


def _with_differences(recovery: Recovery, listed: list[int], rows: list[Row]) -> list[Row]:
    """Return rows with what the second of two models has more than the first; errors add up as if independent."""

    def less(values: Array, errors: Array | None) -> list[Number]:
        error = np.full(values.shape[1:], np.nan) if errors is None else np.hypot(*errors)
        told = zip(values[1] - values[0], error, strict=True)
        return [DOT if abs(value) < PRINTED * e or not value else in_digits(value, e) for value, e in told]

    coefficients = less(recovery.vectors, recovery.stderr)
    column = [UNKNOWN if j in recovery.diagnostics.get(COLLINEAR, ()) else coefficients[j] for j in listed]
    if recovery.intercept is not None:
        errors = recovery.intercept_stderr
        column += less(recovery.intercept[:, None], None if errors is None else errors[:, None])
    return [Row(row.name, [*row.numbers, number]) for row, number in zip(rows, column, strict=True)]


def _checked(names: Sequence[str], n: int) -> Sequence[str]:
    if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray):
        raise InvalidInput(f"names is {shown(names)}: give a list of {n} names", names=names)
    if len(names) != n:
        raise InvalidInput(f"{len(names)} names for {n} coefficients: give one name for each", names=names)
    return names


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: East Asian letters two, accents that combine none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
