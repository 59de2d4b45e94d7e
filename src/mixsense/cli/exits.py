"""What a command ends with: each exit code has one meaning, in all commands."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes; `MEANINGS` explains them."""

    DONE = 0
    FAILED = 1
    WRONG_INPUT = 2
    NOT_CERTIFIED = 3
    PREFLIGHT = 4
    ALL_OUT = 5
    ENDED = 6
    SINGLE = 7
    UNCERTAIN = 8
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.DONE: "done (where a precision was asked for: certified)",
    ExitCode.FAILED: "the run failed (oracle, database, model)",
    ExitCode.WRONG_INPUT: "wrong input, nothing was asked or stored",
    ExitCode.NOT_CERTIFIED: "the result is not certified yet (budget, or the best estimate so far of a study)",
    ExitCode.PREFLIGHT: "the preflight found a problem, nothing else was asked",
    ExitCode.ALL_OUT: "no question now, all are out",
    ExitCode.ENDED: "no more questions, the study has ended",
    ExitCode.SINGLE: "there is one model only (single)",
    ExitCode.UNCERTAIN: "the result is not to be relied on (uncertain): a warning says why",
    ExitCode.INTERRUPTED: "Ctrl-C",
}
"""What each code means. The epilogs are made from this table, and docs/command-line.md shows it."""

BY_STATUS = {
    "certified": ExitCode.DONE,
    "single": ExitCode.SINGLE,
    "budget": ExitCode.NOT_CERTIFIED,
    "uncertain": ExitCode.UNCERTAIN,
    "open": ExitCode.NOT_CERTIFIED,
}
"""The exit code for each status of a result."""
OF_RESULTS = tuple(sorted({*BY_STATUS.values()}))
"""What a command that shows a result may end with."""

ANY_COMMAND = (ExitCode.DONE, ExitCode.FAILED, ExitCode.WRONG_INPUT, ExitCode.INTERRUPTED)
"""What every command may end with."""


def epilog(*more: ExitCode) -> str:
    """Return the last lines of a command's help: the codes of every command, and those of this one.

    Examples
    --------
    >>> epilog(ExitCode.ENDED).split("; ")[3]
    '6 no more questions, the study has ended'
    """
    codes = sorted({*ANY_COMMAND, *more})
    return f"Exit codes: {'; '.join(f'{code.value} {MEANINGS[code]}' for code in codes)}."
