"""A stateful GitHub over real HTTP, with GitHub's own schemas as referees. Knows nothing of the bot."""

from simulator.simulator import Simulator

__all__ = ["Simulator"]
