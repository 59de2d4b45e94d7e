"""Who answers the studies in `data`: both the script that made them and the tests that go on with them ask here.

The i-th answer to a question x is a fixed number, whoever asks and in which order; so that a later version can be held
against what version 0.2.0 found. It needs nothing but the standard library: a random generator might change.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from statistics import NormalDist

STUDIES = {
    "tea": {  # in a box, with an intercept
        "n": 5,
        "gamma": 0.4,
        "seed": 21,
        "features": ["strength", "temperature", "milk", "sugar", "minutes"],
        "units": ["g", "°C", "ml", "g", "min"],
        "box": [(0, 10), (60, 95), (0, 40), (-4, 4), (1, 9)],
        "intercept": True,
    },
    "paper": {"n": 6, "gamma": 0.4, "sigma": 1.0, "method": "paper", "m": 8, "batch": 16, "seed": 22},
    "ended": {"n": 6, "gamma": 0.4, "sigma": 1.0, "max_queries": 200, "seed": 23},
}
"""The arguments with which each study was created."""
MODELS = {
    5: [(3.0, (0.4, 0.0, 0.0, -0.5, 0.0)), (5.0, (0.0, -0.1, 0.0, 0.5, 0.0))],
    6: [(0.0, (3.0, 0.0, 0.0, 0.0, -1.0, 0.0)), (0.0, (-3.0, 0.0, 2.0, 0.0, 0.0, 0.0))],
}
"""Intercept and coefficients of the two models, by the number of features."""


def name_of(x):
    """Return a question as text: the same for numbers that differ by rounding only."""
    return " ".join(f"{round(float(value), 6) + 0.0:.6f}" for value in x)


def answer(x, earlier=0):
    """Answer a question to which this many answers were given before: coin and noise are hashes of the two."""
    digest = hashlib.sha256(f"{name_of(x)} | {earlier}".encode()).digest()
    constant, coefficients = MODELS[len(x)][digest[0] % 2]
    noise = NormalDist().inv_cdf((int.from_bytes(digest[1:7]) + 0.5) / 2**48)
    return constant + sum(a * float(b) for a, b in zip(coefficients, x, strict=True)) + noise


def go_on(study, most=10_000):
    """Answer the next questions of a study, to its end or at most this many."""
    given = Counter(name_of(row["x"]) for row in study.answers())
    while most and (questions := study.ask_many(min(most, 40))):
        told = []
        for q in questions:
            told.append((q.id, answer(q.x, given[name_of(q.x)])))
            given[name_of(q.x)] += 1
        study.tell_many(told)
        most -= len(questions)
