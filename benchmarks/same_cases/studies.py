"""Cases of studies: in pieces and from the file, open, ended and failed; and of answers that are kept in a file."""

from __future__ import annotations

from typing import Any

import mixsense as ms
from same_cases.case import EQUAL, Crowd, Lab, case, message_of, recorded, shown

USUAL: dict[str, Any] = {"n": 8, "gamma": 0.4, "sigma": 1.0, "weights": EQUAL, "seed": 4}
STANDING = ("state", "status", "round", "label", "size", "answered", "out", "open", "total", "surplus", "expired")


def in_pieces(name: str, piece: int, **problem: Any) -> dict[str, Any]:
    """Answer a study to its end, with a new handle for every piece; returns its result and how it went on."""
    path = f"{name}.db"
    ms.create_study(path, name, **problem).close()
    crowd, story = Crowd(), []
    while True:
        study = ms.load_study(path, name)
        questions = study.ask_many(piece)
        study.tell_many([(q.id, crowd.answer(q.x)) for q in questions[::-1]])
        now = study.progress()
        story.append([getattr(now, field) for field in STANDING])
        if not questions:
            break
        study.close()
    r = study.result()
    found = shown(r, story=story, rows=len(study.answers()), record=recorded(study.record()))
    study.close()
    return found


@case
def study_in_pieces() -> dict[str, Any]:
    """Run the frugal method with 37 answers a handle."""
    return in_pieces("pieces", 37, **USUAL)


@case
def study_sigma_measured() -> dict[str, Any]:
    """Run the frugal method with an unknown noise: the first round asks x = 0."""
    return in_pieces("measured", 50, **{**USUAL, "sigma": None, "max_queries": 200})


@case
def study_in_a_box() -> dict[str, Any]:
    """Run the frugal method in a box, with names, units and an intercept."""
    box = {"box": [(0.0, 4.0)] * 12, "features": list("abcdefghijkl"), "intercept": True, "units": ["g"] * 12}
    return in_pieces("box", 60, **{**USUAL, "n": 12, "max_queries": 300, **box})


@case
def study_paper() -> dict[str, Any]:
    """Run the paper's method with fixed batches."""
    return in_pieces("paper", 200, **{**USUAL, "method": "paper", "m": 10, "batch": 30})


@case
def study_budget_too_small() -> dict[str, Any]:
    """Let a study fail: the paper's method needs more than the budget for its first estimate."""
    path, problem = "failing.db", {**USUAL, "sigma": None, "method": "paper", "m": 10, "batch": 30, "max_queries": 80}
    study, crowd = ms.create_study(path, "failing", **problem), Crowd()
    while questions := study.ask_many(50):
        study.tell_many([(q.id, crowd.answer(q.x)) for q in questions])
    return {"message": message_of(study.result), "state": study.progress().state}


@case
def study_open() -> dict[str, Any]:
    """Look at the estimate of a study that still waits."""
    study, crowd = ms.create_study("open.db", "open", **USUAL), Crowd()
    early = message_of(study.result)
    study.tell_many([(q.id, crowd.answer(q.x)) for _ in range(3) for q in study.ask_many(60)])
    return shown(study.result(), early=early, state=study.progress().state)


@case
def study_run() -> dict[str, Any]:
    """Run a study with an oracle, after some answers have been told by hand."""
    study, crowd = ms.create_study("run.db", "run", **USUAL), Crowd()
    study.tell_many([(q.id, crowd.answer(q.x)) for q in study.ask_many(25)])
    r = ms.run_study(study, crowd, workers=2, batch=11)
    again = ms.recover(ms.ReplayOracle(study.record()), **study.problem)
    return shown(r, again=again.vectors, same=bool((again.vectors == r.vectors).all()))


@case
def study_ratings() -> dict[str, Any]:
    """Give answers in a range, many of them at its ends: a warning."""
    problem = {**USUAL, "n": 6, "box": [(0.0, 2.0)] * 6, "intercept": True, "max_queries": 150, "sigma": None}
    study = ms.create_study("ratings.db", "ratings", **problem, answer_range=(1, 7))
    oracle = Lab(ms.random_pair(6, 2, gap=8.0, seed=3), constants=(3.0, 4.0), ratings=(1.0, 7.0), seed=3)
    r = ms.run_study(study, oracle, workers=1, batch=10)
    return shown(r, warnings=list(study.progress().warnings))


@case
def study_errors() -> dict[str, Any]:
    """Show what studies say about mistakes."""
    study = ms.create_study("errors.db", "errors", **USUAL, answer_range=(-50, 50))
    q = study.ask()
    assert q is not None
    study.tell(q.id, 1.0)
    calls = {
        "same name": lambda: ms.create_study("errors.db", "errors", **USUAL),
        "no such study": lambda: ms.load_study("errors.db", "other"),
        "no such file": lambda: ms.load_study("nowhere.db", "errors"),
        "empty name": lambda: ms.create_study("errors.db", "", **USUAL),
        "problem": lambda: ms.create_study("errors.db", "third", **{**USUAL, "gamma": -1.0}),
        "lease": lambda: ms.create_study("errors.db", "third", **USUAL, lease=-1.0),
        "units": lambda: ms.create_study("errors.db", "third", **USUAL, units=["g"]),
        "answer out of range": lambda: study.tell(q.id, 99.0),
        "answer as text": lambda: study.tell(q.id, "many"),  # type: ignore[arg-type]
        "count": lambda: study.ask_many(0),
    }
    other = message_of(lambda: study.tell(q.id, 2.0)).replace(q.id, "ID")
    return {"another answer": other, **{name: message_of(call) for name, call in calls.items()}}


@case
def recorded_oracle() -> dict[str, Any]:
    """Keep an oracle's answers in a file: it fails, and the next run goes on from the file."""
    pair = ms.random_pair(8, 2, gap=4.0, seed=8)
    oracle = Lab(pair, fails_after=100, seed=9)
    usual: dict[str, Any] = {"n": 8, "gamma": 0.4, "weights": EQUAL, "seed": 10}
    failed = message_of(lambda: ms.recover(ms.RecordedOracle(oracle, "answers.jsonl", {"seed": 10}), **usual))
    kept = ms.RecordedOracle(oracle, "answers.jsonl", {"seed": 10})
    other = message_of(lambda: ms.RecordedOracle(oracle, "answers.jsonl", {"seed": 11}))
    return shown(ms.recover(kept, **usual), failed=failed, other=other, reused=kept.reused)
