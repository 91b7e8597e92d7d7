"""The household survey with a column of every kind, and what may be said of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from diffjoint.simulate import household_survey

KINDS = {"person_id": "pass-through"}
SEARCHED = ["spouse_age", "weekly_hours", "commute"]
RULES = {"spouse_age": 'married == "yes"', "weekly_hours": 'employed == "yes" and age >= 18'}
CODES = {"commute": {"refused": "lost", "none": "meaningful"}, "income": {-9: "lost"}}
BOUNDS = {"age": (0, 120), "income": (None, 20_000), "rent": (1.5, None)}
FILL = {"spouse_age": 0, "commute": "at home"}
LOST_BESIDE = 0.05
"""Share of the cells lost in the columns that the survey is given in addition."""


@dataclass(frozen=True)
class Survey:
    """A survey, and which of its missing cells are what.

    Attributes
    ----------
    table : DataFrame
        Every kind of column, a box to tick, and an index of its own.
    meaningful, lost : bool DataFrame
        The truth about the cells of the columns that may be meaningful.
    """

    table: pd.DataFrame
    meaningful: pd.DataFrame
    lost: pd.DataFrame

    def rows(self, first: int, last: int) -> pd.DataFrame:
        """Return some rows of the table."""
        return self.table.iloc[first:last]


def draw_survey(n_rows: int, seed: int = 0, **losses: Any) -> Survey:
    """Draw a survey.

    Parameters
    ----------
    n_rows, seed : int
    **losses
        ``mechanism`` and ``loss_rate`` of ``household_survey``.

    Examples
    --------
    >>> draw_survey(50).table["newsletter"].dropna().unique().tolist()
    ['yes']
    """
    world = household_survey(n_rows, seed=seed, **losses)
    rng = np.random.default_rng(seed)
    beside = pd.DataFrame(
        {
            "rent": rng.lognormal(6.5, 0.4, n_rows).astype("float32"),
            "owner": pd.Series(rng.random(n_rows) < 0.4).astype("boolean"),
            "health": pd.Categorical(
                rng.choice(["poor", "fair", "good"], n_rows),
                categories=["poor", "fair", "good"],
                ordered=True,
            ),
            "asked": pd.date_range("2024-01-01", periods=n_rows, freq="h", tz="Europe/Berlin"),
        }
    )
    table = world.observed_table.join(beside.mask(rng.random(beside.shape) < LOST_BESIDE))
    table["newsletter"] = pd.Series("yes", table.index).where(rng.random(n_rows) < 0.3)
    labels = pd.Index(rng.permutation(n_rows) + 1_000)
    meaningful, lost = (
        cells[SEARCHED].set_axis(labels) for cells in (world.meaningful, world.lost)
    )
    return Survey(table.set_axis(labels), meaningful, lost & ~meaningful)


def with_codes(survey: Survey) -> pd.DataFrame:
    """Write a reason into every third missing cell of two columns, as ``CODES`` reads them.

    Examples
    --------
    >>> with_codes(draw_survey(200))["commute"].isin(["none", "refused"]).any()
    np.True_
    """
    table, third = survey.table.copy(), np.arange(len(survey.table)) % 3 == 0
    table.loc[survey.meaningful["commute"] & third, "commute"] = "none"
    table.loc[survey.lost["commute"] & third, "commute"] = "refused"
    table.loc[table["income"].isna() & third, "income"] = -9
    return table
