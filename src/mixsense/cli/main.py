"""The entry point: errors and Ctrl-C end in one line. It imports next to nothing itself, so as to be there early."""

from __future__ import annotations

import _thread
import contextlib
import io
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

from mixsense.cli.exits import ExitCode
from mixsense.cli.user_code import blamed
from mixsense.errors import BudgetError, InvalidInput, MixsenseError

BLAS_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""One thread each: on a busy machine two that wait for each other are many times slower, since matrices are small."""
FOLDER = os.path.dirname(__file__)
"""Where the commands are."""
PATIENCE = 2.0
"""Seconds that Ctrl-C waits for a module that is being loaded."""
LONGEST = 800
"""Characters of a message; of a longer one the middle is left out. Taste: the longest of our own have half of it."""
STOPPED = "stopped; sweep, audit and recover --record go on with the same command"


def main() -> None:
    """Run the command line; a user's mistake is one line, not a traceback."""
    for name in BLAS_THREADS:  # before NumPy is loaded
        os.environ.setdefault(name, "1")
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file's name may hold bytes that no terminal can show
        sys.stdout.reconfigure(errors="backslashreplace")
    with _ctrl_c():
        try:
            from mixsense.cli.app import Abort, Misuse, app

            try:
                sys.exit(app(standalone_mode=False))
            except Misuse as error:
                _leave(ExitCode.WRONG_INPUT, _misused(error))
            except Abort:  # a question of ours was not answered
                _leave(ExitCode.FAILED, "stopped, nothing was changed: where nobody can be asked, give --yes")
        except InvalidInput as error:
            # Of a method that goes wrong on its way, answers may have been asked.
            _leave(ExitCode.FAILED if error.data.get("record") else ExitCode.WRONG_INPUT, error)
        except MixsenseError as error:
            # A budget that is too small for the first step is wrong input: nothing was asked.
            nothing = isinstance(error, BudgetError) and error.data.get("asked") == 0
            _leave(ExitCode.WRONG_INPUT if nothing else ExitCode.FAILED, error)
        except MemoryError:
            _leave(ExitCode.FAILED, "not enough memory: give smaller numbers, or fewer jobs")
        except OSError as error:  # a full disk, a closed terminal
            _say(blamed(error) or f"{error}; what was stored before is kept")
            os._exit(ExitCode.FAILED)  # what could not be written cannot be flushed either
        except KeyboardInterrupt:  # with another handler, before the command has begun
            _leave(ExitCode.INTERRUPTED, STOPPED)
        except SystemExit as stop:
            if (why := blamed(stop)) is not None:  # whatever it meant: the command has not done what it should
                _leave(ExitCode.FAILED, why)
            if stop.code == ExitCode.INTERRUPTED:
                _say(STOPPED)
            raise
        except Exception as error:
            if (why := blamed(error)) is None:
                raise
            _leave(ExitCode.FAILED, why)


def _misused(error: Any) -> str:
    """Return what is wrong with the options, in one line; nothing where the help was shown instead."""
    from mixsense.checks import one_line

    text = one_line(error.format_message(), 300).rstrip(".")
    of = error.ctx.command_path if error.ctx else "mixsense"  # an option without its value knows no command
    return text and f"{text}: see {of} --help"


def _say(text: Any) -> None:
    """Print a message, as one line that is not too long, whatever was given: paths and values stand in it raw."""
    line = str(text or "")
    if not line.isprintable() or len(line) > LONGEST:  # else nothing more needs to be loaded
        from mixsense.checks import visible

        line = visible(line)
        half = LONGEST // 2  # what is wrong stands at the beginning, what to do at the end
        line = line if len(line) <= LONGEST else f"{line[:half]} … {line[-half:]}"
    if line:
        print(f"mixsense: {line}", file=sys.stderr, flush=True)


def _leave(code: ExitCode, text: Any) -> NoReturn:
    if isinstance(text, MixsenseError):
        from mixsense.cli.wording import spoken

        text = spoken(str(text))
    _say(text)
    sys.exit(code)


@contextlib.contextmanager
def _ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the process at once until a command has begun; then it is a KeyboardInterrupt, as ever."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # somebody else's affair; under nohup it is ignored
        yield
        return
    try:
        signal.signal(signal.SIGINT, _Interrupt())
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Interrupt:
    """What Ctrl-C does.

    A command that is loading a module is interrupted when the module is there: before, the exception may be lost, since
    callbacks of the import system ignore it, and one in a text that is executed (dataclasses, annotations) makes Python
    change the exit code.
    """

    def __init__(self) -> None:
        self._first: float | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        begun, loading = _where(frame)
        if not begun:
            _end_at_once()
        if not loading:
            raise KeyboardInterrupt
        self._first = self._first or time.monotonic()
        if time.monotonic() > self._first + PATIENCE:
            _end_at_once()
        _thread.start_new_thread(_again, (_thread.get_ident(),))


def _again(main_thread: int) -> None:
    time.sleep(0.01)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main_thread, signal.SIGINT)  # a real one: it wakes a thread that waits
    else:
        _thread.interrupt_main()


def _where(frame: FrameType | None) -> tuple[bool, bool]:
    """Return whether a command has begun, and whether a module is being loaded."""
    begun = loading = False
    while frame is not None and frame.f_code is not main.__code__:
        code = frame.f_code
        begun |= code.co_filename.startswith(FOLDER) and code.co_name != "<module>"
        loading |= code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return begun, loading


def _end_at_once() -> NoReturn:
    """End without running anything more: what is stored is on disk, as after a crash."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    cursor = b"\x1b[?25h" if os.isatty(2) else b""  # a progress bar hides it
    os.write(2, cursor + f"mixsense: {STOPPED}\n".encode())
    os._exit(ExitCode.INTERRUPTED)
