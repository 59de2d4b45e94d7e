"""Where a request goes: an address, taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from mixsense.checks import one_line
from mixsense.checks import shown as shown_text
from mixsense.errors import InvalidInput
from mixsense.oracles.likely_secrets import ENV, HINT, looks_random, names_a_secret
from mixsense.oracles.secrets import Secrets

PORTS = {"http": 80, "https": 443}
"""The schemes that an address may have, each with its usual port."""
SHORTEST_VALUE = 4
"""Values of the address's query with fewer characters are hidden only if their name says that they are secret."""


@dataclass(frozen=True, slots=True)
class Target:
    """An address, taken apart; ``env:NAME`` in its path or query stands for an environment variable.

    Examples
    --------
    >>> str(Target.parse("http://localhost:8000/score?key=abc"))  # no query: it may hold a key
    'http://localhost:8000/score'
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str = field(repr=False)  # it may hold a key

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
    def netloc(self) -> str:
        """Host and port as text."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def base(self) -> str:
        """Scheme, host and port as text."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def line(self) -> str:
        """Path and query, as a request has them."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def url(self) -> str:
        """The whole address."""
        return self.base + self.line

    def refuse_secrets(self) -> None:
        """Refuse a path with what looks like a secret in plain; the query may hold one, and is never shown."""
        for part in self.path.split("/"):
            if looks_random(ENV.sub("", unquote(part))):
                raise InvalidInput(f"a part of the address's path looks like a secret: {HINT} in its place")

    def hide_query(self, secrets: Secrets) -> None:
        """Keep the query, and each value in it, out of all messages."""
        if self.query and not ENV.search(self.query):
            secrets.add(self.query, "[query]")
        for name, value in parse_qsl(self.query, keep_blank_values=True):
            secret = names_a_secret(name) or name.lower() in ("key", "code", "sig") or looks_random(value)
            if not ENV.fullmatch(value) and (secret or len(value) >= SHORTEST_VALUE):
                secrets.add(value, "[query]", guessed=not secret)

    def __str__(self) -> str:
        # Where a redirect leads may hold a secret of the service.
        parts = ["…" if looks_random(ENV.sub("", unquote(part))) else part for part in self.path.split("/")]
        return one_line(self.base + "/".join(parts), 200)


def hosts_of(hosts: Iterable[str]) -> set[str]:
    """Return the hosts that a redirect may lead to, each as ``host`` or ``host:port``, or say what is wrong."""
    found = {hosts} if isinstance(hosts, str) else set(hosts)
    for host in found:
        if not isinstance(host, str) or not re.fullmatch(r"[\w.\-]+(:[0-9]+)?|\[[0-9a-fA-F:]+\](:[0-9]+)?", host):
            raise InvalidInput(f"the host to allow is {host!r}: give a host or host:port, without http://")
        port = re.search(r":([0-9]+)$", host.rpartition("]")[2] if "]" in host else host)
        if port and not 1 <= int(port[1][:9]) <= 65535:
            raise InvalidInput(f"the host to allow is {host!r}: give a port from 1 to 65535")
    return {host.lower().replace("[", "").replace("]", "") for host in found}
