"""What goes wrong in functions of the user's own, which the command line names as module:function."""

from __future__ import annotations

import os
from types import FrameType

PACKAGE = os.path.dirname(os.path.dirname(__file__))
"""Where mixsense is: what is elsewhere may be the user's."""
CALLERS = {
    os.path.join(PACKAGE, "rounds", "answers.py"): "oracle",
    os.path.join(PACKAGE, "rounds", "rewritten.py"): "method",
    os.path.join(PACKAGE, "methods", "begin.py"): "method",
    os.path.join(PACKAGE, "methods", "paper", "decoding.py"): "decoder",
}
"""The files that call the user's functions, and what each calls them."""


def blamed(error: BaseException) -> str | None:
    """Return one line that says which function of the user's raised an error, and where; None if none did."""
    from traceback import walk_tb

    from mixsense.checks import one_line

    frames = list(walk_tb(error.__traceback__))
    calls = [i for i, (frame, _) in enumerate(frames[:-1]) if _file(frame) in CALLERS and not _ours(frames[i + 1][0])]
    if not calls:
        return None
    what, (called, _) = CALLERS[_file(frames[calls[-1]][0])], frames[calls[-1] + 1]
    line = [number for frame, number in frames if _file(frame) == _file(called)][-1]
    name = f"{called.f_globals.get('__name__', '?')}:{called.f_code.co_qualname}"
    raised = one_line(f"{type(error).__name__}: {error}", 200).rstrip(": ")
    where = f"{os.path.basename(_file(called))}, line {line}"
    return f"the {what} {name} raised {raised} ({where}): mend it; the same run in Python shows the traceback"


def _file(frame: FrameType) -> str:
    return frame.f_code.co_filename


def _ours(frame: FrameType) -> bool:
    return _file(frame).startswith(PACKAGE + os.sep)
