"""What looks like a secret: by its value, or by the name that it has."""

from __future__ import annotations

import itertools
import re
from typing import Any

from mixsense.checks import one_line
from mixsense.errors import InvalidInput

RANDOM_LENGTH, RANDOM_SWITCHES = 20, 0.22
"""A word of this many letters and digits looks random if its kind (digit, capital, small) changes at this share of its
places: random hexadecimals do at 0.47, base 64 at 0.45; names such as churn-model-2024-01-v2 or CustomerRiskScore stay
below 0.2."""
SHORTEST_NUMBER = 4
"""A number with fewer digits is no secret. Taste."""
ENV = re.compile(r"\benv:([A-Za-z_][A-Za-z0-9_]*)")
"""How a text says that a value comes from the environment."""
_SCHEMES = "bearer basic digest negotiate token apikey key oauth hmac aws4-hmac-sha256 ssws bot geniekey splunk"
_AROUND = re.compile(rf"\W*(?:(?:{_SCHEMES.replace(' ', '|')})(?![\w-])\W*)?(?:[a-z_-]+[=:]\W*)*", re.I)
"""What may stand in plain around a value of the environment, where a secret belongs: "Bearer env:T", "user=env:U"."""
HINT = "put it into an environment variable and give env:NAME"
"""What to do about a secret that was given in plain."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)
_SHAPES = re.compile(
    r"\b(bearer|basic|digest|negotiate|token|apikey|aws4-hmac-sha256)\s+\S|"  # what Authorization holds
    r"\beyJ[\w-]+\.[\w-]+|"  # a JSON web token
    r"-----BEGIN |"
    r"\b(sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|hf|npm|pypi|xox[abprs])[-_]\w{8,}|\bAKIA[0-9A-Z]{12,}|\bAIza[\w-]{20,}",
    re.I,
)
_SECRET_WORDS = {
    *("auth", "authorization", "authorisation", "authentication", "bearer", "jwt", "token", "secret", "password"),
    *("pass", "passwd", "passphrase", "pwd", "credential", "credentials", "signature", "cookie", "apikey", "accesskey"),
    *("pw", "passcode", "passwort", "kennwort", "contrasena", "senha", "wachtwoord"),
    *("sessionid", "session", "otp", "pin", "csrf", "xsrf", "accesstoken", "authtoken", "refreshtoken"),
}
"""Words of a name that say it: docs/studies.md lists them."""
_ABOUT = {"type", "kind", "scheme", "name", "user", "username", "scope", "method", "format", "version"}
"""Names of what may stand in plain beside a secret, in an object that is called as one."""
_ASSIGNED = re.compile(r"([\w.-]+)=(\S{4,})")
_KEY_WORDS = {"api", "access", "private", "secret", "account", "subscription", "master", "auth", "app", "client"}
"""What makes one of a key or a code: an api key, an access code."""


def looks_random(text: str) -> bool:
    """Return whether a text looks like a secret by its value: an Authorization, a token, ``pw=…``, random letters.

    Examples
    --------
    >>> [looks_random(text) for text in ("Bearer abc", "f3a9c1d27b604e58a1b2c3d4e5f60718", "password=hunter2")]
    [True, True, True]
    >>> looks_random("churn-model-2024-01-v2-final"), looks_random("123e4567-e89b-12d3-a456-426614174000")
    (False, False)
    """
    if _SHAPES.search(text) or any(names_a_secret(name, itself=True) for name, _ in _ASSIGNED.findall(text)):
        return True
    for word in re.findall(r"[A-Za-z0-9+/_=~-]{20,}", text):
        if _UUID.fullmatch(word):
            continue
        letters = re.sub(r"[^A-Za-z0-9]", "", word)
        kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in letters]
        switches = sum(a != b and a + b != "ul" for a, b in itertools.pairwise(kinds))
        if len(letters) >= RANDOM_LENGTH and switches >= RANDOM_SWITCHES * len(letters) and len(set(kinds)) > 1:
            return True
    return False


def names_a_secret(name: str, itself: bool = False) -> bool:
    """Return whether what has this name in a body must be a secret.

    Parameters
    ----------
    name : str
        A key of an object, an option.
    itself : bool
        The name ends with the word that says so: it is the secret, and not something about it.

    Examples
    --------
    >>> [names_a_secret(name) for name in ("api_key", "accessToken", "X-Auth", "password2", "Kontopasswort")]
    [True, True, True, True, False]
    >>> [names_a_secret(name) for name in ("key", "keyboard", "max_tokens", "author", "income")]
    [False, False, False, False, False]
    >>> [names_a_secret(name, itself=True) for name in ("userPin", "token_count", "auth_failures")]
    [True, False, False]
    """
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    pairs = list(itertools.pairwise(words))
    if itself:
        words, pairs = words[-1:], pairs[-1:]
    return (
        any(word in _SECRET_WORDS for word in words)
        or any(a in _KEY_WORDS and b in ("key", "keys", "code") for a, b in pairs)
        or "".join(words) in _SECRET_WORDS
    )


def from_environment(text: str) -> bool:
    """Return whether all of a text that may be secret comes from the environment.

    Examples
    --------
    >>> [from_environment(text) for text in ("env:TOKEN", "Bearer env:TOKEN", "user=env:USER; pw=env:PW")]
    [True, True, True]
    >>> [from_environment(text) for text in ("hunter2", "env:HOME hunter2", "abc env:HOME")]
    [False, False, False]
    """
    plain = ENV.sub("", text)
    return plain != text and bool(_AROUND.fullmatch(plain))


def check_plain(node: Any, where: str = "", name: str = "", inside: bool = False) -> None:
    """Refuse a body that holds what looks like a secret in plain: a text, a number, the key of an object.

    Parameters
    ----------
    node : object
        The body, or a part of it.
    where, name : str
        The path of the part, and the last of its names.
    inside : bool
        It is a part of something that is called as a secret.
    """
    if isinstance(node, dict):
        inside = inside or names_a_secret(name, itself=True)
        for key, value in node.items():
            if looks_random(str(key)):
                raise _in_plain(where)
            check_plain(value, f"{where}.{key}" if where else str(key), str(key), inside)
    elif isinstance(node, (list, tuple)):
        for value in node:
            check_plain(value, where, name, inside)
    elif isinstance(node, str) and (not node.startswith("$") or node.startswith("$$")):
        secret = names_a_secret(name) or (inside and name.lower() not in _ABOUT)
        if looks_random(ENV.sub("", node)) or (secret and node and not from_environment(node)):
            raise _in_plain(where)
    elif isinstance(node, (int, float)) and len(str(node)) >= SHORTEST_NUMBER and not isinstance(node, bool):
        if names_a_secret(name, itself=True) or (inside and name.lower() == "value"):
            raise _in_plain(where)


def _in_plain(where: str) -> InvalidInput:
    at = f" at {one_line(where, 60)}" if where else ""
    return InvalidInput(f"the body holds what looks like a secret{at}: {HINT} in its place")
