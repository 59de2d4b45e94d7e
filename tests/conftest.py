"""One BLAS thread a process, as the command line has it; files in memory; Ctrl-C works in what the tests start."""

import os
import signal
import sys
import tempfile

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Hundreds of programs are started from here: what is compiled once is not compiled again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Studies and sweeps wait for the disk at each commit, some 2 ms each time; nobody pulls the plug here.
MEMORY, ROOM = "/dev/shm", 2 * 1024**3
if "TMPDIR" not in os.environ and os.path.isdir(MEMORY) and os.access(MEMORY, os.W_OK):
    there = os.statvfs(MEMORY)
    if there.f_bavail * there.f_frsize > ROOM and not there.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"], tempfile.tempdir = MEMORY, None

# A shell that runs the tests in the background ignores SIGINT, and what is started from here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _own_modules():
    """Forget a test's own mylab.py, and where it was found: the next test may have another one."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("mylab", None)
