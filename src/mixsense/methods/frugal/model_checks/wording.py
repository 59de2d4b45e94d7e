"""What is said of failed checks: which one comes first, how strong it is, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.check import Check

_RATING = "give scale=ms.Rating(low, high, step) if the answers are ratings or rounded, or ms.Probability()"
_BLOCK = "answers from one caller are linked: ask one query of each caller, or use block"
_DRIFT = "ask within a shorter time, or run again: what was answered before and after is not the same"
_LINEAR = "the answers are not linear in the features: add the products or squares as features, or shrink the box"

_PEOPLE = "take one answer of each respondent, so that what is their own is part of the noise"

REMEDIES = {
    "own levels": _PEOPLE,
    "own coefficients": _PEOPLE,
    "drift of the level": _DRIFT,
    "drift of the shares": _DRIFT,
    "drift of the coefficients": _DRIFT,
    "order in a group": "ask fewer queries of each respondent",
    "linked": _BLOCK,
    "levels": "shrink the box; if a rule routes between constants, ask each side of it by itself",
    "gate": "the model is chosen by the query: ask each side of the rule by itself",
    "repeats": "the model is chosen by the query, or answers are cached: ask new queries, or another way of asking",
    "rounding": _RATING,
    "ends": _RATING,
    "link": f"{_RATING}, or shrink the box",
    "bend": f"{_RATING}, or shrink the box",
    "squares": _LINEAR,
    "cubes": _LINEAR,
    "interactions": _LINEAR,
    "offset": "give a box and intercept=True, or subtract the constant",
    "sigma by model": "the bounds count on equal noise: give more answers, or sigma for each model",
    "uneven noise": "look for a further model, or at a transform of the answers, such as their logarithm",
    "sigma": "leave sigma out: it is estimated then",
    "shares": "leave weights out: they are estimated then",
    "models": 'give models="auto", which finds up to six',
    "lapses": "look for a further model, or for nonsense among the answers",
    "shape": "look at a transform of the answers, such as their logarithm, ask several queries of one respondent, or "
    "give models=1 if there cannot be two",
    "tails": "look for nonsense among the answers, or for a further model that answers seldom",
    "outliers": "look for nonsense among the answers, or for a further model that answers seldom (below 2 %)",
    "skewness": "look at a transform of the answers, such as their logarithm",
}
"""What to do if a check fails, in the order of naming: what explains most comes first."""


CHANCE = (
    f"where the model holds, all checks together fail by chance in about {tuning.BY_CHANCE}: "
    "another seed (an audit: --fresh) tells"
)
"""What is said of a failure that is not beyond doubt."""


def failed(checks: Sequence[Check]) -> list[Check]:
    """Return the checks that failed: strong ones before weak ones, and both in the order of naming.

    A constant looks like a level that drifts, if less so: it comes first where it explains more.
    """
    order, wrong = list(REMEDIES), [check for check in checks if check.failed]
    nats = {check.name: check.nats for check in wrong}
    if nats.get("offset", 0.0) > nats.get("drift of the level", 0.0):
        order.insert(0, "offset")
    strong = tuning.STRONG_SHARE * max((check.nats for check in wrong), default=0.0)
    return sorted(wrong, key=lambda check: (check.nats < strong, order.index(check.name)))


def surely_failed(checks: Sequence[Check]) -> bool:
    """Say whether a check failed beyond doubt: more answers would not help.

    One that has no p-value, and fails at anything above 0, always fails beyond doubt.

    Examples
    --------
    >>> [surely_failed([Check("squares", 5.0, p, 2e-6, "the answers bend")]) for p in (5e-6, 1e-6)]
    [False, True]
    """
    return any(
        check.failed
        and (
            check.statistic > tuning.SURELY_FAILED * check.threshold
            if check.p_value is None
            else check.p_value < tuning.INTERIM_P_VALUE
        )
        for check in checks
    )


def doubtful(checks: Sequence[Check]) -> bool:
    """Say whether a check passed so narrowly that it should be made again with more answers.

    Examples
    --------
    >>> [doubtful([Check("link", nats, None, 6.0, "the answers level off")]) for nats in (2.0, 4.0, 7.0)]
    [False, True, False]
    """
    return not failed(checks) and any(
        check.name in tuning.RATIOS and check.statistic > tuning.DOUBTFUL_SHARE * check.threshold
        if check.p_value is None
        else check.p_value < tuning.DOUBTFUL_FACTOR * check.threshold
        for check in checks
    )


def warning(checks: Sequence[Check], again: bool = True) -> str | None:
    """Return one sentence about the failed checks: the first one, how strong, what to do, and which others failed.

    Where none failed beyond doubt, and the run can be made again, it says how often that happens by chance.

    Examples
    --------
    >>> warning([Check("tails", 9.0, None, 4.0, "some answers are far from all models")])[:62]
    'check "tails" failed: some answers are far from all models (9 '
    """
    wrong = failed(checks)
    if not wrong:
        return None
    first, *others = wrong
    strength = (
        f"{first.statistic:.3g} > {first.threshold:.3g}"
        if first.p_value is None
        else f"p = {first.p_value:.1g}, statistic {first.statistic:.2g}"
    )
    also = f"; failed, too: {', '.join(check.name for check in others)}" if others else ""
    chance = f"; {CHANCE}" if again and not surely_failed(wrong) else ""
    return f'check "{first.name}" failed: {first.what} ({strength}); {REMEDIES[first.name]}{also}{chance}'
