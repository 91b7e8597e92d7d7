"""Worlds: tables whose truth is known, simulated or real with labels; numpy and pandas only."""

from diffjoint.simulate.bayes_limit import Posterior, bayes_posterior
from diffjoint.simulate.bayesian_network import bayesian_network
from diffjoint.simulate.catalogue import WORLDS, Entry, make_world
from diffjoint.simulate.household import household_survey
from diffjoint.simulate.mechanisms import MECHANISM_NAMES, Mechanism, make_mechanism
from diffjoint.simulate.mimic import mimic_iv_ed, mimic_iv_ed_demo, mimic_like
from diffjoint.simulate.real import (
    acs_2018,
    acs_2018_allocated,
    ames_housing,
    kdd_census_1994,
    nhanes_diabetes,
    nhanes_women,
    telco_churn,
    thyroid_disease,
)
from diffjoint.simulate.source import DATA_SETTING
from diffjoint.simulate.world import World

__all__ = [
    "DATA_SETTING",
    "MECHANISM_NAMES",
    "WORLDS",
    "Entry",
    "Mechanism",
    "Posterior",
    "World",
    "acs_2018",
    "acs_2018_allocated",
    "ames_housing",
    "bayes_posterior",
    "bayesian_network",
    "household_survey",
    "kdd_census_1994",
    "make_mechanism",
    "make_world",
    "mimic_iv_ed",
    "mimic_iv_ed_demo",
    "mimic_like",
    "nhanes_diabetes",
    "nhanes_women",
    "telco_churn",
    "thyroid_disease",
]
