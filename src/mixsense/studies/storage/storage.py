"""How a study's questions are handed out, its answers taken, and its rounds kept: each method is one transaction."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.errors import InvalidInput
from mixsense.rounds import Asked, Round, dense, is_exact
from mixsense.studies.storage.access import Access, Misshapen, as_vector
from mixsense.studies.storage.scatter import TicketName, insert_scattered, new_ticket
from mixsense.studies.storage.tables import answers, ends, leases, queries, rounds, sa, tickets

SHUFFLED = 256
"""Questions are handed out in a random order within blocks of this many, which no file keeps. Taste."""
CLOCKS_DIFFER = 5
"""Minutes by which clocks of machines that work together may differ."""
MOST_ROUNDS = 2**31
"""No study has this many rounds: a larger number was not written by us."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One hand-out of a question: its name, and the query (n,)."""

    name: TicketName
    x: Array


class Told(NamedTuple):
    """An answer as it is told: to which ticket, the number, and the group that the answer is known to belong to."""

    ticket: TicketName
    value: float
    group: int | None = None


class _Current(NamedTuple):
    """The last round of a study, counted from 0, with the answers that it takes and how often each query is asked."""

    number: int
    size: int
    repeats: int


class _New(NamedTuple):
    """Answers that one call appends: rows by the number of their ticket, and the slots (of a round) that they fill."""

    rows: dict[int, dict[str, Any]]
    slots: set[tuple[int, int]]


def insert_round(connection: sa.Connection, study: int, number: int, new: Round) -> None:
    """Store a round and its queries, within a transaction."""
    sizes = {"size": new.size, "repeats": new.repeats, "block": new.block, "least": new.least}
    connection.execute(rounds.insert().values(study=study, round=number, label=new.label, **sizes))
    if is_exact(new.queries):
        raise InvalidInput("a study cannot store exact queries: use ms.recover, or another method")
    rows = dense(new.queries).astype("<f8")
    connection.execute(
        queries.insert(), [{"study": study, "round": number, "query": i, "x": x.tobytes()} for i, x in enumerate(rows)]
    )


def is_out(now: float, lease: float) -> Any:
    """Return the condition of a lease that still holds.

    One that ends later than it could was made by a clock that is ahead, and holds no more: it might never end.
    """
    return sa.and_(leases.c.until > now, leases.c.until <= math.ceil(now + lease) + CLOCKS_DIFFER)


class Storage:
    """The questions, answers and rounds of one study with n features."""

    def __init__(self, access: Access, n: int) -> None:
        self._access = access
        self._study = access.study
        self._of = access.of
        self._n = n

    def hand_out(self, count: int, now: float, lease: float, in_order: bool = False) -> list[Ticket] | None:
        """Lease up to `count` questions of the current round: new ones first, then those whose lease ran out.

        Parameters
        ----------
        count : int
            How many questions are wanted.
        now, lease : float
            The time, and how long a question is waited for, in minutes.
        in_order : bool
            Whether they come in the order of the design. Otherwise their order is random, and stored nowhere: who was
            the third to take a question does not tell which one it was.

        Returns
        -------
        list of Ticket or None
            None if the round has all its answers, so that the next one is to be computed.
        """
        with self._access.writing() as connection:
            if connection.execute(self._of(ends)).first():
                return []
            current = self._current(connection)
            slots = self._fresh(connection, current, count, in_order)
            if len(slots) < count:
                lapsed = leases.c.round == current.number, sa.not_(is_out(now, lease))
                again = self._of(leases, *lapsed).order_by(leases.c.slot).limit(max(count, SHUFFLED))
                with self._access.undamaged():
                    back = [int(row.slot) for row in connection.execute(again)]
                slots += _drawn(back, count - len(slots), in_order)
            if not slots:
                answered = sa.select(sa.func.count()).where(*self._used(), answers.c.round == current.number)
                return None if connection.execute(answered).scalar_one() == current.size else []
            given = self._lease(connection, current.number, slots, math.ceil(now + lease))
            return self._with_queries(connection, given, slots, current)

    def _current(self, connection: sa.Connection) -> _Current:
        found = connection.execute(self._of(rounds).order_by(rounds.c.round.desc()).limit(1)).first()
        with self._access.undamaged():
            if found is None or int(found.repeats) < 1 or not 0 <= int(found.round) < MOST_ROUNDS:
                raise Misshapen("there is no round with questions")
            return _Current(int(found.round), int(found.size), int(found.repeats))

    def _fresh(self, connection: sa.Connection, current: _Current, count: int, in_order: bool) -> list[int]:
        """Return up to `count` slots that were never handed out; a block is used up before the next one begins."""
        here = tickets.c.study == self._study, tickets.c.round == current.number
        last = connection.execute(sa.select(sa.func.max(tickets.c.slot)).where(*here)).scalar_one()
        with self._access.undamaged():
            start = 0 if last is None else int(last) // SHUFFLED * SHUFFLED

        def free(low: int, high: int) -> list[int]:
            within = sa.select(tickets.c.slot).where(*here, tickets.c.slot >= low, tickets.c.slot < high)
            handed = set(connection.execute(within).scalars())
            return [slot for slot in range(low, high) if slot not in handed]

        found = list[int]()
        while len(found) < count and start < current.size:
            block = free(start, min(current.size, start + SHUFFLED))
            found += _drawn(block, count - len(found), in_order)
            start += SHUFFLED
        if len(found) < count:  # an older program at work here passes over what is left of a block
            handed = sa.select(sa.func.count(tickets.c.slot.distinct())).where(*here)
            if connection.execute(handed).scalar_one() + len(found) < current.size:
                found += [slot for slot in free(0, current.size) if slot not in found][: count - len(found)]
        return found

    def _lease(self, connection: sa.Connection, number: int, slots: Sequence[int], until: int) -> list[TicketName]:
        given = [new_ticket() for _ in slots]
        where = [{"study": self._study, "round": number, "slot": slot} for slot in slots]
        connection.execute(leases.delete().where(*self._leases(number), leases.c.slot.in_(slots)))
        connection.execute(leases.insert(), [{**w, "until": until} for w in sorted(where, key=lambda w: w["slot"])])
        rows = [{**w, "ticket": t.number, "secret": t.secret} for w, t in zip(where, given, strict=True)]
        insert_scattered(connection, tickets, rows)
        return given

    def _with_queries(
        self, connection: sa.Connection, given: list[TicketName], slots: list[int], current: _Current
    ) -> list[Ticket]:
        wanted = [slot // current.repeats for slot in slots]
        here = queries.c.round == current.number, queries.c.query.in_(wanted)
        with self._access.undamaged():
            x = {row.query: as_vector(row.x, self._n) for row in connection.execute(self._of(queries, *here))}
            return [Ticket(t, x[i]) for t, i in zip(given, wanted, strict=True)]

    def _used(self) -> tuple[Any, ...]:
        return answers.c.study == self._study, sa.not_(answers.c.surplus)

    def _leases(self, number: int) -> tuple[Any, ...]:
        return leases.c.study == self._study, leases.c.round == number

    def take(self, told: Iterable[Told], show: Callable[[TicketName], str]) -> list[str]:
        """Append answers to tickets, all or none; each is "taken", "surplus", or was "known" before.

        `show` makes a question's id of a ticket's name, for messages, which tell nothing of what is stored.
        """
        with self._access.writing() as connection:
            new = _New({}, set())
            outcome = [self._take_one(connection, answer, new, show) for answer in told]
            if new.rows:
                insert_scattered(connection, answers, list(new.rows.values()))
            return outcome

    def _take_one(self, connection: sa.Connection, answer: Told, new: _New, show: Callable[[TicketName], str]) -> str:
        (number, secret), value, group = answer
        found = connection.execute(self._of(tickets, tickets.c.ticket == number)).first()
        if found is None or found.secret != secret:
            raise InvalidInput(
                f"question {show(answer.ticket)} was never handed out: give the id that ask() gave",
                ticket=answer.ticket,
            )
        stored = connection.execute(self._of(answers, answers.c.ticket == number)).first()
        known = new.rows[number]["value"] if number in new.rows else None if stored is None else stored.value
        if known is not None:
            if known == value:
                return "known"
            raise InvalidInput(
                f"question {show(answer.ticket)} has another answer already, and an answer is never changed: "
                "ask for another question",
                ticket=answer.ticket,
            )
        same = *self._used(), answers.c.round == found.round, answers.c.slot == found.slot
        before = connection.execute(sa.select(answers.c.ticket).where(*same)).first() is not None
        surplus = before or (found.round, found.slot) in new.slots
        row = {"study": self._study, "ticket": number, "round": found.round, "slot": found.slot}
        new.rows[number] = {**row, "value": value, "surplus": surplus, "answer_group": group}
        new.slots.add((found.round, found.slot))
        connection.execute(leases.delete().where(*self._leases(found.round), leases.c.slot == found.slot))
        return "surplus" if surplus else "taken"

    def release(self) -> None:
        """Let every lease run out now."""
        with self._access.writing() as connection:
            connection.execute(leases.update().where(leases.c.study == self._study).values(until=0))

    def append(self, number: int, new: Round) -> None:
        """Append a round, unless another process, which computes the same, has done so before."""
        with self._access.writing() as connection:
            there = self._of(rounds, rounds.c.round == number)
            if not connection.execute(there).first() and not connection.execute(self._of(ends)).first():
                insert_round(connection, self._study, number, new)

    def finish(self, status: str, result: str, overrule: bool = False) -> None:
        """Append how the study ended, unless another process has done so before and is not to be overruled."""
        with self._access.writing() as connection:
            if overrule:
                connection.execute(ends.delete().where(ends.c.study == self._study))
            if not connection.execute(self._of(ends)).first():
                connection.execute(ends.insert().values(study=self._study, status=status, result=result))

    def end(self) -> tuple[str, str] | None:
        """Return the status and the result of a study that has ended."""
        with self._access.reading() as connection:
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
        with self._access.reading() as connection:
            found = connection.execute(self._of(rounds, rounds.c.round == number)).first()
            if found is None:
                return None
            rows = connection.execute(self._of(queries, queries.c.round == number).order_by(queries.c.query))
            X = np.stack([as_vector(row.x, self._n) for row in rows]).astype(np.float64)
            columns = answers.c.value, answers.c.answer_group
            used = sa.select(*columns).where(*self._used(), answers.c.round == number).order_by(answers.c.slot)
            told = connection.execute(used).all()
            with self._access.undamaged(of_ours=True):
                stored = Round(X, found.repeats, found.block, found.label, least=found.least)
            if stored.size != found.size:
                raise Misshapen(f"a round of {stored.size} questions has {found.size}")
            if len(told) < stored.size:
                return stored, None
            values, groups = zip(*told, strict=True)
            y = np.array(values, dtype=np.float64).reshape(len(X), -1)
            if not np.isfinite(y).all():
                raise Misshapen("an answer is not a finite number")
            return stored, Asked.of_round(stored.queries, y, self._groups(connection, number, groups))

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


def _drawn(slots: list[int], count: int, in_order: bool) -> list[int]:
    """Return up to `count` of some slots, at random if they need not be in order."""
    return slots[:count] if in_order else secrets.SystemRandom().sample(slots, min(count, len(slots)))
