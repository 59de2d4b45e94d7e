"""How work that takes its time shows where it stands: a bar on a terminal or in a notebook, lines elsewhere."""

from __future__ import annotations

import contextlib
import html
import importlib
import math
import sys
from collections.abc import Iterator
from datetime import timedelta
from time import monotonic
from typing import Any

from mixsense.checks import visible
from mixsense.rounds import Progress, ProgressHook

FIRST_SECONDS = 2.0
"""Without a terminal, a run that is shorter says nothing; a longer one says so after this time …"""
QUIET_SECONDS = 10.0
"""… and again whenever this many seconds have passed."""
FRAME_SECONDS = 0.2
"""A bar in a notebook is drawn at most this often: each drawing is a message to the browser."""


def in_notebook() -> bool:
    """Whether an IPython kernel runs this, as in Jupyter; IPython is not imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def on_terminal() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


class _Page:
    """A bar in a notebook, drawn again in its place; it needs no widgets."""

    def __init__(self) -> None:
        self._display = importlib.import_module("IPython.display").display
        self._handle: Any = None
        self._last = -math.inf
        self._waiting: dict[str, str] | None = None

    def show(self, done: int, total: int, text: str) -> None:
        bar = f'<progress value="{done}" max="{total}" style="width: 20em"></progress>'
        self._waiting = {"text/plain": text, "text/html": f"{bar} {html.escape(text)}"}
        if monotonic() - self._last >= FRAME_SECONDS:
            self.close()

    def close(self) -> None:
        """Draw what was last shown."""
        if self._waiting is None:
            return
        if self._handle is None:
            self._handle = self._display(self._waiting, raw=True, display_id=True)
        else:
            self._handle.update(self._waiting, raw=True)
        self._waiting, self._last = None, monotonic()


class _Lines:
    """Lines on stderr: the first one after a while, and then seldom."""

    def __init__(self) -> None:
        self._next = monotonic() + FIRST_SECONDS

    def due(self) -> bool:
        if monotonic() < self._next:
            return False
        self._next = monotonic() + QUIET_SECONDS
        return True

    def say(self, text: str) -> None:
        if sys.stderr is not None:
            print(f"mixsense: {text}", file=sys.stderr, flush=True)


class Bar:
    """A progress hook: one bar, with the step and how far it is; lines on stderr where there is nothing to draw on."""

    def __init__(self) -> None:
        self._page = _Page() if in_notebook() else None
        self._lines = _Lines()
        self._bar: Any = None
        self._task: Any = None
        self._round: tuple[str, int] | None = None
        if self._page is None and on_terminal():
            from rich import progress
            from rich.console import Console

            class _Rate(progress.ProgressColumn):
                def render(self, task: progress.Task) -> str:
                    return f"{task.speed:,.0f}/s" if task.speed else ""

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}", markup=False),
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
        label, budget = visible(now.label), f" of {now.max_queries:,}" if now.max_queries else ""
        if self._page is not None:
            text = f"{label}: {now.done:,} of {now.total:,}; {now.asked:,}{budget} answers in all"
            self._page.show(now.done, now.total, text)
            return
        if self._bar is None:
            if self._lines.due():
                self._lines.say(f"{now.asked:,}{budget} answers ({label})")
            return
        if self._task is None:
            self._task = self._bar.add_task(label, total=now.total, asked="")
        elif (label, now.total) != self._round:
            self._bar.reset(self._task, total=now.total, description=label)
        self._round = label, now.total
        self._bar.update(self._task, completed=now.done, asked=f"{now.asked:,} answers in all")

    def close(self) -> None:
        """Leave the terminal as it was, and a notebook's bar at its end."""
        if self._bar is not None:
            self._bar.stop()
        if self._page is not None:
            self._page.close()


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

    Without a terminal or a notebook: a line on stderr now and then, and one at the end.

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
        self._start = monotonic()
        self._page = _Page() if in_notebook() else None
        self._lines = _Lines()
        self._bar: Any = None
        if self._page is None and on_terminal():
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
        seconds = monotonic() - self._start
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

    def advance(self) -> None:
        """Count one more."""
        self._done += 1
        self._fresh += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self.text, pace=self._pace)
        elif self._page is not None:
            self._page.show(self._done, self._total, f"{self.text} ({self._pace})")
        elif self._lines.due():
            self._lines.say(f"{self.text} ({self._pace})")

    def close(self) -> None:
        """Leave the terminal as it was; elsewhere say where the count ended."""
        if self._bar is not None:
            self._bar.stop()
        elif self._page is not None:
            self._page.show(self._done, self._total, self.text)
            self._page.close()
        else:
            self._lines.say(self.text)
