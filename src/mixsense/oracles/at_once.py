"""Several questions at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mixsense.oracles.retrying import Halted


def at_once(shape: tuple[int, int], ask: Callable[[int, int], None], workers: int, halt: threading.Event) -> None:
    """Ask for every place of a (q, repeats) table, with this many questions at a time.

    Parameters
    ----------
    shape : (int, int)
        Of the table.
    ask : callable
        ``ask(row, column)`` asks, and puts the answer where it belongs.
    workers : int
        Most questions at a time.
    halt : Event
        Set by the first failure: the other workers need not go on.
    """
    slots, lock = iter(np.ndindex(shape)), threading.Lock()

    def work() -> None:
        try:
            while not halt.is_set():
                with lock:
                    slot = next(slots, None)
                if slot is None:
                    return
                ask(*slot)
        except BaseException:
            halt.set()
            raise

    workers = min(workers, shape[0] * shape[1])
    if workers <= 1:
        work()
        return
    with ThreadPoolExecutor(workers, "mixsense-http") as pool:
        running = [pool.submit(work) for _ in range(workers)]
        try:
            errors = [error for future in running if (error := future.exception()) is not None]
        except BaseException:  # Ctrl-C: the workers end at their next pause
            halt.set()
            raise
    if errors:
        raise next((error for error in errors if not isinstance(error, Halted)), errors[0])
