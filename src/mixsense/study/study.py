"""A study: ask, tell, and look at the result, in any number of processes, on any number of days."""

from __future__ import annotations

import json
import math
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from mixsense import errors
from mixsense.errors import InvalidInput, StudyError
from mixsense.problem import whole
from mixsense.recovery import Recovery
from mixsense.rounds import LARGEST_ANSWER, Array, Record
from mixsense.study.checks import as_json, check_titles, checked_lease, checked_name, checked_range, checked_units
from mixsense.study.database import Database, shown
from mixsense.study.migrations import upgrade
from mixsense.study.playback import Playback, begin
from mixsense.study.question import Question
from mixsense.study.standing import StudyProgress
from mixsense.study.storage import Counts, Storage, delete_rows, find_row, insert_study, study_names
from mixsense.units import feature_names

LEASE = 600.0
"""Seconds that a question is waited for, by default."""
OFTEN = 0.05
"""A larger share of answers at an end of their range is worth a warning."""
MOST = 10_000
"""Questions that may be taken at once."""


class Study:
    """A method that runs as its answers come. Made by `create_study` and `load_study`.

    It may be used by several threads; other processes load the same study.
    """

    def __init__(self, database: Database, name: str) -> None:
        row = find_row(database, name)
        self._database = database
        self._row = row
        self._storage = Storage(database, row.study)
        self.problem: dict[str, Any] = json.loads(row.problem)
        """The arguments that the study was created with, `seed` included."""
        asking = json.loads(row.asking)
        self.answer_range: tuple[float, float] | None = asking["range"] and tuple(asking["range"])
        self.lease: float = asking["lease"]
        self.notes: dict[str, Any] = asking.get("notes", {})
        """What was noted when the study was created."""
        self.names = feature_names(self.problem["n"], self.problem["features"])
        self.units: tuple[str, ...] = tuple(asking["units"] or [""] * self.problem["n"])
        self._playback = Playback(self._storage, self.problem)

    def __repr__(self) -> str:
        return f"<study {self.name!r} in {self._database.shown}>"

    @property
    def name(self) -> str:
        """The name of the study."""
        return self._row.name

    def close(self) -> None:
        """Give the connections to the database back."""
        self._database.close()

    def ask(self) -> Question | None:
        """Take a question, and lease it: it is handed out again if no answer comes in time.

        Returns
        -------
        Question or None
            None if all open questions are out, or if there are no more; `progress` tells which.
        """
        return next(iter(self.ask_many(1)), None)

    def ask_many(self, count: int) -> list[Question]:
        """Take up to `count` questions at once; see `ask`."""
        count = min(whole("count", count, 1, "how many questions to take"), MOST)
        while True:
            handed = self._storage.hand_out(count, _minutes(), self.lease / 60)
            if not handed.complete:
                return [Question(self.id_of(t.number), t.x, self.names, self.units) for t in handed.tickets]
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
            "taken"; "known" if the same was told before; "surplus" if the question came back after its lease and
            somebody else has answered it: then this answer is kept, and not used.

        Raises
        ------
        InvalidInput
            No such question, no usable number, or another answer than the one told before.
        """
        return self.tell_many([(id, value)])[0]

    def tell_many(self, answers: Iterable[tuple[str, float]]) -> list[str]:
        """Give several answers, all or none; see `tell`."""
        told = [(self.checked_id(id), self.checked(value)) for id, value in answers]
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

    def id_of(self, ticket: int) -> str:
        """Return a question's id by the number in it."""
        return f"{self._row.key}-{ticket}"

    def checked_id(self, id: Any) -> int:
        """Return the number in a question's id, or say what is wrong with it."""
        key = self._row.key
        found = re.fullmatch(r"([b-z]{4})-([1-9][0-9]{0,17})", id, re.ASCII) if isinstance(id, str) else None
        if found is None:
            raise InvalidInput(
                f"the question's id is {shown(id)}: give the id of a question of this study, like {key}-17"
            )
        if found[1] != key:
            raise InvalidInput(
                f"question {id} belongs to another study: the ids of {self.name!r} begin with {key}-", id=id
            )
        return int(found[2])

    def progress(self) -> StudyProgress:
        """Return where the study stands. It only reads, and may be called at any time, as often as you like."""
        low, high = self.answer_range or (None, None)
        c = self._storage.counts(_minutes(), low, high)
        open_ = c.size - c.answered - c.out
        state = "ready" if c.answered == c.size else "asking" if open_ else "waiting"
        if c.end is not None:
            state = "failed" if c.end == "failed" else "ended"
        return StudyProgress(
            name=self.name,
            state=state,
            status=c.end,
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
            warnings=self._at_the_ends(c),
        )

    def _at_the_ends(self, c: Counts) -> tuple[str, ...]:
        if self.answer_range is None:
            return ()
        return tuple(
            f"{hits / c.total:.0%} of the answers are {bound:g}, the {end} end of their range: what lies beyond is cut "
            "off, and the estimates lean to the middle; give a wider scale, or narrower ranges of the features"
            for hits, bound, end in zip((c.at_low, c.at_high), self.answer_range, ("lower", "upper"), strict=True)
            if hits > OFTEN * c.total
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
            r = _ended(*end)
            return replace(r, diagnostics=_with_warnings(r, now.warnings))
        where = f"round {now.round} ({now.label}) has {now.answered:,} of {now.size:,} answers"
        if best is None:
            raise StudyError(f"there is no estimate yet: {where}; go on asking", answered=now.answered, needed=now.size)
        missing = f"the study goes on: {where}"
        return replace(best, status="open", diagnostics=_with_warnings(best, [missing, *now.warnings]))

    def record(self) -> Record:
        """Return the queries (q, n) and answers (q, repeats) of all complete rounds.

        ``recover(ReplayOracle(study.record()), **study.problem)`` gives the same vectors to the last bit, once the
        study has ended.
        """
        found: Record = []
        while (asked := self._storage.asked(len(found))) is not None and asked[2] is not None:
            found.append((asked[0], asked[2]))
        return found

    def answers(self) -> list[dict[str, Any]]:
        """Return every answer in the order of the questions: id, round, x (n,), answer, surplus."""
        return [
            {"id": self.id_of(row.pop("ticket")), **row, "round": row["round"] + 1} for row in self._storage.answered()
        ]

    def handed_out(self, ids: Iterable[str]) -> dict[str, Array]:
        """Return what the questions with these ids ask, x (n,); one that was never handed out is left out."""
        found = self._storage.handed_out({self.checked_id(id) for id in ids})
        return {self.id_of(ticket): x for ticket, x in found.items()}

    def release(self) -> None:
        """Let all leases run out now: what is out and not answered is handed out again."""
        self._storage.release()


def _minutes() -> float:
    return time.time() / 60


def _ended(status: str, text: str) -> Recovery:
    if status != "failed":
        return Recovery.from_json(text)
    why = json.loads(text)
    raise getattr(errors, why["error"])(why["message"])


def _with_warnings(r: Recovery, more: Sequence[str]) -> dict[str, Any]:
    if not more:
        return r.diagnostics
    return {**r.diagnostics, "warnings": [*more, *r.diagnostics.get("warnings", [])]}


def create_study(
    url: str | PathLike[str],
    name: str,
    n: int,
    gamma: float | None = 0.1,
    k: int | None = None,
    sigma: float | None = None,
    eta: float = 0.05,
    method: str = "frugal",
    weights: tuple[float, float] | str | None = None,
    max_queries: int | None = None,
    seed: Any = None,
    features: Sequence[str] | None = None,
    box: Any = None,
    intercept: bool = False,
    *,
    units: Sequence[str] | None = None,
    answer_range: tuple[float, float] | None = None,
    lease: float = LEASE,
    notes: dict[str, Any] | None = None,
    **options: Any,
) -> Study:
    """Begin a study: a method that asks whenever somebody takes a question, and never loses an answer.

    Parameters
    ----------
    url : str or path
        The database: ``sqlite:///tea.db``, a file's name, or ``postgresql://user@host/database``. It is made if it is
        not there, and may hold many studies.
    name : str
        Name of the study in this database.
    n, gamma, k, sigma, eta, method, weights, max_queries, seed, features, box, intercept, **options
        As for `recover`.
    units : sequence of str, optional
        The unit of each feature, to be shown with the questions.
    answer_range : pair of float, optional
        Smallest and largest possible answer, such as (1, 7). Others are refused.
    lease : float
        Seconds that a question is waited for before it is handed out again, rounded up to whole minutes.
    notes : dict, optional
        Plain values to keep with the study, such as who is asked; `Study.notes` gives them back.

    Returns
    -------
    Study

    Examples
    --------
    >>> import mixsense as ms, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = ms.create_study(f"{folder.name}/tea.db", "tea", n=3, sigma=1.0, seed=1)
    >>> question = study.ask()
    >>> study.tell(question.id, 6.5)
    'taken'
    >>> study.progress().answered
    1
    >>> study.close(); folder.cleanup()
    """
    problem = {
        "n": n,
        "gamma": gamma,
        "k": k,
        "sigma": sigma,
        "eta": eta,
        "method": method,
        "weights": weights,
        "max_queries": max_queries,
        "seed": secrets.randbits(63) if seed is None else seed,
        "features": features,
        "box": box,
        "intercept": intercept,
        **options,
    }
    text = as_json(problem)
    name = checked_name(name)
    check_titles(features, intercept)
    first = begin(json.loads(text)).current
    if first is None:
        raise InvalidInput("this problem needs no questions: nothing is to be studied")
    asking = {"units": checked_units(units, n), "range": checked_range(answer_range), "lease": checked_lease(lease)}
    if notes is not None:
        asking["notes"] = json.loads(as_json(notes))
    database = Database(url, create=True)
    upgrade(database, create=True)
    insert_study(database, name, text, json.dumps(asking), first)
    return Study(database, name)


def load_study(url: str | PathLike[str], name: str) -> Study:
    """Load a study that was created before, in this process or in another one.

    Parameters
    ----------
    url : str or path
        The database; see `create_study`.
    name : str
        Name of the study.
    """
    database = _opened(url)
    return Study(database, checked_name(name))


def list_studies(url: str | PathLike[str]) -> list[str]:
    """Return the names of the studies in a database."""
    return study_names(_opened(url))


def delete_study(url: str | PathLike[str], name: str) -> None:
    """Remove a study and all its answers, for good."""
    database = _opened(url)
    delete_rows(database, find_row(database, checked_name(name)).study)


def _opened(url: str | PathLike[str]) -> Database:
    database = Database(url)
    upgrade(database)
    return database
