"""Connections to one service: a POST goes out, its reply comes back; which hosts, how long, how much."""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from mixsense.checks import require
from mixsense.errors import InvalidInput, OracleError
from mixsense.oracles.transport.deadline import deadline_sockets
from mixsense.oracles.transport.headers import Headers
from mixsense.oracles.transport.target import Target

if TYPE_CHECKING:
    import httpcore

LARGEST_REPLY = 1_000_000
"""A reply of more bytes than this is refused: it should be a number."""
MOST_REDIRECTS = 3
"""A request that is redirected more often than this is given up."""


class Transient(Exception):
    """The request to `target` failed in a way that may pass: no connection, a time-out, a torn answer."""

    def __init__(self, message: str, target: Target) -> None:
        super().__init__(message)
        self.target = target


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service answered; `target` is who was really asked, after all redirects."""

    target: Target
    status: int
    headers: dict[str, str]
    content: bytes


class Connections:
    """Connections to one service, shared by threads.

    Parameters
    ----------
    target : Target
        Where the requests go.
    headers : Headers
        What is sent with each.
    hosts : iterable of str
        Other hosts (``host`` or ``host:port``) that a redirect may lead to. All others are refused.
    connections : int
        How many at a time.
    fresh : bool
        A new connection for every request.
    cookies : bool
        Send back the cookies that the service sets. Without, each request comes from a new caller.
    """

    def __init__(
        self,
        target: Target,
        headers: Headers,
        hosts: Iterable[str] = (),
        connections: int = 8,
        fresh: bool = False,
        cookies: bool = False,
    ) -> None:
        httpcore = require("httpcore", "http", "an HTTP oracle needs")
        self.target, self.headers, self.hosts = target, headers, _hosts(hosts)
        self.fresh, self.cookies = fresh, cookies
        self._jar: dict[str, str] = {}
        self._local = threading.local()
        # No proxy from the environment, no redirects, no cookies: httpcore does none of that by itself.
        self._pool = httpcore.ConnectionPool(
            ssl_context=_trust() if target.scheme == "https" else None,
            max_connections=connections,
            max_keepalive_connections=0 if fresh else connections,
            keepalive_expiry=30.0,
            network_backend=deadline_sockets(self._local),
        )

    def post(self, content: bytes, timeout: float) -> Reply:
        """Send one POST and return the reply, whatever its status; `timeout` is for all of it."""
        self._local.deadline = time.monotonic() + timeout
        target = self.target
        for _ in range(MOST_REDIRECTS + 1):
            reply = self._send(target, content)
            if reply.status not in (301, 302, 303, 307, 308):
                return reply
            target = self._redirected(target, reply)
        raise OracleError(f"POST {self.target}: redirected more than {MOST_REDIRECTS} times: give the final address")

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _redirected(self, target: Target, reply: Reply) -> Target:
        where = reply.headers.get("location", "")
        try:
            found = Target.parse(urljoin(target.url, where))
        except (InvalidInput, ValueError):
            found = None
        if reply.status not in (307, 308) or not where or found is None:
            place = found or "an address that cannot be used"
            raise OracleError(
                f"POST {target}: redirected ({reply.status}) to {place}, and the question would be lost on the way: "
                "give the final address",
                status=reply.status,
            )
        listed = {found.host, f"{found.host}:{found.port}"} & self.hosts
        allowed = listed and (found.scheme == "https" or target.scheme == "http")
        if found.origin != self.target.origin and not allowed:
            raise OracleError(
                f"POST {target}: redirected to {found.base}, which was not given: nothing was sent there; "
                f"give that address, or allow its host",
                status=reply.status,
                host=found.host,
            )
        return found

    def _send(self, target: Target, content: bytes) -> Reply:
        import httpcore

        elsewhere = target.origin != self.target.origin
        lines = self.headers.lines(elsewhere)
        if self._jar and not elsewhere:
            lines.append((b"Cookie", "; ".join(f"{k}={v}" for k, v in self._jar.items()).encode("latin-1", "ignore")))
        left = max(self._local.deadline - time.monotonic(), 0.001)
        limits = dict.fromkeys(("connect", "read", "write", "pool"), left)
        try:
            with self._pool.stream(
                "POST",
                target.url,
                headers=[(b"Host", _netloc(target)), *lines],
                content=content,
                extensions={"timeout": limits},
            ) as response:
                return self._read(target, response)
        except httpcore.TimeoutException:
            raise Transient("no answer in time", target) from None
        except httpcore.ConnectError as error:
            if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in error.args):
                raise OracleError(
                    f"POST {target}: its certificate is not trusted ({error}); nothing was sent"
                ) from None
            raise Transient(f"no connection: {error}", target) from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ConnectionNotAvailable) as error:
            raise Transient(f"the connection broke: {error or type(error).__name__}", target) from None

    def _read(self, target: Target, response: httpcore.Response) -> Reply:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        if self.cookies:
            for name, value in response.headers:
                if name.lower() == b"set-cookie":
                    key, _, rest = value.decode("latin-1").partition("=")
                    self._jar[key.strip()] = rest.partition(";")[0].strip()
        content = bytearray()
        for part in response.iter_stream():
            content += part
            if len(content) > LARGEST_REPLY:
                raise OracleError(
                    f"POST {target}: an answer of more than {LARGEST_REPLY:,} bytes, where a number is needed",
                    status=response.status,
                )
        return Reply(target, response.status, headers, bytes(content))


def _netloc(target: Target) -> bytes:
    return target.base.partition("://")[2].encode()


def _hosts(hosts: Iterable[str]) -> set[str]:
    found = {hosts} if isinstance(hosts, str) else set(hosts)
    for host in found:
        if not isinstance(host, str) or not re.fullmatch(r"[\w.\-]+(:\d+)?|\[[0-9a-fA-F:]+\](:\d+)?", host):
            raise InvalidInput(f"the host to allow is {host!r}: give a host or host:port, without http://")
    return {host.lower().replace("[", "").replace("]", "") for host in found}


def _trust() -> ssl.SSLContext:
    context = ssl.create_default_context()
    import certifi

    context.load_verify_locations(certifi.where())
    return context
