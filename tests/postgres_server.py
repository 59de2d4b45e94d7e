"""A PostgreSQL server of our own: in a temporary folder, on a free port of the loopback, gone with the test."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path


class Unavailable(Exception):
    """There is no PostgreSQL here; the message says why."""


def _program(name):
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: p.parent.name, reverse=True)
    for folder in [*places, *map(Path, os.environ.get("PATH", "").split(os.pathsep))]:
        if (folder / name).exists():
            return folder / name
    raise Unavailable(f"PostgreSQL's {name} is not installed (on Debian: apt-get install postgresql)")


def _not_root():
    """Whom to run as: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return {}
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        raise Unavailable("the tests run as root, and there is no user postgres to run the server as") from None
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def running():
    """Start a server; gives the URL of its database."""
    initdb, postgres, who = _program("initdb"), _program("postgres"), _not_root()
    folder = Path(tempfile.mkdtemp(prefix="mixsense-postgres-"))
    try:
        password = folder / "password"
        password.write_text(secrets.token_hex(8))
        if who:
            for path in (folder, password):
                os.chown(path, who["user"], who["group"])
        options = ["-D", folder / "data", "-U", "lab", "--auth=scram-sha-256", f"--pwfile={password}", "-E", "UTF8"]
        done = subprocess.run(
            [initdb, *options, "--locale=C", "--no-sync"], cwd=folder, capture_output=True, text=True, **who
        )
        if done.returncode:
            raise Unavailable(f"initdb failed: {done.stderr.strip()}")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [postgres, "-D", folder / "data", "-h", "127.0.0.1", "-p", str(port), "-k", folder]
        # Clients are killed, the server and the machine never are: what is committed need not be on the disk.
        command += ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **who)
        try:
            _wait_until_ready(server, folder)
            yield f"postgresql://lab:{password.read_text()}@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGINT)  # "fast shutdown": connections that are left are closed
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:  # a last checkpoint of many databases on a busy machine
                server.send_signal(signal.SIGQUIT)  # "immediate shutdown": the data goes anyway
                server.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_ready(server, folder):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        if b"ready to accept connections" in (folder / "log").read_bytes():
            return
        time.sleep(0.05)
    raise Unavailable(f"the server did not start: {(folder / 'log').read_text(errors='replace')[-500:]}")
