"""The fits that are alive, of one model and of several: which number of models the answers support, and how much."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mixsense.arrays import Array
from mixsense.problem import MOST_MODELS
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.em import EM
from mixsense.regression.fit import Fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is known of the models before they are fitted."""

    sigma: float
    """Noise of an answer, as far as it is known."""
    models: int | None
    """How many there are; None if the answers have to tell."""
    weights: Array | None
    """Shares of the models, where they were given; None starts with equal ones."""
    rate: float
    """Expected share of non-zero coefficients."""
    free_sigma: bool
    """The fit finds the noise."""
    free_weights: bool
    """The fit finds the shares."""
    least_sigma: float = 0.0
    """The noise is at least this much."""
    sigmas: Array | None = None
    """Noise of each model's answers, where it was given."""
    alike: bool = False
    """Two models may differ in one column only: what they share is then paid for once."""
    lapses: bool = True
    """Some answers may come from anywhere."""

    def noise(self, L: int) -> float | Array:
        """Return the noise of L models: of all of them, or of each where that was given."""
        return self.sigmas if self.sigmas is not None and len(self.sigmas) == L else self.sigma

    def shares(self, L: int) -> Array:
        """Return the shares of L models, as far as they are known."""
        return self.weights if self.weights is not None and len(self.weights) == L else np.full(L, 1 / L)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The fits that are alive, and how much the answers speak for several models."""

    fits: dict[int, list[Fit]]
    """Number of models -> different fits, that with the highest score first; none of a number that is far behind."""
    score: dict[int, float]
    """Number of models -> how well they explain the answers, in nats; what their coefficients cost is in it."""
    choice: int | None = None
    """How many models the user says there are, or a result shows; None if the answers have to tell."""
    fewer: EM | None = None
    """The best of one model less than there seem to be, where that is more than one."""
    held_out: dict[str, list[float]] = field(default_factory=dict)
    """Route of a fit -> mean log-likelihood of the answers of each stage, before it had seen them."""
    unseen: dict[int, float] = field(default_factory=dict)
    """Number of models -> how much better it predicted answers that it had not seen than one model less, in nats."""

    several: Fit = field(init=False)
    """The best fit of more models than one."""
    evidence: float = field(init=False)
    """How much better these explain the answers than any smaller number of models, in nats."""
    established: bool = field(init=False)
    """There are several models, and not fewer."""
    winner: Fit = field(init=False)
    """The fit that explains the answers best, of one model or of several."""

    def __post_init__(self) -> None:
        tried = [L for L, fits in self.fits.items() if L > 1 and fits]
        L = max(self.choice, 2) if self.choice else max(tried, key=lambda L: self.score[L])
        evidence = self.score[L] - max(value for number, value in self.score.items() if number < L)
        against_one = self.score[L] - self.score[1]
        one = self.choice == 1 or (evidence if self.choice is None else against_one) < 0
        object.__setattr__(self, "several", self.fits[L][0])
        object.__setattr__(self, "evidence", evidence if self.choice is None else against_one)
        object.__setattr__(self, "established", self.evidence > tuning.SEVERAL_ESTABLISHED)
        object.__setattr__(self, "winner", self.one if one else self.several)

    @property
    def one(self) -> Fit:
        """The fit of one model."""
        return self.fits[1][0]

    @property
    def models(self) -> int:
        """How many models there seem to be if there is more than one."""
        return len(self.several.beta)

    @property
    def tried_more(self) -> bool:
        """One model more was fitted to the same answers, or cannot be."""
        return self.models + 1 in self.fits or self.models > MOST_MODELS

    @property
    def better_number(self) -> int | None:
        """Another number of models than the user says that the answers clearly prefer; None if there is none."""
        best = max(self.score, key=lambda L: self.score[L])
        given = self.choice or best
        ahead = self.score[best] - self.score[given]
        least = tuning.SEVERAL_ESTABLISHED if best > given else tuning.ONE_ESTABLISHED
        return best if ahead > least and not (best == 1 and given > 1) else None

    def settled(self, N: int, enough: int, alike: bool = False) -> bool:
        """Say whether N answers decide how many models there are; `enough` is the size of a first batch.

        `alike` says that two models which differ in one column only are looked for elsewhere.
        """
        if N < enough:
            return False
        if self.winner is self.one:
            # In a box what may be hidden is a part of the error; elsewhere it is seen by the number of models.
            sure = alike or self.choice == 1 or self.evidence < -tuning.ONE_ESTABLISHED
            return sure and N >= tuning.ONE_NEEDS_STARTS * enough
        confirmed = self.models == 2 or self.choice is not None or self.unseen.get(self.models, 0.0) > 0
        return self.established and confirmed

    @property
    def crowded(self) -> bool:
        """The fit takes so many coefficients for so few answers that a false optimum may be behind it."""
        several = self.several
        return bool(several.inclusion.sum() * tuning.ANSWERS_IF_NOT_CROWDED > several.answers)

    def new_starts(self, doubt: bool) -> int:
        """Return how many random starts are worth trying; `doubt` says that the last answers were a surprise."""
        if doubt or not self.established or self.several.excess > tuning.POOR_FIT or self.crowded:
            return tuning.NEW_STARTS
        return tuning.FEW_NEW_STARTS if self.evidence < tuning.NO_NEW_STARTS else 0

    def scored(self, data: Data) -> Candidates:
        """Return the same fits with their mean log-likelihood of these answers, which they have not seen."""
        scores = {route: list(values) for route, values in self.held_out.items()}
        best_of_route: dict[str, Fit] = {}
        for f in (f for fits in self.fits.values() for f in fits):
            best_of_route.setdefault(f.route, f)
        for route, f in best_of_route.items():
            scores.setdefault(route, []).append(f.loglik(data) / len(data.y))
        unseen, L = dict(self.unseen), self.models
        rival = self.one if L == 2 else self.fewer
        if rival is not None and rival.L == L - 1:
            gain = float((self.several.explained(data).loglik - rival.explained(data).loglik).sum())
            unseen[L] = unseen.get(L, 0.0) + gain
        return replace(self, held_out=scores, unseen=unseen)
