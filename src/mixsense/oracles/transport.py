"""One POST over the wire: which hosts, which headers, how long, how much."""

from __future__ import annotations

import os
import re
import ssl
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from mixsense.checks import require
from mixsense.errors import InvalidInput, OracleError

if TYPE_CHECKING:
    import httpcore

LARGEST_REPLY = 1_000_000
"""An answer of more bytes than this is refused: it should be a number."""
MOST_REDIRECTS = 3
PORTS = {"http": 80, "https": 443}
_SECRET = re.compile(r"authori[sz]ation|cookie|token|key|secret|passw|credential|signature|session", re.I)
_ENV = re.compile(r"\benv:([A-Za-z_][A-Za-z0-9_]*)")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}


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
        shown = url.partition("?")[0]
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise InvalidInput(f"the address {shown!r} cannot be read ({error}): {hint}") from None
        if "@" in parts.netloc:
            raise InvalidInput(
                "the address holds a user or a password: take it out, and give a header from the environment, "
                "e.g. Authorization=env:TOKEN"
            )
        if parts.scheme not in PORTS or not parts.hostname:
            raise InvalidInput(f"the address is {shown!r}: {hint}")
        if not url.isascii() or not url.isprintable() or " " in url:
            raise InvalidInput(f"the address {shown!r} holds spaces or letters that must be quoted: {hint}")
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
            if not isinstance(name, str) or not _TOKEN.fullmatch(name) or name.lower() in _OURS:
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
        found = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "mixsense"}
        given = {name: uuid.uuid4().hex if value == "$id" else value for name, value in self._values.items()}
        if elsewhere:
            given = {name: value for name, value in given.items() if self.hide(value) == value}
        lower = {name.lower() for name in given}
        found = {name: value for name, value in found.items() if name.lower() not in lower}
        return [(name.encode(), value.encode()) for name, value in {**found, **given}.items()]

    def __repr__(self) -> str:
        return f"Headers({', '.join(self._values)})"


class Wire:
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
            network_backend=_backend(self._local),
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
        shown = found or "an address that cannot be used"
        if reply.status not in (307, 308) or not where or found is None:
            raise OracleError(
                f"POST {target}: redirected ({reply.status}) to {shown}, and the question would be lost on the way: "
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
                    f"POST {target}: an answer of more than {LARGEST_REPLY:,} bytes; needed is a number",
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


def _backend(local: threading.local) -> httpcore.NetworkBackend:
    """Return sockets that keep to the deadline of the thread's request: a service that drips cannot hold it longer."""
    import httpcore

    def left(timeout: float | None, error: type[Exception]) -> float:
        now = local.deadline - time.monotonic()
        if now <= 0:
            raise error("the time is over")
        return float(now if timeout is None else min(now, timeout))

    class Stream(httpcore.NetworkStream):
        def __init__(self, inner: httpcore.NetworkStream) -> None:
            self._inner = inner

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return self._inner.read(max_bytes, left(timeout, httpcore.ReadTimeout))

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            self._inner.write(buffer, left(timeout, httpcore.WriteTimeout))

        def close(self) -> None:
            self._inner.close()

        def start_tls(
            self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
        ) -> httpcore.NetworkStream:
            return Stream(self._inner.start_tls(ssl_context, server_hostname, left(timeout, httpcore.ConnectTimeout)))

        def get_extra_info(self, info: str) -> Any:
            return self._inner.get_extra_info(info)

    class Backend(httpcore.SyncBackend):
        def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:
            return Stream(super().connect_tcp(*args, **kwargs))

    return Backend()
