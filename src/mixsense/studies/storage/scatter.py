"""Rows that tell no order: hand-outs and answers are kept by random numbers, and written again among others."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from mixsense.studies.storage.access import as_numbers
from mixsense.studies.storage.tables import of_study, sa

SECRET_BITS = 17
NUMBER_BITS = 63
NEIGHBOURS = 64
"""Rows on either side of a new one that are written again with it. Taste: a page of SQLite holds about 100."""


class TicketName(NamedTuple):
    """What a ticket is called: a number and, unless an older mixsense counted it, a secret."""

    number: int
    secret: int | None


def new_ticket() -> TicketName:
    """Return the name of a new ticket: 80 random bits, from the system.

    The number is negative: those of older versions, which count, are positive, and such a program may still be at work.
    """
    return TicketName(-1 - secrets.randbits(NUMBER_BITS), secrets.randbits(SECRET_BITS))


def insert_scattered(connection: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert tickets or answers of one study such that their place in the database does not tell when they came.

    The rows beside each new one, in the order of the random numbers, are removed and inserted again together with it:
    neither the place in a page nor the transaction that wrote a row tells it from these. Where that would be as many as
    there are, all are.
    """
    study, key = rows[0]["study"], table.c.ticket
    count = sa.select(sa.func.count()).select_from(table).where(table.c.study == study)
    if connection.execute(count).scalar_one() <= 2 * NEIGHBOURS * len(rows):
        beside = _taken_out(connection, table, of_study(study, table))
    else:
        beside = []
        for number in sorted(row["ticket"] for row in rows):  # what one took out is beside the next one no more
            below = of_study(study, table, key < number).order_by(key.desc()).limit(NEIGHBOURS)
            above = of_study(study, table, key > number).order_by(key).limit(NEIGHBOURS)
            beside += _taken_out(connection, table, below, above)
    connection.execute(table.insert(), sorted([*beside, *rows], key=lambda row: row["ticket"]))


def _taken_out(connection: sa.Connection, table: sa.Table, *parts: sa.Select[Any]) -> list[dict[str, Any]]:
    """Remove rows of a study that have no other one between them, and return them."""
    names = table.c.keys()  # quicker than the rows' own: a batch takes out thousands
    found = [dict(zip(names, row, strict=True)) for part in parts for row in connection.execute(part).all()]
    if found:
        numbers = as_numbers(row["ticket"] for row in found)
        within = table.c.study == found[0]["study"], table.c.ticket.between(min(numbers), max(numbers))
        connection.execute(table.delete().where(*within))
    return found
