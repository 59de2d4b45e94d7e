"""Algorithm 8: recover two or more sparse vectors by repeated queries, alignment and basis pursuit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.methods.design import gaussian
from mixsense.methods.paper.align import Alignment, align_all, choose_pivot
from mixsense.methods.paper.checks import MOST_STRAIN, doubts, level_doubts, noise_doubts, strangers
from mixsense.methods.paper.constants import Constants
from mixsense.methods.paper.decoding import Decoder, decode, decoding_error, supported_sparsity
from mixsense.methods.paper.estimate import Batches, Estimates, measure_gap, measure_sigma, test_and_estimate
from mixsense.methods.paper.new_queries import verified_means
from mixsense.methods.paper.noiseless import noiseless
from mixsense.methods.paper.one_vector import fit_one
from mixsense.methods.paper.options import NUMBERS, Options
from mixsense.methods.paper.stopping import Accuracy, Gap, alignment_accuracy, gap_known, one_is_enough
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method

CLEAR_MARGIN = 3.0
"""An order of the means with a smaller margin, odds below e³ = 20 to 1, is counted as unclear in the
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
    """Recover two vectors, or as many as `problem.models` says, as Algorithm 8 does.

    Parameters
    ----------
    problem : Problem
        n, γ, η, and σ (measured if None), k (or give m); the number of models, where "auto" is two.
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
    weights the queries by their standard errors (errata 6 and 12); (4) any number of vectors of equal shares; (5) new
    queries verify what would be promised.

    More than two vectors lose what the theorem rests on: Theorem 2 and Lemma 4 (no number of samples is proven to give
    L means; EM may end at a local maximum), Lemma 5 (more than two means may fit a wrong order as well as the right),
    Lemma 6 (the pivot must have all L means apart, which is ever rarer). So nothing is proven for them, and "certified"
    rests on what was measured, docs/constants.md, and on checks: the sums and differences fit the means, the answers
    around each mean are as many as equal shares make them, they spread by σ, and no constant is in them.
    """
    options = Options.of(problem, "paper", m, batch, constants, decoder)
    L = options.models
    if L == 1:
        raise InvalidInput("models is 1: method='paper' tells several vectors apart; use method='single'", models=1)
    if pairs not in ("pivot", "all"):
        raise InvalidInput(f"pairs is {pairs!r}: give 'pivot' or 'all'", pairs=pairs)
    c = options.constants
    sigma, sigma2_error = problem.sigma, 0.0
    if sigma is None:
        sigma, sigma2_error = yield from measure_sigma(problem.n, c.noise_samples)
        if sigma == 0:
            return (yield from noiseless(replace(problem, sigma=0.0, models=L), rng, options.m, c, options.decoder))
    log_eta = math.log(1.5 * L * options.m / problem.eta)  # L means of each of about 3m batches, 3m for two
    accuracy = Accuracy(sigma, problem.gamma or sigma, log_eta, c, options.batch, L)

    X = gaussian(options.m, problem.n, rng, problem.limit)
    batches = Batches(len(X))

    def best() -> Recovery:
        return fit_one(X, batches, problem, accuracy, options.decoder, "budget", sigma2_error)

    gap, accuracy = yield from measure_precision(X, batches, problem, accuracy, sigma2_error, best)
    if one_is_enough(gap, accuracy):
        one = fit_one(X, batches, problem, accuracy, options.decoder, "single", sigma2_error)
        return (yield from verified_means(one, problem, sigma, rng))

    means = yield from test_and_estimate(X, accuracy, batches, "base queries", best)
    candidates = min(len(X), c.candidates(accuracy.gamma, gap.value, problem.eta, L))
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
            f"no pivot: no query's {NUMBERS[L]} means are {needed} apart, so that the means cannot be told apart by "
            "vector; one vector is returned: ask with larger batches, a smaller gamma, or method='single'"
        )
        return fit_one(X, batches, problem, accuracy, options.decoder, "uncertain", sigma2_error, [warning])
    alignment = yield from align_all(X, means, accuracy, pivot, among, best)
    result = decode_all(X, means, alignment, problem, accuracy, options.decoder, gap, batches)
    return (yield from verified_means(result, problem, sigma, rng))


def measure_precision(
    X: Array, batches: Batches, problem: Problem, accuracy: Accuracy, sigma2_error: float, best: Any
) -> Method[tuple[Gap, Accuracy]]:
    """Ask until ‖β¹ − β²‖ is known well enough to set γ' (the proof's γ' = 0.096 ‖β¹ − β²‖), or to see one vector."""
    size = accuracy.test_samples
    label = "base queries: how far apart are the vectors"
    yield from batches.top_up(X, size, label, None)
    while True:
        gap = measure_gap(batches, accuracy, problem.eta, sigma2_error)
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


def decode_all(
    X: Array,
    means: Estimates,
    alignment: Alignment,
    problem: Problem,
    accuracy: Accuracy,
    decoder: Decoder,
    gap: Gap,
    batches: Batches,
) -> Recovery:
    """Lines 7 to 10 of Algorithm 8: decode u, v and any others, and say how sure the result is."""
    c, (m, n), orders = accuracy.constants, X.shape, alignment.orders
    u = alignment.order(means.mu)  # (L, m)
    stderr = aligned_errors(means, alignment)
    vectors = decode(X, u, stderr, c, c.swap_error * accuracy.gamma, decoder)
    k = problem.k or supported_sparsity(m, n, c)
    bound = decoding_error(n, k, stderr, c)
    warnings = doubts(batches, means, alignment.orders, accuracy)
    if not warnings:  # of unequal shares neither says anything
        warnings = level_doubts(X, batches.means(), vectors, accuracy.models * k)
        warnings += noise_doubts(X, batches, vectors, accuracy.sigma)
        warnings = warnings or strangers(batches, means.mu, accuracy.sigma)
    if problem.gamma is not None and bound > problem.gamma:
        warnings.append(f"the error bound {bound:.3g} is above gamma = {problem.gamma:g}: ask with larger batches")
    return Recovery(
        vectors=vectors,
        status="uncertain" if warnings else "budget" if problem.gamma is None else "certified",
        error_bound=bound,
        sigma=accuracy.sigma,
        diagnostics={
            "method": "paper",
            "models": accuracy.models,
            "constants": c.name,
            "m": m,
            "gamma_used": None if accuracy.batch else accuracy.gamma,
            "gap": {"value": gap.value, "low": gap.low, "high": gap.high},
            "snr": 2 * (gap.value / accuracy.sigma) ** 2,  # sum and difference queries double it (erratum 3)
            "regimes": means.regimes(),
            "batch_sizes": {"smallest": int(batches.sizes.min()), "largest": int(batches.sizes.max())},
            "pivot": alignment.pivot,
            "unclear_alignments": int((orders.margin < CLEAR_MARGIN).sum()),
            "strain": float(orders.strain.max()),
            "aligned_means": u.tolist(),
            "warnings": warnings,
        },
    )


def aligned_errors(means: Estimates, alignment: Alignment) -> Array:
    """Return the standard errors of the entries of u: (L, m), or (m,) for two vectors, whose means share theirs."""
    orders = alignment.orders
    if means.mu.shape[1] == 2:
        return np.asarray(np.sqrt((means.stderr**2).mean(axis=1) + orders.doubt[:, 0]))
    # Of more than two means EM finds wrong ones now and then: a query that fits no order counts next to nothing.
    wrong = np.where(orders.strain > MOST_STRAIN, orders.misfit, 0.0)
    return np.asarray(np.sqrt(alignment.order(means.stderr) ** 2 + orders.doubt.T + wrong**2))
