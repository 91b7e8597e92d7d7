"""A detector that calls cells at random: all that its file in ``detectors/`` holds."""

import numpy as np

from diffjoint.detectors import Belief, Detector
from diffjoint.state import keyed_uniform

STREAM = 77
"""The random numbers that calls are made from, apart from those of draws."""


class ByChance(Belief):
    """The belief that every P(meaningful) is as likely as any other.

    It goes by what a row holds, so that a row gets the same wherever it stands.
    """

    detector = "by_chance"

    def probability(self, observation, folds=None):
        likely = keyed_uniform(observation.keys, STREAM, observation.values.shape[1])
        return np.where(observation.known_meaningful, 1.0, likely * observation.candidates)

    def arrays(self):
        return {}


def learn(observation, space, loss_rate, seed, progress):
    return ByChance() if space.mm else None


DETECTOR = Detector(learn, read=lambda arrays: ByChance())
