"""One question to an HTTP service, asked until it is answered, refused, or out of time."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import Any

from mixsense.arrays import Array
from mixsense.errors import OracleError
from mixsense.oracles.retrying import BODY_HINT, LONGEST_DELAY, Halted, Pace, backoff, may_pass, remedy, retry_after
from mixsense.oracles.secrets import Secrets
from mixsense.oracles.template import Answer, Body
from mixsense.oracles.transport import Connections, Reply, Transient

_OPEN_ENDED = tuple(bytes([byte]) for byte in b"0123456789.eE+-")
"""How a number ends that may go on: if its end is that of the connection, nobody knows whether it is whole."""


@dataclass(frozen=True, slots=True)
class Manners:
    """What every caller of a service keeps to: what is sent and read, how fast, how long, how often."""

    body: Body
    answer: Answer
    secrets: Secrets
    pace: Pace
    """Shared by all callers: the rate is for all of them together."""
    timeout: float
    limit: float
    retries: int


class Exchange:
    """Questions and answers over some connections; threads may ask at the same time.

    Parameters
    ----------
    manners : Manners
        What is kept to.
    connections : Connections
        What the requests go over.
    concurrency : int
        Most requests at a time.
    """

    def __init__(self, manners: Manners, connections: Connections, concurrency: int) -> None:
        self._manners, self.connections = manners, connections
        self._at_once = threading.BoundedSemaphore(concurrency)
        self._lock = threading.Lock()
        self.count = self.requests = 0
        self.sets_cookies = False
        self.doubt: str | None = None  # of callers that were here for some questions only

    def adopt(self, other: Exchange) -> None:
        """Count what another caller has done as done here."""
        with self._lock:
            self.count, self.requests = self.count + other.count, self.requests + other.requests
            self.sets_cookies = self.sets_cookies or other.sets_cookies
            self.doubt = self.doubt or other.connections.doubt

    def ask(self, x: Array, halt: threading.Event) -> float:
        """Return the answer to one query, (n,); `halt` gives it up."""
        m = self._manners
        content = m.body.fill(x, self.connections.id)
        end, last, reply, sent = math.inf, "", None, 0
        asked = self.connections.target  # another one after a redirect
        for attempt in range(m.retries + 1):
            if attempt:
                wait = self._wait(attempt, reply)
                if time.monotonic() + wait > end:
                    when = f"be in {wait:.0f} s" if wait < LONGEST_DELAY else "have to wait without end"
                    last += f"; the next try would {when}, and the limit is {m.limit:g} s"
                    break
                if halt.wait(wait):
                    raise Halted("stopped")
            m.pace.take(halt)
            with self._at_once:
                if halt.is_set():
                    raise Halted("stopped")
                with self._lock:
                    self.requests += 1
                sent += 1
                end = min(end, time.monotonic() + m.limit)
                try:
                    seconds = max(min(m.timeout, end - time.monotonic()), 0.001)
                    reply = self.connections.post(content, seconds, halt)
                except Halted:
                    raise
                except Transient as error:
                    reply, last, asked = None, str(error), error.target
                    continue
                except OracleError as error:
                    raise self._error(str(error), **error.data) from None
            asked = reply.target
            if reply.status == 200:
                return self._number(reply)
            last = f"status {reply.status}"
            if not may_pass(reply.status):
                what = m.secrets.show(reply.content, 120) or "no text"
                raise self._error(
                    f"POST {asked}: refused with status {reply.status} ({what}): {remedy(reply.status)}",
                    status=reply.status,
                )
        status = None if reply is None else reply.status
        came = f", {m.secrets.show(reply.content, 120)}" if reply is not None and reply.content else ""
        never = "" if self.count else f"; if it is and never answers, {BODY_HINT}"
        raise self._error(
            f"POST {asked}: no answer after {sent} {'tries' if sent > 1 else 'try'} ({last}{came}): "
            f"see whether the service is up{never}; a lower rate or concurrency, more retries or a longer limit may "
            "help",
            status=status,
        )

    def _number(self, reply: Reply) -> float:
        """Return the number in a reply with status 200: plain JSON that is whole."""
        m, failure = self._manners, None
        packed = reply.headers.get("content-encoding", "identity").strip().lower()
        try:
            if packed not in ("", "identity"):
                raise OracleError(
                    f"the answer is packed ({m.secrets.show(packed, 40)}), which was not asked for: "
                    "let the service send plain JSON"
                )
            if not reply.framed and reply.content[-1:] in _OPEN_ENDED:
                raise OracleError(
                    f"the answer {m.secrets.show(reply.content, 120)} has no length, and may be torn: "
                    "let the service send a Content-Length, or an object around the number"
                )
            number = m.answer.read(reply.content)
        except OracleError as error:
            failure = self._error(f"POST {reply.target}: {error}", **error.data)
        if failure is not None:
            raise failure  # here, where it does not drag along the error with what came
        with self._lock:
            self.count += 1
            self.sets_cookies = self.sets_cookies or "set-cookie" in reply.headers
        return number

    def _error(self, message: str, **data: Any) -> OracleError:
        hide = self._manners.secrets.hide
        data = {key: hide(value) if isinstance(value, str) else value for key, value in data.items()}
        return OracleError(hide(message), **data)

    def _wait(self, attempt: int, reply: Reply | None) -> float:
        asked = retry_after(reply.headers.get("retry-after", "")) if reply is not None else 0.0
        if asked and reply is not None and reply.status == 429:
            self._manners.pace.hold(min(asked, self._manners.limit))
        return max(backoff(attempt), asked)
