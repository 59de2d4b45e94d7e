"""Readings of the answers that no query tells apart: where more answers do not help, a run ends and says what would.

A yes or no has no value in between. Two models that differ in one such feature, and answer equally often, give the same
answers as two that differ in another one, or in their levels, whatever is asked; and two whose differences are
exchanged between two of them do. Only answers that are known to come from one respondent tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.certificate import hidden_in_one, lines, own_bound
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.duels import candidates_for_duels, told_apart
from mixsense.methods.frugal.setup import Setup
from mixsense.regression.candidates import Candidates
from mixsense.regression.hidden import Odds
from mixsense.regression.rivals import Reading, Swap, distance, distance_kept, moves, probabilities

REMEDY = (
    "let each respondent answer several questions (block=2 or more), or give such a feature values in between "
    "(ms.Number, or a wider ms.Integer)"
)
"""What tells readings apart that no single answer does."""
LARGER_GAMMA = "give a larger gamma, or models=1 if there cannot be two"
"""What a user can do where more answers would not end a run of one model soon."""


class Doubts(NamedTuple):
    """What else the answers may mean."""

    bound: float
    """The error bound with it."""
    text: str | None
    """What more answers of this kind will not tell, and what would; None if they will."""


def doubts(
    bound: float,
    alive: Sequence[Reading],
    answers: Answers,
    candidates: Candidates,
    setup: Setup,
    box: Box | None,
    gamma: float | None,
    names: Sequence[str] | None = None,
) -> Doubts:
    """Put what else the answers may mean into the error bound, and say whether more of them would tell.

    Parameters
    ----------
    bound : float
        Error bound of the fit by itself.
    alive : sequence of Reading
        Other models that the answers do not rule out, the best first.
    answers, candidates, setup, box
        All answers, the fits to them, what was known before, and where queries stay.
    gamma : float or None
        The precision that is asked for.
    names : sequence of str, optional
        What the features are called.
    """
    if not math.isfinite(bound):
        return Doubts(bound, None)
    names = names or [f"x{j}" for j in range(answers.X.shape[1])]
    if candidates.winner is candidates.one:
        return _one_or_two(bound, answers, candidates, setup, box, gamma, names)
    if box is None or not alive:
        return Doubts(bound, None)
    wanted = bound if gamma is None else gamma
    kept = distance_kept(alive, candidates.winner.beta, setup.eta / tuning.RIVALS_SHARE_OF_ETA)
    if not box.coded.either.any():  # every query has values in between: more of them tell
        return Doubts(max(bound, kept), None)
    bound = math.hypot(bound, kept)  # a rival that nothing tells apart has an error of its own
    alike = _alike(alive, answers, box, wanted, setup.eta) if bound > wanted else []
    if not alike:
        return Doubts(bound, None)
    first = 1 if setup.level else 0
    ways = [_difference(rival, alike[-1 if rival is alike[0] else 0], names, first) for rival in alike]
    ways = list(dict.fromkeys(ways))
    told = ", or ".join(ways[: tuning.READINGS_TOLD] + ["…"] * (len(ways) > tuning.READINGS_TOLD))
    which = "the models" if len(candidates.winner.beta) == 2 else "two of the models"
    return Doubts(bound, f"{which} differ {told}: nothing that may be asked tells which; {REMEDY}")


def endless(answers: Answers, candidates: Candidates, setup: Setup, box: Box | None, gamma: float | None) -> str | None:
    """Say what ends a run of several models whose error bound is above γ long after they were known by themselves.

    It is another model that was not excluded, and there may be none: heavy tails of the noise leave such a doubt open
    however many answers there are, and in a box models that have a noise each leave it open for very many. One on the
    line through two that is clearly more probable than none is not going to be excluded by further answers.
    """
    if not gamma or candidates.winner is candidates.one or not _many(answers.N):
        return None
    own = own_bound(answers, candidates, setup)
    if not own <= gamma:
        return None
    if not _far_below(own, gamma) and not any(
        line.odds > tuning.CLEARLY_MORE_PROBABLE and line.error > gamma
        for line in lines(answers, candidates.winner, setup, box)
    ):
        return None
    further = ", or that a further one answers seldom," if setup.models is None else ""
    return (
        f"{candidates.winner.L} models explain the answers, with an error bound of {own:.2g} by themselves; that one "
        f"of them is two{further} is still not excluded: give a larger gamma"
    )


def _many(N: int) -> bool:
    """Say whether N answers are `FURTHER_FOR_ONE` times as many as tell of models that answer seldom."""
    return N >= tuning.FURTHER_FOR_ONE * tuning.ANSWERS_FOR_SELDOM


def _far_below(bound: float, gamma: float) -> bool:
    """Say whether a sixteenth of the answers would have brought a bound to γ."""
    return bound <= gamma / math.sqrt(tuning.FURTHER_FOR_ONE)


def _against_one(bound: float, both: Sequence[Odds], gamma: float | None, N: int) -> Doubts:
    """Return the bound of the one model that was asked for, and what ends a run in which two stay more probable."""
    more, clearly = (
        max(max(found.inner, found.level) for found in (odds.excluded(most) for odds in both))
        for most in (tuning.MORE_PROBABLE, tuning.CLEARLY_MORE_PROBABLE)
    )
    if not gamma or N < tuning.ANSWERS_FOR_SELDOM or not bound <= gamma < clearly:
        return Doubts(max(bound, more), None)
    text = "two models that differ in one feature, or in their levels, explain the answers better than one"
    return Doubts(max(bound, more), f'{text}: give models="auto"')


def _one_or_two(
    bound: float,
    answers: Answers,
    candidates: Candidates,
    setup: Setup,
    box: Box | None,
    gamma: float | None,
    names: Sequence[str],
) -> Doubts:
    """Return the error bound of one model with what two may hide in it, and what ends a run that would take too long.

    Notes
    -----
    Two models that differ in one feature, or in their levels, may look like one with a wider noise. Two of which one
    answers seldom show late, and levels that differ by less than some σ look like one level with more noise: no number
    of answers that anyone has tells them apart. So these are excluded as far as it is affordable: after many answers,
    they must not be about as probable as one model. The result says what is left. A run ends that would take
    `FURTHER_FOR_ONE` times as many answers to see more, or has taken that many times what its own precision took.

    What N answers leave hidden falls like N to the power of −1/4 where the noise is known or seen where the feature is
    in its middle, or answers are linked, and of about −1/6 where only the shape of the noise tells.
    """
    both, sigma = hidden_in_one(answers, candidates, setup, box), candidates.one.sigma
    if setup.models == 1:  # the user says so, and two that are more probable contradict it
        return _against_one(bound, both, gamma, answers.N)
    equal, seldom = both
    beyond, doubtful = ([odds.excluded(most) for odds in both] for most in (tuning.HIDDEN_ODDS, tuning.AS_PROBABLE))
    apart = max(equal.apart(beyond[0].level), seldom.apart(beyond[1].level))
    hidden = max(
        beyond[0].inner,
        (doubtful if answers.N >= tuning.ANSWERS_FOR_SELDOM else beyond)[1].inner,
        max(found.level for found in beyond) if apart > 2 * tuning.LEVELS_SEEN * sigma else 0.0,
        *(found.level for found in doubtful),
    )
    either = np.zeros(0, dtype=np.bool_) if box is None else box.coded.either
    yes_or_no, of_it = max((found.feature, odds.apart(found.feature)) for found, odds in zip(beyond, both, strict=True))
    with_it = math.hypot(bound, max(hidden, yes_or_no) if either.any() else hidden)
    if not gamma or with_it <= gamma or bound > gamma:
        return Doubts(with_it, None)
    power = 6 if setup.free_sigma and answers.data.group is None else 4
    far = tuning.LEVELS_SEEN * sigma  # what is further away is seen soon
    if either.any() and yes_or_no <= far and (yes_or_no / gamma) ** power >= 1 + tuning.FURTHER:
        which = " or ".join(repr(names[j]) for j in np.flatnonzero(either)[: tuning.READINGS_TOLD])
        text = f"one model explains the answers, and so do two that differ in {which} by less than {of_it:.2g}"
        known = "" if not setup.free_sigma else "give sigma if it is known, or "
        return Doubts(with_it, f"{text}; {known}{REMEDY}")
    times = (beyond[0].inner / gamma) ** 4  # this many times the answers would tell
    if beyond[0].inner <= far and times >= tuning.FURTHER_FOR_ONE:
        size = f"{equal.apart(beyond[0].inner):.2g}"
        text = f"one model explains the answers, and so do two that differ in one feature by less than {size}"
        more = (
            f"to see all that gamma = {gamma:.3g} is about takes some {float(f'{times * answers.N:.1g}'):,.0f} answers"
        )
        return Doubts(with_it, f"{text}; {more}: {LARGER_GAMMA}")
    if _many(answers.N) and _far_below(bound, gamma):
        text = "one model explains the answers, and so do two of which one answers seldom, or whose levels differ"
        return Doubts(with_it, f"{text}: {LARGER_GAMMA}")
    return Doubts(with_it, None)


def _alike(alive: Sequence[Reading], answers: Answers, box: Box, wanted: float, eta: float) -> list[Reading]:
    """Return the best reading with those beyond the precision that no further answers will rule out; or nothing.

    Nothing, too, while another reading is possible that can be ruled out.

    Notes
    -----
    Each reading was fitted, and by chance one seems to have less equal shares than another, which would tell. So what a
    query can tell is computed with equal shares, of models that differ in nothing but where their difference sits: by
    the Kullback–Leibler divergence of its answers. Readings stay alike if `FURTHER` times as many answers as there are
    would not give the nats that rule one of them out, none leads by more than chance, and the shares may be equal.
    """
    if answers.data.group is not None:  # what single answers tell is not what counts
        return []
    if abs(alive[0].weights[0] - 0.5) * 2 * math.sqrt(answers.N) > tuning.SHARES_APART and len(alive[0].weights) == 2:
        return []  # shares that are clearly unequal tell
    near = [rival for rival in alive if rival.score >= alive[0].score - tuning.LEAD_OF_CHANCE]
    best = min(near, key=lambda rival: (np.count_nonzero(rival.delta), -rival.score))
    X = box.coded.rows(candidates_for_duels(tuning.TRIAL_CORNERS, box, np.random.default_rng(0)))
    most = math.log(tuning.RIVALS_SHARE_OF_ETA / eta) / (tuning.FURTHER * answers.N)
    far = [rival for rival in near if distance(rival.beta, best.beta) > wanted]
    alike = [best, *(rival for rival in far if _told(X, best, rival) < most)]
    others = [min(distance(rival.beta, one.beta) for one in alike) > wanted for rival in alive]
    return alike if len(alike) > 1 and probabilities(alive)[others].sum() <= eta / tuning.RIVALS_SHARE_OF_ETA else []


def _told(X: Array, best: Reading, rival: Reading) -> float:
    """Return how many nats the best of these rows tells about where a difference sits, if the shares are equal."""
    if isinstance(best, Swap) or isinstance(rival, Swap):
        apart = np.linalg.norm(best.beta - rival.beta, axis=1)
        pair, shares = np.argsort(-apart, kind="stable")[:2], best.weights.copy()
        shares[pair] = shares[pair].mean()
        return 0.5 * float(told_apart(X, best._replace(weights=shares), rival._replace(weights=shares)).max())
    same = best._replace(weights=np.full(2, 0.5))
    moved = min(moves(best), key=lambda d: min(np.linalg.norm(d - rival.delta), np.linalg.norm(d + rival.delta)))
    return 0.5 * float(told_apart(X, same, same._replace(delta=moved)).max())  # both directions are in it


def _difference(rival: Reading, other: Reading, names: Sequence[str], first: int) -> str:
    """Say in what the models differ that another reading sees otherwise."""
    a, b = np.argsort(-np.linalg.norm(rival.beta - other.beta, axis=1), kind="stable")[:2]
    delta: Array = rival.beta[a] - rival.beta[b]
    here = np.flatnonzero(np.abs(delta) > tuning.DIFFERENCE_TOLD * np.abs(delta).max())
    parts = [
        f"in {'their levels' if j < first else repr(names[j - first])} by {abs(delta[j]):.2g}" for j in here.tolist()
    ]
    return " and ".join(parts)
