"""docs/fit.md is true: its examples run, and print what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = (Path(__file__).parent.parent / "docs" / "fit.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page_run_and_print_what_it_shows():
    first, *rest = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    shown = re.search(r"```\n\n```\n(.*?)```", PAGE, re.S)[1]
    printed, scope = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(compile(first, "fit.md", "exec"), scope)
    assert printed.getvalue() == shown
    for code in rest:
        exec(compile(code, "fit.md", "exec"), scope)
    assert scope["who"].shape == (1000, 3)
    assert scope["model"].n_models_ == 3
