"""A simulated crowd: people of a few kinds, each of whom answers several questions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mixsense.checks import as_int, generator
from mixsense.datasets.dataset import Dataset

NAMES = ("strength", "temperature", "milk", "sugar", "price", "minutes")
CENTRE = np.array([5.0, 75.0, 2.0, 2.0, 3.0, 4.0])
HALF = np.array([5.0, 15.0, 2.0, 2.0, 2.0, 3.0])
"""Middle and half of the range of each feature."""
EFFECTS = np.array(
    [[1.5, 0.0, -1.0, 0.0, -0.8, 0.0], [-1.2, 0.0, 1.0, 1.4, -0.8, 0.0], [0.0, 0.9, 0.0, 0.0, -2.0, 0.7]]
)
"""(3, 6), what half of each range does to the answer of each kind of people."""
LEVELS = np.array([5.0, 6.0, 4.5])
"""The answer of each kind at the middle of all ranges."""
SHARES = np.array([0.5, 0.3, 0.2])
NOISE = 1.0


def crowd(people: int = 200, answers: int = 5, seed: Any = 0) -> Dataset:
    """Return what a simulated crowd says about cups of tea.

    Three kinds of people hide in it: half like it strong and without milk, three in ten sweet and with milk, the others
    cheap and hot. Each rates some cups, with noise σ = 1; an answer alone hardly tells its kind, all of one person do.

    Parameters
    ----------
    people : int
        How many.
    answers : int
        How many cups each rates.
    seed : int
        Seed of everything.

    Returns
    -------
    Dataset
        n = 6; the truth is in `vectors`, `intercept`, `weights` and `model`.

    Examples
    --------
    >>> import mixsense as ms
    >>> data = ms.datasets.crowd(people=300, answers=6)
    >>> r = ms.fit(data.X, data.y, data.groups, intercept=True, features=data.names)
    >>> r.status, r.vectors.shape, ms.match_error(r.vectors, data.vectors) < 0.5
    ('budget', (3, 6), True)
    """
    people = as_int("people", people, 1, "how many people answer")
    answers = as_int("answers", answers, 1, "how many questions each of them answers")
    rng = generator(seed)
    model = np.repeat(rng.choice(len(SHARES), people, p=SHARES), answers)
    Z = rng.uniform(-1, 1, (people * answers, len(NAMES)))
    y = LEVELS[model] + np.einsum("ij,ij->i", Z, EFFECTS[model]) + NOISE * rng.standard_normal(len(model))
    vectors = EFFECTS / HALF
    return Dataset(
        X=CENTRE + HALF * Z,
        y=y,
        groups=np.repeat(np.arange(people), answers),
        names=NAMES,
        answer="liking",
        source="simulated",
        vectors=vectors,
        intercept=LEVELS - vectors @ CENTRE,
        weights=SHARES,
        model=model,
    )
