"""The entry point: errors and Ctrl-C end in one line. It imports next to nothing itself, so as to be there early."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

from mixsense.cli.exits import ExitCode
from mixsense.errors import InvalidInput, MixsenseError

BLAS_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""One thread each: on a busy machine two that wait for each other are many times slower, since matrices are small."""
FOLDER = os.path.dirname(__file__)
"""Where the commands are."""
STOPPED = "stopped; sweep, audit and recover --record go on with the same command"


def main() -> None:
    """Run the command line; a user's mistake is one line, not a traceback."""
    for name in BLAS_THREADS:  # before NumPy is loaded
        os.environ.setdefault(name, "1")
    with _ctrl_c():
        try:
            from mixsense.cli.app import app

            app()
        except InvalidInput as error:
            _leave(ExitCode.WRONG_INPUT, error)
        except MixsenseError as error:
            _leave(ExitCode.FAILED, error)
        except MemoryError:
            _leave(ExitCode.FAILED, "not enough memory: give smaller numbers, or fewer jobs")
        except OSError as error:  # a full disk, a closed terminal
            _say(f"{error}; what was stored before is kept")
            os._exit(ExitCode.FAILED)  # what could not be written cannot be flushed either
        except KeyboardInterrupt:  # with another handler, before the command has begun
            _leave(ExitCode.INTERRUPTED, STOPPED)
        except SystemExit as stop:
            if stop.code == ExitCode.INTERRUPTED:
                _say(STOPPED)
            raise


def _say(text: Any) -> None:
    print(f"mixsense: {text}", file=sys.stderr, flush=True)


def _leave(code: ExitCode, text: Any) -> NoReturn:
    _say(text)
    sys.exit(code)


@contextlib.contextmanager
def _ctrl_c() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt in a running command, and end the process at once while modules are loaded.

    There an exception may be lost, since callbacks of the import system ignore it; and one in a text that is executed
    (dataclasses, annotations) makes Python change the exit code.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # somebody else's affair; under nohup it is ignored
        yield
        return
    try:
        signal.signal(signal.SIGINT, _interrupt)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not _in_command(frame):
        _end_at_once()
    raise KeyboardInterrupt


def _in_command(frame: FrameType | None) -> bool:
    """Return whether a command has begun, and is not loading a module."""
    begun = False
    while frame is not None and frame.f_code is not main.__code__:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib"):
            return False
        begun |= file.startswith(FOLDER)
        frame = frame.f_back
    return begun


def _end_at_once() -> NoReturn:
    """End without running anything more: what is stored is on disk, as after a crash."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    cursor = b"\x1b[?25h" if os.isatty(2) else b""  # a progress bar hides it
    os.write(2, cursor + f"mixsense: {STOPPED}\n".encode())
    os._exit(ExitCode.INTERRUPTED)
