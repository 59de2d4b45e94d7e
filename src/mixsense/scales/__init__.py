"""Scales: how answers are made of the linear value, and what one answer tells about it.

A real number is the linear value plus noise, and needs no scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixsense.checks import shown
from mixsense.errors import InvalidInput
from mixsense.scales.lapses import Lapses
from mixsense.scales.probability import Probability
from mixsense.scales.rating import Rating
from mixsense.scales.scale import Scale

__all__ = ["Probability", "Rating", "law_of", "scale_of", "told_of_noise"]

HINT = (
    'give ms.Rating(1, 7), ms.Probability(), or a dict such as {"scale": "rating", "range": [1, 7], "step": 1}; leave '
    "it out for real numbers"
)
TAKES = {"real": set[str](), "rating": {"range", "step"}, "probability": {"digits"}}
"""What the dict of each scale has besides its name."""


def scale_of(given: Any) -> Rating | Probability | None:
    """Return a scale: as it is, or from its name, or from the dict that `to_dict` makes; None for real numbers.

    Examples
    --------
    >>> scale_of({"scale": "rating", "range": [1, 7]})
    Rating(low=1.0, high=7.0, step=1.0)
    >>> scale_of("probability")
    Probability(digits=None)
    """
    if given is None or isinstance(given, (Rating, Probability)):
        return given
    values: Any = {"scale": given} if isinstance(given, str) else given
    name = values.get("scale") if isinstance(values, Mapping) else None
    if not isinstance(values, Mapping) or not isinstance(name, str) or name not in TAKES:
        raise InvalidInput(f"scale is {shown(given)}: {HINT}", scale=given)
    if strange := {*values} - TAKES[name] - {"scale"}:
        raise InvalidInput(f"the scale {name!r} has no {shown(min(map(str, strange)))}: {HINT}", scale=given)
    if name == "real":
        return None
    if name == "probability":
        return Probability(values.get("digits"))
    ends = values.get("range")
    if isinstance(ends, (str, bytes)) or not isinstance(ends, (list, tuple)) or len(ends) != 2:
        raise InvalidInput(f"the range of a rating is {shown(ends)}: give its ends, such as [1, 7]", scale=given)
    return Rating(ends[0], ends[1], values.get("step", 1.0))


def told_of_noise(law: Scale | None, scale: Scale | None) -> dict[str, Any]:
    """Return what diagnostics tell of the scale of the answers and of lapses, if there are any; `law_of` reads it.

    Parameters
    ----------
    law : Scale or None
        What was fitted: the scale, with lapses if there are any.
    scale : Scale or None
        The scale that was given.
    """
    told: dict[str, Any] = {"lapses": law.share, "lapse_width": law.width} if isinstance(law, Lapses) else {}
    return told if scale is None else {**told, "scale": scale.to_dict()}


def law_of(told: Mapping[str, Any]) -> Rating | Probability | Lapses | None:
    """Return the scale that diagnostics tell of, with lapses if there are any; None for real numbers.

    Examples
    --------
    >>> law_of({"scale": {"scale": "probability"}}), law_of({"lapses": 0.1, "lapse_width": 5.0})
    (Probability(digits=None), Lapses(share=0.1, width=5.0, inner=None))
    """
    scale, share, width = scale_of(told.get("scale")), told.get("lapses"), told.get("lapse_width")
    if not isinstance(share, (int, float)) or not isinstance(width, (int, float)):
        return scale
    return Lapses(float(share), float(width), scale) if 0 < share < 1 and width > 0 else scale
