"""Runs of a statistical test that need not be made."""

from __future__ import annotations

from collections.abc import Sequence


def decided(successes: Sequence[bool], least: int, runs: int) -> bool:
    """Return whether it is known if at least so many of all runs succeed: those that are left change nothing.

    A test of this number that stops then passes exactly when it would have passed with all of its runs.
    """
    return sum(successes) >= least or len(successes) - sum(successes) > runs - least
