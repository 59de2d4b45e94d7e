"""How a study's questions are handed out, its answers taken, and its rounds kept: each method is one transaction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.errors import InvalidInput, StudyError
from mixsense.rounds import Asked, Round
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.tables import answers, ends, leases, of_study, queries, rounds, sa, studies, tickets


@dataclass(frozen=True, slots=True)
class Ticket:
    """One hand-out of a question: its number, and the query (n,)."""

    number: int
    x: Array


class Told(NamedTuple):
    """An answer as it is told: to which ticket, the number, and the group that the answer is known to belong to."""

    ticket: int
    value: float
    group: int | None = None


def deleted() -> StudyError:
    """Return the error of a study that is not there any more."""
    return StudyError("the study has been deleted: create it again, or load another one")


def insert_round(connection: sa.Connection, study: int, number: int, new: Round) -> None:
    """Store a round and its queries, within a transaction."""
    sizes = {"size": new.size, "repeats": new.repeats, "block": new.block, "least": new.least}
    connection.execute(rounds.insert().values(study=study, round=number, label=new.label, **sizes))
    rows = new.queries.astype("<f8")
    connection.execute(
        queries.insert(), [{"study": study, "round": number, "query": i, "x": x.tobytes()} for i, x in enumerate(rows)]
    )


class Storage:
    """The questions, answers and rounds of one study."""

    def __init__(self, database: Database, study: int) -> None:
        self._database = database
        self._study = study

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Begin a transaction that no other writer of this study disturbs."""
        mine = sa.select(studies.c.study).where(studies.c.study == self._study).with_for_update()
        with self._database.writing() as connection:
            if connection.execute(mine).first() is None:
                raise deleted()
            yield connection

    def _of(self, table: sa.Table, *conditions: Any) -> sa.Select[Any]:
        return of_study(self._study, table, *conditions)

    def hand_out(self, count: int, now: float, lease: float) -> list[Ticket] | None:
        """Lease up to `count` questions of the current round: new ones first, then those whose lease ran out.

        Parameters
        ----------
        count : int
            How many questions are wanted.
        now, lease : float
            The time, and how long a question is waited for, in minutes.

        Returns
        -------
        list of Ticket or None
            None if the round has all its answers, so that the next one is to be computed.
        """
        with self.writing() as connection:
            if connection.execute(self._of(ends)).first():
                return []
            current = connection.execute(self._of(rounds).order_by(rounds.c.round.desc()).limit(1)).one()
            here = (tickets.c.study == self._study, tickets.c.round == current.round)
            handed = connection.execute(sa.select(sa.func.coalesce(sa.func.max(tickets.c.slot) + 1, 0)).where(*here))
            fresh = handed.scalar_one()
            slots = list(range(fresh, min(current.size, fresh + count)))
            if len(slots) < count:
                lapsed = leases.c.round == current.round, leases.c.until <= now
                again = self._of(leases, *lapsed).order_by(leases.c.slot).limit(count - len(slots))
                slots += [row.slot for row in connection.execute(again)]
            if not slots:
                answered = sa.select(sa.func.count()).where(*self._used(), answers.c.round == current.round)
                return None if connection.execute(answered).scalar_one() == current.size else []
            given = self._lease(connection, current.round, slots, math.ceil(now + lease))
            return self._with_queries(connection, given, slots, current)

    def _lease(self, connection: sa.Connection, number: int, slots: Sequence[int], until: int) -> range:
        last = sa.select(sa.func.coalesce(sa.func.max(tickets.c.ticket), 0)).where(tickets.c.study == self._study)
        first = connection.execute(last).scalar_one() + 1
        given = range(first, first + len(slots))
        where = [{"study": self._study, "round": number, "slot": slot} for slot in slots]
        connection.execute(leases.delete().where(*self._leases(number), leases.c.slot.in_(slots)))
        connection.execute(leases.insert(), [{**w, "until": until} for w in where])
        connection.execute(tickets.insert(), [{**w, "ticket": t} for w, t in zip(where, given, strict=True)])
        return given

    def _with_queries(self, connection: sa.Connection, given: range, slots: list[int], current: Any) -> list[Ticket]:
        wanted = [slot // current.repeats for slot in slots]
        here = queries.c.round == current.round, queries.c.query.in_(wanted)
        x = {row.query: np.frombuffer(row.x, dtype="<f8") for row in connection.execute(self._of(queries, *here))}
        return [Ticket(t, x[i]) for t, i in zip(given, wanted, strict=True)]

    def _used(self) -> tuple[Any, ...]:
        return answers.c.study == self._study, sa.not_(answers.c.surplus)

    def _leases(self, number: int) -> tuple[Any, ...]:
        return leases.c.study == self._study, leases.c.round == number

    def take(self, told: Iterable[Told], show: Callable[[int], str]) -> list[str]:
        """Append answers to tickets, all or none; each is "taken", "surplus", or was "known" before.

        `show` makes a question's id of a ticket's number, for messages.
        """
        with self.writing() as connection:
            return [self._take_one(connection, answer, show) for answer in told]

    def _take_one(self, connection: sa.Connection, answer: Told, show: Callable[[int], str]) -> str:
        ticket, value, group = answer
        found = connection.execute(self._of(tickets, tickets.c.ticket == ticket)).first()
        if found is None:
            raise InvalidInput(
                f"question {show(ticket)} was never handed out: give the id that ask() gave", ticket=ticket
            )
        known = connection.execute(self._of(answers, answers.c.ticket == ticket)).first()
        if known is not None:
            if known.value == value:
                return "known"
            raise InvalidInput(
                f"question {show(ticket)} was answered with {known.value:.15g} before, now with {value:.15g}: "
                "an answer is never changed; ask for another question",
                ticket=ticket,
                before=known.value,
                now=value,
            )
        same = *self._used(), answers.c.round == found.round, answers.c.slot == found.slot
        surplus = connection.execute(sa.select(answers.c.ticket).where(*same)).first() is not None
        row = {"study": self._study, "ticket": ticket, "round": found.round, "slot": found.slot}
        connection.execute(answers.insert().values(**row, value=value, surplus=surplus, answer_group=group))
        connection.execute(leases.delete().where(*self._leases(found.round), leases.c.slot == found.slot))
        return "surplus" if surplus else "taken"

    def release(self) -> None:
        """Let every lease run out now."""
        with self.writing() as connection:
            connection.execute(leases.update().where(leases.c.study == self._study).values(until=0))

    def append(self, number: int, new: Round) -> None:
        """Append a round, unless another process, which computes the same, has done so before."""
        with self.writing() as connection:
            there = self._of(rounds, rounds.c.round == number)
            if not connection.execute(there).first() and not connection.execute(self._of(ends)).first():
                insert_round(connection, self._study, number, new)

    def finish(self, status: str, result: str, overrule: bool = False) -> None:
        """Append how the study ended, unless another process has done so before and is not to be overruled."""
        with self.writing() as connection:
            if overrule:
                connection.execute(ends.delete().where(ends.c.study == self._study))
            if not connection.execute(self._of(ends)).first():
                connection.execute(ends.insert().values(study=self._study, status=status, result=result))

    def end(self) -> tuple[str, str] | None:
        """Return the status and the result of a study that has ended."""
        with self._database.reading() as connection:
            found = connection.execute(self._of(ends)).first()
        return None if found is None else (found.status, found.result)

    def round(self, number: int) -> tuple[Round, Asked | None] | None:
        """Return a round, and what was asked and answered in it.

        Parameters
        ----------
        number : int
            The round, counted from 0.

        Returns
        -------
        (Round, Asked or None) or None
            None in the place of `Asked` while answers are missing; None for a round that is not there yet. Groups have
            the place of their first answer in the study as their number, so that an answer by itself has its own.
        """
        with self._database.reading() as connection:
            found = connection.execute(self._of(rounds, rounds.c.round == number)).first()
            if found is None:
                return None
            rows = connection.execute(self._of(queries, queries.c.round == number).order_by(queries.c.query))
            X = np.stack([np.frombuffer(row.x, dtype="<f8") for row in rows]).astype(np.float64)
            columns = answers.c.value, answers.c.answer_group
            used = sa.select(*columns).where(*self._used(), answers.c.round == number).order_by(answers.c.slot)
            told = connection.execute(used).all()
            stored = Round(X, found.repeats, found.block, found.label, least=found.least)
            if len(told) < stored.size:
                return stored, None
            values, groups = zip(*told, strict=True)
            group = self._groups(connection, number, groups)
        return stored, Asked.of_round(stored.queries, np.array(values).reshape(len(X), -1), group)

    def _groups(self, connection: sa.Connection, number: int, told: Sequence[int | None]) -> Index:
        """Return the group of each answer of a complete round: the place of the group's first answer in the study."""
        sizes = sa.select(rounds.c.size).where(rounds.c.study == self._study).order_by(rounds.c.round)
        start = np.cumsum([0, *connection.execute(sizes).scalars()])  # of each round
        own: Index = start[number] + np.arange(len(told), dtype=np.intp)
        if all(group is None for group in told):
            return own
        linked = answers.c.round <= number, answers.c.answer_group.is_not(None)
        columns = answers.c.answer_group, answers.c.round, answers.c.slot
        rows = sa.select(*columns).where(*self._used(), *linked).order_by(answers.c.round, answers.c.slot)
        first: dict[int, int] = {}
        for row in connection.execute(rows):
            first.setdefault(row.answer_group, int(start[row.round]) + row.slot)
        return np.array([i if group is None else first[group] for i, group in zip(own, told, strict=True)])
