"""What a method returns."""

from mixsense.recovery.result import Recovery
from mixsense.recovery.statuses import PROMISES, STATUSES

__all__ = ["PROMISES", "STATUSES", "Recovery"]
