"""Which mean belongs to which vector: Algorithms 6 (Align pair) and 7 (Align all).

Each query has two means, in no known order. Sum and difference queries with one pivot put all of them into
the pivot's order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.methods.design import sums_and_differences
from mixsense.methods.paper.estimate import Best, Estimates, test_and_estimate
from mixsense.methods.paper.stopping import Accuracy
from mixsense.rounds import Method

PIVOT_SIGMAS = 4.0
"""Standard errors that the pivot's means must be apart, with fixed batches (taste)."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The order of each query's means, and how sure it is.

    `same[i]` says whether query i's ascending means are in the pivot's order, `margin[i]` is the difference of
    the log-likelihoods of the two orders, `misfit[i]` the largest residual of the better one.
    """

    pivot: int
    same: Mask  # (m,)
    margin: Array  # (m,), ≥ 0; infinite for the pivot itself
    misfit: Array  # (m,)

    def order(self, mu: Array) -> tuple[Array, Array]:
        """Lines 9 to 16 of Algorithm 7: the vectors u and v."""
        u = np.where(self.same, mu[:, 0], mu[:, 1])
        v = np.where(self.same, mu[:, 1], mu[:, 0])
        return u, v


def align_pair(first: Estimates, pivot: Estimates, total: Estimates, difference: Estimates) -> tuple[Array, Array]:
    """Tell whether the means of each query are in the same order as the pivot's: Algorithm 6.

    Parameters
    ----------
    first : Estimates of q queries x
    pivot : Estimates of one query p
    total, difference : Estimates of the q queries x + p and of the q queries x − p

    Returns
    -------
    margin : (q,) array
        Log-likelihood of "same order" minus that of "swapped"; positive means same.
    misfit : (q,) array
        The largest |sum − a − b| and |difference − a + b| under the better order.

    Notes
    -----
    Algorithm 6, Lemma 5. Differs from the print: (1) instead of the first match within 3γ, the order with the
    smaller total residual over both sum means and both difference means wins, each residual in units of its
    standard error, so that there is always a verdict and its confidence (erratum 11); (2) |z' − c − d| of the
    text is |z' − c + d| (erratum 13). Wherever the printed rule decides under its own conditions, both agree.
    """
    a, b = first.mu, pivot.mu  # (q, 2), (1, 2)
    noise = first.stderr**2 + pivot.stderr**2
    score, worst = [], []
    for other in (b, b[:, ::-1]):  # same order, swapped
        residuals = [
            np.sort(a + other, axis=1) - total.mu,  # {a₁ + b₁, a₂ + b₂} against the sum's means
            np.sort(a - other, axis=1) - difference.mu,
        ]
        variances = [noise + total.stderr**2, noise + difference.stderr**2]
        score.append(sum((r**2 / v).sum(axis=1) for r, v in zip(residuals, variances, strict=True)))
        worst.append(np.abs(np.concatenate(residuals, axis=1)).max(axis=1))
    margin: Array = (score[1] - score[0]) / 2
    return margin, np.where(margin >= 0, worst[0], worst[1])


def choose_pivot(means: Estimates, accuracy: Accuracy, among: int | None = None) -> int | None:
    """Line 8 of Algorithm 7: the query whose means are furthest apart, if they are 11γ apart.

    Differs from the print: (1) the pivot is chosen from the means before any pair is asked (erratum 9); (2) with
    fixed batches, where γ is not a measure of accuracy, 11γ is replaced by four standard errors.
    """
    gaps = np.ptp(means.mu[:among], axis=1)
    best = int(gaps.argmax())
    if accuracy.batch:
        needed = PIVOT_SIGMAS * float(np.hypot(*means.stderr[best]))
    else:
        needed = accuracy.constants.pivot_gap * accuracy.gamma
    return best if gaps[best] >= needed else None


def align_all(
    X: Array,
    means: Estimates,
    accuracy: Accuracy,
    pivot: int,
    candidates: int | None = None,
    best: Best = None,
) -> Method[Alignment]:
    """Algorithm 7: align the means of all queries with the pivot's.

    Parameters
    ----------
    X : (m, n) array
        The queries.
    means : Estimates
        Their means.
    accuracy : Accuracy
        For the sum and difference queries.
    pivot : int
        The query to align with.
    candidates : int, optional
        m': ask the sums and differences of every query with each of the first m' ones, as printed, of which
        only the pivot's are read. None: only the pivot's are asked.

    Returns
    -------
    Alignment
    """
    m = len(X)
    others = np.flatnonzero(np.arange(m) != pivot)
    partners = [pivot] if candidates is None else range(candidates)
    # Pairs (i, j) and (j, i) are one pair (erratum 13): i < m' only meets the partners before it.
    against = {j: others if candidates is None else np.flatnonzero(np.arange(m) > j) for j in partners}
    queries = np.concatenate([sums_and_differences(X[i], X[j]) for j, i in against.items()])
    pairs = yield from test_and_estimate(queries, accuracy, label="alignment", best=best)

    total, difference = _of_pivot(pairs, against, pivot, m)
    margin, misfit = align_pair(_take(means, others), _take(means, np.array([pivot])), total, difference)
    same, confidence, residual = np.ones(m, dtype=np.bool_), np.full(m, np.inf), np.zeros(m)
    same[others], confidence[others], residual[others] = margin >= 0, np.abs(margin), misfit
    return Alignment(pivot, same, confidence, residual)


def _take(means: Estimates, index: Index) -> Estimates:
    return Estimates(means.mu[index], means.stderr[index], means.regime[index])


def _of_pivot(pairs: Estimates, against: dict[int, Index], pivot: int, m: int) -> tuple[Estimates, Estimates]:
    """Sum and difference means of each query with the pivot, in the order of the queries."""
    where = np.zeros((2, m), dtype=np.intp)
    mirrored = np.zeros(m, dtype=np.bool_)
    start = 0
    for j, index in against.items():
        for row, i in enumerate(index):
            if pivot in (i, j):
                other = int(i) if j == pivot else j
                where[:, other] = start + row, start + len(index) + row
                mirrored[other] = j != pivot  # asked as pivot − x, needed as x − pivot
        start += 2 * len(index)
    others = np.arange(m) != pivot
    total = _take(pairs, where[0, others])
    difference = _take(pairs, where[1, others])
    flip = mirrored[others, None]
    mu = np.where(flip, -difference.mu[:, ::-1], difference.mu)
    stderr = np.where(flip, difference.stderr[:, ::-1], difference.stderr)
    return total, Estimates(mu, stderr, difference.regime)
