"""Several questions at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mixsense.arrays import Array
from mixsense.oracles.retrying import Halted


def fill(answers: Array, ask: Callable[[int], float], workers: int, halt: threading.Event) -> None:
    """Fill the (q, repeats) array of answers, with this many questions at a time.

    Parameters
    ----------
    answers : (q, repeats) array
        Where the answers go, each as it comes.
    ask : callable
        Gives an answer to the query of a row.
    workers : int
        Most questions at a time.
    halt : Event
        Set by the first failure: the other workers need not go on.
    """
    slots, lock = iter(np.ndindex(answers.shape)), threading.Lock()

    def work() -> None:
        try:
            while not halt.is_set():
                with lock:
                    slot = next(slots, None)
                if slot is None:
                    return
                answers[slot] = ask(slot[0])
        except BaseException:
            halt.set()
            raise

    workers = min(workers, answers.size)
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
