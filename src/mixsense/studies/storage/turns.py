"""When a round is closed, and whose turn it is to compute the next one: one process at a time, while it lives."""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from mixsense.errors import StudyError
from mixsense.studies.storage.access import Access, Misshapen, OfStudy
from mixsense.studies.storage.tables import answers, closed, computing, ends, leases, loose, rounds, sa, tickets

TURN = 1.0
"""Minutes that a turn holds without being renewed: a process that was killed keeps nobody for longer. Taste."""
RENEWALS = 20.0
"""Seconds between two renewals of a turn. Taste: two may fail."""
CLOCKS_DIFFER = 5
"""Minutes by which clocks of machines that work together may differ."""
HOLDERS = 2**62
MOST_ROUNDS = 2**31
"""No study has this many rounds: a larger number was not written by us."""
OF_LOOSE = answers.c.study == loose.c.study, answers.c.round == loose.c.round, answers.c.slot == loose.c.slot
"""What makes an answer that of a loose question."""


class Current(NamedTuple):
    """The last round of a study: its number, counted from 0, and what is stored of it but the queries."""

    number: int
    size: int
    repeats: int
    block: int
    least: int | None
    closed: bool


def minutes() -> float:
    """Return the time."""
    return time.time() / 60


def holds(table: sa.Table, now: float, length: float) -> Any:
    """Return the condition of a lease or a turn that still holds.

    One that ends later than it could was made by a clock that is ahead, and holds no more: it might never end.
    """
    return sa.and_(table.c.until > now, table.c.until <= math.ceil(now + length) + CLOCKS_DIFFER)


def answered(*conditions: Any) -> sa.Select[Any]:
    """Return the statement that selects the loose questions with an answer, and the answer."""
    used = sa.and_(*OF_LOOSE, sa.not_(answers.c.surplus))
    return sa.select(loose, answers.c.value, answers.c.answer_group).join(answers, used).where(*conditions)


class Turns(OfStudy):
    """The rounds of one study, as far as it matters who goes on with them. Each process has its own name here.

    Parameters
    ----------
    access : Access
        The study.
    most : int or None
        `max_queries`: no more answers than these are ever given to the method.
    """

    def __init__(self, access: Access, most: int | None) -> None:
        super().__init__(access)
        self._most = most
        self._holder = secrets.randbelow(HOLDERS)

    def current(self, connection: sa.Connection) -> Current:
        """Return the last round."""
        found = connection.execute(self._of(rounds).order_by(rounds.c.round.desc()).limit(1)).first()
        with self._access.undamaged():
            some = found is not None and min(int(found.size), int(found.repeats), int(found.block)) >= 1
            if found is None or not some or found.size % found.repeats or not 0 <= int(found.round) < MOST_ROUNDS:
                raise Misshapen("there is no round with questions")
            numbers = int(found.round), int(found.size), int(found.repeats), int(found.block)
            least = None if found.least is None else int(found.least)
            return Current(*numbers, least, self._any(connection, closed, closed.c.round == found.round))

    def is_due(self, connection: sa.Connection, current: Current, patient: bool) -> bool:
        """Return whether the method can go on: with all answers of the round or, unless we are patient, enough of them.

        Answers to questions that nobody was handed yet are not given up.
        """
        if current.closed:
            return True
        own = self._own(connection, current)
        if own == current.size or current.least is None or patient:
            return own == current.size
        here = tickets.c.study == self._study, tickets.c.round == current.number, tickets.c.slot < current.size
        handed = sa.select(sa.func.count(tickets.c.slot.distinct())).where(*here)
        if self._count(connection, handed) < current.size:
            return False
        waiting = answered(loose.c.study == self._study, loose.c.came.is_(None)).subquery()
        return own + self._count(connection, sa.select(sa.func.count()).select_from(waiting)) >= current.least

    def _own(self, connection: sa.Connection, current: Current) -> int:
        here = self._used(answers.c.round == current.number, answers.c.slot < current.size)
        return self._count(connection, sa.select(sa.func.count()).where(*here))

    def _count(self, connection: sa.Connection, statement: sa.Select[Any]) -> int:
        return int(connection.execute(statement).scalar_one())

    def is_taken(self, connection: sa.Connection, now: float) -> bool:
        """Return whether somebody computes the next round."""
        return self._any(connection, computing, holds(computing, now, TURN))

    def take(self, number: int, now: float, patient: bool) -> bool:
        """Close the round of this number if it is due, and have the turn; False if another one has it."""
        with self._access.writing() as connection:
            if self._any(connection, ends):
                return False
            current = self.current(connection)
            if current.number != number:
                return False
            if current.closed and self._any(connection, computing, computing.c.holder == self._holder):
                return True
            return self.is_due(connection, current, patient) and self.claim(connection, current, now)

    def claim(self, connection: sa.Connection, current: Current, now: float) -> bool:
        """Close a round that is due, and have the turn unless another one has it; within a transaction."""
        if self.is_taken(connection, now):
            return False
        if not current.closed:
            self._close(connection, current)
        connection.execute(computing.delete().where(computing.c.study == self._study))
        row = {"study": self._study, "holder": self._holder, "until": math.ceil(now + TURN)}
        connection.execute(computing.insert().values(**row))
        return True

    def _close(self, connection: sa.Connection, current: Current) -> None:
        """Settle which answers the method is given with this round: from now on an answer to it comes with the next."""
        own = sa.select(answers.c.slot).where(*self._used(answers.c.round == current.number))
        there = set(connection.execute(own).scalars())
        here = {"study": self._study, "round": current.number}
        late = [slot for slot in range(current.size) if slot not in there]
        if late:
            rows = [{**here, "slot": slot, "query": slot // current.repeats} for slot in late]
            connection.execute(loose.insert(), rows)
        came = answered(loose.c.study == self._study, loose.c.came.is_(None)).order_by(loose.c.round, loose.c.slot)
        if self._most is not None:
            came = came.limit(self._room(connection, current, current.size - len(late)))
        for row in connection.execute(came).all():
            one = loose.c.study == self._study, loose.c.round == row.round, loose.c.slot == row.slot
            connection.execute(loose.update().where(*one).values(came=current.number))
        connection.execute(leases.delete().where(leases.c.study == self._study, leases.c.round == current.number))
        connection.execute(closed.insert().values(**here))

    def _room(self, connection: sa.Connection, current: Current, own: int) -> int:
        """Return how many late and extra answers the budget has room for."""
        assert self._most is not None
        used = self._used(answers.c.round < current.number)
        before = self._count(connection, sa.select(sa.func.count()).where(*used))
        away = answered(loose.c.study == self._study, loose.c.came.is_(None), loose.c.round < current.number).subquery()
        left_out = self._count(connection, sa.select(sa.func.count()).select_from(away))
        return max(0, self._most - (before - left_out) - own)

    def give_up(self) -> None:
        """Let others have the turn: the method failed here."""
        with self._access.writing() as connection:
            mine = computing.c.study == self._study, computing.c.holder == self._holder
            connection.execute(computing.delete().where(*mine))

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Renew the turn as long as the block goes on."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(RENEWALS):
                try:
                    with self._access.writing() as connection:
                        mine = computing.c.study == self._study, computing.c.holder == self._holder
                        later = math.ceil(minutes() + TURN)
                        connection.execute(computing.update().where(*mine).values(until=later))
                except StudyError:  # the database is busy, or gone: whoever computes will notice
                    continue

        thread = threading.Thread(target=renew, name="mixsense-turn", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(timeout=1)
