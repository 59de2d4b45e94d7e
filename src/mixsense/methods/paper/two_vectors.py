"""Algorithm 8: recover two sparse vectors by repeated queries, alignment and basis pursuit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.methods.design import gaussian
from mixsense.methods.paper.align import Alignment, align_all, choose_pivot
from mixsense.methods.paper.constants import Constants
from mixsense.methods.paper.decoding import Decoder, decode, decoding_error, supported_sparsity
from mixsense.methods.paper.estimate import Batches, Estimates, measure_gap, measure_sigma, test_and_estimate
from mixsense.methods.paper.noiseless import noiseless
from mixsense.methods.paper.one_vector import fit_one
from mixsense.methods.paper.options import Options
from mixsense.methods.paper.stopping import Accuracy, Gap, alignment_accuracy, gap_known, one_is_enough
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method

CLEAR_MARGIN = 3.0
"""An order of two means with a smaller margin, odds below e³ = 20 to 1, is counted as unclear in the
diagnostics (taste)."""


def paper(
    problem: Problem,
    rng: np.random.Generator,
    m: int | None = None,
    batch: int | None = None,
    pairs: str = "pivot",
    constants: str | Constants = "practical",
    decoder: str | Decoder = "basis_pursuit",
) -> Method[Recovery]:
    """Recover both vectors as Algorithm 8 does.

    Parameters
    ----------
    problem : Problem
        n, γ, η, and σ (measured if None), k (or give m).
    rng : Generator
        Draws the queries.
    m : int, optional
        Number of Gaussian queries; c_s k log n by default.
    batch : int, optional
        Fixed number of answers to every query, as in the paper's simulations. Then γ plays no part in asking.
    pairs : "pivot" or "all"
        Which sums and differences are asked: those with the pivot, 2(m − 1), or those with each of the first
        m' queries, as printed.
    constants : "practical", "theory" or Constants
        The numbers that the paper leaves open.
    decoder : "basis_pursuit", callable or str
        What makes a vector of its measurements: a function (A, b, radius) whose result has the vector as `value`, as
        `mixsense.decode.basis_pursuit`, called once for each vector; or its name as ``module:function``. The
        error bound is basis pursuit's, whatever decodes.

    Returns
    -------
    Recovery

    Notes
    -----
    Algorithm 8, Theorem 1 (case 1). Differs from the print: (1) ‖β¹ − β²‖, which m' and γ' need, is measured (erratum
    2); (2) if γ > 0.096 ‖β¹ − β²‖ the precision γ' = 0.096 ‖β¹ − β²‖ takes its place, as the proof says, and if
    γ > 0.8 ‖β¹ − β²‖ one vector is fitted, as case 2 of the theorem says; (3) with `practical` constants basis pursuit
    weights the queries by their standard errors (errata 6 and 12).
    """
    options = Options.of(problem, "paper", m, batch, constants, decoder)
    if pairs not in ("pivot", "all"):
        raise InvalidInput(f"pairs is {pairs!r}: give 'pivot' or 'all'", pairs=pairs)
    c = options.constants
    sigma, sigma2_error = problem.sigma, 0.0
    if sigma is None:
        sigma, sigma2_error = yield from measure_sigma(problem.n, c.noise_samples)
        if sigma == 0:
            return (yield from noiseless(replace(problem, sigma=0.0), rng, options.m, c, options.decoder))
    accuracy = Accuracy(sigma, problem.gamma or sigma, math.log(3 * options.m / problem.eta), c, options.batch)

    X = gaussian(options.m, problem.n, rng, problem.limit)
    batches = Batches(len(X))

    def best() -> Recovery:
        return fit_one(X, batches, problem, accuracy, options.decoder, "budget", sigma2_error)

    gap, accuracy = yield from measure_precision(X, batches, problem, accuracy, sigma2_error, best)
    if one_is_enough(gap, accuracy):
        return fit_one(X, batches, problem, accuracy, options.decoder, "single", sigma2_error)

    means = yield from test_and_estimate(X, accuracy, batches, "base queries", best)
    candidates = min(len(X), c.candidates(accuracy.gamma, gap.value, problem.eta))
    among = candidates if pairs == "all" else None
    pivot = choose_pivot(means, accuracy, among)
    if pivot is None:
        # Lemma 6 makes this improbable; more candidates, then the truth about it.
        X, batches, means = yield from draw_more(X, batches, accuracy, rng, candidates, problem.limit, best)
        among = len(X) if pairs == "all" else None
        pivot = choose_pivot(means, accuracy, among)
    if pivot is None:
        needed = f"{c.pivot_gap:g}γ = {c.pivot_gap * accuracy.gamma:.3g}" if not batch else "four standard errors"
        warning = (
            f"no pivot: no query's two means are {needed} apart, so that the means cannot be told apart by "
            "vector; one vector is returned: ask with larger batches, a smaller gamma, or method='single'"
        )
        return fit_one(X, batches, problem, accuracy, options.decoder, "uncertain", sigma2_error, [warning])
    alignment = yield from align_all(X, means, accuracy, pivot, among, best)
    return decode_both(X, means, alignment, problem, accuracy, options.decoder, gap, batches)


def measure_precision(
    X: Array, batches: Batches, problem: Problem, accuracy: Accuracy, sigma2_error: float, best: Any
) -> Method[tuple[Gap, Accuracy]]:
    """Ask until ‖β¹ − β²‖ is known well enough to set γ' (the proof's γ' = 0.096 ‖β¹ − β²‖), or to see one vector."""
    size = accuracy.test_samples
    label = "base queries: how far apart are the vectors"
    yield from batches.top_up(X, size, label, None)
    while True:
        gap = measure_gap(batches, accuracy.sigma, problem.eta, sigma2_error)
        if gap_known(gap, size, accuracy, sigma2_error):
            return gap, alignment_accuracy(gap, accuracy)
        size *= 2
        yield from batches.top_up(X, size, label, best)


def draw_more(
    X: Array, batches: Batches, accuracy: Accuracy, rng: np.random.Generator, count: int, limit: Any, best: Any
) -> Method[tuple[Array, Batches, Estimates]]:
    """Add this many Gaussian queries, measured like the others."""
    fresh = Batches(count)
    more = gaussian(count, X.shape[1], rng, limit)
    yield from test_and_estimate(more, accuracy, fresh, "more candidates for the pivot", best)
    both = Batches(0)
    both.answers = batches.answers + fresh.answers
    means = yield from test_and_estimate(np.concatenate([X, more]), accuracy, both)
    return np.concatenate([X, more]), both, means


def decode_both(
    X: Array,
    means: Estimates,
    alignment: Alignment,
    problem: Problem,
    accuracy: Accuracy,
    decoder: Decoder,
    gap: Gap,
    batches: Batches,
) -> Recovery:
    """Lines 7 to 10 of Algorithm 8: decode u and v, and say how sure the result is."""
    c, (m, n) = accuracy.constants, X.shape
    u, v = alignment.order(means.mu)
    # A query that is swapped with probability p is off by its gap: variance p(1 − p) δ² on top.
    swapped = 1 / (1 + np.exp(np.minimum(alignment.margin, 700.0)))
    variance = (means.stderr**2).mean(axis=1) + swapped * (1 - swapped) * np.ptp(means.mu, axis=1) ** 2
    stderr = np.sqrt(variance)
    vectors = decode(X, np.stack([u, v]), stderr, c, c.swap_error * accuracy.gamma, decoder)
    bound = decoding_error(n, problem.k or supported_sparsity(m, n, c), stderr, c)

    tolerance = c.align_tolerance * accuracy.gamma
    far = np.ptp(means.mu, axis=1) >= c.trivial_gap * accuracy.gamma
    unclear = far & (alignment.misfit > tolerance) if not accuracy.batch else np.zeros(m, dtype=bool)
    warnings = []
    if unclear.any():
        warnings.append(
            f"{int(unclear.sum())} of {m} queries fit neither order of their means within 3γ: do the answers depend "
            "linearly on x, from two vectors with equal shares, and is sigma right?"
        )
    if problem.gamma is not None and bound > problem.gamma:
        warnings.append(f"the error bound {bound:.3g} is above gamma = {problem.gamma:g}: ask with larger batches")
    return Recovery(
        vectors=vectors,
        status="uncertain" if warnings else "certified",
        error_bound=bound,
        sigma=accuracy.sigma,
        diagnostics={
            "method": "paper",
            "constants": c.name,
            "m": m,
            "gamma_used": None if accuracy.batch else accuracy.gamma,
            "gap": {"value": gap.value, "low": gap.low, "high": gap.high},
            "snr": 2 * (gap.value / accuracy.sigma) ** 2,  # sum and difference queries double it (erratum 3)
            "regimes": means.regimes(),
            "batch_sizes": {"smallest": int(batches.sizes.min()), "largest": int(batches.sizes.max())},
            "pivot": alignment.pivot,
            "unclear_alignments": int((alignment.margin < CLEAR_MARGIN).sum()),
            "aligned_means": [u.tolist(), v.tolist()],
            "warnings": warnings,
        },
    )
