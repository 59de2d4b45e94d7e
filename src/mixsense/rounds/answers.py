"""What an oracle answers, checked."""

from __future__ import annotations

from numbers import Rational
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import LARGEST_SIZE, as_reals, one_line, shown
from mixsense.errors import InvalidInput, MixsenseError, OracleError
from mixsense.rounds.round import Asked, Oracle, block_groups, knows_groups
from mixsense.rounds.vectors import for_oracle, is_exact

LARGEST_ANSWER = LARGEST_SIZE
"""Answers are sizes like any other: `LARGEST_SIZE` says why there is a largest."""
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
    q, sent = queries.shape[0], for_oracle(queries, oracle)
    if knows_groups(oracle):
        found = oracle.asked(sent, repeats, block)
        if not isinstance(found, Asked) or found.vectors.shape[0] != q:
            raise OracleError(
                f"the oracle's asked() returned {one_line(found, 60)}: an Asked of these queries is needed"
            )
        checked_answers(found.table(), q, repeats, first_query, exact=is_exact(sent))
        if found.alone:
            found.group = first_group + found.group
        return found
    y = checked_answers(oracle(sent, repeats), q, repeats, first_query, exact=is_exact(sent))
    # Nobody told this oracle of the block: that its answers share a model is not known.
    return Asked.of_round(queries, y, block_groups(q, repeats, 1, first_group))


def checked_answers(raw: Any, q: int, repeats: int, first_query: int = 0, exact: bool = False) -> Array:
    """Return the oracle's answers as a (q, repeats) array of finite floats, or raise `OracleError`.

    Fractions stay what they are if they are wanted `exact`, and become floats otherwise.
    """
    try:
        found = np.asarray(raw)
    except ValueError:
        raise OracleError(
            f"the oracle answered rows of unequal length: return an array ({q}, {repeats})", reply=raw
        ) from None
    fractions = is_exact(found) and found.size > 0 and all(isinstance(value, Rational) for value in found.flat)
    if found.dtype.kind not in "biuf" and not fractions:
        first = shown(found.reshape(-1)[:1].tolist()[0] if found.size else raw)
        raise OracleError(
            f"the oracle answered values of type {found.dtype} such as {first}: return real numbers, as float",
            reply=raw,
        )
    if found.shape != (q, repeats):
        raise OracleError(
            f"the oracle answered an array of shape {found.shape} to {q} queries asked {repeats} times each: "
            f"return shape ({q}, {repeats}), one row a query, one column a repeat",
            reply=raw,
        )
    if fractions and exact:
        return found
    answers = found.astype(np.float64)
    answers[np.ma.getmaskarray(raw) if isinstance(raw, np.ma.MaskedArray) else False] = np.nan  # none was given
    bad = np.argwhere(~(np.abs(answers) <= LARGEST_ANSWER))
    if len(bad):
        i, j = (int(index) for index in bad[0])
        raise OracleError(
            f"the oracle answered {answers[i, j]} to query {first_query + i} (repeat {j}); answers must be finite, "
            f"up to {LARGEST_ANSWER:g}: give them in a larger unit, let the oracle ask again, or raise",
            received=usable(answers, q, repeats),
            query=first_query + i,
            repeat=j,
        )
    answers.flags.writeable = False
    return answers


def carry(error: BaseException, answers: Any) -> None:
    """Let an error carry the answers that came in the call that it ends, (q, repeats), as its `received`."""
    if isinstance(error, MixsenseError):
        error.data["received"] = answers  # which crosses process borders
    else:
        error.received = answers  # type: ignore[attr-defined]


def handed_over(error: BaseException) -> Any:
    """Return the answers that an error carries, which it does no longer: whoever takes them keeps them."""
    return (error.data if isinstance(error, MixsenseError) else error.__dict__).pop("received", None)


def usable(received: Any, q: int, repeats: int) -> Array:
    """Return the answers that an error carries as (q, repeats), NaN where there is none that can be used.

    Examples
    --------
    >>> usable([[1.5], [float("inf")]], 2, 1).tolist(), usable("no", 1, 2).tolist()
    ([[1.5], [nan]], [[nan, nan]])
    """
    try:
        found = as_reals("received", received, "numbers", finite=False, kinds="biuf")
    except InvalidInput:
        found = np.empty(0)
    if found.shape != (q, repeats):
        return np.full((q, repeats), np.nan)
    return np.where(np.abs(found) <= LARGEST_ANSWER, found, np.nan)
