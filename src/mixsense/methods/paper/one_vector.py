"""Algorithm 9: one vector for all, where γ is as large as their distance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense import mixture
from mixsense.arrays import Array
from mixsense.methods.design import gaussian
from mixsense.methods.paper.checks import bend_doubts, level_doubts, one_sided, strangers, too_quiet, unsteady
from mixsense.methods.paper.constants import Constants
from mixsense.methods.paper.decoding import Decoder, decode, decoding_error, one_vector, supported_sparsity
from mixsense.methods.paper.estimate import Batches, measure_gap, measure_sigma
from mixsense.methods.paper.new_queries import verified_means
from mixsense.methods.paper.noiseless import noiseless
from mixsense.methods.paper.options import Options, number_of_models
from mixsense.methods.paper.stopping import Accuracy, Gap, farthest
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method


def single(
    problem: Problem,
    rng: np.random.Generator,
    m: int | None = None,
    batch: int | None = None,
    constants: str | Constants = "practical",
    decoder: str | Decoder = "basis_pursuit",
) -> Method[Recovery]:
    """Recover one vector that stands for all, as Algorithm 9 does.

    Parameters
    ----------
    problem : Problem
        n, γ, η, and σ (measured if None), k (or give m); the number of models, where "auto" is two.
    rng : Generator
        Draws the queries.
    m : int, optional
        Number of Gaussian queries; c_s k log n by default.
    batch : int, optional
        Fixed number of answers to every query.
    constants : "practical", "theory" or Constants
        The numbers that the paper leaves open.
    decoder : "basis_pursuit", callable or str
        What makes a vector of its measurements: a function (A, b, radius) whose result has the vector as `value`, as
        `mixsense.decode.basis_pursuit`, called once for each vector; or its name as ``module:function``.

    Returns
    -------
    Recovery
        A row for each model, all equal; status "single", or "uncertain" if γ is below 0.8 ‖β¹ − β²‖.

    Notes
    -----
    Algorithm 9, Theorem 1 (case 2). Differs from the print: (1) ‖β¹ − β²‖, which T needs, is measured from a first
    batch; (2) where γ < ‖β¹ − β²‖ the precision ‖β¹ − β²‖ takes its place, as the proof says, and below 0.8 ‖β¹ − β²‖
    a warning names the method that recovers two; (3) of more than two vectors, a batch's mean is taken, not the
    midpoint of its quartiles, which then is not linear in x; ‖β¹ − β²‖ is the root mean square over all pairs, and a
    vector can be (L − 1)/√(2L) times as far from the mean of all; (4) new queries verify the vector in the end.
    """
    options = Options.of(problem, "single", m, batch, constants, decoder)
    c, m = options.constants, options.m
    sigma, sigma2_error = problem.sigma, 0.0
    if sigma is None:
        sigma, sigma2_error = yield from measure_sigma(problem.n, c.noise_samples)
        if sigma == 0:
            exactly = replace(problem, sigma=0.0, models=options.models)
            return (yield from noiseless(exactly, rng, m, c, options.decoder))
    several = max(options.models, 2)  # one is measured as if there were two, to see that there are not
    accuracy = Accuracy(sigma, problem.gamma or sigma, math.log(m / problem.eta), c, options.batch, several)

    X = gaussian(m, problem.n, rng, problem.limit)
    batches = Batches(m)
    yield from batches.top_up(X, accuracy.test_samples, "base queries: how far apart are the vectors", None)
    gap = measure_gap(batches, accuracy, problem.eta, sigma2_error)

    def best(status: str = "budget") -> Recovery:
        return fit_one(X, batches, problem, accuracy, options.decoder, status, sigma2_error)

    if batch is None:
        accuracy = replace(accuracy, gamma=max(accuracy.gamma, 2 * farthest(several) * gap.value))
        epsilon = (accuracy.gamma - accuracy.single_fraction * gap.value) / c.single_noise  # √2 ε + 0.8 ‖Δ‖ = γ
        size = math.ceil(c.single_samples / 4 * (sigma / epsilon) ** 2 * accuracy.log_eta)
        yield from batches.top_up(X, size, "base queries", best)
    return (yield from verified_means(best("single"), problem, sigma, rng))


def fit_one(
    X: Array,
    batches: Batches,
    problem: Problem,
    accuracy: Accuracy,
    decoder: Decoder,
    status: str,
    sigma2_error: float = 0.0,
    warnings: list[str] | None = None,
) -> Recovery:
    """Decode the midpoints of all batches to one vector, a row for each model (lines 3 to 9 of Algorithm 9)."""
    c, (m, n) = accuracy.constants, X.shape
    gap: Gap = measure_gap(batches, accuracy, problem.eta, sigma2_error)
    u, stderr = np.empty(m), np.empty(m)
    for index, y in batches.by_size():
        if accuracy.models == 2:
            midpoint = mixture.single(y)
            u[index], stderr[index] = midpoint.value[:, 0], midpoint.stderr[:, 0]
        else:
            u[index], stderr[index] = y.mean(axis=1), y.std(axis=1, ddof=1) / math.sqrt(y.shape[1])
    vector = decode(X, u[None], stderr, c, accuracy.gamma, decoder)[0]
    k = problem.k or supported_sparsity(m, n, c)
    bound = decoding_error(n, k, stderr, c) + gap.high * farthest(accuracy.models)
    warnings = list(warnings or [])
    if status == "single":
        found = level_doubts(X, u, vector[None], accuracy.models * k) + too_quiet(batches, accuracy.sigma)
        found += bend_doubts(X, u, vector[None], accuracy.models * k)
        found += unsteady(batches) if gap.low == 0 else []
        status, warnings = "uncertain" if found else status, warnings + found
    if status == "single" and problem.gamma is not None and problem.gamma <= accuracy.single_fraction * gap.low:
        status = "uncertain"
        warnings.append(
            f"the vectors are about {gap.value:.3g} apart, gamma is {problem.gamma:g}: one vector cannot stand for "
            f"{'both' if accuracy.models == 2 else 'all'} with this precision; use method='paper'"
        )
    if status == "single" and (gap.low == 0 or accuracy.models == 2):  # three need not lie on either side of their mean
        far = strangers if gap.low == 0 else one_sided
        found = far(batches, u[:, None], accuracy.sigma)
        status, warnings = "uncertain" if found else status, warnings + found
    if status == "budget" and gap.low > 0:
        warnings.append(
            "the answers that are left do not pay for the next round, and nothing tells the vectors apart yet: each "
            "row is their mean"
        )
    diagnostics: dict[str, Any] = {
        "method": "single",
        "constants": c.name,
        "m": m,
        "gap": {"value": gap.value, "low": gap.low, "high": gap.high},
        "snr": (gap.value / accuracy.sigma) ** 2,
        "midpoints": u.tolist(),
        "warnings": warnings,
    }
    rows = number_of_models(problem)
    return one_vector(vector, rows, status=status, error_bound=bound, sigma=accuracy.sigma, diagnostics=diagnostics)
