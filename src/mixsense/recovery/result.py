"""What a method returns: the vectors, how sure it is, and the story of how it got there."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.recovery.statuses import STATUSES
from mixsense.recovery.tables import as_html, as_table, as_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Recovery:
    """The recovered vectors with their diagnostics.

    Attributes
    ----------
    vectors : (2, n) array
        The recovered vectors. Their order tells nothing, unless shares were given: frugal puts the one with the larger
        share first, and of equal shares the one with the larger coefficient where the two differ most.
    status : str
        "certified", "single", "budget" or "uncertain", and "open" while a study goes on; see `STATUSES`.
    queries : int
        Number of answers used.
    error_bound : float
        Bound on the worst ℓ2 error that holds with probability 1 − η; inf if nothing can be promised.
    sigma : float
        Standard deviation of the noise, as given or measured.
    weights : (2,) array
        Shares of the two vectors.
    stderr : (2, n) array or None
        Standard error of each coefficient, where the method has one.
    diagnostics : dict
        How the method got there; plain values only, so that it can be stored as JSON.
    intercept, intercept_stderr : (2,) array or None
        The constant of each model and its standard error, where one was asked for.
    names : tuple of str or None
        What the coefficients are called.

    Examples
    --------
    >>> r = Recovery(np.array([[1.0, 0.0], [0.0, 2.0]]), status="certified", queries=10, error_bound=0.1, sigma=1.0)
    >>> Recovery.from_json(r.to_json()) == r
    True
    """

    vectors: Array
    status: str
    queries: int = 0
    error_bound: float = math.inf
    sigma: float = math.nan
    weights: Array = field(default_factory=lambda: np.array([0.5, 0.5]))
    stderr: Array | None = None
    diagnostics: dict[str, Any] = field(default_factory=dict)
    intercept: Array | None = None
    intercept_stderr: Array | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise InvalidInput(f"status is {self.status!r}; it must be one of {', '.join(STATUSES)}")
        for name in ("vectors", "weights", "stderr", "intercept", "intercept_stderr"):
            value = getattr(self, name)
            if value is not None:
                value = np.array(value, dtype=np.float64)
                value.flags.writeable = False
                object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recovery) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def summary(self, names: Sequence[str] | None = None) -> str:
        """Return the result as a table of text.

        Parameters
        ----------
        names : sequence of str, optional
            A name for each of the n coefficients; the recovery's own `names`, or their positions, by default.

        Examples
        --------
        >>> print(Recovery(np.array([[1.0, 0.0], [0.0, 2.0]]), "certified", 10, 0.1, 1.0).summary(["a", "b"]))
        certified: the promised precision is reached; 10 answers, error at most 0.1
        coefficient  vector 1  vector 2
        a              +1.000     ·
        b               ·        +2.000
        """
        return as_text(as_table(self, names))

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return as_html(as_table(self))

    def plot(self, truth: Any = None) -> Axes:
        """Draw both vectors; with `truth`, beside the true ones. Returns matplotlib Axes."""
        from mixsense.recovery.picture import plot_recovery

        return plot_recovery(self, truth)

    def to_json(self) -> str:
        """Return the result as JSON text, every float to the last bit (NaN and infinity as null)."""
        return json.dumps(
            {
                "mixsense": 1,
                "status": self.status,
                "queries": self.queries,
                "error_bound": _finite(self.error_bound),
                "sigma": _finite(self.sigma),
                "weights": self.weights.tolist(),
                "vectors": self.vectors.tolist(),
                "stderr": None if self.stderr is None else self.stderr.tolist(),
                "diagnostics": self.diagnostics,
                "intercept": None if self.intercept is None else self.intercept.tolist(),
                "intercept_stderr": None if self.intercept_stderr is None else self.intercept_stderr.tolist(),
                "names": None if self.names is None else list(self.names),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Recovery:
        """Read what `to_json` wrote."""
        try:
            data = json.loads(text)
            if data["mixsense"] != 1:
                raise InvalidInput(f"this result has format {data['mixsense']}; this program reads format 1: update it")
            return cls(
                vectors=np.array(data["vectors"], dtype=np.float64),
                status=data["status"],
                queries=data["queries"],
                error_bound=math.inf if data["error_bound"] is None else data["error_bound"],
                sigma=math.nan if data["sigma"] is None else data["sigma"],
                weights=np.array(data["weights"], dtype=np.float64),
                stderr=None if data["stderr"] is None else np.array(data["stderr"], dtype=np.float64),
                diagnostics=data["diagnostics"],
                intercept=data.get("intercept"),
                intercept_stderr=data.get("intercept_stderr"),
                names=None if data.get("names") is None else tuple(data["names"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"not a mixsense result ({error}): give the text that to_json() returned") from None


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
