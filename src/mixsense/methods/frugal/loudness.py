"""The option `snr`: how loud the difference of the models may be in the queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_float
from mixsense.errors import InvalidInput
from mixsense.features.units import Coded
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.steering import Queries
from mixsense.problem import Problem


def as_snr(snr: Any, problem: Problem, box: Coded | None) -> float | None:
    """Return the largest mean of ⟨x, Δ⟩²/‖Δ‖², or say what is needed."""
    if snr is None:
        return None
    found = as_float("snr", snr, "the most of the mean of ⟨x, Δ⟩²/‖Δ‖², e.g. 2 as the paper's sums", 0.0, strict=True)
    if problem.gamma is not None or box is not None:
        what = "a box" if box is not None else "a precision to certify"
        raise InvalidInput(f"snr does not go with {what}: give gamma=None, max_queries, and no box", snr=found)
    return found


def as_loud_as(queries: Queries, snr: float | None) -> Queries:
    """Return Gaussian queries that are not louder than this, whatever the models are; all of one length, on average."""
    if snr is None:
        return queries
    norm2 = float(np.einsum("ij,ij->", queries.X, queries.X)) / queries.X.size
    return queries._replace(X=queries.X * math.sqrt(min(1.0, snr / norm2)))


def quieter(queries: Queries, beta: Array, snr: float | None) -> Queries:
    """Return queries in which no difference of the models is louder than this.

    Parameters
    ----------
    queries : Queries
        Focused and steered ones.
    beta : (L, n) array
        The estimated models.
    snr : float or None
        The most of the mean of ⟨x, Δ⟩²/‖Δ‖² for each difference Δ of two models.

    Notes
    -----
    Only the part of a query in the span of the differences is made smaller: all other directions stay as focused as
    they were. What is made smaller is no instrument any more, so that no bound for any vectors is made of it.
    """
    if snr is None:
        return queries
    _, size, rows = np.linalg.svd(beta[1:] - beta[0], full_matrices=False)
    U = rows[size > tuning.SAME_DIRECTION * size.max(initial=0.0)]  # (r, n)
    along = queries.X @ U.T  # (q, r)
    loudness = np.linalg.eigvalsh(along.T @ along / len(along)).max(initial=0.0)  # of the loudest direction
    if loudness <= snr:
        return queries
    return Queries(queries.X + (math.sqrt(snr / loudness) - 1) * along @ U, np.zeros_like(queries.instruments))
