"""Secrets: where they come from, and how they are kept out of everything that is shown."""

from __future__ import annotations

import base64
import binascii
import html
import json
import math
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from mixsense.checks import one_line
from mixsense.errors import InvalidInput
from mixsense.oracles.likely_secrets import ENV, looks_random, names_a_secret

SHORTEST = 4
"""What is shorter and only guessed to be a secret is shown: it would be found everywhere."""
_COMMON = {"true", "false", "none", "null", "auto", "file", "user", "basic", "bearer", "digest", "store", "cache"}
PIECE = 8
"""This many letters in a row of a secret are never shown: a service may repeat a part of it."""
UNESCAPED = 3
"""How deep escapes in escapes are looked through."""
LOOKED_AT = 4_000
"""Characters of a text that are searched for secrets; of what is longer the rest is never shown."""
_LETTER = (
    r"(?-i:\\U)([0-9a-f]{8})|\\u\{0*([0-9a-f]{1,6})\}|(?:%|\\)u([0-9a-f]{4})|(?:%|\\x)([0-9a-f]{2})|\\(?P<octal>[0-3][0-7]{2})|"
    r"&#[0-9]{1,10};?|&#x[0-9a-f]{1,10};?|&[a-z0-9]{1,24};|\\.|."
)
_ESCAPE = re.compile(_LETTER, re.I | re.S | re.A)
"""A letter, as it is or escaped as in addresses, JSON, Python, JavaScript, C or HTML."""
_PRINTABLE = re.compile(rf"=([0-9a-f]{{2}})|(?P<nothing>= )|{_LETTER}", re.I | re.S | re.A)
"""The same in quoted-printable text, where = is one more escape: elsewhere it stands before a value."""
_SURE = re.compile(
    r"pass(word|wd|phrase|code)?(?![a-z])|passwor[dt]|kennwort|pwd|token|secret|credential|(?<![a-z])(pin|otp)(?![a-z])|keys?$"
)
"""What a variable's name, in small letters, says of a secret, however short and in one word: PGPASSWORD, OPENAI_KEY."""
_FOLDERS = {"PWD", "OLDPWD"}
_LOGIN = re.compile(r"://[^/?#\s:]*:([^/?#\s]+)@")
"""The password in an address."""


def _holds_a_secret(name: str, value: str) -> bool:
    """Return whether a variable of the environment must be one: by its name, if it is short by a name that is sure."""
    if name in _FOLDERS or len(value) < SHORTEST or value.lower() in _COMMON:
        return False
    return bool(_SURE.search(name.lower())) or (names_a_secret(name) and len(value) >= PIECE)


class Secrets:
    """Values that are never shown, each with the name that is shown in its place.

    Examples
    --------
    >>> secrets = Secrets()
    >>> secrets.add("s3cret/value", "[TOKEN]")
    >>> secrets.hide("no s3cret/value, s3cret%2Fvalue or czNjcmV0L3ZhbHVl here")
    'no [TOKEN], [TOKEN] or [TOKEN] here'
    >>> secrets.show("a part of it: s3cret/va", 100)
    'a part of it: [TOKEN]'
    """

    def __init__(self) -> None:
        self._values: dict[str, str] = {}  # of the environment, by the name of the variable
        self._pieces: dict[int, dict[str, str]] = {}  # length -> piece -> the name to show
        self._guessed: dict[int, dict[str, str]] = {}  # the same for what is hidden in what came, not in our own words

    def add(self, value: str, name: str, guessed: bool = False) -> None:
        """Keep a value out of what is shown, in all forms in which it may come back.

        Parameters
        ----------
        value : str
            The secret.
        name : str
            What is shown in its place.
        guessed : bool
            It may be no secret: a common word, even. It is hidden in what a service sends, not in our own words.
        """
        pieces = self._guessed if guessed else self._pieces
        for form in _forms(value):
            form = _lower("".join(form.split()))  # as it is looked for: line ends may be anywhere
            size = min(len(form), PIECE)
            for start in range(len(form) - size + 1) if size else ():
                pieces.setdefault(size, {}).setdefault(form[start : start + size], name)

    def add_program(self, arguments: Sequence[str]) -> None:
        """Keep out of what a program writes what it may know: arguments that look secret, and such of its environment.

        An argument is one if it looks random, or stands behind an option that names a secret, as in
        ``--api-key X`` or ``-p X``; so is the password in an address.
        """
        before = ""
        for part in arguments:
            option, _, value = part.partition("=") if re.match(r"[\w.-]+=", part) else ("", "", part)
            if names_a_secret(option or before) or looks_random(value):
                self.add(value, "[argument]", guessed=True)
            elif (part.startswith("-p") or before == "-p") and len(short := value.removeprefix("-p")) >= SHORTEST:
                self.add(short, "[argument]", guessed=True)
            self._add_login(value, "[argument]")
            before = part if part.startswith("-") else ""
        for name, value in os.environ.items():
            if _holds_a_secret(name, value):
                self.add(value, f"[{name}]", guessed=True)
            self._add_login(value, f"[{name}]")

    def _add_login(self, value: str, name: str) -> None:
        for password in _LOGIN.findall(value):
            for form in {password, unquote(password)}:
                if len(form) >= SHORTEST:
                    self.add(form, name, guessed=True)

    def fill(self, text: str, coded: Callable[[str], str] = str) -> str:
        """Return a text with the values of the environment in the places of ``env:NAME``, which are kept as secrets."""

        def value(found: re.Match[str]) -> str:
            name = found[1]
            if name not in self._values:
                value = os.environ.get(name, "").strip()
                if not value:
                    hint = f"export it, or leave env:{name} out"
                    raise InvalidInput(f"the environment variable {name} is not set: {hint}")
                if not value.isprintable():  # line ends, or bytes that are not UTF-8
                    raise InvalidInput(f"the environment variable {name} holds what is not printable: export it again")
                self._values[name] = value
                self.add(value, f"[{name}]")
            return coded(self._values[name])

        return ENV.sub(value, text)

    def hide(self, text: str, came: bool = False) -> str:
        """Replace each secret in a text, and each part of one, by its name; the text is cut after 4,000 characters.

        Parameters
        ----------
        text : str
            What would be shown.
        came : bool
            It is what a service sent, and none of our own words.
        """
        if len(text) > LOOKED_AT:
            text = text[: LOOKED_AT - PIECE]  # less than a piece may be left of a secret at the cut
        shown = [""] * len(text)
        for escape in (_ESCAPE, _PRINTABLE):
            letters, ends = text, list(range(1, len(text) + 1))
            for _ in range(UNESCAPED + 1):
                self._mark(_lower(letters), ends, shown, came)
                plain, places = _unescaped(letters, escape)
                if len(plain) == len(letters):
                    break
                letters, ends = plain, [ends[place - 1] for place in places]
        parts, before = [], ""
        for letter, name in zip(text, shown, strict=True):
            if not name:
                parts.append(letter)
            elif name != before:
                parts.append(name)
            before = name
        return "".join(parts)

    def _mark(self, lower: str, ends: list[int], shown: list[str], came: bool) -> None:
        """Note in `shown` which letters belong to a secret; `ends` says where each of `lower` ends there."""
        places = [i for i, letter in enumerate(lower) if letter.isprintable() and not letter.isspace()]
        letters = "".join(lower[i] for i in places)
        for size, pieces in [*self._pieces.items(), *(self._guessed.items() if came else ())]:
            for start in range(len(letters) - size + 1):
                name = pieces.get(letters[start : start + size])
                if name is not None:
                    at = places[start]
                    first, last = ends[at - 1] if at else 0, ends[places[start + size - 1]]
                    shown[first:last] = [shown[first] or name] * (last - first)

    def show(self, what: Any, most: int) -> str:
        """Return what came as one line of a message, cut to this many characters after its secrets were hidden."""
        if isinstance(what, bytes):
            what = what[:1_000_000].decode("utf-8", "surrogateescape")
            what = re.sub("[\udc80-\udcff]", lambda byte: chr(ord(byte[0]) - 0xDC00), what)  # then it is Latin-1
        # One letter in two bytes, or a line end in the middle, must not hide a secret from us.
        text = " ".join(str(what).replace("\0", "").split())
        return one_line(self.hide(text, came=True), most)

    def __repr__(self) -> str:
        return "Secrets(…)"


def _forms(value: str) -> set[str]:
    """Return the forms in which a service may repeat a value: escaped, quoted, packed, unpacked."""
    raw = value.encode(errors="surrogateescape")  # of the environment: bytes that are no UTF-8
    found = {value}
    with_unpacked = {value}
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
        if len(plain) >= 4 and plain.isprintable():  # a user and a password, as Basic has them
            with_unpacked |= {plain, plain.partition(":")[2]}
    except (binascii.Error, ValueError):
        pass
    for text in with_unpacked:
        found |= {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]}
        found |= {json.dumps(text)[1:-1].replace("/", "\\/"), html.escape(text)}
        plain_bytes = text.encode(errors="surrogateescape")
        found |= {
            quote(plain_bytes),
            quote(plain_bytes, safe=""),
            quote_plus(plain_bytes),
            plain_bytes.decode("latin-1"),
        }
        found |= {unicodedata.normalize(kind, text) for kind in ("NFC", "NFD", "NFKC", "NFKD")}
    if len(raw) >= 4:
        wide = {value.encode(kind, "surrogatepass") for kind in ("utf-16-le", "utf-16-be")}
        for data in {raw} | wide:
            pairs = [f"{byte:02x}" for byte in data]
            found |= {joint.join(pairs) for joint in ("", ":", "-", ",", ",0x", ";")}
            found |= _coded(data, base64.b64encode, 6) | _coded(data, base64.b32encode, 5)
        for once in _coded(raw, base64.b64encode, 6) | {base64.b64encode(raw).decode()}:
            found |= _coded(once.encode(), base64.b64encode, 6)
    return {form for form in found if form.strip()}


def _coded(data: bytes, code: Callable[[bytes], bytes], bits: int) -> set[str]:
    """Return the letters of a code that `data` alone decides, wherever it begins in what is coded.

    A letter holds this many `bits`: what comes before decides where `data` begins, of as many places.
    """
    found = set()
    for before in range(bits // math.gcd(bits, 8)):
        letters = code(bytes(before) + data).decode()[-(-8 * before // bits) : 8 * (before + len(data)) // bits]
        found |= {letters, letters.replace("+", "-").replace("/", "_")}
    return found


def _unescaped(text: str, escape: re.Pattern[str] = _ESCAPE) -> tuple[str, list[int]]:
    r"""Return a text with each escaped letter as itself, and where each letter ended before.

    Examples
    --------
    >>> _unescaped(r"%41&#66;\u0043D")
    ('ABCD', [3, 8, 14, 15])
    """
    letters, places = [], []
    for found in escape.finditer(text):
        token, groups = found[0], found.groupdict()
        if groups.get("nothing"):
            continue
        if len(token) > 1:
            octal = groups["octal"]
            code = int(octal, 8) if octal else next((int(code, 16) for code in found.groups() if code), None)
            known = code is not None and code <= sys.maxunicode
            token = chr(code or 0) if known else html.unescape(token).lstrip("\\") or "\\"
        letters.append(token[0])
        places.append(found.end())
    return "".join(letters), places


def _lower(text: str) -> str:
    """Return a text in small letters, full-width ones as others, each at its place."""
    if text.isascii():
        return text.lower()
    plain = ((unicodedata.normalize("NFKC", letter).lower(), letter) for letter in text)
    return "".join(small if len(small) == 1 else letter for small, letter in plain)
