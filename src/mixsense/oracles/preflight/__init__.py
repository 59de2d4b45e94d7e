"""A look at an oracle before it is asked: whether it is constant, cached, sticky, off 0, or not linear over the box."""

from mixsense.oracles.preflight.look import cost, preflight
from mixsense.oracles.preflight.report import Preflight, Verdict

__all__ = ["Preflight", "Verdict", "cost", "preflight"]
