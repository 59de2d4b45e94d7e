"""Layers of bins: each layer is a random partition of the n positions; a few sparse rows measure each bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from mixsense.arrays import Array, Index


class Layers:
    """Random partitions of the positions into bins; the bins are numbered through over all layers.

    Parameters
    ----------
    n : int
        Number of positions.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.bin_of: list[Index] = []
        """For each layer the bin of each position, (n,), within the layer; small integers."""
        self.first: list[int] = [0]
        """Number of the first bin of each layer; the last entry counts all bins."""

    def __len__(self) -> int:
        return len(self.bin_of)

    @property
    def count(self) -> int:
        """Number of bins."""
        return self.first[-1]

    def add(self, bins: int, rng: np.random.Generator) -> None:
        """Draw another layer."""
        small = np.min_scalar_type(bins - 1)  # 16 bits sort in linear time, and n may be a million
        self.bin_of.append(rng.integers(0, bins, self.n, dtype=np.int64).astype(small))
        self.first.append(self.count + bins)

    def layer_of(self, number: int) -> int:
        """Return the layer of a bin."""
        return int(np.searchsorted(self.first, number, side="right")) - 1

    def bins_of(self, position: int) -> list[int]:
        """Return the bin of a position in each layer."""
        return [first + int(layer[position]) for first, layer in zip(self.first, self.bin_of, strict=False)]

    def holds(self, number: int, positions: Index) -> Any:
        """Return which positions are in a bin; those outside 0 … n − 1 are in none."""
        layer = self.layer_of(number)
        inside = (positions >= 0) & (positions < self.n)
        return inside & (self.bin_of[layer][np.where(inside, positions, 0)] == number - self.first[layer])

    def rows(self, layer: int, signatures: Array) -> Any:
        """Return the queries of a layer: those of its first bin, then of its second, …, as SciPy's CSR rows.

        Parameters
        ----------
        layer : int
            Which.
        signatures : (P, n) array
            Row p of a bin has the entries of ``signatures[p]`` at the positions of the bin, and 0 elsewhere.
        """
        from scipy.sparse import csr_array

        P, bins = len(signatures), self.first[layer + 1] - self.first[layer]
        order = np.argsort(self.bin_of[layer], kind="stable")
        sizes = np.bincount(self.bin_of[layer], minlength=bins)
        parts = np.split(order, np.cumsum(sizes)[:-1])
        indices = np.concatenate([np.tile(part, P) for part in parts]).astype(np.int32)
        data = np.concatenate([signatures[:, part].reshape(-1) for part in parts])
        ends = np.concatenate([[0], np.cumsum(np.repeat(sizes, P))])
        return csr_array((data, indices, ends), shape=(P * bins, self.n))

    def row(self, number: int, signatures: Array) -> Any:
        """Return the queries of one bin, as SciPy's CSR rows."""
        from scipy.sparse import csr_array

        layer = self.layer_of(number)
        inside = np.flatnonzero(self.bin_of[layer] == number - self.first[layer])
        P = len(signatures)
        data, ends = signatures[:, inside].reshape(-1), np.arange(P + 1) * len(inside)
        return csr_array((data, np.tile(inside, P), ends), shape=(P, self.n))

    def sums(self, layer: int, positions: Index, values: Array) -> Array:
        """Return the sum of values over the positions of each bin of a layer."""
        bins = self.first[layer + 1] - self.first[layer]
        return np.asarray(np.bincount(self.bin_of[layer][positions], weights=values, minlength=bins), dtype=np.float64)
