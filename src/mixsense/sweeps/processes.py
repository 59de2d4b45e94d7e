"""Work in several processes of this machine, for sweeps and for figures."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from mixsense.errors import MixsenseError
from mixsense.threads import one_thread

Item = TypeVar("Item")
Done = TypeVar("Done")


class WorkerDied(MixsenseError):
    """A worker process was killed, by the system if memory was short."""


def on_cores(work: Callable[[Item], Done], items: Sequence[Item], jobs: int) -> Generator[Done, None, None]:
    """Yield work(item) of all items, in any order, from this many processes with one BLAS thread each."""
    import joblib  # type: ignore[import-untyped]

    jobs = min(jobs, len(items))
    if jobs <= 1:
        with one_thread():
            yield from map(work, items)
        return
    with joblib.parallel_config("loky", inner_max_num_threads=1, initializer=_begin_worker, initargs=(os.getpid(),)):
        # Batches of one: what is finished does not wait for others before it is kept.
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        results = parallel(joblib.delayed(_with_path)(tuple(sys.path), work, item) for item in items)
    try:
        with warnings.catch_warnings(), contextlib.closing(results):
            warnings.filterwarnings("ignore", ".*tasks which were still being processed", UserWarning)
            yield from results
    except joblib.externals.loky.process_executor.BrokenProcessPool:
        raise WorkerDied("a worker process died: if memory was short, give fewer jobs") from None


def _with_path(path: Sequence[str], work: Callable[[Item], Done], item: Item) -> Done:
    """Work in a process that may be older than the caller's path, with which a user's own module is found."""
    sys.path.extend(folder for folder in path if folder not in sys.path)
    return work(item)


def _begin_worker(parent: int) -> None:
    """Begin a worker: Ctrl-C is for the parent, which ends its workers; if it is killed itself, they end too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
