"""How a request travels: where to, with which headers, over which connections, and until when."""

from mixsense.oracles.transport.connections import Connections, Reply, Transient
from mixsense.oracles.transport.headers import Headers
from mixsense.oracles.transport.target import Target

__all__ = ["Connections", "Headers", "Reply", "Target", "Transient"]
