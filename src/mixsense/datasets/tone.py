"""Cohen's tone perception data."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mixsense.datasets.dataset import Dataset

FILE = Path(__file__).with_name("tone.csv")
SOURCE = (
    "E. A. Cohen, Inharmonic tone perception, Ph.D. thesis, Stanford University, 1980: 150 trials of one musician; the "
    "classic example of a mixture of regressions since R. D. De Veaux, 1989"
)


def tone() -> Dataset:
    """Return Cohen's 150 trials: a musician tunes a tone whose overtones are stretched.

    A pure tone with overtones stretched by `stretchratio` is played, and she tunes another one to its octave, `tuned`:
    either to the nominal octave, a ratio of 2, or to the stretched one. So there are two lines, one flat and one
    of slope 1, and which of them a trial follows is hidden.

    Returns
    -------
    Dataset
        n = 1, no groups.

    Examples
    --------
    >>> import mixsense as ms
    >>> X, y, *_ = ms.datasets.tone()
    >>> r = ms.fit(X, y, models=2, intercept=True)
    >>> r.vectors.ravel().round(2).tolist(), r.weights.round(1).tolist()
    ([0.04, 0.99], [0.7, 0.3])
    """
    table = np.loadtxt(FILE, delimiter=",", skiprows=1)
    return Dataset(table[:, :1], table[:, 1], None, ("stretchratio",), "tuned", SOURCE)
