"""Worlds with known truth. numpy and pandas only."""

from diffjoint.simulate.bayesian_network import bayesian_network
from diffjoint.simulate.household import household_survey
from diffjoint.simulate.world import World

__all__ = ["World", "bayesian_network", "household_survey"]
