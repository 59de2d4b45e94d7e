"""The likelihood of a batch: how its maximum is reached, and how sharp it is.

A batch holds T samples of ½N(c − h, 1) + ½N(c + h, 1): everything here is in units of σ, rows are batches. One tanh a
sample gives the EM step, the gradient, the Hessian and the likelihood.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixsense.arrays import Array


def maximise(z: Array, c: Array, h: Array, tol: float, max_iter: int) -> Array:
    """Climb from (c, h) in single precision, which is faster, and then in double: there one pass is the rule.

    Returns (8, rows): c, h, information over T (cc, ch, hh), passes, converged, log likelihood.
    """
    passes = np.zeros_like(c)
    rough = np.flatnonzero((h > 0.05) & (h < 1e3))  # beyond, steps drown in rounding
    if rough.size and max_iter > 1:
        start = (z if rough.size == len(z) else z[rough]).astype(np.float32)
        climbed = _climb(start, c[rough], h[rough], 1e-7, min(10, max_iter - 1))
        c, h = c.copy(), h.copy()
        c[rough], h[rough], passes[rough] = climbed[[0, 1, 5]]
    climbed = _climb(z, c, h, tol, max_iter - int(passes.max()))
    climbed[5] += passes
    return climbed


def _climb(z: NDArray[np.floating], c: Array, h: Array, tol: float, max_iter: int) -> Array:
    """Newton's method with EM as its safeguard, each row until it has converged.

    Returns (8, rows) as `maximise` does; the likelihood only in double precision.
    """
    result = np.zeros((8, len(z)))
    T, double = z.shape[1], z.dtype == np.float64
    live = np.arange(len(z))  # rows still climbing; all arrays below are theirs
    slope, fallback = np.full(len(z), np.inf), np.stack([c, h])  # at the point before: gradient, EM step
    for passes in range(1, max_iter + 1):
        d, tau = _posterior(z, c, h)
        (g_c, g_h), (cc, ch, hh), em_point = _derivatives(c, h, d, tau)
        gradient, det = np.hypot(g_c, g_h), cc * hh - ch**2
        concave, worse = (cc < 0) & (det > 0), gradient > slope
        det = np.where(concave, det, 1.0)
        step_c, step_h = (ch * g_h - hh * g_c) / det, (ch * g_c - cc * g_h) / det
        size = np.hypot(step_c, step_h)
        newton = concave & (size <= 0.7 * h) & ~worse  # no longer than that, h stays positive
        done = newton & (size**2 <= tol * np.minimum(h, 1.0))  # Newton's error is about size² / h
        point = np.where(newton, [c + step_c, h + step_h], np.where(worse, fallback, em_point))
        # To second order, a Newton step p from gradient g raises the likelihood by ½ g·p.
        loglik = _log_likelihood(d, tau, h) + T / 2 * (g_c * step_c + g_h * step_h) if double else 0 * h
        result[:, live] = *point, -cc, -ch, -hh, np.full(live.size, passes), done, loglik
        # An EM step always climbs, though the gradient may grow: only Newton's steps are judged by it.
        slope, fallback = np.where(newton, gradient, np.inf), em_point
        if done.any():
            keep = ~done
            live, z, slope = live[keep], z[keep], slope[keep]
            fallback, point = fallback[:, keep], point[:, keep]
        if not live.size:
            return result
        c, h = point
    if double:  # out of passes: there is no small last step to go by
        result[7, live] = _log_likelihood(*_posterior(z, c, h), h)
    return result


def _posterior(z: NDArray[Any], c: Array, h: Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the distances d = z − c and tau = tanh(h d) = P(upper | z) − P(lower | z), in the precision of z."""
    d = z - c.astype(z.dtype)[:, None]
    tau = h.astype(z.dtype)[:, None] * d
    return d, np.tanh(tau, out=tau)


def _derivatives(c: Array, h: Array, d: NDArray[Any], tau: NDArray[Any]) -> tuple[Array, Array, Array]:
    """Give gradient (c, h) and Hessian (cc, ch, hh) of the log likelihood over T, and the EM step (c, h)."""
    T = d.shape[1]
    d_tau = d * tau
    sums = [d.sum(axis=1), tau.sum(axis=1), np.vecdot(d, tau), np.vecdot(tau, tau), np.vecdot(d_tau, tau)]
    sums += [np.vecdot(d, d), np.vecdot(d_tau, d_tau)]
    m_d, m_tau, m_dtau, m_tau2, m_dtau2, m_d2, m_d2tau2 = np.array(sums, dtype=np.float64) / T
    gradient = np.stack([m_d - h * m_tau, m_dtau - h])
    hessian = np.stack([h**2 * (1 - m_tau2) - 1, -m_tau - h * (m_d - m_dtau2), m_d2 - m_d2tau2 - 1])
    em_h = (m_dtau - m_tau * m_d) / np.maximum(1 - m_tau**2, 1e-12)
    return gradient, hessian, np.stack([c + m_d - em_h * m_tau, em_h])


def _log_likelihood(d: Array, tau: Array, h: Array) -> Array:
    """Sum the log likelihood in units of σ, without its constant: Σ −½d² − ½h² + log cosh(h d). Spoils d, tau.

    No further exponential is needed: log cosh x = |x| − log(1 + |tanh x|).
    """
    T = d.shape[1]
    quadratic = np.vecdot(d, d) + T * h**2
    linear = h * np.abs(d, out=d).sum(axis=1)
    np.abs(tau, out=tau)
    tau += 1
    # The log of a product is cheaper than a sum of logs; 1,000 factors between 1 and 2 cannot overflow.
    products = np.multiply.reduceat(tau, np.arange(0, T, 1000), axis=1)
    loglik: Array = linear - 0.5 * quadratic - np.log(products).sum(axis=1)
    return loglik


def information_error(information: Array, h: Array, T: int) -> Array:
    """Turn the observed information over T into standard errors (2, rows) of c − h and c + h."""
    cc, ch, hh = information
    regular = (h > 0) & (cc > 0) & (cc * hh > ch**2)
    cc, ch, hh = np.where(regular, information, [[1.0], [0.0], [1.0]])
    det = cc * hh - ch**2
    # In terms of h² the information has a limit at 0, where that of h vanishes: Var(h²) = 2/T.
    error_h2 = np.where(regular, 2 * h * np.sqrt(cc / det), math.sqrt(2)) / math.sqrt(T)
    error_c, error_h = np.sqrt(hh / det / T), root_error(h, error_h2)
    covariance = -ch / np.sqrt(cc * hh) * error_c * error_h
    variance: Array = error_c**2 + error_h**2 + 2 * covariance * np.array([[-1.0], [1.0]])
    return np.sqrt(variance)


def root_error(h: Array, error: Array) -> Array:
    """Give the standard error of h = √a from that of a: half of how far h falls when a falls by two errors.

    Far from 0 this is the delta method, error / 2h. Where 0 is within reach it is √(error / 2), as at 0: any
    less, such as h / 2, would leave no room for the error of the centre beside it.
    """
    reach = np.sqrt(np.maximum(h**2 - 2 * error, 0.0))
    fall: Array = error / (np.maximum(h, np.sqrt(2 * error)) + reach)
    return fall
