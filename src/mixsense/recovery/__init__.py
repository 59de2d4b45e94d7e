"""What a method returns."""

from mixsense.recovery.result import Recovery
from mixsense.recovery.statuses import PROMISES, STATUSES, with_warnings

__all__ = ["PROMISES", "STATUSES", "Recovery", "with_warnings"]
