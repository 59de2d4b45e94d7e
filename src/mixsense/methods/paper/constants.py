"""Every constant of the paper, named, in two presets.

The paper leaves its O(·) constants open. `theory` takes them from its proofs: right, but far too large to
run (the regime test alone asks for a hundred million answers a query); it is there to plan and to print.
`practical` is calibrated: ``benchmarks/calibrate.py`` measures that it keeps the promised probability, and
its table stands in ``docs/constants.md``.

Throughout, L = log(1/η') where η' is the failure probability of one batch: the user's η divided by the
number of batches (union bound).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from mixsense.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Constants:
    """The numbers that the paper prints, and those that it leaves open.

    Examples
    --------
    >>> PRACTICAL.pivot_gap, round(PRACTICAL.pivot_ratio, 4)
    (11.0, 0.0964)
    """

    name: str
    """Which preset this is."""

    # -- left open by the paper -------------------------------------------------------------------------
    rows: float
    """c_s of Algorithm 8: m = c_s k log n queries make A a restricted isometry."""
    test_samples: float
    """Algorithm 5, line 1: the test of the regime takes test_samples · L answers."""
    em_samples: float
    """Algorithm 5, line 11: EM takes em_samples · (1 + (σ/δ)^em_power) (σ/γ)² L answers."""
    em_power: float
    """How fast EM's answers grow where the means are closer than σ, harder to tell apart (Theorem 2)."""
    moments_samples: float
    """Algorithm 5, line 7: the moments take moments_samples · (σ/γ)⁴ L answers."""
    single_samples: float
    """Algorithm 5, line 9: one Gaussian takes single_samples · (σ/γ)² L answers."""
    groups: float
    """Lemmas 1, 2: median over B = groups · L group means. 0 stands for one group: the plain mean."""
    noise_samples: int
    """Answers to x = 0 that measure σ where the user does not know it."""
    decode_factor: float
    """Basis pursuit: error ≤ decode_factor · √(k log(e n/k)/m) · (standard error of an entry of u)."""

    # -- printed ----------------------------------------------------------------------------------------
    regime_switch: float = 15 / 32
    """Algorithm 5, lines 6 and 8: below 15/32 of max(σ, γ) the means count as close."""
    align_tolerance: float = 3.0
    """Algorithm 6, lines 3 and 6: sums that agree within 3γ match."""
    trivial_gap: float = 9.0
    """Lemma 5: queries with means closer than 9γ need no alignment, since either order is right within 10γ."""
    swap_error: float = 10.0
    """Lemma 5: the most that the means of a query are off if it needs no alignment, in units of γ. Also the radius of
    basis pursuit in Algorithm 8."""
    pivot_gap: float = 11.0
    """Algorithm 7, line 8: the pivot's estimated means are at least 11γ apart."""
    pivot_true_gap: float = 13.0
    """Lemma 6: a query with true means 13γ apart always shows estimated means 11γ apart."""
    single_fraction: float = 0.8
    """Algorithm 9 treats both vectors as one if γ > 0.8 ‖β¹ − β²‖."""
    single_noise: float = math.sqrt(2)
    """Algorithm 9: √2 ε + 0.8 ‖Δ‖ = γ is how γ splits into noise and mismatch."""
    noiseless_repeats: float = 2.0
    """Appendix: each noiseless query is repeated 2 log₂ m times."""

    @property
    def pivot_ratio(self) -> float:
        """√π/(13 √2): Algorithm 7 works for γ below 0.096 ‖β¹ − β²‖ (printed upside down)."""
        return math.sqrt(math.pi / 2) / self.pivot_true_gap

    def number_of_queries(self, n: int, k: int) -> int:
        """M = c_s k log n of Algorithm 8."""
        return max(2, math.ceil(self.rows * k * math.log(max(n, 2))))

    def number_of_groups(self, log_eta: float, samples: int) -> int:
        """B of Lemmas 1 and 2, at least 1, and at most what leaves two samples in each group."""
        return max(1, min(math.ceil(self.groups * log_eta), samples // 2))

    def candidates(self, gamma: float, gap: float, eta: float, models: int = 2) -> int:
        """Return m' of Lemma 6: Gaussian queries that hold one with means 13γ apart, but for probability η.

        Differs from the print: (1) the exact Gaussian probability 2Φ(13γ/‖Δ‖) − 1 replaces its upper bound
        √2·13γ/(√π‖Δ‖), so that m' is finite for every γ; (2) of L vectors all pairs must be that far apart, which a
        union bound over them, each at the typical distance, makes a rule of thumb.
        """
        outside = math.erfc(self.pivot_true_gap * gamma / gap / math.sqrt(2))  # Pr(|⟨x, Δ⟩| > 13γ)
        outside -= (math.comb(models, 2) - 1) * (1 - outside)
        return math.ceil(math.log(eta) / math.log1p(-outside)) if outside > 0 else sys.maxsize


# Theory. Chebyshev with probability 1/3 needs t ≥ 3 σ_M²/ε₁² samples a group for the mean and, by
# Var(S²) ≤ 2 σ_M⁴/(t − 1), t ≥ 6 σ_M⁴/ε₂² + 1 for the variance; 36 L groups (Lemmas 1 and 2).
#   test:    ε = 1/256 of σ_M and of σ_M²             -> 36 · 6 · 256²
#   moments: ε₂ = γ²/16, σ_M² ≤ 5σ²/4 where δ ≤ σ      -> 36 · 6 · (5/4)² · 16²
#   EM:      σ⁶/(γ² δ⁴); the constant of Daskalakis et al. is not printed, 1 is put in its place, so that this
#            is a lower bound                          -> 1, power 4
#   single:  Dvoretzky–Kiefer–Wolfowitz at the quartiles, density ≥ 0.2/σ, ε = γ/2  -> 1/(2 · 0.2² · 0.5²)
# c_s: restricted isometry with δ_2k = 0.2 by the union bound of Baraniuk et al., order of magnitude.
THEORY = Constants(
    name="theory",
    rows=100.0,
    test_samples=36 * 6 * 256.0**2,
    em_samples=1.0,
    em_power=4.0,
    moments_samples=36 * 6 * (5 / 4) ** 2 * 16.0**2,
    single_samples=1 / (2 * 0.2**2 * 0.5**2),
    groups=36.0,
    noise_samples=10**6,
    decode_factor=85.0,
)

# Practical. The estimates are asymptotically normal, and Pr(|Z| > √(2L)) < η':
#   EM:      variance of a mean ≈ (2 + 2(σ/δ)²) σ²/T                -> T = 2L · 2 (1 + (σ/δ)²)(σ/γ)²
#   moments: at δ = 0 the half-gap is √(S² − σ²), Var S² = 2σ⁴/T    -> T = 2L · 2 (σ/γ)⁴
#   single:  the quartile midpoint has variance 1.24 σ²/T (1.4 at δ = σ), ε = γ/2   -> T = 2L · 1.4 · 4 (σ/γ)²
# The first is raised from 4 to 5, since δ is itself estimated; the second from 4 to 6, for the error of the centre.
# The test only has to see both vectors (2^-T ≪ η') and to give a first idea of the separation.
PRACTICAL = Constants(
    name="practical",
    rows=4.0,
    test_samples=4.0,
    em_samples=5.0,
    em_power=2.0,
    moments_samples=6.0,
    single_samples=12.0,
    groups=0.0,
    noise_samples=2000,
    decode_factor=3.5,
)

_PRESETS = {c.name: c for c in (PRACTICAL, THEORY)}


def preset(constants: str | Constants) -> Constants:
    """Return the named preset, or the constants themselves if they were given.

    Examples
    --------
    >>> preset("theory").groups
    36.0
    """
    if isinstance(constants, Constants):
        return constants
    if not isinstance(constants, str) or constants not in _PRESETS:
        raise InvalidInput(
            f"constants is {constants!r}: give one of {', '.join(map(repr, _PRESETS))}, "
            "or an object of class mixsense.methods.paper.constants.Constants",
            constants=constants,
        )
    return _PRESETS[constants]
