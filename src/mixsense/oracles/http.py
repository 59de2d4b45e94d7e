"""An oracle behind an address: each question is a POST of JSON, each answer a number in the JSON that comes back."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_float, as_int
from mixsense.errors import OracleError
from mixsense.features.kinds import Feature
from mixsense.oracles.abilities import Keep, keep_none
from mixsense.oracles.at_once import at_once
from mixsense.oracles.exchange import Exchange, Manners
from mixsense.oracles.queries import as_queries
from mixsense.oracles.retrying import LONGEST_DELAY, Halted, Pace
from mixsense.oracles.secrets import Secrets
from mixsense.oracles.template import Answer, Body
from mixsense.oracles.transport import Connections, Headers, Target
from mixsense.rounds import Asked, block_groups, carry


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
    features : sequence of str, Number or Integer, optional
        Names of the query's entries, for "$features"; an `Integer` is sent as a whole number.
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
        A new connection for every request: many services choose the model for a connection, and over one that is kept
        the others would never be seen. Proxies of the environment are never used, and cookies are not sent back, unless
        one caller is wanted for several questions: see `asked`.

    Notes
    -----
    With ``fresh=False`` a connection carries one request after the other, and HTTP has nothing that tells to which
    request a reply belongs but their order. So whatever comes over a connection behind a reply, or before a request, is
    an error: its answers could be shifted. What cannot be told from an answer is a reply too many that comes later than
    a millisecond after the one before it, when the next request is out; it is found when the reply after it has come,
    at the latest when the oracle is closed, which raises then: it waits a little longer than the slowest reply took.
    What can never be told is a reply too many if the service then leaves a request without one. So after a connection
    that carried several replies was closed at once, without a word, each connection is used once. With
    ``fresh=True`` no reply can get to a wrong request.

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
        features: Sequence[str | Feature] | None = None,
        rate: float | None = None,
        concurrency: int = 8,
        timeout: float = 30.0,
        retries: int = 5,
        limit: float = 300.0,
        hosts: Iterable[str] | None = None,
        fresh: bool = True,
    ) -> None:
        secrets = Secrets()
        limit = as_float("limit", limit, "seconds for one question with its retries", 0.0, strict=True)
        self._manners = Manners(
            Body(body, features, secrets),
            Answer(answer, secrets.show),
            secrets,
            Pace(None if rate is None else as_float("rate", rate, "requests a second", 0.0, strict=True)),
            min(as_float("timeout", timeout, "seconds for one request", 0.0, strict=True), LONGEST_DELAY),
            min(limit, LONGEST_DELAY),
            as_int("retries", retries, 0, "how often a question is sent again"),
        )
        concurrency = as_int("concurrency", concurrency, 1, "the most requests at a time")
        target = Target.parse(url)
        target.refuse_secrets()
        target.hide_query(secrets)
        headers_ = Headers(headers, secrets)
        private = self._manners.body.private
        self._start(Connections(target, headers_, hosts or (), concurrency, fresh, private=private), concurrency)

    def _start(self, connections: Connections, concurrency: int) -> None:
        self._connections, self._concurrency = connections, concurrency
        self._exchange = Exchange(self._manners, connections, concurrency)
        self._lock = threading.Lock()
        self._halts: set[threading.Event] = set()
        self._closed = self._looked = False
        self._groups = 0
        weakref.finalize(self, connections.close)  # where nobody closes it

    def __call__(self, queries: ArrayLike, repeats: int) -> Array:
        """Answer each query `repeats` times; returns (q, repeats). Threads may call at the same time."""
        return self.answer_each(queries, repeats, 1, keep_none)

    def answer_each(self, queries: ArrayLike, repeats: int, block: int, keep: Keep) -> Array:
        """Answer each query `repeats` times, and call `keep(row, repeat, answer)` as each comes, from its thread.

        Each caller is asked `block` consecutive queries, see `asked`.
        """
        X, repeats = as_queries(queries, repeats)
        block = as_int("block", block, 1, "how many consecutive queries one caller is asked")
        answers, starts = np.full((len(X), repeats), np.nan), range(0, len(X), block)

        def ask(unit: int, repeat: int, halt: threading.Event) -> None:
            start = starts[unit]
            with self._caller_of(block) as exchange:
                for row in range(start, min(start + block, len(X))):
                    answers[row, repeat] = answer = exchange.ask(X[row], halt)
                    keep(row, repeat, answer)

        self._call(X, answers, (len(starts), repeats), ask)
        return answers

    @contextlib.contextmanager
    def _caller_of(self, block: int) -> Iterator[Exchange]:
        """Give whoever asks the questions of a block: one caller of its own, where there are several."""
        if block == 1:
            yield self._exchange
            return
        caller = self.caller(fresh=False, cookies=True)
        try:
            with caller:
                yield caller._exchange
        finally:
            self._exchange.adopt(caller._exchange)

    def _call(
        self, X: Array, answers: Array, slots: tuple[int, int], ask: Callable[[int, int, threading.Event], None]
    ) -> None:
        """Fill the answers, several slots at a time, until all are there or one fails."""
        self._manners.body.check(X.shape[1])
        halt = threading.Event()
        with self._lock:
            if self._closed:
                raise OracleError(f"the oracle {self._connections.target} is closed: make a new one")
            self._halts.add(halt)
        try:
            if self._connections.owing:  # a service may have no place for others beside them
                self._connections.check(last=True)
            at_once(slots, lambda row, repeat: ask(row, repeat, halt), self._concurrency, halt)
            if np.isnan(answers).any():
                raise Halted(f"POST {self._connections.target}: stopped before all questions were answered")
            self._connections.check()
        except BaseException as error:  # Ctrl-C too
            if self.doubt is None:  # what may belong to other questions is no answer
                carry(error, answers)
            raise
        finally:
            halt.set()
            with self._lock:
                self._halts.discard(halt)

    def asked(self, queries: ArrayLike, repeats: int, block: int = 1) -> Asked:
        """Answer, and say which answers share a model: each caller is asked `block` consecutive queries.

        One caller is one connection, sends back the cookies that it was given, and has one "$id". That it always gets
        one model is for the service to see to, and for the preflight to see.
        """
        X, repeats = as_queries(queries, repeats)
        y = self.answer_each(X, repeats, block, keep_none)
        with self._lock:
            first, self._groups = self._groups, self._groups + y.size
        return Asked.of_round(X, y, block_groups(len(X), repeats, block, first))

    def caller(self, fresh: bool, cookies: bool) -> HTTPOracle:
        """Return an oracle for the same service that asks one question at a time, as a caller of another kind.

        Parameters
        ----------
        fresh : bool
            A new connection for every request, or all over one.
        cookies : bool
            Send back the cookies that the service sets, and the same "$id" every time.
        """
        other, ours = object.__new__(HTTPOracle), self._connections
        other._manners = self._manners
        other._start(Connections(ours.target, ours.headers, ours.hosts, 1, fresh, cookies, ours.private), 1)
        return other

    @property
    def count(self) -> int:
        """Answers given so far."""
        return self._exchange.count

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        return self._exchange.requests

    @property
    def fresh(self) -> bool:
        """Whether every request has a connection of its own."""
        return self._connections.fresh

    @property
    def doubt(self) -> str | None:
        """Why the answers so far cannot be trusted; None if nothing speaks against them."""
        return self._connections.doubt or self._exchange.doubt

    @property
    def confirmed(self) -> bool:
        """Whether nothing can come any more that would show an answer so far to be wrong.

        That is so once the oracle was closed, and always if every request has a connection of its own.
        """
        return self.fresh or self._looked or not self.count

    @property
    def sets_cookies(self) -> bool:
        """Whether the service set a cookie in an answer so far."""
        return self._exchange.sets_cookies

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
            self._connections.check(last=True)  # if Ctrl-C ends this, the next call goes on with it
        except OracleError:
            self._looked = True
            raise
        self._looked = True
        self._connections.close()

    def __enter__(self) -> HTTPOracle:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # An error that is on its way already says more than what the service sent too much.
        with contextlib.suppress(OracleError) if kind is not None else contextlib.nullcontext():
            self.close()

    def __repr__(self) -> str:
        return f"HTTPOracle({str(self._connections.target)!r})"
