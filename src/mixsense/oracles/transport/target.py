"""Where a request goes: an address, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mixsense.checks import shown as shown_text
from mixsense.errors import InvalidInput

PORTS = {"http": 80, "https": 443}
"""The schemes that an address may have, each with its usual port."""


@dataclass(frozen=True, slots=True)
class Target:
    """An address, taken apart.

    Examples
    --------
    >>> str(Target.parse("http://localhost:8000/score?key=abc"))  # no query: it may hold a key
    'http://localhost:8000/score'
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str

    @staticmethod
    def parse(url: Any) -> Target:
        """Return the parts of an address, or say what is wrong with it."""
        hint = "give an address such as https://host/score"
        if not isinstance(url, str):
            raise InvalidInput(f"the address is {url!r}: {hint}")
        shown = shown_text(re.split(r"[?#]", url)[0])  # the rest may hold a key
        if "@" in re.split(r"[?#]", url.partition("://")[2] or url)[0].partition("/")[0]:
            raise InvalidInput(
                "the address holds a user or a password: take it out, and give a header from the environment, "
                "e.g. Authorization=env:TOKEN"
            )
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise InvalidInput(f"the address {shown} cannot be read ({error}): {hint}") from None
        if port == 0:
            raise InvalidInput(f"the address {shown} has port 0, which nobody listens at: give one from 1 to 65535")
        if parts.scheme not in PORTS or not parts.hostname:
            raise InvalidInput(f"the address is {shown}: {hint}")
        if not url.isascii() or not url.isprintable() or " " in url:
            raise InvalidInput(f"the address {shown} holds spaces or letters that must be quoted: {hint}")
        return Target(parts.scheme, parts.hostname, port or PORTS[parts.scheme], parts.path or "/", parts.query)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port

    @property
    def base(self) -> str:
        """Scheme, host and port as text."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self}?{self.query}" if self.query else str(self)

    def __str__(self) -> str:
        return self.base + self.path
