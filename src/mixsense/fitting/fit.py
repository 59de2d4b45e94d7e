"""Fit given data: the steps from a table to a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixsense.checks import as_float, generator, shown
from mixsense.errors import InvalidInput
from mixsense.features.units import as_intercept
from mixsense.fitting.columns import columns_of
from mixsense.fitting.report import Report
from mixsense.fitting.search import expect, search
from mixsense.fitting.table import Table, read_table
from mixsense.problem import AUTO, ESTIMATE, Problem
from mixsense.recovery import Recovery
from mixsense.regression.data import Data
from mixsense.scales import scale_of


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
    offset = float(np.average(table.y, weights=table.counts)) if intercept and scale is None else 0.0
    data = Data(columns.rows(table.X), table.y - offset, 0, table.group, scale, table.counts, int(intercept))
    expected = expect(
        data,
        None if problem.models == AUTO else int(problem.models),
        sigma,
        np.array(problem.weights) if isinstance(problem.weights, tuple) else None,
        problem.weights in (None, ESTIMATE),
        lapses,
    )
    found = search(data, expected, rng)
    return Report(table, columns, constant, data, expected, found, offset).recovery()
