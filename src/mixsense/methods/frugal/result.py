"""What the frugal method says in the end, or whenever it is asked: the models, how sure they are, and the story."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.certificate import error_bound, hidden_in_one, rivals_of
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.doubts import Doubts, doubts
from mixsense.methods.frugal.model_checks import (
    Check,
    check_model,
    check_values,
    lapses_check,
    outlier_check,
    probable_lapses,
    try_remedy,
    warning,
)
from mixsense.methods.frugal.model_checks.tuning import LEAST_LAPSES_LEFT, SHAPE_NATS
from mixsense.methods.frugal.setup import Setup, without_nominal_noise
from mixsense.methods.frugal.sizes import least_answers
from mixsense.problem import LEAST_SHARE, MOST_MODELS
from mixsense.recovery import Recovery
from mixsense.regression.candidates import Candidates
from mixsense.regression.fit import Fit
from mixsense.regression.hidden import Odds
from mixsense.regression.intervals import intervals
from mixsense.regression.rivals import Reading, probabilities
from mixsense.regression.told import answers_at_zero, covariances, order_of_models, shares_stderr
from mixsense.regression.tuning import NORMAL_QUANTILE, SUPPORT_PROBABILITY
from mixsense.scales import told_of_noise

OF_OUTLIERS = ("outliers", "tails", "shape", "lapses")
"""Checks that fail where a model may be nothing but the tails of the noise."""


class Report:
    """Keeps the story of a run, and makes a result of it.

    Parameters
    ----------
    answers : Answers
        All answers; they may grow.
    setup : Setup
        What was known before the first stage.
    inside : Box or None
        Where queries stay.
    names : sequence of str or None
        What the features are called.
    gamma : float or None
        The precision that was asked for.
    """

    def __init__(
        self,
        answers: Answers,
        setup: Setup,
        inside: Box | None,
        names: Sequence[str] | None,
        gamma: float | None,
    ) -> None:
        self.answers, self.setup, self.inside, self.names, self.gamma = answers, setup, inside, names, gamma
        self.box = None if inside is None else inside.coded
        of_two = tuning.LEAST_WITHOUT_BOX if inside is None else least_answers(inside.coded.n)
        self.least, self.least_of_each = of_two + (0 if inside else answers.data.zeros), of_two // 2
        self.stages: list[dict[str, Any]] = []

    def least_for(self, fit: Fit) -> int:
        """Return how many answers a certificate takes: more of many models, or if one is seldom or has more noise.

        A model with more noise than others may be two, answers that fit no model may have one of their own, and one
        that answers seldom has been shrunk where its answers are few.
        """
        least, own_noise = self.least, fit.sigmas is not None and self.answers.scale is None
        least += self.least_of_each * max(fit.L - 2, 0)
        if (group := self.answers.data.group) is not None:
            least = max(least, math.ceil(tuning.LEAST_RESPONDENTS * self.answers.N / (int(group.max()) + 1)))
        if self.inside is None and self.setup.free_sigma and own_noise:
            least = max(least, tuning.ANSWERS_FOR_SELDOM)
        most = tuning.MORE_AT_ONCE * self.answers.N
        if fit.L > 1:  # one that answers more seldom still is never certified
            seldom = (fit.weights >= LEAST_SHARE) & (fit.weights <= tuning.SELDOM)
            each = fit.inclusion.sum(axis=1)[seldom] / fit.weights[seldom]
            least = max(least, math.ceil(min(tuning.SELDOM_PER_COEFFICIENT * each.max(initial=0.0), most)))
        if not lapses_of_a_model(fit):
            return least
        needed = int(self.answers.X.shape[1]) + LEAST_LAPSES_LEFT + 1
        seen = int(probable_lapses(self.answers.data.without_zeros, fit).sum())  # others may be one of the models'
        least = max(least, math.ceil(tuning.ENOUGH_LAPSES * needed / max(fit.lapses, tuning.LAPSES_OF_A_MODEL)))
        if not 0 < seen < needed:  # on a scale of few steps none is probable by itself
            return least
        return max(least, math.ceil(min(self.answers.N * needed / seen, most)))

    def add_stage(self, candidates: Candidates, bound: float) -> None:
        """Add what the fits say now to the story."""
        self.stages.append(
            {
                "answers": self.answers.N,
                "route": candidates.winner.route,
                "models": candidates.winner.L,
                "evidence": candidates.evidence,
                "coefficients": int((candidates.winner.inclusion > SUPPORT_PROBABILITY).sum()),
                "error_bound": bound if math.isfinite(bound) else None,
            }
        )

    def estimate(self, candidates: Candidates, settled: bool) -> Recovery:
        """Return a result for a run that has to end here, without a promise that was asked for."""
        if not settled:
            return self.recovery(candidates, math.inf, reached=False)
        bound = error_bound(self.answers, candidates, self.setup, self.inside)
        alive = rivals_of(self.answers, candidates, self.setup, self.inside)
        bound, doubt = self.doubts(candidates, bound, alive)
        return self.recovery(candidates, bound, False, alive, doubt=doubt)

    def doubts(self, candidates: Candidates, bound: float, alive: Sequence[Reading]) -> Doubts:
        """Return the bound with what else the answers may mean, and what more of them would not tell."""
        return doubts(bound, alive, self.answers, candidates, self.setup, self.inside, self.gamma, self.names)

    def checks(self, candidates: Candidates) -> list[Check]:
        """Hold the fit against all answers in every way that has a name; one of exact answers in a few ways only."""
        answers, setup, winner = self.answers, self.setup, candidates.winner
        found = [
            outlier_check(answers.data.without_zeros, winner),
            lapses_check(answers.data.without_zeros, winner),
            models_check(candidates),
        ]
        found += check_values(answers.data, winner)
        free_sigma = setup.free_sigma or winner is candidates.one  # one model may take the noise that it needs
        found += check_model(
            answers.data, winner, free_sigma, setup.free_weights, level=setup.level, names=self.names, quiet=setup.quiet
        )
        return found

    def _remedy(self, candidates: Candidates, checks: Sequence[Check]) -> dict[str, Any] | None:
        """Tell what became of the option that a failed check asks for, where it can be tried on these answers."""
        setup, data = self.setup, self.answers.data
        free_sigma = setup.free_sigma or setup.quiet
        return try_remedy(checks, data, candidates.winner, free_sigma, setup.free_weights, level=setup.level)

    def recovery(
        self,
        candidates: Candidates,
        bound: float,
        reached: bool,
        alive: Sequence[Reading] = (),
        checks: Sequence[Check] | None = None,
        doubt: str | None = None,
    ) -> Recovery:
        """Say what was found, and whether the answers support it.

        Parameters
        ----------
        candidates : Candidates
            The fits to all answers.
        bound : float
            Bound on the error; infinite while the number of models is not settled.
        reached : bool
            The bound is within the precision that was asked for.
        alive : sequence of Reading
            Other models that the answers do not rule out.
        checks : sequence of Check, optional
            Of the model, if they were made already. Without an error bound none are needed.
        doubt : str, optional
            What no number of such answers tells.
        """
        if checks is None:
            checks = self.checks(candidates) if math.isfinite(bound) else []
        said = [doubt] if doubt else []
        if outliers := self._of_outliers(candidates, checks):
            failed = [check for check in checks if check.failed and check.name in OF_OUTLIERS]
            candidates, bound, reached, alive = replace(candidates, choice=candidates.models - 1), math.inf, False, ()
            replaced = {"models", *(check.name for check in failed)}
            checks = [*failed, *(check for check in self.checks(candidates) if check.name not in replaced)]
            said.append(outliers)
        setup, winner, box = self.setup, candidates.winner, self.box
        one = winner is candidates.one
        shown = [0] * (setup.models or 1) if one else order_of_models(winner, setup)
        warnings = self._warnings(candidates, checks) + said
        # With a precision to reach, one model that the budget left in doubt is the best estimate so far, and no more.
        enough = reached or (self.gamma is None and self.answers.N >= self.least)
        single = one and math.isfinite(bound) and enough
        winner = without_nominal_noise(winner, self.answers.data, setup)
        n = winner.beta.shape[1] - setup.level  # without the level, which comes first
        ends = intervals(self.answers.data, winner)[shown][:, -n:]
        stderr = np.ptp(ends, axis=2) / (2 * NORMAL_QUANTILE)
        few = "" if reached else self._few(winner)
        if few:
            ends[:] = -np.inf, np.inf
        remedy = self._remedy(candidates, checks)
        centre = box.centre if box is not None and box.level and box.intercept else None
        level, level_stderr = (None, None) if centre is None else answers_at_zero(winner, centre)
        covariance = covariances(winner, n, centre)
        return Recovery(
            vectors=winner.beta[shown][:, -n:],
            status="uncertain" if warnings else "single" if single else "certified" if reached else "budget",
            error_bound=bound,
            sigma=noise_shown(winner, setup, shown),
            weights=np.full(len(shown), 1 / len(shown)) if one else winner.weights[shown],
            weights_stderr=shares_stderr(self.answers.data, winner)[shown] if setup.free_weights and not one else None,
            stderr=np.where(np.isfinite(stderr), stderr, np.nan),
            interval=ends,
            covariance=None if covariance is None or few else covariance[shown],
            diagnostics=self._diagnostics(candidates, checks, warnings)
            | {"rivals": self._told(alive)}
            | self._notes(candidates, single, [few, _told_of(remedy)])
            | ({"remedy": remedy} if remedy else {}),
            intercept=None if level is None else level[shown],
            intercept_stderr=None if level_stderr is None else level_stderr[shown],
        )

    def _of_outliers(self, candidates: Candidates, checks: Sequence[Check]) -> str | None:
        """Say so if one of the models may be nothing but the tails of the noise.

        A check failed, and that model answers too seldom to be told from outliers or has too few answers for its
        coefficients, or the answers speak less for it than for tails, or for one noise of another shape. Then it is not
        shown: nobody asked for it, and its coefficients are those of the noise, or of another model.
        """
        winner, setup = candidates.winner, self.setup
        wrong = {check.name: check.nats for check in checks if check.failed}
        asked_for = setup.models is not None or not setup.free_weights
        if not wrong or asked_for or winner is candidates.one or winner.L > MOST_MODELS:
            return None
        if not candidates.fits.get(winner.L - 1):  # far less probable
            return None
        if wrong.get("shape", 0.0) > SHAPE_NATS:  # the other shape is ahead
            of = "levels" if setup.level else "noise"
            return (
                f"two models that differ in their {of} alone are explained best by one with a noise of another shape: "
                f"models={winner.L} shows both"
            )
        last = int(winner.weights.argmin())
        share, stderr = float(winner.weights[last]), float(shares_stderr(self.answers.data, winner)[last])
        needed = tuning.SELDOM_PER_COEFFICIENT * float(winner.inclusion[last].sum())  # as of a certificate
        seldom = share <= 2 * LEAST_SHARE and share - NORMAL_QUANTILE * stderr <= LEAST_SHARE
        seldom |= share <= tuning.SELDOM and share * winner.answers < needed
        if not seldom and (wrong.keys().isdisjoint(OF_OUTLIERS) or candidates.evidence > wrong.get("tails", 0.0)):
            return None
        return (
            f"{100 * share:.2g} % of the answers would be explained best by one model more, which may be made of "
            f"outliers, and is not shown: models={winner.L} shows it"
        )

    def _warnings(self, candidates: Candidates, checks: Sequence[Check]) -> list[str]:
        """Say in which ways the answers do not support what was found."""
        winner, significant = candidates.winner, tuning.SIGNIFICANT_ERRORS
        one = winner is candidates.one
        warnings = [said] if (said := warning(checks)) else []
        offset = abs(self.setup.offset)
        if offset > significant:
            warnings.append(f"the answers to x = 0 are {offset:.0f} standard errors from 0: subtract the offset")
        if not one and self.setup.free_weights and winner.weights.min() < LEAST_SHARE:
            warnings.append(
                f"one share is {winner.weights.min():.3f}: a model that answers so seldom cannot be told from outliers"
            )
        if self.box is not None and self.box.level and not self.box.intercept:
            level, stderr = answers_at_zero(winner, self.box.centre)
            if (np.abs(level) > significant * stderr).any():
                worst = int(np.argmax(np.abs(level) / stderr))
                found = f"{level[worst]:.3g} ± {stderr[worst]:.2g}"
                warnings.append(f"the answers at x = 0 would be {found}, not 0: give intercept=True")
        return warnings

    def _few(self, winner: Fit) -> str:
        """Say that there are too few answers for what was found, if so: then no interval is known."""
        N, found = self.answers.N, float(winner.inclusion.sum())
        needed = math.ceil(tuning.ANSWERS_PER_INTERVAL * max(found, tuning.LEAST_FOUND))
        if N >= needed:
            return ""
        return (
            f"{N} answers are few: coefficients that are shown may be false, others may be missing, and there are no "
            f"95 % intervals yet; these come from about {needed} answers on"
        )

    def _notes(self, candidates: Candidates, single: bool, more: Sequence[str]) -> dict[str, Any]:
        """Say what the answers leave open: a model that answers seldom, differences of two that look like one, more."""
        found = self._hidden(candidates) if single else {}
        share = candidates.winner.lapses
        notes = [*found.get("notes", []), *filter(None, more)]
        if share >= LEAST_SHARE:
            said = f"{100 * share:.0f} % of the answers fit no model: nonsense, or a model that answers that seldom"
            notes.append(said)
        return found | ({"notes": notes} if notes else {})

    def _hidden(self, candidates: Candidates) -> dict[str, Any]:
        """Say which differences of two models would not have been seen, unless one is what the user says."""
        if self.setup.models == 1:
            return {}
        equal, seldom = hidden_in_one(self.answers, candidates, self.setup, self.inside)
        apart, rare = (_apart(odds) for odds in (equal, seldom))
        parts = [f"two that differ {_told_apart(apart)}, and answer equally often"] if any(apart.values()) else []
        if any(rare.values()):
            share = f"{100 * (1 - seldom.share):.0f} %"
            parts.append(f"two of which one gives {share} of the answers, if they differ {_told_apart(rare)}")
        if not parts:
            return {}
        note = f"two models would look like this one: {'; or '.join(parts)}"
        return {"hidden": {**apart, "seldom": rare}, "notes": [note]}

    def _told(self, alive: Sequence[Reading]) -> list[dict[str, Any]]:
        """Tell how probable each pair is that is alive, and in which features its models differ; −1 is the level."""
        first = 1 if self.setup.level else 0
        return [
            {"probability": p, "differ_in": (np.flatnonzero(rival.delta) - first).tolist()}
            for rival, p in zip(alive, probabilities(alive).tolist(), strict=True)
        ]

    def _diagnostics(self, candidates: Candidates, checks: Sequence[Check], warnings: list[str]) -> dict[str, Any]:
        """Tell the story in plain values."""
        answers = self.answers
        return {
            "method": "frugal",
            "stages": self.stages,
            "routes": {route: float(np.mean(values)) for route, values in candidates.held_out.items()},
            "checks": [check.to_dict() for check in checks],
            "evidence": candidates.evidence,
            "scores": {str(L): value - max(candidates.score.values()) for L, value in candidates.score.items()},
            "largest_query_norm": answers.largest_norm,
            "snr": signal_to_noise(answers, candidates.several),
            "warnings": warnings,
            **told_of_noise(candidates.winner.scale, answers.scale),
        }


def _told_of(remedy: dict[str, Any] | None) -> str:
    """Say if the option that a failed check asks for explains the answers."""
    return f"with {remedy['option']} no check fails on these answers" if remedy and remedy["failed"] == [] else ""


def _apart(odds: Odds) -> dict[str, float]:
    """Return how far two models may be apart that were not excluded, in one feature and in their levels."""
    found = odds.excluded(tuning.HIDDEN_ODDS)
    return {"feature": odds.apart(found.feature), "level": odds.apart(found.level)}


def _told_apart(apart: dict[str, float]) -> str:
    """Say in what two models may differ, and by how much."""
    words = {"feature": "in one feature", "level": "in their levels alone"}
    return " or ".join(f"{words[what]} by less than {size:.2g}" for what, size in apart.items() if size)


def noise_shown(fit: Fit, setup: Setup, shown: list[int]) -> float | Array:
    """Return the noise of a result: one for all models or, (L,), that of each."""
    if fit.sigmas is not None:
        return fit.sigmas[shown]
    return fit.sigma if setup.free_sigma or setup.quiet else setup.sigma


def models_check(candidates: Candidates) -> Check:
    """Check the number of models, that the user says or that can be reported: how far another is ahead, in nats."""
    best = max(candidates.score, key=lambda L: candidates.score[L])
    if best > MOST_MODELS:
        return Check("models", candidates.evidence, None, 0.0, f"the answers support more than {MOST_MODELS} models")
    better = candidates.better_number
    ahead = candidates.score[best] - candidates.score[candidates.choice or best] if better else 0.0
    what = f"the answers support {best} model{'s' if best > 1 else ''}"
    return Check("models", ahead, None, 0.0, what)


def signal_to_noise(answers: Answers, fit: Fit) -> float:
    """Return the mean squared distance of two models' means over the noise, as the paper defines it, of all pairs."""
    X = answers.data.without_zeros.X
    means = X @ fit.beta.T
    pairs = fit.L / (fit.L - 1) * 2  # the mean square distance of two of L numbers is this many times their variance
    return pairs * float(means.var(axis=1).mean()) / fit.sigma**2 if len(X) else 0.0


def lapses_of_a_model(f: Fit) -> bool:
    """Say whether so many answers may fit no model, within a standard error, that a further one may give them."""
    error = math.sqrt(f.lapses * (1 - f.lapses) / f.answers)
    return f.lapses + error >= tuning.LAPSES_OF_A_MODEL
