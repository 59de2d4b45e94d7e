"""The means of a batch when they are multiples of a step: L whole numbers, the likeliest ones."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.predecessors import tuning
from mixsense.mixture.several_means import maximise


def grid_means(answers: Array, models: int, noise: float) -> tuple[Index, Array]:
    """Return the likeliest whole means of batches of Gaussians with equal shares.

    Parameters
    ----------
    answers : (q, T) array
        In units of the step, one row a batch.
    models : int
        L.
    noise : float
        Standard deviation, in units of the step.

    Returns
    -------
    means : (q, L) array of int
        Ascending.
    off_grid : (q,) array
        How much likelier the best means are that need not be whole, as twice a difference of log-likelihoods. If the
        means are whole, it is what L coefficients fit by chance, χ² with up to L degrees of freedom.

    Notes
    -----
    Starts at the likeliest means on the line, rounded, and climbs over the neighbours that differ in one mean or two.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice([-3.0, 5.0], (1, 30)) + 0.5 * rng.standard_normal((1, 30))
    >>> grid_means(y, 2, 0.5)[0]
    array([[-3,  5]])
    """
    top = maximise(answers / noise, models, tuning.CLIMB_TOLERANCE, tuning.CLIMB_STEPS)
    means = np.rint(top.mu * noise).astype(np.intp)
    moves = _moves(models)  # (c, L)
    live, best = np.arange(len(answers)), _loglik(answers, means[:, None], noise)[:, 0]
    while live.size:
        around = means[live][:, None] + moves  # (r, c, L)
        value = _loglik(answers[live], around, noise)
        place = value.argmax(axis=1)
        found = value[np.arange(len(live)), place]
        better = found > best[live] + tuning.CLIMB_TOLERANCE
        means[live[better]] = around[better, place[better]]
        best[live] = np.maximum(best[live], found)
        live = live[better]
    free = _loglik(answers, top.mu[:, None] * noise, noise)[:, 0]
    return np.sort(means, axis=1), 2 * np.maximum(free - best, 0.0)


def _moves(L: int) -> Index:
    """Return all changes by one of one mean or of two."""
    single = [np.eye(L, dtype=np.intp)[i] * sign for i in range(L) for sign in (1, -1)]
    pairs = [a + b for a, b in combinations(single, 2) if np.abs(a + b).sum() == 2 and np.abs(a + b).max() == 1]
    return np.array([*single, *pairs], dtype=np.intp)


def _loglik(answers: Array, means: Array | Index, noise: float) -> Array:
    """Return the log-likelihood of (r, c, L) means, (r, c), without its constant."""
    r, c, L = means.shape
    found = np.empty((r, c))
    rows = max(1, tuning.AT_ONCE // (c * L * answers.shape[1]))
    for start in range(0, r, rows):
        part = slice(start, start + rows)
        d = -0.5 * ((answers[part, None, None, :] - means[part, :, :, None]) / noise) ** 2  # (r, c, L, T)
        peak = d.max(axis=2, keepdims=True)
        found[part] = (peak[:, :, 0] + np.log(np.exp(d - peak).sum(axis=2))).sum(axis=2)
    return found


def pairings(first: Index, second: Index, both: Index) -> list[tuple[int, ...]]:
    """Return every way to add `second`, in another order, to `first` so that the sums are `both`, as multisets.

    Parameters
    ----------
    first, second, both : (L,) arrays of int

    Examples
    --------
    >>> pairings(np.array([0, 10]), np.array([1, 2]), np.array([2, 11]))
    [(2, 1)]
    >>> pairings(np.array([0, 10]), np.array([1, 1]), np.array([1, 11]))
    [(1, 1)]
    """
    wanted, options = sorted(both.tolist()), set[tuple[int, ...]]()
    # Mean l can only be joined with what some sum leaves for it: for far-apart means that is one value.
    fitting = [[b for b in set(second.tolist()) if a + b in wanted] for a in first.tolist()]
    values = sorted(second.tolist())
    for chosen in product(*fitting):
        if sorted(chosen) == values and sorted(int(a) + b for a, b in zip(first, chosen, strict=True)) == wanted:
            options.add(chosen)
    return sorted(options)
