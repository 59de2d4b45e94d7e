"""How the world calls a ticket: the study's key and a random part, as in ``bcdf-ghjklmnpqrstvwxzbcd``."""

from __future__ import annotations

import re

from mixsense.studies.storage.catalogue import KEY_LENGTH, KEY_LETTERS
from mixsense.studies.storage.scatter import NUMBER_BITS, SECRET_BITS, TicketName

LENGTH = 19
"""Letters of the random part: 20 ** 19 is the first power of 20 above 2 ** 80."""
KEY = re.compile(rf"[b-z]{{{KEY_LENGTH}}}", re.ASCII)
ID = re.compile(rf"({KEY.pattern})-(?:([1-9][0-9]{{0,17}})|([{KEY_LETTERS}]{{{LENGTH}}}))", re.ASCII)


def check_key(key: str) -> None:
    """Raise ValueError if no id of ours begins like this."""
    if not KEY.fullmatch(key):
        raise ValueError("the study's key is not one of ours")


def text_of(key: str, ticket: TicketName) -> str:
    """Return the id of a ticket.

    Examples
    --------
    >>> text_of("bcdf", TicketName(17, None)), text_of("bcdf", TicketName(-1, 21))
    ('bcdf-17', 'bcdf-bbbbbbbbbbbbbbbbbcc')
    """
    if ticket.secret is None:  # an older mixsense counted
        return f"{key}-{ticket.number}"
    value = (-1 - ticket.number) << SECRET_BITS | ticket.secret
    letters = ""
    for _ in range(LENGTH):
        value, digit = divmod(value, len(KEY_LETTERS))
        letters = KEY_LETTERS[digit] + letters
    return f"{key}-{letters}"


def read_id(text: str) -> tuple[str, TicketName] | None:
    """Return the key and the ticket that an id names; None if it is not an id.

    Examples
    --------
    >>> read_id("bcdf-bbbbbbbbbbbbbbbbbcc"), read_id("bcdf-0")
    (('bcdf', TicketName(number=-1, secret=21)), None)
    """
    found = ID.fullmatch(text)
    if found is None:
        return None
    key, counted, letters = found.groups()
    if counted:
        return key, TicketName(int(counted), None)
    value = 0
    for letter in letters:
        value = value * len(KEY_LETTERS) + KEY_LETTERS.index(letter)
    if value >> SECRET_BITS + NUMBER_BITS:
        return None
    return key, TicketName(-1 - (value >> SECRET_BITS), value & (1 << SECRET_BITS) - 1)
