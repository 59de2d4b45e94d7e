"""How work that takes its time shows where it stands: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from mixsense.rounds import Progress, ProgressHook

QUIET_SECONDS = 10.0
"""Without a terminal, at least this many seconds lie between two lines."""


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


@contextlib.contextmanager
def progress_hook(progress: bool | ProgressHook) -> Iterator[ProgressHook | None]:
    """Give what a driver calls: the user's own hook, a bar that is closed in the end, or nothing."""
    if callable(progress) or not progress:
        yield progress or None
        return
    bar = Bar()
    try:
        yield bar
    finally:
        bar.close()


class Count:
    """A bar over things that are counted: "412 of 1600 cells, 398 reused", with rate and time left.

    Without a terminal: a line on stderr now and then, and one at the end.

    Parameters
    ----------
    label : str
        What is counted, in the plural.
    total : int
        How many there are.
    done : int
        How many are done already; the rate leaves them out.
    note : str
        What else to show.

    Examples
    --------
    >>> with Count("cells", 1600, done=398, note="398 reused") as bar:
    ...     bar.advance()
    >>> bar.text
    '399 of 1,600 cells, 398 reused'
    """

    def __init__(self, label: str, total: int, done: int = 0, note: str = "") -> None:
        self._label, self._total, self._done, self._note = label, total, done, note
        self._fresh = 0
        self._start = self._last = time.monotonic()
        self._bar: Any = None
        if sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            self._bar = progress.Progress(
                progress.BarColumn(),
                progress.TextColumn("{task.description}"),
                progress.TextColumn("{task.fields[pace]}"),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(self.text, total=total, completed=done, pace="")

    @property
    def text(self) -> str:
        """Where the count stands, in words."""
        note = f", {self._note}" if self._note else ""
        return f"{self._done:,} of {self._total:,} {self._label}{note}"

    @property
    def _pace(self) -> str:
        seconds = time.monotonic() - self._start
        if not self._fresh or not seconds:
            return ""
        left = timedelta(seconds=round((self._total - self._done) * seconds / self._fresh))
        return f"{self._fresh / seconds:,.3g}/s, {left} left"

    def __enter__(self) -> Count:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def advance(self, count: int = 1) -> None:
        """Count this many more."""
        self._done += count
        self._fresh += count
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self.text, pace=self._pace)
        elif time.monotonic() - self._last >= QUIET_SECONDS:
            self._last = time.monotonic()
            self._line(f" ({self._pace})")

    def close(self) -> None:
        """Leave the terminal as it was; elsewhere say where the count ended."""
        if self._bar is not None:
            self._bar.stop()
        else:
            self._line("")

    def _line(self, more: str) -> None:
        print(f"mixsense: {self.text}{more}", file=sys.stderr, flush=True)
