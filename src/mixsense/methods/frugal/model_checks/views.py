"""How a fit sees answers: those that were given, and those that it would give itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import of_groups
from mixsense.regression.tuning import LEAST_LAPSES
from mixsense.scales.lapses import Lapses
from mixsense.scales.scale import terms_of


@dataclass(frozen=True, slots=True)
class View:
    """Answers as a fit sees them."""

    X: Array
    """(N, c), the rows that the answers are linear in."""
    mean: Array
    """(N, L), what each model would answer."""
    residual: Array
    """(N, L), distance from each model."""
    square: Array
    """(N, L), squared distance from each model."""
    P: Array
    """(N, L), probability that the answer came from each model."""
    sigma: Array
    """(L,), noise of each model."""
    weights: Array
    """(L,), shares."""
    group: Index | None = None
    """(N,), the group of each answer; None: each is alone."""
    lapsed: Array | None = None
    """(N, 1), by how much each answer's probability to be a lapse exceeds their share; None if there are none."""
    real: bool = True
    """Answers are the linear value plus noise: there is no scale, and there are no lapses."""
    own: Index | None = None
    """The answers that are probably no lapses, where there are some."""

    @property
    def z(self) -> Array:
        """Distance from each model, in its σ, (N, L)."""
        return self.residual / self.sigma

    @property
    def standardised(self) -> Array:
        """What each model would answer, less the mean over all answers and models, in standard deviations, (N, L)."""
        middle, scale = float(self.mean.mean()), float(self.mean.std()) or 1.0
        return (self.mean - middle) / scale

    @property
    def standardised_each(self) -> Array:
        """What each model would answer, less its own mean, in its own standard deviations, (N, L)."""
        spread = self.mean.std(axis=0)
        found: Array = (self.mean - self.mean.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        return found

    @property
    def slopes(self) -> Array:
        """Derivative of the log-likelihood by the mean of each model, (N, L)."""
        return self.P * self.residual / self.sigma**2

    @property
    def slope(self) -> Array:
        """Derivative of the log-likelihood by a level that all models share, (N, 1)."""
        total: Array = self.slopes.sum(axis=1, keepdims=True)
        return total

    @property
    def surplus(self) -> Array:
        """By how much the probability of each model exceeds its share, (N, L).

        The answers of a group have one model: each has its part of the group's surplus.
        """
        found = self.P - self.weights
        return found if self.group is None else found / np.bincount(self.group)[self.group, None]

    @property
    def free_surplus(self) -> Array:
        """The surplus of all models but the last, whose share is what they leave: scores of the shares, (N, L − 1)."""
        return self.surplus[:, : self.P.shape[1] - 1]

    @property
    def tested_surplus(self) -> Array:
        """The surplus of each model that is tested, (N, `models_tested(L)`)."""
        return self.surplus[:, : models_tested(self.P.shape[1])]

    @property
    def tested_surplus_and_lapses(self) -> Array:
        """The surplus of each model that is tested and, where there are lapses, theirs in the last column."""
        found = self.tested_surplus
        return found if self.lapsed is None else np.column_stack([found, self.lapsed])

    @property
    def spread(self) -> Array:
        """Derivative of the log-likelihood by the log of each model's σ, (N, L)."""
        return self.P * (self.square / self.sigma**2 - 1)

    def gathered(self, scores: Array) -> Array:
        """Return the scores of each group, (G, q): those of answers that are independent."""
        return scores if self.group is None else of_groups(scores, self.group)


def models_tested(L: int) -> int:
    """Return for how many of L models it is tested when they answer, or how loud they are.

    Of two, one tells about the other. Of three, one that answers seldom would hide among the others, whose shares
    hardly change with its own.
    """
    return L if L > 2 else L - 1


def see(data: Data, fit: Fit) -> View:
    """Return how the fit sees answers."""
    mean, scale = data.X @ fit.beta.T, fit.scale
    terms = terms_of(scale, data.y, mean, fit.noise)
    P = fit.explained(data).probability
    found = View(data.X, mean, terms.residual, terms.square, P, fit.noises, fit.weights, data.group, real=scale is None)
    if not isinstance(scale, Lapses):
        return found
    lapsed = (P * scale.lapsed(data.y, mean, fit.noise)).sum(axis=1, keepdims=True)
    own = np.flatnonzero(lapsed < 0.5)
    # At their least share there are none, and what is left of their scores is not about chance.
    return replace(found, own=own, lapsed=lapsed - scale.share if scale.share > LEAST_LAPSES else None)


def draw(data: Data, fit: Fit, rng: np.random.Generator, lapses: Array | None = None) -> View:
    """Draw an answer to each query from the fit, and return how it sees them; `lapses` are like these answers."""
    N, scale = len(data.y), fit.scale
    group = np.arange(N) if data.group is None else data.group
    model = rng.choice(fit.L, int(group.max()) + 1, p=fit.weights)[group]
    y = np.einsum("ij,ij->i", data.X, fit.beta[model]) + fit.noises[model] * rng.standard_normal(N)
    if scale is not None:
        y = scale.answer(y)
    if isinstance(scale, Lapses):
        others = data.y if lapses is None else lapses
        anywhere = rng.uniform(others.min(), others.max(), N) if scale.inner is None else rng.choice(others, N)
        y = np.where(rng.random(N) < scale.share, anywhere, y)
    return see(data._replace(y=y), fit)
