"""Current Population Survey of 1994: people without a job have no occupation."""

from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.real.labelled import DataFolder, labelled_world, names, read_text
from diffjoint.simulate.source import Source
from diffjoint.simulate.world import World

SOURCE = Source(
    title="Census-Income (KDD), Current Population Survey 1994 and 1995, test half",
    folder="kdd_census_income",
    how_to_get=(
        "download census-income.test.gz of the data set Census-Income (KDD) from the UCI Machine "
        "Learning Repository."
    ),
    licence="CC BY 4.0, as listed by the UCI Machine Learning Repository",
)
FILE = "census-income.test.gz"
SHAPE = (99762, 42)
COLUMNS = names(
    "age, class_of_worker, industry_code, occupation_code, education, wage_per_hour, enrolled, "
    "marital_status, major_industry, major_occupation, race, hispanic_origin, sex, union_member, "
    "unemployment_reason, work_time, capital_gains, capital_losses, dividends, tax_filer, "
    "previous_region, previous_state, household_detail, household_summary, weight, migration_msa, "
    "migration_region, migration_within_region, same_house_a_year_ago, previous_in_sunbelt, "
    "employer_size, parents_present, father_born_in, mother_born_in, born_in, citizenship, "
    "own_business, veterans_questionnaire, veterans_benefits, weeks_worked, year, income"
)
DROPPED = names("weight, work_time, year")
ZERO_IS_MEANINGFUL = names(
    "industry_code, occupation_code, wage_per_hour, employer_size, own_business, veterans_benefits"
)
LABELS = {
    "class_of_worker": 25172,
    "industry_code": 25267,
    "occupation_code": 25267,
    "wage_per_hour": 47057,
    "enrolled": 46655,
    "major_industry": 25267,
    "major_occupation": 25267,
    "union_member": 45198,
    "unemployment_reason": 48112,
    "previous_region": 42122,
    "previous_state": 42122,
    "migration_msa": 723,
    "migration_region": 723,
    "migration_within_region": 723,
    "same_house_a_year_ago": 723,
    "previous_in_sunbelt": 42122,
    "employer_size": 24058,
    "parents_present": 36129,
    "own_business": 45214,
    "veterans_questionnaire": 49307,
    "veterans_benefits": 11751,
}
LOST = {
    "hispanic_origin": 320,
    "previous_state": 330,
    "father_born_in": 1727,
    "mother_born_in": 1541,
    "born_in": 852,
}
NUMBERS = dict.fromkeys(
    names("age, wage_per_hour, capital_gains, capital_losses, dividends, weeks_worked"),
    "continuous",
)


def kdd_census_1994(
    *,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
    data: DataFolder = None,
) -> World:
    """Read the Census-Income (KDD) data: 49,816 rows, 39 columns, 21 with meaningful cells.

    "Not in universe" is meaningful, and so is the code 0 in six columns that use it for the same.
    "?" and an unknown origin are lost. The rows of 1995 are left out, since their answers on
    moving house have wrong labels; so are the year, the constant work_time and the survey weight.

    Parameters
    ----------
    mechanism, loss_rate, seed
        How cells get lost; none are if ``mechanism`` is None, except those of the file itself.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    text = read_text(SOURCE.find(FILE, data), header=None, skipinitialspace=True)
    SOURCE.check_shape(text, SHAPE)
    text.columns = COLUMNS
    text = text[text["year"] == "94"].drop(columns=DROPPED)
    text = text.apply(lambda column: column.str.strip())
    meaningful = text.apply(lambda column: column.str.startswith("Not in universe"))
    meaningful[ZERO_IS_MEANINGFUL] = text[ZERO_IS_MEANINGFUL] == "0"
    gone = text == "?"
    gone["hispanic_origin"] = text["hispanic_origin"] == "NA"
    SOURCE.check_labels(meaningful, LABELS)
    SOURCE.check_labels(gone, LOST, "lost")
    return labelled_world(
        "kdd-census-1994",
        text,
        meaningful,
        gone=gone,
        numbers=NUMBERS,
        mechanism=mechanism,
        loss_rate=loss_rate,
        seed=seed,
    )
