"""The options that several commands share: each with its name and its help once, and its default from `Problem`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from mixsense.checks import shown
from mixsense.errors import InvalidInput
from mixsense.problem import ANY, ARGUMENTS, AUTO, DEFAULTS, EQUAL, ESTIMATE, MOST_MODELS, NONE, TYPICAL
from mixsense.scales import scale_of

DEFAULT_DB = "mixsense.db"
DEFAULT_GAMMA = str(DEFAULTS["gamma"])


def _option(name: str, text: str) -> Callable[..., Any]:
    """Return a function that makes an option of the default that its help shows."""
    return lambda default=True: typer.Option(name, help=text, show_default=default)


_n = _option("--n", "Length of the vectors: the number of inputs that the oracle has.")
_k = _option("--k", "How many coefficients of each vector matter.")
_gamma = _option("--gamma", f"Precision to stop at: a number, or {NONE} to spend all of --max-queries.")
_models = _option(
    "--models", f"How many models there are: 1 to {MOST_MODELS}, or {AUTO} for as many as the answers support."
)
_weights = _option("--weights", f"Shares of the models, as 0.5,0.3,0.2, or {EQUAL}, or {ESTIMATE}.")
_promise = _option("--promise", f"What a certificate is about: {ANY} vectors, or {TYPICAL} ones (fewer answers).")
_scale = _option(
    "--scale", "What an answer is: rating=LOW:HIGH, rating=LOW:HIGH:STEP, probability, or probability=DIGITS."
)

# The problem.
N = Annotated[int, _n()]
OptionalN = Annotated[int | None, _n()]
NUnlessSimulated = Annotated[int | None, _n("100 with --simulate, else none")]
K = Annotated[int, _k()]
OptionalK = Annotated[int | None, _k()]
Gamma = Annotated[str, _gamma()]
GammaOverFile = Annotated[str | None, _gamma(f"{DEFAULT_GAMMA}, or what the file says")]
Sigma = Annotated[float | None, typer.Option(help="Noise of the answers.", show_default="measured")]
Eta = Annotated[float, typer.Option(help="Allowed probability of failure.")]
Models = Annotated[str, _models()]
ModelsOverFile = Annotated[str | None, _models(f"{AUTO}, or what the file says")]
Weights = Annotated[str | None, _weights("estimated; equal for the paper's methods")]
WeightsOverFile = Annotated[str | None, _weights("estimated, or what the file says")]
Promise = Annotated[str, _promise()]
PromiseOverFile = Annotated[str | None, _promise(f"{ANY}, or what the file says")]
Scale = Annotated[str | None, _scale("a real number")]
ScaleOverFile = Annotated[str | None, _scale("a real number, or what the file says")]
MaxQueries = Annotated[int | None, typer.Option(help="Hard limit on the number of answers.")]
Gap = Annotated[float, typer.Option(help="Distance ‖β¹ − β²‖ of the two vectors; the mean one if there are more.")]
Seed = Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")]
SeedOverFile = Annotated[
    int | None, typer.Option(help="Seed of the queries.", show_default="drawn and stored, or what the file says")
]

# Who is asked.
Command = Annotated[
    str | None, typer.Option(help='Ask this program: a JSON query {"id": …, "x": […]} a line in, a number a line out.')
]

# Studies.
Db = Annotated[
    str,
    typer.Option("--db", envvar="MIXSENSE_DB", help="sqlite:///tea.db, a file's name, or postgresql://user@host/db."),
]
StudyName = Annotated[str, typer.Argument(help="Name of the study.")]

# How it runs, and what it writes.
Jobs = Annotated[int | None, typer.Option(help="Number of processes.", show_default="all cores")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Out = Annotated[Path | None, typer.Option(help="Write the result as JSON to this file, too.")]
Html = Annotated[Path | None, typer.Option(help="Write the result as a page for people to this file, too.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the recovered vectors to this picture.")]


def precision(text: str | None) -> float | None:
    """Return the precision that --gamma gives; None spends the budget.

    Examples
    --------
    >>> precision("0.2"), precision("none")
    (0.2, None)
    """
    if text is None or text == NONE:
        return None
    try:
        return float(text)
    except ValueError:
        hint = f"give a number such as 0.1, or {NONE} to spend --max-queries"
        raise InvalidInput(f"--gamma is {text!r}: {hint}") from None


def number_of_models(text: str | None) -> int | str | None:
    """Return the number of models that --models gives; a problem checks its size.

    Examples
    --------
    >>> number_of_models("3"), number_of_models("auto")
    (3, 'auto')
    """
    if text is None or text == AUTO:
        return text
    return whole_number("--models", text, f"a number from 1 to {MOST_MODELS}, or {AUTO}")


def whole_number(option: str, text: str, needed: str) -> int:
    """Return the whole number that an option gives; its range is for others to check.

    Examples
    --------
    >>> whole_number("--block", "8", "a number, or auto")
    8
    """
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"{option} is {text!r}: give {needed}") from None


def named_options(parts: list[str]) -> dict[str, Any]:
    """Return the options that --option gives, as NAME=VALUE; a value is JSON, and what is not JSON is text.

    Examples
    --------
    >>> named_options(["answers=50", "width=0.5", "fast=true", "start=lasso"])
    {'answers': 50, 'width': 0.5, 'fast': True, 'start': 'lasso'}
    """
    found: dict[str, Any] = {}
    for part in parts:
        name, equals, text = part.partition("=")
        if not name.isidentifier() or not equals:
            raise InvalidInput(f"--option is {part[:60]!r}: give NAME=VALUE, e.g. answers=50")
        if name in ARGUMENTS:
            raise InvalidInput(f"--option {name} is not an option of a method: see mixsense recover --help")
        if name in found:
            raise InvalidInput(f"--option {name} is given twice: give it once")
        try:
            found[name] = json.loads(text, parse_constant=str)
        except ValueError:
            found[name] = text
        except RecursionError:
            raise InvalidInput(f"--option {name} is nested too deeply: give less") from None
    return found


def shares(text: str | None) -> list[float] | str | None:
    """Return the shares that --weights gives.

    Examples
    --------
    >>> shares("0.7,0.3"), shares("equal")
    ([0.7, 0.3], 'equal')
    """
    if text in (None, EQUAL, ESTIMATE):
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"--weights is {text!r}: give shares such as 0.5,0.3,0.2, or {EQUAL}, or {ESTIMATE}"
        ) from None


def scale_told(text: str | None) -> dict[str, Any] | None:
    """Return the scale that --scale gives, in the words of a study's table [answers]; None if it is left out.

    Examples
    --------
    >>> scale_told("rating=1:7"), scale_told("rating=0:10:0.5")["step"], scale_told("probability")
    ({'scale': 'rating', 'range': [1.0, 7.0], 'step': 1.0}, 0.5, {'scale': 'probability'})
    """
    if text is None:
        return None
    name, equals, rest = text.partition("=")
    parts = rest.split(":") if equals else []
    hint = "give rating=1:7, rating=0:10:0.5, probability, or probability=2; leave it out for real numbers"
    wanted = {"rating": (2, 3), "probability": (0, 1), "real": (0,)}
    if len(parts) not in wanted.get(name, ()):
        raise InvalidInput(f"--scale is {shown(text)}: {hint}")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        raise InvalidInput(f"--scale is {shown(text)}: {hint}") from None
    given: dict[str, Any] = {"scale": name}
    if name == "rating":
        given |= {"range": numbers[:2], "step": numbers[2] if len(numbers) > 2 else 1.0}
    elif numbers:
        given["digits"] = int(numbers[0]) if numbers[0].is_integer() else numbers[0]
    scale = scale_of(given)
    return {"scale": "real"} if scale is None else scale.to_dict()
