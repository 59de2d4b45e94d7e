"""How a connection is made, and how long anybody waits for it."""

from __future__ import annotations

import os
import selectors
import socket
import ssl
import threading
import time
from dataclasses import dataclass

from mixsense.checks import require
from mixsense.oracles.retrying import Halted

GLANCE = 0.05
"""Seconds after which a wait looks whether it was stopped."""


class Late(Exception):
    """The time of a request was up."""


class Broken(Exception):
    """A connection could not be made, was closed, or what came over it is no reply."""


@dataclass(frozen=True, slots=True)
class Until:
    """How long a request may last: to a time of the monotonic clock, or until it is halted."""

    end: float
    halt: threading.Event

    def glance(self) -> float:
        """Return how many seconds to wait before the next look; raise if there are none."""
        if self.halt.is_set():
            raise Halted("stopped")
        left = self.end - time.monotonic()
        if left <= 0:
            raise Late
        return min(left, GLANCE)


def connected(host: str, port: int, until: Until) -> socket.socket:
    """Return a socket that is connected to one of the host's addresses, and never blocks."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Broken(f"no connection: {error}") from None
    why = "the host has no address"
    for family, kind, protocol, _, address in places:
        found = socket.socket(family, kind, protocol)
        try:
            found.setblocking(False)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            found.connect_ex(address)
            with selectors.DefaultSelector() as selector:
                selector.register(found, selectors.EVENT_WRITE)
                while not selector.select(until.glance()):
                    pass
            number = found.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if not number:
                return found
            why = os.strerror(number)
        except OSError as error:
            why = str(error)
        except BaseException:
            found.close()
            raise
        found.close()
    raise Broken(f"no connection: {why}")


def trust() -> ssl.SSLContext:
    """Return what says which hosts are who they say."""
    certifi = require("certifi", "http", "an address with https needs")
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
