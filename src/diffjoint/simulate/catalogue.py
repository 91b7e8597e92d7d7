"""List all worlds, and make one by its name."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from diffjoint.errors import FileError, InputError
from diffjoint.simulate.bayesian_network import bayesian_network
from diffjoint.simulate.household import household_survey
from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.mimic import mimic_iv_ed, mimic_iv_ed_demo, mimic_like
from diffjoint.simulate.mimic.build import DEMO, FULL
from diffjoint.simulate.real import (
    acs,
    acs_2018,
    acs_2018_allocated,
    ames,
    ames_housing,
    kdd_census,
    kdd_census_1994,
    nhanes,
    nhanes_diabetes,
    nhanes_women,
    telco,
    telco_churn,
    thyroid,
    thyroid_disease,
)
from diffjoint.simulate.real.labelled import DataFolder
from diffjoint.simulate.source import DATA_SETTING, Source
from diffjoint.simulate.world import World

NETWORK_TRAIN_SHARE = 0.7


@dataclass(frozen=True)
class Entry:
    """Description of a world.

    Attributes
    ----------
    name : str
    about : str
        Short description.
    make : callable
        Function that makes the world. It takes ``seed``; ``mechanism`` and ``loss_rate`` unless
        the world has losses of its own; the number of rows first if it is simulated; ``data`` if
        it is a real table.
    source : Source or None
        Source of a real table; None if the world is simulated.
    own_losses : bool
        Whether the table came with real losses, so that no mechanism can be chosen.
    """

    name: str
    about: str
    make: Callable[..., World]
    source: Source | None = None
    own_losses: bool = False


def make_world(
    name: str,
    *,
    rows: int | None = None,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
    data: DataFolder = None,
) -> World:
    """Make a world by its name.

    Parameters
    ----------
    name : str
        Key of ``WORLDS``.
    rows : int, optional
        Number of rows to draw; only for simulated worlds.
    mechanism : str or None
        How cells get lost: one of ``MECHANISM_NAMES``, or None to lose no cells. Ignored for worlds
        with losses of their own.
    loss_rate : float
        Share of cells to lose.
    seed : int
    data : path, optional
        Data folder for real tables. By default the one that the environment variable
        ``DIFFJOINT_DATA`` names.

    Examples
    --------
    >>> make_world("bayesian-network", rows=100, mechanism="mar", loss_rate=0.2).truth.shape
    (100, 5)
    """
    if name not in WORLDS:
        raise InputError(
            f"There is no world {name!r}. There is {', '.join(WORLDS)}.", parameter="name"
        )
    entry = WORLDS[name]
    options: dict[str, Any] = {"seed": seed}
    if not entry.own_losses:
        options |= {"mechanism": mechanism, "loss_rate": loss_rate}
    if entry.source is not None:
        if rows is not None:
            raise InputError(
                f"{name} is a real table and has its own rows; got rows={rows}.", parameter="rows"
            )
        return entry.make(data=data, **options)
    if rows is None:
        return entry.make(**options)
    if rows < 2:
        raise InputError(f"rows must be at least 2; got {rows}.", parameter="rows")
    return entry.make(rows, **options)


def _network(rows: int = 20_000, **options: Any) -> World:
    n_train = round(NETWORK_TRAIN_SHARE * rows)
    return bayesian_network(n_train, rows - n_train, **options)


def _mimic(data: DataFolder, **options: Any) -> World:
    """Make the MIMIC world from ``data`` itself, or from its folder in the data folder."""
    root = Path(data or os.environ.get(DATA_SETTING) or "")
    own = root / FULL.folder
    if not (own.is_dir() or data):
        raise FileError(
            f"{FULL.title}: {own} is not there. Name the folder that holds the tables as the data "
            f"folder. To get them: {FULL.how_to_get}"
        )
    return mimic_iv_ed(own if own.is_dir() else root, **options)


_ENTRIES = [
    Entry("bayesian-network", "the paper's network of five columns", _network),
    Entry(
        "household-survey", "a small survey with skip logic: the built-in example", household_survey
    ),
    Entry("mimic-like-stand-in", "drawn stand-in for the paper's emergency stays", mimic_like),
    Entry("mimic-iv-ed", "the paper's emergency stays", _mimic, FULL),
    Entry("mimic-iv-ed-demo", "the same from the open demo", mimic_iv_ed_demo, DEMO),
    Entry("telco-churn", "customers of a telephone company", telco_churn, telco.SOURCE),
    Entry(
        "telco-churn-no-gates",
        "the same without the columns that say who has internet and telephone",
        partial(telco_churn, gates=False),
        telco.SOURCE,
    ),
    Entry("ames-housing", "houses sold in Ames, Iowa", ames_housing, ames.SOURCE),
    Entry(
        "ames-housing-no-gates",
        "the same without the columns that are 0 where a thing does not exist",
        partial(ames_housing, gates=False),
        ames.SOURCE,
    ),
    Entry(
        "thyroid-disease",
        "patients, and blood values that were not always ordered",
        thyroid_disease,
        thyroid.SOURCE,
    ),
    *(
        Entry(
            f"acs-2018-{state}", f"people in {state.title()}", partial(acs_2018, state), acs.SOURCE
        )
        for state in acs.EDITIONS
    ),
    *(
        Entry(
            f"acs-2018-{state}-allocated",
            f"people in {state.title()}; answers that they did not give are lost",
            partial(acs_2018_allocated, state),
            acs.SOURCE,
            own_losses=True,
        )
        for state in acs.EDITIONS
    ),
    Entry("kdd-census-1994", "people asked in 1994", kdd_census_1994, kdd_census.SOURCE),
    Entry(
        "nhanes-diabetes",
        "people asked about diabetes and hospitals; answers that they did not give are lost",
        nhanes_diabetes,
        nhanes.SOURCE,
        own_losses=True,
    ),
    Entry(
        "nhanes-women",
        "women asked about reproductive health; answers that they did not give are lost",
        nhanes_women,
        nhanes.SOURCE,
        own_losses=True,
    ),
]
WORLDS: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
"""All worlds by name."""
