"""Messages in the words of the command line: the library names arguments, as one writes them in Python.

Commands show every text of the library through `spoken`, which turns ``models="auto"`` into ``--models auto`` where the
command has that option and, where a file says it, into ``models = "auto"``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

FILE = "file"
"""Stands among the options of a command that reads its problem from a TOML file."""

_options: frozenset[str] = frozenset()
"""The options of the command that runs."""


class Pattern(NamedTuple):
    """How one way of writing an argument in Python is said otherwise."""

    python: str
    """What is looked for, a regular expression."""
    option: Callable[[re.Match[str]], tuple[str, str]]
    """The option that has to be there, and the text with it."""
    file: Callable[[re.Match[str]], str]
    """The text where a TOML file says it."""


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _rating(found: re.Match[str]) -> str:
    return ":".join(part.upper() for part in found["ends"].split(", "))


def _rating_in_file(found: re.Match[str]) -> str:
    low, high, *step = found["ends"].split(", ")
    return f'[answers] with scale = "rating", range = [{low}, {high}]' + (f", step = {step[0]}" if step else "")


_TEXT = r"\b(?P<name>[a-z_]+)=(?P<quote>[\"'])(?P<value>\w+)(?P=quote)"
_SCALES = r'ms\.Rating\(1, 7\), ms\.Probability\(\), or a dict such as \{"scale": [^}]*\}'

PATTERNS = (
    Pattern(
        _SCALES,
        lambda m: ("--scale", "--scale rating=1:7, or --scale probability"),
        lambda m: '[answers] with scale = "rating" and range = [1, 7], or with scale = "probability"',
    ),
    Pattern(
        r"(?:scale=)?ms\.Rating\((?P<ends>[^)]*)\)",
        lambda m: ("--scale", f"--scale rating={_rating(m)}"),
        _rating_in_file,
    ),
    Pattern(
        r"(?:scale=)?ms\.Probability\(\)",
        lambda m: ("--scale", "--scale probability"),
        lambda m: '[answers] with scale = "probability"',
    ),
    Pattern(
        r"\bbox=\[\(low, high\), \.\.\.\]",
        lambda m: ("--box", "--box LOW:HIGH"),
        lambda m: "range = [low, high] of each feature",
    ),
    Pattern(
        r"\b(?P<name>intercept|lapses)=True\b",
        lambda m: (_flag(m["name"]), _flag(m["name"])),
        lambda m: f"{m['name']} = true",
    ),
    Pattern(r'\bdesign="steps"', lambda m: ("--method", "--option design=steps"), lambda m: 'design = "steps"'),
    Pattern(
        _TEXT,
        lambda m: (_flag(m["name"]), f"{_flag(m['name'])} {m['value']}"),
        lambda m: f'{m["name"]} = "{m["value"]}"',
    ),
    Pattern(r"\bstep=1\b", lambda m: ("--option", "--option step=1"), lambda m: "step = 1"),
    Pattern(r"\bgamma=None\b", lambda m: ("--gamma", "--gamma none"), lambda m: 'gamma = "none"'),
    Pattern(
        r"\b(?P<name>models|sigma|gamma|block)=(?P<value>[\d.]*\d)",
        lambda m: (_flag(m["name"]), f"{_flag(m['name'])} {m['value']}"),
        lambda m: f"{m['name']} = {m['value']}",
    ),
    Pattern(r"(?<![-\w])max_queries\b", lambda m: ("--max-queries", "--max-queries"), lambda m: "max_queries"),
)
"""What is turned, in this order."""
TWICE = (
    (re.compile(r"\b\w+=[^\s(]+ \((--[^)]+)\)"), r"\1"),
    (re.compile(r"(--[\w-]+) \(\w+=\w+\)"), r"\1"),
    (re.compile(r"\(\w+=\w+, (--[\w-]+)\)"), r"(\1)"),
)
"""Where a text has both, as ``force=True (--force)``, the option is kept."""


def speak_of(options: Iterable[str]) -> None:
    """Say which options the command has that runs now: no others are named."""
    global _options
    _options = frozenset(options)


def spoken(text: str) -> str:
    """Return a text of the library in the words of the command that runs.

    Examples
    --------
    >>> speak_of(["--models", "--scale"])
    >>> spoken('give models="auto", or scale=ms.Rating(1, 7); or intercept=True')
    'give --models auto, or --scale rating=1:7; or intercept=True'
    >>> speak_of([FILE])
    >>> spoken('give models="auto", or scale=ms.Rating(1, 7); or intercept=True')
    'give models = "auto", or [answers] with scale = "rating", range = [1, 7]; or intercept = true'
    >>> speak_of([])
    """
    if not _options:
        return text
    for both, option in TWICE:
        text = both.sub(option, text)
    for pattern in PATTERNS:
        text = re.sub(pattern.python, lambda found, of=pattern: _said(of, found), text)  # type: ignore[misc]
    return text


def _said(pattern: Pattern, found: re.Match[str]) -> str:
    needed, text = pattern.option(found)
    if needed in _options:
        return text
    return pattern.file(found) if FILE in _options else found[0]
