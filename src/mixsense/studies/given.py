"""What a study is given, checked: answers, ids of questions, groups, tokens of respondents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mixsense.checks import as_int, is_unicode, shown, summed_up
from mixsense.errors import InvalidInput
from mixsense.rounds import LARGEST_ANSWER
from mixsense.studies.ids import read_id
from mixsense.studies.storage.scatter import TicketName

LONGEST_TOKEN = 1_000
"""Letters of a respondent's token."""


def checked_answer(value: Any, answer_range: tuple[float, float] | None) -> float:
    """Return an answer as a float, or say what is needed.

    Examples
    --------
    >>> checked_answer(6, (1, 7))
    6.0
    """
    low, high = answer_range or (-LARGEST_ANSWER, LARGEST_ANSWER)
    needed = f"a number from {low:g} to {high:g}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InvalidInput(f"the answer is {shown(value)}: give {needed}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not low <= number <= high:  # NaN too
        raise InvalidInput(f"the answer is {number:g}: give {needed}")
    return number + 0.0  # -0.0 is 0.0


def ticket_of(id: Any, key: str, name: str) -> TicketName:
    """Return the ticket that a question's id names, or say what is wrong with it; the study has this key and name."""
    found = read_id(id) if isinstance(id, str) else None
    if found is None:
        raise InvalidInput(f"the question's id is {shown(id)}: give the id that came with a question of this study")
    if found[0] != key:
        raise InvalidInput(f"question {id} belongs to another study: the ids of {name!r} begin with {key}-", id=id)
    return found[1]


def checked_group(group: Any) -> int | None:
    """Return the number of a group, None for an answer by itself."""
    return None if group is None else as_int("group", group, 0, "answers with the same number share a model", 2**63 - 1)


def checked_groups(groups: Any, count: int) -> list[int | None]:
    """Return the groups of `count` answers."""
    if groups is None:
        return [None] * count
    if not isinstance(groups, Sequence | np.ndarray) or len(groups) != count:
        raise InvalidInput(f"groups is {summed_up(groups)}: give a number or None for each of {count} answers")
    return [checked_group(group) for group in groups]


def checked_token(respondent: Any) -> str:
    """Return a respondent's token; nobody is shown one, not even a wrong one."""
    usable = isinstance(respondent, str) and 0 < len(respondent) <= LONGEST_TOKEN and is_unicode(respondent)
    if not usable:
        raise InvalidInput(
            f"the respondent's token is no text of 1 to {LONGEST_TOKEN} letters in UTF-8: give a random text that only "
            "this respondent has, such as secrets.token_urlsafe() makes"
        )
    return str(respondent)
