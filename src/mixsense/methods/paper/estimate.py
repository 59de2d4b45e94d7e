"""Which regime is a query in, and how many more answers does it need: Algorithm 5 (Test and estimate).

Every query has a batch of its own; batches grow by doubling until their own lower confidence limit on the
separation says that the means are within γ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsense import mixture
from mixsense.arrays import Array, Index
from mixsense.errors import ModelError
from mixsense.methods.design import zero
from mixsense.methods.paper.stopping import Accuracy, Gap, gap_limits, needed_by_errors, needed_samples, next_batch
from mixsense.rounds import Method, Round

Best = Callable[[], Any] | None

CLEAR_OFFSET = 5.0
"""The mean of the answers to x = 0 may be this many standard errors from 0 (derived: beyond by chance once in 1.7
million runs)."""
REGIMES = ("moments", "single", "em")
"""The three estimators of Algorithm 5, in the order of its branches."""


class Batches:
    """The answers to q queries so far, each query with its own number of them."""

    def __init__(self, q: int) -> None:
        self.answers: list[Array] = [np.empty(0) for _ in range(q)]

    @property
    def sizes(self) -> Index:
        """Number of answers of each query."""
        return np.array([len(y) for y in self.answers], dtype=np.intp)

    def by_size(self) -> Iterator[tuple[Index, Array]]:
        """Yield the queries that have equally many answers together: their positions, and answers (g, T)."""
        sizes = self.sizes
        for size in np.unique(sizes[sizes > 0]):
            index = np.flatnonzero(sizes == size)
            yield index, np.stack([self.answers[i] for i in index])

    def means(self) -> Array:
        """Mean of each query's answers."""
        return np.array([y.mean() for y in self.answers])

    def variances(self) -> Array:
        """Sample variance of each query's answers."""
        found = np.empty(len(self.answers))
        for index, y in self.by_size():
            found[index] = y.var(axis=1, ddof=1)
        return found

    def ask(self, X: Array, index: Index, repeats: int, label: str, best: Best) -> Method[None]:
        """Ask the queries X[index] `repeats` times more."""
        asked = yield Round(X[index], repeats, label=label, estimate=best)
        X[index] = asked.vectors
        for i, y in zip(index, asked.batches(), strict=True):
            self.answers[i] = np.concatenate([self.answers[i], y])

    def top_up(self, X: Array, size: int, label: str, best: Best) -> Method[None]:
        """Ask until every query has at least `size` answers."""
        sizes = self.sizes
        for have in np.unique(sizes[sizes < size]):
            yield from self.ask(X, np.flatnonzero(sizes == have), size - int(have), label, best)


@dataclass(frozen=True, slots=True)
class Estimates:
    """The means of each query, ascending, with standard errors and the regime that each was found in."""

    mu: Array  # (q, L)
    stderr: Array  # (q, L)
    regime: Index  # (q,), position in REGIMES
    sizes: Index  # (q,), how many answers they are from

    def regimes(self) -> dict[str, int]:
        """How many queries went into which regime."""
        return {name: int((self.regime == i).sum()) for i, name in enumerate(REGIMES)}


def test_and_estimate(
    X: Array, accuracy: Accuracy, batches: Batches | None = None, label: str = "means", best: Best = None
) -> Method[Estimates]:
    """Algorithm 5: test which regime each query is in, ask as often as it needs, estimate its means.

    Parameters
    ----------
    X : (q, n) array
        The queries.
    accuracy : Accuracy
        σ, γ, log(1/η') and the constants; or a fixed batch size.
    batches : Batches, optional
        Answers to X that are there already; new ones are added to it.
    label, best
        Shown with the rounds; see `Round`.

    Returns
    -------
    Estimates

    Notes
    -----
    Algorithm 5, Lemma 4. Differs from the print: (1) the test's answers are used for the estimate too (erratum
    19); (2) instead of one test with a worst-case ε = 1/256, the batch is doubled until the number of answers
    that its lower confidence limit on δ asks for is reached, so that easy queries stay cheap and hard ones
    become sure; never more than the moments need at δ = 0; (3) where there are more than two vectors, the standard
    errors of all means of a query say how many answers it needs, up to a limit, and EM finds close means, too: mean and
    variance tell two means only. Lemma 4 is about two.
    """
    batches = Batches(len(X)) if batches is None else batches
    found: Estimates | None = None
    yield from batches.top_up(X, accuracy.test_samples, f"{label}: test", best)
    while accuracy.batch is None:
        sizes = batches.sizes
        if accuracy.models == 2:
            needed = needed_samples(batches.variances(), sizes, accuracy)
        else:
            found = estimate(batches, accuracy, found)
            needed = needed_by_errors(found.stderr, sizes, accuracy)
        following = next_batch(sizes, needed)
        if following is None:
            break
        index, more = following
        yield from batches.ask(X, index, more, f"{label}: {sizes[index[0]] + more} answers each", best)
    return estimate(batches, accuracy, found)


def estimate(batches: Batches, accuracy: Accuracy, before: Estimates | None = None) -> Estimates:
    """Lines 6 to 13 of Algorithm 5: the estimator that fits the regime, for the answers at hand.

    What was estimated before is kept where no answers were added.
    """
    q, L = len(batches.answers), accuracy.models
    found = Estimates(np.empty((q, L)), np.empty((q, L)), np.empty(q, dtype=np.intp), batches.sizes)
    # With a fixed batch, γ says nothing about the batch's accuracy: only σ sets the scale.
    fine = bool(accuracy.batch) or accuracy.sigma > accuracy.gamma
    switch = accuracy.constants.regime_switch * (accuracy.sigma if fine else accuracy.gamma)
    for index, y in batches.by_size():
        if before is not None and (before.sizes[index] == y.shape[1]).all():
            found.mu[index], found.stderr[index] = before.mu[index], before.stderr[index]
            found.regime[index] = before.regime[index]
            continue
        of_batch = _two_means(y, accuracy, fine, switch) if L == 2 else _several_means(y, accuracy, fine, switch)
        found.mu[index], found.stderr[index], found.regime[index] = of_batch
    return found


def _two_means(y: Array, accuracy: Accuracy, fine: bool, switch: float) -> tuple[Array, Array, Index]:
    """Take the moments or one Gaussian for close means, EM for others: value, stderr (g, 2), regime (g,)."""
    groups = accuracy.constants.number_of_groups(accuracy.log_eta, y.shape[1])
    moments = mixture.moments(y, accuracy.sigma, batches=groups)
    far = np.ptp(moments.value, axis=1) > switch
    near = moments if fine else mixture.single(y)
    mu, stderr = near.value.copy(), near.stderr.copy()
    if far.any():
        em = mixture.em(y[far], accuracy.sigma)
        mu[far], stderr[far] = em.value, em.stderr
    return mu, stderr, np.where(far, REGIMES.index("em"), REGIMES.index("moments" if fine else "single"))


def _several_means(y: Array, accuracy: Accuracy, fine: bool, switch: float) -> tuple[Array, Array, Index]:
    """Take one Gaussian for close means if γ allows, EM for others: value, stderr (g, L), regime (g,)."""
    em = mixture.em(y, accuracy.sigma, models=accuracy.models)
    if fine:
        return em.value, em.stderr, np.full(len(y), REGIMES.index("em"))
    near = np.ptp(em.value, axis=1) <= switch
    one = mixture.single(y, accuracy.models)
    mu, stderr = (np.where(near[:, None], *pair) for pair in ((one.value, em.value), (one.stderr, em.stderr)))
    return mu, stderr, np.where(near, REGIMES.index("single"), REGIMES.index("em"))


def measure_gap(batches: Batches, accuracy: Accuracy, eta: float, sigma2_error: float = 0.0) -> Gap:
    """Estimate ‖β¹ − β²‖ from the variances of the batches of Gaussian queries; see `gap_limits`."""
    sizes, variances = batches.sizes, batches.variances()
    return gap_limits(variances, sizes, accuracy.sigma, eta, sigma2_error, models=accuracy.models)


def measure_sigma(n: int, samples: int) -> Method[tuple[float, float]]:
    """Ask x = 0, whose answers are pure noise: returns σ and the standard error of σ²."""
    asked = yield Round(zero(n), samples, label="noise: x = 0")
    variance, offset = float(asked.answers.var(ddof=1)), float(asked.answers.mean())
    if abs(offset) > CLEAR_OFFSET * math.sqrt(variance / samples):
        raise ModelError(
            f"the answers to x = 0 are {offset:.3g} in the mean, not 0: there is a constant that this method has no "
            "place for; subtract it, or use method='frugal' with box and intercept=True"
        )
    return math.sqrt(variance), variance * math.sqrt(2 / (samples - 1))
