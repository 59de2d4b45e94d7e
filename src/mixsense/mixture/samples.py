"""Batches of samples: what they must be, and how many are worked on at a time."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixsense.arrays import Array
from mixsense.errors import InvalidInput

BLOCK = 2**16
"""Samples that are worked on at a time. Measured at T = 500: half and double are slower."""
LARGEST_SAMPLE = 1e150
"""Larger samples are refused. Derived: their squares overflow."""


def blocks(rows: NDArray[Any], models: int = 2) -> Iterator[slice]:
    """Return slices of rows that hold about `BLOCK` samples each, fewer where each is weighed for many means."""
    size = max(1, 2 * BLOCK // max(2, models) // rows.shape[1])
    return (slice(start, start + size) for start in range(0, len(rows), size))


def load(rows: NDArray[Any]) -> Array:
    """Return the rows of a block in double precision, contiguous."""
    return np.ascontiguousarray(rows, dtype=np.float64)


def as_batches(y: ArrayLike) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Check the samples; return them as (rows, T), not yet converted, and the shape of the leading axes."""
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise InvalidInput("y is ragged; batches of one length are needed: call once per length") from error
    if array.dtype.kind not in "iuf":
        raise InvalidInput(f"y holds {array.dtype}; real numbers are needed: convert it", dtype=array.dtype)
    if array.ndim == 0 or array.shape[-1] < 2 or array.size == 0:
        need = "at least 2 samples a batch, along the last axis, are needed: ask again"
        raise InvalidInput(f"y has shape {array.shape}; {need}", shape=array.shape)
    if not (array.min() >= -LARGEST_SAMPLE and array.max() <= LARGEST_SAMPLE):  # so written, nan fails too
        i = tuple(int(i) for i in np.argwhere(~((array >= -LARGEST_SAMPLE) & (array <= LARGEST_SAMPLE)))[0])
        need = f"finite numbers up to {LARGEST_SAMPLE:g} are needed: drop that answer or ask again"
        raise InvalidInput(f"y{list(i)} is {array[i]}; {need}", position=i)
    return array.reshape(-1, array.shape[-1]), array.shape[:-1]


def as_noise(sigma: ArrayLike, rows: NDArray[Any], shape: tuple[int, ...]) -> Array:
    """Check sigma; return one for each row."""
    array = np.asarray(sigma)
    if array.dtype.kind not in "iuf" or not np.all((array > 0) & (array < np.inf)):
        need = "a finite positive number is needed: give the noise level"
        raise InvalidInput(f"sigma is {sigma!r}; {need}", sigma=sigma)
    try:
        each = np.broadcast_to(array, shape).reshape(-1).astype(np.float64)
    except ValueError:
        need = f"the batches have shape {shape}: give one number or one for each batch"
        raise InvalidInput(f"sigma has shape {array.shape}, but {need}", sigma=sigma) from None
    largest = max(abs(float(rows.min())), abs(float(rows.max())))
    if largest / LARGEST_SAMPLE > each.min():
        need = "give both in the same unit"
        raise InvalidInput(f"y reaches {largest:g}, too far beyond sigma = {each.min():g}: {need}", sigma=sigma)
    return each


def as_count(name: str, number: int) -> int:
    """Return a whole number of at least 1, or say what is needed."""
    try:
        count = 0 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        count = 0
    if count < 1:
        raise InvalidInput(f"{name} is {number!r}; a whole number is needed: give 1 or more", given=number)
    return count
