"""Whether the answers of a group share a model, as whoever gives groups says they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mixsense.fitting import tuning
from mixsense.regression.candidates import Expected
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.renewal import renew
from mixsense.regression.tuning import NEW_STARTS


def some_groups(data: Data) -> Data:
    """Return the first groups, as many as have the rows that are tested; those of a table without groups are rows."""
    if data.group is None or len(data.y) <= tuning.TESTED_ROWS:
        return data
    enough = int(np.searchsorted(np.bincount(data.group).cumsum(), tuning.TESTED_ROWS))
    return data.rows(np.flatnonzero(data.group <= enough))


def gain_of_ungrouped(data: Data, fit: Fit, expected: Expected, rng: np.random.Generator) -> float:
    """Return how much better models explain the answers if each answer may come from any of them, in nats.

    Parameters
    ----------
    data : Data
        All answers; without groups there is nothing to gain.
    fit : Fit
        The models that were found, each group's answers from one of them.
    expected : Expected
        What is known of the models.
    rng : Generator
        Draws the starts.

    Notes
    -----
    As many models as were found, and at least two, are fitted to the answers one by one. Their coefficients pay their
    price, those of the fit do not, so that chance speaks for the groups.
    """
    if data.group is None or expected.models == 1:  # two models one by one beat one that was asked for
        return 0.0
    some = some_groups(data)
    alone = renew(None, some._replace(group=None), replace(expected, models=max(fit.L, 2)), rng, NEW_STARTS, more=False)
    return max(alone.score.values()) - fit.loglik(some)
