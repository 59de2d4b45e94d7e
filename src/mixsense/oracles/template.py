"""What is sent and what is read: a JSON body with placeholders, and the path of the number in the answer."""

from __future__ import annotations

import hashlib
import json
import math
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mixsense.arrays import Array
from mixsense.checks import counted, is_unicode, one_line, shown
from mixsense.errors import InvalidInput, OracleError
from mixsense.features.kinds import Feature, case_of, features_of
from mixsense.features.units import feature_names
from mixsense.oracles.likely_secrets import ENV, check_plain
from mixsense.oracles.queries import PLACEHOLDERS
from mixsense.oracles.secrets import Secrets
from mixsense.rounds import LARGEST_ANSWER

_ONE = re.compile(r"\$x\[(\d{1,9})\]")
_STEP = re.compile(r'\.?([^.\[\]"]+)|\[(\d{1,9})\]|\["([^"]*)"\]')


class Body:
    """A JSON body in which placeholders stand for the query.

    A placeholder is a whole JSON string: ``"$x"`` becomes the list of numbers, ``"$x[0]"`` the first of them,
    ``"$nonzero"`` the list of [position, number] of those that are not 0, ``"$features"`` the object name → number,
    ``"$features.strength"`` one number by its name, ``"$id"`` a fresh random id (a new caller at every question). A
    text that begins with a dollar is written ``"$$…"``.

    Parameters
    ----------
    template, features : str, dict or list; sequence of str, Number or Integer, optional
        JSON text, or the structure itself; names of the query's entries, in their order. An `Integer` is sent as a
        whole number.
    secrets : Secrets, optional
        Where the values of the environment are kept: ``env:NAME`` in a text of the body stands for the environment
        variable NAME, filled in when the body is sent, and never shown. What looks like a secret in plain is refused.

    Examples
    --------
    >>> import numpy as np
    >>> Body('{"inputs": "$x", "version": 2}').fill(np.array([0.5, -1.0]))
    b'{"inputs": [0.5, -1.0], "version": 2}'
    >>> Body({"tea": "$features"}, ["milk", "sugar"]).fill(np.array([0.5, -1.0]))
    b'{"tea": {"milk": 0.5, "sugar": -1.0}}'
    >>> Body({"milk": "$x[0]"}, ["milk", "sugar"])
    Traceback (most recent call last):
    ...
    mixsense.errors.InvalidInput: the body never sends 'sugar': add "$features.sugar", or send all with "$features"
    """

    def __init__(
        self, template: Any, features: Sequence[str | Feature] | None = None, secrets: Secrets | None = None
    ) -> None:
        self._secrets = Secrets() if secrets is None else secrets
        self.features = None if features is None else feature_names(len(features), features)
        self._kinds = features_of(features)
        if isinstance(template, (str, bytes)):
            template = _template(template)
        try:
            text = json.dumps(template, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"the body cannot be written as JSON ({error}): give text, numbers, lists") from None
        if not is_unicode(text):
            raise InvalidInput("the body holds half a character (a lone surrogate), which is not UTF-8: leave it out")
        self._template = template
        self._sent: set[int] = set()
        self._whole = self.private = False
        check_plain(template)
        for text in _texts(template):
            self._read(text)
        if not self._whole and not self._sent:
            raise InvalidInput(
                f"the body {one_line(json.dumps(template), 120)} has no place for the query: use {PLACEHOLDERS}"
            )
        if self.features is not None:
            self.check(len(self.features))

    def check(self, n: int) -> None:
        """Refuse queries of length n if the body does not send each of their entries."""
        names = self.features
        if names is not None and n != len(names):
            raise InvalidInput(f"the queries have {n} numbers, but there are {len(names)} features: give {n} names")
        if self._sent and max(self._sent) >= n:
            raise InvalidInput(f'the body sends "$x[{max(self._sent)}]", but a query has {n} numbers: count from 0')
        for j in range(n) if not self._whole else ():
            if j not in self._sent:
                name, word = (names[j], f'"$features.{names[j]}"') if names else (f"x[{j}]", f'"$x[{j}]"')
                every = '"$features"' if names else '"$x"'
                raise InvalidInput(f"the body never sends {name!r}: add {word}, or send all with {every}")

    @property
    def named(self) -> bool:
        """Whether the body is an object with ``"id": "$id"``, which an answer may repeat."""
        return isinstance(self._template, dict) and self._template.get("id") == "$id"

    def fill(self, x: Array, name: str | None = None) -> bytes:
        """Return the body for one query, (n,); `name` is its id, a fresh one if left out."""
        numbers = (x + 0.0).tolist()  # -0.0 is sent as 0.0
        if self._kinds:
            numbers = list(case_of(self._kinds, numbers).values())
        filled = self._filled(self._template, numbers, uuid.uuid4().hex if name is None else name)
        return json.dumps(filled, ensure_ascii=False).encode()

    def _read(self, text: str) -> None:
        if ENV.search(text):
            self.private = True
            self._secrets.fill(text)  # what is not set is said now
        elif text.startswith("$") and not text.startswith("$$") and text != "$id":
            found = self._entry(text)
            if found is None:
                self._whole = True
            else:
                self._sent.add(found)

    @property
    def fingerprint(self) -> str:
        """What tells this body from another one, and can be stored: a hash of the template, without any secret."""
        return hashlib.sha256(json.dumps(self._template, sort_keys=True).encode()).hexdigest()[:16]

    def _entry(self, word: str) -> int | None:
        """Return which entry of the query a placeholder stands for; None for all of them."""
        if word in ("$x", "$nonzero") or (word == "$features" and self.features):
            return None
        one = _ONE.fullmatch(word)
        if one:
            return int(one[1])
        if word.startswith("$features") and not self.features:
            raise InvalidInput(f"the body has {word!r}, but there are no feature names: give features, or use $x")
        name = word.removeprefix("$features.")
        if self.features and word.startswith("$features."):
            if name in self.features:
                return self.features.index(name)
            known = one_line(", ".join(self.features), 200)
            raise InvalidInput(f"the body has {word!r}, but no feature is named {name!r}; there are: {known}")
        raise InvalidInput(
            f"the body has {word!r}, which is not a placeholder: use {PLACEHOLDERS}, or {'$' + word!r} for text"
        )

    def _filled(self, node: Any, numbers: list[float], name: str) -> Any:
        if isinstance(node, dict):
            return {key: self._filled(value, numbers, name) for key, value in node.items()}
        if isinstance(node, (list, tuple)):
            return [self._filled(value, numbers, name) for value in node]
        if not isinstance(node, str):
            return node
        if not node.startswith("$") or node.startswith("$$") or ENV.search(node):
            return self._secrets.fill(node[1:] if node.startswith("$$") else node)
        if node == "$id":
            return name
        entry = self._entry(node)
        if entry is not None:
            return numbers[entry]
        if node == "$nonzero":
            return [[j, number] for j, number in enumerate(numbers) if number]
        return numbers if node == "$x" or not self.features else dict(zip(self.features, numbers, strict=True))


class Answer:
    """Where the number is in a JSON answer.

    Parameters
    ----------
    path : str
        Names and indices, such as ``result.score``, ``outputs[0]`` or ``["a.b"][2]``. An empty path: the answer is
        the number.
    show : callable
        How what came is shown in messages: (what, most characters) -> one line.

    Examples
    --------
    >>> Answer("outputs[1].score").read(b'{"outputs": [0, {"score": 2.5}]}')
    2.5
    >>> Answer("score").read(b'{"scores": [1]}')
    Traceback (most recent call last):
    ...
    mixsense.errors.OracleError: the answer {"scores": [1]} has no 'score'; it has scores: give its path (--answer)
    """

    def __init__(self, path: str, show: Callable[[Any, int], str] = one_line) -> None:
        self._show = show
        hint = "give names and indices such as result.score or outputs[0]"
        if not isinstance(path, str):
            raise InvalidInput(f"the path of the answer is {shown(path)}: {hint}")
        self.path = path
        self._steps: list[str | int] = []
        position = 0
        while position < len(path):
            step = _STEP.match(path, position)
            if step is None or (position == 0 and path[0] == "."):
                rest = shown(path[position:])
                raise InvalidInput(f"the path of the answer is {shown(path)}, not readable from {rest}: {hint}")
            name, index, quoted = step.groups()
            self._steps.append(int(index) if index is not None else quoted if name is None else name)
            position = step.end()

    def read(self, raw: bytes) -> float:
        """Return the number in an answer, or raise `OracleError` with what came and what is needed."""
        return self._number(self._parsed(raw), self._show(raw, 120))

    def read_named(self, raw: bytes, name: str | None, must: bool) -> tuple[float, bool]:
        """Return the number in an answer that may repeat the id of its query, and whether it does.

        Parameters
        ----------
        raw : bytes
            The answer.
        name : str or None
            The id that was sent; with None none is looked for.
        must : bool
            An answer without an id is an error.
        """
        node, text = self._parsed(raw), self._show(raw, 120)
        if name is None or not (isinstance(node, dict) and "id" in node):
            if must:
                raise OracleError(f"the answer {text} has no id, as those before it had: repeat it always", reply=text)
            return self._number(node, text), False
        if node["id"] != name:
            raise OracleError(
                f"the answer {text} has another id than the query, {name}: each must be answered once, in order",
                reply=text,
            )
        steps = self._steps or ["y"]
        return self._number(node, text, steps), True

    def _parsed(self, raw: bytes) -> Any:
        try:
            return json.loads(raw, parse_constant=_no_constant, object_pairs_hook=_no_twins)
        except (ValueError, RecursionError) as error:
            why = "it is empty" if not raw.strip() else self._show(error, 80)
        text = self._show(raw, 120)
        # Raised here, where it does not drag along the parser's error, which holds all that came.
        raise OracleError(f"the answer {text!r} is not JSON ({why}); a JSON number is needed", reply=text)

    def _number(self, node: Any, text: str, steps: Sequence[str | int] | None = None) -> float:
        steps = self._steps if steps is None else steps
        for i, step in enumerate(steps):
            try:
                if isinstance(step, int) != isinstance(node, list):
                    raise KeyError(step)
                node = node[step]
            except (KeyError, IndexError, TypeError):
                hint = f"give its path{_such_as(node, steps[:i], step)} (--answer)"
                raise OracleError(
                    f"the answer {text} has no {step!r}{self._content(node)}: {hint}", reply=text
                ) from None
        where = f" at {self.path}" if self.path else ""
        if isinstance(node, bool) or not isinstance(node, (int, float)):
            what = self._show(_dumped(node), 120)
            raise OracleError(f"the answer {text} holds {what}{where}; a JSON number is needed", reply=text)
        if not abs(node) <= LARGEST_ANSWER or not math.isfinite(node):
            raise OracleError(f"the answer {text} holds no number of usable size{where}", reply=text)
        return float(node)

    def _content(self, node: Any) -> str:
        """Return what an object or a list holds, as the end of a message."""
        if isinstance(node, list):
            return f"; it is a list of {counted(len(node), 'entry', 'entries')}"
        has = ", ".join(node) if isinstance(node, dict) else ""
        return f"; it has {self._show(has, 120)}" if has else ""


def _texts(node: Any) -> Iterator[str]:
    """Yield the texts of a body."""
    if isinstance(node, str):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, (list, tuple)) else ():
        yield from _texts(part)


def _template(text: str | bytes) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        why = str(error)
    # Raised here, and without the text: the parser's error holds all of it, and it may hold a key.
    hint = f"""give JSON such as '{{"inputs": "$x"}}'; placeholders are {PLACEHOLDERS}"""
    raise InvalidInput(f"the body is not JSON ({why}): {hint}")


def _such_as(node: Any, before: Sequence[str | int], step: str | int) -> str:
    """Return the path into a list that stands where a name was looked for, as an example; nothing elsewhere.

    Examples
    --------
    >>> _such_as([{"score": 3}], ["result"], "score"), _such_as([3], [], "y"), _such_as({}, [], "y")
    (', such as result[0].score', ', such as [0]', '')
    """
    if isinstance(step, int) or not isinstance(node, list) or not node:
        return ""
    inside = isinstance(node[0], dict) and step in node[0]
    steps = [*before, 0, step] if inside else [*before, 0]
    return f", such as {''.join(f'[{s}]' if isinstance(s, int) else f'.{s}' for s in steps).removeprefix('.')}"


def _dumped(node: Any) -> str:
    try:
        return json.dumps(node)
    except RecursionError:
        return f"a {type(node).__name__} that is nested too deeply"


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has {one_line(twin, 20)!r} twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
