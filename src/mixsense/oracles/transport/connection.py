"""One connection to a service: a request goes out, its reply comes back, and nothing else may come."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mixsense.oracles.retrying import Halted
from mixsense.oracles.transport.dial import Broken, Late, Until, connected

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST_REPLY = 1_000_000
"""A reply of more bytes than this is refused: it should be a number."""
LARGEST_HEAD = 65_536
"""Bytes that the lines before a reply's content, or one line of it, may have."""
INSTANT = 0.01
"""Seconds for reading what is here already."""
MOST_HINTS = 16
"""Replies of status 1xx that may come before the reply itself."""


class TooLarge(Exception):
    """A reply has more bytes than a number can need."""


class Unasked(Exception):
    """Something came over a connection that belongs to no request; `args[0]` is what."""


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of a reply, names in lower case; `set_cookies` are all lines of that name."""

    status: int
    headers: dict[str, str]
    set_cookies: tuple[str, ...]


class Connection:
    """A connection that carries one request at a time.

    Parameters
    ----------
    host : str
        Whom to connect to.
    port : int
        At which port.
    tls : ssl.SSLContext, optional
        With it the connection is encrypted, and the host has to show its certificate.
    until : Until
        How long connecting may take. Looking up the host's name is the system's business and is not interrupted.
    """

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None, until: Until) -> None:
        import h11

        start = time.monotonic()
        self._socket = connected(host, port, until)
        self.round_trip = time.monotonic() - start
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        self.reusable, self.owes = True, False
        self.replies, self.slowest = 0, 0.0  # how many came, and the seconds of the one that took longest
        self.asked = self.used = 0.0  # when the last request went out, and when the last reply was here
        try:
            if tls is not None:
                self._selector.unregister(self._socket)
                self._socket = tls.wrap_socket(self._socket, server_hostname=host, do_handshake_on_connect=False)
                self._selector.register(self._socket, selectors.EVENT_READ)
                self._patiently(self._socket.do_handshake, until)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError) and not isinstance(error, ssl.SSLCertVerificationError):
                raise Broken(f"no connection: {error}") from None
            raise

    def exchange(
        self, path: str, headers: list[tuple[bytes, bytes]], content: bytes, until: Until
    ) -> tuple[Head, bytes, bool]:
        """Send a POST, return the head of the reply, its content, and whether its length was told.

        If this raises, the connection is closed; once `reusable` is false it must not be used again. One that has
        answered before and is stopped in between stays open and `owes` a reply: see `last_words`.
        """
        import h11

        self.asked = time.monotonic()
        try:
            length = (b"Content-Length", str(len(content)).encode())
            request = h11.Request(method="POST", target=path, headers=[*headers, length])
            parts = [self._http.send(event) for event in (request, h11.Data(data=content), h11.EndOfMessage())]
            whole = self._write(b"".join(part for part in parts if part), until)
            found = self._reply(until)
            if not whole and found[0].status == 200:
                raise EOFError("it was closed before the question was read")
            self.replies, self.slowest = self.replies + 1, max(self.slowest, time.monotonic() - self.asked)
            self._finish()
        except (Halted, KeyboardInterrupt):
            self.reusable, self.owes = False, self.replies > 0
            if not self.owes:
                self.close()
            raise
        except h11.LocalProtocolError as error:
            self.close()
            raise Broken(f"the request cannot be sent: {error}") from None
        except h11.RemoteProtocolError as error:
            self.close()
            raise Broken(f"what came is not an HTTP reply: {error}") from None
        except (OSError, EOFError) as error:
            self.close()
            raise Broken(f"the connection broke: {str(error) or 'it was closed before the reply'}") from None
        except BaseException:
            self.close()
            raise
        return found

    def alive(self, settle: float = 0.0) -> bool:
        """Return whether a request may be sent; raise `Unasked` if something came that belongs to none.

        Parameters
        ----------
        settle : float
            Seconds of silence that have to lie between the last reply and the request.
        """
        wait = self.used + settle - time.monotonic()
        if wait > 0:
            self.acknowledge()
            self._selector.modify(self._socket, selectors.EVENT_READ)
            self._selector.select(wait)
        try:
            came = self._socket.recv(1000)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return True
        except OSError:
            came = b""
        self.close()
        # What is blank is no reply, and with 408 a service says that it closes a connection on which nothing was asked.
        if came.strip() and not came.startswith((b"HTTP/1.1 408 ", b"HTTP/1.0 408 ")):
            raise Unasked(came)
        return False

    def acknowledge(self) -> None:
        """Tell the service that its last packet is here: it may wait for that before it sends the next one."""
        number = getattr(socket, "TCP_QUICKACK", None)
        if number is not None:
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, number, 1)

    def last_words(self) -> None:
        """Close a connection that owes a reply; raise `Unasked` if more than that reply is here."""
        import h11

        now = Until(time.monotonic() + INSTANT, threading.Event())
        broken = Late, Broken, OSError, EOFError, h11.ProtocolError
        try:
            while not isinstance(event := self._event(now), h11.EndOfMessage):
                if isinstance(event, h11.ConnectionClosed):
                    return
            more, _ = self._http.trailing_data
            if more.strip():
                raise Unasked(more)
            self.alive()
        except broken:  # silence, or what is no reply
            return
        finally:
            self.close()

    def close(self) -> None:
        """Close the connection."""
        self.reusable = False
        self._selector.close()
        self._socket.close()

    def _write(self, data: bytes, until: Until) -> bool:
        """Send it all; returns false if the service does not want to read it all, and may have said why."""
        left = memoryview(data)
        try:
            while left:
                left = left[self._patiently(partial(self._socket.send, left), until, writing=True) :]
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def _reply(self, until: Until) -> tuple[Head, bytes, bool]:
        import h11

        for _ in range(MOST_HINTS):
            event = self._event(until)
            if isinstance(event, h11.Response):
                break
            if not isinstance(event, h11.InformationalResponse) or event.status_code == 101:
                raise Broken("the service wants to speak another protocol")
        else:
            raise Broken(f"more than {MOST_HINTS} replies of status 1xx before the reply")
        raw = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
        head = Head(event.status_code, dict(raw), tuple(value for name, value in raw if name == "set-cookie"))
        content = bytearray()
        while not isinstance(event := self._event(until), h11.EndOfMessage):
            if not isinstance(event, h11.Data):
                raise Broken("the reply is not complete")
            content += event.data
            if len(content) > LARGEST_REPLY:
                raise TooLarge
        framed = "content-length" in head.headers or "transfer-encoding" in head.headers
        if {"content-length", "transfer-encoding"} <= head.headers.keys():
            self.reusable = False  # two lengths: whoever is between us may take the other one
        return head, bytes(content), framed

    def _event(self, until: Until) -> Any:
        import h11

        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            data = self._patiently(lambda: self._socket.recv(65536), until)
            if not data and self._http.their_state is h11.SEND_RESPONSE:
                raise EOFError
            self._http.receive_data(data)

    def _finish(self) -> None:
        """Make ready for the next request; refuse what came behind the reply."""
        import h11

        more, _ = self._http.trailing_data
        if more.strip():
            raise Unasked(more)
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        self.reusable = self.reusable and done and not more
        self.used = time.monotonic()
        if self.reusable:
            self._http.start_next_cycle()

    def _patiently(self, act: Callable[[], Any], until: Until, writing: bool = False) -> Any:
        """Do what the socket may not be ready for, as soon as it is."""
        want = selectors.EVENT_WRITE if writing else selectors.EVENT_READ
        while True:
            until.glance()
            try:
                return act()
            except ssl.SSLWantReadError:
                want = selectors.EVENT_READ
            except ssl.SSLWantWriteError:
                want = selectors.EVENT_WRITE
            except BlockingIOError:
                pass
            self._selector.modify(self._socket, want)
            while not self._selector.select(until.glance()):
                pass
