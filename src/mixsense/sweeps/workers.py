"""Where work is done: on the cores of this machine, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import pkgutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

import mixsense
from mixsense.checks import as_int, one_line, require
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.sweeps.grid import Cell, Result, run_cell

DASK_SECONDS = 10
"""How long to wait for a Dask scheduler, and for its first worker."""
KEPT = "the finished cells are kept, and the same command goes on"

Results = Generator[tuple[Cell, Result], None, None]
Item = TypeVar("Item")
Done = TypeVar("Done")


def runner(jobs: int | None, dask: str | None) -> Callable[[list[Cell]], Results]:
    """Return what turns cells into results, in any order, after a look at whether it can work."""
    require("pandas", "sweep", "a sweep needs")
    if dask is not None:
        if jobs is not None:
            raise InvalidInput(f"jobs is {jobs} and dask is {dask!r}: give one of them; a cluster has its own workers")
        require("distributed", "dask", "a sweep needs")
        return functools.partial(_on_dask, address=dask)
    joblib = require("joblib", "sweep", "a sweep needs")
    if jobs is None:
        jobs = int(joblib.cpu_count())
    return functools.partial(_on_cores, jobs=as_int("jobs", jobs, 1, "the number of processes"))


def _on_cores(cells: list[Cell], jobs: int) -> Results:
    try:
        yield from on_cores(run_cell, cells, jobs)
    except WorkerDied:
        raise MixsenseError(f"a worker process died: {KEPT}; if memory was short, give fewer jobs") from None


class WorkerDied(MixsenseError):
    """A worker process was killed, by the system if memory was short."""


def on_cores(work: Callable[[Item], Done], items: Sequence[Item], jobs: int) -> Generator[Done, None, None]:
    """Yield work(item) of all items, in any order, from so many processes with one BLAS thread each."""
    import joblib  # type: ignore[import-untyped]

    jobs = min(jobs, len(items))
    if jobs <= 1:
        with _one_thread():
            yield from map(work, items)
        return
    with joblib.parallel_config("loky", inner_max_num_threads=1, initializer=_begin, initargs=(os.getpid(),)):
        # Batches of one: what is finished does not wait for others before it is kept.
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        results = parallel(joblib.delayed(work)(item) for item in items)
    try:
        with warnings.catch_warnings(), contextlib.closing(results):
            warnings.filterwarnings("ignore", ".*tasks which were still being processed", UserWarning)
            yield from results
    except joblib.externals.loky.process_executor.BrokenProcessPool:
        raise WorkerDied("a worker process died: if memory was short, give fewer jobs") from None


def _begin(parent: int) -> None:
    """Begin a worker: Ctrl-C is for the parent, which ends its workers; if it is killed itself, they end too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _one_thread() -> contextlib.AbstractContextManager[Any]:
    """Let BLAS use one thread: faster for small matrices, and sums come in the same order everywhere."""
    return require("threadpoolctl", "sweep", "a sweep needs").threadpool_limits(1)  # type: ignore[no-any-return]


@functools.cache
def _one_thread_for_good() -> object:
    return _one_thread()  # takes effect at once; a Dask worker has several threads, so there is no way back


def _run_on_worker(cell: Cell, version: str) -> tuple[Cell, Result]:
    _one_thread_for_good()
    return run_cell(cell, version)


def _on_dask(cells: list[Cell], address: str) -> Results:
    if not cells:
        return
    distributed: Any = importlib.import_module("distributed")  # without types
    try:
        with _silent("distributed"), _connected(distributed, address) as client:
            _check_versions(client, address)
            futures = client.map(_run_on_worker, cells, version=mixsense.__version__, pure=False)
            completed = distributed.as_completed(futures, loop=client.loop)
            for future in completed:
                if future.status in ("pending", "lost"):  # its worker died before the result was fetched
                    completed.add(future)
                else:
                    yield _result(future)
                    future.release()  # it is kept: if this worker dies later, it is not computed again
    except (OSError, distributed.client.FutureCancelledError):
        raise MixsenseError(f"the Dask scheduler at {address} is gone: {KEPT}") from None


def _check_versions(client: Any, address: str) -> None:
    """Refuse workers that could not load a cell: they would die of it, one after the other, without a word."""
    for worker, found in client.run(pkgutil.resolve_name, "mixsense:__version__", on_error="return").items():
        if found != mixsense.__version__:
            what = f"mixsense {found}" if isinstance(found, str) else "no mixsense"
            raise InvalidInput(
                f"the Dask worker {worker} of {address} has {what}: install mixsense {mixsense.__version__} there"
            )


@contextlib.contextmanager
def _connected(distributed: Any, address: str) -> Iterator[Any]:
    try:
        distributed.comm.resolve_address(address)  # a client that fails later than here takes long to give up
        client = distributed.Client(address, timeout=DASK_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidInput(
            f"no Dask scheduler answers at {address!r} ({why}): start one with `dask scheduler`, or check the address"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=DASK_SECONDS)
        except TimeoutError:
            raise InvalidInput(
                f"the Dask scheduler at {address} has no worker: start some with `dask worker {address}`"
            ) from None
        yield client


@contextlib.contextmanager
def _silent(package: str) -> Iterator[None]:
    """Let a package log nothing: what matters becomes an error of ours."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == package]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _result(future: Any) -> tuple[Cell, Result]:
    """Return a future's result; the scheduler itself runs a dead worker's cells again, on the others."""
    if future.status != "error":
        return future.result()  # type: ignore[no-any-return]
    error = future.exception()
    if isinstance(error, MixsenseError):
        raise error
    what = one_line(f"{type(error).__name__}: {error}")
    raise MixsenseError(
        f"a Dask worker failed ({what}): {KEPT}; the workers need mixsense {mixsense.__version__} and enough memory"
    )
