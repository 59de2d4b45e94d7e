"""How long work shows itself: a bar on a terminal, quiet lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from mixsense.rounds import Progress

QUIET_SECONDS = 10.0
"""Without a terminal, a line is printed at most this often."""


class Bar:
    """A progress hook: one bar, with the step, its rate and the time left; lines on stderr without a terminal."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._label: str | None = None
        self._last = time.monotonic()
        if sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            class _Rate(progress.ProgressColumn):
                def render(self, task: progress.Task) -> str:
                    return f"{task.speed:,.0f}/s" if task.speed else ""

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                _Rate(),
                progress.TimeRemainingColumn(),
                progress.TextColumn("{task.fields[asked]}"),
                console=Console(stderr=True),
            )
            self._bar.start()

    def __call__(self, now: Progress) -> None:
        """Show where the run stands."""
        if self._bar is None:
            self._line(now)
            return
        if self._task is None:
            self._task = self._bar.add_task(now.label, total=now.total, asked="")
        elif now.label != self._label:
            self._bar.reset(self._task, total=now.total, description=now.label)
        self._label = now.label
        self._bar.update(self._task, completed=now.done, asked=f"{now.asked:,} answers in all")

    def _line(self, now: Progress) -> None:
        if time.monotonic() - self._last >= QUIET_SECONDS:
            self._last = time.monotonic()
            budget = f" of {now.max_queries:,}" if now.max_queries else ""
            print(f"mixsense: {now.asked:,}{budget} answers ({now.label})", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()
