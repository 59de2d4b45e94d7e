"""A study: ask, tell, and look at the result, in any number of processes, on any number of days."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense import errors
from mixsense.arrays import Array
from mixsense.checks import as_int, shown, summed_up
from mixsense.errors import InvalidInput, StudyError
from mixsense.features.units import feature_names
from mixsense.recovery import Recovery
from mixsense.rounds import LARGEST_ANSWER, TOO_MANY_AT_AN_END, Record
from mixsense.studies.cautions import PROMISES, UNCONFIRMED, with_warnings
from mixsense.studies.ids import read_id, text_of
from mixsense.studies.playback import Playback
from mixsense.studies.records import Question, StudyProgress
from mixsense.studies.settings import as_json, stored_asking, stored_problem
from mixsense.studies.storage.access import Access
from mixsense.studies.storage.catalogue import find_study, remove_study
from mixsense.studies.storage.confirmation import Confirmation
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.reports import Counts, Reports
from mixsense.studies.storage.scatter import TicketName
from mixsense.studies.storage.storage import Storage, Told

MOST_AT_ONCE = 10_000
"""The most questions that may be taken at once."""

GAVE_UP = {kind.__name__: kind for kind in (errors.ModelError, errors.BudgetError, errors.OracleError)}
"""The errors with which a study ends, by their names."""


class Study:
    """A method that runs as its answers come. Made by `create_study` and `load_study`.

    It may be used by several threads; other processes load the same study.
    """

    def __init__(self, database: Database, name: str) -> None:
        row = find_study(database, name)
        self._database = database
        self._row = row
        self._access = Access(database, row)
        with self._access.undamaged(of_ours=True):
            problem = stored_problem(json.loads(row.problem))
            asking = stored_asking(json.loads(row.asking), problem.n)
            self.names = feature_names(problem.n, problem.features)
        self._storage = Storage(self._access, problem.n)
        self.confirmation = Confirmation(self._access)
        """Which runs are not confirmed: for oracles that may show until they were closed that they were wrong."""
        self._reports = Reports(self._access, problem.n)
        self.problem: dict[str, Any] = json.loads(as_json(problem.to_dict()))
        """The arguments of the run as plain values, `seed` included: ``recover(oracle, **study.problem)``."""
        self.answer_range: tuple[float, float] | None = asking["range"]
        self.lease: float = asking["lease"]
        self.notes: dict[str, Any] = asking["notes"]
        """What was noted when the study was created."""
        self.units: tuple[str, ...] = asking["units"]
        self._playback = Playback(self._storage, problem)

    def __repr__(self) -> str:
        return f"<study {self.name!r} in {self._database.shown}>"

    @property
    def name(self) -> str:
        """The name of the study."""
        return self._row.name

    def close(self) -> None:
        """Close the connections to the database."""
        self._database.close()

    def ask(self) -> Question | None:
        """Take a question, and lease it: it is handed out again if no answer comes in time.

        Returns
        -------
        Question or None
            None if all open questions are out, or if there are no more; `progress` says which.
        """
        return next(iter(self.ask_many(1)), None)

    def ask_many(self, count: int, in_order: bool = False) -> list[Question]:
        """Take up to `count` questions at once; see `ask`.

        Their order is random, so that no place in the design tells who came first; `in_order` says that it is the
        design's, for an oracle that is no crowd.
        """
        count = min(as_int("count", count, 1, "how many questions to take"), MOST_AT_ONCE)
        while True:
            tickets = self._storage.hand_out(count, _minutes(), self.lease / 60, in_order)
            if tickets is not None:
                return [Question(self.id_of(t.name), t.x, self.names, self.units) for t in tickets]
            try:
                self._playback.catch_up()
            except errors.MixsenseError:
                if self._storage.end() is None:
                    raise
                return []  # result() tells why

    def tell(self, id: str, value: float) -> str:
        """Give the answer to a question. It is safe on disk when this returns.

        Parameters
        ----------
        id : str
            The id of the question.
        value : float
            The answer.

        Returns
        -------
        str
            "taken"; "known" if the same was told before; "surplus" if the question was handed out again after its
            lease and somebody else has answered it: then this answer is kept, and not used.

        Raises
        ------
        InvalidInput
            No such question, no usable number, or another answer than the one told before.
        """
        return self.tell_many([(id, value)])[0]

    def tell_many(self, answers: Iterable[tuple[str, float]], groups: Sequence[int | None] | None = None) -> list[str]:
        """Give several answers, all or none; see `tell`.

        Answers of a study with the same number in `groups` are known to share a hidden model; None is by itself.
        """
        told = [Told(self.ticket_of(id), self.checked(value)) for id, value in answers]
        if groups is not None:
            if not isinstance(groups, Sequence | np.ndarray) or len(groups) != len(told):
                raise InvalidInput(
                    f"groups is {summed_up(groups)}: give a number or None for each of {len(told)} answers"
                )
            told = [a._replace(group=_checked_group(group)) for a, group in zip(told, groups, strict=True)]
        return self._storage.take(told, self.id_of)

    def checked(self, value: Any) -> float:
        """Return an answer as a float, or say what is needed."""
        low, high = self.answer_range or (-LARGEST_ANSWER, LARGEST_ANSWER)
        needed = f"a number from {low:g} to {high:g}"
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise InvalidInput(f"the answer is {shown(value)}: give {needed}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not low <= number <= high:  # NaN too
            raise InvalidInput(f"the answer is {number:g}: give {needed}")
        return number + 0.0  # -0.0 is 0.0

    def id_of(self, ticket: TicketName) -> str:
        """Return the id of a ticket, which the world calls the question's id."""
        return text_of(self._row.key, ticket)

    def ticket_of(self, id: Any) -> TicketName:
        """Return the ticket that a question's id names, or say what is wrong with the id."""
        found = read_id(id) if isinstance(id, str) else None
        if found is None:
            raise InvalidInput(
                f"the question's id is {shown(id)}: give the id of a question of this study, as ask() did"
            )
        key, ticket = found
        if key != self._row.key:
            raise InvalidInput(
                f"question {id} belongs to another study: the ids of {self.name!r} begin with {self._row.key}-", id=id
            )
        return ticket

    def progress(self) -> StudyProgress:
        """Return where the study stands. It only reads, and may be called at any time, as often as you like."""
        low, high = self.answer_range or (None, None)
        c = self._reports.counts(_minutes(), self.lease / 60, low, high)
        open_ = c.size - c.answered - c.out
        state = "ready" if c.answered == c.size else "asking" if open_ else "waiting"
        if c.end is not None:
            state = "failed" if c.end == "failed" else "ended"
        return StudyProgress(
            name=self.name,
            state=state,
            status="uncertain" if c.unconfirmed and c.end in PROMISES else c.end,
            round=c.round + 1,
            label=c.label,
            size=c.size,
            answered=c.answered,
            out=c.out,
            open=open_,
            total=c.total,
            max_queries=self.problem["max_queries"],
            gamma=self.problem["gamma"],
            surplus=c.surplus,
            expired=c.expired,
            warnings=(*([UNCONFIRMED] if c.unconfirmed else []), *self._at_the_ends(c)),
        )

    def _at_the_ends(self, c: Counts) -> tuple[str, ...]:
        if self.answer_range is None:
            return ()
        return tuple(
            f"{hits / c.total:.0%} of the answers are {bound:g}, the {end} end of their range: what lies beyond is cut "
            "off, and the estimates lean to the middle; give a wider scale, or narrower ranges of the features"
            for hits, bound, end in zip((c.at_low, c.at_high), self.answer_range, ("lower", "upper"), strict=True)
            if hits > TOO_MANY_AT_AN_END * c.total
        )

    def result(self) -> Recovery:
        """Return the result or, while the study goes on, the best estimate so far.

        Returns
        -------
        Recovery
            In the user's units. Its status is "open" while the study goes on; its first warning then says which
            answers are missing.

        Raises
        ------
        StudyError
            There is no estimate yet.
        ModelError, BudgetError
            The method gave up, for the reason given.
        """
        best = None
        if (end := self._storage.end()) is None:
            best = self._playback.catch_up()
            end = self._storage.end()
        now = self.progress()
        if end is not None:
            r = self._ended(*end)
            status = "uncertain" if now.status == "uncertain" else r.status
            return replace(r, status=status, diagnostics=with_warnings(r, now.warnings))
        where = f"round {now.round} ({now.label}) has {now.answered:,} of {now.size:,} answers"
        if best is None:
            raise StudyError(f"there is no estimate yet: {where}; go on asking", answered=now.answered, needed=now.size)
        missing = f"the study goes on: {where}"
        return replace(best, status="open", diagnostics=with_warnings(best, [missing, *now.warnings]))

    def distrust(self, why: str) -> None:
        """End the study for good, whatever its result was: its answers cannot be trusted. They stay stored.

        Parameters
        ----------
        why : str
            What `result` says from now on.
        """
        self._storage.finish("failed", json.dumps({"error": "OracleError", "message": why}), overrule=True)

    def record(self) -> Record:
        """Return what was asked and answered in all complete rounds.

        ``recover(ReplayOracle(study.record()), **study.problem)`` gives the same vectors to the last bit, once the
        study has ended.
        """
        found: Record = []
        while (stored := self._storage.round(len(found))) is not None and stored[1] is not None:
            found.append(stored[1])
        return found

    def answers(self) -> list[dict[str, Any]]:
        """Return every answer in the order of the design: id, round, x (n,), answer, surplus."""
        return [
            {"id": self.id_of(row.pop("ticket")), **row, "round": row["round"] + 1} for row in self._reports.answered()
        ]

    def handed_out(self, ids: Iterable[str]) -> dict[str, Array]:
        """Return what the questions with these ids ask, x (n,); one that was never handed out is left out."""
        found = self._reports.handed_out({self.ticket_of(id) for id in ids})
        return {self.id_of(ticket): x for ticket, x in found.items()}

    def _ended(self, status: str, text: str) -> Recovery:
        with self._access.undamaged(of_ours=True):
            if status != "failed":
                return Recovery.from_json(text)
            why = json.loads(text)
            error = GAVE_UP[why["error"]](str(why["message"]))
        raise error

    def delete(self) -> None:
        """Remove the study and all its answers, for good: this one, whatever has its name by now."""
        remove_study(self._database, self._row)

    def release(self) -> None:
        """Let all leases run out now: what is out and not answered is handed out again."""
        self._storage.release()


def _checked_group(group: Any) -> int | None:
    return None if group is None else as_int("group", group, 0, "answers with the same number share a model", 2**63 - 1)


def _minutes() -> float:
    return time.time() / 60
