"""How a study's questions are handed out, each time in one transaction: until the study has ended there is one."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mixsense.arrays import Array
from mixsense.studies.storage.access import Access, OfStudy, as_numbers
from mixsense.studies.storage.choosing import Layout, drawn, for_one
from mixsense.studies.storage.packing import as_bytes, as_vector, holds_all
from mixsense.studies.storage.scatter import TicketName, insert_scattered, new_ticket
from mixsense.studies.storage.tables import answers, ends, leases, loose, queries, rounds, sa, tickets
from mixsense.studies.storage.turns import Current, Turns, holds

SHUFFLED = 256
"""Questions are handed out in a random order within blocks of this many, which no file keeps. Taste."""
EXTRA = 2**61
"""Slots of extra questions are drawn from here to twice this: random, so that they tell no order."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One hand-out of a question: its name, the query (n,), and whom the question is meant for.

    Tickets of a round with the same `unit` want one respondent. Of a `sparse` query most entries are 0.
    """

    name: TicketName
    x: Array
    unit: int
    sparse: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody asks for."""

    count: int
    """How many questions at most."""
    in_order: bool = False
    """In the order of the design; otherwise it is random, and stored nowhere: who was the third to take a question does
    not tell which one it was."""
    group: int | None = None
    """The number of whoever asks."""
    patient: bool = False
    """Whoever asks waits where all questions are out; others get extra ones."""
    advance: bool = True
    """Who asks computes the next round if it is due."""


class Questions(OfStudy):
    """The questions of one study with n features.

    Parameters
    ----------
    access : Access
        The study.
    turns : Turns
        Who computes the next round.
    n : int
        Number of features.
    most : int or None
        `max_queries`: no more questions than these are asked for an answer that is to be used.
    """

    def __init__(self, access: Access, turns: Turns, n: int, most: int | None) -> None:
        super().__init__(access)
        self._turns, self._n, self._most = turns, n, most

    def hand_out(self, wanted: Wanted, now: float, lease: float) -> list[Ticket] | None:
        """Lease questions of the current round: new ones first, then those whose lease ran out, then extra ones.

        A respondent is asked what it was not asked before, as long as the round has that. Where all that is open was
        asked before, an extra question that was not comes first, and one between any two that come again.

        Parameters
        ----------
        wanted : Wanted
            How many, and for whom.
        now, lease : float
            The time, and how long a question is waited for, in minutes.

        Returns
        -------
        list of Ticket or None
            None if the next round is to be computed, and it is the turn of whoever asks.
        """
        with self._access.writing() as connection:
            if self._any(connection, ends):
                return []
            current = self._turns.current(connection)
            before = self._given(connection, wanted.group)
            slots, left = list[int](), not current.closed
            if left:
                slots, left = self._open(connection, current, wanted, {*before}, now, lease)
            if left and before and not slots:  # all of it was given before
                if self._wants_another(connection, current, wanted):
                    extra = self._besides(connection, current, wanted, _once(self._new(connection, current, before)))
                    if extra:
                        return extra
                slots, _ = self._open(connection, current, wanted, set(), now, lease)
            if slots:
                asked = [slot // current.repeats for slot in slots]
                return self._handed(connection, current, slots, wanted.group, asked, math.ceil(now + lease))
            due = wanted.advance and self._turns.is_due(connection, current, wanted.patient)
            if due and self._turns.claim(connection, current, now):
                return None
            return [] if wanted.patient else self._extra(connection, current, wanted, before, math.ceil(now + lease))

    def _open(
        self, connection: sa.Connection, current: Current, wanted: Wanted, given: set[bytes], now: float, lease: float
    ) -> tuple[list[int], bool]:
        """Return slots that may be handed out: new ones, then those whose lease ran out. And whether there are any.

        A respondent gets what was not given before, and then it was: there may be some, and none for this one.
        """
        slots, left = self._fresh(connection, current, wanted, given)
        if len(slots) < wanted.count:
            back = self._lapsed(connection, current, now, lease, wanted.count - len(slots))
            slots += self._again(connection, current, back, wanted, wanted.count - len(slots), given)
            left = left or bool(back)
        return slots, left

    def _fresh(
        self, connection: sa.Connection, current: Current, wanted: Wanted, given: set[bytes]
    ) -> tuple[list[int], bool]:
        """Return slots that were never handed out; a window of them is used up before the next one begins.

        And whether there are any, for whomever.
        """
        here = tickets.c.study == self._study, tickets.c.round == current.number
        regular = *here, tickets.c.slot < current.size
        layout = Layout(current.repeats, current.block)
        mine = [slot for slot in self._mine(connection, current, wanted.group) if slot < current.size]
        with self._access.undamaged():
            last = connection.execute(sa.select(sa.func.max(tickets.c.slot)).where(*here)).scalar_one()
            if last is not None and int(last) >= current.size:  # there are extra questions
                last = connection.execute(sa.select(sa.func.max(tickets.c.slot)).where(*regular)).scalar_one()
            start = 0 if last is None else int(last) // SHUFFLED * SHUFFLED

        def chosen(low: int, high: int, count: int) -> list[int]:
            within = sa.select(tickets.c.slot).where(*here, tickets.c.slot >= low, tickets.c.slot < high)
            handed = set(connection.execute(within).scalars())
            free = [slot for slot in range(low, high) if slot not in handed and slot not in found]
            seen.update(free[:1])
            if wanted.group is None:
                return drawn(free, count, wanted.in_order)
            asks = self._asks(connection, current, map(layout.query, free))
            here_begun = {layout.unit(slot) for slot in handed}
            return for_one(free, count, [*mine, *found], here_begun, layout, asks, given)

        found, seen = list[int](), set[int]()
        while len(found) < wanted.count and start < current.size:
            found += chosen(start, min(current.size, start + SHUFFLED), wanted.count - len(found))
            start += SHUFFLED
        if len(found) < wanted.count:  # a respondent, or an older program, passes over what is left of a window
            handed = sa.select(sa.func.count(tickets.c.slot.distinct())).where(*regular)
            if connection.execute(handed).scalar_one() + len(found) < current.size:
                found += chosen(0, current.size, wanted.count - len(found))
        return found, bool(seen)

    def _mine(self, connection: sa.Connection, current: Current, group: int | None) -> list[int]:
        """Return the slots of the round that the respondent was handed before."""
        if group is None:
            return []
        here = tickets.c.study == self._study, tickets.c.answer_group == group, tickets.c.round == current.number
        return sorted(as_numbers(connection.execute(sa.select(tickets.c.slot).where(*here)).scalars()))

    def _given(self, connection: sa.Connection, group: int | None) -> set[bytes]:
        """Return what a respondent was asked before, in all rounds."""
        if group is None:
            return set()
        at = sa.and_(rounds.c.study == tickets.c.study, rounds.c.round == tickets.c.round)
        extra = (loose.c.study, tickets.c.study), (loose.c.round, tickets.c.round), (loose.c.slot, tickets.c.slot)
        query = sa.case((loose.c.slot.is_(None), tickets.c.slot // rounds.c.repeats), else_=loose.c.query)
        asked = queries.c.study == tickets.c.study, queries.c.round == tickets.c.round, queries.c.query == query
        found = (
            sa.select(queries.c.x)
            .select_from(tickets)
            .join(rounds, at)
            .join(loose, sa.and_(*(a == b for a, b in extra)), isouter=True)
            .join(queries, sa.and_(*asked))
            .where(tickets.c.study == self._study, tickets.c.answer_group == group)
        )
        with self._access.undamaged():
            return {as_bytes(x) for x in connection.execute(found).scalars()}

    def _asks(self, connection: sa.Connection, current: Current, wanted: Iterable[int]) -> dict[int, bytes]:
        """Return what some queries of the round ask."""
        numbers = {*wanted}
        if not numbers:
            return {}
        here = queries.c.round == current.number, queries.c.query.between(min(numbers), max(numbers))
        with self._access.undamaged():
            rows = connection.execute(self._of(queries, *here)).all()
            return {row.query: as_bytes(row.x) for row in rows if row.query in numbers}

    def _lapsed(self, connection: sa.Connection, current: Current, now: float, lease: float, count: int) -> list[int]:
        """Return slots that are out, and whose lease has run out."""
        over = leases.c.round == current.number, sa.not_(holds(leases, now, lease))
        again = self._of(leases, *over).order_by(leases.c.slot).limit(max(count, SHUFFLED))
        with self._access.undamaged():
            return [int(row.slot) for row in connection.execute(again)]

    def _again(
        self,
        connection: sa.Connection,
        current: Current,
        back: Sequence[int],
        wanted: Wanted,
        count: int,
        given: set[bytes],
    ) -> list[int]:
        """Return some of the slots whose lease has run out."""
        if wanted.group is None:
            return drawn(back, count, wanted.in_order)
        layout = Layout(current.repeats, current.block)
        return for_one(back, count, [], set(), layout, self._asks(connection, current, map(layout.query, back)), given)

    def _handed(
        self,
        connection: sa.Connection,
        current: Current,
        slots: Sequence[int],
        group: int | None,
        asked: Sequence[int],
        until: int | None,
    ) -> list[Ticket]:
        """Write tickets for slots that ask these queries, and leases that end then, if anything is waited for."""
        where = [{"study": self._study, "round": current.number, "slot": slot, "answer_group": group} for slot in slots]
        if until is not None:
            out = leases.c.study == self._study, leases.c.round == current.number, leases.c.slot.in_(slots)
            connection.execute(leases.delete().where(*out))
            connection.execute(leases.insert(), [{**row, "until": until} for row in _by_slot(where)])
        given = [new_ticket() for _ in slots]
        rows = [{**w, "ticket": t.number, "secret": t.secret} for w, t in zip(where, given, strict=True)]
        insert_scattered(connection, tickets, rows)
        here = queries.c.round == current.number, queries.c.query.in_(asked)
        unit = Layout(current.repeats, current.block).unit
        with self._access.undamaged():
            stored = {row.query: row.x for row in connection.execute(self._of(queries, *here))}
            x = {query: (as_vector(bits, self._n), not holds_all(bits)) for query, bits in stored.items()}
            return [Ticket(t, x[i][0], unit(slot), x[i][1]) for t, i, slot in zip(given, asked, slots, strict=True)]

    def _extra(
        self, connection: sa.Connection, current: Current, wanted: Wanted, given: set[bytes], until: int
    ) -> list[Ticket]:
        """Hand out questions where there is none that is waited for.

        A method that goes on without some answers takes others, too: extra ones, to queries of the round, while the
        budget has room for them. Otherwise what is out is handed out a second time, and the first answer counts; where
        nothing is out either, the next round is just being computed, and what is asked is not used.
        """
        new = self._new(connection, current, given)
        extra = self._besides(connection, current, wanted, _once(new) or range(current.size // current.repeats))
        if extra:
            return extra
        own = self._used(answers.c.round == current.number, answers.c.slot < current.size)
        there = set(connection.execute(sa.select(answers.c.slot).where(*own)).scalars())
        out = [slot for slot in range(current.size) if slot not in there]
        mine = self._mine(connection, current, wanted.group)
        other = [slot for slot in out if slot // current.repeats in new] or [slot for slot in out if slot not in mine]
        slots = drawn(other or out or range(current.size), wanted.count)
        asked = [slot // current.repeats for slot in slots]
        return self._handed(
            connection, current, slots, wanted.group, asked, until if out and not current.closed else None
        )

    def _new(self, connection: sa.Connection, current: Current, given: set[bytes]) -> dict[int, Any]:
        """Return the queries of the round that ask something else than what was given before, and what they ask."""
        every = range(current.size // current.repeats)
        asks = self._asks(connection, current, every if given else ())
        return {query: asks.get(query, query) for query in every if asks.get(query) not in given}

    def _wants_another(self, connection: sa.Connection, current: Current, wanted: Wanted) -> bool:
        """Return whether an extra question is due to a respondent before one that was asked already comes again.

        One for each that came again: with more of them few people would never answer what the round waits for.
        """
        mine = self._mine(connection, current, wanted.group)
        own = [slot // current.repeats for slot in mine if slot < current.size]
        again = len(own) - len({*self._asks(connection, current, own).values()})
        return not wanted.patient and len(mine) - len(own) <= again

    def _besides(
        self, connection: sa.Connection, current: Current, wanted: Wanted, asked: Sequence[int]
    ) -> list[Ticket]:
        """Hand out extra questions to some of these queries; none where method or budget have no use for them."""
        count = wanted.count if current.least is not None else 0
        if self._most is not None:
            count = min(count, self._most - self._asked_for(connection))
        if count <= 0 or not asked:
            return []
        chosen = drawn(asked, count)
        slots = [EXTRA + secrets.randbelow(EXTRA) for _ in chosen]
        self._insert_loose(connection, current, slots, chosen)
        return self._handed(connection, current, slots, wanted.group, chosen, None)

    def _asked_for(self, connection: sa.Connection) -> int:
        """Return how many answers were asked for: those of all rounds, and extra ones."""
        sizes = sa.select(sa.func.sum(rounds.c.size)).where(rounds.c.study == self._study)
        extra = sa.select(sa.func.count()).where(loose.c.study == self._study, loose.c.slot >= EXTRA)
        return int(connection.execute(sizes).scalar_one()) + int(connection.execute(extra).scalar_one())

    def _insert_loose(
        self, connection: sa.Connection, current: Current, slots: Sequence[int], asked: Sequence[int]
    ) -> None:
        """Note extra questions; those of the round are written again with them, so that no place tells their order."""
        here = loose.c.study == self._study, loose.c.round == current.number
        names = loose.c.keys()  # quicker than the rows' own
        before = [dict(zip(names, row, strict=True)) for row in connection.execute(sa.select(loose).where(*here)).all()]
        as_numbers(row["slot"] for row in before)
        connection.execute(loose.delete().where(*here))
        row = {"study": self._study, "round": current.number, "came": None}
        new = [{**row, "slot": slot, "query": query} for slot, query in zip(slots, asked, strict=True)]
        connection.execute(loose.insert(), _by_slot([*before, *new]))

    def release(self, group: int | None = None) -> int:
        """Let every lease run out now, or those of one respondent; returns how many."""
        mine = () if group is None else (leases.c.answer_group == group,)
        with self._access.writing() as connection:
            over = leases.update().where(leases.c.study == self._study, leases.c.until > 0, *mine).values(until=0)
            return int(connection.execute(over).rowcount)


def _once(queries: dict[int, Any]) -> list[int]:
    """Return queries that ask different things, of queries with what they ask."""
    return list({what: query for query, what in queries.items()}.values())


def _by_slot(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["slot"]))
