"""Decisions come back: what a person settles is used, and never overruled.

The doubtful cells are listed, someone decides on them, and the list is given back. The same works
with the list that a report exports, and with `--decisions` on the command line.

    python examples/decisions.py
"""

from typing import Any

import pandas as pd

from diffjoint import SelectiveImputer, read_decisions
from diffjoint.simulate import household_survey


def main(n_rows: int = 600, **settings: Any) -> pd.DataFrame:
    """Review, decide by the truth in place of a person, and complete again."""
    survey = household_survey(n_rows)
    table = survey.observed_table
    imputer = SelectiveImputer(
        ["spouse_age", "weekly_hours", "commute"], random_state=0, **settings
    ).fit(table)
    listed: pd.DataFrame = imputer.review(table)
    truth = [
        survey.meaningful[column].iloc[row]
        for row, column in zip(listed["row"], listed["column"], strict=True)
    ]
    listed["decision"] = ["meaningful" if kept else "lost" for kept in truth]
    print(f"{len(listed)} doubtful cells, all decided.")
    known = read_decisions(listed, table)
    result = imputer.fit(table, **known).impute(table, **known)
    settled = [
        result.meaningful[column].iloc[row] == kept
        for row, column, kept in zip(listed["row"], listed["column"], truth, strict=True)
    ]
    print(f"{sum(settled)} of {len(settled)} are now as decided.")
    return listed.assign(is_as_decided=settled)


if __name__ == "__main__":
    main()
