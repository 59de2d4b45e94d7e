"""A study: ask, tell, and look at the result, in any number of processes, on any number of days."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mixsense import errors
from mixsense.arrays import Array
from mixsense.checks import as_int
from mixsense.errors import InvalidInput
from mixsense.features.units import feature_names
from mixsense.recovery import Recovery
from mixsense.rounds import Record
from mixsense.scales import scale_of
from mixsense.studies.given import checked_answer, checked_group, checked_groups, checked_token, ticket_of
from mixsense.studies.ids import check_key, text_of
from mixsense.studies.playback import Playback
from mixsense.studies.records import Question, StudyProgress
from mixsense.studies.settings import as_json, stored_asking, stored_problem
from mixsense.studies.standing import ended, standing, stored_end, unfinished
from mixsense.studies.storage.access import Access
from mixsense.studies.storage.catalogue import find_study, remove_study
from mixsense.studies.storage.confirmation import Confirmation
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.people import People
from mixsense.studies.storage.questions import Questions, Wanted
from mixsense.studies.storage.reports import Reports
from mixsense.studies.storage.scatter import TicketName
from mixsense.studies.storage.storage import Storage, Told
from mixsense.studies.storage.turns import Turns
from mixsense.studies.storage.turns import minutes as _minutes

MOST_AT_ONCE = 10_000
"""The most questions that may be taken at once."""


class Study:
    """A method that runs as its answers come. Made by `create_study` and `load_study`.

    It may be used by several threads; other processes load the same study.

    Examples
    --------
    >>> import mixsense as ms, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = ms.create_study(f"{folder.name}/tea.db", "tea", n=3, sigma=1.0, seed=1)
    >>> for question in study.ask_many(5):
    ...     _ = study.tell(question.id, float(question.x[0]))
    >>> study.progress().answered
    5
    >>> study.close(); folder.cleanup()
    """

    def __init__(self, database: Database, name: str) -> None:
        row = find_study(database, name)
        self._database = database
        self._row = row
        self._access = Access(database, row)
        with self._access.undamaged(of_ours=True):
            check_key(row.key)
            problem = stored_problem(json.loads(row.problem))
            asking = stored_asking(json.loads(row.asking), problem.n)
            self.names = feature_names(problem.n, problem.features)
            self.features = problem.kinds
            """What the features may be, if that was said; None if they have names only."""
        self._storage = Storage(self._access, problem.n)
        turns = Turns(self._access, problem.max_queries)
        self._questions = Questions(self._access, turns, problem.n, problem.max_queries)
        self._people = People(self._access)
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
        self._playback = Playback(self._storage, turns, problem)

    def __repr__(self) -> str:
        return f"<study {self.name!r} in {self._database.shown}>"

    @property
    def name(self) -> str:
        """The name of the study."""
        return self._row.name

    def close(self) -> None:
        """Close the connections to the database."""
        self._database.close()

    def ask(self, respondent: str | None = None, *, advance: bool = True) -> Question | None:
        """Take a question, and lease it: it is handed out again if no answer comes in time.

        Parameters
        ----------
        respondent : str, optional
            A token of whoever will answer, such as a random cookie: the same for all questions of one person. Answers
            to the same token are known to share a hidden model. Nobody is asked again what they were asked before as
            long as the round has something else. The token is stored nowhere.
        advance : bool
            Compute the next round here if it is due and no other process does. Say False where a process beside the
            requests calls `advance`.

        Returns
        -------
        Question or None
            None when the study has ended, and not before.

        Notes
        -----
        Nobody waits: while a round's last questions are out, or the next round is computed, extra questions are handed
        out, or for a method that has no use for these a question that is out already: the first answer counts.
        """
        return next(iter(self.ask_many(1, respondent=respondent, advance=advance)), None)

    def ask_many(
        self,
        count: int,
        in_order: bool = False,
        *,
        respondent: str | None = None,
        advance: bool = True,
        patient: bool = False,
    ) -> list[Question]:
        """Take up to `count` questions at once; see `ask`.

        Parameters
        ----------
        count : int
        in_order : bool
            In the order of the design. Otherwise it is random, so that no place in the design tells who came first.
        respondent, advance
            As for `ask`. A respondent gets no two questions at once that ask the same.
        patient : bool
            Wait for all answers of a round before the next one, and take no extra questions: then nothing is handed out
            while the rest of the round is out.
        """
        count = min(as_int("count", count, 1, "how many questions to take"), MOST_AT_ONCE)
        group = None if respondent is None else self._people.group_of(checked_token(respondent))
        wanted = Wanted(count, in_order, group, patient, advance)
        while True:
            tickets = self._questions.hand_out(wanted, _minutes(), self.lease / 60)
            if tickets is not None:
                return [
                    Question(self.id_of(t.name), t.x, self.names, self.units, group, t.unit, self.features, t.sparse)
                    for t in tickets
                ]
            self._go_on(patient)

    def advance(self) -> bool:
        """Compute the next round if it is due and no other process does: the work of a process beside the requests.

        Returns whether there is something new.

        Examples
        --------
        >>> import mixsense as ms, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> study = ms.create_study(f"{folder.name}/tea.db", "tea", n=3, sigma=1.0, seed=1)
        >>> study.tell_many([(q.id, 1.0) for q in study.ask_many(100)])[-1], study.advance(), study.advance()
        ('taken', True, False)
        >>> study.close(); folder.cleanup()
        """
        return self._storage.end() is None and self._go_on(patient=False)

    def _go_on(self, patient: bool) -> bool:
        try:
            return self._playback.catch_up(_minutes(), patient)
        except errors.MixsenseError:
            if self._storage.end() is None:
                raise
            return True  # result() tells why

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

        Answers of a study with the same number in `groups` are known to share a hidden model; None is by itself, or
        belongs to the respondent that the question was handed to. Another number than that one's is refused.
        """
        told = [Told(self.ticket_of(id), self.checked(value)) for id, value in answers]
        told = [a._replace(group=group) for a, group in zip(told, checked_groups(groups, len(told)), strict=True)]
        return self._storage.take(told, self.id_of)

    def checked(self, value: Any) -> float:
        """Return an answer as a float, or say what is needed."""
        found = checked_answer(value, self.answer_range)
        if (scale := scale_of(self.problem.get("scale"))) is not None:
            scale.check(np.array([found]))
        return found

    def id_of(self, ticket: TicketName) -> str:
        """Return the id of a ticket, which the world calls the question's id."""
        return text_of(self._row.key, ticket)

    def ticket_of(self, id: Any) -> TicketName:
        """Return the ticket that a question's id names, or say what is wrong with the id."""
        return ticket_of(id, self._row.key, self.name)

    def progress(self) -> StudyProgress:
        """Return where the study stands. It only reads, and may be called at any time, as often as you like."""
        low, high = self.answer_range or (None, None)
        counts = self._reports.counts(_minutes(), self.lease / 60, low, high)
        cut = self.answer_range if self.problem.get("scale") is None else None  # a rating's ends are known to be cut
        return standing(self.name, counts, self.problem["max_queries"], self.problem["gamma"], cut)

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
            self._playback.catch_up(_minutes(), patient=True)
            if (end := self._storage.end()) is None:
                best = self._playback.estimate()
        now = self.progress()
        if end is not None:
            with self._access.undamaged(of_ours=True):
                r = stored_end(*end)
            return ended(r, now)
        return unfinished(best, now)

    def distrust(self, why: str) -> None:
        """End the study for good, whatever its result was: its answers cannot be trusted. They stay stored.

        `why` is what `result` says from now on.
        """
        self._storage.finish("failed", json.dumps({"error": "OracleError", "message": why}), overrule=True)

    def record(self) -> Record:
        """Return what the method was given, round by round: what was asked and answered.

        ``recover(ReplayOracle(study.record()), **study.problem)`` gives the same vectors to the last bit, once the
        study has ended and if no answer came late or besides.
        """
        found: Record = []
        while (stored := self._storage.round(len(found))) is not None and stored[1] is not None:
            found.append(stored[1])
        return found

    def answers(self) -> list[dict[str, Any]]:
        """Return every answer in the order of the design: id, round, x (n,), answer, surplus, group.

        Answers with the same group have one respondent; None says that nothing is known.
        """
        return [
            {"id": self.id_of(row.pop("ticket")), **row, "round": row["round"] + 1} for row in self._reports.answered()
        ]

    def handed_out(self, ids: Iterable[str]) -> dict[str, Array]:
        """Return what the questions with these ids ask, x (n,); one that was never handed out is left out."""
        found = self._reports.handed_out({self.ticket_of(id) for id in ids})
        return {self.id_of(ticket): x for ticket, x in found.items()}

    def respondents(self, ids: Iterable[str]) -> dict[str, int | None]:
        """Return the group of each of these questions that has an answer (None: nobody said) or was handed to one."""
        found = self._reports.respondents({self.ticket_of(id) for id in ids})
        return {self.id_of(ticket): group for ticket, group in found.items()}

    def delete(self) -> None:
        """Remove the study and all its answers, for good: this one, whatever has its name by now."""
        remove_study(self._database, self._row)

    def release(self, group: int | None = None, *, respondent: str | None = None) -> int:
        """Let leases run out now: what is out and not answered is handed out again.

        All of them, or those of one respondent, by `Question.group` or the token; returns how many were out.
        """
        if respondent is not None:
            if group is not None:
                raise InvalidInput("release() was given a group and a respondent: give one of them")
            group = self._people.group_of(checked_token(respondent))
            if group is None:  # the study has ended
                return 0
        return self._questions.release(checked_group(group))
