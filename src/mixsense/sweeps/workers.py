"""Where cells are run: on the cores of this machine, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import logging
import pkgutil
from collections.abc import Callable, Generator, Iterator
from typing import Any

import mixsense
from mixsense.checks import as_int, one_line, require
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.methods.registry import ENTRIES, entry_of
from mixsense.sweeps.cell import Cell, Result, run_cell
from mixsense.sweeps.processes import WorkerDied, on_cores
from mixsense.threads import one_thread

DASK_SECONDS = 10
"""How long to wait for a Dask scheduler, and for its first worker."""
KEPT = "the finished cells are kept, and the same command goes on"
"""What every message of a sweep that breaks off says."""

Results = Generator[tuple[Cell, Result], None, None]


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


@functools.cache
def _one_thread_for_good() -> object:
    return one_thread()  # takes effect at once; a Dask worker has several threads, so there is no way back


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
            _check_methods(client, cells)
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


def _check_methods(client: Any, cells: list[Cell]) -> None:
    """Refuse workers that do not find a method of the user's."""
    for name in {json.loads(key)["method"] for key in {cell.key for cell in cells}} - set(ENTRIES):
        for worker, why in client.run(_why_not_found, name).items():
            if why is not None:
                raise InvalidInput(
                    f"the Dask worker {worker} does not find {name} ({why}): put the module into its folder or on its "
                    "PYTHONPATH, and start it again"
                )


def _why_not_found(method: str) -> str | None:
    try:
        entry_of(method)
    except InvalidInput as error:
        return str(error)
    return None


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
