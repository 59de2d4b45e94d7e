"""The example data are what they say they are."""

from __future__ import annotations

import numpy as np
import pytest

import mixsense as ms


def test_tone_is_what_others_find_in_it():
    """Mixtools and flexmix: log-likelihood 141.2, slopes 0.99 and 0.04, shares 0.30 and 0.70, σ 0.133 and 0.046."""
    data = ms.datasets.tone()
    assert data.X.shape == (150, 1)
    assert "Cohen" in data.source
    r = ms.fit(data.X, data.y, models=2, intercept=True, features=data.names)
    flat, steep = 0, 1
    assert r.vectors[:, 0] == pytest.approx([0.04, 0.99], abs=0.02)
    assert r.weights[[flat, steep]] == pytest.approx([0.70, 0.30], abs=0.02)
    assert r.sigma == pytest.approx([0.046, 0.133], rel=0.1)
    mean = r.predict(data.X).mean
    density = np.exp(-0.5 * ((data.y[:, None] - mean) / r.sigma) ** 2) / (r.sigma * np.sqrt(2 * np.pi)) @ r.weights
    assert np.log(density).sum() >= 141.1
    assert np.log(density).sum() == pytest.approx(r.diagnostics["loglik"])
    assert r.status == "budget"


def test_a_crowd_is_found_with_its_kinds():
    data = ms.datasets.crowd(seed=1)
    assert data.X.shape == (1000, 6)
    assert len(np.unique(data.groups)) == 200
    r = ms.fit(data.X, data.y, data.groups, intercept=True, features=data.names)
    assert len(r.vectors) == 3
    half = np.array([5.0, 15.0, 2.0, 2.0, 2.0, 3.0])
    # About 200 answers of the smallest kind, uniform over each range: effects to 1/√(200/3) = 0.12, five of them.
    assert ms.match_error(r.vectors * half, data.vectors * half) < 0.6
    assert np.allclose(ms.datasets.crowd(seed=1).y, data.y)
    assert not np.allclose(ms.datasets.crowd(seed=2).y, data.y)


def test_a_frame_of_a_data_set_can_be_fitted():
    frame = ms.datasets.crowd(people=10, answers=2).to_frame()
    assert [*frame.columns][-2:] == ["liking", "person"]
    assert [*ms.datasets.tone().to_frame().columns] == ["stretchratio", "tuned"]


def test_a_crowd_of_nobody_is_one_line():
    with pytest.raises(ms.InvalidInput, match="people is 0"):
        ms.datasets.crowd(people=0)
