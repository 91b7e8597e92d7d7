"""polars in, polars out: dtypes, categories and dates come back as they came.

python examples/polars_table.py
"""

from typing import Any

import polars as pl

from diffjoint import SelectiveImputer
from diffjoint.simulate import household_survey


def main(n_rows: int = 400, **settings: Any) -> pl.DataFrame:
    """Complete a polars table, and keep a model for later ones."""
    survey = pl.from_pandas(household_survey(n_rows).observed_table)
    imputer = SelectiveImputer(
        ["spouse_age", "weekly_hours", "commute"], random_state=0, **settings
    )
    completed: pl.DataFrame = imputer.fit_transform(survey)
    assert completed.schema == survey.schema
    print(completed.head(6))
    print(completed.null_count())
    return completed


if __name__ == "__main__":
    main()
