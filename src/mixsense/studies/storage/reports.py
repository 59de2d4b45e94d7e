"""What is read of a study to report on it: counts, and every answer with its query. Nothing here writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mixsense.arrays import Array
from mixsense.checks import visible
from mixsense.studies.storage.access import Access, OfStudy
from mixsense.studies.storage.packing import as_vector
from mixsense.studies.storage.scatter import TicketName
from mixsense.studies.storage.tables import (
    answers,
    closed,
    computing,
    ends,
    leases,
    loose,
    queries,
    rounds,
    sa,
    tickets,
    unconfirmed,
)
from mixsense.studies.storage.turns import TURN, answered, holds


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
    unconfirmed: int
    least: int | None
    waiting: int
    """Answers, late and extra ones, that the next round will be computed with besides those of the current one."""
    closed: bool
    computing: bool
    groups: int
    alone: int
    """Answers that no group has."""


COUNTED = (*("answered", "out", "total", "surplus", "at_low", "at_high", "unconfirmed", "waiting", "groups", "alone"),)
"""The counts that are a column of their own."""


class Reports(OfStudy):
    """What is read of one study with n features."""

    def __init__(self, access: Access, n: int) -> None:
        super().__init__(access)
        self._n = n

    def counts(self, now: float, lease: float, low: float | None, high: float | None) -> Counts:
        """Return where the study stands.

        Parameters
        ----------
        now, lease : float
            The time, and how long a question is waited for, in minutes.
        low, high : float or None
            The ends of the answers' range.
        """
        with self._access.reading() as connection:
            found = connection.execute(self._counted(now, lease, low, high)).one()
            return Counts(
                round=int(found.round),
                label=visible(found.label),
                size=int(found.size),
                expired=found.tickets - found.handed,  # beyond the first of each question
                end=None if found.end is None else visible(found.end),
                least=None if found.least is None else int(found.least),
                closed=bool(found.closed),
                computing=bool(found.computing),
                **{name: getattr(found, name) for name in COUNTED},
            )

    def _counted(self, now: float, lease: float, low: float | None, high: float | None) -> sa.Select[Any]:
        """Return the statement that `counts` reads: the current round, and every number in the same moment."""
        last = sa.select(sa.func.max(rounds.c.round)).where(rounds.c.study == self._study).scalar_subquery()

        def count(table: sa.Table, *conditions: Any) -> Any:
            return sa.select(sa.func.count()).select_from(table).where(table.c.study == self._study, *conditions)

        used = sa.not_(answers.c.surplus)
        at = [answers.c.value <= low, answers.c.value >= high] if low is not None else [sa.false(), sa.false()]
        distinct = (
            sa.select(tickets.c.round, tickets.c.slot).where(tickets.c.study == self._study).distinct().subquery()
        )
        late = answered(loose.c.study == self._study, loose.c.came.is_(None)).subquery()
        known = answers.c.answer_group.distinct()
        columns = {
            "answered": count(answers, used, answers.c.round == last, answers.c.slot < rounds.c.size),
            "handed": sa.select(sa.func.count()).select_from(distinct),
            "out": count(leases, leases.c.round == last, holds(leases, now, lease)),
            "total": count(answers, used),
            "surplus": count(answers, answers.c.surplus),
            "tickets": count(tickets),
            "at_low": count(answers, used, at[0]),
            "at_high": count(answers, used, at[1]),
            "end": sa.select(ends.c.status).where(ends.c.study == self._study),
            "unconfirmed": count(unconfirmed),
            "waiting": sa.select(sa.func.count()).select_from(late),
            "closed": count(closed, closed.c.round == last),
            "computing": count(computing, holds(computing, now, TURN)),
            "groups": sa.select(sa.func.count(known)).where(answers.c.study == self._study, used),
            "alone": count(answers, used, answers.c.answer_group.is_(None)),
        }
        wanted = [statement.scalar_subquery().label(name) for name, statement in columns.items()]
        return sa.select(rounds, *wanted).where(rounds.c.study == self._study, rounds.c.round == last)

    def answered(self) -> list[dict[str, Any]]:
        """Return every answer in the order of the design: ticket, round, x, answer, surplus, group."""
        order = answers.c.round, answers.c.slot, answers.c.surplus, answers.c.ticket
        secret = sa.select(tickets.c.secret).where(tickets.c.study == self._study, tickets.c.ticket == answers.c.ticket)
        wanted = sa.select(answers, secret.scalar_subquery().label("secret"))
        with self._access.reading() as connection:
            x = self._queries(connection)
            found = connection.execute(wanted.where(answers.c.study == self._study).order_by(*order))
            return [
                {
                    "ticket": TicketName(int(row.ticket), None if row.secret is None else int(row.secret)),
                    "round": row.round,
                    "x": x(row.round, row.slot),
                    "answer": float(row.value),
                    "surplus": row.surplus,
                    "group": row.answer_group,
                }
                for row in found
            ]

    def handed_out(self, wanted: set[TicketName]) -> dict[TicketName, Array]:
        """Return the query of each of these tickets; those that were never handed out are left out."""
        if not wanted:
            return {}
        with self._access.reading() as connection:
            x = self._queries(connection)
            found = ((TicketName(row.ticket, row.secret), row) for row in connection.execute(self._of(tickets)))
            return {name: x(row.round, row.slot) for name, row in found if name in wanted}

    def respondents(self, wanted: set[TicketName]) -> dict[TicketName, int | None]:
        """Return the group of each of these tickets that has an answer, None if it has none, or was handed to one."""
        same = sa.and_(answers.c.study == tickets.c.study, answers.c.ticket == tickets.c.ticket)
        given = answers.c.answer_group.label("given"), answers.c.ticket.label("answer")
        both = sa.select(tickets, *given).join_from(tickets, answers, same, isouter=True)
        with self._access.reading() as connection:
            found: dict[TicketName, int | None] = {}
            for row in connection.execute(both.where(tickets.c.study == self._study)):
                name, group = TicketName(row.ticket, row.secret), row.answer_group if row.answer is None else row.given
                if name in wanted and not (row.answer is None and group is None):
                    found[name] = group
            return found

    def _queries(self, connection: sa.Connection) -> Callable[[int, int], Array]:
        """Return a function that gives the query of a slot of a round."""
        repeats = {row.round: row.repeats for row in connection.execute(self._of(rounds))}
        rows = connection.execute(self._of(queries))
        x = {(row.round, row.query): as_vector(row.x, self._n) for row in rows}
        asked = {(row.round, row.slot): row.query for row in connection.execute(self._of(loose))}
        return lambda number, slot: x[number, asked.get((number, slot), slot // repeats[number])]
