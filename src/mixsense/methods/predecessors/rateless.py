"""How Mixed-Coloring asks: layer after layer, until everything that was heard is explained."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.errors import ModelError
from mixsense.methods.paper.exact_values import EQUAL
from mixsense.methods.predecessors import tuning
from mixsense.methods.predecessors.found import Found
from mixsense.methods.verification.verify import verified
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Round, as_sparse, unlike


def layers_until_explained(
    found: Found, bins: int | None, rateless: bool, rng: np.random.Generator
) -> Method[Recovery]:
    """Ask the layers of the design and, if they may be more, further ones until the certificate is there."""
    design = found.design
    width = yield from _width(found, bins, rng)
    first = math.ceil(tuning.FIRST * design.layers) if rateless else design.layers
    yield from ask_layers(found, _sizes(width, len(found.layers), first), rng)
    most = math.ceil(tuning.PATIENCE * design.layers)
    while rateless and not found.finished and len(found.layers) < most:
        more = min(1 + len(found.layers) // tuning.HASTE, most - len(found.layers))
        yield from ask_layers(found, _sizes(width, len(found.layers), len(found.layers) + more), rng)
        yield from _ask_again(found)
    return (yield from verified(found.result(), found.problem, rng, as_sparse))


def _width(found: Found, bins: int | None, rng: np.random.Generator) -> Method[float]:
    """Return the bins of a layer; if nobody knows the number of coefficients, ask wider layers until one is thin."""
    design, n, k = found.design, found.problem.n, found.problem.k
    if bins is not None:
        return bins / design.layers
    if k is not None:
        return max(design.bins * found.models * k / design.layers, tuning.FEWEST_BINS)
    width = tuning.GUESS
    while True:
        yield from ask_layers(found, [min(width, n)], rng)
        if found.alone() >= tuning.SINGLES or width >= n:
            return float(min(width, n))
        width *= 2


def _sizes(width: float, begin: int, end: int) -> list[int]:
    """Return the bins of some layers, which are `width` on average."""
    ends = np.rint(width * np.arange(begin, end + 1)).astype(int)
    sizes: list[int] = np.maximum(np.diff(ends), 1).tolist()
    return sizes


def _ask_again(found: Found) -> Method[None]:
    """With noise: ask the few bins again that no colour explains; a mean may have been misread."""
    if not found.problem.sigma or len(found.decoded.colours) < found.models:
        return
    bins = sorted({found.measured[number].bin for number in found.decoded.unexplained})
    if not bins or len(bins) > tuning.MISREAD * found.layers.count:
        return
    signatures = found.code.signatures
    rows = [found.layers.row(number, signatures) for number in bins]
    answers = yield from _ask(rows, found.design.repeats, f"{len(bins)} bins again", found)
    found.replace(bins, answers.reshape(len(bins), len(signatures), -1))


def ask_layers(found: Found, sizes: list[int], rng: np.random.Generator) -> Method[None]:
    """Ask further layers, with these numbers of bins, in rounds that fit into memory."""
    signatures = found.code.signatures
    at_once = max(1, tuning.ENTRIES // signatures.size)
    for start in range(0, len(sizes), at_once):
        some = sizes[start : start + at_once]
        for bins in some:
            found.layers.add(bins, rng)
        numbers = range(len(found.layers) - len(some), len(found.layers))
        known = len(found.answers) > 0
        asked = yield from _ask(
            [found.layers.rows(number, signatures) for number in numbers],
            found.design.repeats,
            f"bins {found.layers.first[numbers[0]]} to {found.layers.count - 1}",
            found if known else None,
        )
        for number in numbers:
            bins = found.layers.first[number + 1] - found.layers.first[number]
            part, asked = asked[: bins * len(signatures)], asked[bins * len(signatures) :]
            found.take(part.reshape(bins, len(signatures), -1))


def _ask(rows: list[Any], repeats: int, label: str, found: Found | None) -> Method[Array]:
    """Ask sparse rows, and return the (rows, repeats) answers; queries that were changed on their way are refused."""
    from scipy.sparse import vstack

    sent = rows[0] if len(rows) == 1 else vstack(rows, format="csr")
    estimate = None if found is None else (lambda: found.result("budget"))
    round_ = Round(sent, repeats, label=label, estimate=estimate)
    asked = yield round_
    if asked.vectors.shape != sent.shape or unlike(asked.vectors, round_.queries, EQUAL).any():
        raise ModelError(
            "the queries were changed on their way (rounded, or cut to a range): Mixed-Coloring needs its own; use "
            "method='frugal'"
        )
    return asked.table()
