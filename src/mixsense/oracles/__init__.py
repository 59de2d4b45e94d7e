"""Who answers: simulations, records, HTTP endpoints, programs."""

from mixsense.oracles.recorded import RecordedOracle
from mixsense.oracles.replay import ReplayOracle
from mixsense.oracles.simulated import SimulatedOracle, random_models, random_pair

__all__ = ["RecordedOracle", "ReplayOracle", "SimulatedOracle", "random_models", "random_pair"]
