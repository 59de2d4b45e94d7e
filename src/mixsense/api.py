"""The front doors: `recover` for an oracle, `fit` for data that one already has."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mixsense.checks import summed_up
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.features.kinds import Feature
from mixsense.fitting.fit import fit_table
from mixsense.methods.begin import begin
from mixsense.problem import DEFAULTS, Problem
from mixsense.progress import progress_hook
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Oracle, ProgressHook, in_cases, run


def recover(
    oracle: Oracle,
    n: int,
    gamma: float | None = DEFAULTS["gamma"],
    k: int | None = None,
    sigma: float | None = None,
    eta: float = DEFAULTS["eta"],
    method: str | Callable[..., Method[Recovery]] = DEFAULTS["method"],
    models: int | str = DEFAULTS["models"],
    weights: Sequence[float] | str | None = None,
    max_queries: int | None = None,
    seed: Any = None,
    progress: bool | ProgressHook = False,
    *,
    features: Sequence[str | Feature] | None = None,
    box: Any = None,
    intercept: bool = False,
    scale: Any = None,
    block: int = DEFAULTS["block"],
    promise: str = DEFAULTS["promise"],
    **options: Any,
) -> Recovery:
    """Recover the hidden vectors behind an oracle.

    Parameters
    ----------
    oracle : callable
        ``oracle(queries, repeats)`` answers each row of the (q, n) array `repeats` times: (q, repeats).
    n : int
        Length of the vectors.
    gamma : float or None
        Precision asked for; None spends `max_queries` (with method "frugal"). 0 is allowed where ``sigma=0``.
    k : int, optional
        How many coefficients of each vector matter. The paper's methods need it (or the option `m`).
    sigma : float, optional
        Standard deviation of the noise. Measured with queries x = 0 if left out.
    eta : float
        Allowed probability of failure.
    method : str or callable
        "frugal" (our own; README has what it saves), "paper" (Algorithm 8), "single" (Algorithm 9: one vector for
        all) or "noiseless" (σ = 0); the paper's predecessors "coloring", "polynomial" and "lattice", see
        docs/predecessors.md; "fit" (Gaussian queries, then `fit`, to compare with); or a generator function of your
        own, see docs/methods.md.
    models : int or "auto"
        How many vectors there are. "auto" finds as many as the answers support, from 1 to 6, with "frugal"; the
        paper's methods take 2 then, "noiseless" and the predecessors what the distinct answers show. A number
        insists: if the answers support another one, the status is "uncertain", or "single" with equal rows. See
        docs/models.md.
    weights : sequence of float or str, optional
        Shares of the vectors, "equal" or "estimate". Left out they are estimated by "frugal"; the paper's methods
        assume equal ones.
    max_queries : int, optional
        Hard limit on the number of answers, never exceeded.
    seed : int, optional
        Seed of the queries. The same seed and the same answers give the same result to the last bit. Without it one is
        drawn and stored in ``diagnostics["seed"]``.
    progress : bool or callable
        True shows a progress bar on a terminal and in a notebook, and a line now and then elsewhere; a callable
        receives `Progress` objects.
    features : sequence of str, Number or Integer, optional
        What the n coordinates are called; or what they may be, ``[ms.Number("strength", 4, 16), ms.Integer("milk", 0,
        1)]``. Then the box follows from them, whole numbers are asked where they are wanted, and the oracle receives a
        list of dicts, name to value, instead of the array. See docs/features.md.
    box : sequence of (low, high), optional
        The range of each coordinate: no query leaves it. γ and the error bound are then about the effects of half of
        each range on the answer; the vectors come back in the user's units.
    intercept : bool
        Each model has a constant of its own (with method "frugal" in a box); see `Recovery.intercept`.
    scale : Rating, Probability or dict, optional
        How answers are made of the linear value, with method "frugal": ``ms.Rating(1, 7)`` for ratings, which are
        rounded and cut at the ends, ``ms.Probability()`` for probabilities, whose logit is linear. Left out: real
        numbers. Coefficients, γ and the error bound are about the linear value.
    block : int
        This many consecutive queries go to one respondent, with method "frugal": their answers share a hidden model,
        and label each other. The oracle has to know of it, as `SimulatedOracle` and studies do; see docs/methods.md.
    promise : str
        What "certified" means with "frugal". "any": the error is at most γ with probability 1 − η whatever the vectors
        are, sparse or not. "typical": only if what was not seen is like what was seen; it takes fewer answers.
    **options
        What the method takes besides. "frugal": `steer`, False for plain Gaussian queries; `snr`, how loud the
        difference of two models may be in the queries of a run that spends a budget; in a box `design`, "corners" or
        "gaussian". "paper", "single" and "noiseless": `m`, the number of queries; `constants`, "practical" or "theory";
        `decoder`, what makes a sparse vector of its measurements, "basis_pursuit" or a function (A, b, radius) whose
        result has the vector as `value`, or its name as ``module:function``: with one of your own no error bound is
        known. "paper" and "single": `batch`, a fixed number of answers to each query. "paper": `pairs`, "pivot" or
        "all". "coloring": `step`, what all coefficients are multiples of (with noise); `bins`; `rateless`, False to ask
        those only. "polynomial": `design`, "powers" or "steps"; `printed`; `m`. "lattice": `step`, `m`, `batch`.

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
    >>> r.status, r.queries < 3000, ms.match_error(r.vectors, pair) < 0.2
    ('certified', True, True)
    """
    if not callable(oracle):
        raise InvalidInput(
            f"oracle is {summed_up(oracle)}: give a callable oracle(queries, repeats) that returns the answers. For "
            "data you already have: ms.fit(X, y)",
            oracle=oracle,
        )
    seed = secrets.randbits(63) if seed is None else seed
    wanted = n, gamma, k, sigma, eta, method, models, weights, max_queries, seed
    problem = Problem(*wanted, features, box, intercept, scale, block, promise, options)
    try:
        with progress_hook(progress) as hook:
            result = run(begin(problem), in_cases(oracle, problem.kinds), problem.max_queries, hook)
    except MixsenseError as error:
        error.data.setdefault("seed", seed)  # to go on from the record, the queries must be drawn again
        raise
    except BaseException as error:  # Ctrl-C too
        error.seed = seed  # type: ignore[attr-defined]
        raise
    if isinstance(seed, (int, np.integer)):
        result.diagnostics["seed"] = int(seed)
    return result


def fit(
    X: Any,
    y: Any,
    groups: Any = None,
    models: int | str = DEFAULTS["models"],
    sigma: float | None = None,
    weights: Sequence[float] | str | None = None,
    scale: Any = None,
    intercept: bool = False,
    features: Sequence[str] | None = None,
    seed: Any = None,
    lapses: bool = False,
) -> Recovery:
    """Find the sparse linear models behind data that one already has.

    Parameters
    ----------
    X : (N, n) array_like or data frame
        What was asked, a row an answer, in whatever units: columns are scaled inside. Rows with a missing value are
        left out, and counted in ``diagnostics["notes"]``. There may be more columns than rows.
    y : (N,) array_like
        The answers.
    groups : (N,) array_like, optional
        Who answered: rows with equal labels share a hidden model. All different by default.
    models : int or "auto"
        How many models there are; "auto" finds as many as the answers support, from 1 to 6. A number insists: if fewer
        explain the answers better, the status is "uncertain", or "single" with equal rows if they came out the same.
    sigma : float, optional
        Standard deviation of the noise. Found if left out; each model then has its own if the answers ask for it.
    weights : sequence of float or str, optional
        Shares of the models, "equal" or "estimate", the default.
    scale : Rating, Probability or dict, optional
        What an answer is, if it is no real number.
    intercept : bool
        Each model has a constant of its own, which is not shrunk.
    features : sequence of str, optional
        What the columns are called; the names of a data frame by default.
    seed : int, optional
        Seed of the random starts. Left out it is always the same: equal data give equal results.
    lapses : bool
        Up to 15 % of the answers may come from anywhere. Their share is then estimated, in ``diagnostics["lapses"]`` if
        there are any, and `Recovery.lapses` has the probability of each answer to be one.

    Returns
    -------
    Recovery
        Nothing was promised, so nothing is certified: the status is "single" if one model explains everything,
        "uncertain" if ``diagnostics["warnings"]`` says why the data do not support what was found, and else "budget":
        all answers were used. `queries` is the number of rows that were used.

    Raises
    ------
    InvalidInput
        The data cannot be fitted; one line says why.

    Examples
    --------
    >>> import numpy as np, mixsense as ms
    >>> rng, truth = np.random.default_rng(1), ms.random_models(3, 20, 3, gap=8.0, seed=2)
    >>> X = rng.standard_normal((500, 20))
    >>> y = (X * truth[rng.integers(3, size=500)]).sum(axis=1) + rng.standard_normal(500)
    >>> r = ms.fit(X, y)
    >>> r.status, r.vectors.shape, ms.match_error(r.vectors, truth) < 0.5
    ('budget', (3, 20), True)
    """
    return fit_table(X, y, groups, models, sigma, weights, scale, intercept, features, seed, lapses=lapses)
