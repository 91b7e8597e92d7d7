"""Loss rates that the user gives, by position among the modelled columns."""

from collections.abc import Mapping

import numpy as np

from diffjoint._types import Mask
from diffjoint.detectors import LossRate
from diffjoint.errors import InputError, option
from diffjoint.fitting.options import Options
from diffjoint.settings import DEFAULT_DETECTOR
from diffjoint.state import JointSpace
from diffjoint.table import Table

TOO_FAR = 3.0
"""Standard errors beyond which a rate is not what was said."""


def place_loss_rates(options: Options, table: Table, space: JointSpace) -> LossRate:
    """Return the loss rates asked for, by position among the modelled columns."""
    if options.loss_rate is None:
        return None
    if options.detector != DEFAULT_DETECTOR:
        raise InputError(
            f"{option('loss_rate')} is for {option('detector', DEFAULT_DETECTOR)}; got "
            f"{option('detector', options.detector)}, which does not use it. Leave it out.",
            parameter="loss_rate",
        )
    if not isinstance(options.loss_rate, Mapping):
        return float(options.loss_rate)
    modelled = space.schema.modelled_positions.tolist()
    searched = [modelled[j] for j in space.mm]
    places = {}
    for label, rate in options.loss_rate.items():
        position = table.require(label, "loss_rate")
        if position in searched:
            places[modelled.index(position)] = float(rate)
        elif not options.were_found:
            names = [space.schema.modelled[j].name for j in space.mm]
            raise InputError(
                f"{option('loss_rate')} names {label!r}, which is not among "
                f"{option('mm_columns')} ({names}). Rates are for those; the others are counted.",
                parameter="loss_rate",
            )
    return places


def doubts_on_rates(loss_rate: LossRate, missing: Mask, space: JointSpace) -> tuple[str, ...]:
    """Name columns said to lose more cells than they miss, by more than chance explains."""
    given = loss_rate if isinstance(loss_rate, Mapping) else dict.fromkeys(space.mm, loss_rate)
    above = []
    for j, rate in given.items():
        share = missing[:, j].mean()
        error = np.sqrt((rate or 0.0) * (1 - (rate or 0.0)) / len(missing))
        if rate is not None and share > 0 and rate > share + TOO_FAR * error:
            name = space.schema.modelled[j].name
            above.append(f"'{name}' (given {rate:.1%}, missing {share:.1%})")
    if not above:
        return ()
    return (
        f"{option('loss_rate')} is above the share of missing cells in {', '.join(above)}. No "
        "column loses more cells than it misses. Lower it, or leave it out to have it estimated.",
    )
