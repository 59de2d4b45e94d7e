"""The means of each batch of answers to one repeated query: Algorithms 1 to 4 of the paper.

A batch holds T samples of ½N(μ₁, σ²) + ½N(μ₂, σ²), or of L such Gaussians with the share 1/L each. Every function takes
any number of batches at once, `y` of shape (..., T), and treats each as if it were alone. Inside, a batch is worked on
in units of σ; one with two means has a centre c and a half-separation h, so that its means are c − h and c + h.
"""

from mixsense.mixture.maximum_likelihood import em, em_step
from mixsense.mixture.means import Means, Moments
from mixsense.mixture.method_of_moments import median_of_means, moments
from mixsense.mixture.quartiles import single

__all__ = ["Means", "Moments", "em", "em_step", "median_of_means", "moments", "single"]
