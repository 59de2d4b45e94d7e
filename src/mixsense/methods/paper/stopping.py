"""When are there answers enough: the stopping rules of Algorithms 5 and 8.

Every rule is a function of summary statistics: the sample variance and the size of each batch, and the distance
between the vectors that follows from them. So the methods, which have answers, and `mixsense.plan`, which draws the
statistics without any, stop by the same rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.paper.constants import Constants

GAP_RATIO = 2.0
"""The distance is known well enough for γ' if its limits are within this ratio (taste: γ' is then right within √2)."""
MOST_TIMES = 8.0
"""A query with more than two means gets at most this many times what it would need if they were far apart (taste)."""
SIGMA_ERRORS = 8.0
"""More answers do not help where gap² is below this many standard errors of a measured σ² (derived: an error of σ²
shifts gap² = 4(S² − σ²) by four times itself, and two of those are noise)."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What the means of a batch must satisfy: within γ with probability 1 − η', unless the batch is fixed."""

    sigma: float
    gamma: float
    log_eta: float  # L = log(1/η')
    constants: Constants
    batch: int | None = None  # fixed size of every batch, as in the paper's simulations
    models: int = 2  # L; what is larger for more than two is a rule of thumb, not from a proof

    @property
    def test_samples(self) -> int:
        """Answers that the test of the regime takes: as many for each vector, to see them all."""
        return self.batch or max(4, math.ceil(self.constants.test_samples * self.log_eta * (self.models / 2)))

    @property
    def close_samples(self) -> int:
        """Answers that are enough whatever the separation: for the moments and for one Gaussian."""
        ratio = self.sigma / self.gamma
        many = max(self.constants.moments_samples * ratio**4, self.constants.single_samples * ratio**2)
        return math.ceil(many * self.log_eta * (self.models / 2) ** 2)

    @property
    def most_samples(self) -> float:
        """Answers after which a query with more than two means is left as it is: others make up for what it lacks."""
        enough = 2 * self.log_eta * self.models * (self.sigma / self.gamma) ** 2  # for means far apart
        return min(float(self.close_samples), MOST_TIMES * enough)

    @property
    def pivot_ratio(self) -> float:
        """γ below this share of the distance aligns the means; of L vectors, the closest of all their pairs counts.

        Drawn for L from 3 to 6: 1 query of 20 has all of its means 13γ apart then (of two, 1 of 5).
        """
        return self.constants.pivot_ratio * min(1.0, 2 / math.comb(self.models, 2))

    @property
    def single_fraction(self) -> float:
        """γ above this share of the distance takes one vector for all."""
        return self.constants.single_fraction * (2 * farthest(self.models))

    def em_samples(self, separation: Array) -> Array:
        """Answers that EM needs at a separation δ."""
        c = self.constants
        with np.errstate(divide="ignore"):
            harder = 1 + (self.sigma / separation) ** c.em_power
        return c.em_samples * (self.sigma / self.gamma) ** 2 * self.log_eta * harder


def farthest(models: int) -> float:
    """Return how far a vector can be from the mean of all, in units of the distance of a typical pair of them.

    That distance is the root mean square over all pairs; the worst case is one vector away from all others.

    Examples
    --------
    >>> farthest(2), round(farthest(3), 3)
    (0.5, 0.816)
    """
    return (models - 1) / math.sqrt(2 * models)


def variance_noise(sigma: float, h2: Array, models: int = 2) -> Array:
    """Return T · Var(S²) of the sample variance S² of T answers, E S² = σ² + h²: two means are 2h apart.

    For L means h² is the variance of the means, and what is returned an upper limit: their fourth moment is at most
    (L²/(L − 1) − 3) h⁴.

    Examples
    --------
    >>> variance_noise(1.0, np.array([0.0, 1.0]))
    array([2., 6.])
    """
    noise: Array = 2 * sigma**4 + 4 * sigma**2 * h2
    return noise if models == 2 else noise + (models**2 / (models - 1) - 4) * h2**2


def needed_by_errors(stderr: Array, sizes: Array | Index, accuracy: Accuracy) -> Array:
    """Return how many answers each query with more than two means needs in all, judged by their standard errors (q, L).

    The errors fall like 1/√T, and Pr(|Z| > √(2L)) < η' for L = log(1/η').
    """
    worst = stderr.max(axis=1) / accuracy.gamma
    return np.asarray(np.ceil(np.minimum(sizes * worst**2 * (2 * accuracy.log_eta), accuracy.most_samples)))


def needed_samples(variances: Array, sizes: Array | Index, accuracy: Accuracy) -> Array:
    """Return how many answers each query needs in all, judged by the answers that it has.

    Parameters
    ----------
    variances : (q,) array
        Sample variance of each query's answers.
    sizes : (q,) array
        Number of its answers.
    accuracy : Accuracy
        What is asked of the means.

    Returns
    -------
    (q,) array
        Whole numbers, as floats: where γ is tiny they leave the range of integers.
    """
    sigma = accuracy.sigma
    h2 = np.maximum(variances - sigma**2, 0)  # h = δ/2
    spread = np.sqrt(variance_noise(sigma, h2) / sizes)  # standard deviation of S²
    low = np.maximum(h2 - math.sqrt(2 * accuracy.log_eta) * spread, 0)
    return np.ceil(np.minimum(accuracy.em_samples(2 * np.sqrt(low)), float(accuracy.close_samples)))


def next_batch(sizes: Array | Index, needed: Array) -> tuple[Index, int] | None:
    """Return which queries to ask next and how often: the smallest batches are doubled first; None if all are enough.

    Examples
    --------
    >>> next_batch(np.array([8, 8, 16]), np.array([8.0, 100.0, 100.0]))
    (array([1]), 8)
    """
    short = np.flatnonzero(sizes < needed)
    if not len(short):
        return None
    level = int(sizes[short].min())
    index = short[sizes[short] == level]
    return index, min(level, int(needed[index].max()) - level)


@dataclass(frozen=True, slots=True)
class Gap:
    """‖β¹ − β²‖ as measured, with confidence limits; low = 0 if two vectors cannot be told from one.

    Of more than two vectors it is the root mean square over all pairs.
    """

    value: float
    low: float
    high: float


def gap_limits(
    variances: Array,
    sizes: Array | Index,
    sigma: float,
    eta: float,
    sigma2_error: float = 0.0,
    queries: int | None = None,
    models: int = 2,
) -> Gap:
    """Estimate ‖β¹ − β²‖ from the sample variances of the batches of Gaussian queries.

    Parameters
    ----------
    variances, sizes : (q,) arrays
        Sample variance and number of the answers to each query.
    sigma, eta : float
        The noise, and the probability that the limits may be wrong.
    sigma2_error : float
        Standard error of σ², if σ was measured: it shifts all queries together.
    queries : int, optional
        The number of queries that the variances stand for, if only some of them were drawn.
    models : int
        L, the number of vectors.

    Notes
    -----
    Erratum 2: over x ~ N(0, I), E[4(S² − σ²)] = ‖β¹ − β²‖², with S² the sample variance of a batch. Two things are
    uncertain: the noise of S² decides whether there is a distance at all; and the mean of m squares ⟨x, Δ⟩² is
    ‖Δ‖² χ²_m/m. For L vectors E[2L/(L − 1) (S² − σ²)] is the mean of their squared distances, which varies less than
    χ²_m/m.
    """
    from scipy.special import chdtri

    m = len(variances) if queries is None else queries
    times = 2 * models / (models - 1)  # 4 for two
    squares = times * (variances - sigma**2)
    h2 = np.maximum(squares / times, 0)
    noises = times**2 * variance_noise(sigma, h2, models) / (sizes - 1)  # Var(4 S²)
    z = NormalDist().inv_cdf(1 - eta / 4)
    noise = math.hypot(math.sqrt(float(noises.mean()) / m), times * sigma2_error)
    value = float(squares.mean())
    low, high = (
        max(0.0, value + sign * z * noise) / (chdtri(m, p) / m) for sign, p in ((-1, eta / 4), (1, 1 - eta / 4))
    )
    return Gap(math.sqrt(max(0.0, value)), math.sqrt(low), math.sqrt(high))


def gap_known(gap: Gap, size: int, accuracy: Accuracy, sigma2_error: float = 0.0) -> bool:
    """Whether batches of this size tell ‖β¹ − β²‖ well enough to choose the precision, or larger ones would not help.

    Parameters
    ----------
    gap : Gap
        As measured with them.
    size : int
        Answers to each query.
    accuracy : Accuracy
        With the user's γ.
    sigma2_error : float
        Standard error of σ², if σ was measured: it limits how well the gap can be known.
    """
    one = accuracy.gamma >= accuracy.single_fraction * gap.high
    two = gap.low > 0 and (accuracy.gamma <= accuracy.pivot_ratio * gap.low or gap.high <= GAP_RATIO * gap.low)
    floor = SIGMA_ERRORS * sigma2_error > gap.high**2
    return bool(accuracy.batch) or one or two or floor or size >= accuracy.close_samples


def alignment_accuracy(gap: Gap, accuracy: Accuracy) -> Accuracy:
    """Return the accuracy that aligns the means: with γ' = 0.096 ‖β¹ − β²‖ of the proof, if the user's γ is larger."""
    limit = accuracy.pivot_ratio * gap.value
    fine = accuracy.batch or accuracy.gamma >= accuracy.single_fraction * gap.value or accuracy.gamma <= limit
    return accuracy if fine or limit <= 0 else replace(accuracy, gamma=limit)


def one_is_enough(gap: Gap, accuracy: Accuracy) -> bool:
    """Whether one vector stands for all: no distance was seen, or γ is as large as it (case 2 of Theorem 1)."""
    near = accuracy.gamma >= accuracy.single_fraction * gap.value
    return gap.low == 0 or (not accuracy.batch and near)
