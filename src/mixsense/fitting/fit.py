"""Fit given data: the steps from a table to a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense.checks import MOST_SIGMAS, as_float, generator, shown
from mixsense.errors import InvalidInput
from mixsense.features.units import as_intercept
from mixsense.fitting.columns import columns_of, unit_of
from mixsense.fitting.report import Report
from mixsense.fitting.search import expect, search
from mixsense.fitting.table import Table, read_table
from mixsense.problem import AUTO, ESTIMATE, Problem
from mixsense.recovery import Recovery
from mixsense.regression.data import Data
from mixsense.scales import scale_of
from mixsense.threads import one_thread


def fit_table(
    X: Any,
    y: Any,
    groups: Any = None,
    models: int | str = AUTO,
    sigma: float | None = None,
    weights: Sequence[float] | str | None = None,
    scale: Any = None,
    intercept: bool = False,
    features: Sequence[str] | None = None,
    seed: Any = None,
    sample_weight: Any = None,
    lapses: bool = False,
) -> Recovery:
    """Fit a table; `mixsense.fit` explains the arguments. `sample_weight` is how often each row counts."""
    problem = Problem(1, models=models, weights=weights)
    intercept = as_intercept(intercept)
    if not isinstance(lapses, (bool, np.bool_)):
        raise InvalidInput(f"lapses is {shown(lapses)}: give True if some answers may come from anywhere, or False")
    if sigma is not None:
        sigma = as_float("sigma", sigma, "the noise's standard deviation, or None to have it found", 0.0, strict=True)
    rng = generator(0 if seed is None else seed)
    table, scale = read_table(X, y, groups, features, sample_weight), scale_of(scale)
    if scale is not None:
        scale.check(table.y)
    return _fitted(table, problem, sigma, scale, intercept, bool(lapses), rng)


def _fitted(
    table: Table,
    problem: Problem,
    sigma: float | None,
    scale: Any,
    intercept: bool,
    lapses: bool,
    rng: np.random.Generator,
) -> Recovery:
    columns, constant = columns_of(table.X, table.counts, intercept)
    if not columns.width:
        raise InvalidInput("every column of X is 0: there is nothing that the answers could depend on")
    offset = _level(table) if intercept and scale is None else 0.0
    columns = replace(columns, unit=1.0 if scale is not None else unit_of(table.y - offset, table.counts, abs(offset)))
    answers = (table.y - offset) / columns.unit
    if sigma is not None and not 1 / MOST_SIGMAS <= sigma / columns.unit <= MOST_SIGMAS:
        raise InvalidInput(
            f"sigma is {sigma:g}, and the answers are of the size of {columns.unit:g}: give both in the same unit",
            sigma=sigma,
        )
    data = Data(columns.rows(table.X), answers, 0, table.group, scale, table.counts, int(intercept))
    expected = expect(
        data,
        problem.given_models,
        None if sigma is None else sigma / columns.unit,
        np.array(problem.weights) if isinstance(problem.weights, tuple) else None,
        problem.weights in (None, ESTIMATE),
        lapses,
    )
    with one_thread():
        found = search(data, expected, rng)
        return Report(table, columns, constant, data, expected, found, offset).recovery()


def _level(table: Table) -> float:
    """Return the mean answer; where all answers are the same, exactly that."""
    y = table.y
    return float(y[0] if np.ptp(y) == 0 else np.average(y, weights=table.counts))
