"""A process that repeats something until it is killed, what is counted about it, and a study beside it."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

import mixsense as ms
from kill_study import answer
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.tables import TABLES_OF_A_STUDY, sa

PROBLEM = {"n": 8, "gamma": None, "sigma": 1.0, "max_queries": 20_000, "seed": 4}
Say = Callable[..., None]
"""Tells the parent: "ready", "begin NAME VALUE" or "done NAME VALUE"."""


@dataclass
class Tally:
    """What a series of kills has counted."""

    storage: str
    verb: str
    kills: int = 0
    during: int = 0
    """Kills that came after a call had begun and before it was acknowledged."""
    acknowledged: int = 0
    """Answers (or questions, or studies) whose call returned."""
    lost: int = 0
    """Acknowledged, and not there."""
    elsewhere: int = 0
    """Rows in a place where nobody told them: another study, none, or a question that was not answered."""
    torn: int = 0
    """Calls of which a part is there."""

    def __str__(self) -> str:
        return (
            f"{self.storage} {self.verb}: {self.kills} kills, {self.during} during a call; {self.acknowledged} "
            f"acknowledged; acknowledged answers lost: {self.lost}; answers written elsewhere: {self.elsewhere}; "
            f"calls done in part: {self.torn}"
        )


@dataclass
class Victim:
    """What the killed processes have said, over all lives: what they began, and what was acknowledged."""

    seed: int
    begun: dict[str, str] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)
    pace: float = 0.08
    """Seconds that a call takes, measured as we go."""

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def live(self, job: Callable[[Say], None], tally: Tally) -> None:
        """Run a job in a process of its own, and kill it."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)

            def say(*words: object) -> None:
                os.write(write, (" ".join(map(str, words)) + "\n").encode())

            try:
                job(say)
            except BaseException:
                say("failed", repr(traceback.format_exc()))
            os._exit(0)
        os.close(write)
        with open(read, "rb") as pipe:
            first = pipe.readline()
            start = time.monotonic()
            time.sleep(self.rng.random() * 2.5 * self.pace)
            os.kill(pid, signal.SIGKILL)
            lived = time.monotonic() - start
            os.waitpid(pid, 0)
            lines = [line.split(" ", 2) for line in (first + pipe.read()).decode().splitlines()]
        failed = [line for line in lines if line[0] == "failed"]
        assert not failed, failed
        begun = {line[1]: line[2] for line in lines if line[0] == "begin"}
        done = {line[1]: line[2] for line in lines if line[0] == "done"}
        self.begun |= begun
        self.done |= done
        self.pace = 0.8 * self.pace + 0.2 * lived / (len(done) + 0.5)
        tally.kills += 1
        tally.during += len(begun) > len(done)


def orphans(url: str) -> int:
    """Count rows of studies that are not there."""
    database = Database(url)
    with database.reading() as connection:
        there = set(connection.execute(sa.text("SELECT study FROM mixsense_studies")).scalars())
        numbers = [n for table in TABLES_OF_A_STUDY for n in connection.execute(sa.select(table.c.study)).scalars()]
    database.close()
    return sum(number not in there for number in numbers)


class Bystander:
    """A study in the same database that nobody touches."""

    def __init__(self, url: str) -> None:
        self._study = ms.create_study(url, f"bystander {time.monotonic_ns()}", **PROBLEM)
        self._study.tell_many([(q.id, answer(q.x)) for q in self._study.ask_many(7)])
        self._study.ask_many(3)
        self._before = self._state()

    def _state(self) -> tuple[object, ...]:
        now = self._study.progress()
        return {row["id"]: row["answer"] for row in self._study.answers()}, now.answered, now.surplus, now.expired

    def changed(self) -> int:
        """Return 1 if anything of it has changed."""
        return int(self._state() != self._before)

    def close(self) -> None:
        """Close its connections."""
        self._study.close()
