"""Where work stands: lines, a terminal's bar, a notebook's bar."""

from __future__ import annotations

import io
import subprocess
import sys
import types

import pytest

import mixsense as ms
from mixsense import progress
from mixsense.progress import Bar, Count
from mixsense.rounds import Progress


@pytest.fixture
def clock(monkeypatch):
    now = types.SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress, "monotonic", lambda: now.seconds)
    return now


@pytest.fixture
def pages(monkeypatch):
    """What a kernel puts in place: the module IPython, whose shell has a kernel, and display handles that update."""
    drawn = []

    class Handle:
        def update(self, data, raw):
            assert raw
            drawn[-1].append(data)

    def display(data, raw, display_id):
        assert raw
        assert display_id
        drawn.append([data])
        return Handle()

    ipython, shown = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    shown.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return drawn


def at(asked, label="stage 1", done=1, total=10, budget=None):
    return Progress(label, done, total, asked, budget)


def test_without_a_terminal_the_first_line_comes_soon_and_the_others_seldom(clock, capsys):
    bar = Bar()
    for second in range(26):
        clock.seconds = float(second)
        bar(at(100 * second, budget=5000))
    bar.close()
    assert capsys.readouterr().err.splitlines() == [
        "mixsense: 200 of 5,000 answers (stage 1)",
        "mixsense: 1,200 of 5,000 answers (stage 1)",
        "mixsense: 2,200 of 5,000 answers (stage 1)",
    ]


def test_a_short_run_says_nothing(clock, capsys):
    ms.recover(ms.SimulatedOracle(ms.random_pair(10, 1, gap=5.0, seed=1)), 10, gamma=1.0, seed=3, progress=True)
    assert capsys.readouterr() == ("", "")


def test_a_run_of_six_seconds_shows_in_a_notebook(pages, clock, capsys):
    oracle = ms.SimulatedOracle(ms.random_pair(10, 1, gap=5.0, seed=1), seed=2)

    def slow(queries, repeats):
        clock.seconds += 0.1
        return oracle(queries, repeats)

    r = ms.recover(slow, 10, gamma=0.5, seed=3, progress=True)
    (page,) = pages  # one bar, drawn again in its place
    assert 5 < len(page) <= clock.seconds / progress.FRAME_SECONDS + 2
    assert page[-1]["text/plain"].endswith(f"{r.queries} answers in all")
    assert '<progress value="' in page[0]["text/html"]
    assert capsys.readouterr() == ("", "")


def test_what_a_method_calls_its_rounds_is_escaped(pages, clock):
    bar = Bar()
    bar(at(5, "<b>\x1b[31m"))
    assert r"&lt;b&gt;\x1b[31m" in pages[0][0]["text/html"]
    assert r"<b>\x1b[31m" in pages[0][0]["text/plain"]


def test_a_count_shows_in_a_notebook_and_ends_there(pages, clock):
    with Count("cells", 3) as bar:
        for _ in range(3):
            clock.seconds += 1
            bar.advance()
    assert [page["text/plain"] for page in pages[0]] == [
        "1 of 3 cells (1/s, 0:00:02 left)",
        "2 of 3 cells (1/s, 0:00:01 left)",
        "3 of 3 cells (1/s, 0:00:00 left)",
        "3 of 3 cells",
    ]


def test_a_shell_in_a_terminal_is_no_notebook(pages, monkeypatch, capsys):
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: types.SimpleNamespace())
    assert not progress.in_notebook()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    assert not progress.in_notebook()


def test_a_terminal_has_a_bar_whatever_the_label(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = Bar()
    bar(at(5, "[/odd] \x1b[2J"))
    bar(at(6, "next", done=2))
    bar.close()
    assert "next" in sys.stderr.getvalue()
    assert "answers in all" in sys.stderr.getvalue()


def test_no_stderr_at_all(monkeypatch, clock, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    bar = Bar()
    clock.seconds = 99.0
    bar(at(5))
    bar.close()
    assert capsys.readouterr().out == ""  # print(file=None) would print here


def test_ipython_is_not_imported_to_look_for_it():
    code = "import sys, mixsense.progress as p; assert not p.in_notebook(); assert 'IPython' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
