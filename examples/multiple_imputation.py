"""Multiple imputation: a regression on drawn tables, pooled, against the truth.

A survey records age, smoking, pack years and an illness score. Pack years are meaningful for those
who never smoked: there is nothing to fill in. Other cells were lost. The score is regressed on the
rest in every drawn table, in which the lost values vary, and the results are pooled by Rubin's
rules. So the standard errors know what was not observed.

    pip install 'diffjoint[examples]'
    python examples/multiple_imputation.py
"""

import sys
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

from diffjoint import Pooled, SelectiveImputer, pool

TRUTH = {"intercept": 2.0, "age": 0.5, "smoker": 1.0, "pack_years": 0.8}


def make_survey(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Make a survey in which a fifth of the cells were lost."""
    rng = np.random.default_rng(seed)
    age = rng.normal(0, 1, n_rows)
    smokes = rng.random(n_rows) < 0.6
    pack_years = np.where(smokes, 1 + 0.5 * age + rng.normal(0, 1, n_rows), np.nan)
    score = (
        TRUTH["intercept"]
        + TRUTH["age"] * age
        + TRUTH["smoker"] * smokes
        + TRUTH["pack_years"] * np.nan_to_num(pack_years)
        + rng.normal(0, 1, n_rows)
    )
    smoker = np.where(smokes, "yes", "no")
    columns = {"age": age, "smoker": smoker, "pack_years": pack_years, "score": score}
    whole = pd.DataFrame(columns)
    return whole.mask(rng.random(whole.shape) < 0.2)


def regress(table: pd.DataFrame) -> Any:
    """Regress the score on the rest; no pack years count as zero: they never smoked."""
    smokes = table["smoker"] == "yes"
    design = pd.DataFrame(
        {
            "intercept": 1.0,
            "age": table["age"],
            "smoker": smokes.astype(float).where(table["smoker"].notna()),
            "pack_years": table["pack_years"].where(smokes, 0.0),
        }
    )
    return sm.OLS(table["score"], design, missing="drop").fit()


def pooled_over_draws(survey: pd.DataFrame, n_draws: int, **settings: Any) -> Pooled:
    """Fit the regression on each drawn table and pool by Rubin's rules."""
    rules = {"pack_years": 'smoker == "yes"'}
    imputer = SelectiveImputer(rules=rules, random_state=0, **settings).fit(survey)
    fits = [regress(table) for table in imputer.sample(survey, n_draws)]
    return pool(
        [fit.params for fit in fits],
        [fit.bse**2 for fit in fits],
        dof_complete=len(survey) - len(TRUTH),
    )


def main(n_rows: int = 500, n_draws: int = 10, **settings: Any) -> pd.DataFrame:
    """Print the truth, what complete rows say, and what drawn tables say."""
    survey = make_survey(n_rows)
    complete_rows = regress(survey)
    pooled = pooled_over_draws(survey, n_draws, **settings)
    low, high = pooled.interval(0.95)
    shown = pd.DataFrame(
        {
            "truth": TRUTH,
            "complete_rows": complete_rows.params,
            "their_error": complete_rows.bse,
            "pooled": dict(zip(TRUTH, np.atleast_1d(pooled.estimate), strict=True)),
            "error": dict(zip(TRUTH, np.atleast_1d(pooled.standard_error), strict=True)),
            "low": dict(zip(TRUTH, np.atleast_1d(low), strict=True)),
            "high": dict(zip(TRUTH, np.atleast_1d(high), strict=True)),
            "missing_information": dict(
                zip(TRUTH, np.atleast_1d(pooled.missing_information), strict=True)
            ),
        }
    )
    print(f"{int(complete_rows.nobs)} of {n_rows} rows are complete.")
    print(shown.round(3).to_string())
    return shown


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
