"""The questions of a preflight, and what is said of the answers.

Each check holds for an oracle that answers with one of several linear models at random, plus noise: the mean of its
answers is then linear in the query, although no single answer is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_int, generator
from mixsense.errors import InvalidInput, OracleError
from mixsense.features.kinds import features_of
from mixsense.features.units import Units
from mixsense.oracles.abilities import Callers
from mixsense.oracles.preflight import line_tests, tuning
from mixsense.oracles.preflight.answer_scales import OnTheLine, looks_like, on_the_line, straighten
from mixsense.oracles.preflight.report import NOTE, OK, PROBLEM, Preflight, Verdict
from mixsense.problem import AUTO
from mixsense.rounds import TOO_MANY_AT_AN_END, Oracle, checked_answers
from mixsense.scales import scale_of
from mixsense.scales.scale import Scale


def cost(oracle: Oracle) -> int:
    """Return the most answers that a preflight of this oracle takes."""
    callers = tuning.PLACES * tuning.CALLERS * tuning.LOOKS if isinstance(oracle, Callers) else 0
    return 1 + 7 * tuning.REPEATS + len(tuning.STOPS) * tuning.LINES * tuning.PASSES + callers * tuning.VISITS


def preflight(
    oracle: Oracle,
    n: int,
    box: Sequence[tuple[float, float]] | None = None,
    seed: Any = 0,
    block: int | Literal["auto"] = 1,
    scale: Any = None,
    features: Sequence[Any] | None = None,
    intercept: bool = False,
) -> Preflight:
    """Look at an oracle before it is asked.

    Parameters
    ----------
    oracle : callable
        The oracle. One that can ask as other callers, such as an `HTTPOracle`, is also tested for stickiness.
    n : int
        Length of a query.
    box : sequence of (low, high), optional
        The range of each input; −2 to 2 if left out.
    seed : int or Generator
        Source of the queries.
    block : int or "auto"
        How many consecutive queries one caller is to be asked: more than one if the service is sticky only. "auto" lets
        the preflight say how many, in `Preflight.block`.
    scale : Rating, Probability or dict, optional
        What an answer is, if it is no real number: what has to be linear is the value behind it.
    features : sequence of Number or Integer, optional
        What the inputs may be; the box follows from them. Whole numbers stay as they are along a line, so that no bend
        in them is looked for.
    intercept : bool
        Each model may have a constant of its own. Otherwise the answers to x = 0 have to be 0 but for the noise, which
        is tested where the box has that query.

    Returns
    -------
    Preflight
        The verdicts: `answers` (there are any), `noise`, `cached`, `constant`, `linear`, `models`, `sticky` and
        `level`.

    Notes
    -----
    *Linear*: along a line the mean of the answers is linear and the mean of their squares a parabola, for every mixture
    of linear models with noise of constant size; the second and third differences are tested by t over repeated lines.
    If the noise is small, the answers themselves must lie on two or three straight lines, as far as they would on as
    many values at each point: more models leave both errors large.
    *Cached*: one query gives exactly one number, its neighbours do not lie on a line. *Constant*: the answers at 32
    places differ neither in level (Kruskal–Wallis) nor in spread (permutation test). *Sticky*: where
    the spread is widest, the answers of one caller, who keeps connection, cookies and id, are more alike than those of
    several (permutation test, in up to 3 looks). *Level*: the mean of 12 answers to x = 0 is not 0 (t-test).
    What cannot be told apart: one model; several that differ by less than the noise; a rare model (below a share of
    about 10 %); and a routing by something that a new connection does not change, such as our address or key.

    Examples
    --------
    >>> import mixsense as ms
    >>> oracle = ms.SimulatedOracle(ms.random_pair(12, 3, gap=5.0, seed=1), sigma=0.5, seed=2)
    >>> report = preflight(oracle, 12, seed=3)
    >>> [verdict.name for verdict in report.verdicts if verdict.level != "ok"], report.requests
    ([], 293)
    """
    n = as_int("n", n, 1, "the length of a query")
    usual = -tuning.DEFAULT_RANGE, tuning.DEFAULT_RANGE
    kinds = features_of(features)
    units = Units.of(n, kinds, [usual] * n if box is None else box, intercept)
    block = AUTO if block == AUTO else as_int("block", block, 1, "how many consecutive queries one caller is asked")
    look = _Look(oracle, units, generator(seed), block, scale_of(scale))
    look.boxed = box is not None or kinds is not None
    try:
        look.run()
    except OracleError as error:
        return Preflight((Verdict("answers", PROBLEM, str(error)),), look.count)
    return Preflight(tuple(look.verdicts), look.count, look.block if isinstance(look.block, int) else 1)


class _Look:
    """The checks, in their order; each leaves its verdict."""

    def __init__(
        self, oracle: Oracle, units: Units, rng: np.random.Generator, block: int | Literal["auto"], scale: Scale | None
    ) -> None:
        self.oracle, self.units, self.rng, self.block, self.scale = oracle, units, rng, block, scale
        self.n, self.boxed = len(units.features), True
        self.real = units.steps == 0
        self.count = 0
        self.verdicts: list[Verdict] = []
        self.widest = np.empty((0, self.n))  # where the answers differ most: models may, too

    def say(self, name: str, level: str, text: str) -> None:
        self.verdicts.append(Verdict(name, level, text))

    def ask(self, Z: Array, repeats: int = 1, oracle: Oracle | None = None) -> Array:
        """Ask coded queries, (q, n) within ±1, in the units of the box; returns (q, repeats)."""
        return self.ask_plain(self.units.decode(Z), repeats, oracle)

    def ask_plain(self, X: Array, repeats: int, oracle: Oracle | None = None) -> Array:
        """Ask queries in the units of the box."""
        answers = checked_answers((oracle or self.oracle)(X, repeats), len(X), repeats)
        self.count += len(X) * repeats
        if self.scale is not None:
            try:
                self.scale.check(answers.ravel())
            except InvalidInput as error:
                raise OracleError(str(error)) from None
        return answers

    def corners(self, count: int) -> Array:
        found: Array = np.where(self.real, 1 - 2 * tuning.JITTER, 1.0) * self.rng.choice([-1.0, 1.0], (count, self.n))
        return found

    def run(self) -> None:
        self.ask(np.zeros((1, self.n)))
        self.say("answers", OK, "the endpoint answers with numbers")
        again, beside = self.beside()
        lines = self.lines()  # (lines, passes, stops)
        every = np.concatenate([again, beside, lines.ravel()])
        scale = float(np.ptp(every))
        quantum = line_tests.decimal_step(every)
        random = self.noise(again, beside, scale, quantum) or np.ptp(lines, axis=1).max() > tuning.JUMP * scale
        seen = on_the_line(lines, self.scale, quantum)
        constant, spread_p = self.constant(seen.values)
        if not constant:
            self.linear(lines, seen)
            self.models(1.0 if seen.cut else spread_p, bool(random))
            if isinstance(self.oracle, Callers):
                self.sticky(self.oracle)
            elif self.block not in (1, AUTO):
                self.say("sticky", NOTE, "not tested: whether the answers of a block share a model is not known")
            problems = {verdict.name for verdict in self.verdicts if verdict.level == PROBLEM}
            # A stored answer is 12 times the same, and one that bends may be anything at x = 0: first things first.
            if self.has_zero() and not self.units.intercept and not problems & {"cached", "linear"}:
                self.level(float(np.ptp(seen.values)), quantum)

    def has_zero(self) -> bool:
        """Return whether x = 0 may be asked."""
        return bool((self.units.low <= 0).all() and (self.units.high >= 0).all())

    def beside(self) -> tuple[Array, Array]:
        """Ask one query again and again, then queries on a tiny line beside it."""
        z = self.rng.uniform(-tuning.INNER, tuning.INNER, self.n)
        step = tuning.JITTER * self.rng.choice([-1.0, 1.0], self.n) * self.real
        again, beside = np.empty(0), np.empty(0)
        for stage in (1, 2):  # once more, and longer, if the first look leaves it open
            t = len(beside) + 1.0 + np.arange(stage * tuning.REPEATS)
            again = np.append(again, self.ask(z[None], len(t))[0])
            beside = np.append(beside, self.ask(z + t[:, None] / (3 * tuning.REPEATS) * step)[:, 0])
            if np.ptp(again) or not line_tests.off_line(again[0], beside, 0.0):
                break
        return again, beside

    def noise(self, again: Array, beside: Array, scale: float, quantum: float) -> bool:
        """Say whether repeats differ; returns whether anything is random at all."""
        values = len(np.unique(again))
        off = line_tests.off_line(again[0], beside, max(tuning.FLAT * scale, 2 * quantum))
        same = f"{len(again)} times the same query, always {again[0]:g}"
        chance = math.comb(len(beside), off) / math.comb(2 * len(beside), off)  # that none of them is in `again`
        if values > 1:
            exact = "two exact values: routed at random, without noise"
            self.say("noise", OK, exact if values == 2 else "the answers to one query differ")
            self.say("cached", OK, "a repeated query gets a new answer")
        elif not off:
            self.say("noise", NOTE, f"the answers are exact: {same}")
            self.say("cached", NOTE, "cannot be seen: without noise a stored answer looks like a new one")
        elif chance < tuning.SIGNIFICANCE:
            self.say("noise", NOTE, f"{same}; queries beside it are answered differently")
            self.say("cached", PROBLEM, "a repeated query gets its stored answer, so repeats tell nothing")
        else:
            self.say("noise", OK, "without noise; a few answers come from another model")
            self.say("cached", NOTE, f"not clear: {same}, but {off} of {len(beside)} beside it jump")
        return values > 1 or off > 0

    def lines(self) -> Array:
        """Ask points on lines, in mixed order, the lines moved slightly at each pass; (lines, passes, stops)."""
        a, b = self.corners(tuning.LINES), self.corners(tuning.LINES)
        b[::2] = 0.0  # an odd function, such as a clipped one, bends between the centre and a corner
        b[:, ~self.real] = a[:, ~self.real]
        move = tuning.JITTER * self.rng.uniform(-1, 1, (2, tuning.LINES, tuning.PASSES, self.n)) * self.real
        left, right = a[:, None] + move[0], b[:, None] + move[1]
        Z = np.stack([(1 - t) * left + t * right for t in tuning.STOPS], axis=2).reshape(-1, self.n)
        order = self.rng.permutation(len(Z))  # a drift of the endpoint must not look like a bend
        y = np.empty(len(Z))
        y[order] = self.ask(Z[order])[:, 0]
        found = y.reshape(tuning.LINES, tuning.PASSES, len(tuning.STOPS))
        line, stop = np.divmod(np.argsort(-found.var(axis=1), axis=None)[: tuning.PLACES], len(tuning.STOPS))
        self.widest = (1 - tuning.STOPS[stop, None]) * a[line] + tuning.STOPS[stop, None] * b[line]
        return found

    def constant(self, lines: Array) -> tuple[bool, float]:
        """Say whether anything depends on the query; returns that and the p-value of equal spreads."""
        groups = lines.transpose(0, 2, 1).reshape(-1, tuning.PASSES)  # one row for each place
        if np.ptp(lines) == 0:
            what = f"the answer is {lines.flat[0]:g} everywhere"
            self.say("constant", PROBLEM, f"{what}: it does not depend on the inputs")
            return True, 1.0
        level_p = line_tests.unequal_levels(groups)
        spread_p = line_tests.unequal_spreads(groups, self.rng)
        if 2 * min(level_p, spread_p) > tuning.DEPENDENCE:
            what = f"the answers at {len(groups)} places of the box do not differ beyond their noise"
            self.say("constant", PROBLEM, f"{what} (p = {level_p:.2g}): no dependence on the inputs is seen")
            return True, spread_p
        self.say("constant", OK, "the answers depend on the inputs")
        return False, spread_p

    def linear(self, lines: Array, seen: OnTheLine) -> None:
        if not self.real.any():
            return self.say("linear", NOTE, "not tested: there are whole numbers only")
        scale, advice = float(np.ptp(seen.values)), straighten(lines)
        blur = seen.blur + (tuning.FLAT * scale) ** 2  # errors that no repetition takes away
        p, bend, least = line_tests.bend_test(seen.values, scale, blur)
        ends = max(float(np.mean(lines == edge)) for edge in (lines.min(), lines.max()))
        fine = not seen.blur and self.scale is None and bool(self.real.all())  # whole numbers are alike along a line
        if seen.cut:
            self.say("linear", NOTE, f"not tested: {seen.cut:.0%} of the answers are at the ends of their scale")
        elif ends > TOO_MANY_AT_AN_END and fine:
            edge = lines.max() if np.mean(lines == lines.max()) == ends else lines.min()
            text = f"{ends:.0%} of the answers are exactly {edge:g}: the endpoint clips there, {advice}"
            self.say("linear", PROBLEM, text)
        elif line_tests.misfit(seen.values, blur) > tuning.MISFIT:
            text = "the answers along lines through the box do not lie on straight ones"
            self.say("linear", PROBLEM, f"not linear models: {text}: {advice}")
        elif p < tuning.SIGNIFICANCE:
            text = f"lines through the box bend by {bend:.0%} of the range of the answers (p = {p:.1g})"
            self.say("linear", PROBLEM, f"not linear: {text}: {advice}")
        else:
            text = f"no bend is seen; one by {least:.1%} of the range of the answers would be"
            self.say("linear", OK, text + ("" if self.scale is not None else looks_like(lines)))

    def models(self, spread_p: float, random: bool) -> None:
        if random and spread_p < tuning.SIGNIFICANCE:
            self.say("models", OK, "the spread of the answers depends on the inputs: there is more than one model")
            return
        what = "a second model is not seen" if random else "one model is seen"
        why = "there is only one, or these few answers do not show it, or we are always sent to the same"
        self.say("models", NOTE, f"{what}: {why}")

    def level(self, scale: float, quantum: float) -> None:
        """Ask x = 0: models without a constant answer 0 there, but for the noise; `scale` is the answers' range."""
        seen = on_the_line(self.ask_plain(np.zeros((1, self.n)), tuning.REPEATS)[0], self.scale, quantum)
        if seen.cut:
            return self.say("level", NOTE, "not tested: answers to x = 0 are at an end of their scale")
        p, mean, error = line_tests.mean_test(seen.values, seen.blur + (tuning.FLAT * scale) ** 2)
        what = "the answers at x = 0 are" if self.scale is None else "the values behind the answers at x = 0 are"
        if p < tuning.SIGNIFICANCE:
            give = "intercept=True (--intercept)" if self.boxed else "a box and intercept=True (--box, --intercept)"
            self.say("level", PROBLEM, f"{what} about {mean:.3g}, not 0: give {give}")
        else:
            self.say("level", OK, f"{what} 0, as far as is seen ({mean:.2g} ± {error:.2g})")

    def sticky(self, oracle: Callers) -> None:
        """Ask callers who keep connection, cookies and id: each may always be sent to one model."""
        seen = self.alike(oracle)
        blocks = (
            f"block={tuning.AUTO_BLOCK} (--block auto) keeps a caller for several questions: answers are labelled "
            "better, shares known less well"
        )
        one = f"one caller seems to get one model always, by its connection, cookie or id (p < {tuning.SIGNIFICANCE:g})"
        if seen and self.block != 1:
            self.block = tuning.AUTO_BLOCK if self.block == AUTO else self.block
            self.say("sticky", OK, f"one caller always gets one model: each is asked {self.block} questions")
        elif seen and oracle.fresh:
            self.say("sticky", NOTE, f"{one}; every question has new ones, so it is routed separately; {blocks}")
        elif seen:
            new = "a new one each time (fresh=True, --new-connections)"
            self.say("sticky", PROBLEM, f"{one}, and connections are kept: use {new}; or {blocks}")
        elif self.block not in (1, AUTO):
            text = "one caller is sent to different models, as far as is seen: leave block out (--block)"
            self.say("sticky", PROBLEM, text)
        elif oracle.fresh:
            self.say("sticky", OK, "one caller is routed as new callers are, as far as is seen")
        else:
            self.say("sticky", NOTE, "not seen; over kept connections a model that few of them lead to may be missed")

    def alike(self, oracle: Callers) -> bool:
        """Return whether the answers of one caller are more alike than those of several, where models differ most."""
        answers = np.empty((tuning.PLACES, tuning.LOOKS * tuning.CALLERS, tuning.VISITS))
        for caller in range(tuning.LOOKS * tuning.CALLERS):
            for place, z in enumerate(self.widest):
                Z = z + tuning.JITTER * self.rng.uniform(-1, 1, (tuning.VISITS, self.n)) * self.real
                with oracle.caller(fresh=False, cookies=True) as one:
                    answers[place, caller] = self.ask(Z, 1, one)[:, 0]
            so_far = answers[:, : caller + 1]
            due = (caller + 1) % tuning.CALLERS == 0
            if due and line_tests.alike_by_caller(so_far, self.rng) < tuning.SIGNIFICANCE / tuning.LOOKS:
                return True
        return False
