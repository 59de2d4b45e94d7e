"""Remedies that can be tried at once: the same answers, fitted with another option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.check import Check, check_model, check_values
from mixsense.methods.frugal.model_checks.values import rounding_step
from mixsense.methods.frugal.model_checks.wording import failed
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit, climb, finish
from mixsense.scales.probability import Probability
from mixsense.scales.rating import Rating


class _Option(NamedTuple):
    """What is tried."""

    text: str
    data: Data
    free_sigma: bool
    free_weights: bool


def try_remedy(
    checks: Sequence[Check], data: Data, fit: Fit, free_sigma: bool, free_weights: bool, *, level: bool
) -> dict[str, Any] | None:
    """Try the option that the first failed check asks for on the same answers, and say which checks still fail.

    Parameters
    ----------
    checks : sequence of Check
        All checks of the fit.
    data : Data
        All answers.
    fit : Fit
        The models.
    free_sigma, free_weights : bool
        Whether σ and the shares were estimated.
    level : bool
        The first column of the rows is the level.

    Returns
    -------
    dict or None
        "option", as the user would give it, and "failed", the names of the checks that fail with it. None if no check
        failed, or the remedy is none that can be tried on answers that are there.
    """
    wrong = failed(checks)
    if not wrong:
        return None
    if wrong[0].name == "models":
        return {"option": 'models="auto"', "failed": None}
    option = _option({check.name for check in wrong}, wrong[0].name, data, free_sigma, free_weights)
    if option is None:
        return None
    # Where the value is a logit, its slope is 4 in the middle of the answers: the search begins with larger models.
    larger = tuning.LOGIT_SLOPE if isinstance(option.data.scale, Probability) else 1.0
    em = climb(
        option.data,
        larger * fit.beta,
        larger * max(fit.sigma, rounding_step(data.y) / 2),
        fit.weights,
        fit.rate,
        fit.rate,
        free_sigma=option.free_sigma,
        free_weights=option.free_weights and fit.L > 1,
    )
    found = finish(em, fit.route)
    made = check_model(option.data, found, option.free_sigma, option.free_weights, level=level)
    left = failed([*made, *check_values(option.data, found)])
    return {"option": option.text, "failed": [check.name for check in left]}


def _option(names: set[str], first: str, data: Data, free_sigma: bool, free_weights: bool) -> _Option | None:
    """Return the option that may explain what fails; None if there is none to try."""
    if first == "sigma":
        return _Option("sigma=None", data, True, free_weights)
    if first == "shares":
        return _Option("weights=None", data, free_sigma, True)
    if data.scale is not None or first not in ("rounding", "ends", "link", "bend"):
        return None
    y = data.y
    if y.min() >= 0 and y.max() <= 1:
        return _Option("scale=ms.Probability()", data._replace(scale=Probability()), free_sigma, free_weights)
    if not names & {"rounding", "ends"}:
        return None
    rating = _rating(y)
    text = f"scale=ms.Rating({rating.low:g}, {rating.high:g}, {rating.step:g})"
    return _Option(text, data._replace(scale=rating), free_sigma, free_weights)


def _rating(y: Array) -> Rating:
    """Return the scale of rounded or cut answers; an end that few of them are at is one step beyond them all."""
    step, low, high = rounding_step(y), float(y.min()), float(y.max())
    beyond = step or float(np.ptp(y))
    at_low, at_high = (float(np.mean(y == end)) >= tuning.AT_AN_END for end in (low, high))
    return Rating(low if at_low else low - beyond, high if at_high else high + beyond, step)
