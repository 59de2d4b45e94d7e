"""What an audit asks, and whom: read from the options of the command line and from a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixsense.cli.study import read_plan
from mixsense.errors import InvalidInput
from mixsense.methods.registry import entry_of
from mixsense.problem import DEFAULTS

if TYPE_CHECKING:
    from mixsense.oracles.command import CommandOracle
    from mixsense.oracles.http import HTTPOracle

ENDPOINT = ("body", "answer", "headers", "rate", "concurrency", "timeout", "retries", "limit", "fresh")
"""What [endpoint] in the TOML file may hold. Who is asked, only the command line decides."""


def make_oracle(endpoint: dict[str, Any], features: list[str] | None) -> HTTPOracle | CommandOracle:
    """Return the oracle that is described: `url` or `command`, and what [endpoint] may hold."""
    endpoint = dict(endpoint)
    if ("url" in endpoint) == ("command" in endpoint):
        raise InvalidInput("give the address of the endpoint, or --command with a program: one of the two")
    if "command" in endpoint:
        from mixsense.oracles.command import CommandOracle

        for key in endpoint:
            if key not in ("command", "body", "answer", "timeout", "concurrency"):
                raise InvalidInput(f"{key!r} does not go with a program: leave it out")
        endpoint.pop("concurrency", None)
        return CommandOracle(**endpoint, features=features)
    from mixsense.oracles.http import HTTPOracle

    return HTTPOracle(**endpoint, features=features)


def read_config(path: Path) -> dict[str, Any]:
    """Return what the TOML file of an audit says, its table [endpoint] checked."""
    plan = read_plan(path)
    if not isinstance(plan.get("endpoint", {}), dict):
        raise InvalidInput(f"{path}: endpoint is {plan['endpoint']!r}: give a table [endpoint] with body, answer, …")
    for key in plan.get("endpoint", {}):
        if key not in ENDPOINT:
            hint = (
                "give it on the command line"
                if key in ("url", "command", "hosts")
                else f"it takes {', '.join(ENDPOINT)}"
            )
            raise InvalidInput(f"{path}: [endpoint] has {key!r}: {hint}")
    return plan


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
    plan: dict[str, Any], n: int | None, features: str | None, box: list[str] | None, intercept: bool
) -> dict[str, Any]:
    """Return the arguments of `create_study` that say what is asked, from the file and the options."""
    names = None if features is None else [part.strip() for part in features.split(",")]
    if plan and (n is not None or names is not None):
        raise InvalidInput("--config says which features there are: leave out --n and --features")
    if not plan:
        if (n is None) == (names is None):
            raise InvalidInput("say how many inputs the endpoint has: give --n, --features a,b,c, or --config")
        plan = {"n": n if names is None else len(names), "features": names}
    if box:
        plan["box"] = box_of(box, plan["n"], plan.get("features"), plan.get("box"))
    if intercept:
        plan["intercept"] = True
    method = plan.get("method", DEFAULTS["method"])
    return {"weights": "estimate"} | plan if entry_of(method).estimates_weights else plan


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


def shares(text: str | None) -> list[float] | str | None:
    """Return the shares that --weights gives.

    Examples
    --------
    >>> shares("0.7,0.3"), shares("estimate")
    ([0.7, 0.3], 'estimate')
    """
    if text is None or text == "estimate":
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(f"--weights is {text!r}: give two shares such as 0.7,0.3, or estimate") from None
