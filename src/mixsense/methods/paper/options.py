"""What the paper's methods take besides the problem, checked before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mixsense.checks import as_int
from mixsense.errors import InvalidInput
from mixsense.methods.paper.constants import Constants, preset
from mixsense.methods.paper.decoding import Decoder, decoder_of
from mixsense.problem import ESTIMATE, Problem

NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
"""How messages write a number of models."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that the paper's methods share."""

    models: int
    m: int
    batch: int | None
    constants: Constants
    decoder: Decoder

    @classmethod
    def of(
        cls, problem: Problem, method: str, m: Any, batch: Any, constants: str | Constants, decoder: str | Decoder
    ) -> Options:
        """Check the options of a noisy method against the problem."""
        if problem.sigma == 0:
            raise InvalidInput(f"sigma is 0; method={method!r} is for noisy answers: use method='noiseless'", sigma=0)
        models = number_of_models(problem)
        if batch is not None:
            hint = "answers to each query; the paper's figures used about 100 and 600"
            batch = as_int("batch", batch, max(4, 2 * models), hint)
        if problem.gamma == 0:
            raise InvalidInput(f"gamma is 0; method={method!r} is for noisy answers: give a gamma above 0", gamma=0)
        if problem.gamma is None and batch is None:
            raise InvalidInput(f"gamma is missing: method={method!r} needs one, such as gamma=0.1, or a fixed batch")
        c = preset(constants)
        if problem.sigma is None and c.name == "theory":
            raise InvalidInput("sigma is missing: the proofs' constants hold for a known sigma; give it")
        return cls(models, number_of_queries(problem, method, m, c), batch, c, decoder_of(decoder))


def number_of_models(problem: Problem) -> int:
    """Return L as given; "auto" is two, the paper's number."""
    return problem.given_models or 2


def number_of_queries(problem: Problem, method: str, m: Any, constants: Constants) -> int:
    """Return m as given, or c_s k log n; refuse shares that the paper's methods do not know."""
    if (isinstance(problem.weights, tuple) and len(set(problem.weights)) > 1) or problem.weights == ESTIMATE:
        raise InvalidInput(
            f"weights is {problem.weights!r}: method={method!r} assumes equal shares; leave weights out",
            weights=problem.weights,
        )
    if m is not None:
        return as_int("m", m, 2, "the number of Gaussian queries, e.g. 4 k log n")
    if problem.k is None:
        raise InvalidInput(f"k is missing: method={method!r} asks c_s k log n queries; give k, or their number m")
    return constants.number_of_queries(problem.n, problem.k)
