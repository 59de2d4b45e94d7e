"""What a recovery is used for: predictions, who answered, effects, a data frame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array, Index
from mixsense.checks import as_float, as_reals, is_unicode, require, visible
from mixsense.errors import InvalidInput
from mixsense.frames import as_column, as_groups, in_order
from mixsense.recovery.fields import INTERCEPT
from mixsense.scales import Probability, Rating, law_of
from mixsense.scales.lapses import Lapses
from mixsense.scales.scale import Scale, terms_of

if TYPE_CHECKING:
    from mixsense.recovery.result import Recovery

LEVEL = 0.95
"""Probability of intervals, unless another one is asked for."""
HALF_RANGES = "half_ranges"
"""Where the diagnostics keep half of the range of each feature."""
MIDDLES = "middles"
"""Where the diagnostics keep the middle of the range of each feature."""


class Prediction(NamedTuple):
    """What each model would answer to q queries, for q rows of L models; one query given as (n,) is one row."""

    mean: Array
    """(q, L), the expected answer of each model."""
    interval: Array
    """(q, L, 2), low and high ends of the expected answer: how sure the model is."""
    answers: Array
    """(q, L, 2), low and high ends of one answer of the model, with its noise."""
    overall: Array
    """(q,), the expected answer of whoever comes: the mean over the shares."""


def predict(recovery: Recovery, x: Any, level: float = LEVEL) -> Prediction:
    """Say what each model would answer; see `Recovery.predict`."""
    X = in_order("x", x, recovery.names, recovery.vectors.shape[1])
    z = normal_quantile(as_float("level", level, "the probability of the intervals, e.g. 0.95", 0.0, 1.0, strict=True))
    mean = _means(recovery, X)
    stderr = _stderr(recovery, X)
    noise = np.sqrt(stderr**2 + _sigmas(recovery) ** 2)
    interval, answers = _around(mean, z * stderr), _around(mean, z * noise)
    if (scale := recovery.scale) is not None:  # in the answers' own scale, which is monotone
        sigma = np.nan_to_num(_sigmas(recovery))
        mean, answers = scale.predict(mean, sigma), scale.answer(answers)
        interval = np.stack([scale.predict(interval[..., end], sigma) for end in (0, 1)], axis=-1)
    return Prediction(mean, interval, answers, mean @ recovery.weights)


def responsibilities(recovery: Recovery, X: Any, y: ArrayLike, groups: Any = None) -> Array:
    """Say which model answered; see `Recovery.responsibilities`."""
    _, mean, law, answers, group = _answered(recovery, X, y, groups)
    return _probabilities(recovery, mean, law, answers, group)


def lapses(recovery: Recovery, X: Any, y: ArrayLike, groups: Any = None) -> Array:
    """Say which answers come from anywhere; see `Recovery.lapses`."""
    rows, mean, law, answers, group = _answered(recovery, X, y, groups)
    if not isinstance(law, Lapses):
        return np.zeros(len(rows))
    P = _probabilities(recovery, mean, law, answers, group)
    found: Array = (P * law.lapsed(answers, mean, _sigmas(recovery))).sum(axis=1)
    return found


Answered = tuple[Array, Array, Scale | None, Array, Index | None]


def _answered(recovery: Recovery, X: Any, y: ArrayLike, groups: Any) -> Answered:
    """Return rows, the models' means there, how answers are made of them, the answers, and groups: all checked."""
    rows = in_order("X", X, recovery.names, recovery.vectors.shape[1])
    answers = as_column("y", y, len(rows))
    if np.isnan(answers).any():
        raise InvalidInput(f"y[{int(np.isnan(answers).argmax())}] is missing: give the answers")
    if not (_sigmas(recovery) > 0).all():
        raise InvalidInput("the noise is 0 or not known: with which model an answer goes cannot be weighed")
    law = law_of(recovery.diagnostics)
    if law is not None:
        law.check(answers)
    group = None if groups is None else as_groups(groups, len(rows))
    return rows, _means(recovery, rows), law, answers, group


def _probabilities(recovery: Recovery, mean: Array, law: Scale | None, answers: Array, group: Index | None) -> Array:
    """Return the probability that each answer came from each model, (N, L)."""
    sigma = _sigmas(recovery)
    log_p = terms_of(law, answers, mean, sigma).loglik
    if group is not None:
        summed = np.zeros((int(group.max(initial=-1)) + 1, log_p.shape[1]))
        np.add.at(summed, group, log_p)
        log_p = summed
    log_p = log_p + np.log(np.maximum(recovery.weights, 1e-300))
    P: Array = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P if group is None else P[group]


def scale_or_none(recovery: Recovery) -> Rating | Probability | None:
    """Return the scale of the answers; None where they are real numbers, or nobody knows what they are."""
    try:
        return recovery.scale
    except InvalidInput:  # diagnostics of a method of one's own may be anything
        return None


def of_each_feature(recovery: Recovery, key: str) -> Array | None:
    """Return numbers of the features that the diagnostics keep, (n,); None if they do not."""
    try:
        found = as_reals(key, recovery.diagnostics.get(key), "one for each feature")
    except InvalidInput:
        return None
    return found if found.shape == recovery.vectors.shape[1:] else None


def effects(recovery: Recovery) -> dict[str, Array]:
    """Say what half of each feature's range does; see `Recovery.effects`."""
    n = recovery.vectors.shape[1]
    half = of_each_feature(recovery, HALF_RANGES)
    if half is None:
        raise InvalidInput(
            "the ranges of the features are not known here: effects need data (ms.fit), or a box (ms.recover)"
        )
    names = recovery.names or tuple(f"x{j}" for j in range(n))
    return dict(zip(names, (recovery.vectors * half).T, strict=True))


def to_frame(recovery: Recovery) -> Any:
    """Return a table with a row for each coefficient of each model; see `Recovery.to_frame`."""
    pd = require("pandas", "sklearn", "data frames need")
    L, n = recovery.vectors.shape
    # Half a character, as Python makes of bytes that are no UTF-8, has no place in a frame.
    names: list[Any] = [name if is_unicode(name) else visible(name) for name in recovery.names or ()] or list(range(n))
    if recovery.intercept is not None:
        names.append(INTERCEPT)
    value, stderr, ends = estimates(recovery)
    low, high = np.moveaxis(ends, -1, 0)
    columns = {
        "model": np.repeat(np.arange(1, L + 1), len(names)),
        "share": np.repeat(recovery.weights, len(names)),
        "coefficient": names * L,
        "value": value.ravel(),
        "stderr": stderr.ravel(),
        "low": low.ravel(),
        "high": high.ravel(),
    }
    return pd.DataFrame(columns)


def estimates(recovery: Recovery) -> tuple[Array, Array, Array]:
    """Return values and standard errors, (L, p), and 95 % intervals, (L, p, 2), of all coefficients.

    The intercept is the last of the p coefficients, if there is one; NaN stands for what is not known.
    """
    L, n = recovery.vectors.shape
    value, stderr = recovery.vectors, _or_nan(recovery.stderr, (L, n))
    if recovery.intercept is not None:
        value = np.column_stack([value, recovery.intercept])
        stderr = np.column_stack([stderr, _or_nan(recovery.intercept_stderr, (L,))])
    ends = _around(value, normal_quantile(LEVEL) * stderr)
    if recovery.interval is not None:
        ends[:, :n] = recovery.interval
    return value, stderr, ends


def normal_quantile(level: float) -> float:
    """Return how many standard errors a two-sided interval of this probability reaches.

    Examples
    --------
    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + level) / 2) if level < 1 else math.inf


def _means(recovery: Recovery, X: Array) -> Array:
    mean: Array = X @ recovery.vectors.T
    return mean if recovery.intercept is None else mean + recovery.intercept


def _sigmas(recovery: Recovery) -> Array:
    return np.broadcast_to(np.asarray(recovery.sigma, dtype=np.float64), (len(recovery.vectors),))


def _stderr(recovery: Recovery, X: Array) -> Array:
    """Return the standard errors of the means, (q, L): with the covariance where there is one."""
    L, n = recovery.vectors.shape
    if recovery.covariance is not None:
        rows = X if recovery.intercept is None else np.column_stack([X, np.ones(len(X))])
        variance = np.stack([np.einsum("ij,jk,ik->i", rows, C, rows) for C in recovery.covariance], axis=1)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)), dtype=np.float64)
    alone: Array = X**2 @ (_or_nan(recovery.stderr, (L, n)) ** 2).T  # as if the errors were independent
    if recovery.intercept is not None:
        alone = alone + _or_nan(recovery.intercept_stderr, (L,)) ** 2
    return np.asarray(np.sqrt(alone), dtype=np.float64)


def _or_nan(errors: Array | None, shape: tuple[int, ...]) -> Array:
    return np.full(shape, np.nan) if errors is None else errors


def _around(mean: Array, half: Array) -> Array:
    return np.stack([mean - half, mean + half], axis=-1)
