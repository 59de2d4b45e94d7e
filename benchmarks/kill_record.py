"""Does the record of `recover --record` survive SIGKILLs while its torn last line is cut off.

    python benchmarks/kill_record.py [--kills 200]

A process opens a record whose last line is torn, asks, and is killed at a random moment: while it reads, while it
repairs, or while it appends. After each kill every line that was acknowledged has to be there, byte for byte. The next
process finds what the kill left, torn further by hand if the kill left it whole. A broken promise is an exception.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

import mixsense as ms

RUN = {"oracle": "kill_record", "seed": 1}
FIRST = 300
"""Answers in the record before the first kill, so that reading it takes a while."""


def asked(number: int) -> np.ndarray:
    """Return the query with this number; none is like another."""
    return np.array([[float(number), 1.0, -0.5]])


def oracle(queries: np.ndarray, repeats: int) -> np.ndarray:
    return np.repeat(np.sin(queries[:, :1]) + queries[:, :1], repeats, axis=1)


def opened(path: Path) -> ms.RecordedOracle:
    return ms.RecordedOracle(oracle, path, RUN)


def one_life(path: Path, first: int, delay: float) -> tuple[bool, int]:
    """Fork a process that opens the record and asks until it is killed; returns whether it was open, and how many."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            os.write(write, b"begun\n")
            record = opened(path)
            os.write(write, b"open\n")
            for number in range(first, first + 50):
                record(asked(number), 1)
                os.write(write, b"answered\n")
        except BaseException:
            os.write(write, f"failed {traceback.format_exc()!r}\n".encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        lines = pipe.read().decode().splitlines()
    assert not [line for line in lines if line.startswith("failed")], lines[-1]
    return "open" in lines, lines.count("answered")


def kill(kills: int, seed: int = 1) -> str:
    """Kill processes that repair and extend one record, and look at the record after each."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.jsonl")
        record = opened(path)
        for number in range(FIRST):
            record(asked(number), 1)
        safe, count, during, left_torn = path.read_bytes(), FIRST, 0, 0
        start = time.monotonic()
        opened(path)
        pace = time.monotonic() - start  # seconds that it takes to open the record
        for _ in range(kills):
            with path.open("ab") as file:
                line = json.dumps({"queries": asked(count).tolist(), "answers": [[777.0]], "group": [[count]]})
                file.write(line[: rng.randrange(1, len(line))].encode())  # as a kill within a write leaves it
            open_, answered = one_life(path, count, rng.uniform(0.0, 2.5) * pace)
            during += not open_
            content = path.read_bytes()
            assert content.startswith(safe), "a line that was acknowledged is gone, or was changed"
            lines = content[: content.rfind(b"\n") + 1].splitlines()
            left_torn += not content.endswith(b"\n")
            # One more may be whole: the kill came between the write and the word of it.
            assert len(lines) - 1 - count in (answered, answered + 1), (len(lines) - 1, count, answered)
            for number, written in enumerate(lines[1 + count :], count):
                assert json.loads(written)["answers"] == oracle(asked(number), 1).tolist()
            count, safe = len(lines) - 1, b"".join(written + b"\n" for written in lines)
        record = opened(path)
        assert record.reused == count
        assert all((record(asked(number), 1) == oracle(asked(number), 1)).all() for number in range(count))
        assert path.read_bytes() == safe
    return (
        f"{kills} kills, {during} before the repair had ended, {left_torn} left a torn line; {count} answers, none lost"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    print(kill(parser.parse_args().kills))


if __name__ == "__main__":
    main()
