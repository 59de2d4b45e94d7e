"""What a method returns."""

from mixsense.recovery.result import Recovery
from mixsense.recovery.statuses import STATUSES

__all__ = ["STATUSES", "Recovery"]
