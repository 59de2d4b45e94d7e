"""What is read of a study to report on it: counts, and every answer with its query. Nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.storage import deleted
from mixsense.studies.storage.tables import answers, ends, leases, of_study, queries, rounds, sa, tickets


@dataclass(frozen=True, slots=True)
class Counts:
    """Where a study stands, in numbers; `size`, `answered` and `out` are about the questions of the current round."""

    round: int
    label: str
    size: int
    answered: int
    out: int
    total: int
    surplus: int
    expired: int
    at_low: int
    at_high: int
    end: str | None


class Reports:
    """What is read of one study."""

    def __init__(self, database: Database, study: int) -> None:
        self._database = database
        self._study = study

    def counts(self, now: float, low: float | None, high: float | None) -> Counts:
        """Return where the study stands at a time in minutes; `low` and `high` are the ends of the answers' range.

        One statement, so that the numbers belong together.
        """
        last = sa.select(sa.func.max(rounds.c.round)).where(rounds.c.study == self._study).scalar_subquery()

        def count(table: sa.Table, *conditions: Any) -> Any:
            return sa.select(sa.func.count()).select_from(table).where(table.c.study == self._study, *conditions)

        used = sa.not_(answers.c.surplus)
        at = [answers.c.value <= low, answers.c.value >= high] if low is not None else [sa.false(), sa.false()]
        before = sa.select(sa.func.coalesce(sa.func.sum(rounds.c.size), 0))
        highest = sa.select(sa.func.coalesce(sa.func.max(tickets.c.slot) + 1, 0))
        columns = {
            "answered": count(answers, used, answers.c.round == last),
            "handed": highest.where(tickets.c.study == self._study, tickets.c.round == last),
            "out": count(leases, leases.c.round == last, leases.c.until > now),
            "total": count(answers, used),
            "surplus": count(answers, answers.c.surplus),
            "tickets": count(tickets),
            "earlier": before.where(rounds.c.study == self._study, rounds.c.round < last),
            "at_low": count(answers, used, at[0]),
            "at_high": count(answers, used, at[1]),
            "end": sa.select(ends.c.status).where(ends.c.study == self._study),
        }
        wanted = [statement.scalar_subquery().label(name) for name, statement in columns.items()]
        with self._database.reading() as connection:
            found = connection.execute(
                sa.select(rounds, *wanted).where(rounds.c.study == self._study, rounds.c.round == last)
            ).first()
        if found is None:
            raise deleted()
        return Counts(
            round=found.round,
            label=found.label,
            size=found.size,
            answered=found.answered,
            out=found.out,
            total=found.total,
            surplus=found.surplus,
            expired=found.tickets - int(found.earlier) - found.handed,  # tickets beyond the first of each question
            at_low=found.at_low,
            at_high=found.at_high,
            end=found.end,
        )

    def answered(self) -> Iterator[dict[str, Any]]:
        """Yield every answer in the order of the questions: ticket, round, x, answer, surplus."""
        with self._database.reading() as connection:
            order = answers.c.round, answers.c.slot, answers.c.surplus, answers.c.ticket
            found = list(connection.execute(of_study(self._study, answers).order_by(*order)))
            x = self._queries(connection)
        for row in found:
            yield {
                "ticket": row.ticket,
                "round": row.round,
                "x": x(row.round, row.slot),
                "answer": row.value,
                "surplus": row.surplus,
            }

    def handed_out(self, numbers: set[int]) -> dict[int, Array]:
        """Return the query of each of these tickets; those that were never handed out are left out."""
        if not numbers:
            return {}
        with self._database.reading() as connection:
            within = tickets.c.ticket.between(min(numbers), max(numbers))
            found = [row for row in connection.execute(of_study(self._study, tickets, within)) if row.ticket in numbers]
            x = self._queries(connection)
        return {row.ticket: x(row.round, row.slot) for row in found}

    def _queries(self, connection: sa.Connection) -> Callable[[int, int], Array]:
        """Return a function that gives the query of a slot of a round."""
        repeats = {row.round: row.repeats for row in connection.execute(of_study(self._study, rounds))}
        rows = connection.execute(of_study(self._study, queries))
        x = {(row.round, row.query): np.frombuffer(row.x, dtype="<f8") for row in rows}
        return lambda number, slot: x[number, slot // repeats[number]]
