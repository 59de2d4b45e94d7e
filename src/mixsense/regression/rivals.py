"""Which other readings explain the answers nearly as well: two models that differ elsewhere.

At the corners of a box, models that differ by δ in feature i answer {m + δ, m − δ}, whichever feature i is. So two
models are written as their mean m and their difference δ, which is zero outside a small set; what they share is paid
for once, and δ may be exchanged between features, and with the level, turned round, dropped or added to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np

from mixsense.arrays import Array
from mixsense.metrics import match_error
from mixsense.regression import tuning
from mixsense.regression.data import Data
from mixsense.regression.fit import Fit
from mixsense.regression.likelihood import one_a_group


class Rival(NamedTuple):
    """A reading that is two models, m ± δ/2, with its score."""

    mean: Array
    """(c,), m."""
    delta: Array
    """(c,), δ."""
    weights: Array
    """(2,), shares."""
    sigma: float
    """Noise of an answer."""
    score: float
    """Penalised log-likelihood, up to a constant that all pairs share."""

    @property
    def beta(self) -> Array:
        """The two models, (2, c)."""
        return np.stack([self.mean + self.delta / 2, self.mean - self.delta / 2])


class Swap(NamedTuple):
    """A reading that is more than two models, of which two have exchanged where they differ, with its score."""

    beta: Array
    """(L, c), the models."""
    delta: Array
    """(c,), the difference of the two."""
    weights: Array
    """(L,), shares."""
    sigma: float
    """Noise of an answer."""
    score: float
    """Penalised log-likelihood, less that of the best reading of the same two models."""


Reading = Rival | Swap
"""What the answers may mean: two models, or more of which two have exchanged something."""
AnyReading = TypeVar("AnyReading", Rival, Reading)


def swaps(data: Data, fit: Fit) -> list[Reading]:
    """Return the readings of more than two models that the answers do not rule out, that with the highest score first.

    Parameters
    ----------
    data : Data
        Rows and answers.
    fit : Fit
        The models; each two that differ in one or two columns are held against their rivals, by the answers that are
        not those of the others.
    """
    data, P = data._replace(scale=fit.scale), fit.explained(data).probability
    found: list[Reading] = []
    for a, b in combinations(range(fit.L), 2):
        two = np.array([a, b])
        delta = np.abs(fit.beta[a] - fit.beta[b])
        least = np.maximum(
            tuning.RIVAL_SUPPORTS[0] * delta.max(), tuning.RIVAL_SIGNIFICANCE * np.hypot(*fit.stderr[two])
        )
        if np.count_nonzero(delta > least) > tuning.COLUMNS_OF_A_SWAP:
            continue
        own, share = np.flatnonzero(P[:, two].sum(axis=1) > tuning.OWN_OF_A_SWAP), fit.weights[two].sum()
        alive = _rivals_of(data.rows(own), fit.beta[two], fit.stderr[two], fit.weights[two] / share, fit.sigma)
        for rival in alive:
            beta, weights = fit.beta.copy(), fit.weights.copy()
            beta[two], weights[two] = rival.beta, share * rival.weights
            found.append(Swap(beta, rival.delta, weights, fit.sigma, rival.score - alive[0].score))
    return _alive(found)


def rivals(data: Data, pair: Fit) -> list[Reading]:
    """Return the readings of two models that the answers do not rule out, that with the highest score first.

    Parameters
    ----------
    data : Data
        Rows and answers.
    pair : Fit
        The fit of two models, where the search begins.
    """
    return [*_rivals_of(data._replace(scale=pair.scale), pair.beta, pair.stderr, pair.weights, pair.sigma)]


def _rivals_of(data: Data, beta: Array, stderr: Array, weights: Array, sigma: float) -> list[Rival]:
    """Return the pairs that the answers do not rule out, the best first, from two models with their standard errors."""
    delta = beta[0] - beta[1]
    first = Rival(beta.mean(axis=0), delta, weights, sigma, -math.inf)
    most = float(np.abs(delta).max())
    least = [share * most for share in tuning.RIVAL_SUPPORTS]
    surely = tuning.RIVAL_SIGNIFICANCE * np.hypot(*stderr)  # at little noise small differences are sure, too
    found = [fit_pair(data, first, np.abs(delta) > edge) for edge in (*least, surely)]
    begun: set[tuple[int, ...]] = set()
    for _ in range(tuning.RIVAL_SEARCHES):
        best = max(rival.score for rival in found)
        # A pair with a column too many hides those that are one move and that column away: begin from each support.
        new = [rival for rival in found if _place(rival) not in begun and rival.score > best - tuning.RIVAL_NEAR]
        if not new:
            break
        source = max(new, key=lambda rival: rival.score)
        begun.add(_place(source))
        moved = [source._replace(delta=d) for d in moves(source)]
        moved.sort(key=lambda rival: -loglik_of(data, rival))
        found += [fit_pair(data, rival, rival.delta != 0) for rival in moved[: tuning.RIVALS_TRIED]]
    return _alive(found)


def moves(rival: Rival) -> list[Array]:
    """Return differences that may explain the answers as well: exchanged, turned round, dropped or added to."""
    delta, found = rival.delta, []
    inside, c = np.flatnonzero(delta), len(delta)
    typical = float(np.abs(delta[inside]).mean()) if inside.size else 0.0
    for i in inside.tolist():
        turned = delta.copy()
        turned[i] = -delta[i]
        found.append(turned)
        if inside.size > 1:
            dropped = delta.copy()
            dropped[i] = 0.0
            found.append(dropped)
        for j in range(c):
            if j == i or (delta[j] and j < i):
                continue
            for sign in (1.0, -1.0):
                exchanged = delta.copy()
                exchanged[i], exchanged[j] = sign * delta[j], sign * delta[i]
                found.append(exchanged)
    for j in np.flatnonzero(delta == 0).tolist():
        for sign in (0.5, -0.5):  # EM finds the size
            added = delta.copy()
            added[j] = sign * typical
            found.append(added)
    return found


def fit_pair(data: Data, start: Rival, here: Array) -> Rival:
    """Fit the mean model and the difference on the columns `here`, from a start."""
    X, (N, c), place = data.X, data.X.shape, np.flatnonzero(here)
    mean, delta, weights, sigma = start.mean, np.where(here, start.delta, 0.0), start.weights, start.sigma
    S = X[:, place] / 2
    A = np.empty((c + len(place), c + len(place)))
    A[:c, :c], A[c:, c:] = X.T @ X, S.T @ S
    ridge = tuning.RIVAL_RIDGE * N * np.eye(len(A))
    for _ in range(tuning.RIVAL_STEPS):
        beta = np.stack([mean + delta / 2, mean - delta / 2])
        R, P, _, _ = data.explained(beta, weights, sigma)
        both_y, side_y, square = _moments(data, beta, sigma, R, P)
        side = P[:, 0] - P[:, 1]
        A[:c, c:] = X.T @ (side[:, None] * S)
        A[c:, :c] = A[:c, c:].T
        both = np.linalg.solve(A + ridge, np.concatenate([X.T @ both_y, S.T @ side_y]))
        moved = float(np.abs(both[:c] - mean).max())
        mean, delta = both[:c], np.zeros(c)
        delta[place] = both[c:]
        sigma = max(math.sqrt(square / max(N - c - len(place), N / 2)), tuning.LEAST_RIVAL_SIGMA * start.sigma)
        weights = np.clip(
            one_a_group(P, data.group).mean(axis=0), tuning.LEAST_SHARE_IN_FIT, 1 - tuning.LEAST_SHARE_IN_FIT
        )
        if moved < tuning.RIVAL_SETTLED * sigma:
            break
    rival = Rival(mean, delta, weights, sigma, 0.0)
    size = len(place)
    choices = math.lgamma(c + 1) - math.lgamma(size + 1) - math.lgamma(c - size + 1)
    return rival._replace(score=loglik_of(data, rival) - 0.5 * size * math.log(N) - choices)


def _moments(data: Data, beta: Array, sigma: float, R: Array, P: Array) -> tuple[Array, Array, float]:
    """Return the answers, their difference by model, and the sum of squared residuals, over the models."""
    if data.scale is None:
        return data.y, (P[:, 0] - P[:, 1]) * data.y, float((P * R * R).sum())
    mean = data.X @ beta.T
    Y = P * (mean + R)
    return Y.sum(axis=1), Y[:, 0] - Y[:, 1], float((P * data.scale.terms(data.y, mean, sigma).square).sum())


def _place(rival: Rival) -> tuple[int, ...]:
    """Return the columns in which the models of a pair differ."""
    return tuple(np.flatnonzero(rival.delta).tolist())


def loglik_of(data: Data, reading: Reading) -> float:
    """Return the log-likelihood of all answers under a reading."""
    return data.loglik(reading.beta, reading.weights, reading.sigma)


def sceptical(data: Data, alive: Sequence[Reading], free: bool) -> list[Reading]:
    """Return readings with the scores that they have if their shares may be equal, that with the highest first.

    Parameters
    ----------
    data : Data
        Rows and answers.
    alive : sequence of Reading
        Each fitted with shares of its own.
    free : bool
        The shares are not known; else they are known to be equal.

    Notes
    -----
    Where only unequal shares tell readings apart, the one whose shares are the least equal leads by chance. Shares that
    are equal have a probability of 1/2 here, all others together the other half: with g nats more than equal ones, and
    a standard error of 1/(2√G) from G groups, the likelihood of a reading is half of L₀ (1 + exp(g) √(2π)/(2√G)).
    """
    groups = len(data.y) if data.group is None else int(data.group.max()) + 1
    occam, found = math.log(math.sqrt(2 * math.pi) / 2 / math.sqrt(groups)), []
    for reading in alive:
        other = alive[0] if reading is not alive[0] else alive[-1]  # of many models, the two that the readings move
        pair = np.argsort(-np.abs(reading.beta - other.beta).max(axis=1), kind="stable")[:2]
        equal = reading.weights.copy()
        equal[pair] = equal[pair].mean()
        gain = max(loglik_of(data, reading) - loglik_of(data, reading._replace(weights=equal)), 0.0)
        more = float(np.logaddexp(0.0, gain + occam)) if free else 0.0
        found.append(reading._replace(score=reading.score - gain + more))
    return sorted(found, key=lambda reading: -reading.score)


def _alive(found: Sequence[AnyReading]) -> list[AnyReading]:
    """Sort readings by their scores; leave out those that are far behind, and those equal to a better one."""
    kept: list[AnyReading] = []
    for reading in sorted(found, key=lambda reading: -reading.score):
        if kept and reading.score < kept[0].score - tuning.RIVAL_BEHIND:
            break
        if all(distance(reading.beta, other.beta) > tuning.RIVAL_DISTINCT * reading.sigma for other in kept):
            kept.append(reading)
    return kept


def distance(beta: Array, other: Array) -> float:
    """Return the worst ℓ2 distance of models from others, in their best order."""
    if len(beta) > 2:
        return match_error(beta, other)
    ways = (np.linalg.norm(beta - other, axis=1).max(), np.linalg.norm(beta - other[::-1], axis=1).max())
    return float(min(ways))


def probabilities(found: Sequence[Reading]) -> Array:
    """Return how probable each of several readings is, by their scores."""
    score = np.array([reading.score for reading in found])
    share = np.exp(score - score.max(initial=-math.inf))
    return np.asarray(share / max(float(share.sum()), 1e-300))


def distance_kept(found: Sequence[Reading], beta: Array, eta: float) -> float:
    """Return the distance from a fit beyond which the readings have a probability of at most η together.

    Examples
    --------
    >>> near, far = (Rival(np.zeros(2), np.array([d, 0.0]), np.ones(2) / 2, 1.0, 0.0) for d in (2.0, 6.0))
    >>> distance_kept([near, far], near.beta, 0.01), distance_kept([near, far], near.beta, 0.6)
    (2.0, 0.0)
    """
    share = probabilities(found)
    apart = np.array([distance(reading.beta, beta) for reading in found])
    order = np.argsort(-apart, kind="stable")
    beyond = np.cumsum(share[order])
    return float(apart[order][int((beyond <= eta).sum())])
