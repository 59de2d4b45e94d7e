"""How long work shows itself: a bar on a terminal, quiet lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from mixsense.rounds import Progress

QUIET_SECONDS = 10.0
"""Without a terminal, a line is printed at most this often."""


class Bar:
    """A progress hook: one bar for each step with rate and time left; lines on stderr without a terminal."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._label: str | None = None
        self._last = time.monotonic()
        if sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TextColumn("{task.fields[rate]}"),
                progress.TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._bar.start()

    def __call__(self, now: Progress) -> None:
        """Show where the run stands."""
        if self._bar is None:
            self._line(now)
            return
        if now.label != self._label:
            self._label = now.label
            self._task = self._bar.add_task(now.label, total=now.total, rate="")
        task = next(t for t in self._bar.tasks if t.id == self._task)
        rate = f"{task.speed:,.0f} answers/s" if task.speed else ""
        self._bar.update(self._task, completed=now.done, total=now.total, rate=rate)

    def _line(self, now: Progress) -> None:
        if time.monotonic() - self._last >= QUIET_SECONDS:
            self._last = time.monotonic()
            budget = f" of {now.max_queries:,}" if now.max_queries else ""
            print(f"mixsense: {now.asked:,}{budget} answers ({now.label})", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()
