"""What a method returns: the vectors, how sure it is, and the story of how it got there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.checks import as_int, as_vectors, shown
from mixsense.errors import InvalidInput
from mixsense.recovery.fields import interval_of, known_or, names_of, noise_of, of_shape, shares_of, story_of
from mixsense.recovery.statuses import STATUSES
from mixsense.recovery.stored import as_json, fields_of, no_result, read
from mixsense.recovery.tables import as_html, as_table, as_text, error_text
from mixsense.recovery.uses import LEVEL, Prediction, effects, lapses, predict, responsibilities, to_frame
from mixsense.scales import Probability, Rating, scale_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ANSWERS = 10**18
"""A larger number of answers is a mistake, and fits into no database."""


@dataclass(frozen=True, slots=True, repr=False)
class Recovery:
    """The recovered vectors with their diagnostics.

    Attributes
    ----------
    vectors : (L, n) array
        The recovered vectors: as many as were found or, if ``models=L`` says so, L of them. If the answers support one
        only, that is one row or, with ``models=L``, L equal rows. Frugal shows them in the order of the shares that
        were given; estimated ones the largest first; those with equal shares by their coefficients where they differ
        most, the largest first. With other methods the order tells nothing.
    status : str
        "certified", "single", "budget" or "uncertain", and "open" while a study goes on; see `STATUSES`.
    queries : int
        Number of answers used.
    error_bound : float
        Bound on the worst ℓ2 error that holds with probability 1 − η; inf if nothing can be promised.
    sigma : float or (L,) array
        Standard deviation of the noise, as given or measured; where each model has its own, one for each.
    weights : (L,) array
        Shares of the vectors, given or estimated; equal if left out, and where the answers support one vector only.
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
    covariance : (L, p, p) array or None
        Covariance of the errors of each model's p coefficients, the intercept last if there is one; where it is known
        and short enough to keep.
    interval : (L, n, 2) array or None
        95 % interval of each coefficient, where the method has one, for those that were not found, too; infinite where
        nothing is known. A coefficient in `vectors` is shrunk to 0 where it is doubtful, its interval is not.

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
    sigma: float | Array = math.nan
    weights: Array = field(default=None)  # type: ignore[arg-type]  # equal ones, made when L is known
    stderr: Array | None = None
    diagnostics: dict[str, Any] = field(default_factory=dict)
    intercept: Array | None = None
    intercept_stderr: Array | None = None
    names: tuple[str, ...] | None = None
    weights_stderr: Array | None = None
    covariance: Array | None = None
    interval: Array | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

        if not isinstance(self.status, str) or self.status not in STATUSES:
            raise InvalidInput(f"status is {shown(self.status)}; it must be one of {', '.join(STATUSES)}")
        put("vectors", as_vectors(self.vectors))
        L, n = self.vectors.shape
        put("queries", as_int("queries", self.queries, 0, "the number of answers used", MOST_ANSWERS))
        put("error_bound", known_or("error_bound", self.error_bound, math.inf))
        put("sigma", noise_of(self.sigma, L))
        put("weights", shares_of(self.weights, L))
        p = n if self.intercept is None else n + 1
        for name, shape in (
            ("stderr", (L, n)),
            ("intercept", (L,)),
            ("intercept_stderr", (L,)),
            ("weights_stderr", (L,)),
            ("covariance", (L, p, p)),
        ):
            if getattr(self, name) is not None:
                put(name, of_shape(name, getattr(self, name), shape))
        if self.interval is not None:
            put("interval", interval_of(self.interval, (L, n, 2)))
        put("diagnostics", story_of(self.diagnostics, n))
        if self.names is not None:
            put("names", names_of(self.names, n))

    @property
    def scale(self) -> Rating | Probability | None:
        """How answers are made of the linear value; None for real numbers, which are the value itself."""
        return scale_of(self.diagnostics.get("scale"))

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
        (no ±: this method gives no standard errors)
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
        """Draw the vectors, or the effects of half of each range where those are known, with error bars.

        Parameters
        ----------
        truth : (L, n) array_like, optional
            The true vectors, drawn on the left; there may be more or fewer than were recovered.

        Returns
        -------
        matplotlib Axes
            The last one; ``axes.figure.savefig("picture.png")`` keeps the picture. Its title counts what is not shown.
        """
        from mixsense.recovery.picture import plot_recovery

        return plot_recovery(self, truth)

    def predict(self, x: Any, level: float = LEVEL) -> Prediction:
        """Return what each model would answer to queries, with intervals.

        Parameters
        ----------
        x : (q, n) or (n,) array_like, data frame, dict or list of dicts
            The queries; of a data frame, the columns that are called as the coefficients; of dicts, these names.
        level : float
            Probability of the intervals.

        Returns
        -------
        Prediction
            `mean` (q, L), `interval` (q, L, 2) of the expected answer, `answers` (q, L, 2) of one answer with its
            noise, and `overall` (q,), the mean over the shares. Without a `covariance` the errors of the coefficients
            are taken for independent; without standard errors the intervals are NaN.

        Examples
        --------
        >>> vectors, stderr = np.array([[1.0, 0.0], [0.0, 2.0]]), np.full((2, 2), 0.1)
        >>> r = Recovery(vectors, "budget", weights=[0.75, 0.25], stderr=stderr)
        >>> found = r.predict([1.0, 1.0])
        >>> found.mean, found.overall, found.interval[0, 0].round(2)
        (array([[1., 2.]]), array([1.25]), array([0.72, 1.28]))
        """
        return predict(self, x, level)

    def responsibilities(self, X: Any, y: ArrayLike, groups: Any = None) -> Array:
        """Return the probability that each answer came from each model, (N, L).

        Parameters
        ----------
        X : (N, n) array_like or data frame
            The queries.
        y : (N,) array_like
            The answers to them.
        groups : (N,) array_like, optional
            Which answers share a model, as labels; all different by default.

        Examples
        --------
        >>> r = Recovery(np.array([[1.0], [-1.0]]), "budget", sigma=1.0)
        >>> r.responsibilities([[1.0], [1.0]], [0.0, 3.0]).round(2).tolist()
        [[0.5, 0.5], [1.0, 0.0]]
        >>> r.responsibilities([[1.0], [1.0]], [0.0, 3.0], groups=["ann", "ann"]).round(2).tolist()
        [[1.0, 0.0], [1.0, 0.0]]
        """
        return responsibilities(self, X, y, groups)

    def lapses(self, X: Any, y: ArrayLike, groups: Any = None) -> Array:
        """Return the probability that each answer is a lapse, which has nothing to do with the query, (N,).

        Lapses are in the model where ``diagnostics["lapses"]`` has their share: `recover` looks for them, `fit` does
        with ``lapses=True``. Elsewhere all probabilities are 0.

        Parameters
        ----------
        X, y, groups
            As for `responsibilities`.

        Examples
        --------
        >>> r = Recovery([[1.0]], "budget", sigma=1.0, diagnostics={"lapses": 0.05, "lapse_width": 20.0})
        >>> r.lapses([[1.0], [1.0]], [1.5, 8.0]).round(2)
        array([0.01, 1.  ])
        """
        return lapses(self, X, y, groups)

    def effects(self) -> dict[str, Array]:
        """Return what half of each feature's range does to the answer, of each model: name to (L,) array.

        The ranges are those of the data (`fit`) or of the box (`recover`); without either there are no effects.
        """
        return effects(self)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each coefficient of each model, and its 95 % interval."""
        return to_frame(self)

    def to_html(self, title: str = "Recovered models") -> str:
        """Return the result as a page for people, with its picture: one file that needs nothing else, and runs nothing.

        Examples
        --------
        >>> page = Recovery([[1.0, 0.0], [0.0, 2.0]], "certified", 10, 0.1).to_html("Tea")
        >>> "<h1>Tea</h1>" in page, "data:image/svg+xml" in page
        (True, True)
        """
        from mixsense.recovery.page import as_page
        from mixsense.recovery.picture import drawn

        return as_page(self, title, drawn(self.plot(), "svg"))

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
