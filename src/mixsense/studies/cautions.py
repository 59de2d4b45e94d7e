"""What a result is shown with while a run of the study is not confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mixsense.recovery import Recovery

UNCONFIRMED = (
    "a run of this study goes on, or was ended by force: whether its program wrote a line too many, or its service "
    "sent a reply too many, which shifts all answers, was not seen; if nothing runs any more, begin another study "
    "to be sure"
)
"""Said of a study with a run that is not confirmed."""


def with_warnings(r: Recovery, more: Sequence[str]) -> dict[str, Any]:
    """Return the diagnostics of a result with more warnings, which come first."""
    if not more:
        return r.diagnostics
    return {**r.diagnostics, "warnings": [*more, *r.diagnostics.get("warnings", [])]}
