"""What a method returns: the vectors, how sure it is, and the story of how it got there."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes


STATUSES = {
    "certified": "the promised precision is reached",
    "single": "the answers support one vector only; both rows are equal",
    "budget": "max_queries ran out; the best estimate so far",
    "uncertain": "finished, but a check failed; diagnostics['warnings'] says which",
    "open": "the study goes on; the best estimate so far",
}
"""Every status, with its meaning."""

SHOWN = 25
"""A summary lists at most so many coefficients."""


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

    def _rows(self, names: Sequence[str] | None) -> tuple[list[tuple[str, ...]], int]:
        n = self.vectors.shape[1]
        names = self.names if names is None else list(names)
        if names is not None and len(names) != n:
            raise InvalidInput(f"{len(names)} names for {n} coefficients: give one name for each", names=names)
        size = np.abs(self.vectors).max(axis=0)
        worth = np.flatnonzero(size > 0.01 * size.max(initial=0.0))
        shown = worth[np.argsort(-size[worth], kind="stable")][:SHOWN]

        def cell(i: int, j: int) -> str:
            error = "" if self.stderr is None else f" ± {self.stderr[i, j]:.3f}"
            return f"{self.vectors[i, j]:+.3f}{error}" if abs(self.vectors[i, j]) >= 0.0005 * size.max() else "·"

        labels = range(n) if names is None else names
        rows: list[tuple[str, ...]] = [(str(labels[j]), cell(0, j), cell(1, j)) for j in sorted(shown)]
        hidden = len(worth) - len(rows)
        if self.intercept is not None:
            error = np.full(2, np.nan) if self.intercept_stderr is None else self.intercept_stderr
            cells = [f"{a:+.3f} ± {e:.3f}" for a, e in zip(self.intercept, error, strict=True)]
            rows.append(("(intercept)", *cells))
        return rows, hidden

    def _headline(self) -> str:
        bound = f"error at most {self.error_bound:.3g}" if math.isfinite(self.error_bound) else "no error bound"
        shares = (
            "" if self.weights[0] == self.weights[1] else f", shares {self.weights[0]:.2f} and {self.weights[1]:.2f}"
        )
        return f"{self.status}: {STATUSES[self.status]}; {self.queries:,} answers, {bound}{shares}"

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
        a              +1.000         ·
        b                   ·    +2.000
        """
        rows, hidden = self._rows(names)
        table = [("coefficient", "vector 1", "vector 2"), *rows]
        first, *others = (max(len(row[column]) for row in table) for column in range(3))
        lines = [
            "  ".join([row[0].ljust(first), *(c.rjust(w) for c, w in zip(row[1:], others, strict=True))])
            for row in table
        ]
        more = [f"({hidden} smaller coefficients are not shown)"] if hidden else []
        warnings = [f"warning: {text}" for text in self.diagnostics.get("warnings", [])]
        return "\n".join([self._headline(), *lines, *more, *warnings])

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        rows, hidden = self._rows(None)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in row)}</tr>" for row in rows)
        more = f"<p>({hidden} smaller coefficients are not shown)</p>" if hidden else ""
        warnings = "".join(f"<p>⚠ {html.escape(w)}</p>" for w in self.diagnostics.get("warnings", []))
        return (
            f"<p><b>mixsense</b> {html.escape(self._headline())}</p><table><thead><tr><th>coefficient</th>"
            f"<th>vector 1</th><th>vector 2</th></tr></thead><tbody>{body}</tbody></table>{more}{warnings}"
        )

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
