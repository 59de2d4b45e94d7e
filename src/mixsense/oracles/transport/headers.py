"""The headers of every request, and the secrets in them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping

from mixsense.errors import InvalidInput
from mixsense.oracles.likely_secrets import ENV, HINT, from_environment, looks_random
from mixsense.oracles.secrets import Secrets

HARMLESS = frozenset(
    "accept accept-language cache-control content-language content-type pragma prefer priority user-agent "
    "traceparent tracestate x-request-id x-correlation-id x-trace-id "
    "api-version x-api-version x-version x-model x-model-version x-variant x-experiment "
    "x-client x-client-name x-client-version x-environment x-region".split()
)
"""Headers that may stand in plain, and that another host may see; every other one is taken for a secret."""
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_RESERVED = {
    *("host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"),
    *("accept-encoding", "expect", "keep-alive", "proxy-connection"),
}
"""Headers that the connection itself sets."""


class Headers:
    """Headers of every request. What is secret comes from the environment, and is never shown or stored.

    Parameters
    ----------
    headers : mapping, optional
        Name → value. ``env:NAME`` in a value stands for the environment variable NAME: "Bearer env:TOKEN". The value
        "$id" is a random id, fresh for every caller. Only `HARMLESS` headers may have anything else in plain than the
        name of a scheme, and only if it does not look like a secret.
    secrets : Secrets, optional
        Where the values of the environment are kept.
    """

    def __init__(self, headers: Mapping[str, str] | None = None, secrets: Secrets | None = None) -> None:
        self.secrets = Secrets() if secrets is None else secrets
        self._values: dict[str, str] = {}
        self._public: set[str] = set()
        for name, value in (headers or {}).items():
            if not isinstance(name, str) or not _TOKEN.fullmatch(name) or name.lower() in _RESERVED:
                raise InvalidInput(f"the header {_shown(name)} cannot be set: give a name such as Authorization")
            if not isinstance(value, str):
                raise InvalidInput(f"the header {name} is of type {type(value).__name__}: give text, or env:NAME")
            filled = self.secrets.fill(value)
            if not filled.isascii() or not filled.isprintable():
                raise InvalidInput(f"the header {name} holds letters that no header may hold: use printable ASCII")
            harmless, plain = name.lower() in HARMLESS, ENV.sub("", value)
            if value != "$id" and (looks_random(plain) or not (harmless or from_environment(value))):
                few = "" if harmless else " (in plain only Accept, User-Agent and other well-known ones are taken)"
                raise InvalidInput(f"the header {name} looks like a secret{few}: {HINT}")
            self._values[name] = filled
            if harmless and plain == value:
                self._public.add(name)

    def lines(self, elsewhere: bool = False, id: str | None = None) -> list[tuple[bytes, bytes]]:
        """Return the headers for one request; another host than the one that was given sees the harmless ones only.

        "$id" is `id`, or a fresh one.
        """
        found = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "mixsense",
        }
        given = {
            name: (id or uuid.uuid4().hex) if value == "$id" else value
            for name, value in self._values.items()
            if name in self._public or not elsewhere
        }
        lower = {name.lower() for name in given}
        found = {name: value for name, value in found.items() if name.lower() not in lower}
        return [(name.encode(), value.encode()) for name, value in {**found, **given}.items()]

    def __repr__(self) -> str:
        return f"Headers({', '.join(self._values)})"


def _shown(name: object) -> str:
    """Return a header's name for a message: what is no name may be a key at the wrong place."""
    harmless = isinstance(name, str) and len(name) < 40 and not looks_random(name)
    return repr(name) if harmless else "whose name is not a name"
