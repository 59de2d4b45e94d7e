"""The headers of every request, and the secrets in them."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping

from mixsense.errors import InvalidInput

_SECRET = re.compile(r"authori[sz]ation|cookie|token|key|secret|passw|credential|signature|session", re.I)
_ENV = re.compile(r"\benv:([A-Za-z_][A-Za-z0-9_]*)")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_RESERVED = {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}
"""Headers that the connection itself sets."""


class Headers:
    """Headers of every request. What is secret comes from the environment, and is never shown or stored.

    Parameters
    ----------
    headers : mapping, optional
        Name → value. ``env:NAME`` in a value stands for the environment variable NAME: "Bearer env:TOKEN". The value
        "$id" is a fresh random id at every question.
    """

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, str] = {}
        self._secrets: dict[str, str] = {}
        for name, value in (headers or {}).items():
            if not isinstance(name, str) or not _TOKEN.fullmatch(name) or name.lower() in _RESERVED:
                raise InvalidInput(f"the header {name!r} cannot be set: give a name such as Authorization")
            if not isinstance(value, str):
                raise InvalidInput(f"the header {name} is of type {type(value).__name__}: give text, or env:NAME")
            if _SECRET.search(name) and not _ENV.search(value) and value != "$id":
                raise InvalidInput(
                    f"the header {name} looks like a secret: put it into an environment variable and give env:NAME"
                )
            filled = _ENV.sub(self._from_environment, value)
            if not filled.isascii() or not filled.isprintable():
                raise InvalidInput(f"the header {name} holds letters that no header may hold: use printable ASCII")
            self._values[name] = filled

    def _from_environment(self, found: re.Match[str]) -> str:
        name = found[1]
        value = os.environ.get(name, "").strip()
        if not value:
            raise InvalidInput(f"the environment variable {name} is not set: export it, or leave the header out")
        self._secrets[value] = f"[{name}]"
        return value

    def hide(self, text: str) -> str:
        """Replace each secret in a text by its name."""
        for value, name in self._secrets.items():
            text = text.replace(value, name)
        return text

    def lines(self, elsewhere: bool = False) -> list[tuple[bytes, bytes]]:
        """Return the headers for one request; for another host, those from the environment are left out."""
        found = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "mixsense",
        }
        given = {name: uuid.uuid4().hex if value == "$id" else value for name, value in self._values.items()}
        if elsewhere:
            given = {name: value for name, value in given.items() if self.hide(value) == value}
        lower = {name.lower() for name in given}
        found = {name: value for name, value in found.items() if name.lower() not in lower}
        return [(name.encode(), value.encode()) for name, value in {**found, **given}.items()]

    def __repr__(self) -> str:
        return f"Headers({', '.join(self._values)})"
