"""Drive a study with an oracle that is a callable, with several calls at a time."""

from __future__ import annotations

import math
import secrets
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_int, summed_up
from mixsense.errors import InvalidInput, MixsenseError, OracleError
from mixsense.oracles.abilities import Watchful
from mixsense.progress import progress_hook
from mixsense.recovery import Recovery
from mixsense.rounds import (
    Asked,
    Oracle,
    Progress,
    ProgressHook,
    answered,
    carry,
    dense,
    in_cases,
    is_sparse,
    knows_groups,
    unlike,
    usable,
)
from mixsense.studies.records import Question
from mixsense.studies.storage.people import GROUP_BITS
from mixsense.studies.study import Study

POLL_SECONDS = 1.0
"""Seconds between two looks at questions that other processes hold."""


def run_study(
    study: Study,
    oracle: Oracle,
    workers: int = 8,
    batch: int = 1,
    progress: bool | ProgressHook = False,
    take_over: bool = True,
) -> Recovery:
    """Answer a study's questions with an oracle until it ends.

    Parameters
    ----------
    study : Study
        The study. What it has answers to is not asked again.
    oracle : callable
        ``oracle(queries, 1)`` with queries (q, n) gives the answers (q, 1). It is called from several threads at once.
        One that knows which of its answers share a model (`asked`) is believed, and its groups are stored.
    workers : int
        How many calls may run at the same time.
    batch : int
        Questions in a call, or more if they want one respondent. Answers are stored after each call, so that a crash
        loses the calls in flight only.
    progress : bool or callable
        True shows a progress bar (quiet lines where there is no terminal); a callable receives `Progress` objects.
    take_over : bool
        Ask again at once what an earlier run left unanswered. Say False where several processes drive the same study,
        or people answer it too: then what others hold is waited for until its lease ends.

    Returns
    -------
    Recovery
        The study's result: with the same seed and answers the same as that of `recover`, to the last bit.

    Raises
    ------
    OracleError
        The oracle raised or gave an unusable answer. All others, of the same call too, are stored; call again to go on.
        An oracle that sent more than it was asked for (its `doubt`) ends the study for good.

    Examples
    --------
    >>> import mixsense as ms, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = ms.create_study(f"{folder.name}/lab.db", "lab", n=10, gamma=0.4, sigma=1.0, seed=1)
    >>> oracle = ms.SimulatedOracle(ms.random_pair(10, 2, gap=5.0, seed=1), sigma=1.0, seed=2)
    >>> ms.run_study(study, oracle, workers=1, batch=50).status
    'certified'
    >>> study.close(); folder.cleanup()
    """
    workers = as_int("workers", workers, 1, "how many calls of the oracle may run at the same time")
    batch = as_int("batch", batch, 1, "how many questions go into one call of the oracle")
    if not callable(oracle):
        raise InvalidInput(f"oracle is {summed_up(oracle)}: give a callable oracle(queries, repeats)", oracle=oracle)
    if take_over:
        study.release()
    try:
        with progress_hook(progress) as hook, ThreadPoolExecutor(workers, thread_name_prefix="mixsense") as pool:
            _Dispatcher(study, oracle, pool, workers, batch, hook).work()
    finally:
        refuse_doubtful(study, oracle)
    return study.result()


def refuse_doubtful(study: Study, oracle: Any, then: str = "begin another one") -> None:
    """End a study for good if what its oracle answered may belong to other questions: no later run shows it either."""
    doubt = oracle.doubt if isinstance(oracle, Watchful) else None
    if isinstance(doubt, str) and study.progress().total:  # an object of the user's may mean something else by it
        why = f"{doubt}; the study {study.name!r} cannot go on: mend that, and {then}"
        study.distrust(why)
        raise OracleError(why)


class _Dispatcher:
    """Takes questions, gives them to threads that call the oracle, and stores what they bring.

    Only the thread that calls `work` talks to the database.
    """

    def __init__(
        self,
        study: Study,
        oracle: Oracle,
        pool: ThreadPoolExecutor,
        workers: int,
        batch: int,
        hook: ProgressHook | None,
    ) -> None:
        self._study, self._pool, self._hook = study, pool, hook
        self._oracle = in_cases(oracle, study.features)
        self._workers, self._batch = workers, batch
        self._block = int(study.problem.get("block", 1))
        self._calls: dict[Future[Asked], list[Question]] = {}
        self._reserve: list[Question] = []
        self._dry = False  # the rest of the round is out
        self._grouped = knows_groups(oracle)
        # The oracle counts its groups from the start in each run: stored are numbers of this run's own.
        self._groups: defaultdict[int, int] = defaultdict(lambda: secrets.randbits(GROUP_BITS))

    def work(self) -> None:
        """Go on until the study has ended; what came before a failure or Ctrl-C is stored."""
        try:
            while self._fill() or self._others_at_work():
                if self._calls:
                    self._store(wait(self._calls, return_when=FIRST_COMPLETED).done)
        except BaseException:
            for call in self._calls:
                call.cancel()
            running = [call for call in self._calls if not call.cancelled()]
            self._store(wait(running).done, failing=True)
            raise

    def _fill(self) -> bool:
        """Keep all threads busy; returns whether there is anything to wait for."""
        if not self._calls and not self._reserve:
            self._dry = False
        while len(self._calls) < self._workers:
            if len(self._reserve) < self._batch * self._block and not self._dry:
                wanted = 2 * self._workers * self._batch * self._block
                taken = self._study.ask_many(wanted, in_order=True, patient=True)
                self._reserve += taken
                self._dry = len(taken) < wanted  # ask when those that are out have come back
            if not self._reserve:
                break
            end = self._batch
            while end < len(self._reserve) and self._reserve[end].unit == self._reserve[end - 1].unit:
                end += 1  # what wants one respondent stays together
            part, self._reserve = self._reserve[:end], self._reserve[end:]
            self._calls[self._pool.submit(self._answer, part)] = part
        return bool(self._calls)

    def _answer(self, part: list[Question]) -> Asked:
        X = _rows(part)
        units = np.array([q.unit for q in part])
        ends = np.flatnonzero(np.diff(units)) + 1
        if len(ends) == len(part) - 1:  # nobody is to be kept
            found = answered(self._oracle, X, 1)
        else:
            found = self._answer_units(np.split(dense(X), ends))
        if is_sparse(X):
            changed = found.vectors.shape != X.shape or bool(unlike(found.vectors, X, 0.0).any())
        else:
            changed = not np.array_equal(dense(found.vectors), X)
        if changed:
            raise OracleError("the oracle's asked() changed the queries: a study keeps its own, return these")
        return found

    def _answer_units(self, units: list[Array]) -> Asked:
        """Ask for one respondent after the other; what came before a failure is not lost."""
        parts = list[Asked]()
        for i, x in enumerate(units):
            try:
                parts.append(answered(self._oracle, x, 1, len(x)))
            except Exception as error:
                came = usable(getattr(error, "received", None), len(x), 1)
                missing = np.full((sum(len(later) for later in units[i + 1 :]), 1), math.nan)
                carry(error, np.concatenate([*(part.table() for part in parts), came, missing]))
                raise
        return Asked.join(parts)

    def _store(self, done: set[Future[Asked]], failing: bool = False) -> None:
        told: list[tuple[str, float]] = []
        groups: list[int | None] = []
        failures: list[Exception] = []
        for call in done:
            values, numbers = self._came(call, failures)
            for q, value, group in zip(self._calls[call], values, numbers, strict=True):
                if math.isnan(value):  # no answer came: the call's failure says why
                    continue
                try:
                    told.append((q.id, self._study.checked(value)))
                    groups.append(group)
                except InvalidInput as error:  # this answer only: the others of the call were paid for, too
                    failures.append(error)
        if told:
            self._study.tell_many(told, groups)
        for call in done:  # only now: after Ctrl-C in the middle of it they are told again, which does no harm
            del self._calls[call]
        if told:
            self._show()
        if failures and not failing:
            failure = failures[0]
            what = str(failure) if isinstance(failure, MixsenseError) else f"{type(failure).__name__}: {failure}"
            verb = "failed" if isinstance(failure, MixsenseError) else "raised"
            raise OracleError(
                f"the oracle {verb} ({what}); all other answers are stored: run the study again to go on"
            ) from failure

    def _came(self, call: Future[Asked], failures: list[Exception]) -> tuple[list[float], Sequence[int | None]]:
        """Return the answers of a call, NaN where there is none, and their groups; what it raised is appended."""
        alone = [None] * len(self._calls[call])
        try:
            found = call.result()
            numbers = [self._groups[group] for group in found.group.tolist()] if self._grouped else alone
            return found.answers.tolist(), numbers
        except Exception as error:  # whatever the user's oracle raises
            failures.append(error)
            received = getattr(error, "received", None)
        return usable(received, len(alone), 1)[:, 0].tolist(), alone

    def _show(self) -> None:
        if self._hook is not None:
            now = self._study.progress()
            self._hook(Progress(now.label, now.answered, now.size, now.total, now.max_queries))

    def _others_at_work(self) -> bool:
        over = self._study.progress().state in ("ended", "failed")
        if not over:
            time.sleep(POLL_SECONDS)
        return not over


def _rows(part: Sequence[Question]) -> Array:
    """Return what questions ask, (q, n): SciPy's CSR rows if all of them are sparse."""
    if not all(q.sparse for q in part):
        return np.stack([q.x for q in part])
    from scipy.sparse import csr_array

    places = [np.flatnonzero(q.x) for q in part]
    values = np.concatenate([q.x[here] for q, here in zip(part, places, strict=True)])
    ends = np.cumsum([0, *map(len, places)])
    return csr_array((values, np.concatenate(places), ends), shape=(len(part), len(part[0].x)))  # type: ignore[no-any-return]
