"""Answers without noise: every one is a measurement of one model, and exact equations decide.

All queries but a few are small steps around one point, the anchor: u + s v. Their answers lie so near to those of the
models at u that each tells its model, and each is one exact equation for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.errors import ModelError
from mixsense.features.units import Coded
from mixsense.methods.design import gaussian
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.answers import Answers
from mixsense.methods.frugal.corners import Box
from mixsense.methods.frugal.model_checks import Check, label_checks, warning
from mixsense.methods.frugal.setup import Setup
from mixsense.methods.frugal.sizes import expected_sparsity
from mixsense.methods.frugal.steering import Queries
from mixsense.methods.paper.exact_values import SURER, answers_to_see_all, miss
from mixsense.methods.verification.verify import hidden_by_rounding
from mixsense.problem import MOST_MODELS, Problem
from mixsense.recovery import PROMISES, Recovery
from mixsense.regression.exact import clusters, explained, shortest, sparsest
from mixsense.regression.told import largest_first
from mixsense.regression.tuning import EXPLAINED, SPARE_ANSWERS
from mixsense.rounds import Method

Draw = Callable[[int], Array]
"""Draws this many queries."""


def exact(
    problem: Problem, answers: Answers, setup: Setup, inside: Box | None, rng: np.random.Generator, budget: int
) -> Method[Recovery | None]:
    """Recover all models exactly, if the answers have no noise.

    Parameters
    ----------
    problem : Problem
        k and the number of models are used if they are given.
    answers : Answers
        Keeps all answers; those that measured the noise are there.
    setup : Setup
        What is known.
    inside : Box or None
        Where queries stay.
    rng : Generator
        Draws the queries.
    budget : int
        The most answers.

    Returns
    -------
    Recovery or None
        None if the answers have noise, or are rounded, or no linear models explain them to rounding.

    Raises
    ------
    ModelError
        γ is 0, and the answers are not exact.

    Notes
    -----
    "certified" needs that the answers around the anchor give each model with equations to spare, that every answer to
    plain queries, which no model was fitted to, is explained by one of them as well, and that each model explains such
    an answer. A wrong model does so with probability 0. What remains is a model that has not answered yet:
    ``diagnostics["missed"]`` bounds its probability, as for ``method="noiseless"``.
    """
    noise = f"have noise (about {setup.sigma:.2g})"
    if inside is not None and inside.coded.whole.any() and quiet(answers, setup):
        return None  # steps between whole numbers are not small: `exact_of_fit` sees whether a fit is exact
    if quiet(answers, setup) and budget > answers.N:
        noise = "are rounded, or not linear in the queries"
        draw = partial(gaussian, n=problem.n, rng=rng) if inside is None else partial(inside.anywhere, rng=rng)
        plainly = draw if inside is None else partial(inside.anywhere_or_corners, rng=rng)
        plain = draw(min(tuning.PLAIN_QUERIES, budget - answers.N))
        asked = yield from answers.ask(Queries.alone(plain), "exact answers: plain queries", None)
        for step in () if rounded(asked.y) else tuning.STEPS:
            search = Search(answers, draw(1)[0], step, problem, None if inside is None else inside.coded)
            found = yield from search.run(setup, draw, plainly, budget)
            if found is not None:
                return found
    if problem.gamma == 0:
        raise ModelError(f"gamma is 0, and the answers {noise}: give a gamma above 0, or gamma=None and max_queries")
    return None


def quiet(answers: Answers, setup: Setup) -> bool:
    """Say whether the answers seem to have no noise: it is said to be 0, or one query has few different answers."""
    if answers.scale is not None:
        return False
    few = 0 < len(np.unique(answers.y)) <= MOST_MODELS and answers.N >= tuning.LEAST_NOISE_ANSWERS
    return setup.sigma == 0 or few


def rounded(y: Array) -> bool:
    """Say whether answers to plain queries are rounded: to some digits, or to single precision.

    Coefficients with few digits do not make such answers, since plain queries have all digits.

    Examples
    --------
    >>> rounded(np.array([1.25, 3.5])), rounded(np.array([1.0, 1 / 3])), rounded(np.float32([0.1, 1 / 3]).astype(float))
    (True, False, True)
    """
    scale = float(np.abs(y).max(initial=0.0))
    places = tuning.ROUNDED_DIGITS - math.ceil(math.log10(scale)) if scale else 0
    return scale > 0 and bool((np.round(y, places) == y).all() or (y.astype(np.float32) == y).all())


class Search:
    """The equations around one anchor, and what they say."""

    def __init__(self, answers: Answers, anchor: Array, step: float, problem: Problem, box: Coded | None) -> None:
        self.answers, self.query, self.step, self.problem, self.box = answers, anchor, step, problem, box
        self.anchor = answers.rows(anchor[None])[0]
        self.level = box is not None and box.level
        self.models = problem.given_models
        self.beta = np.empty((0, len(self.anchor)))  # the best so far
        self.clusters = 0
        self.unexplained = True
        self.hopeless = False
        self.patience = math.inf

    def run(self, setup: Setup, draw: Draw, plainly: Draw, budget: int) -> Method[Recovery | None]:
        """Ask until all models are known and verified, or cannot be known from here."""
        answers = self.answers
        while not self.hopeless:
            left = budget - answers.spent
            if left <= 0:
                return self.recovery(setup, "budget")
            q = min(left, self.next_size())
            plain = math.ceil(tuning.PLAIN_SHARE * q) if self.unexplained else q
            queries = np.vstack([self.query + self.step * draw(q - plain), plainly(plain)])
            estimate = partial(self.recovery, setup, "budget") if len(self.beta) else None
            yield from answers.ask(Queries.alone(queries), "exact answers: small steps around one point", estimate)
            self.renew()
            if self.done(setup.eta):
                return self.recovery(setup, "certified", self.plain)
        return None

    @property
    def near(self) -> Mask:
        """Which answers are to steps around the anchor."""
        away = np.abs(self.answers.X - self.anchor).max(axis=1)
        return np.asarray(away <= tuning.LONGEST_STEP * self.step)

    @property
    def plain(self) -> Mask:
        """Which answers are to plain queries; those in the middle of everything verify nothing."""
        return ~self.near & self.answers.X[:, int(self.level) :].any(axis=1)

    @property
    def tolerance(self) -> float:
        """How far an answer may be from a model that explains it."""
        return EXPLAINED * float(np.abs(self.answers.y).max())

    def next_size(self) -> int:
        """Return how many answers the next round takes."""
        n = self.problem.n
        if not self.clusters:
            k = self.problem.k or expected_sparsity(n)
            rows = min(k * (1 + math.log(n / k + 1)), n) + SPARE_ANSWERS + 1
            return math.ceil((self.models or 2) * rows)
        return max(tuning.LEAST_EXACT_STAGE, math.ceil(tuning.EXACT_GROWTH * self.answers.N))

    def renew(self) -> None:
        """Solve for each model again, with all answers."""
        near = self.near
        X, y = self.answers.X[near], self.answers.y[near]
        moves = np.ptp(X, axis=0)[int(self.level) :] if len(X) else np.zeros(1)
        if not (moves > self.step / tuning.LONGEST_STEP).all():
            self.hopeless = True  # somebody rounds the queries
            return
        label = clusters(y, tuning.CLUSTER_WIDTH * self.step * float(np.abs(self.answers.y).max()))
        self.clusters = int(label.max()) + 1
        self.hopeless = self.clusters > MOST_MODELS
        found = [sparsest(X[label == c], y[label == c], self.level) for c in range(min(self.clusters, MOST_MODELS))]
        for c, vector in enumerate(found):
            self.hopeless |= vector is None and int((label == c).sum()) > X.shape[1] + SPARE_ANSWERS
        whole = len(found) == self.clusters and all(vector is not None for vector in found)
        likely = [
            shortest(X[label == c], y[label == c], self.level) if vector is None else vector
            for c, vector in enumerate(found)
        ]
        self.beta = np.stack(likely)
        self.unexplained = not whole or not explained(*self._all, self.beta, self.tolerance)[1].all()
        if whole:  # others that answer plain queries should come up around the anchor, too
            self.patience = min(self.patience, tuning.PATIENCE * self.answers.N)
        self.hopeless |= self.unexplained and self.answers.N > self.patience

    @property
    def _all(self) -> tuple[Array, Array]:
        return self.answers.X, self.answers.y

    def done(self, eta: float) -> bool:
        """Say whether all models are known, and verified."""
        if self.unexplained or self.hopeless:
            return False
        label, _ = explained(*self._all, self.beta, self.tolerance)
        plain = label[self.plain]
        return len(np.unique(plain)) == len(self.beta) and len(plain) >= self.least_plain and self.seen_all(eta)

    @property
    def least_plain(self) -> int:
        """How many answers to plain queries are explained before anything is promised."""
        return 0 if self.box is None else tuning.LEAST_PLAIN

    def seen_all(self, eta: float) -> bool:
        """Say whether a further model would have answered by now."""
        wanted = self.models or MOST_MODELS
        seen = self.answers.N - self.answers.zeros
        return len(self.beta) >= wanted or seen >= answers_to_see_all(1 / wanted, SURER * eta)

    def checks(self, anywhere: Mask | None = None) -> list[Check]:
        """Check that the models were drawn by chance; queries that two models answer alike tell nothing of that."""
        data = self.answers.data
        away = np.sort(np.abs(data.y[:, None] - data.X @ self.beta.T), axis=1)
        told = away[:, 1] > self.tolerance if len(self.beta) > 1 else np.zeros(len(data.y), dtype=np.bool_)
        label = explained(data.X, data.y, self.beta, 0.0)[0]
        names = list(self.problem.names or (f"x{j}" for j in range(self.problem.n)))
        anywhere = None if anywhere is None else anywhere[told]
        return label_checks(data.rows(np.flatnonzero(told)), label[told], self.level, names, anywhere)

    def recovery(self, setup: Setup, status: str, anywhere: Mask | None = None) -> Recovery:
        """Say what was found; `anywhere` says which queries were drawn from everywhere, all by default."""
        X, y = self.answers.data.without_zeros.X, self.answers.data.without_zeros.y
        known = self.beta if len(self.beta) else np.zeros((1, X.shape[1]))
        count = np.bincount(explained(X, y, known, 0.0)[0], minlength=len(known))
        order = order_of_exact(known, count, setup)
        beta, share, N = known[order], count[order] / count.sum(), len(y)
        checks = self.checks(anywhere) if status == "certified" else []
        warnings = self._warnings(beta) if status == "certified" else []
        warnings += hidden_by_rounding(beta, self.problem.gamma) if status == "certified" else []
        warnings += [said] if (said := warning(checks)) else []
        if status == "certified" and len(beta) == 1:
            status, beta = "single", np.repeat(beta, self.models or 1, axis=0)
            share = np.full(len(beta), 1 / len(beta))
        status = "uncertain" if warnings else status
        sure = status in PROMISES
        given = setup.weights if setup.weights is not None and len(setup.weights) == len(beta) else None
        free = setup.free_weights and sure and len(known) > 1
        story = {"method": "frugal", "exact": sure, "models": len(known), "warnings": warnings}
        story |= {"checks": [check.to_dict() for check in checks]}
        wanted = self.models or MOST_MODELS
        return Recovery(
            vectors=beta[:, -self.problem.n :],
            status=status,
            error_bound=0.0 if sure else math.inf,
            sigma=0.0,
            weights=share if given is None else given,
            weights_stderr=np.sqrt(share * (1 - share) / N) if free else None,
            diagnostics=story | {"missed": miss(1 / wanted, N) if len(known) < wanted else 0.0},
            intercept=self._at_zero(beta) if self.box is not None and self.box.intercept else None,
        )

    def _warnings(self, beta: Array) -> list[str]:
        """Say in which ways the answers do not support what was found."""
        L, warnings = len(beta), []
        if self.models is not None and 1 < L != self.models:
            warnings.append(f'the answers come from {L} models, and models is {self.models}: give models="auto"')
        if self.level and not (self.box and self.box.intercept) and np.abs(self._at_zero(beta)).max() > self.tolerance:
            worst = float(np.abs(self._at_zero(beta)).max())
            warnings.append(f"the answers at x = 0 would be up to {worst:.3g}, not 0: give intercept=True")
        return warnings

    def _at_zero(self, beta: Array) -> Array:
        """Return what each model answers at x = 0, which is −centre in coded units."""
        assert self.box is not None
        return np.asarray(beta @ np.concatenate([np.ones(int(self.level)), -self.box.centre]))


def order_of_exact(beta: Array, count: Index, setup: Setup) -> list[int]:
    """Return the order in which all runs show the models, as `mixsense.regression.told.order_of_models`."""
    if setup.weights is not None and len(setup.weights) == len(beta) and np.ptp(setup.weights):
        place = np.argsort(np.argsort(-setup.weights, kind="stable"), kind="stable")
        order: list[int] = np.argsort(-count, kind="stable")[place].tolist()
        return order
    return largest_first(beta, count if setup.free_weights else np.zeros(len(beta)))
