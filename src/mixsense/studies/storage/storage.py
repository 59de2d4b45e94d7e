"""How a study's answers are taken, and its rounds kept and read: each method is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.checks import visible
from mixsense.errors import InvalidInput
from mixsense.rounds import Asked, Round, is_exact
from mixsense.studies.storage.access import Access, Misshapen, OfStudy
from mixsense.studies.storage.packing import as_queries, as_vector, packed
from mixsense.studies.storage.scatter import TicketName, insert_scattered
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
    salts,
    tickets,
)
from mixsense.studies.storage.turns import OF_LOOSE, answered


class Told(NamedTuple):
    """An answer as it is told: to which ticket, the number, and the group that the answer is known to belong to."""

    ticket: TicketName
    value: float
    group: int | None = None


class _New(NamedTuple):
    """Answers that one call appends: rows by the number of their ticket, and the slots (of a round) that they fill.

    Where the study has ended they come too late.
    """

    rows: dict[int, dict[str, Any]]
    slots: set[tuple[int, int]]
    ended: bool


def _refused(answer: Told, show: Callable[[TicketName], str], why: str) -> InvalidInput:
    return InvalidInput(f"question {show(answer.ticket)} {why}", ticket=answer.ticket)


def insert_round(connection: sa.Connection, study: int, number: int, new: Round) -> None:
    """Store a round and its queries, within a transaction."""
    sizes = {"size": new.size, "repeats": new.repeats, "block": new.block, "least": new.least}
    connection.execute(rounds.insert().values(study=study, round=number, label=new.label, **sizes))
    if is_exact(new.queries):
        raise InvalidInput("a study cannot store exact queries: use ms.recover, or another method")
    connection.execute(
        queries.insert(),
        [{"study": study, "round": number, "query": i, "x": x} for i, x in enumerate(packed(new.queries))],
    )


class Storage(OfStudy):
    """The answers and rounds of one study with n features."""

    def __init__(self, access: Access, n: int) -> None:
        super().__init__(access)
        self._n = n

    def take(self, told: Iterable[Told], show: Callable[[TicketName], str]) -> list[str]:
        """Append answers to tickets, all or none; each is "taken", "surplus", or was "known" before.

        `show` makes a question's id of a ticket's name, for messages, which tell nothing of what is stored.
        """
        with self._access.writing() as connection:
            new = _New({}, set(), self._any(connection, ends))
            outcome = [self._take_one(connection, answer, new, show) for answer in told]
            if new.rows:
                insert_scattered(connection, answers, list(new.rows.values()))
            return outcome

    def _take_one(self, connection: sa.Connection, answer: Told, new: _New, show: Callable[[TicketName], str]) -> str:
        (number, secret), value, group = answer
        found = connection.execute(self._of(tickets, tickets.c.ticket == number)).first()
        if found is None or found.secret != secret:
            raise _refused(answer, show, "was never handed out: give the id that ask() gave")
        stored = connection.execute(self._of(answers, answers.c.ticket == number)).first()
        before = new.rows.get(number) or (None if stored is None else stored._mapping)
        settled = found.answer_group if before is None else before["answer_group"]
        if before is not None and before["value"] != value:
            raise _refused(answer, show, "has another answer already, and an answer is never changed: ask again")
        if group not in (None, settled) and not (before is None and settled is None):
            raise _refused(answer, show, "has another respondent than its group says: leave its group out")
        if before is not None:
            return "known"
        same = self._used(answers.c.round == found.round, answers.c.slot == found.slot)
        taken = connection.execute(sa.select(answers.c.ticket).where(*same)).first() is not None
        surplus = taken or new.ended or (found.round, found.slot) in new.slots
        group = group if settled is None else settled
        row = {"study": self._study, "ticket": number, "round": found.round, "slot": found.slot}
        new.rows[number] = {**row, "value": value, "surplus": surplus, "answer_group": group}
        new.slots.add((found.round, found.slot))
        out = leases.c.study == self._study, leases.c.round == found.round, leases.c.slot == found.slot
        connection.execute(leases.delete().where(*out))
        return "surplus" if surplus else "taken"

    def append(self, number: int, new: Round) -> None:
        """Append a round, unless another process, which computes the same, has done so before."""
        with self._access.writing() as connection:
            if not self._any(connection, rounds, rounds.c.round == number) and not self._any(connection, ends):
                insert_round(connection, self._study, number, new)
                connection.execute(computing.delete().where(computing.c.study == self._study))

    def finish(self, status: str, result: str, overrule: bool = False) -> None:
        """Append how the study ended, unless another process has done so before and is not to be overruled."""
        with self._access.writing() as connection:
            if overrule:
                connection.execute(ends.delete().where(ends.c.study == self._study))
            if self._any(connection, ends):
                return
            connection.execute(ends.insert().values(study=self._study, status=status, result=result))
            for table in (computing, salts):  # from here on nothing makes the same group of a token
                connection.execute(table.delete().where(table.c.study == self._study))
            for row in connection.execute(answered(loose.c.study == self._study, loose.c.came.is_(None))).all():
                late = self._used(
                    answers.c.round == row.round, answers.c.slot == row.slot
                )  # came while it was computed
                connection.execute(answers.update().where(*late).values(surplus=True))

    def end(self) -> tuple[str, str] | None:
        """Return the status and the result of a study that has ended."""
        with self._access.reading() as connection:
            found = connection.execute(self._of(ends)).first()
        return None if found is None else (found.status, found.result)

    def followed(self, number: int) -> bool:
        """Return whether there is a round after this one: its answers have been given to the method."""
        with self._access.reading() as connection:
            return self._any(connection, rounds, rounds.c.round == number + 1)

    def round(self, number: int) -> tuple[Round, Asked | None] | None:
        """Return a round, and what the method is given with it: its answers, and those that came late or besides.

        Parameters
        ----------
        number : int
            The round, counted from 0.

        Returns
        -------
        (Round, Asked or None) or None
            None in the place of `Asked` while answers are missing and the round is not closed; None for a round that is
            not there yet. Groups have the place of their first answer in the study as their number, so that an answer
            by itself has its own.
        """
        with self._access.reading() as connection:
            found = connection.execute(self._of(rounds, rounds.c.round == number)).first()
            if found is None:
                return None
            rows = connection.execute(self._of(queries, queries.c.round == number).order_by(queries.c.query))
            X = as_queries([row.x for row in rows], self._n)
            with self._access.undamaged(of_ours=True):
                stored = Round(X, found.repeats, found.block, visible(found.label), least=found.least)
            if stored.size != found.size:
                raise Misshapen(f"a round of {stored.size} questions has {found.size}")
            own, late = self._came_with(connection, number)
            if own and own[-1].slot >= stored.size:
                raise Misshapen("an answer belongs to no question of its round")
            if len(own) < stored.size and not self._any(connection, closed, closed.c.round == number):
                if self._any(connection, rounds, rounds.c.round == number + 1):
                    raise Misshapen("a round that was followed by another one is not closed")
                return stored, None
            y = np.array([row.value for row in (*own, *late)], dtype=np.float64)
            if not np.isfinite(y).all():
                raise Misshapen("an answer is not a finite number")
            group = self._groups(connection, number, [row.answer_group for row in (*own, *late)])
            return stored, _asked(stored, own, self._late_queries(connection, late), y, group)

    def _came_with(self, connection: sa.Connection, number: int) -> tuple[list[Any], list[Any]]:
        """Return the answers to a round that were waited for, and the others that the method is given with them."""
        gone = sa.select(loose.c.slot).where(loose.c.study == self._study, loose.c.round == number)
        here = self._used(answers.c.round == number, answers.c.slot.not_in(gone))
        columns = answers.c.slot, answers.c.value, answers.c.answer_group
        own = connection.execute(sa.select(*columns).where(*here).order_by(answers.c.slot)).all()
        late = answered(loose.c.study == self._study, loose.c.came == number).order_by(loose.c.round, loose.c.slot)
        return list(own), list(connection.execute(late).all())

    def _late_queries(self, connection: sa.Connection, late: Sequence[Any]) -> Array:
        """Return the queries of loose questions, one row each."""
        x: dict[tuple[int, int], Array] = {}
        for number in {row.round for row in late}:
            wanted = {row.query for row in late if row.round == number}
            here = queries.c.round == number, queries.c.query.in_(wanted)
            for row in connection.execute(self._of(queries, *here)):
                x[number, row.query] = as_vector(row.x, self._n)
        return np.array([x[row.round, row.query] for row in late]).reshape(len(late), self._n)

    def _groups(self, connection: sa.Connection, number: int, told: Sequence[int | None]) -> Index:
        """Return the group of each answer given with a round: the place of the group's first answer in the study."""
        came = sa.case((loose.c.slot.is_(None), answers.c.round), else_=loose.c.came)
        both = answers.outerjoin(loose, sa.and_(*OF_LOOSE))
        given = sa.select(answers.c.answer_group).select_from(both).where(*self._used())
        before = sa.select(sa.func.count()).select_from(given.where(came < number).subquery())
        start = int(connection.execute(before).scalar_one())
        own: Index = start + np.arange(len(told), dtype=np.intp)
        if all(group is None for group in told):
            return own
        order = came, loose.c.slot.is_not(None), answers.c.round, answers.c.slot
        first: dict[int, int] = {}
        for place, group in enumerate(connection.execute(given.where(came <= number).order_by(*order)).scalars()):
            if group is not None:
                first.setdefault(group, place)
        return np.array([i if group is None else first[group] for i, group in zip(own, told, strict=True)])


def _asked(stored: Round, own: Sequence[Any], late: Array, y: Array, group: Index) -> Asked:
    """Put together what the method is given with a round: first its own answers, then the others."""
    here, parts = len(own), list[Asked]()
    if here == stored.size:
        parts = [Asked.of_round(stored.queries, y[:here].reshape(-1, stored.repeats), group[:here])]
    elif here:  # some are missing: those that are there stay together, query by query
        place = np.array([row.slot // stored.repeats for row in own])
        for which in np.split(np.arange(here), np.flatnonzero(np.diff(place)) + 1):
            one = stored.queries[place[which[0]] : place[which[0]] + 1]
            parts.append(Asked.of_round(one, y[which][None], group[which]))
    if len(late):
        parts.append(Asked(late, y[here:], group[here:]))
    return Asked.join(parts)
