"""A scoring service on loopback for tests; as a program: ``python http_service.py LOG`` prints its port.

`Service` runs one in this process, with any behaviour.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

NAMES = ["age", "income", "debt", "years", "cards", "late", "loans", "rent", "kids", "cars", "calls", "visits"]
LOW, HIGH = [18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [80, 90, 40, 30, 8, 12, 6, 30, 5, 3, 20, 50]
INTERCEPTS = (1.0, 2.0)
MODELS = np.zeros((2, 12))
MODELS[0, [1, 2, 5]] = 0.05, -0.1, -0.2
MODELS[1, [1, 2, 3]] = 0.02, -0.1, 0.12
SIGMA = 0.3


class Call:
    """What a behaviour sees of a request, and how it replies."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        self.body, self.headers, self.path = body, handler.headers, handler.path
        self.connection = handler.client_address[1]
        self.number = 0

    @property
    def x(self) -> np.ndarray:
        return np.array(self.body["x"])


Behaviour = Callable[[Call], Any]
"""Returns the answer's number, or (status, headers, bytes)."""


class Service:
    """A service in a thread: ``with Service(behaviour) as service: … service.url``."""

    def __init__(self, behave: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self.calls: list[Call] = []
        service, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                call = Call(self, json.loads(raw))
                with lock:
                    service.calls.append(call)
                    call.number = len(service.calls)
                found = behave(call)
                if not isinstance(found, tuple):
                    found = 200, {}, json.dumps({"y": float(found)}).encode()
                status, headers, content = found
                try:
                    self.send_response(status)
                    for name, value in {"Content-Length": str(len(content)), **headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:  # the client has gone
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/score"
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def raw_server(serve: Callable[[socket.socket], Any]) -> tuple[socket.socket, str]:
    """Accept connections and give each to `serve` in a thread; returns the listening socket and its address."""
    server = socket.create_server(("127.0.0.1", 0))

    def talk(client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):  # the other side may have gone
            serve(client)

    def loop() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(client,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()
    return server, f"http://127.0.0.1:{server.getsockname()[1]}/"


class Chance:
    """Random numbers that depend on what is asked and how often it was before: threads cannot change the outcome."""

    def __init__(self, seed: int) -> None:
        self._seed, self._seen, self._lock = seed, Counter[bytes](), threading.Lock()

    def __call__(self, x: np.ndarray) -> random.Random:
        with self._lock:
            self._seen[x.tobytes()] += 1
            return random.Random(f"{self._seed} {self._seen[x.tobytes()]} {x.tolist()}")


def two_models(seed: int = 0, models: np.ndarray = MODELS, sigma: float = SIGMA) -> Callable[[np.ndarray], float]:
    """Return f(x): one of two linear models at random, plus noise."""
    chance = Chance(seed)

    def score(x: np.ndarray) -> float:
        rng = chance(x)
        return float(models[rng.randrange(2)] @ x + rng.gauss(0.0, 1.0) * sigma)

    return score


def main(log: str) -> None:
    """Serve two models with names and intercepts; 5 % of the answers are 503, some are slow. Log what is answered."""
    chance, lock = Chance(7), threading.Lock()
    file = open(log, "a", encoding="utf-8")

    def behave(call: Call) -> Any:
        x = np.array([call.body["inputs"][name] for name in NAMES])
        rng = chance(x)
        coin, luck, noise = rng.randrange(2), rng.random(), rng.gauss(0.0, SIGMA)
        if luck < 0.05:
            return 503, {}, b"busy"
        if luck > 0.97:
            time.sleep(0.05)
        y = INTERCEPTS[coin] + float(MODELS[coin] @ x) + noise
        with lock:
            file.write(json.dumps([call.number, x.tolist(), y]) + "\n")
            file.flush()
        return 200, {}, json.dumps({"result": {"score": y}}).encode()

    with Service(behave) as service:
        print(service.url, flush=True)
        sys.stdin.read()  # until the test closes it


if __name__ == "__main__":
    main(sys.argv[1])
