"""A method that thinks in coded units, made to ask in the user's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.features.units import Units
from mixsense.recovery import Recovery
from mixsense.recovery.uses import HALF_RANGES, MIDDLES
from mixsense.rounds.rewritten import rewritten
from mixsense.rounds.round import Method, Round
from mixsense.rounds.vectors import dense


def in_units(method: Method[Recovery], units: Units, scale: Array, shift: Array, gain: float = 1.0) -> Method[Recovery]:
    """Run a method whose queries z are in coded units: it asks x = shift + scale ∘ z.

    The vectors come back divided by scale, and the error bound times `gain`. The method is told the queries as they
    were asked, rounded into the user's units, so that a store of those is all that is needed to play it back.
    """

    def back(r: Recovery) -> Recovery:
        story = {**r.diagnostics, "error_bound_of": "the effects of half of each feature's range"}
        story |= {HALF_RANGES: units.half.tolist(), MIDDLES: units.middle.tolist()}
        told: dict[str, Any] = {"vectors": r.vectors / scale, "stderr": None if r.stderr is None else r.stderr / scale}
        if r.interval is not None:
            told["interval"] = r.interval / scale[:, None]
        if r.covariance is not None:
            sizes = scale if r.intercept is None else np.append(scale, 1.0)
            told["covariance"] = r.covariance / np.outer(sizes, sizes)
        return replace(r, **told, error_bound=r.error_bound * gain, diagnostics=story)

    def sent(coded: Round) -> Round:
        x = units.allowed(shift + scale * dense(coded.queries))  # against rounding only: the method knows the box
        return replace(coded, queries=x)

    return rewritten(method, back, sent, told=lambda asked: asked.moved(lambda x: (x - shift) / scale))
