"""An oracle that is a program: it reads lines of JSON, one for each query, and answers each with one JSON number."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_float, one_line
from mixsense.errors import InvalidInput, OracleError
from mixsense.oracles.queries import as_queries
from mixsense.oracles.template import Answer, Body

LONGEST_LINE = 100_000
"""A program that writes more bytes than this without a line end is stopped: no number is as long."""
_AHEAD = 100
"""At most this many lines are read before they are asked for; then the program has to wait."""
_PATIENCE = 2.0
"""Seconds that a program has to end by itself before it is ended."""


class CommandOracle:
    r"""Asks a program: a line of JSON to its standard input for each query, a line with a number from its output.

    Parameters
    ----------
    command : sequence of str, or str
        The program and its arguments; no shell is involved. It starts with the first question.
    timeout : float
        Seconds for one answer.
    body : str, dict or list
        What a line holds: JSON with placeholders, ``{"x": "$x"}`` by default; see `mixsense.oracles.template.Body`.
    answer : str
        Where the number is in the line that comes back; by default the line is the number.
    features : sequence of str, optional
        Names of the query's entries, for "$features".

    Attributes
    ----------
    count : int
        Answers given so far.

    Notes
    -----
    The program must flush each line. If it ends, is too slow or writes anything but a number, the question fails with
    `OracleError` and the program is stopped; the next call starts it again. Threads may call at the same time: they
    wait for each other.

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
        body: Any = '{"x": "$x"}',
        answer: str = "",
        features: Sequence[str] | None = None,
    ) -> None:
        self._command = _as_command(command)
        self._timeout = as_float("timeout", timeout, "seconds for one answer", 0.0, strict=True)
        self._body, self._answer = Body(body, features), Answer(answer)
        self._lock = threading.Lock()
        self._program: _Program | None = None
        self._closed = False
        self.count = 0

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer each query `repeats` times; returns (q, repeats)."""
        X, repeats = as_queries(queries, repeats)
        self._body.check(X.shape[1])
        answers = np.full((len(X), repeats), np.nan)
        with self._lock:
            if self._closed:
                raise OracleError(f"the program {self._command[0]} was closed: make a new oracle")
            try:
                for slot in np.ndindex(answers.shape):
                    answers[slot] = self._one(X[slot[0]])
                    self.count += 1
            except BaseException as error:
                self._stop()  # what the program writes later belongs to no question
                if isinstance(error, OracleError):
                    error.data.setdefault("received", answers)
                raise
        return answers

    def _one(self, x: Array) -> float:
        if self._program is None:
            self._program = _Program(self._command)
        line = self._program.ask(self._body.fill(x), self._timeout)
        try:
            return self._answer.read(line)
        except OracleError as error:
            raise OracleError(f"the program {self._command[0]}: {error}", **error.data) from None

    def _stop(self) -> None:
        if self._program is not None:
            self._program.close()
            self._program = None

    def close(self) -> None:
        """End the program: its input is closed, then it is asked to end, then killed."""
        with self._lock:
            self._closed = True
            self._stop()

    def __enter__(self) -> CommandOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"CommandOracle({one_line(shlex.join(self._command), 120)!r})"


class _Program:
    """A running program and the two threads that read what it writes."""

    def __init__(self, command: list[str]) -> None:
        self.name = command[0]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for us; the program is ended in order
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InvalidInput(f"the program {command[0]!r} cannot be started ({why}): give its path") from None
        self._lines: queue.Queue[bytes | None] = queue.Queue(_AHEAD)
        self._last_words = bytearray()
        readers = (
            threading.Thread(target=_read_lines, args=(self._process.stdout, self._lines), daemon=True),
            threading.Thread(target=_read_tail, args=(self._process.stderr, self._last_words), daemon=True),
        )
        for reader in readers:
            reader.start()
        self._end = weakref.finalize(self, _end, self._process, readers, self._lines)

    def ask(self, question: bytes, timeout: float) -> bytes:
        if not self._lines.empty():
            line = self._lines.get()
            if line is None:
                raise self._dead()
            raise OracleError(
                f"the program {self.name} wrote {one_line(line, 120)!r} without being asked: one line for each query",
                received=one_line(line, 120),
            )
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(question + b"\n")
            pipe.flush()
        except OSError:
            raise self._dead() from None
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise OracleError(
                f"the program {self.name} did not answer within {timeout:g} s: does it flush its output after each "
                "line? If so, give a longer timeout",
            ) from None
        if line is None:
            raise self._dead()
        if len(line) > LONGEST_LINE:
            raise OracleError(
                f"the program {self.name} wrote more than {LONGEST_LINE:,} bytes without a line end "
                f"({one_line(line, 40)}); one JSON number on each line is needed",
                received=one_line(line, 120),
            )
        return line

    def _dead(self) -> OracleError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        code = self._process.poll()
        self.close()  # joins the readers, so that its last words are complete
        words = bytes(self._last_words).decode("utf-8", "replace").split("\n")
        last = next((line for line in reversed(words) if line.strip()), "")
        said = f"; its last words: {one_line(last, 120)}" if last else ""
        how = "closed its output" if code is None else f"ended with exit code {code}"
        return OracleError(
            f"the program {self.name} {how} before it answered{said}: it must answer every line until its input ends",
            exit_code=code,
            stderr=one_line(last, 120),
        )

    def close(self) -> None:
        self._end()


def _read_lines(pipe: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    rest = b""
    while part := os.read(pipe.fileno(), 65536):
        *whole_lines, rest = (rest + part).split(b"\n")
        for line in whole_lines:
            lines.put(line)
        if len(rest) > LONGEST_LINE:
            lines.put(rest)
            break
    lines.put(None)


def _read_tail(pipe: IO[bytes], tail: bytearray) -> None:
    while part := os.read(pipe.fileno(), 65536):
        tail += part
        del tail[:-4096]


def _end(process: subprocess.Popen[bytes], readers: Sequence[threading.Thread], lines: queue.Queue[Any]) -> None:
    pipes = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe is not None]
    with contextlib.suppress(OSError):
        pipes[0].close()
    if not _within_patience(lambda: process.poll() is not None, lines):
        process.terminate()
        if not _within_patience(lambda: process.poll() is not None, lines):
            process.kill()
            process.wait()
    if _within_patience(lambda: not any(reader.is_alive() for reader in readers), lines):
        for pipe in pipes[1:]:  # else a child of the program holds its output: leave that to it
            pipe.close()


def _within_patience(done: Callable[[], bool], lines: queue.Queue[Any]) -> bool:
    """Wait until something is done; take what the program still writes, so that it does not wait for us."""
    end = time.monotonic() + _PATIENCE
    while not done():
        if time.monotonic() > end:
            return False
        with contextlib.suppress(queue.Empty):
            while True:
                lines.get_nowait()
        time.sleep(0.002)
    return True


def _as_command(command: Any) -> list[str]:
    hint = 'give the program and its arguments, e.g. ["python", "model.py"]'
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError as error:
            raise InvalidInput(f"the command {command!r} cannot be split ({error}): {hint}") from None
    if isinstance(command, bytes) or not isinstance(command, Sequence) or not command or not command[0]:
        raise InvalidInput(f"the command is {command!r}: {hint}")
    for part in command:
        if not isinstance(part, (str, os.PathLike)) or "\0" in str(part):
            raise InvalidInput(f"the command holds {part!r}: {hint}")
    return [os.fspath(part) for part in command]
