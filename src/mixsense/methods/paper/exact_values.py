"""What answers without noise show: the L values of each query, and how many models there are."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.errors import ModelError
from mixsense.problem import MOST_MODELS
from mixsense.recovery import Recovery
from mixsense.rounds import Asked, Method, Round

EQUAL = 1e-9
"""Answers that differ by less than this share of the largest answer are equal (erratum 22)."""
FOREVER = 100
"""A query that has not shown all of its values in this many answers has some that are equal within rounding."""

SURER = 0.1
"""The share of η that may be spent on counting the models: a miss wastes all answers, to halve its probability costs
four (taste)."""

BestOf = Callable[["Seen"], Recovery]
"""Makes the best result so far of what was seen."""


class Seen:
    """The different answers to each of m queries so far."""

    def __init__(self, m: int) -> None:
        self.values = np.full((m, MOST_MODELS + 1), np.nan)  # in the order in which they were seen
        self.counts = np.zeros(m, dtype=np.intp)
        self.scale = 0.0

    @property
    def most(self) -> int:
        """The largest number of values that a query has shown."""
        return int(self.counts.max())

    @property
    def middle(self) -> Array:
        """The middle of the values of each query, (m,)."""
        return np.asarray((np.nanmin(self.values, axis=1) + np.nanmax(self.values, axis=1)) / 2)

    @property
    def half(self) -> Array:
        """Half of the distance of the outermost values of each query, (m,)."""
        return np.asarray(np.nanmax(self.values, axis=1) - np.nanmin(self.values, axis=1)) / 2

    def add(self, index: Index, answers: Array, models: int | None) -> None:
        """Add one answer to each of these queries; more different ones than models are refused."""
        self.scale = max(self.scale, float(np.abs(answers).max()))
        known = np.abs(self.values[index] - answers[:, None]) <= EQUAL * self.scale
        new = ~known.any(axis=1)
        rows = index[new]
        self.values[rows, self.counts[rows]] = answers[new]
        self.counts[rows] += 1
        if self.most > (models or MOST_MODELS):
            given = f"at most {MOST_MODELS} models are looked for" if models is None else f"models is {models}"
            more = "" if models is None else "give models='auto' if there are more, "
            raise ModelError(
                f"a query has shown {self.most} different answers, but {given}: {more}use method='frugal' if they are "
                "noisy"
            )


def answers_to_see_all(least_share: float, eta: float) -> int:
    """Return how often a query is asked until all models have answered, but for probability η.

    The coupon collector's bound: if no share is below p, one of the models, at most 1/p, is missing after N answers
    with a probability of at most (1 − p)ᴺ/p.

    Examples
    --------
    >>> answers_to_see_all(1 / 2, 0.01), answers_to_see_all(1 / 6, 0.01)
    (8, 36)
    """
    return math.ceil(math.log(least_share * eta) / math.log1p(-least_share))


def miss(share: float, answers: int) -> float:
    """Return the coupon collector's bound on the probability that a model of at least this share is missing."""
    return min(1.0, (1 - share) ** answers / share)


def all_values(X: Array, models: int | None, eta: float, best_of: BestOf) -> Method[tuple[Seen, int, float]]:
    """Step 1: ask each query until all of its values have been seen.

    Parameters
    ----------
    X : (m, n) array
        The queries.
    models : int or None
        L, or None to find it: the query with the largest distance of its first two values is asked until the
        probability that one of up to six models of equal shares is missing is at most η.
    eta : float
        The probability with which too few models may be found.
    best_of : callable
        Makes the best result so far.

    Returns
    -------
    seen : Seen
    wanted : int
        How many models there are. Queries with fewer values are not to be used: some are equal within rounding.
    missed : float
        A bound on the probability that a model was missed.

    Notes
    -----
    For different vectors every query has different values, so that a query is asked as long as it takes, once
    another has shown L. If none has, and if that has a probability of at most η for L models, there are fewer.
    """
    m, everyone = len(X), np.arange(len(X))
    asked = yield Round(X, 2, label="base queries: two answers each")
    X[:] = asked.vectors
    seen = Seen(m)
    for answers in asked.table().T:
        seen.add(everyone, answers, models)
    times, wanted, missed = 2, models or 2, 0.0 if models is None else m * miss(1 / models, FOREVER)
    while True:
        if models is None and not missed and seen.most > 1:
            missed = yield from _count(X, seen, SURER * eta, best_of)
            wanted = seen.most
        open_ = np.flatnonzero(seen.counts < wanted)
        # Of L equal shares a query misses one with probability ≤ L (1 − 1/L)ᵗ, m queries do with its m-th power.
        if seen.most < wanted and m * (-math.log2(wanted) - times * math.log2(1 - 1 / wanted)) >= math.log2(1 / eta):
            wanted, missed = seen.most, eta
            continue
        if not open_.size or times > FOREVER:
            return seen, wanted, missed
        label = f"base queries: {len(open_)} have shown {_few(seen.counts[open_])} only"
        again = yield Round(X[open_], label=label, estimate=lambda: best_of(seen))
        check_unchanged(again, X[open_])
        seen.add(open_, again.answers, models)
        wanted = max(wanted, seen.most)
        times += 1


def _count(X: Array, seen: Seen, eta: float, best_of: BestOf) -> Method[float]:
    """Ask one query until all models have answered, but for probability η."""
    pivot = int(seen.half.argmax())
    times = answers_to_see_all(1 / MOST_MODELS, eta)
    again = yield Round(X[[pivot]], times, label="how many models: one query again", estimate=lambda: best_of(seen))
    check_unchanged(again, np.repeat(X[[pivot]], times, axis=0))
    for answer in again.answers:
        seen.add(np.array([pivot]), np.array([answer]), None)
    return miss(1 / MOST_MODELS, times)


def _few(counts: Index) -> str:
    least, most = int(counts.min()), int(counts.max())
    return "one value" if most == 1 else f"{least} to {most} values" if least < most else f"{most} values"


def check_unchanged(asked: Asked, sent: Array) -> None:
    """Refuse answers to other queries than those sent, but for rounding: they would be compared with exact values."""
    if asked.queries.shape != sent.shape or np.abs(asked.queries - sent).max() > EQUAL * np.abs(sent).max():
        raise ModelError(
            "the queries were changed on their way (rounded, or cut to a range): exact answers need exact queries; "
            "use method='frugal'"
        )
