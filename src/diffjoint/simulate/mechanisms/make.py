"""Make a mechanism of loss by its name."""

from typing import cast, get_args

import numpy as np
import pandas as pd

from diffjoint.errors import InputError
from diffjoint.settings import MECHANISM_NAMES, LifeName, LogisticName, MechanismName
from diffjoint.simulate.mechanisms.base import Mechanism
from diffjoint.simulate.mechanisms.life import make_life_mechanism
from diffjoint.simulate.mechanisms.logistic import make_logistic_mechanism


def make_mechanism(
    name: MechanismName,
    truth: pd.DataFrame,
    loss_rate: float,
    rng: np.random.Generator,
    *,
    spare: tuple[str, ...] = (),
    not_always_there: tuple[str, ...] = (),
) -> Mechanism:
    """Draw a mechanism for a table, to be applied to that table or to others like it.

    - "mcar" loses every cell with the same probability.
    - "mar" picks drivers: columns that are never lost, and on whose values the losses of the other
      columns depend. These are lost at a higher rate, so that the whole table loses ``loss_rate``.
    - "mnar" picks drivers as well, but loses their own cells completely at random.

    The other mechanisms do not depend on values:

    - "own-rates" loses each column at its own rate.
    - "break-off" loses all cells of a row from some column on.
    - "blocks" loses adjacent columns together.
    - "propensity" loses many more cells in some rows than in others.
    - "survey" combines all of these.

    Parameters
    ----------
    name : str
        One of ``MECHANISM_NAMES``.
    truth : DataFrame
    loss_rate : float
        Share of the cells to lose, in expectation, over the columns that are not spared.
    rng : Generator
    spare : tuple of str
        Columns that are never lost and drive no losses, such as ids; they do not count.
    not_always_there : tuple of str
        Columns with lost cells, which cannot be drivers under MAR.

    Examples
    --------
    >>> truth = pd.DataFrame(np.random.default_rng(0).normal(size=(5000, 4)), columns=list("abcd"))
    >>> mechanism = make_mechanism("mar", truth, 0.2, np.random.default_rng(1))
    >>> lost = mechanism.lose(truth, np.random.default_rng(2))
    >>> bool(lost[list(mechanism.drivers)].any(axis=None)), round(float(lost.to_numpy().mean()), 2)
    (False, 0.2)
    """
    if name not in MECHANISM_NAMES:
        listed = ", ".join(repr(known) for known in MECHANISM_NAMES)
        raise InputError(f"mechanism must be one of {listed}; got {name!r}.", parameter="mechanism")
    if not 0.0 < loss_rate < 1.0:
        raise InputError(
            f"loss_rate must lie between 0 and 1; got {loss_rate!r}.", parameter="loss_rate"
        )
    if name in get_args(LifeName):
        columns = tuple(truth.columns)
        return make_life_mechanism(cast(LifeName, name), columns, loss_rate, rng, spare=spare)
    options = {"spare": spare, "not_always_there": not_always_there}
    return make_logistic_mechanism(cast(LogisticName, name), truth, loss_rate, rng, **options)
