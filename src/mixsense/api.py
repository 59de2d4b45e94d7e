"""The front door: `recover`."""

from __future__ import annotations

import difflib
import inspect
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mixsense.checks import generator
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.features.units import SLACK, Units, feature_names
from mixsense.methods.design import Box
from mixsense.problem import Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Oracle, ProgressHook, run
from mixsense.rounds.in_units import in_units

METHODS = ("frugal", "paper", "single", "noiseless")
"""The names that `recover` takes as its method."""
DEFAULT_METHOD = "frugal"


def method_named(name: str) -> Callable[..., Method[Recovery]]:
    """Return the generator function of a method."""
    if name == "frugal":
        from mixsense.methods.frugal.method import frugal

        return frugal
    if name == "paper":
        from mixsense.methods.paper.two_vectors import paper

        return paper
    if name == "single":
        from mixsense.methods.paper.one_vector import single

        return single
    if name == "noiseless":
        from mixsense.methods.paper.noiseless import noiseless

        return noiseless
    raise InvalidInput(f"method is {name!r}: give one of {', '.join(map(repr, METHODS))}", method=name)


def options_of(name: str) -> tuple[str, ...]:
    """Return the names of the options that a method takes beyond the problem.

    Examples
    --------
    >>> options_of("paper")
    ('m', 'batch', 'pairs', 'constants')
    """
    return tuple(name for name in list(inspect.signature(method_named(name)).parameters)[2:] if name != "box")


def prepare(
    n: int,
    gamma: float | None = 0.1,
    k: int | None = None,
    sigma: float | None = None,
    eta: float = 0.05,
    method: str = DEFAULT_METHOD,
    weights: tuple[float, float] | str | None = None,
    max_queries: int | None = None,
    seed: Any = None,
    features: Sequence[str] | None = None,
    box: Any = None,
    intercept: bool = False,
    **options: Any,
) -> Method[Recovery]:
    """Check everything and return the method, ready to be driven; its queries are in the user's units.

    Parameters
    ----------
    n, gamma, k, sigma, eta, method, weights, max_queries, seed, features, box, intercept, **options
        As for `recover`.

    Returns
    -------
    generator
        Yields rounds, is sent answers, returns a `Recovery`; see `mixsense.rounds.drive`.

    Examples
    --------
    >>> next(prepare(3, box=[(0, 10), (0, 1), (1, 7)], sigma=1.0, seed=0)).queries[0]
    array([10.,  1.,  7.])
    """
    problem = Problem(n=n, gamma=gamma, k=k, sigma=sigma, eta=eta, weights=weights, max_queries=max_queries)
    make = method_named(method)
    for name in options:
        if name not in options_of(method):
            like = difflib.get_close_matches(name, [*inspect.signature(recover).parameters, *options_of(method)], 1)
            hint = f"it takes {', '.join(options_of(method))}{f'; did you mean {like[0]!r}?' if like else ''}"
            raise InvalidInput(f"method {method!r} has no option {name!r}: {hint}", option=name, method=method)
    rng = generator(seed)
    names = None if features is None else feature_names(problem.n, features)
    if box is None:
        if intercept:
            raise InvalidInput("intercept=True needs the range of each feature: give box=[(low, high), ...]")
        if "design" in options:
            raise InvalidInput("design is for queries in a box: give box=[(low, high), ...], or leave design out")
        return _named(make(problem, rng, **options), names)
    units = Units.of(problem.n, features, box, intercept)
    return _named(boxed(make, problem, rng, units, options), units.features)


def boxed(
    make: Callable[..., Method[Recovery]],
    problem: Problem,
    rng: np.random.Generator,
    units: Units,
    options: dict[str, Any],
) -> Method[Recovery]:
    """Run a method inside of a box; γ and the error bound are about the effects of half of each feature's range."""
    if "box" in inspect.signature(make).parameters:
        design = options.get("design", "corners")
        inside = Box(problem.n, design, bool(units.intercept or units.middle.any()), units.centre, units.intercept)
        return in_units(make(problem, rng, **{**options, "box": inside}), units, units.half, units.middle)
    if units.intercept:
        raise InvalidInput("the paper's methods have no intercept: use method='frugal', or leave intercept out")
    # Entries of Gaussian queries end at 3, those of their sums and differences at 6: the edge of the box.
    gamma = None if problem.gamma is None else problem.gamma / SLACK
    scaled = replace(problem, gamma=gamma, limit=SLACK / 2)
    return in_units(make(scaled, rng, **options), units, units.reach() / SLACK, np.zeros(problem.n), SLACK)


def _named(method: Method[Recovery], names: tuple[str, ...] | None) -> Method[Recovery]:
    r = yield from method
    return r if names is None else replace(r, names=names)


def recover(
    oracle: Oracle,
    n: int,
    gamma: float | None = 0.1,
    k: int | None = None,
    sigma: float | None = None,
    eta: float = 0.05,
    method: str = DEFAULT_METHOD,
    weights: tuple[float, float] | str | None = None,
    max_queries: int | None = None,
    seed: Any = None,
    progress: bool | ProgressHook = False,
    *,
    features: Sequence[str] | None = None,
    box: Any = None,
    intercept: bool = False,
    **options: Any,
) -> Recovery:
    """Recover both hidden vectors behind an oracle.

    Parameters
    ----------
    oracle : callable
        ``oracle(queries, repeats)`` answers each row of the (q, n) array `repeats` times: (q, repeats).
    n : int
        Length of the vectors.
    gamma : float or None
        Precision asked for; None spends `max_queries` (with method "frugal").
    k : int, optional
        How many coefficients of each vector matter. The paper's methods need it (or the option `m`).
    sigma : float, optional
        Standard deviation of the noise. Measured with queries x = 0 if left out.
    eta : float
        Allowed probability of failure.
    method : str
        "frugal" (our own, by far the fewest answers), "paper" (Algorithm 8), "single" (Algorithm 9: one vector for
        both) or "noiseless" (σ = 0).
    weights : pair of float, optional
        Shares of the two vectors, equal if left out; "frugal" takes other ones, and "estimate". The paper's methods
        assume equal ones.
    max_queries : int, optional
        Hard limit on the number of answers, never exceeded.
    seed : int, optional
        Seed of the queries. The same seed and the same answers give the same result to the last bit. Without it one is
        drawn and stored in ``diagnostics["seed"]``.
    progress : bool or callable
        True shows a progress bar (quiet lines where there is no terminal); a callable receives `Progress` objects.
    features : sequence of str, optional
        What the n coordinates are called.
    box : sequence of (low, high), optional
        The range of each coordinate: no query leaves it. γ and the error bound are then about the effects of half of
        each range on the answer; the vectors come back in the user's units.
    intercept : bool
        Each model has a constant of its own (with method "frugal" in a box); see `Recovery.intercept`.
    **options
        What the method takes besides: `steer` for "frugal", and in a box `design`, "corners" or "gaussian"; m, batch,
        pairs, constants for the paper's methods.

    Returns
    -------
    Recovery

    Raises
    ------
    InvalidInput
        An argument cannot be right; nothing was asked.
    OracleError
        The oracle failed; the exception's `record` holds all answers until then, and
        ``ReplayOracle(error.record, then=oracle)`` with ``seed=error.seed`` goes on from there.
    BudgetError
        `max_queries` ends before there is any estimate.

    Examples
    --------
    >>> import mixsense as ms
    >>> pair = ms.random_pair(100, 5, gap=5.0, seed=1)
    >>> oracle = ms.SimulatedOracle(pair, sigma=1.0, seed=2)
    >>> r = ms.recover(oracle, 100, gamma=0.2, seed=3)
    >>> r.status, r.queries < 1000, ms.match_error(r.vectors, pair) < 0.2
    ('certified', True, True)
    """
    if not callable(oracle):
        raise InvalidInput(
            f"oracle is {oracle!r}; needed is a callable oracle(queries, repeats) that returns the answers",
            oracle=oracle,
        )
    if seed is None:
        seed = secrets.randbits(63)
    asking = prepare(n, gamma, k, sigma, eta, method, weights, max_queries, seed, features, box, intercept, **options)
    hook = None
    if callable(progress):
        hook = progress
    elif progress:
        from mixsense.progress import Bar

        hook = Bar()
    try:
        result = run(asking, oracle, max_queries, hook)
    except MixsenseError as error:
        error.data.setdefault("seed", seed)  # to go on from the record, the queries must be drawn again
        raise
    except BaseException as error:  # Ctrl-C too
        error.seed = seed  # type: ignore[attr-defined]
        raise
    finally:
        if hook is not None and not callable(progress):
            hook.close()  # type: ignore[attr-defined]
    if isinstance(seed, (int, np.integer)):
        result.diagnostics["seed"] = int(seed)
    return result
