"""What an oracle answers, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import one_line, shown
from mixsense.errors import OracleError
from mixsense.rounds.round import Asked, Oracle, block_groups, knows_groups

LARGEST_ANSWER = 1e100
"""Squares of larger numbers leave the range of floats."""
TOO_MANY_AT_AN_END = 0.05
"""A larger share of answers at one end of their range is worth a warning: what lies beyond is cut off. Taste."""


def answered(
    oracle: Oracle, queries: Array, repeats: int, block: int = 1, first_group: int = 0, first_query: int = 0
) -> Asked:
    """Ask an oracle, and check what it says.

    Parameters
    ----------
    oracle : callable
        Who is asked. One that knows which answers belong together says so itself.
    queries, repeats, block
        As in a `Round`.
    first_group : int
        Where the numbers of the groups begin.
    first_query : int
        What messages call the first query.
    """
    if knows_groups(oracle):
        found = oracle.asked(queries, repeats, block)
        if not isinstance(found, Asked) or len(found.vectors) != len(queries):
            raise OracleError(
                f"the oracle's asked() returned {one_line(found, 60)}: an Asked of these queries is needed"
            )
        checked_answers(found.table(), len(queries), repeats, first_query)
        return found
    y = checked_answers(oracle(queries, repeats), len(queries), repeats, first_query)
    # Nobody told this oracle of the block: that its answers share a model is not known.
    return Asked.of_round(queries, y, block_groups(len(queries), repeats, 1, first_group))


def checked_answers(raw: Any, q: int, repeats: int, first_query: int = 0) -> Array:
    """Return the oracle's answers as a (q, repeats) array of finite floats, or raise `OracleError`."""
    try:
        found = np.asarray(raw)
    except ValueError:
        raise OracleError(
            f"the oracle answered rows of unequal length: return an array ({q}, {repeats})", received=raw
        ) from None
    if found.dtype.kind not in "biuf":
        first = shown(found.reshape(-1)[:1].tolist()[0] if found.size else raw)
        raise OracleError(
            f"the oracle answered values of type {found.dtype} such as {first}: return real numbers, as float",
            received=raw,
        )
    if found.shape != (q, repeats):
        raise OracleError(
            f"the oracle answered an array of shape {found.shape} to {q} queries asked {repeats} times each: "
            f"return shape ({q}, {repeats}), one row a query, one column a repeat",
            received=raw,
        )
    answers = found.astype(np.float64)
    bad = np.argwhere(~(np.abs(answers) <= LARGEST_ANSWER))
    if len(bad):
        i, j = (int(index) for index in bad[0])
        raise OracleError(
            f"the oracle answered {answers[i, j]} to query {first_query + i} (repeat {j}); answers must be finite, "
            f"up to {LARGEST_ANSWER:g}: let the oracle ask again, or raise",
            received=raw,
            query=first_query + i,
            repeat=j,
        )
    answers.flags.writeable = False
    return answers
