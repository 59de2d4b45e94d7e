"""How a recovery ended, and the warnings that it ended with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixsense.recovery.result import Recovery

STATUSES = {
    "certified": "the promised precision is reached",
    "single": "the answers support one vector only",
    "budget": "there are no more answers; the best estimate so far",
    "uncertain": "finished, but not to be relied on; a warning says why",
    "open": "the study goes on; the best estimate so far",
}
"""Every status, with its meaning."""
ALL_DATA = "all data were used; the best estimate"
"""What "budget" means of a fit, which takes data as they are."""
PROMISES = "certified", "single"
"""The statuses that promise something."""


def with_warnings(r: Recovery, more: Sequence[str], **changes: Any) -> Recovery:
    """Return a result with more warnings, which come first, and with other changes."""
    story = {**r.diagnostics, "warnings": [*more, *r.diagnostics.get("warnings", [])]} if more else r.diagnostics
    return replace(r, diagnostics=story, **changes)
