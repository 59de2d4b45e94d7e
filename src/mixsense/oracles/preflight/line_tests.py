"""The statistics of the preflight: tests that hold for answers from linear models at random, plus noise."""

from __future__ import annotations

import itertools
import math

import numpy as np

from mixsense.arrays import Array
from mixsense.oracles.preflight import tuning


def bend_test(lines: Array, scale: float, blur: float) -> tuple[float, float, float]:
    """Test whether the mean of lines (lines, passes, stops) bends: p-value, largest bend, what would have been seen."""
    from scipy import special

    def tested(y: Array, bend: Array, error: float) -> tuple[Array, Array]:
        C = y @ bend  # (lines, passes)
        return C.mean(axis=1), C.var(axis=1, ddof=1) / C.shape[1] + (bend**2).sum() * error + 1e-300

    def fisher(mean: Array, variance: Array) -> float:  # bends of any sign
        each = 2 * special.stdtr(lines.shape[1] - 1, -np.abs(mean) / np.sqrt(variance))
        return float(special.chdtrc(2 * len(each), -2 * np.log(np.maximum(each, 1e-300)).sum()))

    def together(mean: Array, variance: Array) -> float:  # all to the same side: the probability of a smaller sum
        return float(special.stdtr(freedom, mean.sum() / math.sqrt(variance.sum())))

    freedom = (lines.shape[1] - 1) * len(lines) / 2
    square = (lines - (lines.min() + lines.max()) / 2) ** 2
    square_error = 4 * blur * float(np.mean(square))
    mean, variance = tested(lines, tuning.BENDS[0], blur)
    side = together(mean, variance)
    p_values = (
        fisher(mean, variance),
        fisher(*tested(lines, tuning.BENDS[1], blur)),
        fisher(*tested(square, tuning.BENDS[1], square_error)),
        2 * min(side, 1 - side),
        together(*tested(square, tuning.BENDS[0], square_error)),  # the parabola is open above, unless something clips
    )
    quantile = special.stdtrit(freedom, 1 - tuning.SIGNIFICANCE / (2 * len(p_values)))
    seen = quantile * math.sqrt(variance.sum()) / len(mean)
    # The middle of a parabola with second difference C over these stops is 9/16 C off its chord: take C / 2.
    return min(1.0, len(p_values) * min(p_values)), float(np.abs(mean).max() / 2 / scale), float(seen / 2 / scale)


def misfit(lines: Array, blur: float) -> float:
    """Return the mean over lines of log(square error of straight lines / that of as many values at each stop).

    Two or three lines, whichever fit better. Four would follow any two curves.
    """

    def ratio(count: int) -> float:
        found = [
            math.log((_about_lines(y, count) + y.size * blur) / (_about_values(y, count) + y.size * blur + 1e-300))
            for y in lines
        ]
        return float(np.mean(found))

    return min(ratio(2), ratio(3))


def _about_values(y: Array, count: int) -> float:
    """Return the square error of y (passes, stops) about the best values at each stop."""
    best = 0.0
    for values in np.sort(y, axis=0).T:
        cuts = itertools.combinations(range(1, len(values)), count - 1)
        best += min(float(sum(len(part) * part.var() for part in np.split(values, at))) for at in cuts)
    return best


def _about_lines(y: Array, count: int) -> float:
    """Return the square error of y (passes, stops) about the best straight lines, each answer with the nearest."""
    t = np.broadcast_to(tuning.STOPS, y.shape).ravel()
    i, j = np.nonzero(t[:, None] < t)  # a line through each pair of answers
    slope = (y.ravel()[j] - y.ravel()[i]) / (t[j] - t[i])
    error = (y.ravel() - y.ravel()[i, None] - slope[:, None] * (t - t[i, None])) ** 2  # (pairs, answers)
    near = np.sort(error, axis=1)[:, : y.size // 3].sum(axis=1)
    # One of the lines has many answers beside it; the others may have few.
    first = np.argsort(near)[: tuning.FIRST_LINES]
    cost = np.array([np.minimum(error[a], error).sum(axis=1) for a in first])
    a, b = np.unravel_index(int(cost.argmin()), cost.shape)
    chosen = [int(first[a]), int(b)]
    while len(chosen) < count:
        chosen.append(int(np.minimum(error[chosen].min(axis=0), error).sum(axis=1).argmin()))
    errors, best = error[chosen], float(error[chosen].min(axis=0).sum())
    for _ in range(tuning.REFITS):
        own = errors.argmin(axis=0)
        parts = [own == line for line in range(count)]
        if not all(len(np.unique(t[part])) > 1 for part in parts):
            break
        fits = [np.polynomial.Polynomial.fit(t[part], y.ravel()[part], 1) for part in parts]
        errors = np.stack([(y.ravel() - fit(t)) ** 2 for fit in fits])
        best = min(best, float(errors.min(axis=0).sum()))
    return best


def off_line(first: float, beside: Array, tolerance: float) -> int:
    """Return how many of the answers on a tiny line from the first query miss the straight line that most are on."""
    t = 1.0 + np.arange(len(beside))
    slopes = (beside - first) / t
    miss = np.abs(first + np.outer(slopes, t) - beside) > max(tolerance, 1e-9 * float(np.abs(beside).max()))
    return int(miss.sum(axis=1).min())


def mean_test(y: Array, blur: float) -> tuple[float, float, float]:
    """Test whether the mean of answers to one query is 0: p-value, the mean, and its error.

    `blur` is the mean square of errors that no repetition takes away.
    """
    from scipy import special

    mean, error = float(y.mean()), math.sqrt(float(y.var(ddof=1)) / len(y) + blur)
    return 2 * float(special.stdtr(len(y) - 1, -abs(mean) / error)), mean, error


def unequal_levels(groups: Array) -> float:
    """Return the p-value of equal levels in all groups (groups, size), by the test of Kruskal and Wallis."""
    from scipy import special  # scipy.stats has this test, and takes a second to import

    _, place, ties = np.unique(groups, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place].reshape(groups.shape)
    N = groups.size
    H = groups.shape[1] * ((ranks.mean(axis=1) - (N + 1) / 2) ** 2).sum() * 12 / (N * (N + 1))
    return float(special.chdtrc(len(groups) - 1, H / (1 - float((ties**3.0 - ties).sum()) / (N**3 - N))))


def unequal_spreads(groups: Array, rng: np.random.Generator) -> float:
    """Return the p-value of equal spreads in all groups (groups, size): what is left of each mean is permuted."""
    rest = groups - groups.mean(axis=1, keepdims=True)

    def unequal(rest: Array) -> Array:
        found: Array = np.abs(rest).mean(axis=-1).var(axis=-1)
        return found

    copies = np.broadcast_to(rest.ravel(), (tuning.PERMUTATIONS, rest.size))
    shuffled = rng.permuted(copies, axis=1).reshape(tuning.PERMUTATIONS, *rest.shape)
    return float((1 + np.sum(unequal(shuffled) >= unequal(rest) * (1 - 1e-9))) / (tuning.PERMUTATIONS + 1))


def alike_by_caller(answers: Array, rng: np.random.Generator) -> float:
    """Return the p-value of answers that are as alike as those of one caller are; they are (places, callers, visits).

    If the routing takes no notice of the caller, all answers at one place are alike, whoever asks: permute them.
    """

    def within(y: Array) -> Array:
        found: Array = y.var(axis=-1).mean(axis=-1)  # of each caller; then over the callers
        return found

    seen, mixed = 0.0, np.zeros(tuning.MORE_PERMUTATIONS)
    for y in answers:
        copies = np.broadcast_to(y.ravel(), (tuning.MORE_PERMUTATIONS, y.size))
        shuffled = rng.permuted(copies, axis=1).reshape(tuning.MORE_PERMUTATIONS, *y.shape)
        whole = float(y.var()) + 1e-300  # each place counts for as much
        seen, mixed = seen + float(within(y)) / whole, mixed + within(shuffled) / whole
    return float((1 + np.sum(mixed <= seen * (1 + 1e-9))) / (tuning.MORE_PERMUTATIONS + 1))


def decimal_step(y: Array) -> float:
    """Return the step of rounded answers, such as 1 or 0.01; 0 if they are not rounded."""
    for step in tuning.STEPS:
        if np.all(np.abs(y / step - np.round(y / step)) < 1e-6):
            return step
    return 0.0
