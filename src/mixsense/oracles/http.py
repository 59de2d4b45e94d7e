"""An oracle behind an address: each question is a POST of JSON, each answer a number in the JSON that comes back."""

from __future__ import annotations

import contextlib
import math
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_float, as_int
from mixsense.errors import OracleError
from mixsense.oracles.at_once import fill
from mixsense.oracles.queries import as_queries
from mixsense.oracles.retrying import LONGEST_DELAY, Halted, Pace, backoff, may_pass, remedy, retry_after
from mixsense.oracles.secrets import Secrets
from mixsense.oracles.template import Answer, Body
from mixsense.oracles.transport import Connections, Headers, Reply, Target, Transient

_OPEN_ENDED = tuple(bytes([byte]) for byte in b"0123456789.eE+-")
"""How a number ends that may go on: if its end is that of the connection, nobody knows whether it is whole."""


class HTTPOracle:
    """Asks an HTTP service: a POST of JSON for each answer.

    Parameters
    ----------
    url : str
        The address. Only its host is contacted, and those in `hosts` if a redirect (307, 308) leads there. ``env:NAME``
        in its path or query stands for an environment variable; a path with what looks like a secret is refused.
    body : str, dict or list
        The JSON body, with placeholders for the query: "$x" (list of numbers), "$x[0]", "$nonzero", "$features"
        (name: number), "$features.NAME", "$id" (a fresh random id). See `mixsense.oracles.template.Body`. ``env:NAME``
        in a text stands for an environment variable.
    answer : str
        Where the number is in the JSON answer, such as ``result.score`` or ``outputs[0]``; "" if it is the answer.
    headers : mapping, optional
        Name → value; ``env:NAME`` stands for an environment variable, and secrets are taken from there only: in plain
        nothing but well-known harmless headers is taken.
    features : sequence of str, optional
        Names of the query's entries, for "$features".
    rate, concurrency : float, int
        At most this many requests are sent in a second, retries included, and are out at a time.
    timeout : float
        Seconds for one request.
    retries : int
        How often a question is sent again after 408, 429, 5xx, a time-out or a broken connection, each time after a
        longer wait; a Retry-After of the service is respected.
    limit : float
        Seconds for one question with all its retries.
    hosts : iterable of str, optional
        Further hosts that a redirect may lead to. They see the harmless headers only; a body with a secret is not
        sent there at all.
    fresh : bool
        A new connection for every request. Proxies of the environment are never used, cookies never sent back.

    Attributes
    ----------
    count, requests : int
        Answers given and requests sent so far.
    doubt : str or None
        Why the answers so far cannot be trusted: a reply too many was seen.

    Notes
    -----
    A connection carries one request after the other, unless it is `fresh`, and HTTP has nothing that tells to which
    request a reply belongs but their order. So whatever comes over a connection behind a reply, or before a request, is
    an error: its answers could be shifted. What cannot be told from an answer is a reply too many that comes later than
    a millisecond after the one before it, when the next request is out; it is found when the reply after it has come,
    at the latest when the oracle is closed, which raises then. With ``fresh=True`` no reply can get to a wrong request.

    Secrets, that is what comes from the environment and the address's query, are hidden in all messages, also where the
    service repeats them escaped, in base 64 or in part: no eight letters in a row of one are shown. That something
    looks like a secret is a guess: a short password in a body under a name that says nothing is taken as it is.

    Examples
    --------
    >>> oracle = HTTPOracle("http://127.0.0.1:9/score", body={"inputs": "$x"}, answer="result.score")
    >>> oracle
    HTTPOracle('http://127.0.0.1:9/score')
    >>> oracle.close()
    """

    def __init__(
        self,
        url: str,
        body: Any = '{"x": "$x"}',
        answer: str = "y",
        headers: Mapping[str, str] | None = None,
        features: Sequence[str] | None = None,
        rate: float | None = None,
        concurrency: int = 8,
        timeout: float = 30.0,
        retries: int = 5,
        limit: float = 300.0,
        hosts: Iterable[str] | None = None,
        fresh: bool = False,
    ) -> None:
        self._secrets = Secrets()
        self._body, self._answer = Body(body, features, self._secrets), Answer(answer, self._secrets.show)
        self._concurrency = as_int("concurrency", concurrency, 1, "the most requests at a time")
        self._timeout = min(as_float("timeout", timeout, "seconds for one request", 0.0, strict=True), LONGEST_DELAY)
        self._limit = as_float("limit", limit, "seconds for one question with its retries", 0.0, strict=True)
        self._limit = min(self._limit, LONGEST_DELAY)
        self._retries = as_int("retries", retries, 0, "how often a question is sent again")
        self._pace = Pace(None if rate is None else as_float("rate", rate, "requests a second", 0.0, strict=True))
        target = Target.parse(url)
        target.refuse_secrets()
        target.hide_query(self._secrets)
        self._connections = Connections(
            target, Headers(headers, self._secrets), hosts or (), self._concurrency, fresh, private=self._body.private
        )
        self._start()

    def _start(self) -> None:
        self._at_once = threading.BoundedSemaphore(self._concurrency)
        self._lock = threading.Lock()
        self._halts: set[threading.Event] = set()
        self._closed = False
        self._seen_cookie = False
        self.count = self.requests = 0
        weakref.finalize(self, self._connections.close)  # where nobody closes it

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer each query `repeats` times; returns (q, repeats). Threads may call at the same time."""
        X, repeats = as_queries(queries, repeats)
        self._body.check(X.shape[1])
        answers = np.full((len(X), repeats), np.nan)
        halt = threading.Event()
        with self._lock:
            if self._closed:
                raise OracleError(f"the oracle {self._connections.target} is closed: make a new one")
            self._halts.add(halt)
        try:
            fill(answers, lambda row: self._one(X[row], halt), self._concurrency, halt)
            if np.isnan(answers).any():
                raise Halted(f"POST {self._connections.target}: stopped before all questions were answered")
            self._connections.check()
        except OracleError as error:
            error.data.setdefault("received", answers)  # what did come in this call; NaN is what did not
            raise
        finally:
            halt.set()
            with self._lock:
                self._halts.discard(halt)
        return answers

    def _one(self, x: Array, halt: threading.Event) -> float:
        """Ask one question until it is answered, refused, or out of time."""
        content = self._body.fill(x)
        end, last, reply, sent = math.inf, "", None, 0
        asked = self._connections.target  # another one after a redirect
        for attempt in range(self._retries + 1):
            if attempt:
                wait = self._wait(attempt, reply)
                if time.monotonic() + wait > end:
                    when = f"be in {wait:.0f} s" if wait < LONGEST_DELAY else "have to wait without end"
                    last += f"; the next try would {when}, and the limit is {self._limit:g} s"
                    break
                if halt.wait(wait):
                    raise Halted("stopped")
            self._pace.take(halt)
            with self._at_once:
                if halt.is_set():
                    raise Halted("stopped")
                with self._lock:
                    self.requests += 1
                sent += 1
                end = min(end, time.monotonic() + self._limit)
                try:
                    seconds = max(min(self._timeout, end - time.monotonic()), 0.001)
                    reply = self._connections.post(content, seconds, halt)
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
                what = self._secrets.show(reply.content, 120) or "no text"
                raise self._error(
                    f"POST {asked}: refused with status {reply.status} ({what}): {remedy(reply.status)}",
                    status=reply.status,
                )
        status = None if reply is None else reply.status
        came = f", {self._secrets.show(reply.content, 120)}" if reply is not None and reply.content else ""
        raise self._error(
            f"POST {asked}: no answer after {sent} {'tries' if sent > 1 else 'try'} ({last}{came}): "
            "see whether the service is up; a lower rate or concurrency, more retries or a longer limit may help",
            status=status,
        )

    def _number(self, reply: Reply) -> float:
        packed = reply.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("", "identity"):
            how = self._secrets.show(packed, 40)
            raise self._error(
                f"POST {reply.target}: the answer is packed ({how}), which was not asked for: "
                "let the service send plain JSON"
            )
        if not reply.framed and reply.content[-1:] in _OPEN_ENDED:
            text = self._secrets.show(reply.content, 120)
            raise self._error(
                f"POST {reply.target}: the answer {text} has no length, and may be torn: "
                "let the service send a Content-Length, or an object around the number"
            )
        try:
            number = self._answer.read(reply.content)
        except OracleError as error:
            raise self._error(f"POST {reply.target}: {error}", **error.data) from None
        with self._lock:
            self.count += 1
            self._seen_cookie = self._seen_cookie or "set-cookie" in reply.headers
        return number

    def _error(self, message: str, **data: Any) -> OracleError:
        hide = self._secrets.hide
        data = {key: hide(value) if isinstance(value, str) else value for key, value in data.items()}
        return OracleError(hide(message), **data)

    def _wait(self, attempt: int, reply: Reply | None) -> float:
        asked = retry_after(reply.headers.get("retry-after", "")) if reply is not None else 0.0
        if asked and reply is not None and reply.status == 429:
            self._pace.hold(min(asked, self._limit))
        return max(backoff(attempt), asked)

    def caller(self, fresh: bool, cookies: bool) -> HTTPOracle:
        """Return an oracle for the same service that asks one question at a time, as a caller of another kind.

        Parameters
        ----------
        fresh : bool
            A new connection for every request, or all over one.
        cookies : bool
            Send back the cookies that the service sets.
        """
        other = object.__new__(HTTPOracle)
        other.__dict__.update(self.__dict__, _concurrency=1)  # the pace is shared: the rate is for all callers together
        ours = self._connections
        other._connections = Connections(ours.target, ours.headers, ours.hosts, 1, fresh, cookies, ours.private)
        other._start()
        return other

    @property
    def fresh(self) -> bool:
        """Whether every request has a connection of its own."""
        return self._connections.fresh

    @property
    def doubt(self) -> str | None:
        """Why the answers so far cannot be trusted; None if nothing speaks against them."""
        return self._connections.doubt

    @property
    def sets_cookies(self) -> bool:
        """Whether the service set a cookie in an answer so far."""
        return self._seen_cookie

    def stop(self) -> None:
        """Let every call end soon: no request is sent any more, and those that are out are given up."""
        for halt in tuple(self._halts):  # without the lock: a signal handler may call this
            halt.set()

    def close(self) -> None:
        """Stop what waits, and close the connections.

        Raises
        ------
        OracleError
            The service sent more replies than it was asked for: its answers cannot be trusted.
        """
        self._closed = True
        self.stop()
        try:
            self._connections.check(last=True)
        finally:
            self._connections.close()

    def __enter__(self) -> HTTPOracle:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # An error that is on its way already says more than what the service sent too much.
        with contextlib.suppress(OracleError) if kind is not None else contextlib.nullcontext():
            self.close()

    def __repr__(self) -> str:
        return f"HTTPOracle({str(self._connections.target)!r})"
