"""Does the model hold: named extensions of the likelihood, each with a test on all answers.

`check_model` makes all of them: score tests (`score_tests` of `extensions`), likelihood ratios (`ratios`), and a look
at the `values`; of exact answers, `labels` looks at which model gave each. `wording` says what a failed check means,
and what to do; `remedy` tries it.
"""

from mixsense.methods.frugal.model_checks.check import (
    Check,
    check_model,
    check_values,
    lapses_check,
    outlier_check,
    probable_lapses,
)
from mixsense.methods.frugal.model_checks.extensions import BETWEEN_GROUPS
from mixsense.methods.frugal.model_checks.labels import label_checks
from mixsense.methods.frugal.model_checks.remedy import try_remedy
from mixsense.methods.frugal.model_checks.surprise import surprised
from mixsense.methods.frugal.model_checks.wording import doubtful, surely_failed, warning

__all__ = [
    "BETWEEN_GROUPS",
    "Check",
    "check_model",
    "check_values",
    "doubtful",
    "label_checks",
    "lapses_check",
    "outlier_check",
    "probable_lapses",
    "surely_failed",
    "surprised",
    "try_remedy",
    "warning",
]
