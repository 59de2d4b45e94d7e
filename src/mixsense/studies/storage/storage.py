"""What is read from and written to a study's tables: each function of `Storage` is one transaction."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput, StudyError
from mixsense.rounds import Round
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.tables import (
    TABLES_OF_A_STUDY,
    answers,
    ends,
    leases,
    queries,
    rounds,
    sa,
    studies,
    tickets,
)

KEY_LETTERS = "bcdfghjklmnpqrstvwxz"
"""Of keys: without vowels no spreadsheet takes an id for a date, and no reader for a word."""


@dataclass(frozen=True, slots=True)
class Row:
    """A study as it is stored."""

    study: int
    name: str
    key: str
    problem: str
    asking: str


@dataclass(frozen=True, slots=True)
class Ticket:
    """A question that was handed out: its number, and the query."""

    number: int
    round: int
    label: str
    x: Array


@dataclass(frozen=True, slots=True)
class Handed:
    """What a desk has to say to who asks: questions; or else whether the round is complete, or the study at its end."""

    tickets: list[Ticket]
    complete: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """Where a study stands, in numbers; those of questions are about the current round."""

    round: int
    label: str
    size: int
    answered: int
    handed: int
    out: int
    total: int
    surplus: int
    expired: int
    at_low: int
    at_high: int
    end: str | None


def insert_study(database: Database, name: str, problem: str, asking: str, first: Round) -> None:
    """Store a new study with its first round."""
    with database.writing() as connection:
        if not database.sqlite:
            connection.execute(sa.text(f"LOCK TABLE {studies.name} IN SHARE ROW EXCLUSIVE MODE"))
        if connection.execute(sa.select(studies.c.study).where(studies.c.name == name)).first():
            raise InvalidInput(
                f"{database.shown} has a study {name!r} already: load it, or give another name", name=name
            )
        number = connection.execute(sa.select(sa.func.coalesce(sa.func.max(studies.c.study), 0) + 1)).scalar_one()
        taken = set(connection.execute(sa.select(studies.c.key)).scalars())
        while (key := "".join(secrets.choice(KEY_LETTERS) for _ in range(4))) in taken:
            pass
        connection.execute(studies.insert().values(study=number, name=name, key=key, problem=problem, asking=asking))
        _insert_round(connection, number, 0, first)


def study_names(database: Database) -> list[str]:
    """Return the names of all studies."""
    with database.reading() as connection:
        return list(connection.execute(sa.select(studies.c.name).order_by(studies.c.name)).scalars())


def find_row(database: Database, name: str) -> Row:
    """Return a study by its name."""
    with database.reading() as connection:
        found = connection.execute(sa.select(studies).where(studies.c.name == name)).first()
    if found is None:
        there = study_names(database)
        known = f"it has {', '.join(map(repr, there[:5]))}{' …' if len(there) > 5 else ''}" if there else "it has none"
        raise InvalidInput(f"{database.shown} has no study {name!r} ({known}): give its name, or create it", name=name)
    return Row(*found)


def delete_rows(database: Database, study: int) -> None:
    """Remove a study with everything that it stored."""
    with Storage(database, study).writing() as connection:
        for table in TABLES_OF_A_STUDY:
            connection.execute(table.delete().where(table.c.study == study))


def _insert_round(connection: sa.Connection, study: int, number: int, new: Round) -> None:
    values = {"study": study, "round": number, "label": new.label, "size": new.size, "repeats": new.repeats}
    connection.execute(rounds.insert().values(values))
    rows = new.queries.astype("<f8")
    connection.execute(
        queries.insert(), [{"study": study, "round": number, "query": i, "x": x.tobytes()} for i, x in enumerate(rows)]
    )


class Storage:
    """The rows of one study."""

    def __init__(self, database: Database, study: int) -> None:
        self._database = database
        self._study = study

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Begin a transaction that no other writer of this study disturbs."""
        mine = sa.select(studies.c.study).where(studies.c.study == self._study).with_for_update()
        with self._database.writing() as connection:
            if connection.execute(mine).first() is None:
                raise StudyError("the study has been deleted: create it anew, or load another one")
            yield connection

    def _of(self, table: sa.Table, *conditions: Any) -> sa.Select[Any]:
        return sa.select(table).where(table.c.study == self._study, *conditions)

    def hand_out(self, count: int, now: float, lease: float) -> Handed:
        """Lease up to `count` questions of the current round: new ones first, then those whose lease ran out."""
        with self.writing() as connection:
            if connection.execute(self._of(ends)).first():
                return Handed([], ended=True)
            current = connection.execute(self._of(rounds).order_by(rounds.c.round.desc()).limit(1)).one()
            here = (tickets.c.study == self._study, tickets.c.round == current.round)
            handed = connection.execute(sa.select(sa.func.coalesce(sa.func.max(tickets.c.slot) + 1, 0)).where(*here))
            fresh = handed.scalar_one()
            slots = list(range(fresh, min(current.size, fresh + count)))
            lapsed = leases.c.round == current.round, leases.c.until <= now
            if len(slots) < count:
                again = self._of(leases, *lapsed).order_by(leases.c.slot).limit(count - len(slots))
                slots += [row.slot for row in connection.execute(again)]
            if not slots:
                answered = sa.select(sa.func.count()).where(*self._used(current.round))
                return Handed([], complete=connection.execute(answered).scalar_one() == current.size)
            given = self._lease(connection, current.round, slots, math.ceil(now + lease))
            return Handed(self._with_queries(connection, given, slots, current))

    def _lease(self, connection: sa.Connection, number: int, slots: Sequence[int], until: int) -> range:
        last = sa.select(sa.func.coalesce(sa.func.max(tickets.c.ticket), 0)).where(tickets.c.study == self._study)
        first = connection.execute(last).scalar_one() + 1
        given = range(first, first + len(slots))
        where = [{"study": self._study, "round": number, "slot": slot} for slot in slots]
        connection.execute(leases.delete().where(self._lease_of(number), leases.c.slot.in_(slots)))
        connection.execute(leases.insert(), [{**w, "until": until} for w in where])
        connection.execute(tickets.insert(), [{**w, "ticket": t} for w, t in zip(where, given, strict=True)])
        return given

    def _with_queries(self, connection: sa.Connection, given: range, slots: list[int], current: Any) -> list[Ticket]:
        wanted = [slot // current.repeats for slot in slots]
        here = queries.c.round == current.round, queries.c.query.in_(wanted)
        x = {row.query: np.frombuffer(row.x, dtype="<f8") for row in connection.execute(self._of(queries, *here))}
        return [Ticket(t, current.round, current.label, x[i]) for t, i in zip(given, wanted, strict=True)]

    def _used(self, number: int) -> tuple[Any, ...]:
        return answers.c.study == self._study, answers.c.round == number, sa.not_(answers.c.surplus)

    def _lease_of(self, number: int) -> Any:
        return sa.and_(leases.c.study == self._study, leases.c.round == number)

    def take(self, told: Iterable[tuple[int, float]], show: Any) -> list[str]:
        """Append answers to tickets, all or none; each is "taken", "surplus", or was "known" before.

        `show` makes a question's id of a ticket's number, for messages.
        """
        with self.writing() as connection:
            return [self._take_one(connection, ticket, value, show) for ticket, value in told]

    def _take_one(self, connection: sa.Connection, ticket: int, value: float, show: Any) -> str:
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
        same = *self._used(found.round), answers.c.slot == found.slot
        surplus = connection.execute(sa.select(answers.c.ticket).where(*same)).first() is not None
        row = {"study": self._study, "ticket": ticket, "round": found.round, "slot": found.slot}
        connection.execute(answers.insert().values(**row, value=value, surplus=surplus))
        connection.execute(leases.delete().where(self._lease_of(found.round), leases.c.slot == found.slot))
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
                _insert_round(connection, self._study, number, new)

    def finish(self, status: str, result: str) -> None:
        """Append how the study ended, unless another process has done so before."""
        with self.writing() as connection:
            if not connection.execute(self._of(ends)).first():
                connection.execute(ends.insert().values(study=self._study, status=status, result=result))

    def end(self) -> tuple[str, str] | None:
        """Return the status and the result of a study that has ended."""
        with self._database.reading() as connection:
            found = connection.execute(self._of(ends)).first()
        return None if found is None else (found.status, found.result)

    def asked(self, number: int) -> tuple[Array, int, Array | None] | None:
        """Return a round's queries (q, n), its repeats, and its answers (q, repeats), None while some are missing.

        None for a round that there is not yet.
        """
        with self._database.reading() as connection:
            found = connection.execute(self._of(rounds, rounds.c.round == number)).first()
            if found is None:
                return None
            rows = connection.execute(self._of(queries, queries.c.round == number).order_by(queries.c.query))
            X = np.stack([np.frombuffer(row.x, dtype="<f8") for row in rows]).astype(np.float64)
            used = sa.select(answers.c.value).where(*self._used(number)).order_by(answers.c.slot)
            values = np.fromiter(connection.execute(used).scalars(), dtype=np.float64)
        return X, found.repeats, values.reshape(len(X), -1) if len(values) == found.size else None

    def answered(self) -> Iterator[dict[str, Any]]:
        """Yield every answer in the order of the questions: ticket, round, x, answer, surplus."""
        with self._database.reading() as connection:
            order = answers.c.round, answers.c.slot, answers.c.surplus, answers.c.ticket
            found = list(connection.execute(self._of(answers).order_by(*order)))
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
        """Return the query of each of these tickets that there is."""
        if not numbers:
            return {}
        with self._database.reading() as connection:
            within = tickets.c.ticket.between(min(numbers), max(numbers))
            found = [row for row in connection.execute(self._of(tickets, within)) if row.ticket in numbers]
            x = self._queries(connection)
        return {row.ticket: x(row.round, row.slot) for row in found}

    def _queries(self, connection: sa.Connection) -> Callable[[int, int], Array]:
        """Return a function that gives the query of a slot of a round."""
        repeats = {row.round: row.repeats for row in connection.execute(self._of(rounds))}
        rows = connection.execute(self._of(queries))
        x = {(row.round, row.query): np.frombuffer(row.x, dtype="<f8") for row in rows}
        return lambda number, slot: x[number, slot // repeats[number]]

    def counts(self, now: float, low: float | None, high: float | None) -> Counts:
        """Return where the study stands: one statement, so that the numbers belong together."""
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
            raise StudyError("the study has been deleted: create it anew, or load another one")
        return Counts(
            round=found.round,
            label=found.label,
            size=found.size,
            answered=found.answered,
            handed=found.handed,
            out=found.out,
            total=found.total,
            surplus=found.surplus,
            expired=found.tickets - int(found.earlier) - found.handed,
            at_low=found.at_low,
            at_high=found.at_high,
            end=found.end,
        )
