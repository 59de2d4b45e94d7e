"""How many people give the answers that are planned for, if each gives several."""

from __future__ import annotations

from math import ceil

from scipy.special import bdtr, bdtrik  # scipy.stats has them by better names, and takes a second to import

from mixsense.problem import Weights

MAY_FAIL = 0.1
"""Probability that some kind of people is rarer than planned (derived: plans hold in nine runs of ten)."""


def people(queries: int, per_person: int) -> int:
    """Return how many people give this many answers.

    Examples
    --------
    >>> people(361, 12)
    31
    """
    return -(-queries // per_person)


def people_if_known(queries: int | None, per_person: int | None) -> int | None:
    """Return how many people give this many answers; None where either number is not known."""
    return None if queries is None or per_person is None else people(queries, per_person)


def people_of_each_kind(queries: int, per_person: int, shares: Weights) -> int:
    """Return how many people are enough, if the answers of one person are known to be one's.

    Parameters
    ----------
    queries : int
        Answers that are planned for, as if each came from somebody else.
    per_person : int
        Answers that one person gives.
    shares : L floats
        Shares of the models.

    Notes
    -----
    All answers of one person are of one kind, so that few people may hold too few of one kind. Of queries answers from
    as many people, each kind a has at least m_a in nine plans of ten, a quantile of the binomial distribution. The
    people that are returned have m_a answers of each kind in nine plans of ten, too. That the answers of one person
    label each other is not counted: it makes them tell more.

    Examples
    --------
    >>> people_of_each_kind(361, 1, (0.5, 0.5)), people_of_each_kind(361, 12, (0.5, 0.5))
    (361, 37)
    """
    fail = MAY_FAIL / len(shares)
    wanted = [-(-ceil(bdtrik(fail, queries, share) - 1e-9) // per_person) for share in shares]

    def enough(count: int) -> bool:
        return all(m == 0 or bdtr(m - 1, count, share) <= fail for m, share in zip(wanted, shares, strict=True))

    low = people(queries, per_person)
    if enough(low):
        return low
    high = 2 * low
    while not enough(high):
        high *= 2
    while high - low > 1:  # low is not enough, high is
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
