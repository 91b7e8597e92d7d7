"""Simulate a small household survey with skip logic: the built-in example."""

import numpy as np
import pandas as pd

from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.world import World, lose_cells, nothing_lost, split_rows


def household_survey(
    n_rows: int = 1_500,
    *,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
) -> World:
    """Draw a household survey, and lose some of its cells.

    ``spouse_age`` exists only for married people, ``weekly_hours`` and ``commute`` only for
    employed people. Every cell except those of ``person_id`` can also be lost.

    Examples
    --------
    >>> world = household_survey(500)
    >>> world.mm_columns
    ['spouse_age', 'weekly_hours', 'commute']
    >>> unmarried = world.truth["married"] == "no"
    >>> bool(world.truth.loc[unmarried, "spouse_age"].isna().all())
    True
    """
    rng = np.random.default_rng(seed)
    truth = _draw_people(n_rows, rng)
    whole = World(
        name="household-survey",
        seed=seed,
        truth=truth,
        meaningful=truth.isna(),
        lost=nothing_lost(truth),
        mm_columns=["spouse_age", "weekly_hours", "commute"],
        column_kinds={
            "person_id": "pass-through",
            "age": "integer",
            "married": "categorical",
            "spouse_age": "integer",
            "employed": "categorical",
            "weekly_hours": "integer",
            "commute": "categorical",
            "income": "integer",
        },
        is_train=split_rows(n_rows, n_rows),
    )
    return lose_cells(whole, mechanism, loss_rate, rng, spare=("person_id",))


def _draw_people(n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    age = rng.integers(18, 90, n_rows)
    married = rng.random(n_rows) < np.clip((age - 18) / 40, 0.0, 0.7)
    spouse_age = np.clip(age + rng.normal(0, 4, n_rows).round(), 18, 95)
    employed = rng.random(n_rows) < np.where(age < 66, 0.8, 0.05)
    weekly_hours = np.clip(rng.normal(36, 8, n_rows).round(), 5, 70)
    commute = rng.choice(["car", "bus", "bicycle", "on foot"], n_rows, p=[0.5, 0.25, 0.15, 0.1])
    pay = np.where(employed, weekly_hours * rng.lognormal(3.6, 0.3, n_rows), 0.0)
    income = (900 + pay + rng.gamma(2.0, 150.0, n_rows)).round(-1)
    return pd.DataFrame(
        {
            "person_id": [f"P{i:05d}" for i in range(1, n_rows + 1)],
            "age": pd.Series(age).astype("Int64"),
            "married": np.where(married, "yes", "no"),
            "spouse_age": pd.Series(spouse_age).where(married).astype("Int64"),
            "employed": np.where(employed, "yes", "no"),
            "weekly_hours": pd.Series(weekly_hours).where(employed).astype("Int64"),
            "commute": pd.Series(commute).where(employed),
            "income": pd.Series(income).astype("Int64"),
        }
    )
