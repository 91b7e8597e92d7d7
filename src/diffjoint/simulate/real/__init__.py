"""Real tables that say of each missing cell why it is missing."""

from diffjoint.simulate.real.acs import acs_2018, acs_2018_allocated
from diffjoint.simulate.real.ames import ames_housing
from diffjoint.simulate.real.kdd_census import kdd_census_1994
from diffjoint.simulate.real.nhanes import nhanes_diabetes, nhanes_women
from diffjoint.simulate.real.telco import telco_churn
from diffjoint.simulate.real.thyroid import thyroid_disease

__all__ = [
    "acs_2018",
    "acs_2018_allocated",
    "ames_housing",
    "kdd_census_1994",
    "nhanes_diabetes",
    "nhanes_women",
    "telco_churn",
    "thyroid_disease",
]
