"""What a method returns: the vectors, how sure it is, and the story of how it got there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_float, as_int, as_reals, as_vectors, shown
from mixsense.errors import InvalidInput
from mixsense.recovery.statuses import STATUSES
from mixsense.recovery.stored import as_json, fields_of, no_result, read
from mixsense.recovery.tables import as_html, as_table, as_text, error_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ANSWERS = 10**18
"""A larger number of answers is a mistake, and fits into no database."""
ROUNDED = 1e-6
"""Shares may miss the sum of 1 by this much."""


@dataclass(frozen=True, slots=True, repr=False)
class Recovery:
    """The recovered vectors with their diagnostics.

    Attributes
    ----------
    vectors : (L, n) array
        The L recovered vectors: two, unless a method of your own finds another number. Their order tells nothing,
        unless shares were given: frugal puts the one with the larger share first, and of equal shares the one with the
        larger coefficient where the two differ most.
    status : str
        "certified", "single", "budget" or "uncertain", and "open" while a study goes on; see `STATUSES`.
    queries : int
        Number of answers used.
    error_bound : float
        Bound on the worst ℓ2 error that holds with probability 1 − η; inf if nothing can be promised.
    sigma : float
        Standard deviation of the noise, as given or measured.
    weights : (L,) array
        Shares of the vectors; equal if left out.
    stderr : (L, n) array or None
        Standard error of each coefficient, where the method has one; NaN where it has none.
    diagnostics : dict
        How the method got there; plain values only, so that it can be stored as JSON.
    intercept, intercept_stderr : (L,) array or None
        The constant of each model and its standard error, where one was asked for.
    names : tuple of str or None
        What the coefficients are called.
    weights_stderr : (L,) array or None
        Standard error of each share, where shares were estimated.

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
    weights: Array = field(default=None)  # type: ignore[arg-type]  # equal ones, made when L is known
    stderr: Array | None = None
    diagnostics: dict[str, Any] = field(default_factory=dict)
    intercept: Array | None = None
    intercept_stderr: Array | None = None
    names: tuple[str, ...] | None = None
    weights_stderr: Array | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

        if not isinstance(self.status, str) or self.status not in STATUSES:
            raise InvalidInput(f"status is {shown(self.status)}; it must be one of {', '.join(STATUSES)}")
        put("vectors", as_vectors(self.vectors, "vectors", models=None))
        L, n = self.vectors.shape
        put("queries", as_int("queries", self.queries, 0, "the number of answers used", MOST_ANSWERS))
        put("error_bound", _known_or("error_bound", self.error_bound, math.inf))
        put("sigma", _known_or("sigma", self.sigma, math.nan))
        put("weights", _shares(self.weights, L))
        for name, shape in (
            ("stderr", (L, n)),
            ("intercept", (L,)),
            ("intercept_stderr", (L,)),
            ("weights_stderr", (L,)),
        ):
            if getattr(self, name) is not None:
                put(name, _of_shape(name, getattr(self, name), shape))
        put("diagnostics", _story(self.diagnostics))
        if self.names is not None:
            put("names", _names(self.names, n))

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and what comes from another process are read-only, too.
        return Recovery, tuple(getattr(self, entry.name) for entry in fields(self))

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

    def __repr__(self) -> str:
        L, n = self.vectors.shape
        found = f"{L} vector{'s' if L > 1 else ''} of {n:,}"
        return f"<Recovery {self.status}, {found}, {self.queries:,} answers, {error_text(self.error_bound)}>"

    def _repr_html_(self) -> str:
        return as_html(as_table(self))

    def plot(self, truth: Any = None) -> Axes:
        """Draw the vectors, with error bars where there are standard errors.

        Parameters
        ----------
        truth : (L, n) array_like, optional
            The true vectors, drawn on the left.

        Returns
        -------
        matplotlib Axes
            The last one; ``axes.figure.savefig("picture.png")`` keeps the picture. Its title counts what is not shown.
        """
        from mixsense.recovery.picture import plot_recovery

        return plot_recovery(self, truth)

    def to_json(self) -> str:
        """Return the result as JSON text, every float to the last bit (NaN and infinity as null)."""
        return as_json(self)

    @classmethod
    def from_json(cls, text: str) -> Recovery:
        """Read what `to_json` wrote."""
        data = read(text)
        try:
            return cls(**fields_of(data))
        except (KeyError, TypeError, ValueError) as error:
            raise no_result(error) from None


def _known_or(name: str, value: Any, unknown: float) -> float:
    """Return a number of at least 0, or what says that it is not known."""
    if isinstance(value, (float, np.floating)) and (math.isnan(value) or value == unknown):
        return unknown
    return as_float(name, value, f"a number, or {unknown} if it is not known", 0.0)


def _shares(weights: Any, L: int) -> Array:
    if weights is None:
        return np.full(L, 1 / L)
    found = _of_shape("weights", weights, (L,))
    if (found < 0).any() or abs(float(found.sum()) - 1) > ROUNDED:
        raise InvalidInput(f"weights is {shown(found.tolist())}: give shares that sum to 1")
    return found


def _of_shape(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    error = name.endswith("stderr")
    found = as_reals(name, value, f"give an array of shape {shape}", finite=not error)
    if found.shape != shape:
        raise InvalidInput(
            f"{name} has shape {found.shape}; it must be {shape}, to go with the vectors", shape=found.shape
        )
    if error and (found < 0).any():
        raise InvalidInput(f"{name} has a value below 0: {found.min():g}")
    return found


def _story(diagnostics: Any) -> dict[str, Any]:
    if not isinstance(diagnostics, dict) or not all(isinstance(key, str) for key in diagnostics):
        raise InvalidInput(f"diagnostics is {shown(diagnostics)}: give a dict with texts as keys")
    warnings = diagnostics.get("warnings", [])
    if not isinstance(warnings, (list, tuple)) or not all(isinstance(text, str) for text in warnings):
        raise InvalidInput(f"diagnostics['warnings'] is {shown(warnings)}: give a list of texts")
    return dict(diagnostics)


def _names(names: Any, n: int) -> tuple[str, ...]:
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"names is {shown(names)}: give a list of {n} texts")
    if len(names) != n:
        raise InvalidInput(f"{len(names)} names for {n} coefficients: give one name for each", names=names)
    return tuple(names)
