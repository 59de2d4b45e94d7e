"""Likelihood ratios, where score tests are weak: answers that level off at both ends, and a noise with heavy tails."""

from __future__ import annotations

import math

import numpy as np

from mixsense.arrays import Array, Index
from mixsense.methods.frugal.model_checks import tuning
from mixsense.methods.frugal.model_checks.views import View
from mixsense.regression.tuning import LEAST_SHARE_IN_FIT
from mixsense.scales.scale import Scale, terms_of


def tails(view: View) -> float:
    """Return how much better a noise with a wider part explains the answers, in nats.

    The models stay where they are; σ, and the share of the wider part, are fitted. The farthest answer is left out:
    one alone is no tail.
    """
    if len(view.z) < 2:
        return 0.0
    near = np.delete(view.z, np.abs(view.z).min(axis=1).argmax(), axis=0)
    height = view.weights / view.sigma
    plain = _with_tails(near, height, 1.0, 0.0)
    return max(_with_tails(near, height, width, tuning.TAIL_START) for width in tuning.TAIL_WIDTHS) - plain


def _with_tails(z: Array, height: Array, width: float, share: float) -> float:
    """Fit σ and the share of the answers whose noise is `width` times as large; returns the log-likelihood."""
    s, loglik = 1.0, -math.inf
    for _ in range(tuning.TAIL_STEPS):
        narrow, wide = (
            part * np.exp(-0.5 * (z / scale) ** 2) / scale * height
            for part, scale in ((1 - share, s), (share, width * s))
        )
        total = (narrow + wide).sum(axis=1, keepdims=True) + 1e-300
        loglik = float(np.log(total / math.sqrt(2 * math.pi)).sum())
        share = float((wide / total).sum()) / len(z)
        s = math.sqrt(float((narrow / total * z**2).sum() + (wide / total * (z / width) ** 2).sum()) / len(z))
    return loglik


def link(
    X: Array,
    y: Array,
    beta: Array,
    weights: Array,
    sigma: Array,
    estimated: tuple[Index, Index],
    scale: Scale | None = None,
) -> tuple[float, float]:
    """Return how much better models that level off explain the answers, in nats, and the half width that does best.

    Parameters
    ----------
    X, y : (N, c) and (N,) arrays
        Rows and answers.
    beta, weights, sigma : (L, c), (L,) and (L,) arrays
        The models, their shares and their noise.
    estimated : pair of (s,) arrays of int
        Model and column of the coefficients that are fitted.
    scale : Scale, optional
        How answers are made of the linear value; real numbers by default.

    Notes
    -----
    Linear values are mid + c tanh((m − mid)/c) instead of m, with mid the middle of the answers and c in units of half
    of their range. All coefficients, the shares and σ are fitted again for each c, from the linear models.
    """
    values = y if scale is None else scale.value(y)
    low, high = float(values.min()), float(values.max())
    middle, half = (low + high) / 2, (high - low) / 2
    if not half > 0:  # all answers are equal
        return 0.0, 0.0
    widths = [half * part for part in tuning.LINK_WIDTHS]
    straight, *bent = (
        _with_link(X, y, beta, weights, sigma, estimated, middle, width, scale) for width in (math.inf, *widths)
    )
    best = int(np.argmax(bent))
    return bent[best] - straight, widths[best]


def _with_link(
    X: Array,
    y: Array,
    beta: Array,
    weights: Array,
    sigma: Array,
    estimated: tuple[Index, Index],
    middle: float,
    width: float,
    scale: Scale | None,
) -> float:
    """Fit models whose values level off at middle ± width by EM with steps of Gauss and Newton; the log-likelihood."""
    beta, most = beta.copy(), -math.inf
    model, column = estimated
    for _ in range(tuning.LINK_STEPS):
        m = X @ beta.T
        bent = np.tanh((m - middle) / width)  # 0 for an infinite width
        found = terms_of(scale, y, middle + width * bent if math.isfinite(width) else m, sigma)
        R, slope = found.residual, 1 - bent**2
        density = np.exp(found.loglik) * weights + 1e-300
        total = density.sum(axis=1, keepdims=True)
        loglik, P = float(np.log(total).sum()), density / total
        if loglik < most + tuning.LINK_SETTLED:
            return max(loglik, most)
        most, weights = loglik, np.maximum(P.mean(axis=0), LEAST_SHARE_IN_FIT)
        sigma = sigma * max(math.sqrt(float((P * found.square / sigma**2).sum()) / len(y)), tuning.LEAST_LINK_STEP)
        for a in range(len(beta)):
            here = column[model == a]
            A = X[:, here] * slope[:, [a]]
            G = (A.T * P[:, a]) @ A
            ridge = tuning.LINK_RIDGE * float((X[:, here] ** 2).sum()) / max(len(here), 1) + 1e-12
            beta[a, here] += np.linalg.solve(G + ridge * np.eye(len(here)), A.T @ (P[:, a] * R[:, a]))
    return most
