"""What a table says: the models in the user's units, how sure they are, and what does not fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixsense.arrays import Array, Mask
from mixsense.checks import shown
from mixsense.fitting import tuning
from mixsense.fitting.columns import Columns, dependent
from mixsense.fitting.far import copies, far_rows, same_as_answers
from mixsense.fitting.groups import some_groups
from mixsense.fitting.misfit import misfit_p, what_is_odd
from mixsense.fitting.search import Found
from mixsense.fitting.table import Table
from mixsense.methods.frugal.model_checks import BETWEEN_GROUPS, check_model, warning
from mixsense.methods.frugal.model_checks.values import rounding_step
from mixsense.problem import LEAST_SHARE
from mixsense.recovery import Recovery
from mixsense.recovery.fields import COLLINEAR, CONSTANT
from mixsense.recovery.uses import HALF_RANGES
from mixsense.regression.candidates import Expected
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.intervals import intervals
from mixsense.regression.likelihood import counted
from mixsense.regression.told import answers_at_zero, order_of_models, shares_stderr
from mixsense.regression.tuning import LARGEST_COVARIANCE, LEAST_RELATIVE_SIGMA, ONE_ESTABLISHED, SEVERAL_ESTABLISHED
from mixsense.scales import told_of_noise
from mixsense.scales.lapses import Lapses
from mixsense.scales.scale import Scale


@dataclass(frozen=True, slots=True)
class Report:
    """All that a result is made of."""

    table: Table
    columns: Columns
    constant: Mask
    """(n,), which columns are."""
    data: Data
    """The rows as they were fitted."""
    expected: Expected
    found: Found
    offset: float
    """What was subtracted from the answers, and belongs to the intercepts."""

    def recovery(self) -> Recovery:
        """Say what was found, and whether the answers support it."""
        fit, columns = self.found.fit, self.columns
        one = fit.L == 1
        order = [0] * (self.expected.models or 1) if one else order_of_models(fit, self.expected)
        vectors, intercept = columns.vectors(fit.beta[order])
        covariance = self._covariance(order)
        errors, intercept_errors = self._errors(order, covariance)
        p_value = self._misfit_p()
        warnings = self._warnings(p_value)
        free = self.expected.free_weights and not one
        return Recovery(
            vectors=vectors,
            status="uncertain" if warnings else "single" if one else "budget",
            queries=len(self.table.y),
            sigma=columns.unit * (fit.sigma if fit.sigmas is None else fit.sigmas[order]),
            weights=np.full(len(order), 1 / len(order)) if one else fit.weights[order],
            weights_stderr=shares_stderr(self.data, fit)[order] if free else None,
            stderr=columns.everywhere(errors, math.nan),
            intercept=None if intercept is None else intercept + self.offset,
            intercept_stderr=intercept_errors,
            names=self.table.names,
            diagnostics=self._story(p_value, warnings),
            covariance=covariance,
            interval=self._interval(order),
        )

    def _covariance(self, order: list[int]) -> Array | None:
        """Return the covariance of each model's coefficients, if they are few enough to keep it; see `Recovery`."""
        n, extra = self.columns.n, int(self.columns.intercept)
        if n + extra > LARGEST_COVARIANCE:
            return None
        full = np.zeros((len(order), n + extra, n + extra))
        places = np.append(self.columns.used, np.arange(n, n + extra))
        for a, model in enumerate(order):
            full[a][np.ix_(places, places)] = self.columns.covariance(self.found.fit.covariance_of(model))
        return full

    def _errors(self, order: list[int], covariance: Array | None) -> tuple[Array, Array | None]:
        """Return the standard errors of the coefficients that are fitted, (L, c), and of the intercepts."""
        fit, columns = self.found.fit, self.columns
        if covariance is not None:
            errors = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
            return errors[:, columns.used], errors[:, columns.n] if columns.intercept else None
        level = None
        if columns.intercept:
            level = columns.unit * answers_at_zero(fit, columns.centre / columns.scale)[1][order]
        return columns.in_units(fit.stderr[order][:, columns.intercept :]), level

    def _interval(self, order: list[int]) -> Array | None:
        """Return the 95 % intervals of all coefficients, (L, n, 2); of a large or a weighted table there are none."""
        columns, data = self.columns, self.data
        if data.counts is not None or data.X.size > tuning.SAMPLE_ENTRIES or dependent(data.X):
            return None
        coded = intervals(data, self.found.fit)[order][:, columns.intercept :]
        ends = [columns.in_units(coded[..., end]) for end in (0, 1)]
        ends = [columns.everywhere(end, rest) for end, rest in zip(ends, (-math.inf, math.inf), strict=True)]
        return np.stack(ends, axis=2)

    def _misfit_p(self) -> float:
        """Return the p-value of the answers' probability transform.

        That of a scale is not uniform, and not tested; nor is that of lapses, which come from anywhere, nor rounding,
        which is all the noise of exact answers.
        """
        if self.data.scale is not None or self.found.fit.lapses or self.data.counts is not None or self._exact():
            return 1.0
        return misfit_p(*self._some_rows(), self.found.fit)

    def _exact(self) -> bool:
        """Say whether the models leave no noise but rounding."""
        size = math.sqrt(float(np.mean(self.data.values**2))) or 1.0
        rounding = tuning.ABOUT_EXACT * LEAST_RELATIVE_SIGMA * size
        return self.expected.free_sigma and self.found.fit.sigma <= rounding

    def _some_rows(self) -> tuple[Array, Array]:
        """Return rows and answers to test: of a large table every few, since no model is exact."""
        step = math.ceil(len(self.data.y) / tuning.TESTED_ROWS)
        return self.data.X[::step], self.data.y[::step]

    def _between_groups(self) -> str | None:
        """Say whether those who share a model differ from each other: then more models are found than there are."""
        data, fit, expected = self.data, self.found.fit, self.expected
        if data.group is None or data.counts is not None or self._exact():
            return None
        names = [self._named([j]) for j in self.columns.used.tolist()]
        free = (expected.free_sigma, expected.free_weights)
        checks = check_model(some_groups(data), fit, *free, level=self.columns.intercept, names=names)
        return warning([check for check in checks if check.name in BETWEEN_GROUPS], again=False)

    def _law(self) -> Scale | None:
        """Return what makes answers of the linear value, in the user's units."""
        law = self.found.fit.scale
        return replace(law, width=law.width * self.columns.unit) if isinstance(law, Lapses) else law

    def _warnings(self, p_value: float) -> list[str]:
        """Say in which ways the answers do not support what was found."""
        found, fit, warnings = self.found, self.found.fit, []
        best = max(found.scores, key=lambda L: found.scores[L])
        rows, free = self._different(), self.expected.free_sigma + self.expected.free_weights * (fit.L - 1)
        if rows <= (known := int(fit.found.sum()) + free):
            different = "" if rows == len(self.table.y) else "different "
            warnings.append(
                f"{rows} {different}rows for {known} numbers that are fitted to them: they fit in any case, give more"
            )
        if fit.L == 1:
            two = 2 * int(fit.found.sum()) + 2  # numbers of two such models, with a share and a noise
            if self.expected.models != 1 and (found.evidence < ONE_ESTABLISHED or rows <= two):
                warnings.append("the answers do not decide between one model and two: more of them would")
        elif found.evidence < 0:
            warnings.append(
                f"{fit.L} models were asked for, and fewer explain the answers better (by {-found.evidence:.1f} nats): "
                'give models="auto", or more answers'
            )
        elif found.evidence < SEVERAL_ESTABLISHED:
            warnings.append(
                f"{fit.L} models explain the answers hardly better than fewer (by {found.evidence:.1f} nats): more "
                "answers would decide"
            )
        if self.expected.models and best > fit.L and found.scores[best] - found.scores[fit.L] > SEVERAL_ESTABLISHED:
            warnings.append(f'the answers support {best} models: give models="auto"')
        if p_value < tuning.MISFIT_P_VALUE:
            reason = what_is_odd(*self._some_rows(), fit, tuning.SIGNIFICANT_ERRORS)
            warnings.append(f"misfit (p = {p_value:.1g}): {reason}")
        if (away := self._other_noise()) is not None:
            given, left = (f"{self.columns.unit * sigma:.3g}" for sigma in (self.expected.sigma, away))
            warnings.append(f"sigma was given as {given}, and the residuals have {left}: leave it out, or give another")
        if found.ungrouped > SEVERAL_ESTABLISHED:
            warnings.append(
                f"answers of a group do not share a model: taken one by one they are explained better (by "
                f"{found.ungrouped:.0f} nats); leave groups out, or give others"
            )
        elif between := self._between_groups():
            warnings.append(between)
        rest = fit.weights * self.data.N - fit.found.sum(axis=1)  # answers beyond those that any model fits
        if fit.L > 1 and fit.weights.min() < LEAST_SHARE:
            warnings.append(f"one share is {fit.weights.min():.3f}: a model that answers so seldom may be outliers")
        elif fit.L > 1 and rest.min() < tuning.FEW_ANSWERS:
            few, known = float(fit.weights[rest.argmin()]) * self.data.N, int(fit.found[rest.argmin()].sum())
            warnings.append(
                f"a model has {few:.1f} answers for {known} coefficients: outliers? lapses=True allows them"
            )
        warnings += far_rows(self.table)
        if not self.columns.intercept and (gain := self._constant_gain()) > tuning.SIGNIFICANT_ERRORS**2 / 2:
            warnings.append(
                f"a constant in each model would explain the answers better (by some {gain:.0f} nats): "
                "give intercept=True"
            )
        if together := self._collinear():
            named = self._named(together)
            warnings.append(f"the columns {named} depend on each other: which of them matters cannot be told")
        return warnings

    def _different(self) -> int:
        """Return how many rows there are, copies once."""
        return len(self.table.y) - copies(self.table)

    def _like_ratings(self) -> list[str]:
        """Say if answers look like ratings that reach an end, and are taken for real numbers."""
        y, values = self.table.y, np.unique(self.table.y[: tuning.TESTED_ROWS])
        step = rounding_step(values) if len(values) <= tuning.MOST_RATINGS else 0.0
        if self.data.scale is not None or not step:
            return []
        low, high = float(y.min()), float(y.max())
        share = max(float(np.mean(y == end)) for end in (low, high))
        if share < tuning.AT_AN_END:
            return []
        scale = f"ms.Rating({low:.6g}, {high:.6g}, {step:.6g})"
        return [f"{share:.0%} of the answers are at one end: if they are ratings, give scale={scale}"]

    def _other_noise(self) -> float | None:
        """Return the spread of the residuals, where chance does not bring it to the noise that was given."""
        fit, given, data = self.found.fit, self.expected.sigma, self.data
        if self.expected.free_sigma or data.scale is not None or data.counts is not None:
            return None
        left = fit.excess * (fit.sigma / given) ** 2  # mean square of the residuals in that of the noise given
        chance = tuning.SIGNIFICANT_ERRORS * math.sqrt(2 / data.N)  # of N squares
        used = float(fit.inclusion.sum()) / data.N  # a coefficient takes up one of them
        return None if 1 - used - chance < left < 1 + chance else given * math.sqrt(left)

    def _collinear(self) -> list[int]:
        """Return the columns that depend on each other."""
        first = int(self.columns.intercept)
        found: list[int] = self.columns.used[[j - first for j in dependent(self.data.X) if j >= first]].tolist()
        return found

    def _constant_gain(self) -> float:
        """Return how many nats more a constant in each model would explain, if the models of the answers stay.

        What a constant adds beyond the columns is what they leave of it. No gain where a column is constant itself.
        """
        fit, X, gain = self.found.fit, self.data.X, 0.0
        at = fit.explained(self.data)
        for a, sigma in enumerate(np.broadcast_to(fit.noise, fit.L)):
            p, own = counted(at.probability, self.data.counts)[:, a], X[:, fit.found[a]]
            root = np.sqrt(p)
            left = 1 - own @ np.linalg.lstsq(own * root[:, None], root, rcond=None)[0]
            slope, information = float((p * left) @ at.residual[:, a]), float((p * at.curvature[:, a]) @ left**2)
            if information > tuning.DEPENDENT * float(p.sum()):
                gain += slope**2 / (2 * sigma**2 * information)
        return float(gain)

    def _left_out(self) -> list[int]:
        """Return the columns that are not fitted: constant ones, but for one that is the intercept."""
        found: list[int] = np.setdiff1d(np.arange(self.columns.n), self.columns.used).tolist()
        return found

    def _named(self, places: Sequence[int]) -> str:
        names = self.table.names
        told = [str(j) if names is None else shown(names[j], tuning.LONGEST_NAME) for j in places[: tuning.MOST_NAMED]]
        return ", ".join(told) + (", …" if len(places) > tuning.MOST_NAMED else "")

    def _notes(self) -> list[str]:
        """Say what was done with the table."""
        notes, N = self._like_ratings(), len(self.table.y) + self.table.missing
        if self.table.missing:
            notes.append(f"{self.table.missing:,} of {N:,} rows have a missing value and were left out")
        if again := copies(self.table):
            notes.append(f"{again:,} rows are exact copies of others: leave them out if each was seen once")
        if self.expected.models != 1 and (same := same_as_answers(self.table, self.columns.used.tolist())):
            notes.append(f"column {self._named(same)} alone has the answers: leave it out if it was made of them")
        often = self.data.N / len(self.table.y)
        if not 1 / tuning.ODD_WEIGHT <= often <= tuning.ODD_WEIGHT:
            notes.append(f"a row counts {often:.2g} times on average: sample_weight is how often each was seen")
        if left_out := self._left_out():
            why = "are constant" if self.constant[left_out].all() else "say nothing"
            notes.append(f"columns that {why} have no coefficient of their own: {self._named(left_out)}")
        if self.found.lapses > tuning.LAPSES_WORTH_A_NOTE:
            notes.append(
                f"{100 * self.found.lapse_share:.0f} % of the answers may come from anywhere, which would explain "
                f"{self.found.lapses:.0f} nats more: give lapses=True"
            )
        if self.found.sampled < len(self.table.y):
            notes.append(f"how many models there are was decided on {self.found.sampled:,} rows, drawn at random")
        return notes

    def _story(self, p_value: float, warnings: list[str]) -> dict[str, Any]:
        top, together, left_out = max(self.found.scores.values()), self._collinear(), self._left_out()
        fit: Fit = self.found.fit
        return {
            "method": "fit",
            "evidence": self.found.evidence if math.isfinite(self.found.evidence) else None,
            "scores": {str(L): value - top for L, value in sorted(self.found.scores.items())},
            "own_noise": self.found.own_noise if math.isfinite(self.found.own_noise) else None,
            "loglik": fit.loglik(self.data) - self.data.N * math.log(self.columns.unit),
            "misfit_p": p_value,
            "groups": len(self.table.y) if self.table.group is None else int(self.table.group.max()) + 1,
            **told_of_noise(self._law(), self.data.scale),
            HALF_RANGES: self.columns.half_ranges.tolist(),
            **({COLLINEAR: together} if together else {}),
            **({CONSTANT: left_out} if left_out else {}),
            "notes": self._notes(),
            "warnings": warnings,
        }
