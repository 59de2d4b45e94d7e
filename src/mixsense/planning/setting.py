"""What a plan is made for, in units of σ: what each method costs there, and what its row says."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mixsense.methods.paper.constants import PRACTICAL, THEORY
from mixsense.planning import costs
from mixsense.planning.certainty import ANSWERS_A_COEFFICIENT, certain_of_any
from mixsense.planning.information import Lost
from mixsense.problem import Problem, Weights

NOTES = {
    "theorem": "Algorithm 8 with the constants of the proofs: to see, not to run",
    "paper": 'Algorithm 8 with practical constants: method="paper"',
    "frugal": "the default method with max_queries = this number: within γ in 9 runs of 10",
    "certified": "the default method with gamma = γ, until it is sure for any vectors: enough in 9 runs of 10",
    "typical": 'with promise="typical", until it is sure for typical vectors: enough in 9 runs of 10',
    "tagged": "limit for Gaussian queries if each answer told its vector; focused queries can do better",
    "printed": "the appendix's scheme with its 2 log₂ m repeats",
    "noiseless": 'exact, on average: method="noiseless", models=2',
}
"""What the number of each row means."""
ONLY_REAL = "takes real numbers, not answers on a scale"
"""Why a row has no number: there is a scale."""
UNEQUAL = "assumes equal shares"
"""Why a row has no number: there are shares that differ."""
EQUAL_SHARES = 1e-9
"""Shares that differ by less are equal. A numerical guard."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all methods are planned for, in units of σ."""

    n: int
    k: int
    gap: float
    eta: float
    shares: Weights
    growth: costs.Growth
    """By how much the frugal method's parts are larger than for two models with equal shares."""
    lost: Lost | None = None
    """How many answers tell as much as one real number; None where they are real numbers."""

    @classmethod
    def of(cls, problem: Problem, gap: float, shares: Weights) -> Setting:
        """Return the setting of a problem whose vectors are this many σ apart."""
        k = problem.k or 1
        return cls(problem.n, k, gap, problem.eta, shares, costs.growth_of(k, gap, shares))

    @property
    def models(self) -> int:
        """The number of models."""
        return len(self.shares)

    @property
    def equal(self) -> bool:
        """Whether all models answer equally often."""
        return are_equal(self.shares)

    @property
    def not_for_paper(self) -> str:
        """Why the paper's rows have no number; empty if they have one."""
        if self.lost is not None:
            return ONLY_REAL
        return f"not planned for {self.models} models" if self.models != 2 else "" if self.equal else UNEQUAL

    def note(self, name: str) -> str:
        """Return what the number of a row means."""
        rough = self.models != 2 and name in ("frugal", "certified", "typical")
        many = self.lost and (self.lost.plain if name == "tagged" else self.lost.focused)
        more = f"; {many:.2f} answers tell as much as a real number" if many else ""
        return NOTES[name] + (f"; rough: scaled from 2 to {self.models} models" if rough else "") + more

    def on_scale(self, lost: Lost) -> Setting:
        """Return the same for answers on a scale: the start has plain queries, the rest focused ones."""
        base, start, precision = self.growth
        growth = (base * lost.plain, start * lost.plain, precision * lost.focused)
        return replace(self, growth=growth, lost=lost)

    def paper(self, gamma: float) -> int:
        """Return what Algorithm 8 asks with practical constants."""
        return costs.paper(self.n, self.k, 1.0, self.gap, gamma, self.eta, PRACTICAL)

    def theorem(self, gamma: float) -> int:
        """Return what Algorithm 8 asks with the constants of the proofs."""
        return costs.paper(self.n, self.k, 1.0, self.gap, gamma, self.eta, THEORY)

    def certified(self, gamma: float) -> int:
        """Return what the default method asks until it is sure of γ for any vectors."""
        real = certain_of_any(self.n, self.k, self.gap, gamma, self.shares)
        any_ = math.ceil(real * (self.lost.focused if self.lost else 1.0))
        enough = math.ceil(ANSWERS_A_COEFFICIENT * self.k / min(self.shares))
        # Whoever is sure of any vectors is sure of typical ones.
        return max(any_, enough, self.typical(gamma), self.frugal(gamma))

    def typical(self, gamma: float) -> int:
        """Return what the default method asks until it is sure of γ for typical vectors."""
        return costs.frugal(self.n, self.k, self.gap, gamma, self.growth, until_sure=True)

    def frugal(self, gamma: float) -> int:
        """Return what the default method needs to be within γ."""
        return costs.frugal(self.n, self.k, self.gap, gamma, self.growth)

    def tagged(self, gamma: float) -> int:
        """Return the limit for Gaussian queries if each answer told its vector."""
        return math.ceil(costs.tagged(self.k, gamma, self.shares) * (self.lost.plain if self.lost else 1.0))


def are_equal(shares: Weights) -> bool:
    """Say whether all models answer equally often.

    Examples
    --------
    >>> are_equal((0.5, 0.5)), are_equal((0.6, 0.4))
    (True, False)
    """
    return max(shares) - min(shares) < EQUAL_SHARES
