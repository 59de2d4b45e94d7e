"""Ways in which the world may differ from the model, each as the derivative of the log-likelihood by what it adds.

A function here takes how a fit sees N answers, and returns one column for each parameter that the extension has, (M,
q). Where the model holds, each column has mean 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.views import View, models_tested
from mixsense.regression.likelihood import of_groups


@dataclass(frozen=True, slots=True)
class Place:
    """Where the answers stand, and which columns are looked at."""

    order: Array
    """(N,), place of each answer in the order of asking, from 0 to 1."""
    columns: Index
    """Columns of the rows whose features are looked at, without the level."""
    crossed: Index
    """Columns whose products are looked at: those that matter most."""
    estimated: tuple[Index, Index]
    """Model and column of the coefficients that were estimated."""
    effects: Array
    """(L, c), the coefficients."""
    own_noise: bool = False
    """Each model has a noise of its own."""

    @property
    def steps(self) -> Array:
        """1 for the answers after each change point, 0 before, (N, change points)."""
        points = np.arange(1, tuning.CHANGE_POINTS + 1) / (tuning.CHANGE_POINTS + 1)
        return (self.order[:, None] >= points).astype(np.float64)


Extension = Callable[[View, Place], Array]


def _outer(A: Array, B: Array) -> Array:
    """Return the products of each column of A with each of B, (N, p q)."""
    found: Array = (A[:, :, None] * B[:, None, :]).reshape(len(A), -1)
    return found


def _and_of_each(scores: Array) -> Array:
    """Return the scores of parameters that all models share and, of several, those of each: (N, q) or (N, (1 + L) q).

    Takes the scores of each, (N, L, q). One model that bends and one that is straight do not bend alike.
    """
    N, L, _ = scores.shape
    alike = scores.sum(axis=1)
    return alike if L == 1 else np.hstack([alike, scores.reshape(N, -1)])


def level_drift(view: View, place: Place) -> Array:
    """Shift all answers from a change point on."""
    return view.slope * place.steps


def share_drift(view: View, place: Place) -> Array:
    """Let the shares change at a change point, that of lapses too: what was answered before may look like them."""
    return _outer(view.tested_surplus_and_lapses, place.steps)


def coefficient_drift(view: View, place: Place) -> Array:
    """Let a coefficient change at a change point."""
    model, column = place.estimated
    return _outer(view.slopes[:, model] * view.X[:, column], place.steps)


def gate(view: View, place: Place) -> Array:
    """Let the shares depend on a feature, that of lapses too."""
    return _outer(view.tested_surplus_and_lapses, view.X[:, place.columns])


def bend(view: View, place: Place) -> Array:
    """Let the answers bend with the prediction: those of all models, with its square and its cube, or those of one.

    What one model answers has an edge in its middle then, or two a standard deviation from there. Far from the middle
    these are lines, so that no few answers decide.
    """
    m, own = view.standardised, view.standardised_each
    alike = [(view.slopes * m**power).sum(axis=1) for power in (2, 3)]
    each = [
        edges[:, a] for a in range(m.shape[1]) for edges in (view.slopes * np.abs(own), view.slopes * own.clip(-1, 1))
    ]
    return np.column_stack([*alike, *each] if m.shape[1] > 1 else alike)


def squares(view: View, place: Place) -> Array:
    """Let the answers bend with a feature: those of all models, or of one."""
    return _and_of_each(view.slopes[:, :, None] * view.X[:, None, place.columns] ** 2)


def cubes(view: View, place: Place) -> Array:
    """Let the answers level off, or rise more steeply, towards the ends: of one feature, and of all features alike.

    Those of all models, or of one.
    """
    odd = view.X * view.X * view.X - view.X  # 0 at the corners and in the middle of a box: a cube is a line there
    of_one = np.broadcast_to(odd[:, None, place.columns], (*view.slopes.shape, len(place.columns)))
    return _and_of_each(view.slopes[:, :, None] * np.dstack([of_one, odd @ place.effects.T]))


def uneven_noise(view: View, place: Place) -> Array:
    """Let the noise grow with the prediction, or with a feature.

    Coefficients that differ among those who share a model are a noise that grows with the square of a feature.
    """
    m, X = view.standardised, view.X[:, place.columns]
    spread, X2 = view.spread.sum(axis=1, keepdims=True), X**2
    alike = [(view.spread * m**power).sum(axis=1) for power in (1, 2)]
    own = [view.spread * view.standardised_each**power for power in (1, 2)] if m.shape[1] > 1 else []
    return np.column_stack([*alike, spread * X2.sum(axis=1, keepdims=True), spread * X, spread * X2, *own])


def interactions(view: View, place: Place) -> Array:
    """Let two features have an effect together that they do not have alone: in all models, or in one."""
    first, second = np.triu_indices(len(place.crossed), 1)
    X = view.X[:, place.crossed]
    return _and_of_each(view.slopes[:, :, None] * (X[:, first] * X[:, second])[:, None])


def skewness(view: View, place: Place) -> Array:
    """Let the noise be skewed."""
    total: Array = (view.P * (view.z**3 - 3 * view.z)).sum(axis=1, keepdims=True)
    return total * view.real  # of an interval only the mean is known


def sigma(view: View, place: Place) -> Array:
    """Let the noise be another one than was said; of an estimated one nothing is left."""
    total: Array = view.spread.sum(axis=1, keepdims=True)
    return total


def own_levels(view: View, place: Place) -> Array:
    """Let those who share a model have levels of their own."""
    return _between_groups(view, np.ones((len(view.X), 1)))


def own_coefficients(view: View, place: Place) -> Array:
    """Let those who share a model have coefficients of their own."""
    return _between_groups(view, view.X[:, place.columns])


def _between_groups(view: View, A: Array) -> Array:
    """Let each group add to its answers A times a number of its own, of which the variance is the parameter.

    The score is the sum over the pairs of answers of a group: each answer has half of those that it is in.
    """
    if view.group is None or len(np.unique(view.group)) == len(view.group):
        return np.zeros((len(A), 0))
    total = np.zeros_like(A)
    for a in range(view.P.shape[1]):
        own = (view.residual[:, a] / view.sigma[a] ** 2)[:, None] * A
        total += view.P[:, [a]] * own * (of_groups(own, view.group)[view.group] - own) / 2
    return total


def order_in_group(view: View, place: Place) -> Array:
    """Let the answers rise or shrink from the first to the last of a group: learning, or fatigue.

    Those of all models, or of one.
    """
    if view.group is None:
        return np.zeros((len(view.X), 0))
    rank = _place_in_group(view.group)[:, None, None]
    away = np.dstack([np.ones_like(view.mean), view.mean - float(view.mean.mean())])
    return _and_of_each(view.slopes[:, :, None] * away * rank)


def _place_in_group(group: Index) -> Array:
    """Return the place of each answer in its group, from −1/2 for the first to 1/2 for the last; 0 of one alone.

    Examples
    --------
    >>> _place_in_group(np.array([0, 1, 0, 0, 2]))
    array([-0.5,  0. ,  0. ,  0.5,  0. ])
    """
    size = np.bincount(group)[group]
    order = np.argsort(group, kind="stable")
    first = np.r_[0, np.cumsum(np.bincount(group))[:-1]]
    rank = np.empty(len(group))
    rank[order] = np.arange(len(group)) - first[group[order]]
    found: Array = np.where(size > 1, rank / np.maximum(size - 1, 1) - 0.5, 0.0)
    return found


def sigma_by_model(view: View, place: Place) -> Array:
    """Let each model have a noise of its own."""
    return view.spread[:, : models_tested(view.P.shape[1])]


def offset(view: View, place: Place) -> Array:
    """Let all answers be shifted; where models have levels, nothing is left of this."""
    return view.slope


def other_shares(view: View, place: Place) -> Array:
    """Let the shares be other ones than was said; where they are estimated, nothing is left of this."""
    return view.tested_surplus


EXTENSIONS: dict[str, Extension] = {
    "own levels": own_levels,
    "own coefficients": own_coefficients,
    "order in a group": order_in_group,
    "drift of the level": level_drift,
    "drift of the shares": share_drift,
    "drift of the coefficients": coefficient_drift,
    "gate": gate,
    "bend": bend,
    "squares": squares,
    "cubes": cubes,
    "interactions": interactions,
    "sigma by model": sigma_by_model,
    "uneven noise": uneven_noise,
    "skewness": skewness,
    "offset": offset,
    "shares": other_shares,
    "sigma": sigma,
}

OF_SHARES = ("drift of the shares", "gate")
"""What is about which model answers, and so can be seen without any noise."""
BETWEEN_GROUPS = ("own levels", "own coefficients")
"""What those who share a model may differ in."""
GIVEN = ["shares", "sigma"]
"""What the user may have given."""
