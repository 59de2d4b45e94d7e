"""The number in a reply: plain JSON that is whole, or an error that says what came."""

from __future__ import annotations

from mixsense.errors import OracleError
from mixsense.oracles.secrets import Secrets
from mixsense.oracles.template import Answer
from mixsense.oracles.transport import Reply

_OPEN_ENDED = tuple(bytes([byte]) for byte in b"0123456789.eE+-")
"""How a number ends that may go on: if its end is that of the connection, nobody knows whether it is whole."""


def number_in(reply: Reply, answer: Answer, secrets: Secrets) -> float:
    """Return the number in a reply with status 200, or raise `OracleError`, which may still hold a secret.

    Parameters
    ----------
    reply : Reply
        What the service answered.
    answer : Answer
        Where the number is in it.
    secrets : Secrets
        What must not be shown.
    """
    packed = reply.headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("", "identity"):
        raise OracleError(
            f"POST {reply.target}: the answer is packed ({secrets.show(packed, 40)}), which was not asked for: "
            "let the service send plain JSON"
        )
    if not reply.framed and reply.content[-1:] in _OPEN_ENDED:
        raise OracleError(
            f"POST {reply.target}: the answer {secrets.show(reply.content, 120)} has no length, and may be torn: "
            "let the service send a Content-Length, or an object around the number"
        )
    try:
        return answer.read(reply.content)
    except OracleError as error:
        failure = OracleError(f"POST {reply.target}: {error}", **error.data)
    raise failure
