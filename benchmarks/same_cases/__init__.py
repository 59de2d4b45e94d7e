"""The cases that `same.py` runs with two versions of mixsense: loading this package fills `case.CASES`."""

from same_cases import others, recoveries, studies

__all__ = ["others", "recoveries", "studies"]
