"""A pipeline: that a cell is meaningfully empty stays a fact that the classifier can use.

Lost cells are filled; meaningful ones reach the encoder as NA, which gives numbers an indicator and
levels a column of their own. Cross-validation fits the imputer to the rows of each training part
alone. Here both ways do equally well: the gates are columns of their own. What differs is that no
value was made up.

    python examples/pipeline_with_a_classifier.py
"""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from diffjoint import SelectiveImputer
from diffjoint.simulate import household_survey

MM_COLUMNS = ["spouse_age", "weekly_hours", "commute"]


def encoder() -> Any:
    """Numbers scaled, their meaningful gaps at the mean beside an indicator; levels one-hot."""
    return make_column_transformer(
        (
            make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
            make_column_selector(dtype_include=np.number),
        ),
        (
            OneHotEncoder(handle_unknown="ignore"),
            make_column_selector(dtype_exclude=np.number),
        ),
    )


def main(n_rows: int = 600, n_parts: int = 3, **settings: Any) -> pd.Series:
    """Accuracy of a classifier behind diffjoint, and where it fills every cell."""
    survey = household_survey(n_rows)
    table = survey.observed_table.drop(columns=["person_id", "income"])
    rich = survey.truth["income"] > survey.truth["income"].median()
    ours = SelectiveImputer(MM_COLUMNS, random_state=0, **settings)
    filled = SelectiveImputer([], random_state=0, **settings)
    scores = {}
    for name, imputer in {"selective": ours, "everything filled": filled}.items():
        pipeline = make_pipeline(imputer, encoder(), LogisticRegression(max_iter=1_000))
        scores[name] = cross_val_score(pipeline, table, rich, cv=n_parts).mean()
    shown = pd.Series(scores, name="accuracy")
    print(shown.round(3).to_string())
    return shown


if __name__ == "__main__":
    main()
