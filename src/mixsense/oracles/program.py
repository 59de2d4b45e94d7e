"""A program that runs beside us: a line goes in, a line comes back, and in the end nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from mixsense.checks import one_line
from mixsense.errors import InvalidInput, OracleError, Surplus
from mixsense.oracles.retrying import Halted

LONGEST_LINE = 100_000
"""A program that writes more bytes than this without a line end is stopped: no number is as long."""
AHEAD = 4
"""At most this many lines are read before they are asked for; one of them is too many already."""
PATIENCE = 2.0
"""Seconds that a program has to end by itself when its input ends, before it is ended."""
GRACE = 1.0
"""Seconds between the signal that asks a program and its children to end, and the one that ends them."""
GLANCE = 0.05
"""Seconds after which a wait looks whether it was stopped, or the program has closed its input."""

Show = Callable[[Any, int], str]
"""Turns what came into text for a message: (what, most characters) -> one line."""


class Program:
    """A program, and the threads that start it, write to it and read from it; `start` it before it is asked.

    Parameters
    ----------
    command : list of str
        The program and its arguments.
    show : callable
        How what it writes is shown in messages.

    Notes
    -----
    It has a session of its own: Ctrl-C in a terminal is for us, and whoever catches it ends the program. With it end
    all processes that it started, unless they made a session of their own.
    """

    def __init__(self, command: list[str], show: Show = one_line) -> None:
        self.name, self._command, self._show = command[0], command, show
        self._process: subprocess.Popen[bytes]
        self._launched = threading.Event()
        self._no_start: Exception | None = None
        self._threads: list[threading.Thread] = []
        self._questions: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lines: queue.Queue[bytes | None] = queue.Queue(AHEAD)  # None after the last
        self._partial = b""  # what came after the last line end
        self._last_words = bytearray()
        self._refused = threading.Event()  # it closed its input
        self._unasked_for: list[bytes] = []
        self._ended = False

    def start(self) -> None:
        """Start the program."""
        # In a thread, where Ctrl-C cannot come between the start and the moment from which on it can be ended.
        self._threads = [threading.Thread(target=self._launch, daemon=True)]
        self._threads[0].start()
        self._launched.wait()
        if self._no_start is not None:
            why = getattr(self._no_start, "strerror", None) or self._no_start
            raise InvalidInput(f"the program {self.name!r} cannot be started ({why}): give its path")

    def _launch(self) -> None:
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            for work in (self._write, self._read_lines, self._read_tail):
                self._threads.append(threading.Thread(target=work, daemon=True))
                self._threads[-1].start()
        except Exception as error:
            self._no_start = error
        finally:
            self._launched.set()

    def ask(self, question: bytes, timeout: float, settle: float, halt: threading.Event) -> bytes:
        """Return the line that answers a question; more than one line, or one before the question, is an error.

        Parameters
        ----------
        question : bytes
            One line, without its end.
        timeout : float
            Seconds for writing the question and for its answer, together.
        settle : float
            Seconds of silence that have to follow the answer.
        halt : threading.Event
            Ends the wait.
        """
        self._refuse_unasked(0.0, halt)
        self._questions.put(question + b"\n")  # by a thread: who never reads must not hold us
        try:
            line = self._get(timeout, halt)
        except queue.Empty:
            raise self._late(timeout) from None
        if line is None:
            raise self._dead()
        self._refuse_unread(line)
        if len(line) > LONGEST_LINE:
            raise OracleError(
                f"the program {self.name} wrote more than {LONGEST_LINE:,} bytes without a line end "
                f"({self._show(line, 40)}); one JSON number on each line is needed",
                reply=self._show(line, 120),
            )
        self._refuse_unasked(settle, halt)
        self._refuse_unread(line)
        return line

    def _get(self, seconds: float, halt: threading.Event) -> bytes | None:
        """Return the next line, None if there will be none; `queue.Empty` if none comes in time."""
        end, exited = time.monotonic() + seconds, False
        while True:
            left = end - time.monotonic()
            try:
                return self._lines.get(timeout=min(left, GLANCE)) if left > 0 else self._lines.get_nowait()
            except queue.Empty:
                if halt.is_set():
                    raise Halted(f"the program {self.name} was stopped before it answered") from None
                if self._refused.is_set() or exited:
                    return None
                if left <= GLANCE:
                    raise
                exited = self._process.poll() is not None  # once more: its last line may be on its way

    def _late(self, timeout: float) -> OracleError:
        wrote = f" (only {self._show(self._partial, 120)!r}, without a line end)" if self._partial else ""
        return OracleError(
            f"the program {self.name} did not answer within {timeout:g} s{wrote}: does it flush its output after each "
            "line? If so, give a longer timeout"
        )

    def _refuse_unasked(self, settle: float, halt: threading.Event) -> None:
        """Raise if there is anything that answers no question, or if it comes within this many seconds."""
        try:
            line = self._get(settle, halt)
        except queue.Empty:
            line = b""
            if not self._partial:
                return
        if line is None and not self._partial:
            self._lines.put(None)  # it has ended: that is for whoever asks next
            return
        raise self.unasked(line or self._partial)

    def _refuse_unread(self, line: bytes) -> None:
        """Raise if the program wrote a line although it has not read the question, or cannot."""
        if self._refused.is_set():
            raise self._dead()
        if _waiting(self._process.stdin):
            raise self.unasked(line)

    def unasked(self, line: bytes, so: str = "so its answers cannot be told apart:") -> Surplus:
        """Return the error that says that a line answers no question, and what follows from it."""
        text = self._show(line, 120)
        return Surplus(
            f"the program {self.name} wrote {text!r} without being asked, {so} it must write one line for each query, "
            "and nothing else",
            reply=text,
        )

    def _dead(self) -> OracleError:
        closed = "input" if self._refused.is_set() else "output"
        _until(lambda: self._process.poll() is not None, PATIENCE)
        code = self._process.poll()
        self.end()  # joins the readers, so that its last words are complete
        words = bytes(self._last_words).decode("utf-8", "replace").split("\n")
        last = self._show(next((line for line in reversed(words) if line.strip()), ""), 120)
        said = f"; its last words: {last}" if last else ""
        how = f"ended with exit code {code}" if code is not None else f"closed its {closed}"
        return OracleError(
            f"the program {self.name} {how} before it answered{said}: it must answer every line until its input ends",
            exit_code=code,
            stderr=last,
        )

    def end(self, patience: float = 0.0) -> list[bytes]:
        """End the program and its children; returns the first lines that it wrote and nobody asked for.

        If this is interrupted, calling it again goes on.

        Parameters
        ----------
        patience : float
            Seconds that it has to end by itself, now that its input ends.
        """
        unasked = self._unasked_for
        if self._ended or not self._threads or not self._launched.wait(PATIENCE) or self._no_start is not None:
            return unasked

        def take() -> None:
            with contextlib.suppress(queue.Empty):
                for _ in range(AHEAD + 1):
                    line = self._lines.get_nowait()
                    if line is not None and len(unasked) < AHEAD:
                        unasked.append(line)

        def read() -> bool:
            take()  # a program may wait for us to take what it writes
            return not any(thread.is_alive() for thread in self._threads[2:])

        def over() -> bool:
            return read() and self._process.poll() is not None

        self._questions.put(None)  # closes its input, as soon as what was written before is out
        if patience:
            _until(over, patience)
        self._signal("SIGTERM")
        if not _until(lambda: over() and not self._signal(0), GRACE):
            self._signal("SIGKILL")
            self._process.wait()
        if _until(read, GRACE):  # else a child with a session of its own holds them: leave them to it
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
        take()  # what came between the last look and the end
        if self._partial and len(unasked) < AHEAD:
            unasked.append(self._partial)
        self._ended = True
        return unasked

    def _signal(self, name: str | int) -> bool:
        """Signal the program and all of its children; returns whether there was anybody."""
        number = getattr(signal, name, signal.SIGTERM) if isinstance(name, str) else name
        try:
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)
            elif number:
                self._process.kill()
        except (ProcessLookupError, PermissionError):
            return False
        return hasattr(os, "killpg")

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):
            while (question := self._questions.get()) is not None:
                pipe.write(question)
                pipe.flush()
        self._refused.set()
        with contextlib.suppress(OSError, ValueError):
            pipe.close()

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        rest = b""
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(self._process.stdout.fileno(), 65536):
                *whole_lines, rest = (rest + part).split(b"\n")
                self._partial = rest  # first: whoever takes the last line sees that there is more
                for line in whole_lines:
                    self._lines.put(line)
                if len(rest) > LONGEST_LINE:
                    self._lines.put(rest)
                    break
        self._lines.put(None)

    def _read_tail(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(self._process.stderr.fileno(), 65536):
                self._last_words += part
                del self._last_words[:-4096]


def _waiting(pipe: IO[bytes] | None) -> int:
    """Return how many bytes in a pipe the other side has not read yet; 0 where the system cannot tell."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import fcntl
        import termios

        if pipe is not None:
            return int.from_bytes(fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)
    return 0


def _until(done: Callable[[], bool], seconds: float) -> bool:
    """Wait until something is done, at most this long; returns whether it is."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True
