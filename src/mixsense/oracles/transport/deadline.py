"""Sockets with a deadline for a whole request: a service that drips byte by byte cannot hold it any longer."""

from __future__ import annotations

import ssl
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpcore


def deadline_sockets(local: threading.local) -> httpcore.NetworkBackend:
    """Return sockets that keep to `local.deadline`, that of the thread's own request."""
    import httpcore

    def left(timeout: float | None, error: type[Exception]) -> float:
        now = local.deadline - time.monotonic()
        if now <= 0:
            raise error("time is up")
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
