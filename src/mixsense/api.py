"""The front door: `recover`."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from mixsense.errors import InvalidInput, MixsenseError
from mixsense.problem import Problem, generator
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Oracle, ProgressHook, run

METHODS = ("frugal", "paper", "single", "noiseless")
"""The names that `recover` takes as its method."""
DEFAULT_METHOD = "frugal"


def method_named(name: str) -> Callable[..., Method[Recovery]]:
    """Return the generator function of a method."""
    if name == "frugal":
        from mixsense.methods.frugal import frugal

        return frugal
    if name == "paper":
        from mixsense.methods.paper import paper

        return paper
    if name == "single":
        from mixsense.methods.single import single

        return single
    if name == "noiseless":
        from mixsense.methods.noiseless import noiseless

        return noiseless
    raise InvalidInput(f"method is {name!r}: give one of {', '.join(map(repr, METHODS))}", method=name)


def options_of(name: str) -> tuple[str, ...]:
    """Return the names of the options that a method takes beyond the problem.

    Examples
    --------
    >>> options_of("paper")
    ('m', 'batch', 'pairs', 'constants')
    """
    return tuple(inspect.signature(method_named(name)).parameters)[2:]


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
    **options
        What the method takes besides: `steer` for "frugal"; m, batch, pairs, constants for the paper's methods.

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
    problem = Problem(n=n, gamma=gamma, k=k, sigma=sigma, eta=eta, weights=weights, max_queries=max_queries)
    if not callable(oracle):
        raise InvalidInput(
            f"oracle is {oracle!r}; needed is a callable oracle(queries, repeats) that returns the answers",
            oracle=oracle,
        )
    make = method_named(method)
    allowed = options_of(method)
    for name in options:
        if name not in allowed:
            raise InvalidInput(
                f"method {method!r} has no option {name!r}: it takes {', '.join(allowed)}",
                option=name,
                method=method,
            )
    if seed is None:
        seed = secrets.randbits(63)
    rng = generator(seed)
    hook = None
    if callable(progress):
        hook = progress
    elif progress:
        from mixsense.progress import Bar

        hook = Bar()
    try:
        result = run(make(problem, rng, **options), oracle, max_queries, hook)
    except MixsenseError as error:
        error.data.setdefault("seed", seed)  # to go on from the record, the queries must be drawn again
        raise
    finally:
        if hook is not None and not callable(progress):
            hook.close()  # type: ignore[attr-defined]
    if isinstance(seed, (int, np.integer)):
        result.diagnostics["seed"] = int(seed)
    return result
