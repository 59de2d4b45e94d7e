"""The entry point: errors and Ctrl-C end in one line. It imports next to nothing itself, so as to be there early."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from mixsense.cli.exits import ExitCode
from mixsense.errors import InvalidInput, MixsenseError

BLAS_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""One thread each: on a busy machine two that wait for each other are many times slower, since matrices are small."""
STOPPED = "stopped; sweep, audit and recover --record go on with the same command"


def main() -> None:
    """Run the command line; a user's mistake is one line, not a traceback."""
    for name in BLAS_THREADS:  # before NumPy is loaded
        os.environ.setdefault(name, "1")
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
