"""Answers without noise tell their model: whether it is chosen by chance, or by a rule.

A function with a kink, a step or an end is linear in pieces, and each piece explains its answers exactly, as a model
would. But which piece answers is decided by the query.
"""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Index, Mask
from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.check import Check, level_of
from mixsense.methods.frugal.model_checks.views import models_tested
from mixsense.regression.data import Data


def label_checks(data: Data, label: Index, level: bool, names: list[str], anywhere: Mask | None = None) -> list[Check]:
    """Check that the models of exact answers were drawn by chance: whatever was asked, and one after the other.

    Parameters
    ----------
    data : Data
        Rows and answers, in the order in which they were asked; no answer may fit two models.
    label : (N,) array of int
        The model of each answer.
    level : bool
        The first column of the rows is the level.
    names : list of str
        What the features are called.
    anywhere : (N,) array of bool, optional
        Which queries were drawn from everywhere, and show a rule; all by default.

    Returns
    -------
    list of Check
        Under the names that noisy answers have for the same; none if there is one model, or nothing to look at.
    """
    if data.group is not None:  # the answers of a group have one model by their nature
        first = np.unique(data.group, return_index=True)[1]
        data, label = data.rows(np.sort(first))._replace(group=None), label[np.sort(first)]
        anywhere = None if anywhere is None else anywhere[np.sort(first)]
    models, label = np.unique(label, return_inverse=True)
    if len(models) < 2:
        return []
    N, own = len(label), np.eye(len(models))[label]  # (N, L)
    what = "the same query gets the same model again"
    found = [Check("repeats", *same_again(data.X, label), level_of(N), what)]
    here = np.ones(N, dtype=np.bool_) if anywhere is None else anywhere
    Z = data.X[here, int(level) :]
    if (rule := _largest(own[here], np.hstack([Z, Z * Z]))) is not None:
        of = names[rule[1] % len(names)]
        what = f"which model answers depends on {of}: a routing rule, or a function that is linear in pieces"
        found.append(Check("gate", rule[0], rule[2], level_of(N), what))
    if any(check.failed for check in found):  # where the query decides, the order of the queries does, too
        return found
    after = (np.arange(N)[:, None] >= np.linspace(0, N, tuning.CHANGE_POINTS + 2)[1:-1]).astype(np.float64)
    if (drift := _largest(own, after)) is not None:
        what = f"the shares change after about {round((drift[1] + 1) / (tuning.CHANGE_POINTS + 1) * N)} answers"
        found.append(Check("drift of the shares", drift[0], drift[2], level_of(N), what))
    share = own.mean(axis=0)
    same, chance = label[1:] == label[:-1], float(share @ share)
    # Neighbouring pairs have an answer in common: Var = q (1 − q) + 2 (Σ w³ − q²) for each, q = Σ w².
    variance = chance * (1 - chance) + 2 * (float((share**3).sum()) - chance**2)
    z = float(same.sum() - len(same) * chance) / math.sqrt(max(len(same) * variance, 1e-300))
    p_value = 0.5 * math.erfc(z / math.sqrt(2))
    found.append(Check("linked", z, p_value, level_of(N), "answers in a row share their model"))
    return found


def same_again(X: Array, label: Index) -> tuple[float, float]:
    """Return how many answers were to queries asked before, and how probably these all have the same models by chance.

    One query that two models have answered says that the query does not decide: then the probability is 1.

    Examples
    --------
    >>> X = np.repeat(np.arange(5.0), 2)[:, None]
    >>> same_again(X, np.repeat([0, 1, 0, 1, 0], 2))[0], same_again(X, np.tile([0, 1], 5))[1]
    (5.0, 1.0)
    """
    share = np.bincount(label) / len(label)
    query = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    asked = np.bincount(query)
    answered = np.zeros((len(asked), len(share)), dtype=np.bool_)
    answered[query, label] = True
    again = asked[asked > 1]
    if (answered.sum(axis=1) > 1).any():
        return float((again - 1).sum()), 1.0
    return float((again - 1).sum()), float(np.prod((share ** again[:, None]).sum(axis=1)))


def _largest(own: Array, of: Array) -> tuple[float, int, float] | None:
    """Return the largest correlation of a model with a column: in standard errors, which column, and its p-value."""
    N, share, centred = len(own), own.mean(axis=0), of - of.mean(axis=0)
    size = (centred**2).sum(axis=0)
    there = size > 1e-12 * np.maximum((of**2).sum(axis=0), 1e-300)
    chosen = np.flatnonzero((share > 0) & (share < 1))
    chosen = chosen[: models_tested(len(chosen))]
    if not N or not there.any() or not len(chosen):
        return None
    z = own[:, chosen].T @ centred[:, there] / np.sqrt(np.outer(share[chosen] * (1 - share[chosen]), size[there]))
    best = np.unravel_index(int(np.abs(z).argmax()), z.shape)
    p_value = min(1.0, z.size * math.erfc(abs(float(z[best])) / math.sqrt(2)))
    return float(z[best]), int(np.flatnonzero(there)[best[1]]), p_value
