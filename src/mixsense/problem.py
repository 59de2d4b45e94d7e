"""What is to be recovered: every argument of a run, with its default, validated once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import as_float, as_int, as_size, shown, summed_up
from mixsense.errors import InvalidInput
from mixsense.features.kinds import Feature, features_of
from mixsense.features.units import Units, as_intercept, feature_names
from mixsense.scales import scale_of

Weights = tuple[float, ...]

LEAST_ETA = 1e-12
"""A smaller probability of failure is beyond what floats and anyone's patience can check."""
LEAST_SHARE = 0.02
"""A model that answers more seldom cannot be told from outliers."""
LARGEST_N = 10**8
"""Longer vectors than this fit into nobody's memory."""
LARGEST_BUDGET = 10**18
"""A budget has to fit into the integers of a database; nobody has more to spend."""
LARGEST_BLOCK = 10**6
"""Nobody answers more questions than this."""
MOST_MODELS = 6
"""As many models as "auto" looks for, and as a fit can be asked for."""
AUTO = "auto"
"""As many models as the answers support."""
EQUAL, ESTIMATE = "equal", "estimate"
"""What shares can be called, besides numbers."""
ANY, TYPICAL = "any", "typical"
"""What a certificate is about: any coefficients, or those that were not found are like those that were."""
NONE = "none"
"""How files and the command line, which have no None, say it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The arguments of `recover`, which explains them: `recover`, studies, audits, sweeps and the command line use it.

    What a method takes besides stands in `options`. `limit` and `sigmas` are no arguments: the largest entry of a
    Gaussian query, set where queries have to fit into a box; and the noise of each model, where `sigma` was a list, of
    which it then is the root mean square.

    Examples
    --------
    >>> Problem(n=100, gamma=0.1, k=5, sigma=1.0).eta
    0.05
    >>> Problem.from_dict({"n": 30, "steer": False}).options
    {'steer': False}
    >>> Problem(n=5, gamma=0.1, k=7)
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: k is 7, but the vectors have n = 5 coefficients: give k between 1 and 5
    """

    n: int
    gamma: float | None = 0.1
    k: int | None = None
    sigma: float | None = None
    eta: float = 0.05
    method: str | Callable[..., Any] = "frugal"
    models: int | str = AUTO
    weights: Sequence[float] | str | None = None
    max_queries: int | None = None
    seed: Any = None
    features: Sequence[str | Feature] | None = None
    box: Sequence[tuple[float, float]] | None = None
    intercept: bool = False
    scale: Any = None
    block: int = 1
    promise: str = ANY
    options: Mapping[str, Any] = field(default_factory=dict)
    limit: float | None = None
    sigmas: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("n", as_int("n", self.n, 1, "the number of coefficients of each vector", LARGEST_N))
        if self.k is not None:
            put("k", as_int("k", self.k, 1, "the number of coefficients of each vector that matter"))
            if self.k > self.n:
                raise InvalidInput(
                    f"k is {shown(self.k)}, but the vectors have n = {self.n} coefficients: "
                    f"give k between 1 and {self.n}",
                    k=self.k,
                    n=self.n,
                )
        if isinstance(self.gamma, str) and self.gamma == NONE:
            put("gamma", None)
        if self.sigma is not None:
            noise = as_noise(self.sigma, None)
            if not isinstance(noise, float):
                put("sigmas", tuple(noise.tolist()))
            put("sigma", noise if isinstance(noise, float) else float(np.sqrt(np.mean(noise**2))))
        if self.gamma is not None:
            put("gamma", _gamma(self.gamma, self.sigma))
        put("eta", as_eta("eta", self.eta))
        if self.max_queries is not None:
            hint = "the most answers that may be used"
            put("max_queries", as_int("max_queries", self.max_queries, 1, hint, LARGEST_BUDGET))
        put("models", as_models(self.models))
        put("weights", _weights(self.weights, self.models))
        if isinstance(self.weights, tuple):
            put("models", len(self.weights))
        if self.features is not None:
            put("features", features_of(self.features) or self.features)
            names = feature_names(self.n, self.features)
            put("features", self.features if self.kinds else names)
        put("intercept", as_intercept(self.intercept))
        if self.box is not None or self.kinds:
            given, ranges = self.box, Units.of(self.n, self.features, self.box, self.intercept).ranges
            if given is not None and self.kinds and Units.of(self.n, None, given).ranges != ranges:
                raise InvalidInput(
                    f"box is {shown(given)}, and the features say other ranges: leave box out", box=given
                )
            put("box", ranges)
        put("scale", scale_of(self.scale))
        put("block", as_int("block", self.block, 1, "how many consecutive queries go to one respondent", LARGEST_BLOCK))
        if self.sigmas is not None:
            if self.models not in (AUTO, len(self.sigmas)):
                raise InvalidInput(f"sigma has {len(self.sigmas)} entries, models is {self.models}: give one a model")
            put("models", len(self.sigmas))
        if self.promise not in (ANY, TYPICAL):
            raise InvalidInput(
                f'promise is {shown(self.promise)}: give "{ANY}" (certified for any vectors) or "{TYPICAL}" (what was '
                "not seen is like what was; fewer answers)",
                promise=self.promise,
            )
        put("options", _options(self.options))
        if self.intercept and self.box is None:
            raise InvalidInput("intercept=True needs the range of each feature: give box=[(low, high), ...]")

    @property
    def units(self) -> Units | None:
        """The box with the names of its features; None if there is no box."""
        return None if self.box is None else Units.of(self.n, self.features, self.box, self.intercept)

    @property
    def kinds(self) -> tuple[Feature, ...] | None:
        """The features, if they say what their values may be; None if there are names only, or none."""
        return features_of(self.features)

    @property
    def given_models(self) -> int | None:
        """The number of models, if it is given; None if the answers are to tell it."""
        return None if isinstance(self.models, str) else self.models

    @property
    def names(self) -> tuple[str, ...] | None:
        """What the coefficients are called in the result."""
        given = self.features is not None or self.box is not None
        return feature_names(self.n, self.features) if given else None

    @classmethod
    def from_dict(cls, arguments: Mapping[str, Any]) -> Problem:
        """Make a problem of plain values; what is no argument of every run is an option of the method."""
        if not isinstance(arguments, Mapping):
            raise InvalidInput(
                f"a problem is made of a dict, and this is {summed_up(arguments)}: give e.g. {{'n': 30}}"
            )
        if "n" not in arguments:
            raise InvalidInput("n is missing: give the number of coefficients of each vector")
        own = {name: value for name, value in arguments.items() if name in ARGUMENTS}
        return cls(**own, options={name: value for name, value in arguments.items() if name not in ARGUMENTS})

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments of `recover`; `from_dict` reads them."""
        own = {name: getattr(self, name) for name in ARGUMENTS}
        own["sigma"] = self.sigma if self.sigmas is None else self.sigmas
        if self.kinds:
            own["features"] = [feature.to_dict() for feature in self.kinds]
        return {**own, "scale": None if self.scale is None else self.scale.to_dict(), **self.options}


ARGUMENTS = tuple(entry.name for entry in fields(Problem) if entry.name not in ("options", "limit", "sigmas"))
"""The names of the arguments that every run has."""
DEFAULTS = {entry.name: entry.default for entry in fields(Problem) if entry.default is not MISSING}
"""The default of every argument that has one."""


def as_eta(name: str, value: Any) -> float:
    """Return an allowed probability of failure, or say what is needed."""
    eta = as_float(name, value, "the allowed failure probability, e.g. 0.05", 0.0, strict=True)
    if eta < LEAST_ETA:
        raise InvalidInput(f"{name} is {eta:g}; it must be at least {LEAST_ETA:g}: e.g. 0.05", **{name: eta})
    if eta >= 1:
        raise InvalidInput(f"{name} is {eta:g}; it must be below 1: e.g. 0.05", **{name: eta})
    return eta


def _gamma(gamma: Any, sigma: float | None) -> float:
    """Return the precision asked for; 0 is one where there is no noise."""
    exact = not sigma  # None is measured, and may be 0
    hint = "the precision asked for, e.g. 0.1"
    return as_size("gamma", gamma, hint if exact else f"{hint} (0 needs sigma=0)", zero=exact)


def as_noise(sigma: Any, models: int | None) -> float | Array:
    """Return the noise of all models, or of each; `models` says how many there are, None that it is not known.

    Examples
    --------
    >>> as_noise(1, 2), as_noise([0.5, 1.5], 2)
    (1.0, array([0.5, 1.5]))
    """
    hint = "the noise's standard deviation, 0 if there is none; or a list with that of each model"
    if isinstance(sigma, (str, bytes)) or not isinstance(sigma, (Sequence, np.ndarray)) or np.ndim(sigma) == 0:
        return as_size("sigma", sigma, hint, zero=True)
    found = np.array([as_size("sigma", value, hint) for value in sigma], dtype=np.float64)
    if not 1 <= len(found) <= MOST_MODELS or models not in (None, len(found)):
        raise InvalidInput(f"sigma has {len(found)} entries: give one, or one for each of {models or 'the'} models")
    return found


def as_models(models: Any) -> int | str:
    """Return how many models there are: a number, or "auto"."""
    hint = f'give a number from 1 to {MOST_MODELS}, or "{AUTO}" for as many as the answers support'
    if isinstance(models, str):
        if models == AUTO:
            return AUTO
        raise InvalidInput(f"models is {shown(models)}: {hint}", models=models)
    return as_int("models", models, 1, hint, MOST_MODELS)


def as_shares(weights: Any, models: int) -> Weights:
    """Return the shares of this many models; equal ones if none are given.

    Examples
    --------
    >>> as_shares(None, 2), as_shares((0.5, 0.25, 0.25), 3)
    ((0.5, 0.5), (0.5, 0.25, 0.25))
    """
    found = _weights(weights, models)
    if found == ESTIMATE:
        raise InvalidInput(f"the shares have to be known here: give weights such as {_example(models)}")
    return found if isinstance(found, tuple) else (1 / models,) * models


def _options(options: Any) -> dict[str, Any]:
    """Return the options of the method; what they are called is checked where the method is known."""
    if not isinstance(options, Mapping):
        raise InvalidInput(f"options is {summed_up(options)}: give a dict, name to value", options=options)
    for name in options:
        if not isinstance(name, str):
            raise InvalidInput(f"an option is called {shown(name)}: give its name as text", option=name)
        if name in ARGUMENTS:
            raise InvalidInput(
                f"an option is called {name!r}, as an argument of every run: give it as that", option=name
            )
    return dict(options)


def _weights(weights: Any, models: int | str) -> Weights | str | None:
    if weights is None or (isinstance(weights, str) and weights in (EQUAL, ESTIMATE)):
        return weights
    hint = f'give shares such as {_example(models)}, or "{EQUAL}", or "{ESTIMATE}"'
    if isinstance(weights, str):
        raise InvalidInput(f"weights is {shown(weights)}: {hint}", weights=weights)
    try:
        given = tuple(weights)
    except TypeError:
        raise InvalidInput(f"weights is {shown(weights)}: {hint}", weights=weights) from None
    if models == AUTO and not 1 <= len(given) <= MOST_MODELS:
        raise InvalidInput(f"weights has {len(given)} entries: give one for each of 1 to {MOST_MODELS} models")
    if models not in (AUTO, len(given)):
        raise InvalidInput(f"weights has {len(given)} entries, models is {models}: {hint}", weights=weights)
    shares = tuple(as_float("weights", w, hint, 0.0, strict=True) for w in given)
    if not math.isclose(sum(shares), 1, rel_tol=0, abs_tol=1e-9):
        raise InvalidInput(f"weights sum to {sum(shares):g}, not 1: {hint}", weights=weights)
    return shares


def _example(models: int | str) -> str:
    examples = {1: "(1.0,)", 3: "(0.5, 0.3, 0.2)"}
    return examples.get(models, "(0.7, 0.3)") if models in (AUTO, 1, 2, 3) else f"{models} that sum to 1"  # type: ignore[arg-type]
