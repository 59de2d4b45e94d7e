"""Fits from a start, with what is known of the models."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import NamedTuple

from mixsense.arrays import Array
from mixsense.regression import tuning
from mixsense.regression.candidates import Expected
from mixsense.regression.data import Data
from mixsense.regression.em import EM
from mixsense.regression.fit import Fit, climb, finish


class From(NamedTuple):
    """Where a fit starts."""

    beta: Array
    sigma: float | Array
    weights: Array
    rate: float


def climbed(
    start: Array,
    sigma: float | Array,
    weights: Array,
    rate: float,
    data: Data,
    expected: Expected,
    selections: int = tuning.SELECTIONS,
    steps: int = tuning.EM_STEPS,
) -> EM:
    """Fit several models from a start to the nearest optimum."""
    if expected.sigmas is not None and len(start) == len(expected.sigmas):
        sigma, start = expected.sigmas, _in_order(start, expected.sigmas, weights, data)
    return climb(
        data,
        start,
        sigma,
        weights,
        rate,
        expected.rate,
        free_sigma=expected.free_sigma,
        free_weights=expected.free_weights,
        least_sigma=expected.least_sigma,
        selections=selections,
        steps=steps,
    )


def _in_order(start: Array, sigmas: Array, weights: Array, data: Data) -> Array:
    """Return models in the order in which their noise was given: the one that explains the answers best."""
    orders = [start[list(order)] for order in permutations(range(len(start)))]
    return max(orders, key=lambda beta: data.loglik(beta, weights, sigmas))


def fitted(
    start: Array, sigma: float | Array, weights: Array, rate: float, route: str, data: Data, expected: Expected
) -> Fit:
    """Fit several models from a start."""
    return finish(climbed(start, sigma, weights, rate, data, expected), route)


def again(fits: Iterable[Fit], data: Data, expected: Expected) -> list[Fit]:
    """Fit again from where earlier fits of the same number of models ended."""
    return [fitted(f.beta, f.noise, f.weights, f.rate, f.route, data._replace(scale=f.scale), expected) for f in fits]
