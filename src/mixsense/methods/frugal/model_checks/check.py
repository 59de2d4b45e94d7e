"""All checks of a fit, on all answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.extensions import EXTENSIONS, OF_SHARES, Place
from mixsense.methods.frugal.model_checks.ratios import link, tails
from mixsense.methods.frugal.model_checks.score_tests import Tested, pair_test, place_of, score_tests
from mixsense.methods.frugal.model_checks.shape import gain_of_two
from mixsense.methods.frugal.model_checks.surprise import outlier_share
from mixsense.methods.frugal.model_checks.values import at_the_ends, left_over, rounding_step
from mixsense.methods.frugal.model_checks.views import View, draw, models_tested, see
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.tuning import MANY_LAPSES
from mixsense.scales.lapses import Lapses


@dataclass(frozen=True, slots=True)
class Check:
    """One way in which the world could differ from the model, and whether it does."""

    name: str
    """What could differ, as the diagnostics call it."""
    statistic: float
    """How much the answers speak for it: in standard errors, nats, σ, or a share."""
    p_value: float | None
    """The p-value of the statistic, if the model holds; None if it was not computed."""
    threshold: float
    """The check fails if the p-value is below this or, without one, the statistic above it."""
    what: str = ""
    """What exactly differs, in words."""

    @property
    def failed(self) -> bool:
        """The answers speak against the model."""
        return self.statistic > self.threshold if self.p_value is None else self.p_value < self.threshold

    @property
    def nats(self) -> float:
        """How strong it is, roughly, where checks are compared: minus the log of the p-value, or the statistic."""
        return self.statistic if self.p_value is None else -math.log(max(self.p_value, 1e-300))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        plain = {"name": self.name, "statistic": self.statistic, "p_value": self.p_value, "threshold": self.threshold}
        return {**plain, "failed": bool(self.failed), "what": self.what}


def check_model(
    data: Data,
    fit: Fit,
    free_sigma: bool,
    free_weights: bool,
    *,
    level: bool,
    names: Sequence[str] | None = None,
    quiet: bool = False,
) -> list[Check]:
    """Hold a fit against all answers, in every way that has a name.

    Parameters
    ----------
    data : Data
        All answers, in the order in which they were asked.
    fit : Fit
        The models.
    free_sigma, free_weights : bool
        Whether σ and the shares were estimated.
    level : bool
        The first column of the rows is the level.
    names : sequence of str, optional
        What the features are called.
    quiet : bool
        The answers have no noise: only which model answers can be looked at.

    Returns
    -------
    list of Check
        Those that could be computed. Together they fail with probability 2 % where the model holds.
    """
    N, c = data.X.shape
    names = names or [f"x{j}" for j in range(c - level)]
    rng = np.random.default_rng(0)
    times = int(np.clip(tuning.MOST_DRAWN_ANSWERS // N, 1, tuning.DRAWS))
    given, drawn = see(data, fit), [draw(data, fit, rng) for _ in range(times)]
    place = place_of(fit, N, level)
    wanted = OF_SHARES if quiet else tuple(EXTENSIONS)
    tested: dict[str, Tested | None] = dict(score_tests(given, drawn, place, (free_sigma, free_weights), wanted))
    if not quiet:
        tested["linked"] = pair_test(given, drawn, *_in_a_row(data))
        tested["repeats"] = _repeats_test(data, fit, given, drawn, rng)
    gate = tested.get("gate")
    if gate is not None and level and data.scale is None and not _of_lapses(gate.which, place) and _all_level(fit):
        tested["levels"] = tested.pop("gate")
    found = [
        Check(name, test.statistic, test.p_value, level_of(N), _what(name, test.which, place, level, names))
        for name, test in tested.items()
        if test is not None
    ]
    if data.group is None and not quiet:
        found += _ratios(given, data, fit, place, level)
    return found


def _all_level(fit: Fit) -> bool:
    """Say whether all of several models are levels, as far as their errors tell: the first column is the level."""
    slopes, errors = np.abs(fit.beta[:, 1:]), fit.stderr[:, 1:]
    return fit.L > 1 and bool((slopes <= tuning.PARALLEL_ERRORS * errors).all())


def _of_lapses(which: int, place: Place) -> bool:
    """Say whether a parameter of the gate is about lapses: theirs come last."""
    return which >= models_tested(len(place.effects)) * len(place.columns)


def level_of(N: int) -> float:
    """Return the p-value below which a check of N answers fails: many answers have power to spare."""
    return tuning.CHECK_P_VALUE * min(1.0, tuning.POWER_TO_SPARE / N)


def outlier_check(data: Data, fit: Fit) -> Check:
    """Check the share of answers that are far from every model; where lapses are part of the model, they may be."""
    share = 0.0 if isinstance(fit.scale, Lapses) else outlier_share(data, fit)
    most = max(tuning.LARGEST_OUTLIER_SHARE, tuning.FEWEST_OUTLIERS / max(len(data.y), 1))
    what = f"{100 * share:.1f} % of the answers are far from {'all models' if fit.L > 1 else 'the model'}"
    return Check("outliers", share, None, most, what)


def lapses_check(data: Data, fit: Fit) -> Check:
    """Check the lapses: of more than a few, or of those that go with the features, some are a further model's."""
    share = f"{100 * fit.lapses:.0f} % of the answers fit none of the models"
    if isinstance(fit.scale, Lapses):
        here = probable_lapses(data, fit)
        told, p_value = linear_part(data.X[here], data.values[here])
        if told > tuning.LINEAR_LAPSES:
            return Check("lapses", told, p_value, level_of(len(data.y)), f"{share}, and go with the features")
    return Check("lapses", fit.lapses, None, MANY_LAPSES, share)


def probable_lapses(data: Data, fit: Fit) -> Mask:
    """Return which answers fit none of the models, rather than one of them, (N,)."""
    if not isinstance(fit.scale, Lapses):
        return np.zeros(len(data.y), dtype=np.bool_)
    lapsed = fit.scale.lapsed(data.y, data.X @ fit.beta.T, fit.noise)
    found: Mask = (fit.explained(data).probability * lapsed).sum(axis=1) > 0.5
    return found


def linear_part(X: Array, y: Array) -> tuple[float, float]:
    """Return which part of the variance of answers one linear model explains, and how probably it does so by chance.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> told, p_value = linear_part(X, 1 + X @ [1.0, -2.0, 0.0])
    >>> round(told, 6), p_value < 1e-9, linear_part(X[:4], X[:4, 0])
    (1.0, True, (0.0, 1.0))
    """
    from scipy.special import fdtrc

    A = np.column_stack([np.ones(len(y)), X])
    used = int(np.linalg.matrix_rank(A)) if len(y) else 0
    left = len(y) - used
    total = float(np.var(y)) * len(y) if len(y) else 0.0
    if left < tuning.LEAST_LAPSES_LEFT or used < 2 or not total > 0:
        return 0.0, 1.0
    rest = float(((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2).sum())
    F = (total - rest) / (used - 1) / max(rest / left, 1e-300)
    return 1 - (rest / left) / (total / (len(y) - 1)), float(fdtrc(used - 1, left, F))


def _ratios(given: View, data: Data, fit: Fit, place: Place, level: bool) -> list[Check]:
    """Make the checks that are likelihood ratios; lapses are left out, and where there are some, tails are expected.

    On a scale the shape of the noise hides behind steps and ends: only values that level off are looked for.
    """
    lapses, y = isinstance(fit.scale, Lapses), data.y
    kept = given.own if lapses else slice(None)
    at = given.X[kept], y[kept], fit.beta, given.weights, given.sigma
    nats, width = link(*at, place.estimated, data.scale)
    what = f"the answers level off about {width:.3g} from their middle"
    found = [Check("link", nats, None, tuning.LINK_NATS, what)]
    if data.scale is not None:
        return found
    if fit.L > 1 and (level or np.ptp(given.sigma) > 0):
        gain = gain_of_two(given, y, fit, level)
        of = "levels" if level else "noise"
        what = f"two models differ in their {of} alone: one with a noise of another shape explains them nearly as well"
        found.append(Check("shape", max(0.0, tuning.SHAPE_NATS - gain), None, 0.0, what))
    if not lapses:
        found.append(Check("tails", tails(given), None, tuning.TAIL_NATS, "some answers are far from all models"))
    return found


def check_values(data: Data, fit: Fit) -> list[Check]:
    """Look at which values the answers take: steps, and answers at the ends. Exact answers on steps are no rounding."""
    if data.scale is not None:
        return []
    given, y = see(data, fit), data.y
    values, sigma = np.unique(y), float(given.sigma.mean())
    step = float(np.ptp(values)) if len(values) == 2 else rounding_step(y)  # of a yes or no: any distance is a step
    noisy = isinstance(fit.scale, Lapses) or left_over(given) > tuning.EXACT_SHARE * step
    coarse = step / sigma if noisy else 0.0
    most, p_value = at_the_ends(y, given)
    share = most / len(y)
    return [
        Check("rounding", coarse, None, tuning.ROUNDING_STEP, f"the answers come in steps of {step:.3g}"),
        Check("ends", share, p_value, level_of(len(y)), f"{100 * share:.0f} % of the answers are at one end"),
    ]


def _in_a_row(data: Data) -> tuple[Index, Index]:
    """Return the pairs of answers that follow each other, and are not known to be of one group."""
    first = np.arange(len(data.y) - 1)
    if data.group is not None:
        first = first[data.group[:-1] != data.group[1:]]
    return first, first + 1


def _repeats_test(data: Data, fit: Fit, given: View, drawn: list[View], rng: np.random.Generator) -> Tested | None:
    """Test pairs of answers to the same query: they are few, and are drawn more often."""
    first, second = _same_query(data)
    if data.group is not None or len(first) < tuning.LEAST_PAIRS:
        return pair_test(given, drawn, first, second)
    rows, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    few = data.rows(rows)
    times = int(np.clip(tuning.MOST_DRAWN_ANSWERS // len(rows), len(drawn), tuning.DRAWS_OF_PAIRS))
    return pair_test(see(few, fit), [draw(few, fit, rng, data.y) for _ in range(times)], *np.split(place, 2))


def _same_query(data: Data) -> tuple[Index, Index]:
    """Return pairs of answers to the same query that do not follow each other, and are not of one group."""
    _, same = np.unique(data.X, axis=0, return_inverse=True)
    order = np.argsort(same.ravel(), kind="stable")
    key = same.ravel()[order]
    pairs = []
    for ahead in (1, 2):
        first, second = order[:-ahead], order[ahead:]
        apart = second - first > 1
        # Of answers in a row, each is paired with the one after the next.
        wanted = apart if ahead == 1 else apart & (order[1:-1] - first == 1)
        kept = (key[:-ahead] == key[ahead:]) & wanted
        pairs.append((first[kept], second[kept]))
    first, second = (np.concatenate(part) for part in zip(*pairs, strict=True))
    other = slice(None) if data.group is None else data.group[first] != data.group[second]
    return first[other], second[other]


def _what(name: str, which: int, place: Place, level: bool, names: Sequence[str]) -> str:
    """Say what a parameter of an extension is about."""
    points, N = tuning.CHANGE_POINTS, len(place.order)
    after = round((which % points + 1) / (points + 1) * N)
    columns = place.columns

    def of_one(parameters: int) -> str:
        """Say if it is about one of several models: after the parameters of all come those of each."""
        return " of one model" if which >= parameters else ""

    if name.startswith("drift"):
        of = name.removeprefix("drift of ")
        if name == "drift of the coefficients":
            column = int(place.estimated[1][which // points]) - level
            of = f"the coefficient of {names[column]}" if column >= 0 else "the level of a model"
        return f"{of} {'change' if of == 'the shares' else 'changes'} after about {after} answers"
    if name == "own coefficients":
        return f"respondents who share a model differ in what {names[columns[which] - level]} means to them"
    if name == "order in a group":
        how = ("rise or fall", "shrink or grow")[which % 2]
        return f"the answers of a respondent{of_one(2)} {how} from the first to the last"
    if name in ("gate", "levels"):
        of = names[columns[which % len(columns)] - level]
        if name == "levels":
            L = len(place.effects)
            return f"the answers are at {L} levels, and {of} has a say in which: they level off, or a rule routes"
        if _of_lapses(which, place):
            return f"how many answers fit no model depends on {of}"
        return f"which model answers depends on {of}: a routing rule"
    if name == "bend":
        if of_one(2):
            how = ("bend with", "level off, or rise more steeply, with")[which % 2]
            return f"the answers of one model {how} its prediction"
        return f"the answers bend with the prediction's {('square', 'cube')[which]}"
    if name == "squares":
        return f"the answers{of_one(len(columns))} bend with {names[columns[which % len(columns)] - level]}"
    if name == "cubes":
        here = which % (len(columns) + 1)
        of = names[columns[here] - level] if here < len(columns) else "all features alike"
        return f"the answers{of_one(len(columns) + 1)} level off, or rise more steeply, towards the ends of {of}"
    if name == "uneven noise":
        return f"the noise grows or shrinks with {_what_of_noise(which, [names[j - level] for j in columns])}"
    if name == "interactions":
        pairs = np.column_stack(np.triu_indices(len(place.crossed), 1))
        first, second = place.crossed[pairs[which % len(pairs)]] - level
        where = " in one model" if of_one(len(pairs)) else ""
        return f"{names[first]} and {names[second]} have an effect together{where} that they do not have alone"
    return WORDS[name]


def _what_of_noise(which: int, names: Sequence[str]) -> str:
    """Say with what the noise changes, as `extensions.uneven_noise` orders its parameters."""
    if which < 2 or which >= 3 + 2 * len(names):  # of all models, or of one
        return "the answer"
    if which == 2:
        return "the distance of the query from the middle"
    return names[(which - 3) % len(names)]


WORDS = {
    "own levels": "respondents who share a model have levels of their own",
    "sigma by model": "the models have noise of different size",
    "skewness": "the noise is skewed",
    "offset": "all answers are shifted: there is a constant",
    "shares": "the shares are not those that were given",
    "sigma": "the noise is not what was given",
    "linked": "answers in a row share their model or their noise",
    "repeats": "the same query gets the same model or the same noise again",
}
