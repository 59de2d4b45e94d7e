"""From measurements to a sparse vector: basis pursuit, by the exact path of the lasso."""

from mixsense.decode.pursuit import BasisPursuit, basis_pursuit

__all__ = ["BasisPursuit", "basis_pursuit"]
