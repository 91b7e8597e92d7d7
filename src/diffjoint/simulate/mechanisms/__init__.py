"""Mechanisms of loss: at random, by the values of other columns, or as in real surveys."""

from diffjoint.settings import MECHANISM_NAMES, MechanismName
from diffjoint.simulate.mechanisms.base import Mechanism
from diffjoint.simulate.mechanisms.life import LifeMechanism
from diffjoint.simulate.mechanisms.logistic import LogisticMechanism
from diffjoint.simulate.mechanisms.make import make_mechanism
from diffjoint.simulate.mechanisms.patterns import loss_patterns, missing_given_meaningful

__all__ = [
    "MECHANISM_NAMES",
    "LifeMechanism",
    "LogisticMechanism",
    "Mechanism",
    "MechanismName",
    "loss_patterns",
    "make_mechanism",
    "missing_given_meaningful",
]
