"""What an audit asks of an endpoint: read from the options of the command line and from a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mixsense.cli.oracle import KINDS
from mixsense.cli.study_file import read_study_file
from mixsense.errors import InvalidInput
from mixsense.methods.registry import entry_of
from mixsense.problem import DEFAULTS

NOT_IN_FILE = (*KINDS, "hosts")
"""Who is asked, only the command line decides."""
IN_FILE = tuple(
    dict.fromkeys(name for kind in KINDS.values() if kind.audited for name in kind.settings if name not in NOT_IN_FILE)
)
"""What the table [endpoint] in the TOML file may hold."""


def read_audit_file(path: Path) -> dict[str, Any]:
    """Return what the TOML file of an audit says, its table [endpoint] checked."""
    given = read_study_file(path)
    if "notes" in given:
        raise InvalidInput(f"{path}: 'notes' does not belong here: an audit notes itself whom it asks")
    endpoint = given.get("endpoint", {})
    if not isinstance(endpoint, dict):
        raise InvalidInput(f"{path}: endpoint is {endpoint!r}: give a table [endpoint] with body, answer, …")
    for key in endpoint:
        if key not in IN_FILE:
            hint = "give it on the command line" if key in NOT_IN_FILE else f"it takes {', '.join(IN_FILE)}"
            raise InvalidInput(f"{path}: [endpoint] has {key!r}: {hint}")
    return given


def headers_of(lines: list[str] | None) -> dict[str, str] | None:
    """Return the headers that --header gives, NAME=env:VARIABLE each."""
    found = {}
    for line in lines or ():
        name, equals, value = line.partition("=")
        if not equals:
            raise InvalidInput("a --header has no '=': give NAME=env:VARIABLE, e.g. Authorization=env:TOKEN")
        found[name.strip()] = value.strip()
    return found or None


def problem_of(
    given: dict[str, Any], n: int | None, features: str | None, box: list[str] | None, intercept: bool
) -> dict[str, Any]:
    """Return the arguments of `create_study` that say what is asked, from the file and the options."""
    names = None if features is None else [part.strip() for part in features.split(",")]
    if given and (n is not None or names is not None):
        raise InvalidInput("--config says which features there are: leave out --n and --features")
    if not given:
        if (n is None) == (names is None):
            raise InvalidInput("say how many inputs the endpoint has: give --n, --features a,b,c, or --config")
        given = {"n": n if names is None else len(names), "features": names}
    if box:
        given["box"] = box_of(box, given["n"], given.get("features"), given.get("box"))
    if intercept:
        given["intercept"] = True
    method = given.get("method", DEFAULTS["method"])
    return {"weights": "estimate"} | given if entry_of(method).estimates_weights else given


def box_of(parts: list[str], n: int, names: list[str] | None, before: Any) -> list[tuple[float, float]]:
    """Return the range of every input: --box over what the file says."""
    ranges: list[Any] = list(before) if before else [None] * n
    for part in parts:
        name, equals, text = part.rpartition("=")
        try:
            low, high = (float(number) for number in text.split(":"))
        except ValueError:
            raise InvalidInput(f"--box is {part!r}: give low:high such as 0:10, or name=low:high") from None
        if equals and name not in (names or ()):
            raise InvalidInput(f"--box is {part!r}, but no feature is named {name!r}: give --features")
        for j in [names.index(name)] if equals and names else range(n):
            ranges[j] = (low, high)
    if None in ranges:
        missing = names[ranges.index(None)] if names else f"x{ranges.index(None)}"
        raise InvalidInput(f"--box gives no range for {missing!r}: give one for each feature, or one for all")
    return ranges
