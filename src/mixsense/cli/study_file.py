"""The TOML file that says what a study asks; an audit has the same, with a table for the endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mixsense.checks import shown
from mixsense.errors import InvalidInput
from mixsense.features.kinds import KINDS, YES_NO, Number
from mixsense.toml_file import read_toml

FIELDS = {"name", "unit", "range", "kind"}
"""What a table [[features]] may hold."""


def study_name(option: str | None, in_file: Any, otherwise: str) -> Any:
    """Return the name of a study: that of the option, else that of the file; an empty one is for others to refuse."""
    return next(name for name in (option, in_file, otherwise) if name is not None)


def read_study_file(path: Path) -> dict[str, Any]:
    """Return the arguments of `create_study` that a TOML file gives."""
    given = read_toml(path, "docs/studies.md")
    for own in ("url", "box", "units"):
        if own in given:
            raise InvalidInput(f"{path}: {own!r} does not belong here: give ranges and units in [[features]]")
    if isinstance(given.get("answers"), dict):  # else it may be an option of a method
        given["scale"] = _answers(given.pop("answers"), path)
    features = given.pop("features", None)
    if features is not None:
        found = _features(features, path)
        if given.get("n", found["n"]) != found["n"]:
            raise InvalidInput(
                f"{path}: n is {shown(given['n'])}, and there are {found['n']} [[features]]: leave n out, or list them "
                "all"
            )
        given.update(found)
    if "n" not in given:
        raise InvalidInput(f"{path} says nothing about the features: give [[features]] with name and range, or n")
    return given


def _answers(answers: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the scale that a table [answers] gives."""
    hint = 'give [answers] with scale = "rating", range = [1, 7] and step = 1, or scale = "probability"'
    if "scale" not in answers:
        raise InvalidInput(f"{path}: answers is {shown(answers)}: {hint}")
    return answers


def _kinds() -> str:
    """Say which kinds a feature may have."""
    return "kind = " + ", ".join(f'"{kind}"' for kind in KINDS) + f' or "{YES_NO}" (which needs no range)'


def _features(features: Any, path: Path) -> dict[str, Any]:
    hint = f"give each feature as [[features]] with name, and unit, range = [low, high] and {_kinds()} if wanted"
    if not isinstance(features, list) or not features:
        raise InvalidInput(f"{path}: features is {shown(features)}: {hint}")
    for feature in features:
        if not isinstance(feature, dict) or "name" not in feature or not {*feature} <= FIELDS:
            raise InvalidInput(f"{path}: a feature is {shown(feature)}: {hint}")
    if strange := [feature for feature in features if feature.get("kind", Number.kind) not in (*KINDS, YES_NO)]:
        name, kind = strange[0]["name"], strange[0]["kind"]
        raise InvalidInput(f"{path}: the kind of feature {shown(name)} is {shown(kind)}: give {_kinds()}")
    ranges = [feature["range"] for feature in features if "range" in feature]  # [] or 0 is one, for others to refuse
    kinds = any("kind" in feature for feature in features)
    missing = [feature["name"] for feature in features if "range" not in feature and feature.get("kind") != YES_NO]
    if missing and (ranges or kinds):
        why = (
            "others have: give each one, or none" if ranges else "and a kind is given: give range = [low, high] of each"
        )
        raise InvalidInput(f"{path}: feature {shown(missing[0])} has no range, {why}")
    if kinds:
        return {"n": len(features), "features": features}
    return {
        "n": len(features),
        "features": [feature["name"] for feature in features],
        "units": [feature.get("unit", "") for feature in features],
        "box": ranges or None,
    }
