"""Work in several processes of this machine, for sweeps and for figures."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from mixsense.checks import require
from mixsense.errors import MixsenseError

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
        results = parallel(joblib.delayed(work)(item) for item in items)
    try:
        with warnings.catch_warnings(), contextlib.closing(results):
            warnings.filterwarnings("ignore", ".*tasks which were still being processed", UserWarning)
            yield from results
    except joblib.externals.loky.process_executor.BrokenProcessPool:
        raise WorkerDied("a worker process died: if memory was short, give fewer jobs") from None


def _begin_worker(parent: int) -> None:
    """Begin a worker: Ctrl-C is for the parent, which ends its workers; if it is killed itself, they end too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def one_thread() -> contextlib.AbstractContextManager[Any]:
    """Let BLAS use one thread: faster for small matrices, and sums come in the same order everywhere."""
    return require("threadpoolctl", "sweep", "a sweep needs").threadpool_limits(1)  # type: ignore[no-any-return]
