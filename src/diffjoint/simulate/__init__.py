"""Worlds with known truth. numpy and pandas only."""

from diffjoint.simulate.bayes_limit import Posterior, bayes_posterior
from diffjoint.simulate.bayesian_network import bayesian_network
from diffjoint.simulate.household import household_survey
from diffjoint.simulate.world import World

__all__ = ["Posterior", "World", "bayes_posterior", "bayesian_network", "household_survey"]
