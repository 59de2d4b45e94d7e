"""Connections to one service: a POST goes out, its reply comes back; which hosts, how long, how much."""

from __future__ import annotations

import re
import ssl
import threading
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, urljoin

from mixsense.checks import one_line, require
from mixsense.errors import InvalidInput, OracleError, Surplus
from mixsense.oracles.retrying import Halted
from mixsense.oracles.transport.connection import LARGEST_REPLY, Connection, Head, TooLarge, Unasked
from mixsense.oracles.transport.dial import Broken, Late, Until, trust
from mixsense.oracles.transport.headers import Headers
from mixsense.oracles.transport.target import Target, hosts_of

MOST_REDIRECTS = 3
"""A request that is redirected more often than this is given up."""
IDLE = 30.0
"""Seconds after which a connection that was not used is not used again."""
SETTLE = 0.001
"""Seconds of silence between a reply and the next request on its connection: a second reply, sent together with the
first, comes within 0.1 ms on one machine. A matter of taste beyond that: it must not cost more than a request does."""
LAST_WAIT, LAST_SHARE = 0.05, 1.25
"""Seconds of silence after the last reply of all; three times as long as a connection took, or this share of the
slowest reply over it, if that is longer: where replies are shifted, the last one is still being made. Taste."""
ABRUPT = 1.0
"""A connection that carried several replies, and is closed within this many seconds after one without a word, may have
brought a reply too many: HTTP asks to say so before, and what rests for long is closed later. Taste."""
MOST_COOKIES, LONGEST_COOKIE = 50, 4096
"""Cookies that are kept, and the characters of one."""


class Transient(Exception):
    """The request to `target` failed in a way that may pass: no connection, a time-out, a torn answer."""

    def __init__(self, message: str, target: Target) -> None:
        super().__init__(message)
        self.target = target


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service answered; `target` is who was really asked, after all redirects.

    Without a length (`framed` is false) the content ends where the connection does: it may be torn.
    """

    target: Target
    status: int
    headers: dict[str, str]
    content: bytes
    framed: bool


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
        Send back the cookies that the service sets, and the same "$id" each time. Without, each request comes from a
        new caller.
    private : bool
        What is sent holds a secret: no other host may see it.
    """

    def __init__(
        self,
        target: Target,
        headers: Headers,
        hosts: Iterable[str] = (),
        connections: int = 8,
        fresh: bool = False,
        cookies: bool = False,
        private: bool = False,
    ) -> None:
        require("h11", "http", "an HTTP oracle needs")
        self.target, self.headers, self.hosts = target, headers, hosts_of(hosts)
        self.fresh, self.cookies, self.private = fresh, cookies, private
        self.doubt: str | None = None  # why the answers so far cannot be trusted
        self._secrets = headers.secrets
        self._path = self._secrets.fill(target.line, lambda value: quote(value, safe=""))
        self._jar: dict[str, str] = {}
        self.id = uuid.uuid4().hex if cookies else None  # of the one caller
        self._tls = trust() if target.scheme == "https" else None
        self._lock = threading.Lock()
        self._idle: list[tuple[tuple[str, str, int], Connection]] = []
        self.owing: list[Connection] = []  # stopped while they waited for a reply
        self._over = False
        self._most_idle = 0 if fresh else connections

    def post(self, content: bytes, timeout: float, halt: threading.Event) -> Reply:
        """Send one POST and return the reply, whatever its status; `timeout` is for all of it, `halt` ends it."""
        until = Until(time.monotonic() + timeout, halt)
        target = self.target
        for _ in range(MOST_REDIRECTS + 1):
            reply = self._send(target, content, until)
            if reply.status not in (301, 302, 303, 307, 308):
                return reply
            target = self._redirected(target, reply)
        raise OracleError(f"POST {self.target}: redirected more than {MOST_REDIRECTS} times: give the final address")

    def check(self, last: bool = False) -> None:
        """Raise `OracleError` if something came over a connection that is not in use: it belongs to no question.

        Parameters
        ----------
        last : bool
            It is the last time: wait long enough for what is still under way.
        """
        with self._lock:
            try:
                if last:
                    self._rest()
                while last and self.owing:
                    self.owing[-1].last_words()
                    self.owing.pop()
                self._idle = [(origin, connection) for origin, connection in self._idle if connection.alive(SETTLE)]
                return
            except Unasked as error:
                failure = self._unasked(self.target, error)
        self.close()
        raise failure

    def _rest(self) -> None:
        """Wait until whatever is still under way is here."""
        ends = [connection.asked + 2 * _patience(connection) for connection in self.owing]  # what it owes, and more
        ends += [connection.used + _patience(connection) for _, connection in self._idle]
        for connection in [*self.owing, *(connection for _, connection in self._idle)]:
            connection.acknowledge()
        while (left := max(ends, default=0.0) - time.monotonic()) > 0:
            time.sleep(left)

    def close(self) -> None:
        """Close all connections; those in use are closed by whoever uses them."""
        with self._lock:
            idle, self._idle, self._most_idle = [connection for _, connection in self._idle], [], 0
            owing, self.owing, self._over = self.owing, [], True
        for connection in [*idle, *owing]:
            connection.close()

    def _connection(self, target: Target, until: Until) -> Connection:
        """Return a connection that is not in use, or a new one."""
        while True:
            with self._lock:
                place = next((i for i, (origin, _) in enumerate(self._idle) if origin == target.origin), None)
                kept = None if place is None else self._idle.pop(place)[1]
            if kept is None:
                new = Connection(target.host, target.port, self._tls if target.scheme == "https" else None, until)
                if not new.alive():
                    raise Broken("the connection was closed before anything was asked")
                return new
            if kept.alive(SETTLE):  # also after a long rest: what came meanwhile belongs to no question
                if time.monotonic() - kept.used < IDLE:
                    return kept
                kept.close()
            else:
                self._closed_by_service(kept)

    def _keep(self, origin: tuple[str, str, int], connection: Connection) -> None:
        with self._lock:
            if connection.reusable and len(self._idle) < self._most_idle:
                self._idle.append((origin, connection))
                return
        if connection.replies == 1 or connection.alive(SETTLE):  # a shift shows behind the last reply
            connection.close()

    def _owe(self, connection: Connection) -> None:
        with self._lock:
            if not self._over:
                self.owing.append(connection)
                return
        connection.close()

    def _closed_by_service(self, connection: Connection) -> None:
        """Use each connection once from now on if a service may have sent a reply too many over this one."""
        if connection.replies > 1 and time.monotonic() - connection.used < ABRUPT:
            self._most_idle = 0

    def _redirected(self, target: Target, reply: Reply) -> Target:
        where = reply.headers.get("location", "")
        try:
            found = Target.parse(urljoin(target.url, where))
        except (InvalidInput, ValueError):
            found = None

        def refused(why: str) -> OracleError:
            data = {} if found is None else {"host": self._secrets.hide(found.host)}
            return OracleError(self._secrets.hide(f"POST {target}: {why}"), status=reply.status, **data)

        if reply.status not in (307, 308) or not where or found is None:
            place = found or "an address that cannot be used"
            raise refused(
                f"redirected ({reply.status}) to {place}, and the question would be lost on the way: "
                "give the final address"
            )
        if found.origin == self.target.origin:
            return found
        listed = {found.host, f"{found.host}:{found.port}"} & self.hosts
        if not listed or (found.scheme == "http" and target.scheme == "https"):
            raise refused(
                f"redirected to {found.base}, which was not given: nothing was sent there; "
                "give that address, or allow its host"
            )
        if self.private or self._secrets.hide(found.url) != found.url:
            raise refused(
                f"redirected to {found.base}, which must not see the secret that is sent: nothing was sent there; "
                "give that address"
            )
        return found

    def _send(self, target: Target, content: bytes, until: Until) -> Reply:
        elsewhere = target.origin != self.target.origin
        lines = self.headers.lines(elsewhere, self.id)
        if self._jar and not elsewhere:
            lines.append((b"Cookie", "; ".join(f"{name}={value}" for name, value in self._jar.items()).encode()))
        path = self._path if target is self.target else target.line  # a service cannot ask for our environment
        failure: Exception
        connection: Connection | None = None
        try:
            connection = self._connection(target, until)
            head, content, framed = connection.exchange(
                path, [(b"Host", target.netloc.encode()), *lines], content, until
            )
            self._keep(target.origin, connection)
        except Late:
            failure = Transient("no answer in time", target)
        except Broken as error:
            if connection is not None:
                self._closed_by_service(connection)
            failure = Transient(self._secrets.show(error, 200), target)
        except (Halted, KeyboardInterrupt):
            if connection is not None and connection.owes:
                self._owe(connection)
            raise
        except Unasked as error:
            failure = self._unasked(target, error)
        except TooLarge:
            failure = OracleError(
                f"POST {target}: an answer of more than {LARGEST_REPLY:,} bytes, where a number is needed"
            )
        except ssl.SSLCertVerificationError as error:
            failure = OracleError(
                f"POST {target}: its certificate is not trusted ({one_line(error, 200)}); nothing was sent"
            )
        else:
            if self.cookies and not elsewhere:
                self._remember(head)
            return Reply(target, head.status, head.headers, content, framed)
        raise failure  # here, where it does not drag along the error with what came, as its context

    def _unasked(self, target: Target, error: Unasked) -> Surplus:
        text = self._secrets.show(error.args[0], 80)
        message = (
            f"POST {target}: the service sent {text!r} without being asked, so its replies cannot be told apart: "
            "it must send one reply to each request, and nothing else"
        )
        failure = Surplus(self._secrets.hide(message), reply=text)
        if not self.fresh:  # else the connection has no other answer than this one, which is not used
            self.doubt = str(failure)
        return failure

    def _remember(self, head: Head) -> None:
        for line in head.set_cookies:
            name, _, rest = line.partition("=")
            name, value = name.strip(), rest.partition(";")[0].strip()
            known = name in self._jar or len(self._jar) < MOST_COOKIES
            if known and len(line) <= LONGEST_COOKIE and _COOKIE.fullmatch(f"{name}={value}"):
                self._jar[name] = value
                self._secrets.add(value, "[cookie]", guessed=True)


_COOKIE = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+=[!-+\--:<-~]*")
"""A cookie that can be sent back: printable, without a comma or a semicolon."""


def _patience(connection: Connection) -> float:
    """Return the seconds within which a reply that is under way comes."""
    return max(LAST_WAIT, 3 * connection.round_trip, LAST_SHARE * connection.slowest)
