"""The types of the arrays that travel through the package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Real numbers."""
Index = NDArray[np.intp]
"""Positions."""
Mask = NDArray[np.bool_]
"""Yes or no for each entry."""
