"""docs/fit.md is true: its examples run, and print what it shows."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

from in_process import mixsense

PAGE = (Path(__file__).parent.parent / "docs" / "fit.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page_run_and_print_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, *rest = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    shown = re.search(r"```\n\n```\n(.*?)```", PAGE, re.S)[1]
    printed, scope = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(compile(first, "fit.md", "exec"), scope)
    assert printed.getvalue() == shown
    for code in rest:
        exec(compile(code, "fit.md", "exec"), scope)
    command = shlex.split(re.search(r"^\$ mixsense (fit .*)$", PAGE, re.M)[1])
    done = mixsense(*command)
    assert (done.returncode, done.stdout) == (0, shown), done.stderr
    assert scope["who"].shape == (1000, 3)
    assert scope["model"].n_models_ == 3
