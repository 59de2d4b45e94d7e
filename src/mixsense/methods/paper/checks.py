"""Do the answers look like L vectors with equal shares: what would make the vectors of Algorithm 8 wrong."""

from __future__ import annotations

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.paper.align import Orders, narrowest
from mixsense.methods.paper.estimate import Batches, Estimates
from mixsense.methods.paper.options import NUMBERS
from mixsense.methods.paper.stopping import Accuracy

MOST_STRAIN = 6.0
"""Standard errors by which sums and differences may miss the means (derived: 150 queries of 6 models have 1,800
residuals, one of which is beyond with probability 4e-6; measured in 80 runs of 2 to 4 models: at most 4.1)."""
SMALL_BATCH = 50
"""Answers a model below which EM finds wrong means of a batch now and then, if there are more than two (measured in 40
runs of 4 models with 40 queries each: in 1 of them with 50 answers a model, in 12 with 25)."""
APART = 4.0
"""Means this many σ apart divide the answers to a query into groups that can be counted (derived: 2 % go astray, as
many in each direction)."""
FALSE_ALARM = 1e-3
"""The probability with which each of the tests doubts equal shares, answers of 0 at x = 0, and the noise (taste)."""
FALSE_BEND = 1e-4
"""The probability with which answers on a line are doubted for a bend (taste: the columns that are fitted were chosen
by the same means, and midpoints of few answers are not normal: 2 of 290 runs had less than 0.001)."""
MOST_UNSTEADY = 8.0
"""How much more the variances of batches may differ than those of Gaussian noise do (taste: t₅ noise has 4; two vectors
that are taken for noise have about T)."""
NOISE_OFF = 0.3
"""Share of σ² by which the noise may be off what it was said to be, beside its standard errors (taste: errors grow with
σ, 14 % here)."""
FAR = 4.0
"""Answers this many σ from every mean of their query fit none of them. Derived: of Gaussian noise 6 in 100,000 do."""
MOST_STRANGERS = 0.002
"""Share of the answers that may fit no mean. Swept over 0.0015, 0.002 and 0.003 on seeds 500 to 529: a further
vector three σ away that gives a twentieth of the answers has up to 0.01. Noise of t₅ has 0.0036, of t₃ 0.006: either is
doubted as well, where there are enough answers."""
MOST_ONE_SIDED = 4.0
"""Standard errors by which far answers may be on one side more often than those of equal shares. Taste: the sum of
squares is skewed."""


def strangers(batches: Batches, means: Array, sigma: float) -> list[str]:
    """Return the warning that too many answers fit none of the means (m, L) of their query, if they do.

    A vector that answers seldom moves no mean by much, but its answers lie far from those of the others now and then.
    """
    from scipy.special import pdtrc

    far = sum(
        int((np.abs(y - mu[:, None]) > FAR * sigma).all(axis=0).sum())
        for y, mu in zip(batches.answers, means, strict=True)
    )
    total = int(batches.sizes.sum())
    if far == 0 or pdtrc(far - 1, MOST_STRANGERS * total) > FALSE_ALARM:  # Poisson: this many or more
        return []
    return [
        f"{far} of {total} answers are further than {FAR:g} sigma from every mean of their query: there is a vector "
        "more, which answers seldom, or the noise has heavy tails, or sigma is larger than given; use method='frugal'"
    ]


def one_sided(batches: Batches, means: Array, sigma: float) -> list[str]:
    """Return the warning that answers which are far from the mean of their query, (m, 1), are mostly on one side of it.

    Those of two vectors with equal shares are on either side: (above − below)² of a query has the mean f = above +
    below, and the variance 2 f (f − 1).
    """
    away = [(y - mu) / sigma for y, mu in zip(batches.answers, means, strict=True)]
    above, below = (np.array([int((sign * each > FAR).sum()) for each in away]) for sign in (1, -1))
    far = above + below
    excess, variance = float(((above - below) ** 2 - far).sum()), float((2 * far * (far - 1)).sum())
    if excess <= MOST_ONE_SIDED * np.sqrt(variance):
        return []
    return [
        f"{int(far.sum())} answers are further than {FAR:g} sigma from the mean of their query, most on one side: a "
        "vector answers seldom, which the mean of all does not stand for; use method='frugal'"
    ]


def doubts(batches: Batches, means: Estimates, orders: Orders, accuracy: Accuracy) -> list[str]:
    """Return what speaks against the vectors, a line each.

    Parameters
    ----------
    batches, means : Batches, Estimates
        Of the base queries.
    orders : Orders
        How they were aligned.
    accuracy : Accuracy
        With γ, σ and the number of vectors.
    """
    c, (m, L) = accuracy.constants, means.mu.shape
    found = []
    if L == 2 and not accuracy.batch:
        far = narrowest(means.mu) >= c.trivial_gap * accuracy.gamma  # closer ones are right in either order
        unclear, within = far & (orders.misfit > c.align_tolerance * accuracy.gamma), "3γ"
    else:
        unclear, within = orders.strain > MOST_STRAIN, f"{MOST_STRAIN:g} standard errors"
    if unclear.any():
        small = L > 2 and accuracy.batch is not None and accuracy.batch < SMALL_BATCH * L
        found.append(
            f"{int(unclear.sum())} of {m} queries fit {'neither' if L == 2 else 'no'} order of their means within "
            f"{within}: do the answers depend linearly on x, from {NUMBERS[L]} vectors with equal shares, and is sigma "
            f"right{f', or is a batch of {accuracy.batch} too small' if small else ''}?"
        )
    if uneven(batches, means, accuracy.sigma) or lopsided(batches, means, orders, accuracy.sigma):
        found.append(
            f"the answers do not come from {NUMBERS[L]} vectors with equal shares: give another number of models, or "
            "use method='frugal', which finds their number and their shares"
        )
    return found


def level_doubts(X: Array, means: Array, vectors: Array, count: int) -> list[str]:
    """Return the warning that a constant is in all answers, if one is: the method takes it for 0.

    The means of the batches, (m,), are fitted once more, by least squares with a level, to the coefficients that are
    largest in any vector, this many of them, since the others take up a level as they take up noise; Student's t holds
    the level against 0.
    """
    from scipy.special import stdtrit

    m = len(X)
    design = np.column_stack([np.ones(m), _largest_columns(X, vectors, count)])
    fitted, left = np.linalg.lstsq(design, means, rcond=None)[0], m - design.shape[1]
    variance = ((means - design @ fitted) ** 2).sum() / left
    error = np.sqrt(variance * np.linalg.pinv(design.T @ design)[0, 0])
    if abs(fitted[0]) <= error * stdtrit(left, 1 - FALSE_ALARM / 2):
        return []
    return [
        f"all answers are {fitted[0]:+.3g} off what the vectors say: a constant, which this method takes for 0; "
        "subtract it, or use method='frugal' with a box and intercept=True"
    ]


def bend_doubts(X: Array, means: Array, vectors: Array, count: int) -> list[str]:
    """Return the warning that the answers are not linear in x, if they bend with what they should be.

    The means of the batches, (m,), are fitted by least squares as for `level_doubts`, without and with what levels off
    there: the prediction within a standard deviation of 0, its absolute value, and the inputs within 1 of 0. Fisher's F
    holds what these explain against the rest.
    """
    from scipy.special import fdtrc

    linear = _largest_columns(X, vectors, count)
    slopes, rest = _fitted(linear, means)
    predicted = linear @ slopes
    z = predicted / (predicted.std() or 1.0)
    bent = np.column_stack([z.clip(-1, 1), np.abs(z), linear.clip(-1, 1) @ slopes])
    more, left = _fitted(np.hstack([linear, bent]), means)[1], len(X) - linear.shape[1] - bent.shape[1]
    if left < 1 or more <= 0 or fdtrc(bent.shape[1], left, (rest - more) / bent.shape[1] / (more / left)) > FALSE_BEND:
        return []
    return [
        "the answers bend with what they should be: they are not linear in x, or level off at their ends; use "
        "method='frugal', with a box in which they are linear"
    ]


def _largest_columns(X: Array, vectors: Array, count: int) -> Array:
    """Return the columns of the coefficients that are largest in any vector, at most half as many as rows."""
    return X[:, np.argsort(-np.abs(vectors).max(axis=0), kind="stable")[: min(count, (len(X) - 1) // 2)]]


def _fitted(A: Array, y: Array) -> tuple[Array, float]:
    """Return the least-squares coefficients, and the sum of squares that is left."""
    found = np.asarray(np.linalg.lstsq(A, y, rcond=None)[0], dtype=np.float64)
    return found, float(((y - A @ found) ** 2).sum())


def noise_doubts(X: Array, batches: Batches, vectors: Array, sigma: float) -> list[str]:
    """Return the warning that the noise is not σ, if it is not.

    A batch of equal shares has the variance of the vectors' answers, and that of the noise added: what is left of it,
    averaged over all queries, is held against σ² by Student's t.
    """
    left = batches.variances() - (X @ vectors.T).var(axis=1)
    if abs(left.mean() - sigma**2) <= _error_of_mean(left) + NOISE_OFF * sigma**2:
        return []
    return [_not_the_noise(sigma, left, "around those of the vectors")]


def too_quiet(batches: Batches, sigma: float) -> list[str]:
    """Return the warning that answers to the same query differ by less than noise of σ would make them, if they do."""
    left = batches.variances()
    if left.mean() + _error_of_mean(left) >= (1 - NOISE_OFF) * sigma**2:
        return []
    return [_not_the_noise(sigma, left, "if a query is repeated")]


def unsteady(batches: Batches) -> list[str]:
    """Return the warning that some queries' answers spread more than others', as those of two vectors do, if they do.

    Of one vector, the variances of the batches differ by 2/(T − 1) of their mean in the square; t₅ noise makes it four
    times as much.
    """
    variances, freedom = batches.variances(), float(batches.sizes.min()) - 1
    if variances.var(ddof=1) <= MOST_UNSTEADY * 2 / freedom * variances.mean() ** 2:
        return []
    return [
        "the answers to some queries spread more than those to others: sigma is too large, and there is more than one "
        "vector, or the noise depends on x; without sigma it is measured"
    ]


def _error_of_mean(values: Array) -> float:
    from scipy.special import stdtrit

    quantile = stdtrit(len(values) - 1, 1 - FALSE_ALARM / 2)
    return float(quantile * values.std(ddof=1) / np.sqrt(len(values)))


def _not_the_noise(sigma: float, left: Array, where: str) -> str:
    spread = np.sqrt(max(left.mean(), 0.0))
    return (
        f"sigma is {sigma:.3g}, but answers spread by {spread:.3g} {where}: it is not the noise, or the vectors "
        "are not right; without sigma it is measured"
    )


def uneven(batches: Batches, means: Estimates, sigma: float) -> bool:
    """Whether the answers around each mean are too many or too few for equal shares.

    Where the means of a query fall into groups that are 4σ apart, the answers are counted in each: Pearson's χ² over
    all queries.
    """
    from scipy.special import chdtri

    L = means.mu.shape[1]
    total, freedom = 0.0, 0
    for y, mu in zip(batches.answers, means.mu, strict=True):
        last = np.flatnonzero(np.diff(mu) >= APART * sigma)  # the last mean of each group but the highest
        counts = np.searchsorted(np.sort(y), (mu[last] + mu[last + 1]) / 2)
        seen = np.diff(np.concatenate([[0], counts, [len(y)]]))
        expected = np.diff(np.concatenate([[0], last + 1, [L]])) * (len(y) / L)
        total += float(((seen - expected) ** 2 / expected).sum())
        freedom += len(last)
    return freedom > 0 and total > float(chdtri(freedom, FALSE_ALARM))


def lopsided(batches: Batches, means: Estimates, orders: Orders, sigma: float) -> bool:
    """Whether a vector's share, averaged over all queries, is off that of equal shares.

    An answer counts for each mean with the probability that it came from it, so that close means tell little, but not
    nothing. Student's t over the queries, for each vector.
    """
    from scipy.special import stdtrit

    m, L = means.mu.shape
    off = np.empty((m, L))
    for i, (y, mu) in enumerate(zip(batches.answers, means.mu, strict=True)):
        log = -0.5 * ((y - mu[:, None]) / sigma) ** 2  # (L, T)
        p = np.exp(log - log.max(axis=0))
        off[i] = (p / p.sum(axis=0)).mean(axis=1)[orders.place[i]] - 1 / L
    error = off.std(axis=0, ddof=1) / np.sqrt(m)
    return bool((np.abs(off.mean(axis=0)) > error * stdtrit(m - 1, 1 - FALSE_ALARM / (2 * L))).any())
