"""One BLAS thread a process, as the command line sets it; and Ctrl-C works in programs that the tests start."""

import os
import signal
import sys

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Hundreds of programs are started from here: what is compiled once is not compiled again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that runs the tests in the background ignores SIGINT, and what is started from here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _own_modules():
    """Forget a test's own mylab.py, and where it was found: the next test may have another one."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("mylab", None)
