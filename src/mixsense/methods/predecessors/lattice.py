"""The noisy scheme of Krishnamurthy, Mazumdar, McGregor and Pal (2019): coefficients on a grid, any L."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Mask
from mixsense.checks import as_int
from mixsense.decode import basis_pursuit
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.anchor import Anchor, find_anchor
from mixsense.methods.predecessors.ending import ended, fewer_models
from mixsense.methods.predecessors.grid import answers_to_read, check_grid, misfits, off_grid, rows_to_begin
from mixsense.methods.predecessors.grid_means import grid_means, pairings
from mixsense.methods.verification.verify import verified
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Round


def lattice(
    problem: Problem,
    rng: np.random.Generator,
    step: float | None = None,
    m: int | None = None,
    batch: int | None = None,
) -> Method[Recovery]:
    """Recover sparse vectors whose coefficients are multiples of `step` from noisy answers.

    Parameters
    ----------
    problem : Problem
        n and σ, at most two steps; k helps. Models "auto" are as many as the answers to one query of large entries
        show.
    rng : Generator
        Draws the queries.
    step : float
        Every coefficient is a multiple of it.
    m : int, optional
        Number of ±1 rows to begin with; 2 k log(n/k + 1) + 10 by default, and more until the vectors explain all that
        are kept.
    batch : int, optional
        How often each query is asked; what L, σ and step call for by default.

    Returns
    -------
    Recovery
        "certified" if every row that was kept is exactly the vectors'. ``diagnostics["dropped"]`` are the rows whose
        means could not be sorted by model.

    Notes
    -----
    READ (abstract): more than two models with noise; Gaussian mixtures and error-correcting codes as tools.
    REMEMBERED, not checked against the text: queries of whole numbers, so that all means are on the grid; ±1 rows;
    alignment by a query of random whole numbers from a box and its combination with each row; rows that cannot be
    aligned are erased. Derived here, everything else: (1) one anchor of entries −20 … 20 for all rows, drawn again
    until the answers to it fall into clusters; (2) the likeliest whole means as a set with repetition, of equal
    shares; (3) a row is kept if its means and the anchor's add up to those of their sum in exactly one way; (4) basis
    pursuit, with a column of its own for the error of each row if need be, rounding to the grid, and a check of every
    kept row; (5) rows that do not fit are asked again, and rows are added until all fit. Where the error-correcting
    code enters is not remembered.

    Examples
    --------
    >>> import mixsense as ms
    >>> pair = np.rint(3 * ms.random_pair(100, 5, gap=3.0, seed=1))
    >>> oracle = ms.SimulatedOracle(pair, sigma=0.5, seed=2)
    >>> r = ms.recover(oracle, 100, k=5, sigma=0.5, method="lattice", step=1.0, seed=3)
    >>> r.status, ms.match_error(r.vectors, pair)
    ('certified', 0.0)
    """
    step = check_grid(problem, step, "lattice")
    if not problem.sigma:
        raise InvalidInput("sigma is 0: method='lattice' is for answers with noise; use method='noiseless'")
    anchor = yield from find_anchor(problem, step, rng)
    L = len(anchor.means)
    T = batch if batch is not None else answers_to_read(L, problem.sigma / step, tuning.UNHEARD)
    rows = Rows(problem, anchor, step, as_int("batch", T, 2, "how often each query is asked"))
    k = problem.k or tuning.GUESSED_K
    wanted = rows_to_begin(problem.n, k) if m is None else as_int("m", m, 1, "the number of rows to begin with")
    most = tuning.MOST_ROWS * (wanted if problem.k or m else problem.n)
    yield from rows.ask(wanted, rng)
    while not rows.fit() and rows.count < most and not off_grid(rows.misfit, 2 * L, step):
        if rows.nearly():
            yield from rows.ask_again()
        else:
            yield from rows.ask(math.ceil(tuning.MORE * rows.count), rng)
    return (yield from verified(rows.result(), problem, rng))


class Rows:
    """±1 rows, what was read of them, and the vectors that explain them."""

    def __init__(self, problem: Problem, anchor: Anchor, step: float, repeats: int) -> None:
        self.problem, self.anchor, self.step, self.repeats = problem, anchor, step, repeats
        n, L = problem.n, len(anchor.means)
        self.V = np.empty((0, n))
        self.values = np.empty((0, L))  # of each model, in steps; NaN if the row is not kept
        self.misfit = np.empty(0)
        self.answers = np.empty((0, 2, repeats))  # to the row, and to its sum with the anchor
        self.vectors = np.zeros((L, n))
        self._again = 0

    @property
    def count(self) -> int:
        """Number of rows, kept or not."""
        return len(self.V)

    @property
    def kept(self) -> Mask:
        """Which rows could be sorted by model."""
        return ~np.isnan(self.values[:, 0])

    def ask(self, rows: int, rng: np.random.Generator) -> Method[None]:
        """Ask new rows."""
        V = rng.choice([-1.0, 1.0], (rows, self.problem.n))
        new = yield from self._read(V, f"rows {self.count} to {self.count + rows - 1}")
        self.V = np.concatenate([self.V, V])
        known = self.values, self.misfit, self.answers
        self.values, self.misfit, self.answers = (np.concatenate(both) for both in zip(known, new, strict=True))

    def ask_again(self) -> Method[None]:
        """Ask the rows again that do not fit; the new answers replace the old ones."""
        wrong = np.flatnonzero(self.kept & ~self._right())
        self._again += 1
        new = yield from self._read(self.V[wrong], f"{len(wrong)} rows again")
        self.values[wrong], self.misfit[wrong], self.answers[wrong] = new

    def _read(self, V: Array, label: str) -> Method[tuple[Array, Array, Array]]:
        both = np.concatenate([V, V + self.anchor.query])
        estimate = (lambda: self.result("budget")) if self.count else None
        asked = yield Round(both, self.repeats, label=label, estimate=estimate)
        sigma, L = self.problem.sigma or 0.0, len(self.anchor.means)
        means, misfit = grid_means(asked.table() / self.step, L, sigma / self.step)
        values = np.full((len(V), L), np.nan)
        for i, (own, joined) in enumerate(zip(means[: len(V)], means[len(V) :], strict=True)):
            ways = pairings(self.anchor.means, own, joined)
            if len(ways) == 1:
                values[i] = ways[0]
        halves = asked.table().reshape(2, len(V), -1)
        return values, misfit[: len(V)] + misfit[len(V) :], halves.transpose(1, 0, 2)

    def _right(self) -> Mask:
        """Which rows are exactly the vectors', for all models."""
        return np.asarray((self.V @ (self.vectors.T / self.step) == self.values).all(axis=1))

    def fit(self) -> bool:
        """Decode, and return whether every kept row is explained."""
        A, kept = self.V[self.kept], self.values[self.kept]
        if len(A) < 2:
            return False
        scale = 1 / math.sqrt(len(A))
        for errors in (np.empty((len(A), 0)), np.eye(len(A))):  # the second time a few rows may be misread
            wide = np.hstack([A * scale, errors])
            try:
                found = [basis_pursuit(wide, b * scale).value[: self.problem.n] for b in kept.T]
            except MixsenseError:  # no vector has all these values: some are misread, or dependent rows stop it
                continue
            self.vectors = np.rint(np.stack(found)) * self.step
            if self.certain():
                return True
            if self.nearly():
                return False
        return False

    def certain(self) -> bool:
        """Whether every kept row is explained by vectors that these rows determine."""
        most = int((self.vectors != 0).sum(axis=1).max())
        return bool(self._right()[self.kept].all()) and tuning.DETERMINED * most < int(self.kept.sum())

    def nearly(self) -> bool:
        """Whether a few rows are misread, it seems: most are explained."""
        kept = int(self.kept.sum())
        wrong = kept - int(self._right()[self.kept].sum())
        return 0 < wrong <= tuning.MISREAD * kept and self._again < tuning.AGAIN

    def result(self, status: str | None = None) -> Recovery:
        """Return the vectors and what is known of them."""
        wanted, L = self.problem.given_models, len(self.anchor.means)
        warnings = off_grid(self.misfit, 2 * L, self.step)
        vectors, kept = self.vectors, int(self.kept.sum())
        if self.certain():
            X = np.concatenate([self.V, self.V + self.anchor.query])
            answers = np.concatenate([self.answers[:, 0], self.answers[:, 1]])
            sigma = self.problem.sigma or 1.0
            warnings += misfits(X, answers, vectors, sigma, self.step)
            warnings = warnings or self.anchor.doubts(vectors, sigma, self.step)
        else:
            warnings.append(
                f"{kept} of {self.count} rows were kept, and the vectors explain {int(self._right().sum())} of them: "
                "the vectors are not on the grid or not sparse, shares differ, or sigma is larger than given; use "
                "method='frugal'"
            )
        if wanted is not None and L < wanted:
            if L == 1 and not warnings:
                vectors = np.tile(vectors, (wanted, 1))
            else:
                warnings.append(fewer_models(wanted, L))
        how = "uncertain" if warnings else "single" if L == 1 else "certified"
        story = {
            "method": "lattice",
            "models": L,
            "repeats": self.repeats,
            "m": self.count,
            "dropped": self.count - kept,
            "asked_again": self._again,
            "warnings": warnings,
        }
        return ended(vectors, status or how, self.problem, story)
