"""An oracle that is a program: it reads lines of JSON, one for each query, and answers each with one JSON number."""

from __future__ import annotations

import contextlib
import os
import shlex
import threading
import uuid
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_float, shown
from mixsense.errors import InvalidInput, OracleError, Surplus
from mixsense.features.kinds import Feature
from mixsense.oracles.abilities import Keep, keep_none
from mixsense.oracles.program import PATIENCE, Program
from mixsense.oracles.queries import as_queries
from mixsense.oracles.secrets import Secrets
from mixsense.oracles.template import Answer, Body
from mixsense.rounds import carry

SETTLE = 0.002
"""Seconds of silence after an answer. Measured on two cores: a line written right after another one comes within
0.06 ms (2,000 of 2,000); with six busy processes 99.9 % within 2.2 ms, the last one after 44 ms."""


class CommandOracle:
    r"""Asks a program: a line of JSON to its standard input for each query, a line with a number from its output.

    Parameters
    ----------
    command : sequence of str, or str
        The program and its arguments; no shell is involved. It starts with the first question.
    timeout : float
        Seconds for one question and its answer.
    body : str, dict or list
        What a line holds: JSON with placeholders, ``{"id": "$id", "x": "$x"}`` by default; see
        `mixsense.oracles.template.Body`.
    answer : str
        Where the number is in the line that comes back; by default the line is the number, or an object
        ``{"id": …, "y": 3.5}``.
    features : sequence of str, Number or Integer, optional
        Names of the query's entries, for "$features"; an `Integer` is sent as a whole number.
    settle : float
        Seconds of silence that have to follow an answer before it counts. A program that repeats the id is not
        made to wait.

    Attributes
    ----------
    count : int
        Answers given so far.
    doubt : str or None
        Why the answers so far cannot be trusted: a line too many was seen.
    confirmed : bool
        Whether no line can come any more that would show an answer to be wrong: the program repeats the ids, or it has
        ended and everything that it wrote was looked at.

    Notes
    -----
    The program must flush each line. If it ends, is too slow or writes anything but one number for each query, the
    question fails with `OracleError` and the program is ended, with all processes that it started; the next call
    starts it again. Threads may call at the same time: they wait for each other.

    *One line too many* shifts all later answers, so it is looked for wherever it can be: before a question is written,
    while the program has not read it, for `settle` seconds after each answer, and at the end. `close`, and leaving the
    ``with`` block, let the program end and raise if it left anything: then no answer of this run can be trusted.
    What cannot be told from an answer: a line that comes later than `settle` seconds after an answer, when the next
    question was read already; with a program that needs longer than `settle` for each answer it is found at the end
    only. To be sure, let the program repeat the id of the query: ``{"id": "5f0c…", "y": 3.5}``. The body then has
    ``"id": "$id"`` at its top, as by default. If a line that comes back has an ``id``, it must be that of the query,
    and once the program has repeated one it always must.

    Examples
    --------
    >>> import sys
    >>> program = "import sys, json\nfor line in sys.stdin: print(sum(json.loads(line)['x']), flush=True)"
    >>> with CommandOracle([sys.executable, "-c", program]) as oracle:
    ...     oracle([[1.0, 2.0], [3.0, 4.0]], 2)
    array([[3., 3.],
           [7., 7.]])
    """

    def __init__(
        self,
        command: Sequence[str] | str,
        timeout: float = 30.0,
        body: Any = '{"id": "$id", "x": "$x"}',
        answer: str = "",
        features: Sequence[str | Feature] | None = None,
        settle: float = SETTLE,
    ) -> None:
        self._command = _as_command(command)
        self._timeout = as_float("timeout", timeout, "seconds for one answer", 0.0, strict=True)
        self._settle = as_float("settle", settle, "seconds of silence after an answer", 0.0)
        self._show = (secrets := Secrets()).show
        secrets.add_program(self._command[1:])
        self._body, self._answer = Body(body, features, secrets), Answer(answer, self._show)
        self._lock = threading.Lock()
        self._halts: set[threading.Event] = set()
        self._program: Program | None = None
        self._repeats_ids = self._closed = self._owes = False
        self.count = 0
        self.confirmed = True
        self.doubt: str | None = None

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer each query `repeats` times; returns (q, repeats)."""
        return self.answer_each(queries, repeats, 1, keep_none)

    def answer_each(self, queries: ArrayLike, repeats: int, block: int, keep: Keep) -> Array:
        """Answer each query `repeats` times, and call `keep(row, repeat, answer)` for each answer as it comes.

        Which answers share a model is not known, whatever the `block`.
        """
        X, repeats = as_queries(queries, repeats)
        self._body.check(X.shape[1])
        answers = np.full((len(X), repeats), np.nan)
        halt = threading.Event()
        self._halts.add(halt)
        try:
            with self._lock:
                self._fill(X, answers, halt, keep)
        finally:
            self._halts.discard(halt)
        return answers

    def _fill(self, X: Array, answers: Array, halt: threading.Event, keep: Keep) -> None:
        if self._closed:
            raise OracleError(f"the program {self._command[0]} was closed: make a new oracle")
        try:
            for slot in np.ndindex(answers.shape):
                answer = self._one(X[slot[0]], halt)
                self.count += 1
                answers[slot] = answer
                keep(slot[0], slot[1], answer)
        except BaseException as error:
            self._give_up(error)
            if self.doubt is None:  # what may belong to other questions is no answer
                carry(error, answers)
            raise

    def _give_up(self, error: BaseException) -> None:
        """End the program after a failure: what it writes later belongs to no question."""
        if self._program is None:
            return
        surplus = isinstance(error, Surplus)
        if surplus and not self._repeats_ids:
            self.doubt = str(error)
        self._owes = True  # one that was stopped on its way may still write its answer: one line, not two
        self._end(0.0 if surplus else PATIENCE)

    def _end(self, patience: float) -> Surplus | None:
        """End the program, and look at what it left; interrupted, the next call goes on with that."""
        if self._program is None:
            return None
        left = self._program.end(patience)
        found = None
        if len(left) > self._owes and not self._repeats_ids:  # with its id every answer is known to be the right one
            line, so = left[-1] if self._owes else left[0], "seen when it ended: none of its answers can be trusted;"
            found = self._program.unasked(line, so)
            self.doubt = self.doubt or str(found)
        self._program, self.confirmed = None, True
        return found

    def _one(self, x: Array, halt: threading.Event) -> float:
        if self._program is None:
            self._program, self._repeats_ids, self._owes = Program(self._command, self._show), False, False
            weakref.finalize(self, self._program.end)  # where nobody closes it
            self._program.start()
        name = uuid.uuid4().hex
        settle = 0.0 if self._repeats_ids else self._settle
        line = self._program.ask(self._body.fill(x, name), self._timeout, settle, halt)
        try:
            number, repeated = self._answer.read_named(line, name if self._body.named else None, self._repeats_ids)
        except OracleError as error:
            raise OracleError(f"the program {self._command[0]}: {error}", **error.data) from None
        self._repeats_ids = repeated
        if not repeated:
            self.confirmed = False
        return number

    def stop(self) -> None:
        """Let every call end soon, and the program with it; the next call starts it again."""
        for halt in tuple(self._halts):  # without the lock: a signal handler may call this
            halt.set()

    def close(self) -> None:
        """End the program: its input is closed, then it is asked to end, then killed; its children as well.

        Raises
        ------
        OracleError
            The program wrote more lines than it was asked for: its answers cannot be trusted.
        """
        self.stop()
        with self._lock:
            self._closed = True
            error = self._end(PATIENCE)
        if error is not None:
            raise error

    def __enter__(self) -> CommandOracle:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # An error that is on its way already says more than what the program left.
        with contextlib.suppress(OracleError) if kind is not None else contextlib.nullcontext():
            self.close()

    def __repr__(self) -> str:
        more = " …" if len(self._command) > 1 else ""  # an argument may be a key
        return f"CommandOracle({self._command[0] + more!r})"


def _as_command(command: Any) -> list[str]:
    hint = 'give the program and its arguments, e.g. ["python", "model.py"]'
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError as error:
            raise InvalidInput(f"the command cannot be split ({error}): {hint}") from None  # it may hold a key
    if isinstance(command, bytes) or not isinstance(command, Sequence) or not command or not command[0]:
        raise InvalidInput(f"the command is {shown(command, 20) if not command else type(command).__name__}: {hint}")
    for part in command:
        if not isinstance(part, (str, os.PathLike)) or "\0" in str(part):
            what = "a NUL" if isinstance(part, str) else f"an entry of type {type(part).__name__}"
            raise InvalidInput(f"the command holds {what}: {hint}")
    return [os.fspath(part) for part in command]
