"""Robust Mixed-Coloring: two models on a grid, with Gaussian noise."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.errors import InvalidInput, ModelError
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.anchor import Anchor, find_anchor
from mixsense.methods.predecessors.bins import Layers
from mixsense.methods.predecessors.density import Design
from mixsense.methods.predecessors.found import Found, Whole
from mixsense.methods.predecessors.grid import answers_to_read, check_grid, misfits, off_grid
from mixsense.methods.predecessors.grid_means import grid_means
from mixsense.methods.predecessors.peeling import Colour, Measured
from mixsense.methods.predecessors.rateless import layers_until_explained
from mixsense.problem import AUTO, Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method

MODELS = tuning.ROBUST_MODELS


def robust(
    problem: Problem, rng: np.random.Generator, step: float | None, bins: int | None, rateless: bool
) -> Method[Recovery]:
    """Recover two sparse vectors whose coefficients are multiples of `step` from noisy answers; see `coloring`.

    Notes
    -----
    READ (abstract): two models, Gaussian noise, Θ(K polylog n). REMEMBERED: the grid; per bin Θ(log n) queries that
    code signs and indices; the two means of each by EM, rounded to the grid; sum queries in place of the summation
    check. Derived here, everything else: (1) a random sign row, one row for each bit of the index, four random sign
    rows that check it, and the sums of the first with each other row; (2) the likeliest whole means, from the likeliest
    real ones; (3) a row belongs to the first one's order if exactly one of two pairings has the sum's means, else the
    bin is left out; (4) bins that two complete vectors do not explain are asked again; (5) the certificate asks that
    every position is in a bin that was read; (6) how many models there are is seen first, as "lattice" does it. What is
    known to fail: two coefficients of one vector that cancel in the first row, ±a and ∓a, leave their bin unread
    whenever they meet, so that a vector of these two alone has no owner, and nothing is certified.
    """
    step = check_grid(problem, step, "coloring")
    if problem.models not in (AUTO, MODELS):
        raise InvalidInput(
            f"models is {problem.models}: with noise Mixed-Coloring recovers two; use method='lattice' or 'frugal'",
            models=problem.models,
        )
    noise = (problem.sigma or 0.0) / step
    repeats = answers_to_read(MODELS, noise, tuning.ROBUST_RISK, tuning.ROBUST_CARE)
    design = Design(repeats, tuning.ROBUST_LAYERS, tuning.ROBUST_BINS)
    # Halves of one vector that never meet look like two.
    anchor = yield from find_anchor(problem, step, rng.spawn(1)[0])
    if len(anchor.means) > MODELS:
        raise ModelError(
            f"the answers to one query fall into {len(anchor.means)} clusters: with noise Mixed-Coloring recovers two; "
            "use method='lattice' or 'frugal'"
        )
    whole = Whole(anchor.query, np.sort(anchor.means.astype(np.float64)) * step, step / 4)
    found = Found(problem, Signs(problem.n, step, noise, anchor, rng), whole, design)
    return (yield from layers_until_explained(found, bins, rateless, rng))


class Signs:
    """The code of a position: P signs, of which one is random, ⌈log₂ n⌉ write the index, and four check it."""

    def __init__(self, n: int, step: float, noise: float, anchor: Anchor, rng: np.random.Generator) -> None:
        self.n, self.step, self.noise, self.anchor = n, step, noise, anchor
        self.bits = max(1, math.ceil(math.log2(n)))
        first = rng.choice([-1.0, 1.0], n)
        written = 1.0 - 2.0 * (np.arange(n) >> np.arange(self.bits)[:, None] & 1)
        self.signs = np.vstack([first, first * written, rng.choice([-1.0, 1.0], (tuning.CHECK_ROWS, n))])  # (P, n)
        self.signatures = np.vstack([self.signs, self.signs[0] + self.signs[1:]])  # (2P − 1, n)
        self._misfit: dict[int, float] = {}
        self._zeros: set[int] = set()
        self._read: set[int] = set()

    def column(self, position: int) -> Array:
        """Return the signature of a position, (P,)."""
        return self.signs[:, position]

    def singletons(self, values: Array, tolerance: float) -> tuple[Index, Array]:
        """Return the ball that alone makes each row: equal sizes, the index in the signs, and the check rows agree."""
        some = np.abs(values[:, 0]) > tolerance
        turned = (values[:, 1 : 1 + self.bits] * values[:, :1] < 0).astype(np.intp)  # (r, bits)
        position = turned @ (1 << np.arange(self.bits))
        some &= position < self.n
        position[~some] = 0
        value = values[:, 0] * self.signs[0, position]
        right = some & (np.abs(values - value[:, None] * self.signs[:, position].T) <= tolerance).all(axis=1)
        return np.where(right, position, -1), value

    def measured(self, answers: Array, first: int = 0) -> list[Measured]:
        """Read the two means of each query, and sort them by model; bins that cannot be sorted are left out."""
        bins, rows, T = answers.shape
        means, misfit = grid_means(answers.reshape(-1, T) / self.step, MODELS, self.noise)
        means, misfit = means.reshape(bins, rows, MODELS), misfit.reshape(bins, rows)
        P, found = len(self.signs), []
        base, others, sums = means[:, :1], means[:, 1:P], means[:, P:]  # (bins, 1 or P − 1, 2)
        straight = (np.sort(base + others, axis=2) == sums).all(axis=2)
        swapped = (np.sort(base + others[..., ::-1], axis=2) == sums).all(axis=2)
        same = others[..., 0] == others[..., 1]
        clear = (same & straight) | (straight != swapped)
        ordered = np.where(straight[..., None], others, others[..., ::-1])
        values = np.concatenate([base, ordered], axis=1)  # (bins, P, 2)
        self._misfit |= dict(enumerate(misfit.sum(axis=1).tolist(), first))
        self._zeros -= set(range(first, first + bins))
        self._read -= set(range(first, first + bins))
        for i in np.flatnonzero(clear.all(axis=1)):
            number = first + int(i)
            self._read.add(number)
            for z in values[i].T:
                if z.any():
                    found.append(Measured(number, z * self.step, self.step / 4))
                else:
                    self._zeros.add(number)
        return found

    def left(self, answers: list[Array], colours: list[Colour], layers: Layers) -> Array:
        """Return a 0 for each bin that one model has no coefficient in, if every colour has one there."""
        return np.zeros(sum(all(number in colour.sums for colour in colours) for number in self._zeros))

    def unread(self, layers: Layers) -> int:
        """Return how many positions have been in bins only that were left out."""
        seen = np.zeros(self.n, dtype=np.bool_)
        for bin_of, first in zip(layers.bin_of, layers.first, strict=False):
            seen |= np.isin(bin_of.astype(np.intp) + first, list(self._read))
        return int((~seen).sum())

    def misfits(self, answers: list[Array], colours: list[Colour], layers: Layers) -> list[str]:
        """Say if a coefficient is off its multiple of the step by more than chance."""
        from scipy.sparse import vstack

        vectors = np.zeros((MODELS, self.n))
        for row, colour in zip(vectors, colours, strict=False):
            support, values = colour.coefficients
            row[support] = values
        vectors[len(colours) :] = vectors[:1]  # one model alone is both
        X = vstack([layers.rows(layer, self.signatures) for layer in range(len(layers))], format="csr")
        y = np.concatenate([part.reshape(-1, part.shape[2]) for part in answers])
        sigma = self.noise * self.step
        return misfits(X, y, vectors, sigma, self.step) or self.anchor.doubts(vectors, sigma, self.step)

    def doubts(self) -> list[str]:
        """Say if the answers lie between the multiples of the step."""
        return off_grid(np.array(list(self._misfit.values())), len(self.signatures) * MODELS, self.step)
