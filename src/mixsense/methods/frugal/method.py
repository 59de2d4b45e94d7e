"""The frugal method: a few Gaussian queries, then focused and steered ones, each asked once, in growing stages."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.features.units import Coded
from mixsense.methods.design import ENERGY, Box, Steering, focus, gaussian, steer
from mixsense.methods.frugal.answers import ONE, SURE, Answers, Pool, Setup, held_out, refit
from mixsense.methods.frugal.certificate import (
    SIGNIFICANT,
    error_quantile,
    explain_misfit,
    probability_transform,
    strangers,
    uniform_p_value,
)
from mixsense.methods.frugal.setup import QUIET, expected_sparsity, grain, set_up, stand_in
from mixsense.methods.paper.noiseless import noiseless
from mixsense.problem import LEAST_SHARE, Problem
from mixsense.recovery import Recovery
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import explain
from mixsense.regression.starts import second_moments
from mixsense.rounds import Method

EAGER = 0.75
"""With a precision to reach, the start takes this share of the first batch."""
GROWTH = 0.2
"""Each stage adds at most this share of the answers so far, and at least a quarter of that …"""
STARTS = 6
"""Random starts of the annealing while two vectors are not established."""
RESTART = 200.0
"""Below this lead a few new starts are tried at every stage: the first pair may be a false optimum."""
DOUBT = 0.01
"""A stage whose fresh answers have a smaller p-value speaks against the fit: start anew."""
SAFETY = 1.03
"""The error bound is so many times the posterior quantile: the posterior does not know that it chose its queries …"""
BLUR = 0.4
"""… and more where answers do not label themselves: there its expansion is less exact."""
STRANGERS = 0.002
"""More answers than this share far from every vector are no accident."""


def frugal(
    problem: Problem, rng: np.random.Generator, steer: bool = True, design: str = "corners", box: Coded | None = None
) -> Method[Recovery]:
    """Recover both vectors from as few answers as possible.

    Parameters
    ----------
    problem : Problem
        n is enough. k, σ and the shares are used if they are given; `weights="estimate"` finds the shares.
    rng : Generator
        Draws the queries and the random starts.
    steer : bool
        Focus and steer the queries; False asks plain Gaussian ones only.
    design : str
        How queries are drawn inside of a box: "corners" or "gaussian".
    box : Box, optional
        Queries stay in [−1, 1]ⁿ; `mixsense.features.units` maps them to the user's box.

    Returns
    -------
    Recovery
        With `stderr` of every coefficient. "certified" as soon as the error bound is below γ.

    Notes
    -----
    1. Start: Gaussian queries, each asked once. Routes to a first pair: annealed EM with a lasso, and the second
    moments of the answers (which see β² = −β¹). 2. Stages: each adds at most a fifth more answers, to queries focused
    on the coordinates that seem to matter and pushed along the estimated difference until their answers label
    themselves; all fits are renewed on all answers, and the held-out likelihood of each route is kept. 3. Finish:
    spike-and-slab EM, standard errors from the observed information of the mixture. 4. Checks: one vector against two,
    and the probability transform of answers that the fit had not seen.
    """
    if not isinstance(steer, (bool, np.bool_)):
        raise InvalidInput(f"steer is {steer!r}: give True or False", steer=steer)
    if problem.gamma is None and problem.max_queries is None:
        raise InvalidInput("gamma and max_queries are both None: give the precision, or the number of answers to spend")
    n, budget = problem.n, problem.max_queries or 10**9
    inside = None if box is None else Box(box, design)
    first, enough = first_batch(n, problem.k, budget), first_batch(n, problem.k, 10**9)
    columns = n + 1 if box is not None and box.level else n
    answers = Answers(columns, int(min(budget, 8 * first)), box.rows if box else lambda X: X)
    setup, offset = yield from set_up(problem, answers, budget, columns)
    if setup.sigma == 0 and box is None:
        m = None if problem.k else max(n, 2)
        return (yield from noiseless(replace(problem, sigma=0.0, weights=None), rng, m=m))
    if answers.N < budget:
        label = "start: corners of the box" if inside and design == "corners" else "start: Gaussian queries"
        best = (lambda: _nothing_yet(problem, setup)) if answers.N else None
        # With a precision to reach, the stages decide how many answers are enough: start with fewer.
        q = min(max(1, int(EAGER * first)) if problem.gamma else first, budget - answers.N)
        yield from answers.ask(inside.draw(q, rng) if inside else gaussian(q, n, rng), label, best)
    quiet = box is not None and setup.sigma <= QUIET * float(np.std(answers.y))
    if quiet:  # answers without noise would have no likelihood
        setup = replace(setup, sigma=stand_in(answers.y), least=grain(answers.y), free_sigma=False)
    pool = refit(answers, None, setup, rng, STARTS)
    story: list[dict[str, Any]] = []
    transforms: list[Array] = []
    while True:
        settled = answers.N >= enough and (pool.lead > SURE or (pool.lead < -ONE and answers.N >= 2 * enough))
        left = budget - answers.N
        # Where a budget is spent, the bound is asked for at the end only.
        bound = error_bound(answers, pool, setup, settled) if problem.gamma or left <= 0 else math.inf
        story.append(_stage(answers, pool, bound))
        reached = problem.gamma is not None and bound <= problem.gamma
        if left <= 0 or reached:
            return _finish(answers, pool, setup, bound, reached, story, transforms, offset, box)
        q = next_size(answers.N, left, bound, problem.gamma)

        def best(pool: Pool = pool, settled: bool = settled) -> Recovery:
            bound = error_bound(answers, pool, setup, settled)
            return _finish(answers, pool, setup, bound, False, story, transforms, offset, box)

        doubt = bool(transforms) and uniform_p_value(transforms[-1]) < DOUBT
        queries = next_queries(q, answers, pool, rng, steer, doubt, inside)
        X, y = yield from answers.ask(queries, f"stage {len(story)}", best)
        if pool.lead > SURE and not quiet:
            transforms.append(probability_transform(X, y, pool.best))
            doubt = doubt or uniform_p_value(transforms[-1]) < DOUBT
        pool = replace(pool, held_out=held_out(pool, X, y))
        fresh = STARTS if pool.lead < SURE or doubt else STARTS // 2 if pool.lead < RESTART else 0
        pool = refit(answers, pool, setup, rng, fresh)


def error_bound(answers: Answers, pool: Pool, setup: Setup, settled: bool) -> float:
    """Return the posterior's error times a factor that is larger, the more answers could be from either vector."""
    if not settled:
        return math.inf
    best = pool.best
    _, P, _ = explain(*answers.fresh, best.beta, best.weights, best.sigma)
    return (SAFETY + BLUR * float((4 * P[:, 0] * P[:, 1]).mean())) * error_quantile(pool.winner, setup.eta)


def next_size(N: int, left: int, bound: float, gamma: float | None) -> int:
    """Return how many answers the next stage takes: … so many that the bound, which falls about like 1/N, may reach γ.

    Steered queries put their energy on what is still uncertain: the bound falls faster than 1/√N.
    """
    share = GROWTH
    if gamma is not None and math.isfinite(bound):
        share = min(max(bound / gamma - 1, GROWTH / 4), GROWTH)
    q = min(left, max(20, math.ceil(share * N)))
    return left if left - q < 0.3 * q else q  # no crumbs at the end


def first_batch(n: int, k: int | None, budget: int) -> int:
    """Return how many unsteered queries come first: enough for the larger coefficients, at most 40 % of the budget."""
    k_ = k or expected_sparsity(n)
    return int(max(min(6 * k_ * math.log(n / k_ + 1) + 60, 0.4 * budget), min(budget, 10)))


def chances(answers: Answers, pool: Pool, doubt: bool) -> Array:
    """How much each coordinate matters for the error, (n,): 1 for a coefficient that was found.

    An answer with more energy on a coordinate lowers its posterior variance v in proportion to 1/G, with G its
    information so far: the energy that makes the sum of the v smallest goes as √(v G). For coefficients that were
    found v G = 1; for the others it is the risk that one was missed. While two vectors are not established, or in
    doubt, the one-vector fit and the second moments have a say.
    """
    best = pool.best
    chance = np.maximum(best.inclusion, best.variance * best.information).max(axis=0)
    if pool.lead < SURE or doubt:
        t, _ = second_moments(*answers.fresh, pool.one.beta[0], 2)
        log_odds = math.log(max(pool.one.rate, 3 / len(chance))) + 0.5 * np.maximum(t, 0) ** 2 - 1.5
        squares = 1 / (1 + np.exp(-np.clip(log_odds, -50, 50)))
        chance = np.maximum(np.maximum(chance, pool.one.inclusion[0]), squares)
    clipped: Array = np.clip(chance, 1e-3, 1.0)
    return clipped


def next_queries(
    q: int, answers: Answers, pool: Pool, rng: np.random.Generator, steered: bool, doubt: bool, box: Box | None
) -> Array:
    """Draw the queries of the next stage."""
    n = answers.X.shape[1]
    delta = pool.best.beta[0] - pool.best.beta[1]
    if box is not None:
        sure = steered and pool.lead > 3 and not doubt
        return box.steer(q, delta, pool.best.sigma, rng) if sure else box.draw(q, rng)
    if not steered:
        return gaussian(q, n, rng)
    chance = chances(answers, pool, doubt)
    if pool.lead > 3 and delta.any() and not doubt:
        return steer(chance, delta, pool.best.sigma).draw(q, rng)
    return Steering(np.sqrt(1 + focus(chance, (ENERGY - 1) * n))).draw(q, rng)


def _stage(answers: Answers, pool: Pool, bound: float) -> dict[str, Any]:
    return {
        "answers": answers.N,
        "route": pool.winner.route,
        "lead_of_two": pool.lead,
        "coefficients": int((pool.winner.inclusion > 0.5).sum()),
        "error_bound": bound if math.isfinite(bound) else None,
    }


def _nothing_yet(problem: Problem, setup: Setup) -> Recovery:
    return Recovery(np.zeros((2, problem.n)), "budget", sigma=setup.sigma, diagnostics={"method": "frugal"})


def _finish(
    answers: Answers,
    pool: Pool,
    setup: Setup,
    bound: float,
    reached: bool,
    story: list[dict[str, Any]],
    transforms: list[Array],
    offset: float,
    box: Coded | None,
) -> Recovery:
    """Say what was found, and whether the answers support it."""
    one, winner = pool.lead < 0, pool.winner
    late = transforms[len(transforms) // 2 :]  # the later stages, whose fits were good
    p_value = uniform_p_value(np.concatenate(late)) if late and math.isfinite(bound) else 1.0
    warnings = []
    if p_value < SIGNIFICANT:
        warnings.append(f"misfit (p = {p_value:.1g}): {explain_misfit(*answers.fresh, pool.best)}")
    stray = strangers(*answers.fresh, winner) if math.isfinite(bound) else 0.0
    if stray > max(STRANGERS, 3 / answers.N):
        warnings.append(
            f"{100 * stray:.1f} % of the answers are far from {'the vector' if one else 'both vectors'}: "
            "a further model that answers seldom (below 2 %), more than two models, or outliers"
        )
    if abs(offset) > 5:
        warnings.append(f"the answers to x = 0 are {abs(offset):.0f} standard errors from 0: subtract the offset")
    if not one and setup.free_weights and winner.weights.min() < LEAST_SHARE:
        warnings.append(
            f"one share is {winner.weights.min():.3f}: a model that answers so seldom cannot be told from outliers"
        )
    single = one and math.isfinite(bound)
    rows = [0, 0] if one else in_order(winner, setup)
    found = winner.beta[rows]
    levels: tuple[Array | None, Array | None] = (None, None)
    if box is not None and box.level:
        level, level_stderr = at_zero(winner, box.centre)
        if not box.intercept and (np.abs(level) > 5 * level_stderr).any():
            worst = int(np.argmax(np.abs(level) / level_stderr))
            found_there = f"{level[worst]:.3g} ± {level_stderr[worst]:.2g}"
            warnings.append(f"the answers at x = 0 would be {found_there}, not 0: give intercept=True")
        if box.intercept:
            levels = level[rows], level_stderr[rows]
    status = "uncertain" if warnings else "single" if single else "certified" if reached else "budget"
    delta = pool.best.beta[0] - pool.best.beta[1]
    N = max(answers.N - answers.zeros, 1)
    diagnostics = {
        "method": "frugal",
        "stages": story,
        "routes": {route: float(np.mean(values)) for route, values in pool.held_out.items()},
        "misfit_p": p_value,
        "lead_of_two": pool.lead,
        "largest_query_norm": answers.largest_norm,
        "snr": float(((answers.X @ delta) ** 2).sum()) / N / winner.sigma**2,
        "weights_stderr": math.sqrt(float(np.prod(pool.best.weights)) / N) if setup.free_weights and not one else None,
        "warnings": warnings,
    }
    return Recovery(
        vectors=found[:, -box.n :] if box else found,
        status=status,
        error_bound=bound,
        sigma=winner.sigma if setup.free_sigma else setup.sigma,
        weights=pool.best.weights if one else winner.weights[rows],
        stderr=winner.stderr[rows][:, -box.n :] if box else winner.stderr[rows],
        diagnostics=diagnostics,
        intercept=levels[0],
        intercept_stderr=levels[1],
    )


def in_order(fit: Fit, setup: Setup) -> list[int]:
    """Return the order of the two vectors in which all runs show them, whichever a random start found first.

    Shares that were given come in their order, estimated ones the larger first. With equal shares, the first vector
    has the larger coefficient where the two differ most.
    """
    if setup.free_weights:
        swapped = fit.weights[1] > fit.weights[0]
    else:
        delta = fit.beta[0] - fit.beta[1]
        swapped = setup.weights[0] == setup.weights[1] and delta[np.abs(delta).argmax()] < 0
    return [1, 0] if swapped else [0, 1]


def at_zero(fit: Fit, centre: Array) -> tuple[Array, Array]:
    """Return each model's answer at x = 0, which is −centre in coded units, with its standard error: (K,) each."""
    row = np.concatenate([[1.0], -centre])
    vector, place = fit.support
    variance = (fit.variance * row**2).sum(axis=1)  # of the coefficients that are out …
    for a in range(len(fit.beta)):
        here = vector == a
        inside = row[place[here]]
        variance[a] -= float(fit.variance[a, place[here]] @ inside**2)
        variance[a] += float(inside @ fit.covariance[np.ix_(here, here)] @ inside)  # … and of those that are in
    return fit.beta @ row, np.sqrt(np.maximum(variance, 1e-300))
