"""Quickstart: a survey with missing cells, completed where something was lost.

python examples/quickstart.py
"""

from typing import Any

import pandas as pd

from diffjoint import Imputation, SelectiveImputer
from diffjoint.simulate import household_survey


def main(n_rows: int = 600, **settings: Any) -> Imputation:
    """Complete a survey whose truth is known, and say how it went."""
    survey = household_survey(n_rows)
    imputer = SelectiveImputer("auto", random_state=0, **settings).fit(survey.observed_table)
    result = imputer.impute(survey.observed_table)
    print("Columns in which a missing cell can be meaningful:", *imputer.mm_columns_)
    print("\nBefore:", survey.observed_table.head(8).to_string(), sep="\n")
    print("\nAfter:", result.table.head(8).to_string(), sep="\n")
    empty = survey.observed_table.isna()
    filled = empty & ~result.meaningful
    states = pd.DataFrame({"kept as NA": result.meaningful.sum(), "filled": filled.sum()})
    print("\nWhat became of missing cells:", states.to_string(), sep="\n")
    right = (result.meaningful == survey.meaningful).to_numpy()[empty.to_numpy()].mean()
    print(f"\n{right:.0%} of the missing cells are told apart as the truth has them.")
    return result


if __name__ == "__main__":
    main()
