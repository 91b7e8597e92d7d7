"""A survey with skip logic: what the questionnaire says is used, the rest is found out.

Whoever is unmarried was never asked for a spouse's age. The questionnaire says so, and a rule
passes it on: where the gate is known the rule decides, where the gate is empty as well the
probability does. An interviewer's code tells refused answers, which can be filled, from questions
that did not apply.

    python examples/survey_with_skip_logic.py
"""

from typing import Any

import pandas as pd

from diffjoint import SelectiveImputer
from diffjoint.simulate import World, household_survey

RULES = {"spouse_age": 'married == "yes"'}
CODES = {"commute": {"refused": "lost", "inapplicable": "meaningful"}}


def with_codes(survey: World) -> pd.DataFrame:
    """Return the survey with a code in a part of the missing cells of one column."""
    table = survey.observed_table.copy()
    named = table.index % 3 == 0
    commute = table["commute"].astype(object)
    commute[named & survey.meaningful["commute"]] = "inapplicable"
    commute[named & survey.lost["commute"] & ~survey.meaningful["commute"]] = "refused"
    return table.assign(commute=commute)


def main(n_rows: int = 600, **settings: Any) -> pd.DataFrame:
    """Complete the survey by rule, code and evidence, and show who decided what."""
    survey = household_survey(n_rows)
    table = with_codes(survey)
    imputer = SelectiveImputer(
        ["spouse_age", "weekly_hours", "commute"],
        rules=RULES,
        reason_codes=CODES,
        random_state=0,
        **settings,
    ).fit(table)
    proba = imputer.predict_mm_proba(table)
    married = table["married"]
    shown = pd.DataFrame(
        {
            "gate says yes": proba["spouse_age"][married == "yes"].max(),
            "gate says no": proba["spouse_age"][
                (married == "no") & table["spouse_age"].isna()
            ].min(),
            "refused": proba["commute"][table["commute"] == "refused"].max(),
            "inapplicable": proba["commute"][table["commute"] == "inapplicable"].min(),
        },
        index=["P(meaningful)"],
    )
    print(shown.to_string())
    unknown = married.isna() & table["spouse_age"].isna()
    print(f"\n{int(unknown.sum())} spouses' ages are empty beside an empty gate:")
    print(proba["spouse_age"][unknown].describe().round(2).to_string())
    return shown


if __name__ == "__main__":
    main()
