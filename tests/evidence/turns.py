"""Evidence that masks can be drawn from."""

import numpy as np

from diffjoint.evidence import learn_in_turn


def ready_to_draw(evidence, values, seed=0):
    """The evidence with its columns learnt again in turn, from the table it was gathered from."""
    return learn_in_turn(
        evidence,
        values,
        np.isnan(values),
        np.random.default_rng(seed).random(values.shape),
        known=np.full(values.shape, np.nan),
        labelled=np.zeros(values.shape, dtype=bool),
        seed=0,
    )
