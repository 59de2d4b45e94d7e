"""What a method returns."""

from mixsense.recovery.result import STATUSES, Recovery

__all__ = ["STATUSES", "Recovery"]
