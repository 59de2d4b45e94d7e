"""The peers that the frugal method is measured against: those of `mixsense.peers`, which need scikit-learn."""

from __future__ import annotations

import sklearn  # noqa: F401  # missing, it is named here, before any run

from mixsense.peers import (
    em_lasso,
    em_on_support,
    gaussian_answers,
    lasso_and_refit,
    passive,
    responsibilities,
    tagged_practical,
)

__all__ = [
    "em_lasso",
    "em_on_support",
    "gaussian_answers",
    "lasso_and_refit",
    "passive",
    "responsibilities",
    "tagged_practical",
]
