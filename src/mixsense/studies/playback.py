"""The method behind a study: begun again by every process, and sent the answers that the store holds."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mixsense.checks import one_line
from mixsense.errors import BudgetError, InvalidInput, MixsenseError, ModelError, StudyError
from mixsense.methods.begin import begin
from mixsense.methods.registry import entry_of
from mixsense.problem import Problem
from mixsense.recovery import Recovery, with_warnings
from mixsense.rounds import Asked, Round, Steps
from mixsense.studies.storage.storage import Storage
from mixsense.studies.storage.turns import Turns


def steps_of(problem: Problem) -> Steps[Recovery]:
    """Return a problem's method with the first round drawn."""
    return Steps(begin(problem), problem.max_queries)


class Playback:
    """A method that follows the store: it is sent each round's answers once, as soon as the round is closed.

    Parameters
    ----------
    storage : Storage
        Where the rounds and the answers are.
    turns : Turns
        Who computes the next round.
    problem : Problem
        All arguments of the run.
    """

    def __init__(self, storage: Storage, turns: Turns, problem: Problem) -> None:
        self._storage = storage
        self._turns = turns
        self._problem = problem
        self._steps: Steps[Recovery] | None = None
        self._round = 0
        self._lock = threading.Lock()  # a generator runs in one thread at a time

    def catch_up(self, now: float, patient: bool) -> bool:
        """Send all closed rounds to the method and, if it is our turn, compute what comes next and store it.

        The method computes outside any transaction: others may ask and tell meanwhile.

        Parameters
        ----------
        now : float
            The time, in minutes.
        patient : bool
            Whether all answers of the current round are waited for; otherwise those that are enough will do.

        Returns
        -------
        bool
            Whether something was computed that the study did not have.
        """
        with self._lock:
            steps, new = self._begun(), False
            while (current := steps.current) is not None:
                stored = self._storage.round(self._round)
                if stored is None:
                    self._storage.append(self._round, current)
                    if self._storage.end() is not None:  # another process ended the study
                        return new
                    new = True
                    continue  # what counts is what the store holds, even if another process was faster
                if not self._storage.followed(self._round):
                    if not self._turns.take(self._round, now, patient):
                        return new
                    stored = self._storage.round(self._round)  # as it was closed
                stored_round, asked = stored or (None, None)
                assert stored_round is not None
                assert asked is not None
                with self._computing():
                    _check_same(current, stored_round, entry_of(self._problem.method).any_queries)
                self._send(asked)
            with self._computing():
                result = self._result()
                text = _as_text(result)
            self._storage.finish(result.status, text)
            return True

    def estimate(self) -> Recovery | None:
        """Return the best estimate from the rounds that the method was sent; None if there is not any yet."""
        with self._lock:
            steps = self._begun()
            with self._computing():
                return steps.estimate()

    def _begun(self) -> Steps[Recovery]:
        if self._steps is None:
            with self._computing():
                self._steps = steps_of(self._problem)
        assert self._steps is not None
        return self._steps

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Forget a method that was stopped half-way: the next call begins it again with the stored answers."""
        try:
            yield
        except BaseException as error:
            self._steps = None
            self._round = 0
            with suppress(StudyError):  # the database may be gone: then the turn ends by itself
                self._turns.give_up()
            if isinstance(error, MixsenseError) or not isinstance(error, Exception):
                raise
            raise StudyError(
                f"the method failed while it computed what comes next ({type(error).__name__}: "
                f"{one_line(error, 200)}); no answer is lost: try again when the method, or mixsense, has been mended"
            ) from error

    def _send(self, asked: Asked) -> None:
        assert self._steps is not None
        try:
            with self._computing(), self._turns.kept():
                self._steps.send(asked)
        except (ModelError, BudgetError) as error:  # the method gave up: other errors may be mended, this is the end
            self._storage.finish("failed", json.dumps({"error": type(error).__name__, "message": str(error)}))
            raise
        self._round += 1

    def _result(self) -> Recovery:
        assert self._steps is not None
        assert self._steps.result is not None
        result = self._steps.result
        if isinstance(self._problem.seed, int):
            result.diagnostics["seed"] = self._problem.seed
        if result.status != "open":
            return result
        # Said of a study that goes on, and this one has ended.
        warning = "the method's status was 'open' although it had ended: nothing is promised"
        return with_warnings(result, [warning], status="uncertain")


def _check_same(current: Round, stored: Round, any_queries: bool) -> None:
    """Refuse a stored round that the method could not make use of."""
    (q, n), (stored_q, stored_n) = current.queries.shape, stored.queries.shape
    if current.repeats != stored.repeats or n != stored_n or not (q == stored_q or any_queries):
        raise StudyError(
            f"the stored round ({stored_q} queries, {stored.repeats} times each) is not what this version of mixsense "
            f"would ask ({q}, {current.repeats} times each): go on with the version that began the study"
        )


def _as_text(result: Recovery) -> str:
    """Return a result as it is stored; a method of the user's may return one that cannot be."""
    try:
        return result.to_json()
    except InvalidInput as error:
        raise StudyError(f"the result cannot be stored: {error}; no answer is lost: mend the method") from None
