"""Where a study stands, made of what is stored of it."""

from __future__ import annotations

import json

from mixsense.checks import visible
from mixsense.errors import BudgetError, MixsenseError, ModelError, OracleError, StudyError
from mixsense.recovery import PROMISES, Recovery, with_warnings
from mixsense.rounds import TOO_MANY_AT_AN_END
from mixsense.studies.records import StudyProgress
from mixsense.studies.storage.reports import Counts

GAVE_UP = {kind.__name__: kind for kind in (ModelError, BudgetError, OracleError)}
"""The errors with which a study ends, by their names."""
UNCONFIRMED = (
    "a run of this study goes on, or was ended by force: whether its program wrote a line too many, or its service "
    "sent a reply too many, which shifts all answers, was not seen; if nothing runs any more, begin another study "
    "to be sure"
)
"""Said of a study with a run that is not confirmed."""


SHOWN = ("label", "size", "answered", "out", "total", "surplus", "expired", "groups", "alone")
"""The counts that are shown as they are."""


def standing(
    name: str, c: Counts, max_queries: int | None, gamma: float | None, answer_range: tuple[float, float] | None
) -> StudyProgress:
    """Return where a study stands, of what was counted in its database."""
    return StudyProgress(
        name=name,
        state=state_of(c),
        status="uncertain" if c.unconfirmed and c.end in PROMISES else c.end,
        round=c.round + 1,
        open=_open(c),
        max_queries=max_queries,
        gamma=gamma,
        warnings=(*([UNCONFIRMED] if c.unconfirmed else []), *_at_the_ends(c, answer_range)),
        **{name: getattr(c, name) for name in SHOWN},
    )


def state_of(c: Counts) -> str:
    """Return the state of a study; see `mixsense.studies.records.STATES`."""
    if c.end is not None:
        return "failed" if c.end == "failed" else "ended"
    if c.computing:
        return "computing"
    enough = c.size if c.least is None or _open(c) else c.least - c.waiting
    if c.closed or c.answered >= enough:
        return "ready"
    return "asking" if _open(c) else "waiting"


def _open(c: Counts) -> int:
    return 0 if c.closed else c.size - c.answered - c.out


def _at_the_ends(c: Counts, answer_range: tuple[float, float] | None) -> tuple[str, ...]:
    if answer_range is None:
        return ()
    return tuple(
        f"{hits / c.total:.0%} of the answers are {bound:g}, the {end} end of their range: what lies beyond is cut "
        "off, and the estimates lean to the middle; give a wider scale, or narrower ranges of the features"
        for hits, bound, end in zip((c.at_low, c.at_high), answer_range, ("lower", "upper"), strict=True)
        if hits > TOO_MANY_AT_AN_END * c.total
    )


def stored_end(status: str, text: str) -> Recovery | MixsenseError:
    """Return the result of a study that has ended, or the error with which the method gave up."""
    if status != "failed":
        return Recovery.from_json(text)
    why = json.loads(text)
    return GAVE_UP[why["error"]](visible(str(why["message"])))


def ended(end: Recovery | MixsenseError, now: StudyProgress) -> Recovery:
    """Return the result of a study that has ended and stands so, or raise why there is none."""
    if isinstance(end, MixsenseError):
        raise end
    status = "uncertain" if now.status == "uncertain" else end.status
    return with_warnings(end, now.warnings, status=status)


def unfinished(best: Recovery | None, now: StudyProgress) -> Recovery:
    """Return the best estimate of a study that goes on and stands so, or say that there is none."""
    where = f"round {now.round} ({now.label}) has {now.answered:,} of {now.size:,} answers"
    if best is None:
        raise StudyError(f"there is no estimate yet: {where}; go on asking", answered=now.answered, needed=now.size)
    return with_warnings(best, [f"the study goes on: {where}", *now.warnings], status="open")
