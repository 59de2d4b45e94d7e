"""Example data: Cohen's tone perception trials, and a simulated crowd.

>>> import mixsense as ms
>>> X, y, *_ = ms.datasets.tone()
>>> X.shape, y.shape
((150, 1), (150,))
"""

from mixsense.datasets.crowd import crowd
from mixsense.datasets.dataset import Dataset
from mixsense.datasets.tone import tone

__all__ = ["Dataset", "crowd", "tone"]
