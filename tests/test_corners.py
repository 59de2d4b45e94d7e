"""Queries inside a box."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from mixsense.features.units import Coded
from mixsense.methods.frugal.corners import Box, flip


def test_flips_reach_what_was_asked_and_touch_nothing_else():
    rng = np.random.default_rng(0)
    slope = np.array([1.0, -2.0, 0.0, 0.5])
    Z = rng.choice([-1.0, 1.0], (500, 4))
    turned = flip(Z, slope, 0.3, 2.0, rng)
    assert set(np.unique(turned)) == {-1.0, 1.0}
    assert (np.abs(0.3 + turned @ slope) >= np.minimum(2.0, np.abs(0.3 + Z @ slope))).all()
    assert (np.abs(0.3 + turned @ slope) >= 2.0).all()
    assert (turned[:, 2] == Z[:, 2]).all()
    already = np.abs(0.3 + Z @ slope) >= 2.0
    assert (turned[already] == Z[already]).all()


def test_steered_corners_tell_models_apart_more_often():
    rng = np.random.default_rng(1)
    box = Box(Coded(10, False, np.zeros(10)), "corners")
    delta = np.array([1.0, 0.8, 0.6, 0.5, 0.4, 0, 0, 0, 0, 0])
    fit = SimpleNamespace(L=2, beta=np.stack([delta / 2, -delta / 2]), sigma=1.0, found=np.stack([delta, delta]) > 0)
    plain, steered = box.draw(4000, rng), box.steer(4000, fit, rng)
    assert np.mean((steered @ delta) ** 2) > 1.2 * np.mean((plain @ delta) ** 2)
    assert np.abs(np.corrcoef(steered[:, 5:].T) - np.eye(5)).max() < 0.1


def test_gaussian_queries_fill_the_box_and_stay_inside():
    X = Box(Coded(10, False, np.zeros(10)), "gaussian").draw(2000, np.random.default_rng(2))
    assert 0.99 < np.abs(X).max() <= 1.0
    assert abs(X.std() - 1 / 3) < 0.01
