"""Does a study keep every answer: SIGKILLs during tell, many processes at once, and the quota of each question.

    python benchmarks/kill_study.py                        # everything, 1,000 kills on each backend
    python benchmarks/kill_study.py kill --db tea.db --kills 25

Each part ends with a line that says what was counted; a broken promise is an exception.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

import mixsense as ms
from mixsense import sqlite

TRUTH = ms.random_pair(8, 2, gap=4.0, seed=1)


def answer(x: np.ndarray) -> float:
    """Answer by x alone, coin and noise included: whoever asks, whenever, gets the same."""
    rng = np.random.default_rng(list(hashlib.sha256(x.tobytes()).digest()))
    return float(sum(a * b for a, b in zip(x, TRUTH[rng.integers(2)], strict=True)) + rng.standard_normal())


def oracle(queries: np.ndarray, repeats: int) -> np.ndarray:
    assert repeats == 1
    return np.array([[answer(x)] for x in queries])


def unique(name: str) -> str:
    return f"{name}-{os.getpid()}-{time.monotonic_ns()}"


def integrity(url: str) -> None:
    """Ask SQLite whether its file is sound; on PostgreSQL the server was never killed."""
    if not url.startswith("postgresql"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()


def kill(url: str, kills: int, seed: int = 1) -> str:
    """Kill a process that tells, again and again; then finish the study and compare with an undisturbed run."""
    rng = random.Random(seed)
    problem = {"n": 8, "gamma": None, "sigma": 1.0, "max_queries": 200 + 2 * kills, "seed": 4}
    study = ms.create_study(url, unique("kill"), **problem)
    acknowledged: dict[str, float] = {}
    told = during = 0
    pace = 0.02  # seconds that a tell takes, measured as we go
    for _ in range(kills):
        study.release()
        if study.progress().state == "ready":
            study.result()  # compute the next round here, so that the victim spends its life telling
        if study.progress().state == "ended":
            break
        told += 1
        begun, done, pace = _one_life(study, rng.random() * 3 * pace, pace)
        acknowledged |= done
        during += begun > len(done)
    stored = study.answers()
    by_id = {row["id"]: row["answer"] for row in stored}
    assert len(by_id) == len(stored), "an answer is there twice"
    lost = [id_ for id_, value in acknowledged.items() if by_id.get(id_) != value]
    assert not lost, f"acknowledged, but not stored: {lost}"
    used = study.progress().total
    result = ms.run_study(study, oracle, workers=1, batch=500)
    same = ms.recover(oracle, **problem)
    assert np.array_equal(result.vectors, same.vectors), "the result differs from that of an undisturbed run"
    assert result.queries == same.queries == sum(not row["surplus"] for row in study.answers())
    integrity(url)
    study.close()
    return (
        f"{told} kills, {during} of them during a tell: {len(acknowledged)} acknowledged answers, none lost; "
        f"{used} answers used then, {same.queries} at the end; result as undisturbed, to the last bit"
    )


def _one_life(study: ms.Study, delay: float, pace: float) -> tuple[int, dict[str, float], float]:
    """Fork a process that tells until it is killed; returns the tells begun, those acknowledged, and their pace."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            questions = study.ask_many(30)
            os.write(write, b"ready\n")
            for q in questions:
                value = answer(q.x)
                os.write(write, f"begin {q.id} {value!r}\n".encode())
                study.tell(q.id, value)
                os.write(write, f"done {q.id} {value!r}\n".encode())
        except BaseException:
            os.write(write, f"failed {traceback.format_exc()!r}\n".encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        first = pipe.readline()
        assert first == b"ready\n", first
        start = time.monotonic()
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
        lived = time.monotonic() - start
        os.waitpid(pid, 0)
        lines = [line.split() for line in pipe.read().decode().splitlines()]
    assert not [line for line in lines if line[0] == "failed"], lines[-1]
    done = {line[1]: float(line[2]) for line in lines if line[0] == "done"}
    begun = sum(line[0] == "begin" for line in lines)
    return begun, done, 0.9 * pace + 0.1 * lived / (len(done) + 0.5)


def _forked(jobs: list) -> None:
    """Run each job in a process of its own; a failure of any is ours."""
    pids = []
    for job in jobs:
        pid = os.fork()
        if pid == 0:
            try:
                job()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        pids.append(pid)
    failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
    assert not failed, f"{failed} of {len(pids)} processes failed"


def send(url: str, processes: int, tells: int, times: int = 3, seed: int = 1) -> str:
    """Many processes send each answer several times in random order, while a reader polls."""
    count = processes * tells
    # The paper's method, for a first round that is large enough for all.
    study = ms.create_study(url, unique("send"), n=8, k=2, sigma=1.0, method="paper", m=20, batch=-(-count // 20))
    questions = []
    while len(questions) < count:
        questions += study.ask_many(count - len(questions))
    sends = [(q.id, answer(q.x)) for q in questions] * times
    random.Random(seed).shuffle(sends)
    folder = Path(tempfile.mkdtemp())
    start = time.monotonic()

    def sender(i: int) -> None:
        outcomes = Counter(study.tell(id_, value) for id_, value in sends[i::processes])
        (folder / f"{i}").write_text(json.dumps(outcomes))

    def reader() -> None:
        polls, seen = 0, 0
        while seen < count:
            now = study.progress()
            assert now.total >= seen, "answers have vanished"
            assert now.answered + now.out + now.open == now.size
            polls, seen = polls + 1, now.total
            time.sleep(0.01)
        (folder / "polls").write_text(str(polls))

    _forked([lambda i=i: sender(i) for i in range(processes)] + [reader])
    seconds = time.monotonic() - start
    total: Counter[str] = Counter()
    for i in range(processes):
        total.update(json.loads((folder / f"{i}").read_text()))
    assert total == {"taken": count, "known": count * (times - 1)}, total
    assert len(study.answers()) == study.progress().total == count
    integrity(url)
    polls = (folder / "polls").read_text()
    study.close()
    return f"{processes} processes sent {count} answers {times} times: {count} stored; {polls} polls; {seconds:.0f} s"


def quota(url: str, processes: int, asks: int) -> str:
    """Many processes take questions: each is handed out once, and again only when its lease has been counted out."""
    size = asks * 4 // 5
    study = ms.create_study(url, unique("quota"), n=8, k=2, sigma=1.0, method="paper", m=20, batch=size // 20)
    size = study.progress().size
    folder = Path(tempfile.mkdtemp())

    def taker(i: int, wanted: int, part: str) -> None:
        rng, ids = random.Random(i), []
        while len(ids) < wanted:
            taken = study.ask_many(rng.randint(1, min(40, wanted - len(ids))), patient=True)
            if not taken:
                break
            ids += [q.id for q in taken]
        (folder / f"{part}{i}").write_text(" ".join(ids))

    _forked([lambda i=i: taker(i, asks, "a") for i in range(processes)])
    first = [id_ for path in folder.glob("a*") for id_ in path.read_text().split()]
    assert len(first) == len(set(first)) == size, "a question was handed out twice"
    assert study.ask_many(1, patient=True) == []
    assert study.progress().expired == 0
    study.release()
    rest = (asks - size) // processes
    _forked([lambda i=i: taker(i, rest, "b") for i in range(processes)])
    again = [id_ for path in folder.glob("b*") for id_ in path.read_text().split()]
    assert len(set(first + again)) == size + len(again)
    assert study.progress().expired == len(again) == rest * processes
    study.close()
    return f"{size} questions, {len(first) + len(again)} hand-outs, {len(again)} of them again, all counted as expired"


def everything(kills: int, minutes: float) -> None:
    """Run all on each backend; the kills go on in lots until the minutes are over."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    import postgres_server

    with tempfile.TemporaryDirectory() as folder, postgres_server.running() as postgres:
        for backend in ("DELETE", "WAL", "PostgreSQL"):
            sqlite.SQLITE_VERSION = sqlite.SAFE_WAL if backend == "WAL" else (3, 0, 0)
            url = postgres if backend == "PostgreSQL" else f"sqlite:///{folder}/{backend}.db"
            print(f"{backend}:", flush=True)
            start, done, lot = time.monotonic(), 0, min(kills, 100)
            while done < kills and time.monotonic() - start < 60 * minutes:
                print("  kill:", kill(url, lot, seed=done), flush=True)
                done += lot
            print(f"  {done} kills in {time.monotonic() - start:.0f} s", flush=True)
            print("  send:", send(url, 16, 500), flush=True)
            print("  quota:", quota(url, 4, 10_000), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=["kill", "send", "quota", "all"], default="all")
    parser.add_argument("--db")
    parser.add_argument("--journal", choices=["DELETE", "WAL"], help="SQLite's journal mode, whatever its version")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--tells", type=int, default=500)
    parser.add_argument("--asks", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=60)
    args = parser.parse_args()
    if args.journal:
        sqlite.SQLITE_VERSION = sqlite.SAFE_WAL if args.journal == "WAL" else (3, 0, 0)
    if args.part == "kill":
        print(kill(args.db, args.kills))
    elif args.part == "send":
        print(send(args.db, args.processes, args.tells))
    elif args.part == "quota":
        print(quota(args.db, args.processes, args.asks))
    else:
        everything(args.kills, args.minutes)


if __name__ == "__main__":
    main()
