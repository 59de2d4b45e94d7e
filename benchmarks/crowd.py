"""A crowd at its phones: nobody waits, nothing is computed twice, and a question takes milliseconds.

    python benchmarks/crowd.py                       # 200 phones, 4 processes that serve them, one that computes
    python benchmarks/crowd.py --phones 24 --think 0.02 --seed 3

People come with a token of their own, answer up to 12 questions each, and think in between; 15 % leave half-way and
never give an answer to what they hold, 5 % of the answers come only after a "day" (40 times the thinking). Whoever is
done makes room for another. Time is scaled: a minute of thinking is a fraction of a second. The phones are served by
processes that only ask and tell; one process beside them calls `study.advance()`. Prints one line; a broken promise is
an exit code of 1.
"""

from __future__ import annotations

import argparse
import heapq
import json
import multiprocessing
import os
import secrets
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

import mixsense as ms
from mixsense.rounds import Steps

PER_PERSON = 12
LEAVE, LATE, DAY = 0.15, 0.05, 40
"""Shares of who leaves half-way, and who answers late; and how late, in times of thinking."""
SLOWEST = 20
"""The 99th percentile of the times of `ask` may be this many times the median."""


@dataclass
class Seen:
    """What was counted."""

    asks: int = 0
    refused: int = 0
    """Calls of `ask` that returned None while the study went on."""
    people: int = 0
    left: int = 0
    late: int = 0
    rounds: int = 0
    computed: int = 0
    """Rounds that any process computed: as many as there are, if nothing is computed twice."""
    extra: int = 0
    used: int = 0
    surplus: int = 0
    status: str = ""
    why: str = ""
    """The warnings of the result."""
    error: float = float("nan")
    """Its worst ℓ2 error."""
    median: float = 0.0
    p99: float = 0.0
    slowest: float = 0.0
    seconds: float = 0.0

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        return self.refused == 0 and self.computed == self.rounds and self.p99 < SLOWEST * self.median


class Phones:
    """One process that serves some of the phones until the study has ended."""

    def __init__(self, study: ms.Study, vectors: np.ndarray, phones: int, think: float, seed: int) -> None:
        self.study, self.vectors, self.think = study, vectors, think
        self.rng = np.random.default_rng(seed)
        self.seen, self.times = Seen(), list[float]()
        self.events: list[tuple[float, int, Any]] = []
        self.count = 0
        for _ in range(phones):
            self._at(self.rng.random() * think, self._person())

    def _at(self, seconds: float, event: Any) -> None:
        self.count += 1
        heapq.heappush(self.events, (time.monotonic() + seconds, self.count, event))

    def _person(self) -> dict[str, Any]:
        self.seen.people += 1
        leaves = self.rng.random() < LEAVE
        model = int(self.rng.integers(len(self.vectors)))
        left = int(self.rng.integers(1, PER_PERSON)) if leaves else PER_PERSON
        return {"token": secrets.token_urlsafe(), "model": model, "left": left, "leaves": leaves}

    def serve(self) -> None:
        """Serve them until the study has ended."""
        while self.events:
            when, _, event = heapq.heappop(self.events)
            time.sleep(max(0.0, when - time.monotonic()))
            if isinstance(event, tuple):
                self.study.tell(*event)
            elif not self._ask(event):
                return

    def _ask(self, person: dict[str, Any]) -> bool:
        if "out" in person:
            self.study.tell(*person.pop("out"))
        if person["left"] == 0:
            person = self._person()
        start = time.perf_counter()
        q = self.study.ask(respondent=person["token"], advance=False)
        self.times.append(time.perf_counter() - start)
        self.seen.asks += 1
        if q is None:
            over = self.study.progress().state in ("ended", "failed")
            self.seen.refused += not over
            return not over
        person["left"] -= 1
        thought = self.think * float(self.rng.lognormal(0.0, 0.7))
        answer = q.id, float(self.vectors[person["model"]] @ q.x + self.rng.standard_normal())
        if person["left"] == 0 and person["leaves"]:
            self.seen.left += 1  # what they hold is never answered
        elif self.rng.random() < LATE:
            self.seen.late += 1
            self._at(DAY * self.think, answer)
        else:
            person["out"] = answer
        self._at(thought, person)
        return True


def crowd(
    path: Path,
    phones: int = 200,
    processes: int = 4,
    seed: int = 1,
    think: float = 0.5,
    budget: int = 3000,
    n: int = 30,
) -> Seen:
    """Run a crowd against a study in a new SQLite file."""
    vectors = ms.random_pair(n, 4, gap=1.0, seed=seed)
    study = ms.create_study(path, "crowd", n=n, gamma=None, sigma=1.0, max_queries=budget, seed=seed, lease=3600 * 24)
    study.close()
    start, context = time.monotonic(), multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:

        def serve(number: int) -> None:
            sent = _counting()
            share = len(range(number, phones, processes))
            server = Phones(ms.load_study(path, "crowd"), vectors, share, think, 1000 * seed + number)
            server.serve()
            server.seen.computed = len(sent)
            (Path(folder) / f"{number}").write_text(json.dumps([asdict(server.seen), server.times]))

        def compute() -> None:
            sent, beside = _counting(), ms.load_study(path, "crowd")
            while beside.progress().state not in ("ended", "failed"):
                if not beside.advance():
                    time.sleep(think / 10)
            (Path(folder) / "computed").write_text(json.dumps([asdict(Seen(computed=len(sent))), []]))

        jobs = [context.Process(target=serve, args=(i,)) for i in range(processes)]
        jobs.append(context.Process(target=compute))
        for job in jobs:
            job.start()
        for job in jobs:
            job.join(1800)
        assert [job.exitcode for job in jobs] == [0] * len(jobs), "a process failed"
        parts = [json.loads(file.read_text()) for file in Path(folder).iterdir()]
    return _together(path, parts, vectors, time.monotonic() - start)


def _counting() -> list[int]:
    """Note in this process whenever a method is sent what was asked."""
    sent, send = list[int](), Steps.send

    def noted(self: Steps[Any], asked: Any) -> None:
        sent.append(os.getpid())
        send(self, asked)

    Steps.send = noted  # type: ignore[method-assign]
    return sent


def _together(path: Path, parts: list[Any], vectors: np.ndarray, seconds: float) -> Seen:
    total, times = Seen(seconds=round(seconds, 1)), np.array([t for _, some in parts for t in some])
    for counted, _ in parts:
        for field in fields(Seen):
            if isinstance(getattr(total, field.name), int):
                setattr(total, field.name, getattr(total, field.name) + counted[field.name])
    study = ms.load_study(path, "crowd")
    now = study.progress()
    total.rounds, total.used, total.surplus, total.status = now.round, now.total, now.surplus, str(now.status)
    with study._database.reading() as connection:
        total.extra = connection.exec_driver_sql(
            "SELECT count(*) FROM mixsense_loose WHERE slot >= 1 << 61"
        ).scalar_one()
    result = study.result()
    total.why = "; ".join(result.diagnostics.get("warnings", []))
    if len(result.vectors) in (1, len(vectors)):
        total.error = float(ms.match_error(result.vectors, vectors))
    study.close()
    total.median, total.p99 = (float(np.quantile(times, level)) for level in (0.5, 0.99))
    total.slowest = float(times.max())
    return total


def main() -> None:
    """Run it as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=200)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--think", type=float, default=0.5, help="median seconds of thinking, scaled down")
    parser.add_argument("--budget", type=int, default=3000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        told = crowd(Path(folder) / "crowd.db", args.phones, args.processes, args.seed, args.think, args.budget)
    print(
        f"{args.phones} phones, {told.people} people ({told.left} left half-way, {told.late} answers a day late): "
        f"{told.asks} asks, {told.refused} without a question; {told.rounds} rounds, {told.computed} computations; "
        f"ask takes {1000 * told.median:.0f} ms (median), {1000 * told.p99:.0f} ms (99 %, "
        f"{told.p99 / told.median:.1f} times), {1000 * told.slowest:.0f} ms at most; {told.used} answers used, "
        f"{told.extra} extra questions, {told.surplus} surplus; {told.status}, error {told.error:.3f}, after "
        f"{told.seconds:.0f} s{told.why and f' ({told.why})'}"
    )
    sys.exit(not told.kept)


if __name__ == "__main__":
    main()
