"""What every oracle must do; run it over a new oracle with `check_oracle(make)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mixsense.errors import MixsenseError


def check_oracle(make: Callable[[], Any], queries: np.ndarray) -> None:
    """Check an oracle that can answer each of `queries` (q, n) at least twice."""
    answers = make()(queries, 2)
    assert isinstance(answers, np.ndarray)
    assert answers.shape == (len(queries), 2)
    assert answers.dtype == np.float64
    assert np.isfinite(answers).all()
    # A fresh oracle gives the same answers, however they are divided into calls.
    assert np.array_equal(make()(queries, 2), answers)
    split = make()
    half = len(queries) // 2
    assert np.array_equal(np.concatenate([split(queries[:half], 2), split(queries[half:], 2)]), answers)
    assert split.count == answers.size
    # A mistake is refused, and costs nothing.
    oracle = make()
    for bad in [(queries[0], 1), (queries, 0), (queries, 1.5)]:
        with pytest.raises(MixsenseError):
            oracle(*bad)
    assert oracle.count == 0
