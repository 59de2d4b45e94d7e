"""Rows that tell no order: hand-outs and answers are kept by random numbers, and written again among others."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

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

    The rows beside a new one, in the order of the random numbers, are removed and inserted again together with it:
    neither the place in a page nor the transaction that wrote a row tells it from these.
    """
    study, number = rows[0]["study"], secrets.choice(rows)["ticket"]
    key = table.c.ticket
    below = of_study(study, table, key < number).order_by(key.desc()).limit(NEIGHBOURS)
    above = of_study(study, table, key > number).order_by(key).limit(NEIGHBOURS)
    beside = [dict(row) for part in (below, above) for row in connection.execute(part).mappings()]
    if beside:
        again = sorted(row["ticket"] for row in beside)  # no other row is between them
        connection.execute(table.delete().where(table.c.study == study, key.between(again[0], again[-1])))
    connection.execute(table.insert(), sorted([*beside, *rows], key=lambda row: row["ticket"]))
