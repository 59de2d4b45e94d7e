"""Where L models may be on all answers so far: the best of many starts, each place once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixsense.arrays import Array
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.em import EM
from mixsense.regression.fit import Fit
from mixsense.regression.group_starts import between_groups
from mixsense.regression.starts import anneal, moment_columns, second_moments, splits


def best_starts(
    L: int,
    fewer: Fit | EM,
    data: Data,
    sigma: float,
    weights: Array,
    rng: np.random.Generator,
    number: int,
    refined: int,
) -> list[tuple[Array, str]]:
    """Return where L models may be, each with its route: the best annealed starts, and those of the second moments.

    Parameters
    ----------
    L : int
        How many models.
    fewer : Fit or EM
        A fit of one model, or of fewer than L: of one model less, each is split in two.
    data : Data
        All answers.
    sigma, weights : float, (L,) array
        Noise, and shares of the models.
    rng : Generator
        Draws the random starts.
    number : int
        How many random starts are annealed.
    refined : int
        How many of all starts are returned at most, besides that of the second moments.
    """
    data = data.without_zeros
    X, y = data.X, data.values
    size = moment_columns(int(data.N), X.shape[1])
    seeds, t, always, name = list[Array](), None, set[int](), "split"
    if data.group is not None:
        centre = fewer.weights @ fewer.beta
        t, seeds = between_groups(X, y, centre, data.group, L, size, rng)
        name = "groups"
    elif L == 2:
        t, difference = second_moments(X, y, fewer.beta[0], size, data.counts)
        seeds = [np.stack([fewer.beta[0] + difference / 2, fewer.beta[0] - difference / 2])]
        always, name = {number}, "second moments"  # the seed is the last
    if L > 2 and fewer.L == L - 1:
        own = fewer.explained(data).probability.argmax(axis=1)
        seeds += splits(X, y, fewer.beta, own, data.counts)
    few = data.some(tuning.MOST_ANNEALED_ANSWERS, rng)
    starts, value = anneal(
        few.X, few.values, sigma, weights, rng, number, seeds, t, group=few.group, counts=few.counts, sure=few.sure
    )
    chosen = {*np.argsort(-value, kind="stable")[:refined].tolist()} | always
    kept: list[int] = []
    for i in sorted(chosen):  # those that ended at the same place would be fitted to the same models
        if all(_apart(starts[i], starts[j]) > tuning.DISTINCT_STARTS * sigma for j in kept):
            kept.append(i)
    return [(starts[i], name if i >= number else "annealed") for i in kept]


def distinct(fits: Sequence[Fit], sigma: float) -> list[Fit]:
    """Sort fits by their scores, and leave out those equal to a better one, whatever the order of their models."""
    kept: list[Fit] = []
    for f in sorted(fits, key=lambda f: -f.score):
        if all(_apart(f.beta, g.beta) > tuning.DISTINCT * sigma for g in kept):
            kept.append(f)
    return kept[: tuning.KEPT_FITS]


def _apart(one: Array, other: Array) -> float:
    """Return the largest difference of a coefficient, whatever the order of the models."""
    return float(np.abs(one[:, None] - other).max(axis=2).min(axis=1).max())
