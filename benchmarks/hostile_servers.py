"""Services that misbehave in every way that we know of, and whether an HTTP oracle stands each of them.

    python benchmarks/hostile_servers.py                   # all of them, as a table
    python benchmarks/hostile_servers.py second_reply html # some

`check(kind)` returns what went wrong: an exception that is not ours, a wait beyond the limit, a message of several
lines, a wrong answer, a secret. `served(kind)` runs one service, for other programs to ask. Everything stays on
127.0.0.1, and every check ends by itself within `SECONDS`.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import os
import re
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mixsense as ms

SECONDS = 20.0
"""No check may take longer than this; most take less than one."""
ALIVE = 15.0
"""A service ends by itself after this many seconds."""
VARIABLE, SECRET = "MIXSENSE_HOSTILE_KEY", "tok3n-Zq9/hostile+parts"
QUERIES = np.arange(1.0, 7.0)[:, None]
RIGHT = "right"
"""Expected of a service that misbehaves, but whose answers can be used."""
UNSEEN = "unseen"
"""Expected of a service whose wrong answers nobody can tell from right ones."""


class Talk:
    """One connection, seen from the service."""

    def __init__(self, client: socket.socket, served: Served) -> None:
        self.client, self.served, self.asked, self._rest = client, served, 0, b""
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.settimeout(ALIVE)

    def question(self) -> float | None:
        """Read a request; returns what a right answer is, None at the end."""
        data = self._rest
        while b"\r\n\r\n" not in data:
            data += (part := self.client.recv(65536))
            if not part:
                return None
        head, _, content = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])
        while len(content) < length:
            content += self.client.recv(65536)
        content, self._rest = content[:length], content[length:]  # a client that was misled may be ahead of us
        self.asked += 1
        self.served.requests += 1
        return float(json.loads(content)["x"][0])

    def send(self, *parts: bytes | str) -> None:
        """Send bytes or text."""
        self.client.sendall(b"".join(part.encode() if isinstance(part, str) else part for part in parts))

    def until_end(self, again: Callable[[], Any], pause: float = 0.0) -> None:
        """Do something again and again, until nobody listens any more."""
        end = time.monotonic() + ALIVE
        while time.monotonic() < end:
            again()
            time.sleep(pause)


@dataclass
class Served:
    """A service that runs."""

    port: int
    scheme: str
    requests: int = 0
    other: int = 0
    """The port of an innocent service that nobody may be led to."""
    led: list[bytes] = field(default_factory=list)
    """What that service got to read."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self.scheme}://127.0.0.1:{self.port}/score"


Behave = Callable[[Talk], None]


@dataclass(frozen=True)
class Kind:
    """What a service does, and what the oracle has to say to it: a pattern for its message."""

    behave: Behave
    expected: str
    scheme: str = "http"
    options: dict[str, Any] = field(default_factory=dict)


KINDS: dict[str, Kind] = {}


def kind(expected: str, scheme: str = "http", **options: Any) -> Callable[[Behave], Behave]:
    def add(behave: Behave) -> Behave:
        KINDS[behave.__name__] = Kind(behave, expected, scheme, options)
        return behave

    return add


def reply(content: bytes | str, *headers: str, status: str = "200 OK") -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    lines = "".join(f"{line}\r\n" for line in headers)
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(raw)}\r\n{lines}\r\n".encode() + raw


def y(number: float) -> str:
    return json.dumps({"y": number})


def always(name: str, raw: bytes, expected: str, **options: Any) -> None:
    """Add a service that sends the same bytes to each question."""

    def behave(talk: Talk) -> None:
        while talk.question() is not None:
            talk.send(raw)

    behave.__name__ = name
    kind(expected, **options)(behave)


def once(name: str, raw: bytes, expected: str, **options: Any) -> None:
    """Add a service that sends some bytes to a question, and closes the connection."""

    def behave(talk: Talk) -> None:
        talk.question()
        talk.send(raw)

    behave.__name__ = name
    kind(expected, **options)(behave)


# Time and size.


@kind("no answer in time")
def drips_head(talk: Talk) -> None:
    talk.question()
    talk.until_end(lambda: talk.send("H"), 0.02)


@kind("no answer in time")
def drips_body(talk: Talk) -> None:
    talk.question()
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
    talk.until_end(lambda: talk.send(" "), 0.02)


@kind("an HTTP reply")
def endless_header(talk: Talk) -> None:
    talk.question()
    talk.send("HTTP/1.1 200 OK\r\nX: ")
    talk.until_end(lambda: talk.send("x" * 10_000))


@kind("an HTTP reply")
def endless_headers(talk: Talk) -> None:
    talk.question()
    talk.send("HTTP/1.1 200 OK\r\n")
    talk.until_end(lambda: talk.send("X: y\r\n" * 1000))


@kind("more than 1,000,000 bytes")
def huge_body(talk: Talk) -> None:
    talk.question()
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")
    talk.until_end(lambda: talk.send(" " * 100_000))


@kind("more than 1,000,000 bytes|no answer in time")
def chunks_without_end(talk: Talk) -> None:
    talk.question()
    talk.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    talk.until_end(lambda: talk.send("1\r\n \r\n" * 5000))


@kind("an HTTP reply|no answer in time")
def trailers_without_end(talk: Talk) -> None:
    talk.question()
    talk.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n")
    talk.until_end(lambda: talk.send("X: y\r\n" * 1000))


@kind("no answer in time")
def never_answers(talk: Talk) -> None:
    talk.question()
    time.sleep(ALIVE)


@kind("no answer in time")
def never_reads(talk: Talk) -> None:
    time.sleep(ALIVE)


@kind("more than 16 replies of status 1xx")
def continue_storm(talk: Talk) -> None:
    talk.question()
    talk.until_end(lambda: talk.send("HTTP/1.1 100 Continue\r\n\r\n" * 100))


@kind("more than 16 replies of status 1xx")
def early_hints(talk: Talk) -> None:
    talk.question()
    talk.until_end(lambda: talk.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), 0.001)


# What belongs to no question.


def _second(late: float, at: int) -> Behave:
    def behave(talk: Talk) -> None:
        while (x := talk.question()) is not None:
            second = reply(y(777)) if talk.asked == at else b""
            talk.send(reply(y(x)), second if not late else b"")
            if second and late:
                time.sleep(late)
                talk.send(second)

    return behave


for _name, _late in (("second_reply", 0.0), ("second_reply_soon", 0.0003), ("second_reply_late", 0.02)):
    KINDS[_name] = Kind(_second(_late, 3), "without being asked")
KINDS["second_reply_at_the_end"] = Kind(_second(0.0, len(QUERIES)), "without being asked")
KINDS["second_reply_after_the_end"] = Kind(_second(0.01, len(QUERIES)), "without being asked")


@kind("without being asked")
def reply_before_the_question(talk: Talk) -> None:
    talk.send(reply(y(777)))
    with contextlib.suppress(OSError):
        while (x := talk.question()) is not None:
            talk.send(reply(y(x)))
    time.sleep(0.2)


@kind("without being asked")
def half_a_reply_more(talk: Talk) -> None:
    while (x := talk.question()) is not None:
        talk.send(reply(y(x)), "HTT")


@kind(UNSEEN)
def answer_to_another_question(talk: Talk) -> None:
    before = 777.0
    while (x := talk.question()) is not None:
        talk.send(reply(y(before)))
        before = x


# Lengths that lie.
always("length_too_short", reply("12").replace(b"\r\n\r\n12", b"\r\n\r\n12.5"), "without being asked", answer="")
once("length_too_long", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + y(1).encode(), "an HTTP reply|broke")
once("length_twice", b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nContent-Length: 2\r\n\r\n{}      ", "an HTTP reply")
once("length_negative", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", "an HTTP reply")
once("length_in_words", b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n{}", "an HTTP reply")
once("length_without_end", b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}", "an HTTP reply|broke")
once("no_length_torn_number", b"HTTP/1.1 200 OK\r\n\r\n12", "may be torn", answer="")
once("chunked_garbage", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", "an HTTP reply")
once(
    "chunk_too_large", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"F" * 16 + b"\r\n1", "an HTTP reply"
)
once("chunked_torn", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n12\r\n", "an HTTP reply", answer="")
once("coded_twice", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "an HTTP reply")


@kind(RIGHT)
def length_and_chunked(talk: Talk) -> None:
    while (x := talk.question()) is not None:
        text = y(x)
        talk.send(reply("", "Transfer-Encoding: chunked"), f"{len(text):x}\r\n{text}\r\n0\r\n\r\n")


# No HTTP.
once("closes_at_once", b"", "it was closed before the reply")
once("closes_in_the_status_line", b"HTTP/1.1 2", "it was closed before the reply|an HTTP reply")
once("closes_in_the_headers", b"HTTP/1.1 200 OK\r\nContent-Le", "it was closed before the reply|an HTTP reply")
once("closes_after_the_headers", b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n", "an HTTP reply|broke")
once("closes_in_the_body", b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{"y"', "an HTTP reply|broke")
once("no_headers", b'{"y": 1}\n\n', "an HTTP reply")
once("http_2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "an HTTP reply")
once("tls_on_a_plain_port", bytes([21, 3, 3, 0, 2, 2, 40]) + os.urandom(80), "an HTTP reply|broke")
once("no_number_in_the_status", b"HTTP/1.1 abc OK\r\n\r\n", "an HTTP reply")
once("nul_in_a_header", b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "an HTTP reply")
once("switching_protocols", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "another protocol|an HTTP reply")


@kind("no connection", scheme="https")
def plain_on_a_tls_port(talk: Talk) -> None:
    talk.client.recv(65536)
    talk.send(reply(y(1)))


@kind("it was closed before the reply|broke")
def resets(talk: Talk) -> None:
    talk.question()
    talk.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@kind("it was closed before the reply")
def half_closed(talk: Talk) -> None:
    talk.question()
    talk.client.shutdown(socket.SHUT_WR)
    time.sleep(ALIVE)


@kind(RIGHT)
def half_closed_after_the_reply(talk: Talk) -> None:
    x = talk.question()
    if x is not None:
        talk.send(reply(y(x)))
        talk.client.shutdown(socket.SHUT_WR)
        time.sleep(ALIVE)


# Elsewhere.
def _led(name: str, where: str, expected: str, status: str = "307 x") -> None:
    def behave(talk: Talk) -> None:
        while talk.question() is not None:
            place = where.replace("OTHER", str(talk.served.other)).replace("HERE", str(talk.served.port))
            talk.send(reply("", f"Location: {place}", status=status))

    KINDS[name] = Kind(behave, expected)


_led("redirect_loop", "/score", "redirected more than 3 times")
_led("redirect_to_another_host", "http://localhost:OTHER/", "which was not given: nothing was sent there")
_led("redirect_to_another_port", "http://127.0.0.1:OTHER/", "which was not given: nothing was sent there")
_led("redirect_to_a_file", "file:///etc/passwd", "an address that cannot be used")
_led("redirect_to_a_script", "javascript:alert(1)", "an address that cannot be used")
_led("redirect_to_port_0", "http://127.0.0.1:0/", "an address that cannot be used")
_led("redirect_to_a_user", "http://a:b@127.0.0.1:OTHER/", "an address that cannot be used")
_led("redirect_to_nowhere", "", "an address that cannot be used|question would be lost")
_led("redirect_by_302", "/other", r"redirected \(302\)", status="302 x")
_led("redirect_far", "/" + "x" * 50_000, "redirected more than 3 times|an HTTP reply")
_led("redirect_with_the_secret", f"http://127.0.0.1:OTHER/?k={SECRET}", "which was not given")
_led("redirect_for_the_environment", f"/env:{VARIABLE}", "redirected more than 3 times")

# Statuses.
always("status_204", b"HTTP/1.1 204 No Content\r\n\r\n", "refused with status 204")
always("status_206", reply(y(1), status="206 Partial Content"), "refused with status 206")
always("status_999", reply(y(1), status="999 x"), "refused with status 999")
always("status_401", reply("who?", status="401 x"), "refused with status 401")
for _name, _text in (
    ("digits", "9" * 400),
    ("many_digits", "9" * 5000),
    ("nan", "nan"),
    ("date", "Fri, 31 Dec 9999 23:59:59 GMT"),
    ("far_date", "Fri, 31 Dec 99999 23:59:59 GMT"),
    ("zone", "Fri, 31 Dec 2030 23:59:59 +9999999"),
    ("negative", "-" + "9" * 400),
    ("float", "1e999"),
):
    always(f"retry_after_{_name}", reply("", f"Retry-After: {_text}", status="503 x"), "no answer after")

# Content.
always("empty", reply(""), "it is empty")
always("html", reply("<html><h1>It works!</h1></html>"), "is not JSON")
always("not_a_number", reply('{"y": NaN}'), "NaN is not a JSON number")
always("infinity", reply('{"y": Infinity}'), "Infinity is not a JSON number")
always("minus_infinity", reply('{"y": -Infinity}'), "-Infinity is not a JSON number")
always("overflow", reply('{"y": 1e999}'), "no number of usable size")
always("large_integer", reply('{"y": 1' + "0" * 400 + "}"), "no number of usable size")
always("huge_integer", reply('{"y": 1' + "0" * 500_000 + "}"), "is not JSON")
always("deep_list", reply("[" * 100_000), "is not JSON")
always("deep_object", reply('{"y":' * 100_000 + "1" + "}" * 100_000), "is not JSON")
always("rather_deep", reply('{"y": ' + "[" * 900 + "]" * 900 + "}"), "a JSON number is needed|is not JSON")
always("name_twice", reply('{"y": 1, "y": 2}'), "it has 'y' twice")
always("string", reply('{"y": "1"}'), "a JSON number is needed")
always("boolean", reply('{"y": true}'), "holds true")
always("null", reply('{"y": null}'), "holds null")
always("list", reply("[1]"), "has no 'y'")
always("list_of_numbers", reply('{"y": [1]}'), r"holds \[1\]")
always("wrong_name", reply('{"z": 1}'), "has no 'y'; it has z")
always("two_numbers", reply("1 2"), "is not JSON", answer="")
always("invalid_utf8", reply(b'{"y": 1, "\xff\xfe": "\xc3\x28"}'), "is not JSON")
always("gzip_bomb", reply(gzip.compress(b" " * 900_000_00), "Content-Encoding: gzip"), r"packed \(gzip\)")
always("gzip_claimed", reply(y(1), "Content-Encoding: gzip"), r"packed \(gzip\)")
always("control_letters", reply("\x1b[2J\r\n\x07\u202e\u2028abc" * 50), "is not JSON")
always("control_letters_as_names", reply(json.dumps({"\x1b[2J\n\ud800": 1})), "has no 'y'")


@kind(RIGHT)
def cookie_flood(talk: Talk) -> None:
    while (x := talk.question()) is not None:
        talk.send(reply(y(x), *(f"Set-Cookie: c{i}={'v' * 50}" for i in range(700))))


# Secrets, repeated in all forms.
_RAW = SECRET.encode()
for _name, _text in (
    ("plain", SECRET),
    ("cut", "x" * 110 + SECRET),
    ("after_blanks", " " * 470 + "x" * 110 + SECRET),
    ("half", SECRET[:14]),
    ("json", json.dumps({"key": SECRET}).replace("/", "\\/")),
    ("percent", SECRET.replace("/", "%2F").replace("+", "%2b")),
    ("base64", base64.b64encode(b"Bearer " + _RAW).decode()),
    ("hex", _RAW.hex()),
    ("capitals", SECRET.upper()),
):
    always(f"secret_{_name}", reply(_text, status="400 x"), "refused with status 400")
always("secret_in_two_bytes", reply(SECRET.encode("utf-16")), "is not JSON")
always("secret_as_a_name", reply(json.dumps({SECRET: 1})), "has no 'y'")
always("secret_as_a_value", reply(json.dumps({"y": SECRET})), "a JSON number is needed")
once("secret_as_the_status_line", f"{SECRET}\r\n\r\n".encode(), "an HTTP reply")
once("secret_in_a_bad_header", f"HTTP/1.1 200 OK\r\n{SECRET}\r\n\r\n".encode(), "an HTTP reply")
always("secret_behind_the_reply", reply(y(1)) + _RAW, "without being asked")
always("secret_as_the_coding", reply(y(1), f"Content-Encoding: {SECRET}"), "packed")


@contextlib.contextmanager
def served(name: str) -> Iterator[Served]:
    """Run one service, and an innocent one beside it."""
    what = KINDS[name]
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [listener.getsockname()[1] for listener in listeners]
    now = Served(ports[0], what.scheme, other=ports[1])

    def innocent(client: socket.socket) -> None:
        client.settimeout(ALIVE)
        now.led.append(client.recv(65536))

    def hostile(client: socket.socket) -> None:
        what.behave(Talk(client, now))

    def run(client: socket.socket, work: Callable[[socket.socket], None]) -> None:
        with contextlib.suppress(OSError, TypeError), client:  # nobody is there any more
            work(client)

    def accept(listener: socket.socket, work: Callable[[socket.socket], None]) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=run, args=(client, work), daemon=True).start()

    for listener, work in zip(listeners, (hostile, innocent), strict=True):
        threading.Thread(target=accept, args=(listener, work), daemon=True).start()
    try:
        yield now
    finally:
        for listener in listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()


def shown_parts(text: str, secret: str = SECRET, size: int = 8) -> list[str]:
    """Return the parts of a secret that a text shows."""
    text, secret = text.lower(), secret.lower()
    return [part for i in range(len(secret) - size + 1) if (part := secret[i : i + size]) in text]


def faults_of(error: BaseException, expected: str) -> list[str]:
    """Return what is wrong with how a check ended."""
    if not isinstance(error, ms.OracleError):
        return ["traceback: " + "".join(traceback.format_exception(error))[-2000:]]
    found, message = [], str(error)
    if len(message.splitlines()) != 1 or not message.isprintable() or len(message) > 700:
        found.append(f"not one line of text: {message[:300]!r}")
    seen = f"{message} {error!r} {error.data}"
    context = error.__context__
    while context is not None:
        seen += f" {context!r} {vars(context)}"
        context = context.__context__
    if shown_parts(seen) or shown_parts(seen, _RAW.hex()) or shown_parts(seen, base64.b64encode(_RAW).decode()):
        found.append(f"a secret is shown: {seen[:600]}")
    if not re.search(expected, message):
        found.append(f"expected {expected!r}, got {message!r}")
    return found


def outcome(name: str) -> tuple[list[str], str, float]:
    """Return what went wrong, the message, and the seconds that it took."""
    what = KINDS[name]
    options = {"timeout": 0.5, "limit": 3.0, "retries": 1, "concurrency": 1, "fresh": False, **what.options}
    found: list[str] = []
    said = ""

    def ask() -> None:
        nonlocal said
        with served(name) as now:
            try:
                headers = {"Authorization": f"Bearer env:{VARIABLE}"}
                with ms.HTTPOracle(f"{now.url}?key=env:{VARIABLE}", headers=headers, **options) as oracle:
                    answers = oracle(QUERIES, 1)
            except Exception as error:
                said = str(error)
                found.extend(faults_of(error, what.expected))
            else:
                wrong = not np.array_equal(answers, QUERIES)
                said = (
                    ("wrong" if wrong else "right")
                    + " answers"
                    + (", and nobody can tell" if what.expected == UNSEEN else "")
                )
                if what.expected not in (RIGHT, UNSEEN) or (wrong and what.expected == RIGHT):
                    found.append(f"no error; the answers are {'wrong' if wrong else 'right'}: {answers[:, 0].tolist()}")
            if now.led:
                found.append(f"another host was asked: {now.led}")

    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = SECRET
    start = time.monotonic()
    try:
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(SECONDS)
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before
    if thread.is_alive():
        found.append(f"it did not end within {SECONDS:g} s")
    return found, said, time.monotonic() - start


def check(kind: str) -> list[str]:
    """Return what went wrong with one kind of service; nothing is as it should be."""
    return outcome(kind)[0]


def main(names: list[str]) -> int:
    failed = 0
    for name in names or KINDS:
        found, said, seconds = outcome(name)
        failed += bool(found)
        print(f"{'FAILED' if found else 'ok':<6} {name:<30} {seconds:5.1f} s  {said}", flush=True)
        for fault in found:
            print(f"       {fault}")
    print(f"{len(names or KINDS)} services, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
