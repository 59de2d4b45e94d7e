"""Queries inside a box: corners, steered by their signs, or Gaussian ones that fit into it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import InvalidInput
from mixsense.features.units import GAUSSIAN_EDGE, Coded
from mixsense.methods.design import gaussian
from mixsense.methods.frugal import tuning
from mixsense.methods.frugal.best_design import best_design
from mixsense.methods.frugal.steering import best_of, gain, labelled, with_block
from mixsense.regression.fit import Fit

DESIGNS = ("corners", "gaussian")
"""How queries are drawn inside a box."""


@dataclass(frozen=True, slots=True)
class Box:
    """Queries inside a coded box.

    Parameters
    ----------
    coded : Coded
        The box.
    design : str
        "corners": every entry is ±1. "gaussian": normal entries, three standard deviations reach the edge.
    """

    coded: Coded
    design: str

    def __post_init__(self) -> None:
        if self.design not in DESIGNS:
            raise InvalidInput(f"design is {self.design!r}: give 'corners' or 'gaussian'", design=self.design)

    @property
    def nearly_corners(self) -> bool:
        """Whether the queries are corners, or nearly: models that differ elsewhere may answer alike there."""
        return self.design == "corners" or bool(self.coded.either.any())

    def draw(self, q: int, rng: np.random.Generator) -> Array:
        """Draw q queries without steering."""
        if self.design == "gaussian":
            return self.coded.allowed(gaussian(q, self.coded.n, rng, limit=GAUSSIAN_EDGE) / GAUSSIAN_EDGE, rng)
        return rng.choice([-1.0, 1.0], (q, self.coded.n))

    def anywhere(self, q: int, rng: np.random.Generator) -> Array:
        """Draw q queries uniformly, a little away from the edges."""
        return self.coded.allowed(rng.uniform(-tuning.FROM_THE_EDGE, tuning.FROM_THE_EDGE, (q, self.coded.n)), rng)

    def anywhere_or_corners(self, q: int, rng: np.random.Generator) -> Array:
        """Draw q queries, some of which are corners: where answers level off, they do so there."""
        corners = rng.random(q) < tuning.CORNERS_AMONG_PLAIN
        Z = self.anywhere(q, rng)
        Z[corners] = rng.choice([-1.0, 1.0], (int(corners.sum()), self.coded.n))
        return self.coded.allowed(Z, rng)

    def with_inner_points(self, Z: Array, rng: np.random.Generator) -> Array:
        """Move entries of corners inside: corners alone tell neither which feature it is, nor whether answers bend.

        Each entry may be anywhere in its range with some probability; some corners have one in the middle. A yes or no
        stays what it is.
        """
        inner = self.coded.inner
        if self.design == "gaussian" or not len(inner):
            return Z
        Z = self._with_some_inside(Z, rng)
        here = np.flatnonzero(rng.random(len(Z)) < tuning.MIDDLE_SHARE)
        Z[here, inner[rng.integers(len(inner), size=len(here))]] = 0.0
        return self.coded.allowed(Z, rng)

    def with_holes(self, Z: Array, rng: np.random.Generator) -> Array:
        """Move half of the entries of half of the corners to the middle.

        Two models that differ in one feature answer alike where it is in the middle, and apart elsewhere: one model
        with a wider noise does not.
        """
        if self.design == "gaussian":
            return Z
        Z = self._with_some_inside(Z, rng)
        holes = (rng.random(len(Z)) < tuning.HOLES_SHARE)[:, None] & (rng.random(Z.shape) < tuning.HOLES_SHARE)
        Z[holes & ~self.coded.either] = 0.0
        return self.coded.allowed(Z, rng)

    def _with_some_inside(self, Z: Array, rng: np.random.Generator) -> Array:
        inside = (rng.random(Z.shape) < tuning.INSIDE_SHARE) & ~self.coded.either
        number = int(inside.sum())
        Z[inside] = rng.uniform(*tuning.INSIDE_RANGE, number) * rng.choice([-1.0, 1.0], number)
        return Z

    def steer(self, q: int, fit: Fit, rng: np.random.Generator, block: int = 1) -> Array:
        """Draw q corners whose answers label themselves as far as that helps.

        Parameters
        ----------
        q : int
            How many.
        fit : Fit
            The models so far.
        block : int
            This many answers share their model, and label each other.

        Notes
        -----
        Every entry has its largest size already; steering means choosing the signs on the features where the models
        differ. A corner whose two means are less than `reach` apart is flipped there, one feature after the other in
        random order, until they are. Too much of that, and the features always move together: the reach with the
        smallest trace of the inverse information on those features wins. With more than two models, of several corners
        the one is taken whose answer tells most.
        """
        if fit.L > 2:
            return best_of(
                lambda: self.draw(q, rng), lambda Z: gain(self.coded.rows(Z), fit), tuning.CORNERS_TO_CHOOSE_FROM
            )
        # What was not found keeps its random signs, so that the answers say how much of it there may be.
        delta, sigma = np.where(fit.found.any(axis=0), fit.beta[0] - fit.beta[1], 0.0), fit.sigma
        offset, slope = (float(delta[0]), delta[1:]) if self.coded.level else (0.0, delta)
        Z = self.draw(q, rng)
        if self.design == "gaussian" or not slope.any():
            return Z
        top = min(tuning.LABELLING_SEPARATION * sigma, abs(offset) + float(np.abs(slope).sum()))
        reaches = [share * top for share in tuning.CORNER_REACHES]
        trial = self.draw(tuning.TRIAL_CORNERS, rng)
        left = [_uncertainty(flip(trial, slope, offset, reach, rng), slope, offset, sigma, block) for reach in reaches]
        return flip(Z, slope, offset, reaches[int(np.argmin(left))], rng)

    def best(self, q: int, fit: Fit, rng: np.random.Generator, block: int = 1) -> Array:
        """Draw the q corners that tell most about what was found, where a budget is spent and nothing is certified.

        It is made for the design "corners": the other one asks none.

        Parameters
        ----------
        q : int
            How many.
        fit : Fit
            The models so far.
        rng : Generator
            Draws the corners to choose from.
        block : int
            This many answers share their model, and label each other.

        Notes
        -----
        A certificate needs what such corners lack: entries inside their range, and more different queries than there
        are coefficients, to tell rivals apart and to see what bends. The answers of the start have to do for that here.
        """
        Z = self.coded.allowed(self.draw(max(tuning.CORNERS_OF_A_DESIGN, tuning.CORNERS_FOR_ONE * q), rng), rng)
        return Z[best_design(q, self.coded.rows(Z), fit, rng, block)]


def flip(Z: Array, slope: Array, offset: float, reach: float, rng: np.random.Generator) -> Array:
    """Flip entries of corners at random, until |offset + ⟨z, slope⟩| ≥ reach or no flip helps.

    Examples
    --------
    >>> flip(np.array([[1.0, -1.0, 1.0]]), np.array([3.0, 2.0, 0.0]), 0.0, 4.0, np.random.default_rng(0))
    array([[1., 1., 1.]])
    """
    here = np.flatnonzero(slope)
    apart = offset + Z @ slope
    side = np.where(apart < 0, -1.0, 1.0)
    order = rng.random((len(Z), len(here))).argsort(axis=1)
    more = np.maximum(-2 * side[:, None] * Z[:, here] * slope[here], 0)  # what each flip would add
    more = np.take_along_axis(more, order, axis=1)
    before = np.abs(apart)[:, None] + np.cumsum(more, axis=1) - more
    turned = np.zeros((len(Z), len(here)), dtype=np.bool_)
    np.put_along_axis(turned, order, (before < reach) & (more > 0), axis=1)
    Z = Z.copy()
    Z[:, here] = np.where(turned, -Z[:, here], Z[:, here])
    return Z


def _uncertainty(Z: Array, slope: Array, offset: float, sigma: float, block: int = 1) -> float:
    """Return what these corners leave uncertain: the trace of the inverse information where the models differ."""
    A = np.concatenate([np.ones((len(Z), 1)), Z[:, slope != 0]], axis=1)
    s2 = ((offset + Z @ slope) / sigma) ** 2
    J = (A.T * labelled(with_block(s2, block))) @ A / len(Z)
    return float(np.trace(np.linalg.inv(J + 1e-6 * np.eye(len(J)))))
