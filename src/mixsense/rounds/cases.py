"""Queries as a list of dicts, for oracles of features that say what their values may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixsense.arrays import Array
from mixsense.features.kinds import Feature, case_of
from mixsense.rounds.round import Asked, Oracle, knows_groups


class Cases(list[dict[str, Any]]):
    """Queries as a list of dicts, name to value as JSON would send it; NumPy reads them as the (q, n) array.

    Parameters
    ----------
    features : sequence of Number or Integer
        What the columns are.
    X : (q, n) array
        The queries.

    Examples
    --------
    >>> import mixsense as ms
    >>> cases = Cases([ms.Number("strength", 4, 16), ms.Integer("milk", 0, 1)], np.array([[6.5, 1.0]]))
    >>> cases, np.asarray(cases)
    ([{'strength': 6.5, 'milk': 1}], array([[6.5, 1. ]]))
    """

    def __init__(self, features: Sequence[Feature], X: Array) -> None:
        super().__init__(case_of(features, x) for x in X.tolist())
        self.features, self._X = features, X

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._X, dtype=dtype)


def in_cases(oracle: Oracle, features: Sequence[Feature] | None) -> Oracle:
    """Return an oracle that is sent `Cases`; without such features the oracle itself.

    Parameters
    ----------
    oracle : callable
        Who is asked.
    features : sequence of Number or Integer, or None
        What the queries are made of.
    """
    if not features:
        return oracle
    return _GroupedAsker(oracle, features) if knows_groups(oracle) else _Asker(oracle, features)


class _Asker:
    """Sends cases to an oracle that answers."""

    def __init__(self, oracle: Any, features: Sequence[Feature]) -> None:
        self._oracle, self._features = oracle, features

    def __call__(self, queries: Array, repeats: int) -> ArrayLike:
        found: ArrayLike = self._oracle(Cases(self._features, queries), repeats)
        return found


class _GroupedAsker(_Asker):
    """Sends cases to an oracle that also knows which of its answers share a model."""

    def asked(self, queries: Array, repeats: int, block: int) -> Asked:
        """Answer each query `repeats` times."""
        found: Asked = self._oracle.asked(Cases(self._features, queries), repeats, block)
        return found
