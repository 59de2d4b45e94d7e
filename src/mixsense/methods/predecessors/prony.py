"""A sparse vector from exact values of its polynomial at points in geometric progression: Prony's method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mixsense.methods.predecessors import tuning

PRIME = tuning.PRIME


def sparse_vector(values: Sequence[Fraction], start: Fraction, ratio: Fraction, n: int) -> dict[int, Fraction] | None:
    """Return the vector of at most k coefficients whose polynomial has these 2k values, position to value.

    Parameters
    ----------
    values : 2k fractions
        Σ_s c_s a^s at a = start · ratio^i, i = 0 … 2k − 1.
    start, ratio : Fraction
        The points; all different and positive.
    n : int
        Number of positions.

    Returns
    -------
    dict or None
        None if there is no such vector.

    Examples
    --------
    >>> start, ratio = Fraction(1, 2), Fraction(4, 3)
    >>> values = [Fraction(3, 7) * a + 2 * a**4 for a in (start * ratio**i for i in range(4))]
    >>> sparse_vector(values, start, ratio, 6)
    {1: Fraction(3, 7), 4: Fraction(2, 1)}
    """
    y = [_residue(value) for value in values]
    locator = _shortest_recurrence(y)
    if len(locator) - 1 > len(values) // 2:
        return None
    roots, root, g = [], 1, _residue(ratio)
    for s in range(n):  # z^d − c_1 z^(d−1) − … at z = g^s
        total = 0
        for c in locator:
            total = (total * root + c) % PRIME
        if total == 0:
            roots.append((s, root))
        root = root * g % PRIME
    if len(roots) != len(locator) - 1:
        return None
    first = _residue(start)
    weights = _solve_vandermonde([z for _, z in roots], y[: len(roots)])
    found: dict[int, Fraction] = {}
    for (s, _), weight in zip(roots, weights, strict=True):
        value = _fraction(weight * pow(pow(first, s, PRIME), -1, PRIME) % PRIME)
        if value is None:
            return None
        found[s] = value
    right = all(_value(found, start * ratio**i) == value for i, value in enumerate(values))
    return found if right else None


def _value(coefficients: dict[int, Fraction], a: Fraction) -> Fraction:
    return sum((c * a**s for s, c in coefficients.items()), Fraction())


def _residue(value: Fraction) -> int:
    return value.numerator * pow(value.denominator, -1, PRIME) % PRIME


def _fraction(residue: int) -> Fraction | None:
    """Return the fraction with numerator and denominator below √(p/2) that has this residue."""
    bound = math.isqrt(PRIME // 2)
    before, now, t_before, t = PRIME, residue, 0, 1
    while now > bound:
        quotient = before // now
        before, now = now, before - quotient * now
        t_before, t = t, t_before - quotient * t
    return None if t == 0 or abs(t) > bound else Fraction(now, t)


def _shortest_recurrence(y: list[int]) -> list[int]:
    """Return 1, −c_1, …, −c_d of the shortest y_i = c_1 y_{i−1} + … + c_d y_{i−d}: Berlekamp and Massey."""
    now, before, length, since, scale = [1], [1], 0, 1, 1
    for i in range(len(y)):
        error = sum(c * y[i - j] for j, c in enumerate(now[: i + 1])) % PRIME
        if error == 0:
            since += 1
            continue
        old, factor = now, error * pow(scale, -1, PRIME) % PRIME
        now = now + [0] * (len(before) + since - len(now))
        for j, c in enumerate(before):
            now[j + since] = (now[j + since] - factor * c) % PRIME
        if 2 * length <= i:
            length, before, scale, since = i + 1 - length, old, error, 1
        else:
            since += 1
    return now[: length + 1] + [0] * (length + 1 - len(now))


def _solve_vandermonde(nodes: list[int], y: list[int]) -> list[int]:
    """Return w with Σ_s w_s z_s^i = y_i for each of the first len(nodes) powers i."""
    d = len(nodes)
    rows = [[pow(z, i, PRIME) for z in nodes] + [y[i]] for i in range(d)]
    for c in range(d):  # Gauss and Jordan; the nodes differ, so that every pivot can be made other than 0
        pivot = next(r for r in range(c, d) if rows[r][c])
        rows[c], rows[pivot] = rows[pivot], rows[c]
        inverse = pow(rows[c][c], -1, PRIME)
        rows[c] = [v * inverse % PRIME for v in rows[c]]
        for r in range(d):
            if r != c and rows[r][c]:
                factor = rows[r][c]
                rows[r] = [(v - factor * w) % PRIME for v, w in zip(rows[r], rows[c], strict=True)]
    return [row[d] for row in rows]


def bits_lost(start: Fraction, ratio: Fraction, n: int, k: int, rng: np.random.Generator) -> float:
    """Predict how many bits the coefficients have less than the answers: the median over random supports.

    The norm of the inverse of the Vandermonde matrix of k positions and k points, after Gautschi.

    Examples
    --------
    >>> bits_lost(Fraction(1, 2), Fraction(101, 100), 100, 5, np.random.default_rng(0)) > 53
    True
    """
    log_a, log_g = math.log2(start), math.log2(ratio)
    lost = []
    for _ in range(tuning.SUPPORTS):
        support = np.sort(rng.choice(n, min(k, n), replace=False))
        z = support * log_g  # log₂ of the nodes
        apart = np.abs(z[:, None] - z) * math.log(2)
        low = np.minimum(z[:, None], z)
        between = low + np.log2(np.expm1(apart, where=apart > 0, out=np.ones_like(apart)))
        ones = np.log2(1 + np.exp2(z))
        each = (ones - between + np.diag(np.diag(between) - ones)).sum(axis=1)
        lost.append(float((each - support * log_a).max()))
    return float(np.median(lost))
