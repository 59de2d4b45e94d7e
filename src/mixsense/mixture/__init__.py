"""The two means of one batch of repeated answers: Algorithms 1 to 4 of the paper."""

from mixsense.mixture.estimators import Means, Moments, em, em_step, median_of_means, moments, single

__all__ = ["Means", "Moments", "em", "em_step", "median_of_means", "moments", "single"]
