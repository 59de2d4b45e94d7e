"""What an example data set is: everything that `fit` takes, and the truth where there is one."""

from __future__ import annotations

from typing import Any, NamedTuple

from mixsense.arrays import Array, Index
from mixsense.checks import require


class Dataset(NamedTuple):
    """A table of queries and answers."""

    X: Array
    """(N, n), what was asked."""
    y: Array
    """(N,), the answers."""
    groups: Index | None
    """(N,), who answered; None where that is not known."""
    names: tuple[str, ...]
    """What the columns are called."""
    answer: str
    """What the answer is called."""
    source: str
    """Where the data come from."""
    vectors: Array | None = None
    """(L, n), the models, where the data are simulated."""
    intercept: Array | None = None
    """(L,), their constants."""
    weights: Array | None = None
    """(L,), their shares."""
    model: Index | None = None
    """(N,), the model of each answer."""

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame: the columns, the answer and, where it is known, `person`."""
        pd = require("pandas", "sklearn", "data frames need")
        frame = pd.DataFrame(self.X, columns=list(self.names)).assign(**{self.answer: self.y})
        return frame if self.groups is None else frame.assign(person=self.groups)
