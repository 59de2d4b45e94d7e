"""The frugal method: a few Gaussian queries, then focused and steered ones, nearly all asked once, in stages."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import partial

import numpy as np

from mixsense.errors import InvalidInput, ModelError
from mixsense.features.units import Coded
from mixsense.methods.design import zero
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.certificate import error_bound, just_found, rivals_of
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.doubts import endless
from mixsense.methods.frugal.exact import exact
from mixsense.methods.frugal.exact_fit import exact_of_fit
from mixsense.methods.frugal.loudness import as_loud_as, as_snr
from mixsense.methods.frugal.model_checks import doubtful, surely_failed, surprised
from mixsense.methods.frugal.queries import first_queries, next_queries, with_duels, with_repeats
from mixsense.methods.frugal.result import Report
from mixsense.methods.frugal.setup import set_up, with_nominal_noise
from mixsense.methods.frugal.sizes import enough_of, first_batch, growth, largest_useful_bound, next_size, start_size
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.regression.fit import Fit
from mixsense.regression.renewal import renew
from mixsense.regression.tuning import NEW_STARTS
from mixsense.rounds import Method


def frugal(
    problem: Problem,
    rng: np.random.Generator,
    steer: bool = True,
    design: str = "corners",
    snr: float | None = None,
    box: Coded | None = None,
) -> Method[Recovery]:
    """Recover all models from as few answers as possible.

    Parameters
    ----------
    problem : Problem
        n is enough. k, σ, the number of models and their shares are used if they are given, and found if not.
    rng : Generator
        Draws the queries and the random starts.
    steer : bool
        Focus and steer the queries; False asks plain Gaussian ones only.
    design : str
        How queries are drawn inside a box: "corners" or "gaussian".
    snr : float, optional
        The mean of ⟨x, Δ⟩²/‖Δ‖² is at most this for the estimated difference Δ of any two models, 1 as for Gaussian
        queries, 2 as for the paper's sums; all other directions are focused. For runs that spend a budget.
    box : Coded, optional
        Queries stay in [−1, 1]ⁿ; `mixsense.features.units` maps them to the user's box.

    Returns
    -------
    Recovery
        With `stderr` of every coefficient. "certified" as soon as the error bound is below γ.

    Notes
    -----
    1. Start: Gaussian queries; of each round 8 % are asked twice, for a check. Routes to first models: annealed EM with
    a lasso, and the second moments of the answers (which see β² = −β¹). 2. Stages: each adds 10 to 40 % more answers,
    to queries focused on the coordinates that seem to matter and steered so that their answers label themselves; all
    fits are renewed on all answers, one model more and one model less are tried, and the held-out likelihood of each
    route is kept. 3. Finish: spike-and-slab EM, standard errors from the observed information of the mixture. 4.
    Checks: how many models there are, and every way in which the world may differ that `model_checks` has a name for.
    Answers without noise are exact equations: `mixsense.methods.frugal.exact`.
    """
    if not isinstance(steer, (bool, np.bool_)):
        raise InvalidInput(f"steer is {steer!r}: give True or False", steer=steer)
    if problem.gamma is None and problem.max_queries is None:
        raise InvalidInput(
            "gamma and max_queries are both missing: give the precision, or the number of answers to spend"
        )
    n, k, gamma, budget = problem.n, problem.k, problem.gamma, problem.max_queries or tuning.UNLIMITED
    inside = None if box is None else Box(box, design)
    loudest = as_snr(snr, problem, box)
    first, enough = first_batch(n, k, budget), first_batch(n, k, tuning.UNLIMITED)
    columns = n + 1 if box is not None and box.level else n
    room = int(min(budget, 8 * first))  # it grows if that is not enough
    answers = Answers(columns, room, box.rows if box else lambda X: X, problem.scale, problem.block)

    setup = yield from set_up(problem, answers, budget, columns, zero(n) if box is None else box.middle())
    found = yield from exact(problem, answers, setup, inside, rng, budget)
    if found is not None:
        return found
    if answers.N < budget:
        q = start_size(first, budget - answers.N, gamma)
        queries = as_loud_as(first_queries(q, n, rng, bool(steer), inside), loudest)
        label = "start: corners of the box" if inside and design == "corners" else "start: Gaussian queries"
        yield from answers.ask(with_repeats(queries), label, None, enough_of(q, budget - answers.N))
    if box is not None or not setup.sigma:
        setup = replace(with_nominal_noise(setup, answers.data), alike=inside is not None and inside.nearly_corners)

    doubt, auto = False, setup.models is None
    report = Report(answers, setup, inside, problem.names, gamma)
    exactly = partial(exact_of_fit, problem, answers, setup, inside)
    # From here on, a run that cannot reach its precision is ended.
    look = math.inf if gamma is None else tuning.INTERIM_FACTOR * max(report.least, enough)
    candidates = renew(None, answers.data, setup, rng, NEW_STARTS, more=auto)
    fit_before: Fit | None = None
    looks, hesitated, floors = 0, False, tuning.FLOORS[problem.promise] if gamma is not None else (0.0,)
    share = growth(n, spends=gamma is None and inside is None and bool(steer))
    while True:
        if setup.quiet and (found := exactly(candidates.winner)) is not None:
            return found
        settled, left = candidates.settled(answers.N, enough, setup.alike), budget - answers.spent
        wanted = gamma is not None or left <= 0  # where a budget is spent, the bound is asked for at the end only
        beyond = math.inf if gamma is None or left <= 0 else largest_useful_bound(gamma)
        bound = error_bound(answers, candidates, setup, inside, looks, beyond) if settled and wanted else math.inf
        near = bound <= (gamma or sys.float_info.max)
        alive = rivals_of(answers, candidates, setup, inside) if near else []
        bound, stuck = report.doubts(candidates, bound, alive) if near else (bound, None)
        if settled and not near and (stuck := endless(answers, candidates, setup, inside, gamma)):
            bound = error_bound(answers, candidates, setup, inside, looks)  # all parts of it
        least = report.least_for(candidates.winner)
        reached = (
            gamma is not None
            and bound <= gamma
            and answers.N >= least
            and not just_found(candidates.winner, fit_before, gamma)
        )
        ends = reached or left <= 0 or (stuck is not None and answers.N >= least)
        if (ends or answers.N >= look) and not candidates.tried_more:
            # Of three models or more a fit may be a false optimum however much evidence there is: look once more.
            again = NEW_STARTS if candidates.models > 2 else 0
            candidates = renew(candidates, answers.data, setup, rng, again, more=True)
            continue
        checks = report.checks(candidates) if reached else None
        if checks is not None and left > 0 and not hesitated and doubtful(checks):
            report.least = least = min(math.ceil(tuning.ANSWERS_IF_DOUBTFUL * answers.N), answers.N + left)
            hesitated, reached, ends = True, False, False
        report.add_stage(candidates, bound)
        looks += gamma is not None and bound <= tuning.NEAR_GAMMA * gamma  # others could not have been wrong
        if setup.quiet and reached and (found := exactly(candidates.winner, decided=True)) is not None:
            return found
        if ends:
            return report.recovery(candidates, bound, reached, alive, checks, stuck)
        if answers.N >= look:
            if gamma == 0:
                raise ModelError("gamma is 0, and no linear models explain the answers exactly: give a gamma above 0")
            look = tuning.INTERIM_GROWTH * answers.N
            if surely_failed(checks := report.checks(candidates)):
                return report.recovery(candidates, bound, reached, alive, checks, stuck)

        q = next_size(answers.N, left, bound, gamma, least, share)
        queries = next_queries(q, answers, candidates, rng, bool(steer), doubt, inside, floors, left, loudest)
        if alive and inside and steer:
            queries = with_duels(queries, inside, alive, rng)
        queries = with_repeats(queries, tuning.REPEATED_IF_EXACT if setup.quiet else tuning.REPEATED_SHARE)
        estimate = partial(report.estimate, candidates, settled)
        new = yield from answers.ask(queries, f"stage {len(report.stages)}", estimate, enough_of(q, left))

        doubt_before, fit_before = doubt, candidates.winner
        if candidates.established and not setup.quiet:
            doubt = surprised(new, candidates.several)
        candidates = candidates.scored(new)
        new_starts = candidates.new_starts(doubt or doubt_before)
        more = auto and (new_starts > 0 or len(report.stages) % tuning.STAGES_BETWEEN_MORE == 0)
        others = [rival.beta for rival in alive[:1]]
        candidates = renew(candidates, answers.data, setup, rng, new_starts, more, others)
